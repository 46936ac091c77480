//! `generate`

use clap::{Args as ClapArgs, ValueHint};
use keyward_languages::Language;
use std::path::PathBuf;

/// Generate typed keys for every language, and vectors to test them with
///
/// Each definition becomes a type whose fields are its parameters; a value that is none of its
/// parameter's type cannot be put in. All languages build the same bytes and read keys by the same
/// tables. In Rust, `keyward::keyspace!` does the same at compile time.
///
/// Files that are as they should be are not touched. Files that Keyward did not write are neither
/// removed nor overwritten; `.keyward-files` lists those that it did.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward generate                                     all languages, into generated/
  keyward generate --lang typescript --out src/keys    one language, straight into a folder
  keyward generate --lang java --java-package com.acme.keys --out src/main/java
  keyward generate --vectors --out tests               with vectors for every language's own tests
  keyward generate --check                             exit 1 if something would change
  keyward generate --eject templates                   our templates, to change and use by --template

Exit codes: 0 done, 1 something would change (--check), 2 a schema that is not sound")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Generate {
    /// The languages, separated by commas [default: all]
    #[arg(long = "lang", value_name = "LANGUAGE", value_delimiter = ',', value_parser = language())]
    languages: Vec<Language>,
    /// The folder; with several languages, each has a folder of its own in it
    #[arg(long, value_name = "DIR", default_value = "generated", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
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
    /// Also write a Java class for Spring's cache abstraction: names, keys and TTLs of all caches
    #[arg(long)]
    pub(crate) spring: bool,
    /// The Rust module that holds the types of `json` values, such as `crate::model`
    #[arg(long, value_name = "PATH", value_parser = rust_path)]
    pub(crate) rust_values: Option<String>,
}

impl Generate {
    /// The languages that were asked for.
    pub(crate) fn languages(&self) -> Vec<Language> {
        match self.languages.as_slice() {
            [] if self.vectors => Vec::new(),
            [] => Language::ALL.into(),
            named => Language::ALL.into_iter().filter(|it| named.contains(it)).collect(),
        }
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
    path_of_names(text, ".")
        .then(|| text.to_owned())
        .ok_or("write it as `com.acme.keys`".to_owned())
}

fn rust_path(text: &str) -> Result<String, String> {
    path_of_names(text, "::")
        .then(|| text.to_owned())
        .ok_or("write it as `crate::model`".to_owned())
}

fn path_of_names(text: &str, joint: &str) -> bool {
    text.split(joint).all(|name| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
