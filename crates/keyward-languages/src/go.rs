//! Go: a package a keyspace, with nothing but the standard library.

use super::scope::{Scope, Thing};
use super::{Context, Template, quote};
use keyward_codegen::model::{Module, Name};

pub(super) const TEMPLATES: &[Template] = &[
    Template {
        name: "go/keys.go",
        text: include_str!("../templates/go/keys.go.j2"),
        path: |context| path(context, "keys.go"),
        wanted: |_| true,
    },
    Template {
        name: "go/engine.go",
        text: include_str!("../templates/go/engine.go.j2"),
        path: |context| path(context, "engine.go"),
        wanted: |_| true,
    },
];

fn path(context: &Context<'_>, file: &str) -> String {
    format!("{}/{file}", context.module.name.flat)
}

/// The keyspace with names for Go.
pub(super) fn settle(module: &Module) -> Module {
    let mut settled = Scope { reserved: RESERVED, identifiers, spell, member }.settle(module);
    settled.name.flat = quote::ident(&module.name.flat, "go");
    settled
}

fn identifiers(thing: &Thing<'_>, name: &Name) -> Vec<String> {
    let name = &name.pascal;
    let endings = |endings: &[&str]| -> Vec<String> {
        let mut all = vec![name.clone(), format!("New{name}")];
        all.extend(endings.iter().map(|ending| format!("{name}{ending}")));
        all
    };
    match thing {
        Thing::Keyspace => Vec::new(),
        Thing::Key => endings(&[
            "Definition",
            "Fields",
            "Glob",
            "GlobAll",
            "Lifecycle",
            "Pattern",
            "TTL",
            "TTLMax",
            "TTLMin",
            "Type",
        ]),
        Thing::Type(ty) => {
            let mut all = endings(&[]);
            all.extend(ty.words.iter().map(|word| format!("{name}{}", spell(&word.name).pascal)));
            all
        }
        Thing::Event => endings(&[]),
        Thing::Group => vec![format!("{name}GroupGlobs")],
        Thing::Lifecycle => vec![format!("{name}LifecycleGlobs")],
        Thing::Owner => vec![format!("{name}OwnerGlobs")],
    }
}

/// Go writes initialisms in one case: `UserID`, not `UserId`.
fn spell(name: &Name) -> Name {
    let word = |word: &str| {
        if INITIALISMS.contains(&word) {
            return word.to_ascii_uppercase();
        }
        let mut word = word.to_owned();
        if let Some(first) = word.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        word
    };
    let words: Vec<&str> = name.snake.split('_').collect();
    let pascal: String = words.iter().copied().map(word).collect();
    let camel = words[0].to_owned() + &words[1..].iter().copied().map(word).collect::<String>();
    Name { camel, pascal, ..name.clone() }
}

fn member(mut name: Name) -> Name {
    name.camel = quote::ident(&name.camel, "go");
    if LOCALS.contains(&name.camel.as_str()) {
        name.camel.push('_');
    }
    if MEMBERS.contains(&name.pascal.as_str()) {
        name.pascal.push('_');
    }
    name
}

const INITIALISMS: &[&str] = &[
    "acl", "api", "ascii", "cpu", "css", "dns", "eof", "guid", "html", "http", "https", "id", "ip",
    "json", "qps", "ram", "rpc", "sla", "smtp", "sql", "ssh", "tcp", "tls", "ttl", "udp", "ui",
    "uid", "uri", "url", "utf8", "uuid", "vm", "xml",
];

/// Exported names of every generated package.
const RESERVED: &[&str] = &[
    "Announce",
    "Announcement",
    "Build",
    "BuildEvent",
    "BuildGlob",
    "Date",
    "DateOf",
    "Event",
    "FormerKey",
    "Key",
    "KeyNames",
    "NewDate",
    "NewPrefix",
    "NewUnix",
    "NewUnixMilli",
    "Parse",
    "ParseDate",
    "ParseFormer",
    "ParsePrefix",
    "ParseUUID",
    "Prefix",
    "PrefixText",
    "Refused",
    "UUID",
    "Unix",
    "UnixMilli",
    "UnixMilliOf",
    "UnixOf",
];

/// Methods of generated types.
const MEMBERS: &[&str] = &[
    "Bytes",
    "Definition",
    "Glob",
    "Globs",
    "Key",
    "Keys",
    "Names",
    "Slot",
    "String",
    "TTL",
    "Text",
    "Valid",
    "Values",
    "WithoutPrefix",
];

/// What generated functions call or declare while a parameter's name is in scope, and what is a
/// method beside the field of that name.
const LOCALS: &[&str] = &[
    "b",
    "bareKey",
    "build",
    "by",
    "dateFrom",
    "definitions",
    "err",
    "first",
    "found",
    "given",
    "globber",
    "intFrom",
    "ipAlone",
    "ipFrom",
    "ipText",
    "isKey",
    "key",
    "keyspace",
    "netip",
    "newGiven",
    "ok",
    "prefix",
    "prefixOf",
    "quote",
    "read",
    "readKey",
    "refuse",
    "reserved",
    "reservedBy",
    "slotOf",
    "spelling",
    "spellings",
    "strconv",
    "tables",
    "text",
    "time",
    "uint16",
    "uintFrom",
    "unixFrom",
    "unixMilliFrom",
    "uuidFrom",
    "value",
    "values",
];
