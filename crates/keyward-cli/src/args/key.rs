//! `key`

use super::selection::{Binding, Prefix, Selection, binding};
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use jiff::Timestamp;
use std::ffi::OsString;
use std::time::SystemTime;

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
    Text(KeyText),
}

/// Build a key of a definition from parameter values
///
/// A value that does not match its parameter's type is refused, so no value can build a key of another
/// definition.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward key build cart user_id=42
  keyward key build login_limit ip=2001:db8::1     an IPv6 address becomes 32 hexadecimal digits
  keyward key build cart user_id=42 --bind tenant=acme
  keyward key build chapter number=001 --text chapter_identifier='# Risk Management'")]
pub(crate) struct KeyBuild {
    /// The definition
    pub(crate) name: String,
    /// A value for each parameter
    #[arg(value_name = "PARAM=VALUE", value_parser = binding)]
    pub(crate) values: Vec<Binding>,
    /// A text for a parameter with `from`, whose value is made from it
    #[arg(long, value_name = "PARAM=TEXT", value_parser = binding)]
    pub(crate) text: Vec<Binding>,
    /// The time that names a text without a name of its own, such as `2024-01-01T12:00:00Z` [default: now]
    #[arg(long, value_name = "TIME", requires = "text", value_parser = time)]
    pub(crate) at: Option<SystemTime>,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

fn time(text: &str) -> Result<SystemTime, String> {
    let time: Timestamp = text
        .parse()
        .map_err(|_| "write a time with its zone, such as `2024-01-01T12:00:00Z`".to_owned())?;
    Ok(time.into())
}

/// Show which definition a key belongs to, and the values of its parameters
///
/// With `-`, reads keys from standard input, one per line, and prints one line for each: the definition
/// and its parameters, separated by tabs; `old:DEFINITION` for an old name of a migration;
/// `foreign:NAME` for a key of other software; `-` for an unknown key.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward key parse shop:cart:42
  keyward key parse shop:cart:42 --format json
  redis-cli --scan | keyward key parse -
  redis-cli --scan | keyward key parse - | cut -f1 | sort | uniq -c

Exit codes: 0 every key is known; 1 some are unknown; 2 nothing was parsed")]
pub(crate) struct KeyParse {
    /// The keys, or `-` for standard input
    #[arg(value_name = "KEY", required = true)]
    pub(crate) keys: Vec<OsString>,
    /// Output format [default: full for one key, concise for several]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<KeyFormat>,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

/// How `key parse` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyFormat {
    /// All details, for people
    Full,
    /// The definition and its parameters, separated by tabs
    Concise,
    /// One JSON object; with several keys, one per line
    Json,
    /// One JSON object per line
    Jsonl,
}

/// Print the glob that matches the keys of a definition, for `SCAN MATCH`
///
/// Parameters without a value become `*`. A glob may match keys of other definitions too, because `*`
/// also matches separators: filter them with `key parse -`.
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

/// Show what a text pipeline makes of a text, step by step
///
/// The last line is the result. `=` stands for a step that changed nothing.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward key text heading '# Portfolio Management & Risk Assessment'
  keyward key text heading '5 Strategien' --format result
  keyward key text content '!!!' --at 2024-01-01T12:00:00Z")]
pub(crate) struct KeyText {
    /// The pipeline, an id of `[text]`
    pub(crate) pipeline: String,
    /// The text
    pub(crate) text: String,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "steps")]
    pub(crate) format: TextFormat,
    /// The time that names a text without a name of its own, such as `2024-01-01T12:00:00Z` [default: now]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) at: Option<SystemTime>,
}

/// How `key text` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// Every step, for people
    Steps,
    /// The result only
    Result,
    /// One JSON object
    Json,
}
