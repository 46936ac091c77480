//! `generate`

use clap::{Args as ClapArgs, ValueHint};
use keyward_languages::Language;
use keyward_schema::{is_java_package, is_rust_path};
use std::path::PathBuf;

/// Generate typed keys for every language, and vectors to test them with
///
/// Each definition becomes a type whose fields are its parameters; a value that is none of its
/// parameter's type cannot be put in. All languages build the same bytes and read keys by the same
/// tables. In Rust, `keyward::keyspace!` does the same at compile time.
///
/// What goes where is best declared, in `[generate.LANGUAGE]` of the schema: then `keyward generate` and
/// `keyward generate --check` need no options. `--lang` and `--vectors` choose among what is declared; with
/// `--out`, options alone decide.
///
/// Files that are as they should be are not touched. Files that Keyward did not write are neither
/// removed nor overwritten; `.keyward-files` lists those that it did.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward generate                                     what the schema declares, or all languages into generated/
  keyward generate --lang typescript --out src/keys    one language, straight into a folder
  keyward generate --lang java --java-package com.acme.keys --out src/main/java
  keyward generate --vectors --out tests               with vectors for every language's own tests
  keyward generate --check                             exit 1 if something would change
  keyward generate --eject templates                   our templates, to change and use by --template

Exit codes: 0 done, 1 something would change (--check), 2 a schema that is not sound")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Generate {
    /// The languages, separated by commas [default: those that the schema declares, or all]
    #[arg(long = "lang", value_name = "LANGUAGE", value_delimiter = ',', value_parser = language())]
    languages: Vec<Language>,
    /// The folder; with several languages, each has a folder of its own in it [default: what the schema
    /// declares, or generated]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Write nothing; name the files that would change, and exit 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    /// Also write golden vectors; without `--lang`, nothing else
    #[arg(long)]
    pub(crate) vectors: bool,
    /// A folder of templates that take the place of ours
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) template: Option<PathBuf>,
    /// Write our templates to a folder, and nothing else
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) eject: Option<PathBuf>,
    /// Overwrite files that Keyward did not write
    #[arg(long)]
    pub(crate) force: bool,
    /// The package of the Java classes [default: the keyspace's name]
    #[arg(long, value_name = "PACKAGE", value_parser = java_package)]
    pub(crate) java_package: Option<String>,
    /// Also write a Java class for Spring's cache abstraction: names, keys and TTLs of all caches. Needs
    /// Java among the languages
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
