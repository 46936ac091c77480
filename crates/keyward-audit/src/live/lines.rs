//! The connections of one scan, and what can be asked through them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::connection::{Connection, Reply};
use super::error::{Error, Fault};
use super::lookup::{Questions, Usage};
use super::reading::Task;
use super::server::{self, Info};

/// The connections of one scan.
pub(super) struct Lines {
    pub(super) scan: Connection,
    pub(super) look: Connection,
    /// For all that is waited for: INFO, PING, and values
    pub(super) control: Connection,
    /// Whether the server was told that looking is not using
    no_touch: bool,
}

impl Lines {
    pub(super) fn open(task: &Task<'_>) -> Result<Self, Fault> {
        let open = || server::open(task.target, task.options);
        let (mut scan, mut look, mut control) = (open()?, open()?, open()?);
        // Otherwise a replica sends every key's questions to its primary.
        if task.part.node.is_some() {
            for connection in [&mut scan, &mut look, &mut control] {
                connection.command(&["READONLY"])?;
            }
        }
        let no_touch =
            control.command(&["CLIENT", "NO-TOUCH", "ON"])? == Reply::Status("OK".into());
        Ok(Lines { scan, look, control, no_touch })
    }

    /// Finds out what this user may ask.
    pub(super) fn questions(
        &mut self,
        task: &Task<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Questions, Fault> {
        /// No key that exists needs to be touched to learn whether a command is allowed.
        const NOBODY: &str = "keyward:audit:nobody";
        let look = &mut self.look;
        server::must(&mut self.scan, &["SCAN", "0", "COUNT", "1"], "SCAN")?;
        server::must(look, &["TYPE", NOBODY], "TYPE")?;
        server::must(look, &["PTTL", NOBODY], "PTTL")?;
        let mut can = |args: &[&str], lost: &str| -> Result<bool, Fault> {
            let why = match server::can(look, args)? {
                server::Can::Yes => return Ok(true),
                server::Can::Denied => "denies",
                server::Can::Missing => "does not have",
            };
            let command = args[..2].join(" ");
            notes.push(format!("{lost} not known, because the server {why} {command}"));
            Ok(false)
        };
        let samples = task.options.memory_samples;
        let usage = match task.info.get("maxmemory_policy") {
            policy if policy.ends_with("lru") => Some(Usage::Idle),
            policy if policy.ends_with("lfu") => Some(Usage::Freq),
            _ => None,
        };
        let memory = can(&["MEMORY", "USAGE", NOBODY], "bytes are")?.then_some(samples);
        let encoding =
            task.options.encodings && can(&["OBJECT", "ENCODING", NOBODY], "encodings are")?;
        let usage = match usage {
            Some(Usage::Idle) => {
                can(&["OBJECT", "IDLETIME", NOBODY], "idle times are")?.then_some(usage)
            }
            Some(Usage::Freq) => {
                can(&["OBJECT", "FREQ", NOBODY], "frequencies are")?.then_some(usage)
            }
            None => None,
        };
        let modules = !task.info.is_known() || task.info.has_modules();
        Ok(Questions { memory, encoding, usage: usage.flatten(), modules })
    }

    /// Whether lengths and elements can be looked up without harm, or shall be.
    pub(super) fn may_read_values(&self, task: &Task<'_>, notes: &mut Vec<String>) -> bool {
        let policy = task.info.get("maxmemory_policy");
        if !task.options.values {
            return false;
        }
        if self.no_touch || !task.info.evicts_by_use() {
            return true;
        }
        let policy = if policy.is_empty() { "unknown" } else { policy };
        notes.push(if task.options.touch {
            format!("looking up values made keys look used, which counts with policy `{policy}`")
        } else {
            format!(
                "lengths and elements are not known: with policy `{policy}`, looking them up would \
                 change what the server evicts"
            )
        });
        task.options.touch
    }

    /// The fastest of a few PINGs.
    pub(super) fn idle(&mut self) -> Result<Duration, Fault> {
        let mut fastest = Duration::MAX;
        for _ in 0..10 {
            let start = Instant::now();
            self.control.command(&["PING"])?;
            fastest = fastest.min(start.elapsed());
        }
        Ok(fastest)
    }

    /// The databases to read, with how many keys they have where the server tells.
    pub(super) fn databases(
        &mut self,
        task: &Task<'_>,
        notes: &mut Vec<String>,
    ) -> Result<BTreeMap<u64, Option<u64>>, Fault> {
        let only = task.options.db.or(task.target.db);
        let info = Info::ask(&mut self.control)?;
        if info.is_known() {
            let mut databases = info.databases();
            databases.retain(|db, _| only.is_none_or(|only| only == *db));
            return Ok(databases.into_iter().map(|(db, keys)| (db, Some(keys))).collect());
        }
        let db = only.unwrap_or(0);
        if only.is_none() {
            notes.push("only database 0 was read, because the server denies INFO".to_owned());
        }
        select(&mut self.control, db)?;
        let keys = match self.control.command(&["DBSIZE"])? {
            Reply::Integer(keys) => u64::try_from(keys).ok(),
            _ => None,
        };
        Ok(BTreeMap::from([(db, keys)]))
    }

    pub(super) fn select(&mut self, db: u64) -> Result<(), Fault> {
        select(&mut self.scan, db)?;
        select(&mut self.look, db)?;
        select(&mut self.control, db)
    }
}

fn select(connection: &mut Connection, db: u64) -> Result<(), Fault> {
    let db = db.to_string();
    match connection.command(&["SELECT", &db])? {
        // A cluster's servers may have no SELECT, and have only database 0.
        Reply::Error(_) if db == "0" => Ok(()),
        Reply::Error(reply) => {
            let address = connection.address().to_owned();
            Err(Error::Reply { address, command: "SELECT", reply }.into())
        }
        _ => Ok(()),
    }
}
