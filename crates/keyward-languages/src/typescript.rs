//! TypeScript: ES modules without a dependency. A class for each definition, whose constructor checks
//! the values, since brands are gone at run time and callers in JavaScript never had them.

use super::Template;
use super::scope::{Scope, Thing};
use keyward_codegen::model::{Module, Name};

pub(super) const TEMPLATES: &[Template] = &[
    Template {
        name: "typescript/keyward.ts",
        text: include_str!("../templates/typescript/keyward.ts.j2"),
        path: |_| "keyward.ts".to_owned(),
        wanted: |_| true,
    },
    Template {
        name: "typescript/keyspace.ts",
        text: include_str!("../templates/typescript/keyspace.ts.j2"),
        path: |context| match context.module.name.kebab.as_str() {
            // The name of the other file
            "keyward" => "keyward-keyspace.ts".to_owned(),
            name => format!("{name}.ts"),
        },
        wanted: |_| true,
    },
];

/// Classes and types share the top of a module. Everything else there is in camel case, and
/// parameters have an object of their own.
pub(super) fn settle(module: &Module) -> Module {
    Scope { reserved: RESERVED, identifiers, spell: Name::clone, member }.settle(module)
}

/// A property that every object has already is there even where a parameter is left out.
fn member(mut name: Name) -> Name {
    if EVERYWHERE.contains(&name.camel.as_str()) {
        name.camel.push('_');
    }
    name
}

const EVERYWHERE: &[&str] = &[
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];

fn identifiers(thing: &Thing<'_>, name: &Name) -> Vec<String> {
    let suffixes: &[&str] = match thing {
        Thing::Key => &["", "Key", "Params", "Fields"],
        Thing::Event => &["", "Params"],
        Thing::Type(_) => &[""],
        Thing::Keyspace | Thing::Group | Thing::Lifecycle | Thing::Owner => &[],
    };
    suffixes.iter().map(|suffix| format!("{}{suffix}", name.pascal)).collect()
}

/// Our own names, and those of the language that a reader would not want to be another thing.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "Key", "Event", "FormerKey", "Prefix", "PrefixParams", "PrefixText", "Uuid", "Day", "Ip", "KeywardError",
    "Array", "BigInt", "Boolean", "Buffer", "Date", "Error", "Function", "Iterator", "Map", "Math",
    "Number", "Object", "Omit", "Partial", "Pick", "Promise", "Proxy", "Readonly", "Record", "Reflect",
    "RegExp", "Required", "Set", "String", "Symbol", "WeakMap", "WeakSet",
];
