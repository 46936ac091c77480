//! Reads a snapshot in memory with several threads.
//!
//! Where a record ends is known only by reading it. So one thread runs ahead, looking no further into
//! values than it must, and cuts the file between records; all threads, itself last, read the parts.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use crate::entry::Visitor;
use crate::error::{Error, ErrorKind};
use crate::input::{Checked, Input, Slice};
use crate::reader::Options;
use crate::snapshot::Snapshot;
use crate::summary::Summary;
use crate::version::Version;

/// The least size of a part.
pub(crate) const CHUNK: usize = 512 * 1024;

pub(crate) fn read<V: Visitor + Send>(
    bytes: &[u8],
    options: &Options,
    threads: usize,
    chunk: usize,
    visitor: &(impl Fn() -> V + Sync),
) -> Result<(Summary, Vec<V>), Error> {
    let (sender, receiver) = mpsc::channel();
    let work =
        Work { bytes, options, parts: Mutex::new(receiver), stopped: AtomicBool::new(false) };
    thread::scope(|scope| {
        let others: Vec<_> =
            (1..threads).map(|_| scope.spawn(|| work.read_parts(visitor()))).collect();
        let scouted = scout(bytes, options, chunk, &sender);
        drop(sender);
        let mut results = vec![work.read_parts(visitor())];
        for other in others {
            match other.join() {
                Ok(result) => results.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        // The error that one thread would have met first.
        let first =
            |left: Error, right: Error| if right.offset() < left.offset() { right } else { left };
        let (mut visitors, mut error) = (Vec::new(), None);
        for result in results {
            match result {
                Ok(visitor) => visitors.push(visitor),
                Err(other) => {
                    error = Some(match error {
                        Some(error) => first(error, other),
                        None => other,
                    });
                }
            }
        }
        match (scouted, error) {
            (Ok(summary), None) => Ok((summary, visitors)),
            (Ok(_), Some(error)) | (Err(error), None) => Err(error),
            (Err(scouted), Some(error)) => Err(first(error, scouted)),
        }
    })
}

/// Whole records.
struct Part {
    range: Range<usize>,
    version: Version,
    db: u64,
}

/// Finds where records end.
fn scout(
    bytes: &[u8],
    options: &Options,
    chunk: usize,
    parts: &mpsc::Sender<Part>,
) -> Result<Summary, Error> {
    let mut input = Slice::file(bytes);
    let mut snapshot = Snapshot::skimming(options);
    snapshot.begin(&mut input)?;
    let version = snapshot.version();
    let (mut start, mut db) = (input.at(), snapshot.db());
    loop {
        let end = input.at();
        let read = snapshot.record(&mut input, &mut ());
        let cut = match read {
            Ok(true) => {
                let at = input.at();
                (at - start >= chunk && snapshot.is_between_keys()).then_some(at)
            }
            Ok(false) => Some(end),
            // Whoever looks further into values may find an error before this one.
            Err(_) => Some(bytes.len()),
        };
        if let Some(end) = cut {
            let range = start..end;
            // Nobody receives where everybody has stopped.
            let _ = parts.send(Part { range, version, db });
            (start, db) = (input.at(), snapshot.db());
        }
        if !read? {
            return snapshot.finish(&mut input);
        }
        input.settle();
    }
}

struct Work<'w> {
    bytes: &'w [u8],
    options: &'w Options,
    parts: Mutex<mpsc::Receiver<Part>>,
    stopped: AtomicBool,
}

impl Work<'_> {
    /// Reads parts until there are no more, or until something is wrong anywhere.
    fn read_parts<V: Visitor>(&self, mut visitor: V) -> Result<V, Error> {
        while let Some(part) = self.next() {
            let end = part.range.end as u64;
            if let Err(error) = self.read_part(part, &mut visitor) {
                self.stopped.store(true, Ordering::Relaxed);
                return Err(error);
            }
            if visitor.progress(end).is_break() {
                self.stopped.store(true, Ordering::Relaxed);
                return Err(Error::new(end, ErrorKind::Stopped));
            }
        }
        Ok(visitor)
    }

    fn next(&self) -> Option<Part> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
    }

    fn read_part<V: Visitor>(&self, part: Part, visitor: &mut V) -> Result<(), Error> {
        let end = part.range.end as u64;
        let mut input = Slice::range(self.bytes, part.range);
        let mut snapshot = Snapshot::resume(self.options, part.version, part.db);
        while input.offset() < end && snapshot.record(&mut input, visitor)? {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Element, Extra, Key, Show, Value};
    use crate::reader::Reader;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::ops::ControlFlow;

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

    fn together(bytes: &[u8], threads: usize, chunk: usize) -> Result<(Summary, Told), String> {
        let (summary, visitors) = read(bytes, &Options::default(), threads, chunk, &Told::default)
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
            for (threads, chunk) in [(2, 1), (3, 1000), (4, 50_000), (2, CHUNK)] {
                assert_eq!(together(bytes, threads, chunk), alone(bytes));
            }
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
