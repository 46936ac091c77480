//! How a server is to be read.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use keyward_fact::address::Secret;
use serde::{Deserialize, Serialize};

use crate::hash::Salt;

/// How a server is to be read. The default bounds how much it is burdened, and leaves no trace in what it
/// evicts.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Options {
    /// By SCAN, or as a replica would
    pub via: Via,
    /// Only this database; all of them, unless the URL names one
    pub db: Option<u64>,
    /// Reads the primary also where a replica could be read
    pub primary: bool,
    /// Reads the one node that the URL names, not the cluster that it belongs to
    pub node_only: bool,
    /// Looks up lengths and elements also where that makes keys look used to the server's eviction
    pub touch: bool,
    /// Whether lengths and elements are wanted at all; a snapshot has them anyway
    pub values: bool,
    /// Whether encodings are wanted: one more command for each key
    pub encodings: bool,
    /// How much the server may be burdened; `None` for as much as it can bear
    pub bound: Option<Bound>,
    /// Reads only keys that match this glob, as SCAN understands it
    pub matching: Option<String>,
    /// Settings to ask for, by their names in `redis.conf`, besides those that are always reported
    pub settings: BTreeSet<String>,
    /// Looks up only so many per cent of the keys, chosen by their hash
    pub sample: Option<f64>,
    /// How many elements of a collection, or nodes of a list, MEMORY USAGE looks at; from these the
    /// server extrapolates where there are more. 0 means all of them, and a server that does nothing else
    /// for as long as that takes
    pub memory_samples: u32,
    /// The most elements of one collection that are shown
    pub elements: usize,
    /// How long to wait for a connection or a reply
    pub timeout: Duration,
    /// How long to wait for a server that is loading its data
    pub patience: Duration,
    /// Asks for a snapshot also where memory looks short
    pub force: bool,
    /// Whom to trust and who to be, with TLS
    pub tls: Tls,
    /// The user, where the URL names none
    pub user: Option<String>,
    /// The password, where the URL has none
    pub password: Option<Secret>,
    /// What the connections call themselves
    pub client_name: &'static str,
    /// Set from elsewhere to make reading stop
    pub stop: Arc<AtomicBool>,
    /// Watched from elsewhere to draw progress
    pub progress: Arc<Progress>,
    /// Where to resume a reading that was stopped
    pub resume: Option<Resume>,
    /// By which names are hashed that [`Resume`] needs to know again; the same for both halves
    pub salt: Salt,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            via: Via::Scan,
            db: None,
            primary: false,
            node_only: false,
            touch: false,
            values: true,
            encodings: true,
            bound: Some(Bound::default()),
            matching: None,
            settings: BTreeSet::new(),
            sample: None,
            memory_samples: 256,
            elements: 1_000,
            timeout: Duration::from_secs(10),
            patience: Duration::from_mins(1),
            force: false,
            tls: Tls::default(),
            user: None,
            password: None,
            client_name: "keyward-audit",
            stop: Arc::default(),
            progress: Arc::default(),
            resume: None,
            salt: Salt::of(""),
        }
    }
}

/// How keys are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Via {
    /// By SCAN, and a few commands a key
    #[default]
    Scan,
    /// As a snapshot, the way a replica gets it: the server forks
    Snapshot,
}

/// How much a server may be burdened by one scan. What the scan aims at, measured from its own side; no
/// promise about what other clients see.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// How much longer another client may wait than on an idle server. A PING every 5 ms measures that
    /// against the fastest of the last minute. The scan keeps half of them within a twentieth of this and a
    /// 32nd of the round trip, first by looking up fewer keys at once, then by pauses; when the second one of
    /// up to a hundred takes longer than all of it, the keys at once are halved, or the pauses doubled
    pub max_latency: Duration,
    /// The most commands a second, on average since the scan began; a group is sent at once
    pub max_ops: Option<u64>,
}

impl Default for Bound {
    fn default() -> Self {
        Bound { max_latency: Duration::from_millis(5), max_ops: None }
    }
}

/// Whom to trust and who to be, with TLS.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Tls {
    /// A file of certificates to trust instead of the system's
    pub authority: Option<PathBuf>,
    /// A certificate and its private key to show to the server
    pub client: Option<(PathBuf, PathBuf)>,
}

/// How far reading has come.
#[derive(Debug, Default)]
pub struct Progress {
    /// Keys seen, of all shards
    pub keys: AtomicU64,
    /// Keys there were when reading began
    pub expected: AtomicU64,
    /// Bytes of snapshots read
    pub bytes: AtomicU64,
}

/// Where to resume after a stop: keep it with what the observers have seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// The moment from which TTLs are counted, in milliseconds since 1970
    pub clock: u64,
    /// Every shard
    pub shards: Vec<ResumeShard>,
}

/// Where to resume one shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumeShard {
    /// The shard, as [`Shard::name`](super::Shard::name) has it
    pub name: String,
    /// The server that was read, which must be the same process still
    pub run_id: String,
    /// Where that server is
    pub server: String,
    /// What it called itself, `master` or `slave`, which must be the same
    #[serde(default)]
    pub role: String,
    /// The slots that it served, as [`Shard::slots`](super::Shard::slots) has them, which must be the same
    #[serde(default)]
    pub slots: Option<String>,
    /// The database, and the cursor in it; `None` where all was seen
    pub at: Option<(u64, u64)>,
    /// Keys behind that cursor that were seen already, by their salted hashes: where a server was lost, the
    /// cursor may stand before some
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<u64>,
    /// What was counted so far
    pub counts: super::seen::Counts,
    /// What could not be seen so far
    #[serde(default)]
    pub notes: Vec<String>,
    /// Which keys this user was not allowed to see so far
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Commands for lengths and elements that the server refused so far
    #[serde(default, skip_serializing_if = "super::Refused::is_empty")]
    pub refused: super::Refused,
}
