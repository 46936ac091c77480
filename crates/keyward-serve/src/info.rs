//! What servers say about themselves: INFO, CONFIG GET, SLOWLOG and LATENCY, as plain data.
//!
//! A number is `None` where the server does not say it, or does not let this user ask.

use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// One server, or all primaries of a cluster, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct ServerInfo {
    /// When they were asked, in milliseconds since 1970
    pub at: u64,
    /// Each of them
    pub nodes: Vec<NodeInfo>,
    /// Shards of a cluster that did not answer, and why
    pub away: Vec<String>,
}

impl ServerInfo {
    /// Bytes that all of them use.
    pub fn used_memory(&self) -> Option<u64> {
        sum(self.nodes.iter().map(|node| node.used_memory))
    }

    /// The bound of all of them; `None` where one has none.
    pub fn maxmemory(&self) -> Option<u64> {
        sum(self.nodes.iter().map(|node| node.maxmemory.filter(|bytes| *bytes > 0)))
    }

    /// Commands a second.
    pub fn ops(&self) -> Option<u64> {
        sum(self.nodes.iter().map(|node| node.ops))
    }
}

fn sum(numbers: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    let mut total = None;
    for number in numbers {
        total = Some(number?.saturating_add(total.unwrap_or(0)));
    }
    total
}

/// One primary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct NodeInfo {
    /// Its address
    pub name: String,
    /// Which process it is
    pub run_id: Option<String>,
    /// `redis` or `valkey`
    pub family: Option<String>,
    /// `7.0.15`
    pub version: Option<String>,
    /// `master` or `slave`, as the server calls itself
    pub role: Option<String>,
    /// Seconds since it was started
    pub uptime: Option<u64>,
    /// Bytes that it uses
    pub used_memory: Option<u64>,
    /// The most that it used
    pub used_memory_peak: Option<u64>,
    /// Its bound; 0 means none
    pub maxmemory: Option<u64>,
    /// What it does at the bound: `allkeys-lru`
    pub maxmemory_policy: Option<String>,
    /// Memory of the process over memory in use
    pub fragmentation: Option<f64>,
    /// Connected clients
    pub clients: Option<u64>,
    /// Clients that wait in a blocking command
    pub blocked: Option<u64>,
    /// The most clients
    pub maxclients: Option<u64>,
    /// Commands a second
    pub ops: Option<u64>,
    /// Reads of keys that were there, since it was started
    pub hits: Option<u64>,
    /// Reads of keys that were not there, since it was started
    pub misses: Option<u64>,
    /// The share of reads that found their key, from 0 to 1: since it was asked before, where something was read
    /// since, and else since it was started
    pub hit_rate: Option<f64>,
    /// Keys that were evicted since it was started
    pub evicted: Option<u64>,
    /// The same in each second since it was asked before
    pub evicted_rate: Option<f64>,
    /// Keys that expired since it was started
    pub expired: Option<u64>,
    /// The same in each second since it was asked before
    pub expired_rate: Option<f64>,
    /// Keys, and keys with a TTL, of each database
    pub databases: BTreeMap<String, DatabaseInfo>,
    /// What it keeps on disk
    pub persistence: Persistence,
    /// Its replicas
    pub replicas: Vec<Replica>,
    /// Its slow commands, the newest first
    pub slow: Vec<Slow>,
    /// Its latency events
    pub latency: Vec<LatencyEvent>,
    /// Commands by the time they took in all, the most first
    pub commands: Vec<CommandStats>,
    /// What it did not let this user ask: `CONFIG GET`
    pub denied: Vec<String>,
}

/// One database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct DatabaseInfo {
    /// Keys
    pub keys: u64,
    /// Keys with a TTL
    pub expires: u64,
}

/// What a server keeps on disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Persistence {
    /// When it last wrote a snapshot, in seconds since 1970
    pub last_save: Option<u64>,
    /// Writes since then
    pub changes: Option<u64>,
    /// Whether the last attempt worked
    pub last_ok: Option<bool>,
    /// The setting `save`: after how many seconds and writes it writes one
    pub save: Option<String>,
    /// Whether it keeps an append-only file
    pub aof: Option<bool>,
    /// Whether the last write of that file worked
    pub aof_ok: Option<bool>,
    /// Whether it reads its data from disk
    pub loading: Option<bool>,
}

impl Persistence {
    /// By how many seconds a snapshot is later than `save` asks for; `None` where none is due.
    pub fn late(&self, now_seconds: u64) -> Option<u64> {
        let (last, changes) = (self.last_save?, self.changes?);
        let age = now_seconds.saturating_sub(last);
        let words: Vec<u64> =
            self.save.as_deref()?.split_whitespace().map_while(|it| it.parse().ok()).collect();
        let due = words.chunks_exact(2).filter(|pair| changes >= pair[1]).map(|pair| pair[0]);
        due.min().and_then(|seconds| age.checked_sub(seconds)).filter(|late| *late > 0)
    }
}

/// A replica, as its primary sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Replica {
    /// Its address
    pub address: String,
    /// `online`, or what it does instead
    pub state: String,
    /// Seconds since it was last heard of
    pub lag: Option<u64>,
    /// Bytes that it has yet to get
    pub behind: Option<u64>,
}

/// A slow command. No argument is kept: only what it is about, as far as it may be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Slow {
    /// When it ran, in seconds since 1970
    pub at: u64,
    /// How long it took, in microseconds
    pub micros: u64,
    /// The command
    pub command: String,
    /// How many arguments it had, as far as the server keeps them
    pub arguments: u64,
    /// The keyspace of the first argument that is a declared key
    pub schema: Option<String>,
    /// Its definition
    pub definition: Option<String>,
    /// The key, masked
    pub key: Option<String>,
}

/// A latency event, as LATENCY LATEST has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct LatencyEvent {
    /// What: `fork`, `command`
    pub event: String,
    /// When it was last, in seconds since 1970
    pub at: u64,
    /// How long that took, in milliseconds
    pub millis: u64,
    /// The longest, in milliseconds
    pub max: u64,
}

/// A command, as INFO COMMANDSTATS has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct CommandStats {
    /// The command: `get`, `config|get`
    pub command: String,
    /// How often it ran
    pub calls: u64,
    /// How long that took in all, in microseconds
    pub micros: u64,
    /// How long it took on average, in microseconds
    pub average: f64,
    /// How often it failed
    pub failed: Option<u64>,
}
