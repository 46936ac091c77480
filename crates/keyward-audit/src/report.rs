//! What an audit has to say: plain data, the same in memory and in JSON.
//!
//! The document is versioned: [`VERSION`] rises when something that was there changes or goes; new
//! members may come at any time. It is made once, of [`Counts`](crate::Counts), and carries them: reports are
//! merged by merging what they carry.

mod checklist;
mod facts;
mod finding;
mod source;

pub use checklist::{ChecklistItem, Level, Ticked};
pub use facts::{
    Bar, Big, Definition, Distribution, Facts, Foreign, Group, KeyLengths, Lifetimes, Nearest,
    OldName, Param, Ttl, TtlBucket,
};
pub use finding::{BaselineInfo, Change, ChangeVerdict, Example, Finding, InKeys, Severity, Unit};
pub use source::{BytesKind, Sample, Server, Shard, Source, SourceKind, Unread, WhyUnread};

use crate::counts::Counted;
use keyward_fact::visible_json;
use serde::{Deserialize, Serialize};

/// The version of the document.
pub const VERSION: u32 = 3;

impl Report {
    /// Fails where its numbers cannot be, and says which: a report is a file that anybody may have written.
    pub fn check(&self) -> Result<(), String> {
        crate::bounds::check(self)
    }

    /// The findings that fail: all of them, or with a baseline those that are new or worse.
    pub fn failing(&self) -> impl Iterator<Item = &Finding> {
        let compared = self.baseline.is_some();
        let is_worse = |finding: &&Finding| finding.change.as_ref().is_some_and(Change::is_worse);
        self.findings.iter().filter(move |finding| !compared || is_worse(finding))
    }

    /// How long all keys will live; `None` for a report of an earlier version, which did not count it.
    pub fn lifetimes(&self) -> Option<Lifetimes> {
        self.counts.counts.lifetimes.of(self.summary.keys)
    }

    /// The document, as it is in a file.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(visible_json)
    }
}

/// One audit, or several that were merged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`VERSION`]
    pub version: u32,
    /// The version of Keyward that wrote it
    pub keyward: String,
    /// When it was written: RFC 3339, UTC
    pub created_at: String,
    /// What was looked at, and how
    pub source: Source,
    /// The schemas that the keys were checked against; none where there was no schema
    #[serde(default)]
    pub schemas: Vec<SchemaInfo>,
    /// Everything in a few numbers
    pub summary: Summary,
    /// Every definition of every schema that was selected, in the order of the schemas; also those
    /// without keys
    #[serde(default)]
    pub definitions: Vec<Definition>,
    /// Keys that no definition has, as patterns, those with the most bytes first; empty without a schema
    #[serde(default)]
    pub unknown: Vec<Group>,
    /// All keys as patterns, those with the most bytes first; empty with a schema
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Keys of other software
    #[serde(default)]
    pub foreign: Vec<Foreign>,
    /// The server's settings against those that the schemas ask for
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// What is wrong: errors first, then those with the most keys
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// The check-lists of the schemas, ticked
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checklist: Vec<ChecklistItem>,
    /// What it was compared with, if it was
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineInfo>,
    /// What it was made of, by which it is merged
    pub counts: Counted,
}

/// A schema that keys were checked against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaInfo {
    /// The keyspace's name
    pub name: String,
    /// The file
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How many definitions it has
    pub definitions: u64,
}

/// Everything in a few numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Keys, without expired ones
    pub keys: u64,
    /// Their bytes; `null` where they are not known
    pub bytes: Option<u64>,
    /// How long their names are; `null` without keys
    #[serde(default)]
    pub key_lengths: Option<KeyLengths>,
    /// The share of judged keys that are as declared, from 0 to 1: they belong to a definition and have
    /// no finding of severity error. `null` without a schema, or where nothing was judged
    pub compliance: Option<f64>,
    /// Keys that were judged: all but foreign and expired ones
    pub judged: u64,
    /// Of those, keys that are as declared
    pub compliant: u64,
    /// Keys that had expired and were not removed yet; in no other number
    pub expired: u64,
    /// Keys of other software
    pub foreign: Count,
    /// Keys that no definition has
    pub unknown: Count,
    /// Keys that belong to a definition, derived keys and old names included
    pub defined: Count,
}

/// How many, and how much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Keys
    pub keys: u64,
    /// Bytes; `null` where they are not known
    pub bytes: Option<u64>,
}

/// A setting of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The keyspace's name
    pub schema: String,
    /// The setting: `maxmemory-policy`
    pub name: String,
    /// What the schema asks for
    pub want: String,
    /// What the server says; `null` where it could not be seen
    pub got: Option<String>,
    /// Whether they agree; `null` where it could not be seen
    pub ok: Option<bool>,
    /// Why it matters, or why it could not be seen
    pub why: String,
}
