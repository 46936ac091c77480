//! `generate`

use clap::{Args as ClapArgs, ValueHint};
use keyward_languages::Language;
use keyward_schema::{is_java_package, is_rust_path};
use std::path::PathBuf;

/// Generate typed keys for each language, and vectors to test them with
///
/// Each definition becomes a type whose fields are its parameters; a value that does not match its
/// parameter's type is refused. All languages build the same bytes and parse keys with the same tables.
/// In Rust, `keyward::keyspace!` does the same at compile time.
///
/// Declare the output folders in `[generate.LANGUAGE]` of the schema: then `keyward generate` and
/// `keyward generate --check` need no options. `--lang` and `--vectors` select among the declared outputs. If the
/// schema declares none, `--lang` or `--vectors` is required.
/// With `--out`, the declared outputs are ignored.
///
/// Files that are up to date are not touched. Files that Keyward did not write are neither removed nor
/// overwritten; `.keyward-files` lists the files that it wrote.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward generate                                     what `[generate]` of the schema declares
  keyward generate --lang typescript --out src/keys    one language, directly into a folder
  keyward generate --lang java --java-package com.acme.keys --out src/main/java
  keyward generate --vectors --out tests               golden vectors, for the tests of each language
  keyward generate --check                             exit 1 if a file would change
  keyward generate --eject templates                   the built-in templates, to edit and pass to --template

Exit codes: 0 done; 1 a file would change (--check); 2 a schema is not sound")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Generate {
    /// The languages, separated by commas [default: those declared in the schema]
    #[arg(long = "lang", value_name = "LANGUAGE", value_delimiter = ',', value_parser = language())]
    languages: Vec<Language>,
    /// The folder to write to; several languages get one subfolder each [default: as declared in the
    /// schema, or generated]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Write nothing; list the files that would change, and exit 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    /// Also write golden vectors; without `--lang`, write only these
    #[arg(long)]
    pub(crate) vectors: bool,
    /// Use the templates in this folder instead of the built-in ones
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) template: Option<PathBuf>,
    /// Write the built-in templates to this folder, and nothing else
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) eject: Option<PathBuf>,
    /// Overwrite files that Keyward did not write
    #[arg(long)]
    pub(crate) force: bool,
    /// The package of the Java classes [default: the name of the keyspace]
    #[arg(long, value_name = "PACKAGE", value_parser = java_package)]
    pub(crate) java_package: Option<String>,
    /// Also write a Java class for Spring's cache abstraction, with the names, keys and TTLs of all caches;
    /// requires Java among the languages
    #[arg(long)]
    pub(crate) spring: bool,
    /// The Rust module that holds the types of `json` values, such as `crate::model`
    #[arg(long, value_name = "PATH", value_parser = rust_path)]
    pub(crate) rust_values: Option<String>,
}

impl Generate {
    /// The languages that were asked for by name.
    pub(crate) fn languages(&self) -> Vec<Language> {
        Language::ALL.into_iter().filter(|it| self.languages.contains(it)).collect()
    }
}

fn language() -> impl clap::builder::TypedValueParser<Value = Language> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(Language::ALL.map(Language::name)).map(|name| {
        let named = Language::ALL.into_iter().find(|language| language.name() == name);
        named.unwrap_or(Language::Rust)
    })
}

fn java_package(text: &str) -> Result<String, String> {
    is_java_package(text).then(|| text.to_owned()).ok_or("write it as `com.acme.keys`".to_owned())
}

fn rust_path(text: &str) -> Result<String, String> {
    is_rust_path(text).then(|| text.to_owned()).ok_or("write it as `crate::model`".to_owned())
}
