//! `rules` and `explain`

use super::Set;
use clap::{Args as ClapArgs, ValueEnum};

/// List the rules
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward rules
  keyward rules --set recommended             those that `set = \"recommended\"` turns on
  keyward rules --format json | jq '.rules[].name'

`keyward explain RULE` explains one of them.")]
pub(crate) struct Rules {
    /// Only the rules that a schema with this set is judged by
    #[arg(long, value_name = "SET")]
    pub(crate) set: Option<Set>,
    /// How to list them
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: ListFormat,
}

/// How a list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For people
    Full,
    /// One document
    Json,
}

/// Explain a rule: what it does, why that is bad, an example, what to write instead
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward explain evictable-persistent")]
pub(crate) struct Explain {
    /// The rule's name
    pub(crate) rule: String,
}
