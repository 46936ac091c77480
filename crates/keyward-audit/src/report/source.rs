//! Where what a report says comes from.

use serde::{Deserialize, Serialize};

/// What was looked at, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// How the keys were read
    pub kind: SourceKind,
    /// The file's name, or the URL without credentials; several, separated by `, `, after a merge
    pub name: String,
    /// The server that holds or wrote the keys
    pub server: Server,
    /// What a number of bytes means
    pub bytes: BytesKind,
    /// Whether estimates of memory were checked against MEMORY USAGE for this version of the server
    pub checked: bool,
    /// The moment from which TTLs were counted: RFC 3339, UTC; of a snapshot, when it was taken
    pub clock: String,
    /// Whether everything was seen that was to be seen
    pub complete: bool,
    /// Whether keys were not read that were to be read; rules that compare keys are not judged then
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keys_unread: bool,
    /// Which keys were asked for, if not all: rules that compare keys are not judged then
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrowed: Option<String>,
    /// Values that were not read, so that no rule could judge them
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values_unread: Option<Unread>,
    /// What was sampled, if not all keys were looked at
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// Files, or primaries of a cluster
    pub shards: Vec<Shard>,
    /// What could not be seen, and what else to know about the numbers; in sentences without a full stop
    #[serde(default)]
    pub notes: Vec<String>,
}

/// Values that were not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// Keys with a declaration that only their values can show: fields, types of values, lengths
    pub keys: u64,
    /// Why they were not read
    pub why: WhyUnread,
}

/// Why values were not read. Where several reasons apply, the last is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WhyUnread {
    /// They were not asked for: the audit is complete without them
    LeftOut,
    /// Their elements, or the values, are too large for a scan
    Large,
    /// The server refused the commands
    Denied,
    /// Reading them would have changed what the server evicts
    Eviction,
}

impl Unread {
    /// Of two sources.
    pub(crate) fn and(self, other: Unread) -> Unread {
        let keys = self.keys.saturating_add(other.keys);
        Unread { keys, why: self.why.max(other.why) }
    }
}

impl Source {
    /// Takes over how many keys have values that were to be read and were not: without them, it is complete
    /// only if they were left out on purpose.
    pub(crate) fn lack_values(&mut self, keys: u64) {
        let why = self.values_unread.map(|unread| unread.why);
        self.values_unread = match why {
            Some(WhyUnread::LeftOut) => Some(Unread { keys, why: WhyUnread::LeftOut }),
            _ if keys == 0 => None,
            why => {
                self.complete = false;
                Some(Unread { keys, why: why.unwrap_or(WhyUnread::Large) })
            }
        };
    }

    /// Adds what else to know, once.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Says what stands first when several are listed.
    pub(crate) fn order(&self) -> impl Ord + use<> {
        (self.name.clone(), self.clock.clone(), self.shards.clone(), self.kind, self.notes.clone())
    }
}

/// How keys were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SourceKind {
    /// From an RDB file
    Rdb,
    /// By SCAN from a server
    Scan,
    /// As a replication snapshot from a server
    Snapshot,
}

impl SourceKind {
    /// The word in the document.
    pub fn name(self) -> &'static str {
        match self {
            SourceKind::Rdb => "rdb",
            SourceKind::Scan => "scan",
            SourceKind::Snapshot => "snapshot",
        }
    }
}

/// The server that holds or wrote the keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// `redis` or `valkey`, where that is known
    pub family: Option<String>,
    /// `7.0.15`, where that is known
    pub version: Option<String>,
}

/// What a number of bytes means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BytesKind {
    /// The server's memory, as MEMORY USAGE answered
    MemoryUsage,
    /// The server's memory, estimated from the snapshot
    Estimated,
    /// Bytes in the file or on the wire
    Serialized,
    /// Nothing: the server does not answer MEMORY USAGE, and what it does not say is not guessed
    Unknown,
}

impl BytesKind {
    /// Whether a number of bytes means anything.
    pub fn is_known(self) -> bool {
        self != BytesKind::Unknown
    }

    /// The word in the document.
    pub fn name(self) -> &'static str {
        match self {
            BytesKind::MemoryUsage => "memory-usage",
            BytesKind::Estimated => "estimated",
            BytesKind::Serialized => "serialized",
            BytesKind::Unknown => "unknown",
        }
    }
}

/// A sample of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// How much was looked at, in per cent; counts in the report are of what was looked at
    pub percent: f64,
    /// By how much a share of all keys may be off, in percentage points, with 95 % confidence
    pub error: f64,
}

/// A file, or a primary of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// Its file name or address
    pub name: String,
    /// Keys that were seen, expired ones included
    pub keys_seen: u64,
    /// Keys that the server or the file says there are
    pub dbsize: Option<u64>,
    /// The server's run id
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Whether it is one of a cluster's and was read without the others
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// Whether servers changed meanwhile and it was read from its beginning: a list of every key may have
    /// some of its keys twice, the report has them once
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}
