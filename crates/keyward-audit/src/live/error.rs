//! Why a server could not be audited, and what to do about it.

use keyward_fact::address::AddressError;
use keyward_fact::{Size, thousands};

/// What a user needs to be allowed to audit by scanning.
pub(super) const NEEDED: &str = "SCAN, TYPE, PTTL, and SELECT where there are several databases; better also INFO, DBSIZE, MEMORY USAGE, OBJECT";

const WRITES_TO_DISK: &str = "would write the snapshot to its disk first, and refuse all writes if the disk is \
     full: `repl-diskless-sync` is `no` and `stop-writes-on-bgsave-error` is `yes`";
const MAY_WRITE_TO_DISK: &str = "denies CONFIG GET, so it is not known whether it writes a snapshot to its disk \
     first: if that disk is full, the server refuses all writes";

/// Why a server could not be audited. No credential is ever part of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server is not of the kind that the URL asks for
    #[error("{address} is not {wanted}")]
    Kind {
        /// Where
        address: String,
        /// A Sentinel, or part of a cluster
        wanted: &'static str,
    },
    /// The URL cannot be used
    #[error("the URL of the server cannot be used: {why}")]
    Url {
        /// What is wrong with it
        why: &'static str,
    },
    /// An option cannot be used
    #[error("{why}")]
    Options {
        /// Which, and why
        why: String,
    },
    /// No connection could be made
    #[error("{address} cannot be reached: {why}")]
    Unreachable {
        /// Where
        address: String,
        /// What the system said
        why: String,
    },
    /// The server has as many clients as it takes
    #[error("{address} takes no more clients (`maxclients`): {reply}")]
    Full {
        /// Where
        address: String,
        /// What the server said
        reply: String,
    },
    /// The server wants a password, or another one
    #[error("{address} does not let this user in: {reply}")]
    Refused {
        /// Where
        address: String,
        /// What the server said
        reply: String,
    },
    /// The user may not run a command that an audit needs
    #[error("{address} denies {command} to this user; an audit needs {needs}")]
    Denied {
        /// Where
        address: String,
        /// The command
        command: &'static str,
        /// What else is needed
        needs: &'static str,
    },
    /// The server does not have a command that an audit needs, or it was renamed
    #[error("{address} has no command {command}; it may have been renamed")]
    Missing {
        /// Where
        address: String,
        /// The command
        command: &'static str,
    },
    /// The server is still loading its data
    #[error("{address} is loading its data, still after {} s", thousands(*waited))]
    Loading {
        /// Where
        address: String,
        /// For how many seconds it was waited for
        waited: u64,
    },
    /// What answers does not speak as a server does
    #[error("{address} does not answer like a Redis server: {got}")]
    Garbage {
        /// Where
        address: String,
        /// What it said, shortened and escaped
        got: String,
    },
    /// The server answered with an error
    #[error("{address} answered {command} with an error: {reply}")]
    Reply {
        /// Where
        address: String,
        /// To which command
        command: &'static str,
        /// The error
        reply: String,
    },
    /// A scan does not come to its end
    #[error("the scan of {address} does not end: {why}")]
    Endless {
        /// Where
        address: String,
        /// By what that shows
        why: &'static str,
    },
    /// The connection broke while keys were read, and could not be made again
    #[error("the connection to {address} broke{}: {why}", after(*keys))]
    Died {
        /// Where
        address: String,
        /// How many keys had been read
        keys: u64,
        /// What the system said
        why: String,
    },
    /// A cluster does not serve all its slots
    #[error("the cluster is down, says {address}: {why}")]
    ClusterDown {
        /// The node that was asked
        address: String,
        /// What is missing
        why: String,
    },
    /// A cluster describes itself as none can be
    #[error("the cluster that {address} describes cannot be: {why}")]
    Topology {
        /// The node that was asked
        address: String,
        /// What cannot be
        why: String,
    },
    /// The servers changed while they were read, also the second time
    #[error("not all of {address} was seen: {why}, and the second attempt failed too")]
    Incomplete {
        /// The server or shard
        address: String,
        /// What changed
        why: String,
    },
    /// A reading that was stopped cannot go on, because the servers are not what they were
    #[error("the scan of {address} cannot go on where it was stopped: {why}")]
    NotResumable {
        /// The server or shard
        address: String,
        /// What has changed
        why: String,
    },
    /// The server gives no snapshot
    #[error("{address} gives no snapshot: {why}")]
    NoSnapshot {
        /// Where
        address: String,
        /// What the server said
        why: String,
    },
    /// The server has too little free memory to fork for a snapshot
    #[error(
        "{address} has too little memory to fork for a snapshot: its data takes {}, and only {} are free",
        Size::from_bytes(*used).human(),
        Size::from_bytes(*free).human()
    )]
    Headroom {
        /// Where
        address: String,
        /// Bytes that its data takes
        used: u64,
        /// Bytes that are free
        free: u64,
    },
    /// The server would write a snapshot to its disk, and refuse writes where that fails
    #[error("{address} {}", if *known { WRITES_TO_DISK } else { MAY_WRITE_TO_DISK })]
    Disk {
        /// Where
        address: String,
        /// Whether the server said so; otherwise it denies CONFIG GET
        known: bool,
    },
    /// Reading was stopped by the caller
    #[error("stopped before all keys were seen")]
    Stopped,
}

impl Error {
    /// Whether the caller asked for something that cannot be, rather than a server failing: exit code 2
    /// rather than 3.
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::Kind { .. } | Error::Url { .. } | Error::Options { .. })
    }

    /// What to do next.
    pub fn help(&self) -> &'static str {
        match self {
            Error::Kind { .. } => "for this server alone, write `redis://` before its address",
            Error::Url { .. } => AddressError::HELP,
            Error::Options { .. } => "change the option, or leave it out",
            Error::Unreachable { .. } => {
                "check host and port, and whether a firewall lies between; `rediss://` is for TLS"
            }
            Error::Full { .. } => {
                "close clients that nobody needs, or raise `maxclients`; a scan takes three, and watching four"
            }
            Error::Refused { reply, .. }
                if reply.contains("password") && reply.starts_with("ERR") =>
            {
                "leave out the password: the server has none for this user"
            }
            Error::Refused { .. } => {
                "give user and password in the URL, `redis://user:password@host`, in the \
                 environment or in a file"
            }
            Error::Denied { .. } => "allow the user these commands, or audit an exported RDB file",
            Error::Missing { .. } => {
                "audit a replica that has the command, or an exported RDB file"
            }
            Error::Loading { .. } => "wait until it has loaded its data",
            Error::Garbage { .. } => {
                "check that host and port are those of a Redis or Valkey server, and whether it \
                 wants TLS (`rediss://`)"
            }
            Error::Reply { .. } => "see the server's log",
            Error::Endless { .. } => "check what answers there: neither Redis nor Valkey does this",
            Error::Died { .. } => "check that the server is running",
            Error::Topology { .. } | Error::ClusterDown { .. } => {
                "repair the cluster first: `redis-cli --cluster check`"
            }
            Error::Incomplete { .. } => "wait until nothing is resharded, restarted or failed over",
            Error::NotResumable { .. } => "start again without the resume file",
            Error::NoSnapshot { .. } => "audit by scanning, or audit an exported RDB file",
            Error::Headroom { .. } => {
                "audit by scanning, or force the snapshot if little is written meanwhile"
            }
            Error::Disk { known: false, .. } => {
                "allow the user `+config|get`, audit by scanning, or force the snapshot if the disk has room \
                 for all data"
            }
            Error::Disk { .. } => {
                "audit by scanning, set `repl-diskless-sync yes`, or force the snapshot if the disk has room \
                 for all data"
            }
            Error::Stopped => "audit again to resume",
        }
    }
}

impl From<AddressError> for Error {
    fn from(error: AddressError) -> Self {
        Error::Url { why: error.why() }
    }
}

/// How far a scan was. Where none ran, there is nothing to say about keys.
fn after(keys: u64) -> String {
    match keys {
        0 => String::new(),
        1 => " after 1 key and could not be made again".to_owned(),
        keys => format!(" after {} keys and could not be made again", thousands(keys)),
    }
}

/// What stops the reading of one server.
#[derive(Debug)]
pub(super) enum Fault {
    /// The connection broke: it can be made again
    Lost(String),
    /// The server is not what it was: its reading must begin again
    Changed(String),
    /// Nothing helps
    Fatal(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Fatal(error)
    }
}

impl Fault {
    /// As an error, before anything was read.
    pub(super) fn early(self, address: &str) -> Error {
        match self {
            Fault::Lost(why) => Error::Unreachable { address: address.to_owned(), why },
            fault => fault.into_error(address, 0),
        }
    }

    /// The error to return without a second attempt.
    pub(super) fn into_error(self, address: &str, keys: u64) -> Error {
        let address = address.to_owned();
        match self {
            Fault::Lost(why) => Error::Died { address, keys, why },
            Fault::Changed(why) => Error::Incomplete { address, why },
            Fault::Fatal(error) => error,
        }
    }
}
