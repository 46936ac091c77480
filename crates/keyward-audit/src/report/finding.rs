//! What is wrong, and what has changed since a baseline.

use crate::mask::Masked;
use keyward_rules::Rule;
use keyward_rules::judge::UnresolvedCounts;
use keyward_schema::model;
use serde::{Deserialize, Serialize};

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Severity {
    /// It must be repaired
    Error,
    /// It should be looked at
    Warning,
}

impl Severity {
    /// That of a rule; `None` where the rule is off.
    pub(crate) fn of(rule: model::Severity) -> Option<Severity> {
        [Severity::Error, Severity::Warning]
            .into_iter()
            .find(|it| model::Severity::from(*it) == rule)
    }

    /// The word in the document.
    pub fn name(self) -> &'static str {
        model::Severity::from(self).label()
    }
}

impl From<Severity> for model::Severity {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Error => model::Severity::Error,
            Severity::Warning => model::Severity::Warn,
        }
    }
}

impl From<Severity> for &'static str {
    fn from(severity: Severity) -> Self {
        severity.name()
    }
}

impl TryFrom<String> for Severity {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        let mut all = [Severity::Error, Severity::Warning].into_iter();
        all.find(|it| it.name() == word).ok_or_else(|| format!("`{word}` is not a severity"))
    }
}

/// Something that is wrong with some keys, or with the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule; `keyward explain RULE` explains it
    pub rule: Rule,
    /// How serious it is
    pub severity: Severity,
    /// The keyspace's name; `null` for a finding about all of them
    pub schema: Option<String>,
    /// The definition; `null` for unknown keys and settings
    pub definition: Option<String>,
    /// Who writes the keys of the definition, if the schema names an owner
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// How to reach the owner, if the schema says so
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    /// What in the definition it is about: a field, a parameter, a former name; what in the keyspace: an
    /// unknown pattern, a setting
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// How many of `unit`
    pub count: u64,
    /// Of how many
    pub of: u64,
    /// What `count` and `of` count
    pub unit: Unit,
    /// In how many keys, where something else is counted
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_keys: Option<InKeys>,
    /// `count` / `of`, from 0 to 1; of `memory-high`, the share of the server's memory that is used
    pub share: f64,
    /// The bytes of those keys; `null` where they are not known, or where only a sample was looked at
    pub bytes: Option<u64>,
    /// What is wrong, in one line
    pub message: String,
    /// What the count is made of, a sentence each
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// Of `dangling-reference`: how many references do not resolve, and why
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unresolved: Option<UnresolvedCounts>,
    /// What to do next
    #[serde(default)]
    pub help: Vec<String>,
    /// Some of the keys, masked
    #[serde(default)]
    pub examples: Vec<Example>,
    /// Whether `count` and `of` are of a sample rather than of all keys
    pub sampled: bool,
    /// How it compares with the baseline
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// What is wrong, without the numbers: the message is this, a colon and `3 of 1,204 (0.2 %)`
    pub what: String,
}

/// What a finding counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Unit {
    /// Keys
    #[default]
    Keys,
    /// Entries of streams
    Entries,
    /// Items of lists
    Items,
    /// Members of sets and sorted sets
    Members,
    /// Values that name other keys
    References,
}

impl Unit {
    /// The word in the document.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Keys => "keys",
            Unit::Entries => "entries",
            Unit::Items => "items",
            Unit::Members => "members",
            Unit::References => "references",
        }
    }

    /// After a number, where it must be said: ` entries`.
    pub(crate) fn after_number(self) -> &'static str {
        match self {
            Unit::Keys => "",
            Unit::Entries => " entries",
            Unit::Items => " items",
            Unit::Members => " members",
            Unit::References => " references",
        }
    }
}

/// In how many keys something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InKeys {
    /// How many keys
    pub count: u64,
    /// Of how many
    pub of: u64,
}

impl Finding {
    /// How many keys it is about, where that was counted.
    pub(crate) fn keys(&self) -> Option<u64> {
        let own = || (self.unit == Unit::Keys).then_some(self.count);
        self.in_keys.map(|keys| keys.count).or_else(own)
    }

    /// Who writes the keys and how to reach them: ``written by `checkout`, contact: #checkout``.
    pub fn written_by(&self) -> Option<String> {
        let owner = self.owner.as_ref()?;
        let contact = self.contact.as_ref().map(|contact| format!(", contact: {contact}"));
        Some(format!("written by `{owner}`{}", contact.unwrap_or_default()))
    }

    /// Whether it is about the server rather than about keys.
    pub(crate) fn is_about_server(&self) -> bool {
        matches!(self.rule, Rule::ServerSetting | Rule::MemoryHigh)
    }
}

/// A key that shows what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Example {
    /// Its name, masked
    pub key: Masked,
    /// What it has, where that says more: `list`, `TTL 9 d 4 h`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// What a report was compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineInfo {
    /// The file
    pub name: String,
    /// When it was written
    pub created_at: String,
    /// By how many percentage points a share may rise
    pub tolerance: f64,
    /// Findings that are new or worse
    pub worse: u64,
    /// Findings of the baseline that are gone, without their examples
    #[serde(default)]
    pub gone: Vec<Finding>,
}

/// How a finding compares with the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What it amounts to
    pub verdict: ChangeVerdict,
    /// The share there, from 0 to 1
    pub share: f64,
    /// The count there
    pub count: u64,
}

/// What a comparison amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ChangeVerdict {
    /// The baseline does not have it
    New,
    /// The share has risen by more than the tolerance
    Worse,
    /// About the same
    Same,
    /// The share has fallen by more than the tolerance
    Better,
}
