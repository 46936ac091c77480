//! What a report carries along so that it can be merged with others.

use super::{Count, Example, Facts, Nearest, Severity};
use serde::{Deserialize, Serialize};

/// What only merging needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Tells salts apart: keys that were masked with the same salt have the same marks; empty where
    /// reports with different ones were merged
    #[serde(default)]
    pub salt: String,
    /// Tells the texts of schemas apart; empty where reports against different ones were merged
    #[serde(default)]
    pub schemas: String,
    /// Whether keys are shown as they are
    #[serde(default)]
    pub revealed: bool,
    /// Whether the patterns of `unknown` or `groups` depend on the order of the keys, since there were
    /// too many to keep apart
    #[serde(default)]
    pub approximate: bool,
    /// How serious it is that no definition has a key; `null` where that is not judged
    #[serde(default)]
    pub unknown_key: Option<Severity>,
    /// How many biggest keys were asked for
    #[serde(default)]
    pub top: usize,
    /// The parts of what `unknown` or `groups` were made from
    #[serde(default)]
    pub leaves: Vec<Leaf>,
    /// Samples for rules that look at two definitions at once
    #[serde(default)]
    pub joins: Vec<Join>,
}

/// Keys that were kept apart when patterns were inferred.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leaf {
    /// The segments: words as they are, kinds in angle brackets
    pub segments: Vec<String>,
    /// What they are
    #[serde(flatten)]
    pub facts: Facts,
    /// Those that would belong to a definition if a parameter had a value of its type
    #[serde(default)]
    pub misfits: Count,
    /// Some of them, masked
    pub examples: Vec<Example>,
    /// The definition that was perhaps meant
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
}

/// The samples of a rule that looks at two definitions at once: of both sides, the least hashes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Join {
    /// The rule
    pub rule: String,
    /// How serious a finding of it is
    pub severity: Severity,
    /// The keyspace's name
    pub schema: String,
    /// The definition whose keys are judged
    pub definition: String,
    /// What of it, and what it is held against
    pub subject: String,
    /// What is wrong, without the numbers
    pub what: String,
    /// What to do next
    pub help: Vec<String>,
    /// Hashes of the left side in base64
    pub left: String,
    /// Hashes of the right side in base64
    pub right: String,
}
