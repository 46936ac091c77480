//! An RDB file as a source.

use crate::checks::Audit;
use crate::clock::rfc3339;
use crate::observe::Observer as _;
use crate::report::{BytesKind, Report, Server, Shard, Source, SourceKind};
use crate::settings::ServerFacts;
use crate::tally::{Listener, Tally};
use keyward_fact::thousands;
use keyward_rdb::{
    Checksum, Element, Error, Extra, Family, Key, Reader, Show, Summary, Value, Visitor,
};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The slots of a cluster: a file with keys in all of them is of no shard among others.
const SLOTS: u64 = 16_384;

/// How a snapshot is read.
pub struct ReadOptions<'p> {
    /// With how many threads, where all bytes are in memory
    pub threads: NonZero<usize>,
    /// From when TTLs are counted, in milliseconds since 1970, if not from when the snapshot was taken
    pub clock: Option<u64>,
    /// What time it is, in milliseconds since 1970
    pub now: u64,
    /// Receives how many bytes were read; may stop the reading
    pub progress: Option<&'p (dyn Fn(u64) -> ControlFlow<()> + Sync)>,
    /// Receives every key, in the order of the file; then one thread reads
    pub listener: Option<Listener>,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        ReadOptions {
            threads: NonZero::<usize>::MIN,
            clock: None,
            now: 0,
            progress: None,
            listener: None,
        }
    }
}

impl std::fmt::Debug for ReadOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadOptions").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Audit {
    /// Reads a snapshot to its end and reports. A file that is cut off or corrupt is an error: nothing
    /// partial is ever reported.
    pub fn read(
        self: &Arc<Self>,
        reader: Reader<'_>,
        name: &str,
        reading: ReadOptions<'_>,
    ) -> Result<Report, Error> {
        let ReadOptions { threads, clock, now, progress, listener } = reading;
        let taken = reader.created_at().map(|seconds| seconds.saturating_mul(1000));
        let visit = |listener| {
            let tally = Tally::new(self.clone(), clock.or(taken).unwrap_or(now));
            let tally = match listener {
                Some(listener) => tally.listening(listener),
                None => tally,
            };
            Visit { tally, follow: clock.is_none() && taken.is_none(), size: 0, progress }
        };
        let (summary, visits) = if let Some(listener) = listener {
            let mut visit = visit(Some(listener));
            (reader.read(&mut visit)?, vec![visit])
        } else {
            reader.read_parallel(threads, || visit(None))?
        };
        summary.expect_end()?;
        let size: u64 = visits.iter().map(|visit| visit.size).sum();
        let tallies: Vec<Tally> = visits.into_iter().map(|visit| visit.tally).collect();
        let mut source = source(name, &summary, (size > 0).then_some(size));
        let counted_from = tallies.first().map_or(now, Tally::clock);
        source.clock = rfc3339(counted_from);
        if clock.is_none() && summary.created_at.is_none() {
            source.note("the file does not say when it was written: TTLs are counted from today");
        }
        let server = ServerFacts { used_memory: summary.used_memory, ..ServerFacts::default() };
        Ok(self.report(source, tallies, &server, now))
    }
}

fn source(name: &str, summary: &Summary, size: Option<u64>) -> Source {
    let family = match summary.version.family {
        Family::Redis => "redis",
        Family::Valkey => "valkey",
    };
    let mut source = Source {
        kind: SourceKind::Rdb,
        name: name.to_owned(),
        server: Server { family: Some(family.to_owned()), version: summary.server.clone() },
        bytes: BytesKind::Estimated,
        checked: summary.memory_checked(),
        clock: String::new(),
        complete: true,
        keys_unread: false,
        narrowed: None,
        values_unread: None,
        sample: None,
        shards: vec![Shard {
            name: name.to_owned(),
            keys_seen: summary.keys,
            dbsize: size,
            run_id: None,
            // Only a cluster's node writes of slots.
            alone: summary.slots > 0 && summary.slots < SLOTS,
            again: false,
        }],
        notes: Vec::new(),
    };
    if summary.version.is_newer() {
        source.note(
            "the file's version is newer than this program: what it knows of it was understood",
        );
    }
    if summary.checksum != Checksum::Verified {
        source.note(
            "the file has no checksum: whether its bytes are those that were written is not known",
        );
    }
    if summary.aof_base {
        source.note(
            "the file is the base of an append-only file: what was written after it is not seen",
        );
    }
    let modules: Vec<(&str, u64)> = summary.modules.iter().collect();
    if !modules.is_empty() {
        let keys: u64 =
            modules.iter().map(|(_, keys)| keys).sum::<u64>() + summary.modules.others();
        let names: Vec<&str> = modules.iter().map(|(name, _)| *name).collect();
        source.note(format!(
            "{} keys of modules ({}) are counted by their bytes in the file",
            thousands(keys),
            names.join(", ")
        ));
    }
    source
}

struct Visit<'p> {
    tally: Tally,
    /// Whether the file is to say from when TTLs are counted
    follow: bool,
    /// How many keys the file says there are
    size: u64,
    progress: Option<&'p (dyn Fn(u64) -> ControlFlow<()> + Sync)>,
}

impl Visitor for Visit<'_> {
    #[inline]
    fn key(&mut self, key: &Key<'_>) -> Show {
        self.tally.begin(&key.fact(None))
    }

    #[inline]
    fn element(&mut self, element: &Element<'_>) {
        self.tally.element(element);
    }

    #[inline]
    fn value(&mut self, key: &Key<'_>, value: &Value) {
        self.tally.end(&key.fact(Some(value)));
    }

    fn extra(&mut self, extra: &Extra<'_>) {
        match extra {
            Extra::Aux { name, value } if self.follow && name.bytes == b"ctime" => {
                let seconds =
                    str::from_utf8(value.bytes).ok().and_then(|text| text.parse::<u64>().ok());
                if let Some(seconds) = seconds {
                    self.tally.set_clock(seconds.saturating_mul(1000));
                }
            }
            Extra::Size { keys, .. } => self.size += keys,
            _ => {}
        }
    }

    fn progress(&mut self, offset: u64) -> ControlFlow<()> {
        self.progress.map_or(ControlFlow::Continue(()), |progress| progress(offset))
    }
}
