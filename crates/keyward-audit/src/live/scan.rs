//! Reads one server by SCAN.
//!
//! One connection scans ahead while the other's lookups are under way, so that the server never waits
//! for this side; a third reads values, and measures what others wait for.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::connection::{Connection, write_command};
use super::error::{Error, Fault};
use super::lines::Lines;
use super::lookup::{Batch, Questions, Row, Scanned, State};
use super::options::Options;
use super::pace::Pace;
use super::reading::{Broken, Reading, Task};
use super::sample::is_sampled;
use super::seen::{Bytes, Counts, Shard};
use super::server::Info;
use super::values::{self, READ, Wish};
use crate::observe::Observer;

/// Reads one server to its end, or until it is stopped or lost.
pub(super) fn read<O: Observer>(
    task: &Task<'_>,
    mut shard: Shard,
    observer: impl FnOnce(&Shard) -> O,
) -> Result<(Reading<O>, Connection), Broken<O>> {
    let options = task.options;
    let mut lines = Lines::open(task)?;
    let questions = lines.questions(task, &mut shard.notes)?;
    let values = lines.may_read_values(task, &mut shard.notes);
    let idle = lines.idle()?;
    let databases = lines.databases(task, &mut shard.notes)?;
    shard.dbsize_before = databases.values().copied().sum();
    let expected = shard.dbsize_before.unwrap_or(0);
    options.progress.expected.fetch_add(expected, Ordering::Relaxed);
    let before = task.resume.map_or(0, |resume| resume.counts.scanned);
    options.progress.keys.fetch_add(before, Ordering::Relaxed);

    let (counts, from) =
        task.resume.map_or((Counts::default(), Some((0, 0))), |resume| (resume.counts, resume.at));
    let mut scan = Scan {
        task,
        observer: observer(&shard),
        lines,
        questions,
        values,
        pace: Pace::new(options.bound, idle),
        counts,
        told: task.resume.map(|resume| resume.told.iter().copied().collect()).unwrap_or_default(),
        db: 0,
        refused: None,
        out: Vec::new(),
    };
    let (mut stopped, mut fault) = (None, None);
    if let Some((first, cursor)) = from {
        for (&db, _) in databases.range(first..) {
            let (at, lost) = scan.database(db, if db == first { cursor } else { 0 });
            (stopped, fault) = (at.map(|cursor| (db, cursor)), lost);
            if stopped.is_some() {
                break;
            }
        }
    }
    if fault.is_none() {
        match scan.lines.databases(task, &mut Vec::new()) {
            Ok(databases) => shard.dbsize_after = databases.values().copied().sum(),
            Err(_) if stopped.is_some() => {}
            Err(lost) => fault = Some(lost),
        }
    }
    shard.counts = scan.counts;
    shard.latency = scan.pace.latency();
    shard.notes.extend(scan.refused.map(|reply| {
        format!("some lengths or elements are not known, because the server says: {reply}")
    }));
    if stopped.is_none() && fault.is_none() {
        note_counts(&mut shard);
    }
    let bytes = match questions.memory {
        Some(samples) => Bytes::MemoryUsage { samples },
        None => Bytes::Unknown,
    };
    let (bytes, told) = (Some(bytes), scan.told.into_iter().collect());
    let reading = Reading { shard, observer: scan.observer, bytes, stopped, told };
    match fault {
        None => Ok((reading, scan.lines.control)),
        Some(fault) => Err(Broken::new(fault, reading)),
    }
}

/// Says what the numbers do not say by themselves.
fn note_counts(shard: &mut Shard) {
    use keyward_fact::thousands;
    let counts = shard.counts;
    let sizes = shard.dbsize_before.zip(shard.dbsize_after);
    let (least, most) =
        sizes.map_or((0, u64::MAX), |(before, after)| (before.min(after), before.max(after)));
    let mut note = |count: u64, what: &str| {
        if count > 0 {
            shard.notes.push(format!("{} {what}", thousands(count)));
        }
    };
    note(
        counts.scanned.saturating_sub(most),
        "keys were told more than the server has: SCAN may tell a key twice",
    );
    note(
        least.saturating_sub(counts.scanned),
        "keys less than the server counts were told: expired ones count until they are deleted",
    );
    note(counts.gone, "keys were deleted or expired before they were looked up");
    note(counts.denied, "keys may not be looked up by this user");
    note(counts.long_names, "keys have names over 1 MiB and were not looked up");
    note(counts.partly, "values are large, and not all of their elements were read");
}

struct Scan<'a, O> {
    task: &'a Task<'a>,
    observer: O,
    lines: Lines,
    questions: Questions,
    values: bool,
    pace: Pace,
    counts: Counts,
    /// Keys behind the cursor that were told before a stop, by their hashes
    told: HashSet<u64>,
    db: u64,
    /// What a server said that denies commands for values
    refused: Option<String>,
    out: Vec<u8>,
}

/// What is under way.
#[derive(Default)]
struct Flow {
    /// The cursor that the next reply to SCAN belongs to; `None` at the end
    asked: Option<u64>,
    /// Whether it was sent
    sent: bool,
    /// Batches that the observer was not told of
    batches: VecDeque<Batch>,
    /// How many of those the questions were sent for
    looked: usize,
}

impl<O: Observer> Scan<'_, O> {
    /// Reads a database. Where it was stopped or lost, gives the cursor to go on from.
    fn database(&mut self, db: u64, cursor: u64) -> (Option<u64>, Option<Fault>) {
        self.db = db;
        let mut flow = Flow { asked: Some(cursor), ..Flow::default() };
        let read = self.read_on(&mut flow);
        if let Ok(false) = read {
            self.told.clear();
            return (None, None);
        }
        let cursor = self.roll_back(&flow);
        // Whoever stops it does not wait for a server that is gone.
        let fault =
            read.err().filter(|fault| !(matches!(fault, Fault::Lost(_)) && self.task.must_stop()));
        (Some(cursor), fault)
    }

    /// Reads a database. `true` where it was stopped.
    fn read_on(&mut self, flow: &mut Flow) -> Result<bool, Fault> {
        /// Breaks of the connection without a batch between them.
        const TRIES: u32 = 5;
        let mut tries = 0;
        let mut selected = self.lines.select(self.db);
        loop {
            let stop = self.task.must_stop();
            let step = match std::mem::replace(&mut selected, Ok(())) {
                Ok(()) if stop => return self.stop(flow).map(|()| true),
                Ok(()) => self.step(flow),
                Err(fault) => Err(fault),
            };
            match step {
                Ok(false) => return Ok(false),
                Ok(true) => tries = 0,
                Err(Fault::Lost(why)) => {
                    tries += 1;
                    if tries > TRIES {
                        return Err(Fault::Lost(why));
                    }
                    self.reconnect(why)?;
                    selected = self.lines.select(self.db);
                    (flow.sent, flow.looked) = (false, 0);
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Lets what is under way come to its end.
    fn stop(&mut self, flow: &mut Flow) -> Result<(), Fault> {
        // The reply to a SCAN that was sent ahead is not waited for.
        let asked = flow.asked.take();
        let mut more = Ok(true);
        while let Ok(true) = more {
            more = self.step(flow);
        }
        flow.asked = asked;
        more.map(drop)
    }

    /// Forgets what was scanned and not told, and gives the cursor from which it is told later.
    fn roll_back(&mut self, flow: &Flow) -> u64 {
        let salt = self.task.options.salt;
        for batch in &flow.batches {
            let Scanned { keys, long_names, .. } = batch.scanned;
            self.counts.scanned -= keys - batch.done as u64;
            self.counts.long_names -= long_names;
            self.told.extend(&batch.before);
            self.told.extend((0..batch.done).map(|at| salt.hash(batch.name(at))));
        }
        // A database that was at its end goes on with the next; its own cursor cannot come again.
        flow.batches.front().map_or(flow.asked.unwrap_or(END), |oldest| oldest.from)
    }

    /// Receives a batch, sends for the next, and tells of one. `false` at the end.
    fn step(&mut self, flow: &mut Flow) -> Result<bool, Fault> {
        let start = Instant::now();
        let mut commands = 0;
        if flow.asked.is_some_and(|cursor| cursor == END) {
            flow.asked = None;
        }
        if flow.batches.len() < self.pace.depth()
            && let Some(cursor) = flow.asked
        {
            if !flow.sent {
                self.ask(cursor)?;
                flow.sent = true;
            }
            let batch = self.receive(flow)?;
            flow.batches.push_back(batch);
            commands += 1;
        }
        // Before the next SCAN, so that the server still has these keys in its processor's cache.
        while flow.looked < flow.batches.len() {
            let batch = &flow.batches[flow.looked];
            self.out.clear();
            self.questions.write(batch, &mut self.out);
            commands += self.questions.count() * (batch.len() - batch.done) as u64;
            self.lines.look.send(&self.out)?;
            flow.looked += 1;
        }
        if let (Some(cursor), false) = (flow.asked, flow.sent) {
            self.ask(cursor)?;
            flow.sent = true;
        }
        if self.pace.wants_probe() {
            let sent = Instant::now();
            self.lines.control.command(&["PING"])?;
            self.pace.probe(sent.elapsed());
        }
        if flow.batches.len() >= self.pace.depth() || flow.asked.is_none() {
            if let Some(batch) = flow.batches.front_mut() {
                commands += self.finish(batch)?;
                flow.batches.pop_front();
                flow.looked -= 1;
            }
            let pause = self.pace.batch(start.elapsed(), commands);
            self.rest(pause);
        }
        Ok(flow.asked.is_some() || !flow.batches.is_empty())
    }

    /// Pauses, but for no longer than until it is to stop.
    fn rest(&self, pause: Duration) {
        const SLICE: Duration = Duration::from_millis(50);
        let start = Instant::now();
        while let Some(left) = pause.checked_sub(start.elapsed())
            && !left.is_zero()
            && !self.task.must_stop()
        {
            thread::sleep(left.min(SLICE));
        }
    }

    fn ask(&mut self, cursor: u64) -> Result<(), Fault> {
        let (cursor, count) = (cursor.to_string(), self.pace.count().to_string());
        self.out.clear();
        let args: [&[u8]; 4] = [b"SCAN", cursor.as_bytes(), b"COUNT", count.as_bytes()];
        write_command(&mut self.out, &args);
        self.lines.scan.send(&self.out)
    }

    /// Reads a reply to SCAN.
    fn receive(&mut self, flow: &mut Flow) -> Result<Batch, Fault> {
        let mut batch = Batch::asked_with(flow.asked.unwrap_or(END));
        let Options { sample, salt, .. } = *self.task.options;
        let (told, mut before) = (&mut self.told, Vec::new());
        let received = batch.receive(&mut self.lines.scan, |name| {
            let hash = (!told.is_empty()).then(|| salt.hash(name));
            if let Some(hash) = hash.filter(|hash| told.remove(hash)) {
                before.push(hash);
                return false;
            }
            sample.is_none_or(|percent| is_sampled(name, percent))
        });
        let Ok(mut scanned) = received else {
            self.told.extend(before);
            return received.map(|_| batch);
        };
        scanned.keys -= before.len() as u64;
        (batch.scanned, batch.before) = (scanned, before);
        self.counts.scanned += scanned.keys;
        self.counts.long_names += scanned.long_names;
        self.task.options.progress.keys.fetch_add(scanned.keys, Ordering::Relaxed);
        flow.asked = Some(scanned.cursor).filter(|cursor| *cursor != 0);
        flow.sent = false;
        Ok(batch)
    }

    /// Reads what was asked of a batch's keys, looks at values, and tells the observer. Gives how many
    /// more commands that took.
    fn finish(&mut self, batch: &mut Batch) -> Result<u64, Fault> {
        let mut rows = Vec::with_capacity(batch.len() - batch.done);
        for _ in batch.done..batch.len() {
            rows.push(self.questions.read(&mut self.lines.look)?);
        }
        let mut commands = self.ask_again(batch, &mut rows)?;
        let mut rest = &rows[..];
        while !rest.is_empty() {
            // Replies wait in the server's memory, so only some values are asked for at once.
            let mut sum = 0;
            let fit = rest.iter().take_while(|row| {
                let fits = sum <= READ;
                sum += row.bytes.unwrap_or(0).min(READ);
                fits
            });
            let (some, others) = rest.split_at(fit.count().max(1));
            commands += self.look_inside(batch, some)?;
            rest = others;
        }
        Ok(commands)
    }

    /// Asks what the first answers left open.
    fn ask_again(&mut self, batch: &Batch, rows: &mut [Row]) -> Result<u64, Fault> {
        self.out.clear();
        let mut commands = 0;
        for (row, at) in rows.iter().zip(batch.done..) {
            commands += self.questions.write_again(batch.name(at), row, &mut self.out);
        }
        if commands > 0 {
            self.lines.control.send(&self.out)?;
            for row in rows {
                self.questions.read_again(&mut self.lines.control, row)?;
            }
        }
        Ok(commands)
    }

    /// Asks for the values of the next keys of a batch, and tells of each.
    fn look_inside(&mut self, batch: &mut Batch, rows: &[Row]) -> Result<u64, Fault> {
        let options = self.task.options;
        self.out.clear();
        let mut commands = 0;
        let mut wishes = Vec::new();
        if self.values {
            for (row, at) in rows.iter().zip(batch.done..) {
                let name = batch.name(at);
                let there = row.key_type.as_ref().filter(|_| row.state == State::There);
                let wish = there.map(|key_type| {
                    let key = values::key(self.db, name, row, key_type, self.task.clock);
                    Wish::new(row, self.observer.wants(&key).limit(), options.elements)
                });
                commands += wish.map_or(0, |wish| wish.write(name, row, &mut self.out));
                wishes.push(wish);
            }
            if commands > 0 {
                self.lines.control.send(&self.out)?;
            }
        }
        for (at, row) in rows.iter().enumerate() {
            let wish = wishes.get(at).copied().flatten();
            self.tell(batch, row, wish)?;
            batch.done += 1;
        }
        Ok(commands)
    }

    fn tell(&mut self, batch: &Batch, row: &Row, wish: Option<Wish>) -> Result<(), Fault> {
        let name = batch.name(batch.done);
        let found = match wish {
            Some(wish) => Some(wish.read(&mut self.lines.control, name, row)?),
            None => None,
        };
        let key_type = match (row.state, &row.key_type) {
            (State::There, Some(key_type)) => key_type,
            (State::Denied, _) => {
                self.counts.denied += 1;
                return Ok(());
            }
            _ => {
                self.counts.gone += 1;
                return Ok(());
            }
        };
        let key = values::key(self.db, name, row, key_type, self.task.clock);
        let show = self.observer.begin(&key);
        let mut whole = show.limit().is_none();
        let mut length = None;
        if let (Some(wish), Some(mut found)) = (wish, found) {
            length = found.length;
            whole = wish.tell(&found, row, &mut self.observer);
            self.counts.partly += u64::from(wish.is_for_elements() && !whole);
            self.refused = self.refused.take().or(found.refused.take());
        }
        self.observer.end(&key, &values::observed(row, length, whole));
        self.counts.keys += 1;
        Ok(())
    }

    /// Connects again, if the server is the same process still.
    fn reconnect(&mut self, why: String) -> Result<(), Fault> {
        const LONGEST: Duration = Duration::from_secs(2);
        let mut pause = Duration::from_millis(100);
        loop {
            match Lines::open(self.task) {
                Ok(lines) => {
                    self.lines = lines;
                    return self.task.expect_same(&Info::ask(&mut self.lines.control)?);
                }
                Err(Fault::Fatal(Error::Unreachable { .. }) | Fault::Lost(_))
                    if pause < LONGEST && !self.task.must_stop() => {}
                Err(Fault::Fatal(Error::Unreachable { .. })) => return Err(Fault::Lost(why)),
                Err(fault) => return Err(fault),
            }
            thread::sleep(pause);
            pause *= 2;
        }
    }
}

/// No cursor: all of a database was scanned.
const END: u64 = u64::MAX;
