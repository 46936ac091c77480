//! The connections of one scan, and what can be asked through them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::connection::{Connection, Reply};
use super::error::{Error, Fault, NEEDED};
use super::lookup::{Questions, Usage};
use super::probe::Probe;
use super::seen::Latency;
use super::server::{self, Info, Size};
use super::task::Task;

/// The connections of one scan, before it begins.
pub(super) struct Lines {
    scan: Connection,
    look: Connection,
    /// For INFO and PING
    pub(super) control: Connection,
    /// Whether the server was told that looking is not using
    no_touch: bool,
}

/// The connections of one scan that is under way.
pub(super) struct Running {
    /// `None` while a walk has it
    pub(super) scan: Option<Connection>,
    pub(super) look: Connection,
    control: Control,
}

enum Control {
    Probing(Probe),
    Idle(Connection),
}

impl Running {
    /// Chooses a database, and gives the connection that is to walk through it.
    pub(super) fn select(&mut self, db: u64) -> Result<Connection, Fault> {
        let lost = || Fault::Lost("the walk through the keys was broken off".to_owned());
        let mut scan = self.scan.take().ok_or_else(lost)?;
        select(&mut scan, db)?;
        select(&mut self.look, db)?;
        Ok(scan)
    }

    /// What PINGs took since this was last asked, and the fastest of late.
    pub(super) fn probed(&self) -> Result<Option<(Vec<Duration>, Duration)>, Fault> {
        match &self.control {
            Control::Probing(probe) => probe.round(),
            Control::Idle(_) => Ok(None),
        }
    }

    /// What PINGs took, and a connection for other questions.
    pub(super) fn end(self) -> (Latency, Option<Connection>) {
        match self.control {
            Control::Probing(probe) => probe.end(),
            Control::Idle(connection) => (Latency::default(), Some(connection)),
        }
    }
}

impl Lines {
    pub(super) fn open(task: &Task<'_>) -> Result<Self, Fault> {
        let open = || server::open(task.target, task.options);
        let (mut scan, mut look, control) = (open()?, open()?, open()?);
        // Otherwise a replica sends every key's questions to its primary.
        if task.partition.node.is_some() {
            for connection in [&mut scan, &mut look] {
                connection.command(&["READONLY"])?;
            }
        }
        let no_touch = look.command(&["CLIENT", "NO-TOUCH", "ON"])? == Reply::Status("OK".into());
        Ok(Lines { scan, look, control, no_touch })
    }

    /// Begins, and measures what others wait for if that is of interest.
    pub(super) fn run(self, is_measured: bool, round_trip: Duration) -> Running {
        let control = if is_measured {
            Control::Probing(Probe::begin(self.control, round_trip))
        } else {
            Control::Idle(self.control)
        };
        Running { scan: Some(self.scan), look: self.look, control }
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
            let allow = match why {
                "denies" => format!(": allow `+{}`", args[..2].join("|").to_lowercase()),
                _ => String::new(),
            };
            notes.push(format!("{lost} not known, because the server {why} {command}{allow}"));
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
        Ok(Questions { memory, encoding, usage: usage.flatten(), modules, moves: false })
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
                "values were not read: with policy `{policy}`, reading them would change what the server \
                 evicts. `--touch` reads them all the same, `--via snapshot` reads them without a trace, \
                 and `--no-values` leaves them out on purpose"
            )
        });
        task.options.touch
    }

    /// The fastest of a few PINGs.
    pub(super) fn round_trip(&mut self) -> Result<Duration, Fault> {
        let mut fastest = Duration::MAX;
        for _ in 0..10 {
            let start = Instant::now();
            self.control.command(&["PING"])?;
            fastest = fastest.min(start.elapsed());
        }
        Ok(fastest)
    }

    /// The databases to read.
    pub(super) fn databases(
        &mut self,
        task: &Task<'_>,
        missing: &mut Vec<String>,
    ) -> Result<Databases, Fault> {
        Databases::count(&mut self.control, task, missing)
    }
}

/// The databases to read, with how many keys they have where the server tells.
#[derive(Debug, Default)]
pub(super) struct Databases {
    pub(super) sizes: BTreeMap<u64, Size>,
    /// Whether others have keys, or may have, that are not read
    pub(super) has_others: bool,
}

impl Databases {
    pub(super) fn count(
        control: &mut Connection,
        task: &Task<'_>,
        missing: &mut Vec<String>,
    ) -> Result<Self, Fault> {
        let only = task.options.db.or(task.target.db.map(u64::from));
        let info = Info::ask(control)?;
        let (has_others, mut sizes) = (info.has_other_databases(only), info.databases());
        sizes.retain(|db, _| only.is_none_or(|only| only == *db));
        if sizes.is_empty() {
            sizes = Self::try_all(control, only, missing)?;
        }
        for (db, size) in &mut sizes {
            // What INFO says may not be a number that can be.
            if size.keys.is_none() {
                select(control, *db)?;
                let counted = dbsize(control)?;
                *size = Size { expiring: size.expiring.or(counted.expiring), ..counted };
            }
        }
        Ok(Databases { sizes, has_others })
    }

    /// Asks each database, where INFO names none: it may be denied, or say nothing about keys.
    fn try_all(
        control: &mut Connection,
        only: Option<u64>,
        missing: &mut Vec<String>,
    ) -> Result<BTreeMap<u64, Size>, Fault> {
        /// A server has 16 unless it is told otherwise.
        const MOST: u64 = 1_024;
        let mut databases = BTreeMap::new();
        for db in only.map_or(0..=MOST, |only| only..=only) {
            match control.command(&["SELECT", &db.to_string()])? {
                Reply::Error(reply) if db == 0 && reply.starts_with("NOPERM") && only.is_none() => {
                    missing.push(ONLY_FIRST.to_owned());
                }
                // A cluster's servers may have no SELECT, and have only database 0.
                Reply::Error(_) if db == 0 => {}
                Reply::Error(reply) if only.is_some() => {
                    return Err(not_selected(control.address(), db, reply).into());
                }
                Reply::Error(_) => break,
                _ => {}
            }
            let size = dbsize(control)?;
            if size.keys != Some(0) {
                databases.insert(db, size);
            }
        }
        Ok(databases)
    }

    /// Keys of all, where all are known.
    pub(super) fn keys(&self) -> Option<u64> {
        self.sizes.values().try_fold(0_u64, |all, size| Some(all.saturating_add(size.keys?)))
    }

    /// Keys that may have expired and still be counted.
    pub(super) fn expiring(&self) -> u64 {
        let each = self.sizes.values().map(|size| size.expiring.or(size.keys).unwrap_or(0));
        each.fold(0, u64::saturating_add)
    }
}

const ONLY_FIRST: &str = "only database 0 was read, because the user has no permission to run SELECT: allow \
                          `+select`, or name the database with `--db`";

fn select(connection: &mut Connection, db: u64) -> Result<(), Fault> {
    match connection.command(&["SELECT", &db.to_string()])? {
        // A cluster's servers may have no SELECT, and have only database 0.
        Reply::Error(_) if db == 0 => Ok(()),
        Reply::Error(reply) => Err(not_selected(connection.address(), db, reply).into()),
        _ => Ok(()),
    }
}

/// Why a database could not be selected.
pub(super) fn not_selected(address: &str, db: u64, reply: String) -> Error {
    let address = address.to_owned();
    if reply.starts_with("NOPERM") {
        Error::Denied { address, command: "SELECT", needs: NEEDED }
    } else if reply.ends_with("out of range") || reply.ends_with("invalid DB index") {
        Error::Options { why: format!("{address} has no database {db}") }
    } else {
        Error::Reply { address, command: "SELECT", reply }
    }
}

/// How many keys the selected database has, where the server says.
fn dbsize(connection: &mut Connection) -> Result<Size, Fault> {
    match connection.command(&["DBSIZE"])? {
        Reply::Integer(keys @ 0..) => {
            let keys = u64::try_from(keys).ok();
            Ok(Size { keys, expiring: keys })
        }
        Reply::Error(_) => Ok(Size::default()),
        other => Err(connection.odd("DBSIZE", &other.kind())),
    }
}
