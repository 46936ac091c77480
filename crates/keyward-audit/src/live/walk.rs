//! Walks through the keys of one database by SCAN, in a thread of its own: a cursor must be waited for
//! before the next can be asked for, and meanwhile keys are looked up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::connection::{Connection, write_command};
use super::error::{Error, Fault};
use super::lookup::Batch;

/// Replies that wait to be taken. With more, keys would not be in the processor's cache any more when they
/// are looked up: batches of 1,000 keys cost a server a quarter more than those of 100 to 200.
const AHEAD: usize = 1;

/// A walk that is under way.
pub(super) struct Walk {
    batches: Receiver<Result<Batch, Fault>>,
    walking: Option<JoinHandle<Connection>>,
}

/// What there is to take.
pub(super) enum Next {
    Batch(Batch),
    /// Not yet
    Nothing,
    End,
}

impl Walk {
    /// Begins at a cursor. `count` may change meanwhile; `most` is how many keys the database can have, and
    /// `longest` how long it may answer without any.
    pub(super) fn begin(
        connection: Connection,
        cursor: u64,
        count: &Arc<AtomicUsize>,
        most: u64,
        longest: Duration,
    ) -> Self {
        let (sender, batches) = sync_channel(AHEAD);
        let steps = Steps { count: Arc::clone(count), limit: Limit::new(most, longest) };
        let walking = thread::spawn(move || steps.walk(connection, cursor, &sender));
        Walk { batches, walking: Some(walking) }
    }

    /// The next batch, if there is one; with `wait`, as soon as there is one.
    pub(super) fn next(&mut self, wait: bool) -> Result<Next, Fault> {
        let received = if wait {
            self.batches.recv().map_err(|_| TryRecvError::Disconnected)
        } else {
            self.batches.try_recv()
        };
        match received {
            Ok(batch) => batch.map(Next::Batch),
            Err(TryRecvError::Empty) => Ok(Next::Nothing),
            Err(TryRecvError::Disconnected) => Ok(Next::End),
        }
    }

    /// The connection, after the end.
    pub(super) fn end(mut self) -> Option<Connection> {
        self.walking.take()?.join().ok()
    }
}

struct Steps {
    count: Arc<AtomicUsize>,
    limit: Limit,
}

impl Steps {
    fn walk(
        mut self,
        mut connection: Connection,
        mut cursor: u64,
        sender: &SyncSender<Result<Batch, Fault>>,
    ) -> Connection {
        loop {
            let step = self.step(&mut connection, cursor);
            let next = step.as_ref().map_or(0, |batch| batch.cursor);
            // Where nobody takes it any more, the walk is over.
            if sender.send(step).is_err() || next == 0 {
                return connection;
            }
            cursor = next;
        }
    }

    fn step(&mut self, connection: &mut Connection, cursor: u64) -> Result<Batch, Fault> {
        let count = self.count.load(Ordering::Relaxed);
        let (from, count) = (cursor.to_string(), count.to_string());
        let mut request = Vec::new();
        let args: [&[u8]; 4] = [b"SCAN", from.as_bytes(), b"COUNT", count.as_bytes()];
        write_command(&mut request, &args);
        connection.expect_nothing()?;
        connection.send(&request)?;
        let batch = Batch::receive(cursor, connection)?;
        if batch.cursor == 0 {
            connection.expect_in_step()?;
        } else if let Err(why) = self.limit.step(cursor, batch.cursor, batch.keys, Instant::now()) {
            let address = connection.address().to_owned();
            return Err(Error::Endless { address, why }.into());
        }
        Ok(batch)
    }
}

/// Tells a walk that never ends from a long one. A server's cursors count up with their bits reversed,
/// whatever its tables do meanwhile, so that none comes twice; other servers have cursors of their own, but
/// whoever repeats one goes round in circles.
#[derive(Debug)]
struct Limit {
    keys: u64,
    most: u64,
    /// Replies without a key, in a row, and since when
    empty: u64,
    since: Option<Instant>,
    /// How many of those there may be, and for how long
    most_empty: u64,
    longest: Duration,
    /// A cursor of before, and after how many steps the next is kept (Brent's way of finding circles)
    seen: Option<u64>,
    steps: u64,
    mark: u64,
}

impl Limit {
    fn new(most: u64, longest: Duration) -> Self {
        // A reply without a key has passed ten empty buckets for each that was asked for, a hundred at the
        // least, and a table has about ten buckets a key before it shrinks. So a reply for every eighth key is
        // generous, with 65,536 more for a table that has had no time to shrink. Whatever has even more
        // buckets is given the time as well: a walk ends only where both are used up.
        let most_empty = (most / 8).saturating_add(1 << 16).min(1 << 26);
        // A table that shrinks again and again may tell keys several times.
        let most = most.saturating_mul(16).saturating_add(1 << 24);
        Limit {
            keys: 0,
            most,
            empty: 0,
            since: None,
            most_empty,
            longest,
            seen: None,
            steps: 0,
            mark: 1,
        }
    }

    /// Whether there was no key for too long.
    fn is_barren(&mut self, keys: u64, now: Instant) -> bool {
        if keys > 0 {
            (self.empty, self.since) = (0, None);
            return false;
        }
        self.empty += 1;
        let since = *self.since.get_or_insert(now);
        self.empty > self.most_empty && now.saturating_duration_since(since) > self.longest
    }

    /// A reply led from one cursor to another, and had so many keys.
    fn step(&mut self, from: u64, to: u64, keys: u64, now: Instant) -> Result<(), &'static str> {
        self.keys += keys;
        let is_barren = self.is_barren(keys, now);
        let repeated = to == from || self.seen == Some(to);
        self.steps += 1;
        if self.steps == self.mark {
            self.mark *= 2;
            self.seen = Some(to);
        }
        if repeated {
            Err("the cursors of SCAN repeat")
        } else if self.keys > self.most {
            Err("SCAN returned many times more keys than the server counts")
        } else if is_barren {
            Err("SCAN returns no more keys and does not end")
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_of_any_length_are_found() {
        let now = Instant::now();
        for length in [1_u64, 2, 3, 10, 1_000] {
            let mut limit = Limit::new(10, Duration::ZERO);
            let mut cursors = (0..100 * length).map(|number| (number % length) + 1);
            let mut from = cursors.next().unwrap();
            let ended = cursors.find_map(|cursor| {
                let before = std::mem::replace(&mut from, cursor);
                limit.step(before, cursor, 0, now).err()
            });
            assert_eq!(ended, Some("the cursors of SCAN repeat"), "{length}");
        }
    }

    #[test]
    fn a_long_walk_goes_on_and_a_flood_of_keys_ends() {
        let (now, mut limit) = (Instant::now(), Limit::new(1_000_000, Duration::ZERO));
        for cursor in 1..1_000_000_u64 {
            limit
                .step((cursor - 1).reverse_bits(), cursor.reverse_bits(), 2, now)
                .expect("it is only long");
        }
        let mut flood = (1..u64::MAX).map(|cursor| limit.step(cursor, !cursor, 1 << 20, now));
        assert!(flood.any(|step| step.is_err()));
    }

    #[test]
    fn a_walk_without_keys_ends_after_many_replies_and_a_long_time() {
        let (start, longest) = (Instant::now(), Duration::from_secs(600));
        let mut limit = Limit::new(1_000, longest);
        let mut walk = |replies: u64, now: Instant| {
            let from = limit.steps;
            (from..from + replies).find_map(|cursor| {
                limit.step(cursor.reverse_bits(), (cursor + 1).reverse_bits(), 0, now).err()
            })
        };
        assert_eq!(walk(100, start), None);
        assert_eq!(walk(100, start + 2 * longest), None, "a slow server");
        assert_eq!(walk(1 << 16, start), None, "a large table");
        let why = "SCAN returns no more keys and does not end";
        assert_eq!(walk(1 << 16, start + 2 * longest), Some(why));
    }
}
