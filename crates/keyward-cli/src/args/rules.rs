//! `rules` and `explain`

use super::Set;
use clap::{Args as ClapArgs, ValueEnum};

/// List the rules
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward rules
  keyward rules --set recommended             the rules that `set = \"recommended\"` enables
  keyward rules --format json | jq '.rules[].name'

`keyward explain RULE` explains one of them.")]
pub(crate) struct Rules {
    /// List only the rules of this set
    #[arg(long, value_name = "SET")]
    pub(crate) set: Option<Set>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: ListFormat,
}

/// How a list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For people
    Full,
    /// One JSON document
    Json,
}

/// Explain a rule: what it does, why it matters, an example, and what to use instead
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward explain evictable-persistent")]
pub(crate) struct Explain {
    /// The name of the rule
    pub(crate) rule: String,
}
