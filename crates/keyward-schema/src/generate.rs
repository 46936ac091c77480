//! `[generate]`: what `keyward generate` writes, and where.

use crate::decoder::Decoder;
use crate::diagnostic::Diagnostic;
use crate::form::{Form, table};
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::model::{Definition, Generate, JavaTarget, Keyspace, RustTarget};
use crate::scalar::{Count, NonEmpty};
use crate::span::{Span, Spanned};
use crate::syntax::{Item, Kind};
use std::collections::HashMap;
use std::path::{Component, Path};

table! {
    /// `[generate]`: the code that `keyward generate` writes, and the folders it writes to. Folders are relative to the schema.
    GenerateTable {
        /// Rust: the same code that `keyspace!` makes.
        optional rust: RustTable,
        /// TypeScript.
        optional typescript: FolderTable,
        /// Python.
        optional python: FolderTable,
        /// Java.
        optional java: JavaTable,
        /// Go.
        optional go: FolderTable,
        /// Golden vectors.
        optional vectors: FolderTable,
    }
}

table! {
    /// `[generate.go]` and others without options.
    FolderTable {
        /// The folder to write to.
        required out: NonEmpty,
    }
}

table! {
    /// `[generate.rust]`
    RustTable {
        /// The folder to write to.
        required out: NonEmpty,
        /// The module that holds the types of `json` values, such as `crate::model`.
        optional values: RustPath,
    }
}

table! {
    /// `[generate.java]`
    JavaTable {
        /// The folder to write to.
        required out: NonEmpty,
        /// The package of the classes. Default: the name of the keyspace.
        optional package: JavaPackage,
        /// Whether to also write a class for Spring's cache abstraction. Default: `false`.
        optional spring: bool,
        /// How many segments of the pattern form the name of its Spring cache. Default: the id of the definition is the name.
        optional cache_segments: Count,
    }
}

/// A Java package: `com.acme.keys`
#[derive(Debug)]
pub(crate) struct JavaPackage(String);

/// A path of Rust modules: `crate::model`
#[derive(Debug)]
pub(crate) struct RustPath(String);

/// Whether a text names a Java package.
pub fn is_java_package(text: &str) -> bool {
    text.split('.').all(is_name)
}

/// Whether a text is a path of Rust modules.
pub fn is_rust_path(text: &str) -> bool {
    text.split("::").all(is_name)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

macro_rules! path {
    ($name:ident, $what:literal, $is:ident, $pattern:literal) => {
        impl Form for $name {
            fn what() -> String {
                $what.to_owned()
            }

            fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
                match &item.kind {
                    Kind::String(text) if $is(text) => Some($name(text.clone())),
                    Kind::String(_) => {
                        let message = format!("{} must be {}", decoder.here(), Self::what());
                        decoder.error(&item.span, message, "names and what joins them, nothing else")
                    }
                    _ => decoder.mismatch(item),
                }
            }

            #[cfg(feature = "tools")]
            fn schema(_: &mut Schemas) -> Json {
                json!({ "type": "string", "pattern": $pattern })
            }
        }
    };
}

path!(
    JavaPackage,
    "a package such as `\"com.acme.keys\"`",
    is_java_package,
    r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$"
);
path!(
    RustPath,
    "a path such as `\"crate::model\"`",
    is_rust_path,
    "^[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*$"
);

pub(crate) fn lower(
    table: GenerateTable,
    keyspace: &Keyspace,
    keys: &[Definition],
    errors: &mut Vec<Diagnostic>,
) -> Generate {
    let mut text = |text: Spanned<NonEmpty>| {
        if !is_below(Path::new(&text.value.0)) {
            let message = format!("`{}` is outside the folder of the schema", text.value.0);
            let error = Diagnostic::schema(message, text.span.clone(), "code is not written there");
            errors
                .push(error.help("choose a folder next to the schema or below it, or `--out DIR`"));
        }
        Spanned::new(text.value.0, text.span)
    };
    let rust = table.rust.map(|table| RustTarget {
        out: text(table.value.out),
        values: table.value.values.map(|path| path.value.0),
    });
    let mut folder = |table: Option<Spanned<FolderTable>>| table.map(|table| text(table.value.out));
    let (typescript, python) = (folder(table.typescript), folder(table.python));
    let (go, vectors) = (folder(table.go), folder(table.vectors));
    let java = table.java.map(|table| {
        let table = table.value;
        JavaTarget {
            out: text(table.out),
            package: table.package.map(|package| package.value.0),
            spring: table.spring.is_some_and(|spring| spring.value),
            cache_segments: table
                .cache_segments
                .map(|count| Spanned::new(count.value.0, count.span)),
        }
    });
    if let Some(java) = &java {
        check_cache_names(java, keyspace, keys, errors);
    }
    Generate { rust, typescript, python, java, go, vectors }
}

/// Whether a path never leaves the folder that it starts from.
fn is_below(path: &Path) -> bool {
    let mut depth = 0_usize;
    path.components().all(|component| match component {
        Component::Normal(_) => {
            depth += 1;
            true
        }
        Component::CurDir => true,
        Component::ParentDir => {
            let inside = depth > 0;
            depth = depth.saturating_sub(1);
            inside
        }
        Component::RootDir | Component::Prefix(_) => false,
    })
}

/// Every cache must have a name, and one of its own.
fn check_cache_names(
    java: &JavaTarget,
    keyspace: &Keyspace,
    keys: &[Definition],
    errors: &mut Vec<Diagnostic>,
) {
    let Some(segments) = &java.cache_segments else { return };
    if !java.spring {
        let message = "`cache_segments` names Spring's caches, and there are none";
        let error = Diagnostic::schema(message, segments.span.clone(), "without `spring = true`");
        errors.push(error.help("write `spring = true`, or leave it out"));
        return;
    }
    let mut named: HashMap<String, &Span> = HashMap::new();
    for key in keys.iter().filter(|key| key.is_spring_cache()) {
        let refuse = |message: String| {
            Diagnostic::schema(message, segments.span.clone(), "the number of segments in a name")
                .at(key.pattern.span.clone(), "the pattern")
                .about(key.name.value.clone())
        };
        let Some(name) = java.cache_name(key, keyspace) else {
            let message = format!("`{}` has parameters in its first segments", *key.name);
            errors.push(refuse(message).help("choose fewer segments"));
            continue;
        };
        if let Some(other) = named.get(&name) {
            let message = format!("two caches would be called `{name}`");
            let error = refuse(message).at((*other).clone(), "the other one");
            errors.push(error.help("choose more segments"));
        }
        named.insert(name, &key.pattern.span);
    }
}
