//! Java 17: records in one class a keyspace, and what Spring's cache abstraction needs.

use super::scope::{Scope, Thing};
use super::{Context, Template, quote};
use keyward_codegen::model::{Module, Name};

/// The template of the class for Spring, which is only filled when it is asked for.
pub(super) const SPRING: &str = "java/Caches.java";

pub(super) const TEMPLATES: &[Template] = &[
    Template {
        name: "java/Keys.java",
        text: include_str!("../templates/java/Keys.java.j2"),
        path: |context| path(context, &context.module.name.pascal),
        wanted: |_| true,
    },
    Template {
        name: "java/KeywardTables.java",
        text: include_str!("../templates/java/KeywardTables.java.j2"),
        path: |context| path(context, "KeywardTables"),
        wanted: |_| true,
    },
    Template {
        name: SPRING,
        text: include_str!("../templates/java/Caches.java.j2"),
        path: |context| path(context, &format!("{}Caches", context.module.name.pascal)),
        wanted: |module| module.keys.iter().any(|key| key.cache_name.is_some()),
    },
];

fn path(context: &Context<'_>, class: &str) -> String {
    format!("{}/{class}.java", context.java_package.replace('.', "/"))
}

/// The keyspace with names for Java.
pub(super) fn settle(module: &Module) -> Module {
    Scope { reserved: RESERVED, identifiers, spell: Name::clone, member }.settle(module)
}

/// Groups, lifecycles and owners are constants of classes of their own.
fn identifiers(thing: &Thing<'_>, name: &Name) -> Vec<String> {
    match thing {
        Thing::Keyspace => vec![name.pascal.clone(), format!("{}Caches", name.pascal)],
        Thing::Key | Thing::Type(_) | Thing::Event => vec![name.pascal.clone()],
        Thing::Group | Thing::Lifecycle | Thing::Owner => Vec::new(),
    }
}

fn member(mut name: Name) -> Name {
    name.camel = quote::ident(&name.camel, "java");
    if MEMBERS.contains(&name.camel.as_str()) {
        name.camel.push('_');
    }
    name
}

/// Classes that generated code names, or that a reader would take it to name.
const RESERVED: &[&str] = &[
    "AssertionError",
    "Boolean",
    "Byte",
    "CharSequence",
    "Character",
    "Class",
    "Comparable",
    "Deprecated",
    "Double",
    "Duration",
    "Enum",
    "Error",
    "Event",
    "Exception",
    "Fields",
    "Float",
    "FormerKey",
    "Found",
    "Given",
    "Glob",
    "Groups",
    "HashMap",
    "IllegalArgumentException",
    "InetAddress",
    "Instant",
    "Integer",
    "Iterable",
    "Key",
    "KeyNames",
    "KeywardTables",
    "Lifecycles",
    "LinkedHashMap",
    "List",
    "LocalDate",
    "Long",
    "Map",
    "Math",
    "Module",
    "Number",
    "Object",
    "Objects",
    "Optional",
    "Override",
    "Owners",
    "Parsed",
    "Prefix",
    "Record",
    "Refused",
    "Runnable",
    "Short",
    "StandardCharsets",
    "String",
    "StringBuilder",
    "SuppressWarnings",
    "System",
    "Thread",
    "Throwable",
    "UUID",
    "Uint",
    "Void",
];

/// Methods that generated types have.
const MEMBERS: &[&str] = &[
    "bytes",
    "definition",
    "event",
    "glob",
    "globs",
    "key",
    "keys",
    "names",
    "of",
    "parse",
    "prefix",
    "slot",
    "text",
    "ttl",
    "values",
    "withoutPrefix",
];
