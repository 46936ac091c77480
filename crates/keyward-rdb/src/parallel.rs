//! Reads a snapshot in memory with several threads.
//!
//! Where a record begins is known only to who has read all before it. So every thread but the first begins
//! at a guess: a place from which a row of records can be read. What it reads counts if the thread before it
//! ends at that very place, and in the same database; what does not count is read again, by all threads. A
//! wrong guess costs time and nothing else.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::crc64;
use crate::entry::Visitor;
use crate::error::{Error, ErrorKind};
use crate::input::{Checked, Slice};
use crate::reader::Options;
use crate::snapshot::{self, PROGRESS, Snapshot};
use crate::summary::Summary;
use crate::version::Version;

/// The least size of a chunk.
pub(crate) const CHUNK: usize = 1024 * 1024;
/// So many records are read before a guess is taken.
const ROW: usize = 32;
/// So long a record is on average at least: zeros are records too, of three bytes.
const RECORD: usize = 8;
/// So many bytes are looked at for a guess, and a try counts as some itself: a forged file must not make one
/// cost more than reading it.
const PATIENCE: usize = 4 * 1024 * 1024;
const TRY: usize = 16;

pub(crate) fn read<V: Visitor + Send>(
    bytes: &[u8],
    options: &Options,
    threads: usize,
    least: usize,
    visitor: &(impl Fn() -> V + Sync),
) -> Result<(Summary, Vec<V>), Error> {
    let mut input = Slice::file(bytes);
    let mut snapshot = Snapshot::new(options);
    snapshot.begin(&mut input)?;
    let work = Work::new(bytes, options, snapshot.version());
    let (mut at, mut db, mut crc) = (input.at(), snapshot.db(), input.checksum());
    let mut summary = snapshot.into_summary();
    let mut visitors = Vec::new();
    loop {
        let chunks = work.cut(at, db, threads, least);
        let first = visitors.pop().unwrap_or_else(visitor);
        for (chunk, read) in chunks.iter().zip(work.read_all(&chunks, first, visitor)) {
            if (chunk.start, chunk.db) != (at, db) {
                work.forget(chunk);
                continue;
            }
            let read = read?;
            summary.absorb(read.summary);
            visitors.push(read.visitor);
            crc = crc64::combine(crc, read.crc, (read.end - at) as u64);
            (at, db) = (read.end, read.db);
            if read.is_last {
                let summary = snapshot::finish(summary, &mut Slice::file_from(bytes, at), crc)?;
                return Ok((summary, visitors));
            }
        }
    }
}

/// Where a thread begins, and from where on the next one reads.
struct Chunk {
    start: usize,
    stop: usize,
    /// The database at the start, by a guess
    db: u64,
    /// How many bytes of it were read
    seen: AtomicU64,
}

impl Chunk {
    fn new(start: usize, stop: usize, db: u64) -> Self {
        Chunk { start, stop, db, seen: AtomicU64::new(0) }
    }
}

/// What a thread has read.
struct Read<V> {
    visitor: V,
    summary: Summary,
    end: usize,
    /// The database at the end
    db: u64,
    /// The checksum of these bytes alone
    crc: u64,
    /// Whether the snapshot ends there
    is_last: bool,
}

struct Work<'w> {
    bytes: &'w [u8],
    options: &'w Options,
    version: Version,
    /// How many bytes were read
    seen: AtomicU64,
    stopped: AtomicBool,
}

impl<'w> Work<'w> {
    fn new(bytes: &'w [u8], options: &'w Options, version: Version) -> Self {
        let (seen, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
        Work { bytes, options, version, seen, stopped }
    }

    /// Cuts what follows a place into a chunk for each thread.
    fn cut(&self, at: usize, db: u64, threads: usize, least: usize) -> Vec<Chunk> {
        /// The last chunk is read until the snapshot says that it ends.
        const NEVER: usize = usize::MAX;
        let rest = self.bytes.len().saturating_sub(at);
        let count = threads.min(rest / least.max(1));
        let mut chunks = vec![Chunk::new(at, NEVER, db)];
        // Most snapshots have one database, whose number stands before the first key.
        let mut ahead = Snapshot::resume(self.options, self.version, db);
        ahead.is_row(&mut Slice::file_from(self.bytes, at), ROW);
        for number in 1..count {
            let from = at + rest / count * number;
            if let Some((start, db)) = self.guess(from, ahead.db())
                && let Some(last) = chunks.last_mut().filter(|last| last.start < start)
            {
                last.stop = start;
                chunks.push(Chunk::new(start, NEVER, db));
            }
        }
        chunks
    }

    /// A place behind another that seems to be between two keys, and the database there.
    fn guess(&self, from: usize, db: u64) -> Option<(usize, u64)> {
        let mut snapshot = Snapshot::resume(self.options, self.version, db);
        let mut looked_at = 0;
        for start in from..self.bytes.len() {
            let mut input = Slice::file_from(self.bytes, start);
            snapshot.begin_anew(db);
            if snapshot.is_row(&mut input, ROW) && input.at() - start >= ROW * RECORD {
                return Some((input.at(), snapshot.db()));
            }
            looked_at += TRY + input.at() - start;
            if looked_at > PATIENCE {
                break;
            }
        }
        None
    }

    /// Reads the chunks, each with a thread of its own.
    fn read_all<V: Visitor + Send>(
        &self,
        chunks: &[Chunk],
        first: V,
        visitor: &(impl Fn() -> V + Sync),
    ) -> Vec<Result<Read<V>, Error>> {
        thread::scope(|scope| {
            let others: Vec<_> = chunks[1..]
                .iter()
                .map(|chunk| scope.spawn(|| self.read(chunk, visitor())))
                .collect();
            let mut all = vec![self.read(&chunks[0], first)];
            if all[0].is_err() {
                // Nothing behind it counts.
                self.stopped.store(true, Ordering::Relaxed);
            }
            for other in others {
                match other.join() {
                    Ok(read) => all.push(read),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        })
    }

    fn read<V: Visitor>(&self, chunk: &Chunk, mut visitor: V) -> Result<Read<V>, Error> {
        let mut input = Slice::file_from(self.bytes, chunk.start);
        let mut snapshot = Snapshot::resume(self.options, self.version, chunk.db);
        let (mut records, mut told, mut is_last) = (0u64, chunk.start, false);
        while !is_last && (input.at() < chunk.stop || !snapshot.is_between_keys()) {
            is_last = !snapshot.record(&mut input, &mut visitor)?;
            input.settle();
            records += 1;
            if records.is_multiple_of(PROGRESS) {
                self.tell(chunk, &mut visitor, input.at() - told)?;
                told = input.at();
            }
        }
        self.tell(chunk, &mut visitor, input.at() - told)?;
        Ok(Read {
            visitor,
            end: input.at(),
            db: snapshot.db(),
            crc: input.checksum(),
            summary: snapshot.into_summary(),
            is_last,
        })
    }

    /// Tells of progress, and stops where anybody wants to.
    fn tell<V: Visitor>(&self, chunk: &Chunk, visitor: &mut V, more: usize) -> Result<(), Error> {
        let more = more as u64;
        chunk.seen.fetch_add(more, Ordering::Relaxed);
        let seen = self.seen.fetch_add(more, Ordering::Relaxed) + more;
        if visitor.progress(seen).is_break() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::new(seen, ErrorKind::Stopped));
        }
        Ok(())
    }

    /// Takes back what was read from a wrong guess.
    fn forget(&self, chunk: &Chunk) {
        self.seen.fetch_sub(chunk.seen.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Element, Extra, Key, Show, Value};
    use crate::reader::Reader;
    use crate::writer::{Attributes, Content, Writer};
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::ops::{ControlFlow, Range};

    const FILES: [&[u8]; 3] = [
        include_bytes!("../tests/data/redis-7.0.rdb"),
        include_bytes!("../tests/data/redis-8.0-dev.rdb"),
        include_bytes!("../tests/data/valkey-9.1.rdb"),
    ];

    /// All that is told, in no order.
    #[derive(Default, PartialEq, Debug)]
    struct Told {
        lines: BTreeSet<String>,
        elements: u64,
    }

    impl Visitor for Told {
        fn key(&mut self, _: &Key<'_>) -> Show {
            Show::up_to(8)
        }

        fn element(&mut self, _: &Element<'_>) {
            self.elements += 1;
        }

        fn value(&mut self, key: &Key<'_>, value: &Value) {
            assert!(self.lines.insert(format!("{key:?} {value:?}")));
        }

        fn extra(&mut self, extra: &Extra<'_>) {
            assert!(self.lines.insert(format!("{extra:?}")));
        }
    }

    fn alone(bytes: &[u8]) -> Result<(Summary, Told), String> {
        let mut told = Told::default();
        let summary =
            Reader::from_slice(bytes).read(&mut told).map_err(|error| error.to_string())?;
        Ok((summary, told))
    }

    fn together(bytes: &[u8], threads: usize, least: usize) -> Result<(Summary, Told), String> {
        let (summary, visitors) = read(bytes, &Options::default(), threads, least, &Told::default)
            .map_err(|error| error.to_string())?;
        let mut all = Told::default();
        for told in visitors {
            all.elements += told.elements;
            for line in told.lines {
                assert!(all.lines.insert(line));
            }
        }
        Ok((summary, all))
    }

    #[test]
    fn several_threads_tell_the_same_as_one() {
        for bytes in FILES {
            for (threads, least) in [(2, 1), (3, 1000), (4, 50_000), (2, CHUNK)] {
                assert_eq!(together(bytes, threads, least), alone(bytes));
            }
        }
    }

    fn in_two_databases(value: &[u8]) -> Vec<u8> {
        in_databases(0..2, value)
    }

    /// A snapshot of keys in some databases, with a value behind those of each.
    fn in_databases(databases: Range<u64>, value: &[u8]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), Version::redis(10)).unwrap();
        let expiring = Attributes { expires_at: Some(4_102_444_800_000), ..Attributes::default() };
        for db in databases {
            writer.select(db).unwrap();
            for number in 0..3_000 {
                let name = format!("user:{number}");
                writer.key(name.as_bytes(), &expiring, &Content::String(b"some text")).unwrap();
            }
            let none = Attributes::default();
            writer.key(b"value", &none, &Content::String(value)).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn every_thread_reads_its_part() {
        let bytes = in_databases(3..4, b"");
        let (_, visitors) = read(&bytes, &Options::default(), 4, 1000, &Told::default).unwrap();
        let keys: Vec<usize> = visitors.iter().map(|told| told.lines.len()).collect();
        assert!(keys.len() == 4 && keys.iter().all(|keys| *keys > 500), "{keys:?}");
    }

    #[test]
    fn a_wrong_guess_changes_nothing() {
        let (zeros, fives) = (vec![0; 200_000], vec![5; 200_000]);
        let snapshot = in_two_databases(b"");
        for value in [&zeros, &fives, &snapshot] {
            let bytes = in_two_databases(value);
            assert_eq!(together(&bytes, 2, 1000), alone(&bytes));
            assert_eq!(together(&bytes, 5, 1000), alone(&bytes));
        }
    }

    /// Every seventh byte begins a set of a billion strings, nearly all of them in the zeros behind.
    #[test]
    fn a_forged_file_does_not_make_a_guess_dear() {
        let mut value = b"\x02\x00\x80\x3f\x3f\x3f\x3f".repeat(100_000);
        value.resize(8_000_000, 0);
        let bytes = in_two_databases(&value);
        let from = bytes.windows(14).position(|window| *window == value[..14]).unwrap();
        let options = Options::default();
        assert_eq!(Work::new(&bytes, &options, Version::redis(10)).guess(from, 0), None);
        assert_eq!(together(&bytes, 2, 1000), alone(&bytes));
    }

    #[test]
    fn a_file_that_is_cut_off_anywhere_is_refused() {
        let bytes = in_two_databases(b"some text");
        let last = bytes.len() - 1;
        // Before the last nine bytes, the cut is between two records.
        for end in (0..last).step_by(10_007).chain(last - 20..=last) {
            let cut = &bytes[..end];
            assert!(alone(cut).is_err());
            assert_eq!(together(cut, 3, 1000), alone(cut), "{end} bytes");
        }
    }

    /// A list whose first node is wrong inside, and whose second node is no node at all.
    #[test]
    fn the_first_error_of_a_record_is_told() {
        let mut bytes = b"REDIS0010\x12\x01k\x02\x02\x08".to_vec();
        bytes.extend(b"\x08\0\0\0\x01\0\xfa\xff\x07");
        let told = alone(&bytes);
        assert_eq!(told.as_ref().unwrap_err(), "at byte 22: this byte begins no listpack element");
        assert_eq!(together(&bytes, 2, 1), told);
    }

    #[test]
    fn a_visitor_can_stop_all() {
        struct Enough;
        impl Visitor for Enough {
            fn progress(&mut self, _: u64) -> ControlFlow<()> {
                ControlFlow::Break(())
            }
        }
        let stopped = read(FILES[0], &Options::default(), 3, 100, &|| Enough);
        assert!(matches!(stopped.map(|_| ()).unwrap_err().kind(), ErrorKind::Stopped));
    }

    proptest! {
        #[test]
        fn several_threads_refuse_what_one_refuses(
            file in 0..FILES.len(),
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            checksum: bool,
        ) {
            let mut bytes = FILES[file].to_vec();
            let end = bytes.len() - 8;
            for (at, byte) in changes {
                bytes[at.index(end)] = byte;
            }
            if !checksum {
                bytes[end..].fill(0);
            }
            prop_assert_eq!(together(&bytes, 3, 2000), alone(&bytes));
        }
    }
}
