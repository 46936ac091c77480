//! Python 3.10 and later: a package with a frozen dataclass for each definition, which is checked and
//! spelled once, when it is made.

use super::scope::{Scope, Thing};
use super::{Context, Template, quote};
use keyward_codegen::model::{Module, Name};

pub(super) const TEMPLATES: &[Template] = &[
    Template {
        name: "python/__init__.py",
        text: include_str!("../templates/python/keyspace.py.j2"),
        path: |context| format!("{}/__init__.py", package(context)),
        wanted: |_| true,
    },
    Template {
        name: "python/_engine.py",
        text: include_str!("../templates/python/_engine.py.j2"),
        path: |context| format!("{}/_engine.py", package(context)),
        wanted: |_| true,
    },
    Template {
        name: "python/py.typed",
        text: "",
        path: |context| format!("{}/py.typed", package(context)),
        wanted: |_| true,
    },
];

fn package(context: &Context<'_>) -> String {
    quote::ident(&context.module.name.snake, "python")
}

/// Classes share the top of a module. Everything else there is in other case or begins with `_`.
pub(super) fn settle(module: &Module) -> Module {
    Scope { reserved: RESERVED, identifiers, spell: Name::clone, member }.settle(module)
}

fn identifiers(thing: &Thing<'_>, name: &Name) -> Vec<String> {
    let suffixes: &[&str] = match thing {
        Thing::Key => &["", "Fields"],
        Thing::Event | Thing::Type(_) => &[""],
        Thing::Keyspace | Thing::Group | Thing::Lifecycle | Thing::Owner => &[],
    };
    suffixes.iter().map(|suffix| format!("{}{suffix}", name.pascal)).collect()
}

const RESERVED: &[&str] = &[
    "Event",
    "Exception",
    "False",
    "FormerKey",
    "Key",
    "KeywardError",
    "None",
    "Parsed",
    "Prefix",
    "True",
];

/// A field shares its class with methods, and hides builtins from the annotations below it.
fn member(mut name: Name) -> Name {
    const TAKEN: &[&str] = &[
        "bool", "bytes", "float", "glob", "globs", "int", "key", "keys", "list", "names", "object",
        "parse", "slot", "str",
    ];
    name.snake = quote::ident(&name.snake, "python");
    if TAKEN.contains(&name.snake.as_str()) {
        name.snake.push('_');
    }
    name
}
