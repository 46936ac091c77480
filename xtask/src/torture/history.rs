//! What happened, in the order of one clock.

use std::fmt;
use std::time::{Duration, SystemTime};

/// A moment, in microseconds since 1970. All clients and servers run on one machine, by one clock.
pub(super) type Micros = u64;

/// The present.
pub(super) fn now() -> Micros {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// All that was seen in one run.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The lines of each client process, by its number
    pub(super) clients: Vec<Vec<String>>,
    /// The lines of the last client, which ran alone
    pub(super) last: Vec<String>,
    pub(super) faults: Vec<Fault>,
    /// The keys on the server after the last client has ended
    pub(super) left: Vec<String>,
    /// Whether a server that is killed keeps every write that it has answered. With `appendfsync everysec` it may lose
    /// those of the last two seconds
    pub(super) is_durable: bool,
    /// Whether the keys were on a cluster, where two names are seldom in one slot
    pub(super) is_cluster: bool,
}

/// Something that was done to a client or to the server.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) kind: Kind,
    /// The number of the client that it was done to
    pub(super) client: Option<usize>,
    pub(super) from: Micros,
    pub(super) to: Micros,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} from {} to {}", self.kind, self.from, self.to)?;
        self.client.map_or(Ok(()), |client| write!(f, ", client {client}"))
    }
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// SIGKILL to a client
    KillClient,
    /// SIGSTOP and then SIGCONT to a client
    StopClient,
    /// SIGSTOP and then SIGCONT to the server
    PauseServer,
    /// SIGKILL to the server, and a new start
    RestartServer,
    /// FLUSHALL
    Flush,
    /// SCRIPT FLUSH
    ForgetScripts,
    /// The server is full, and refuses what needs memory
    Refuse,
    /// The server is full, and evicts keys at random
    Evict,
    /// Every byte arrives late
    Delay,
    /// Every connection is closed
    Cut,
    /// Every connection is reset
    Reset,
    /// A primary of the cluster is killed, its replica takes over, and it returns as a replica
    FailOver,
    /// Slots with keys go from one primary of the cluster to another, step by step
    Reshard,
}

impl Kind {
    /// All that can be done to a single server and its clients.
    pub(super) const SINGLE: [Kind; 11] = [
        Kind::KillClient,
        Kind::StopClient,
        Kind::PauseServer,
        Kind::RestartServer,
        Kind::Flush,
        Kind::ForgetScripts,
        Kind::Refuse,
        Kind::Evict,
        Kind::Delay,
        Kind::Cut,
        Kind::Reset,
    ];
    /// All that can be done to a cluster and its clients.
    pub(super) const CLUSTER: [Kind; 5] =
        [Kind::KillClient, Kind::StopClient, Kind::ForgetScripts, Kind::FailOver, Kind::Reshard];

    /// By its name, as a report has it.
    pub(super) fn find(name: &str) -> Option<Self> {
        let mut all = Kind::SINGLE.into_iter().chain(Kind::CLUSTER);
        all.find(|kind| format!("{kind:?}") == name)
    }
}

impl History {
    /// Whether such a fault touches a span of time.
    pub(super) fn has(&self, from: Micros, to: Micros, is: impl Fn(&Fault) -> bool) -> bool {
        self.faults.iter().any(|fault| fault.from <= to && fault.to >= from && is(fault))
    }

    /// How many faults of each kind there were: `KillClient 12, Flush 3`.
    pub(super) fn counted(&self) -> String {
        let mut counts: Vec<(Kind, usize)> = Vec::new();
        for fault in &self.faults {
            match counts.iter_mut().find(|(kind, _)| *kind == fault.kind) {
                Some((_, count)) => *count += 1,
                None => counts.push((fault.kind, 1)),
            }
        }
        let shown: Vec<String> =
            counts.into_iter().map(|(kind, count)| format!("{kind:?} {count}")).collect();
        shown.join(", ")
    }
}

/// What a check has found.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// Calls that clients have made
    pub(super) operations: usize,
    pub(super) violations: Vec<String>,
    /// Plans that were killed while they were applied
    pub(super) interrupted: usize,
    /// What is allowed, and worth a look
    pub(super) remarks: Vec<String>,
}

impl Verdict {
    pub(super) fn violation(&mut self, what: impl fmt::Display) {
        self.violations.push(what.to_string());
    }
}
