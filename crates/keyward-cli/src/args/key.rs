//! `key`

use super::selection::{Binding, Prefix, Selection, binding};
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use std::ffi::OsString;

/// Build, parse and find keys
#[derive(Debug, ClapArgs)]
#[command(arg_required_else_help = true)]
pub(crate) struct Key {
    #[command(subcommand)]
    pub(crate) command: KeyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    Build(KeyBuild),
    Parse(KeyParse),
    Glob(KeyGlob),
}

/// Print the key of a definition for some values
///
/// A value that is not of its parameter's type is refused: no value can lead to another
/// definition's key.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward key build cart user_id=42
  keyward key build login_limit ip=2001:db8::1     an IPv6 address becomes its 32 digits
  keyward key build cart user_id=42 --bind tenant=acme")]
pub(crate) struct KeyBuild {
    /// The definition
    pub(crate) name: String,
    /// A value for each parameter
    #[arg(value_name = "PARAM=VALUE", value_parser = binding)]
    pub(crate) values: Vec<Binding>,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

/// Say which definition a key belongs to, and the values of its parameters
///
/// With `-`, keys come from standard input, one a line, and an answer goes out for each: the
/// definition and its parameters, separated by tabs; `old:DEFINITION` for an old name of a migration,
/// `foreign:NAME` for other software's key, `-` for an unknown one.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward key parse shop:cart:42
  keyward key parse shop:cart:42 --format json
  redis-cli --scan | keyward key parse -
  redis-cli --scan | keyward key parse - | cut -f1 | sort | uniq -c

Exit codes: 0 every key is known, 1 some are not, 2 nothing was parsed")]
pub(crate) struct KeyParse {
    /// The keys, or `-` for standard input
    #[arg(value_name = "KEY", required = true)]
    pub(crate) keys: Vec<OsString>,
    /// How to answer [default: full, and concise for several keys]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<KeyFormat>,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

/// How `key parse` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyFormat {
    /// Everything there is to know, for people
    Full,
    /// The definition and its parameters, separated by tabs
    Concise,
    /// One object; with several keys, one a line
    Json,
    /// One object a line
    Jsonl,
}

/// Print the glob that finds a definition's keys, for `SCAN MATCH`
///
/// Parameters without a value are left open. A glob may find more than the definition's keys, since
/// `*` crosses separators: `key parse -` tells them apart.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward key glob cart
  keyward key glob permission folder_id=550e8400-e29b-41d4-a716-446655440000
  keyward key glob --group search --lifecycle cache
  redis-cli --scan --pattern \"$(keyward key glob cart)\"")]
pub(crate) struct KeyGlob {
    /// The definition
    #[arg(required_unless_present = "selection", conflicts_with = "selection")]
    pub(crate) name: Option<String>,
    /// Values for some parameters
    #[arg(value_name = "PARAM=VALUE", value_parser = binding)]
    pub(crate) values: Vec<Binding>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}
