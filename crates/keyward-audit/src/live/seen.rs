//! What was seen, and what could not be.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::Error;
use super::options::Resume;

/// How a reading ended that did not fail.
#[derive(Debug)]
pub enum Ended<O> {
    /// Everything was seen
    Whole(Seen<O>),
    /// The caller stopped it, or a server failed for good after some of its keys were seen
    Stopped {
        /// Why it ended, unless the caller stopped it
        error: Option<Error>,
        /// Where to go on
        resume: Resume,
        /// What a number of bytes means
        bytes: Bytes,
        /// Every shard, with what its observer has seen since reading began or was resumed; in the order
        /// of `resume`
        shards: Vec<(Shard, O)>,
    },
}

impl<O> Ended<O> {
    /// What was seen, or why that is not all.
    pub fn whole(self) -> Result<Seen<O>, Error> {
        match self {
            Ended::Whole(seen) => Ok(seen),
            Ended::Stopped { error, .. } => Err(error.unwrap_or(Error::Stopped)),
        }
    }
}

/// A whole keyspace.
#[derive(Debug)]
pub struct Seen<O> {
    /// The URL, without credentials
    pub name: String,
    /// The moment from which TTLs are counted, in milliseconds since 1970: a key's `expires_at` less
    /// this is what the server said it had left when it was looked up
    pub clock: u64,
    /// What a number of bytes means
    pub bytes: Bytes,
    /// What was sampled
    pub sample: Option<Sample>,
    /// Every primary of a cluster, or the one server; with what its observer has seen
    pub shards: Vec<(Shard, O)>,
    /// What could not be seen, and what else to know; in sentences without a full stop
    pub notes: Vec<String>,
}

/// What a number of bytes means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bytes {
    /// MEMORY USAGE: exact for collections of up to so many elements, else extrapolated from as many;
    /// 0 for exact throughout
    MemoryUsage {
        /// How many elements were looked at
        samples: u32,
    },
    /// Estimated from a snapshot
    Estimated {
        /// Whether estimates were checked against MEMORY USAGE for this version of the server
        checked: bool,
    },
    /// Not known: the server denies MEMORY USAGE
    Unknown,
}

/// What share of the keys was looked up. A number of keys `n` among those stands for `n / p` with `p`
/// the percentage over 100, and a standard error of `sqrt(n · (1 - p)) / p`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Per cent of the keys that were meant to be looked up
    pub percent: f64,
    /// Keys whose names were seen
    pub scanned: u64,
    /// Keys that were chosen by their hash
    pub chosen: u64,
}

/// One server's share of the keys.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own")]
pub struct Shard {
    /// The address of its primary, as far as that is known
    pub name: String,
    /// The address of the server that was read: the primary or one of its replicas
    pub server: String,
    /// `redis` or `valkey`
    pub family: String,
    /// `7.0.15`; empty where the server denies INFO
    pub version: String,
    /// Changes when the server that was read restarts; empty where it denies INFO
    pub run_id: String,
    /// `master` or `slave`, as the server that was read calls itself
    pub role: String,
    /// The slots it serves, where it is part of a cluster: `0-5460,5462`
    pub slots: Option<String>,
    /// Whether it is one of a cluster's, and the others were not asked for
    pub alone: bool,
    /// Whether servers changed meanwhile and it was read from its beginning: another observer was perhaps
    /// told of some of its keys before
    pub again: bool,
    /// The moment from which TTLs are counted, in milliseconds since 1970
    pub clock: u64,
    /// Whether its reading was resumed where it had been stopped: then its observer saw the rest
    pub resumed: bool,
    /// What its primary says of its settings and state, by the names of the configuration where there
    /// are such; where the primary could not be asked, what the server says that was read
    pub settings: BTreeMap<String, String>,
    /// Keys there were before, in the databases that were read, where the server reports it
    pub dbsize_before: Option<u64>,
    /// Keys there were afterwards
    pub dbsize_after: Option<u64>,
    /// What was counted
    pub counts: Counts,
    /// What the scan's own small commands waited for
    pub latency: Latency,
    /// Declared settings that could not be seen, and why
    pub unseen: BTreeMap<String, &'static str>,
    /// Whether lengths and elements were left unread, because reading them would change what it evicts
    pub values_unread: bool,
    /// Commands for lengths and elements that it refused
    pub refused: Refused,
    /// Whether it does not answer MEMORY USAGE, without which elements of collections are not read
    pub sizes_unknown: bool,
    /// Whether databases that were not asked for have keys, or may have
    pub has_other_databases: bool,
    /// What is particular to this shard
    pub notes: Vec<String>,
    /// Which keys this user was not allowed to see, though they were to be: the audit is incomplete
    pub missing: Vec<String>,
}

/// What was counted in one shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Keys whose names were seen, some perhaps twice
    pub scanned: u64,
    /// Keys that the observer has seen
    pub keys: u64,
    /// Keys that were gone, deleted or expired, when they were looked up
    pub gone: u64,
    /// Keys that this user may not look up
    pub denied: u64,
    /// Keys with names over 1 MiB, which were not looked up
    pub long_names: u64,
    /// Values of which some elements were read and not all, because they are large
    pub partly: u64,
    /// Values of which no element was read, though elements were wanted
    pub unread: u64,
}

/// Commands for lengths and elements that a server refused, by their names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Refused {
    /// This user may not run them
    pub denied: BTreeSet<String>,
    /// The server does not have them, or has renamed them
    pub unknown: BTreeSet<String>,
}

impl Refused {
    /// Whether nothing was refused.
    pub fn is_empty(&self) -> bool {
        self.denied.is_empty() && self.unknown.is_empty()
    }

    pub(super) fn extend(&mut self, other: &Refused) {
        self.denied.extend(other.denied.iter().cloned());
        self.unknown.extend(other.unknown.iter().cloned());
    }

    /// What was refused, and which ACL rules would allow it.
    pub(super) fn notes(&self) -> Vec<String> {
        let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
        let rules = |names: &BTreeSet<String>| {
            let rules = names.iter().map(|name| format!("+{}", name.to_lowercase()));
            rules.collect::<Vec<_>>().join(" ")
        };
        let unread = "some lengths or elements were not read, because";
        let mut notes = Vec::new();
        if !self.denied.is_empty() {
            let (names, rules) = (list(&self.denied), rules(&self.denied));
            notes.push(format!(
                "{unread} the user has no permission to run {names}: allow `{rules}`"
            ));
        }
        if !self.unknown.is_empty() {
            let names = list(&self.unknown);
            notes.push(format!("{unread} the server does not have {names}"));
        }
        notes
    }
}

/// What a scan's own small commands waited for: what any other client would have waited for, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Latency {
    /// How many were measured during the scan
    pub probes: u64,
    /// The fastest of late
    pub idle: Duration,
    /// Half of them were faster
    pub p50: Duration,
    /// One in a hundred was slower
    pub p99: Duration,
    /// The slowest
    pub max: Duration,
}
