//! Reads one server the way a replica does: PSYNC, with `rdb-only` so that nothing follows the
//! snapshot, and without ever acknowledging anything.

use std::io::BufReader;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use keyward_pattern::Glob;
use keyward_rdb::wire::Payload;
use keyward_rdb::{Allocator, Element, ErrorKind, Key, Reader, Show, Value, Visitor};

use super::connection::{Connection, Reply, write_command};
use super::error::{Error, Fault};
use super::options::Options;
use super::seen::{Bytes, Counts, Shard};
use super::server::{self, Info, Setting};
use super::task::{ShardRead, Task};
use crate::observe::Observer;

/// How long a primary may be silent: it sends a newline every ten seconds while it prepares.
const SILENCE: Duration = Duration::from_mins(1);

/// Reads one server to its end.
pub(super) fn read<O: Observer>(
    task: &Task<'_>,
    mut shard: Shard,
    observer: impl FnOnce(&Shard) -> O,
) -> Result<(ShardRead<O>, Option<Connection>), Fault> {
    check_headroom(task, &mut shard)?;
    check_disk(task, &shard.server)?;
    if task.options.sample.is_some() {
        shard.notes.push("all keys were read: a snapshot is not sampled".to_owned());
    }
    let only = task.options.db.or(task.target.db.map(u64::from));
    let size = |info: &Info| -> Option<u64> {
        let databases = info.databases().into_iter();
        let wanted = databases.filter(|(db, _)| only.is_none_or(|only| only == *db));
        let mut each = wanted.map(|(_, size)| size.keys);
        let all = each.try_fold(0_u64, |all, keys| Some(all.saturating_add(keys?)));
        all.filter(|_| info.is_known())
    };
    shard.dbsize_before = size(task.info);
    shard.has_other_databases = task.info.has_other_databases(only);
    let expected = shard.dbsize_before.unwrap_or(0);
    task.options.progress.expected.fetch_add(expected, Ordering::Relaxed);

    let patient = Options { timeout: task.options.timeout.max(SILENCE), ..task.options.clone() };
    let mut connection = server::open(task.target, &patient)?;
    let time = server_time(&mut connection)?.unwrap_or(task.clock);
    begin(&mut connection, task.info)?;
    let address = connection.address().to_owned();

    let glob = task.options.matching.as_deref().map(Glob::new);
    let mut watch =
        Watch { task, observer: observer(&shard), only, glob, time, keys: 0, read: 0, told: 0 };
    let payload = Payload::new(BufReader::with_capacity(256 * 1024, connection.into_raw()))
        .map_err(|error| Fault::Lost(error.to_string()))?;
    let mut options = keyward_rdb::Options::default();
    if task.info.get("mem_allocator").starts_with("libc") {
        options.allocator = Allocator::Libc;
    }
    options.links_slots = task.info.links_slots();
    let summary = Reader::from_read(payload)
        .and_then(|reader| reader.with(options).read(&mut watch))
        .map_err(|error| match error.kind() {
            ErrorKind::Stopped => Fault::Fatal(Error::Stopped),
            ErrorKind::Io(_) if task.must_stop() => Fault::Fatal(Error::Stopped),
            ErrorKind::Io(_) | ErrorKind::Truncated => Fault::Lost(error.to_string()),
            _ => {
                Fault::Fatal(Error::NoSnapshot { address: address.clone(), why: error.to_string() })
            }
        })?;

    let mut control = server::open(task.target, task.options)?;
    let after = Info::ask(&mut control)?;
    shard.dbsize_after = size(&after);
    shard.counts = Counts { scanned: watch.keys, keys: watch.keys, ..Counts::default() };
    if summary.version.is_newer() {
        shard.notes.push(format!("{} is newer than what is known of the format", summary.version));
    }
    let bytes = Bytes::Estimated { checked: summary.memory_checked() };
    let (bytes, told) = (Some(bytes), Vec::new());
    Ok((ShardRead { shard, observer: watch.observer, bytes, stopped: None, told }, Some(control)))
}

/// Refuses where memory is short for a fork, unless it is forced.
fn check_headroom(task: &Task<'_>, shard: &mut Shard) -> Result<(), Fault> {
    match Headroom::of(task.info) {
        Some(Headroom { used, free }) if free < used / 2 && !task.options.force => {
            Err(Error::Headroom { address: shard.server.clone(), used, free }.into())
        }
        Some(_) => Ok(()),
        None => {
            shard.notes.push("whether memory suffices for the fork was not known".to_owned());
            Ok(())
        }
    }
}

/// Refuses where the server would write the snapshot to its disk first, unless it is forced: when that fails,
/// the server refuses all writes from then on (MISCONF). How much room there is, no server tells.
fn check_disk(task: &Task<'_>, address: &str) -> Result<(), Fault> {
    if task.options.force {
        return Ok(());
    }
    let mut connection = server::open(task.target, task.options)?;
    let harmless =
        [("repl-diskless-sync", "yes"), ("stop-writes-on-bgsave-error", "no"), ("save", "")];
    let mut known = true;
    for (name, value) in harmless {
        match server::setting(&mut connection, name)? {
            Setting::Is(is) if is == value => return Ok(()),
            Setting::Is(_) => {}
            Setting::Missing | Setting::Denied => known = false,
        }
    }
    Err(Error::Disk { address: address.to_owned(), known }.into())
}

/// A fork shares memory until one of the two writes: on a busy server the parent may copy much of it.
/// Half of the data is what must be free.
#[derive(Debug, PartialEq)]
struct Headroom {
    used: u64,
    free: u64,
}

impl Headroom {
    fn of(info: &Info) -> Option<Headroom> {
        let (used, resident) = (info.number("used_memory")?, info.number("used_memory_rss")?);
        let known = |name: &str| info.number(name).filter(|bytes| *bytes > 0);
        // Who sets a bound leaves room for a fork above it; a machine may have more, but for others.
        let bound = known("maxmemory").map(|bound| bound.saturating_add(bound / 2));
        let total = known("total_system_memory").into_iter().chain(bound).min()?;
        Some(Headroom { used, free: total.saturating_sub(resident) })
    }
}

/// The server's clock, in milliseconds since 1970: expiries in a snapshot are its own.
fn server_time(connection: &mut Connection) -> Result<Option<u64>, Fault> {
    let Reply::Array(pair) = connection.command(&["TIME"])? else { return Ok(None) };
    let number = |reply: Option<&Reply>| match reply {
        Some(Reply::Bytes(text)) => std::str::from_utf8(text).ok()?.parse::<u64>().ok(),
        _ => None,
    };
    let (seconds, micros) = (number(pair.first()), number(pair.get(1)));
    Ok(seconds
        .zip(micros)
        .map(|(seconds, micros)| seconds.saturating_mul(1000).saturating_add(micros / 1000)))
}

/// Asks for the snapshot, up to its first byte.
fn begin(connection: &mut Connection, info: &Info) -> Result<(), Fault> {
    let refuse = |connection: &Connection, why: String| {
        Err(Error::NoSnapshot { address: connection.address().to_owned(), why }.into())
    };
    for args in [["REPLCONF", "capa", "eof"], ["REPLCONF", "rdb-only", "1"]] {
        match connection.command(&args)? {
            Reply::Error(reply) if reply.contains("rdb-only") => {
                let why = "it cannot send one by itself, as Redis 7.0 and Valkey can".to_owned();
                return refuse(connection, why);
            }
            Reply::Error(reply) => return refuse(connection, reply),
            _ => {}
        }
    }
    // To a replica that does not say, Valkey 9 sends a format that has no TTLs of fields, and breaks off at
    // the first. Older servers do not know the word.
    if let ("valkey", version) = info.family() {
        connection.command(&["REPLCONF", "version", version])?;
    }
    let mut request = Vec::new();
    write_command(&mut request, &[b"PSYNC", b"?", b"-1"]);
    connection.send(&request)?;
    let longest = preparing(info);
    connection.skip_newlines(longest)?;
    match connection.reply()? {
        Reply::Status(reply) if reply.starts_with("FULLRESYNC") => {
            connection.skip_newlines(longest)
        }
        Reply::Status(reply) | Reply::Error(reply) => refuse(connection, reply),
        other => refuse(connection, format!("PSYNC was answered with {}", other.kind())),
    }
}

/// How long a primary may prepare a snapshot: what a slow disk takes to write it.
fn preparing(info: &Info) -> Duration {
    const BYTES_A_SECOND: u64 = 10_000_000;
    let used = info.number("used_memory").unwrap_or(0);
    Duration::from_secs(600 + used / BYTES_A_SECOND)
}

/// Tells an observer what a snapshot contains.
struct Watch<'a, O> {
    task: &'a Task<'a>,
    observer: O,
    only: Option<u64>,
    glob: Option<Glob>,
    /// The server's clock when the snapshot was asked for
    time: u64,
    keys: u64,
    /// Bytes and keys that progress was told of
    read: u64,
    told: u64,
}

impl<O> Watch<'_, O> {
    /// The same key, with its expiry by the audit's clock.
    fn translate<'k>(&self, key: &Key<'k>) -> Key<'k> {
        let by_our_clock = |at: u64| at.saturating_add(self.task.clock).saturating_sub(self.time);
        let mut key = *key;
        key.expires_at = key.expires_at.map(by_our_clock);
        key
    }

    fn is_wanted(&self, key: &Key<'_>) -> bool {
        self.only.is_none_or(|only| only == key.db)
            && self.glob.as_ref().is_none_or(|glob| glob.matches(key.name))
    }
}

impl<O: Observer> Visitor for Watch<'_, O> {
    fn key(&mut self, key: &Key<'_>) -> Show {
        if !self.is_wanted(key) {
            return Show::NOTHING;
        }
        let fact = self.translate(key).fact(None);
        self.observer.begin(&fact)
    }

    fn element(&mut self, element: &Element<'_>) {
        self.observer.element(element);
    }

    fn value(&mut self, key: &Key<'_>, value: &Value) {
        if !self.is_wanted(key) {
            return;
        }
        self.keys += 1;
        let fact = self.translate(key).fact(Some(value));
        self.observer.end(&fact);
    }

    fn progress(&mut self, offset: u64) -> ControlFlow<()> {
        let progress = &self.task.options.progress;
        progress.bytes.fetch_add(offset - self.read, Ordering::Relaxed);
        progress.keys.fetch_add(self.keys - self.told, Ordering::Relaxed);
        (self.read, self.told) = (offset, self.keys);
        if self.task.must_stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headroom_is_what_the_machine_has_beside_the_server() {
        let of = |text: &str| Headroom::of(&Info::parse(text)).map(|room| (room.used, room.free));
        let memory = "used_memory:600\r\nused_memory_rss:700\r\n";
        assert_eq!(of(&format!("{memory}total_system_memory:1000\r\n")), Some((600, 300)));
        assert_eq!(of(&format!("{memory}maxmemory:800\r\n")), Some((600, 500)));
        // In a container, the machine's memory is not the server's.
        let both = |total: u32| format!("{memory}maxmemory:800\r\ntotal_system_memory:{total}\r\n");
        assert_eq!(of(&both(64_000)), Some((600, 500)));
        assert_eq!(of(&both(1000)), Some((600, 300)));
        assert_eq!(of(memory), None);
        assert_eq!(of("total_system_memory:1000"), None);
    }
}
