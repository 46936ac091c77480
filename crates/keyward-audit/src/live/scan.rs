//! Reads one server by SCAN.
//!
//! One connection walks through the keys, a second one looks them up, and a third measures what others wait
//! for. As many keys are looked up at once as the server's distance asks for and its load allows, which
//! [`Pace`] decides.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use keyward_pattern::Glob;

use super::connection::Connection;
use super::error::{Error, Fault};
use super::group::{Flow, Group, Stage};
use super::lines::{Databases, Lines, Running};
use super::lookup::{Batch, Questions, Row, State};
use super::pace::Pace;
use super::sample::is_sampled;
use super::seen::{Bytes, Counts, Refused, Shard};
use super::server::{self, Info};
use super::task::{Broken, ShardRead, Task};
use super::values::{self, Wish};
use super::walk::{Next, Walk};
use crate::observe::Observer;

/// Reads one server to its end, or until it is stopped or lost.
pub(super) fn read<O: Observer>(
    task: &Task<'_>,
    mut shard: Shard,
    observer: impl FnOnce(&Shard) -> O,
) -> Result<(ShardRead<O>, Option<Connection>), Broken<O>> {
    let options = task.options;
    let Prepared { lines, questions, values, before, round_trip, notes, missing } = prepare(task)?;
    shard.notes.extend(notes);
    shard.missing.extend(missing);
    shard.values_unread = options.values && !values;
    shard.dbsize_before = before.keys();
    shard.has_other_databases = before.has_others;
    options.progress.expected.fetch_add(before.keys().unwrap_or(0), Ordering::Relaxed);
    let resumed = task.resume.map_or(0, |resume| resume.counts.scanned);
    options.progress.keys.fetch_add(resumed, Ordering::Relaxed);

    let (counts, from) =
        task.resume.map_or((Counts::default(), Some((0, 0))), |resume| (resume.counts, resume.at));
    let mut scan = Scan {
        task,
        observer: observer(&shard),
        running: lines.run(options.bound.is_some(), round_trip),
        questions,
        values,
        pace: Pace::new(options.bound, round_trip, Instant::now()),
        counts,
        told: task.resume.map(|resume| resume.told.iter().copied().collect()).unwrap_or_default(),
        glob: options.matching.as_deref().map(Glob::new),
        db: 0,
        refused: shard.refused.clone(),
        out: Vec::new(),
    };
    let (mut stopped, mut fault) = (None, None);
    if let Some((first, cursor)) = from {
        for (&db, size) in before.sizes.range(first..) {
            let cursor = if db == first { cursor } else { 0 };
            let (at, lost) = scan.database(db, cursor, size.keys);
            (stopped, fault) = (at.map(|cursor| (db, cursor)), lost);
            if stopped.is_some() {
                break;
            }
        }
    }
    let (latency, mut control) = scan.running.end();
    shard.latency = latency;
    let mut after = Databases::default();
    if stopped.is_none() && fault.is_none() {
        match count_again(task, control.take()) {
            Ok((connection, databases)) => (control, after) = (Some(connection), databases),
            Err(lost) => fault = Some(lost),
        }
        shard.dbsize_after = after.keys();
    }
    shard.counts = scan.counts;
    shard.refused = scan.refused;
    shard.sizes_unknown = questions.memory.is_none();
    if stopped.is_none() && fault.is_none() {
        note_counts(&mut shard, &before, &after);
    }
    let bytes = match questions.memory {
        Some(samples) => Bytes::MemoryUsage { samples },
        None => Bytes::Unknown,
    };
    let (bytes, told) = (Some(bytes), scan.told.into_iter().collect());
    let reading = ShardRead { shard, observer: scan.observer, bytes, stopped, told };
    match fault {
        None => Ok((reading, control)),
        Some(fault) => Err(Broken::new(fault, reading)),
    }
}

/// What is known before the first key.
struct Prepared {
    lines: Lines,
    questions: Questions,
    values: bool,
    before: Databases,
    round_trip: Duration,
    notes: Vec<String>,
    missing: Vec<String>,
}

/// Connects and asks what is to be known first, again where the connection breaks.
fn prepare(task: &Task<'_>) -> Result<Prepared, Fault> {
    let mut tries = 1;
    loop {
        match prepare_once(task) {
            Err(Fault::Lost(_)) if tries < TRIES && !task.must_stop() => tries += 1,
            prepared => return prepared,
        }
    }
}

fn prepare_once(task: &Task<'_>) -> Result<Prepared, Fault> {
    let (mut notes, mut missing) = (Vec::new(), Vec::new());
    let mut lines = Lines::open(task)?;
    let questions = lines.questions(task, &mut notes)?;
    let values = lines.may_read_values(task, &mut notes);
    let before = lines.databases(task, &mut missing)?;
    let round_trip = lines.round_trip()?;
    Ok(Prepared { lines, questions, values, before, round_trip, notes, missing })
}

/// How many keys there are by now.
fn count_again(
    task: &Task<'_>,
    control: Option<Connection>,
) -> Result<(Connection, Databases), Fault> {
    let mut control = match control {
        Some(control) => control,
        None => server::open(task.target, task.options)?,
    };
    control.expect_in_step()?;
    let databases = Databases::count(&mut control, task, &mut Vec::new())?;
    Ok((control, databases))
}

const UNSIZED: &str =
    "elements of collections were not read: without MEMORY USAGE, their sizes are not known";

/// Says what the numbers do not say by themselves.
fn note_counts(shard: &mut Shard, before: &Databases, after: &Databases) {
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
        "more keys than DBSIZE were returned: SCAN may return a key twice",
    );
    let fewer = least.saturating_sub(counts.scanned);
    // What a scan returns is what there was on average while it ran, however much comes and goes.
    let expired = before.expiring().max(after.expiring());
    let slack = (least / 100).max(100).min(least / 10);
    if fewer > expired.saturating_add(slack) {
        shard.missing.push(format!(
            "SCAN returned {} of {} keys, more missing than can have expired: allow the user all keys \
             (`%R~*`, before Redis 7.0 `~*`)",
            thousands(counts.scanned),
            thousands(least)
        ));
    } else {
        note(
            fewer,
            "keys fewer than DBSIZE were returned: expired keys count until they are deleted",
        );
    }
    note(counts.gone, "keys were deleted or expired before they were looked up");
    note(counts.long_names, "keys have names over 1 MiB and were not looked up");
    if counts.torn > 0 {
        shard.missing.push(format!(
            "{} values were not read to their end: their keys changed type meanwhile, or the server broke off \
             before the last element. Audit again",
            thousands(counts.torn)
        ));
    }
    if counts.denied > 0 {
        shard.missing.push(format!(
            "{} of {} keys were not looked up, because the user has no permission to read them: allow \
             `%R~*` (before Redis 7.0 `~*`), or narrow the audit with `--match`",
            thousands(counts.denied),
            thousands(counts.scanned)
        ));
    }
    if counts.unread > 0 && shard.sizes_unknown {
        shard.notes.push(UNSIZED.to_owned());
    } else if counts.unread > 0 && shard.refused.is_empty() {
        shard.notes.push(format!(
            "{} values were not read, because their elements are large: `--via snapshot` reads them",
            thousands(counts.unread)
        ));
    }
    shard.notes.extend(shard.refused.notes());
}

/// Breaks of the connection without a key between them.
const TRIES: u32 = 5;

struct Scan<'a, O> {
    task: &'a Task<'a>,
    observer: O,
    running: Running,
    questions: Questions,
    values: bool,
    pace: Pace,
    counts: Counts,
    /// Hashes of keys that were already reported before a stop
    told: HashSet<u64>,
    glob: Option<Glob>,
    db: u64,
    /// Commands for values that the server refused
    refused: Refused,
    out: Vec<u8>,
}

impl<O: Observer> Scan<'_, O> {
    /// Reads a database. Where it was stopped or lost, gives the cursor to go on from.
    fn database(
        &mut self,
        db: u64,
        cursor: u64,
        keys: Option<u64>,
    ) -> (Option<u64>, Option<Fault>) {
        self.db = db;
        let mut flow = Flow::from(Some(cursor).filter(|cursor| *cursor != END));
        let Err(fault) = self.read_on(&mut flow, keys) else {
            self.told.clear();
            return (None, None);
        };
        let cursor = self.roll_back(&flow);
        // Whoever stops it does not wait for a server that is gone.
        let is_stop = matches!(fault, Fault::Fatal(Error::Stopped))
            || matches!(fault, Fault::Lost(_)) && self.task.must_stop();
        (Some(cursor), Some(fault).filter(|_| !is_stop))
    }

    /// Reads a database, and connects again as often as it helps.
    fn read_on(&mut self, flow: &mut Flow, keys: Option<u64>) -> Result<(), Fault> {
        let mut tries = 0;
        loop {
            let before = self.counts.keys + self.counts.scanned;
            match self.walk_through(flow, keys) {
                Err(Fault::Lost(why)) if !self.task.must_stop() => {
                    let moved = self.counts.keys + self.counts.scanned > before;
                    tries = if moved { 1 } else { tries + 1 };
                    if tries > TRIES {
                        return Err(Fault::Lost(why));
                    }
                    self.reconnect(why)?;
                    flow.send_again();
                }
                ended => return ended,
            }
        }
    }

    fn walk_through(&mut self, flow: &mut Flow, keys: Option<u64>) -> Result<(), Fault> {
        let mut scan = self.running.select(self.db)?;
        if let Some(cursor) = flow.next {
            let most = keys.unwrap_or(u64::MAX);
            let longest = self.task.options.timeout.saturating_mul(60);
            let mut walk = Walk::begin(scan, cursor, self.pace.count(), most, longest);
            self.look_up(flow, Some(&mut walk))?;
            let ended = walk.end();
            scan = ended.ok_or_else(|| Fault::Lost("the walk through the keys ended".into()))?;
        } else {
            self.look_up(flow, None)?;
        }
        self.running.scan = Some(scan);
        self.running.look.expect_in_step()
    }

    /// Looks up what a walk finds, to its end.
    fn look_up(&mut self, flow: &mut Flow, mut walk: Option<&mut Walk>) -> Result<(), Fault> {
        loop {
            if self.task.must_stop() {
                return Err(Error::Stopped.into());
            }
            if let Some((mut took, fastest)) = self.running.probed()? {
                self.pace.probed(&mut took, fastest);
            }
            self.fill(flow, &mut walk)?;
            let Some(group) = flow.answered() else { return Ok(()) };
            let sent = group.sent;
            self.advance(flow, group)?;
            self.rest(self.pace.rest(sent.elapsed()));
        }
    }

    /// Sends as much as may be under way.
    fn fill(&mut self, flow: &mut Flow, walk: &mut Option<&mut Walk>) -> Result<(), Fault> {
        while let Some(group) = flow.take_ready() {
            self.send_values(flow, group)?;
        }
        while flow.keys() < self.pace.window() {
            // What was answered is not kept waiting for what is to be sent later.
            if !flow.is_idle() && !self.pace.due(Instant::now()).is_zero() {
                return Ok(());
            }
            if let Some(group) = flow.take(self.pace.group()) {
                self.out.clear();
                self.questions.write(flow.batch(&group), &group.keys, &mut self.out);
                let commands = self.questions.count() * group.keys.len() as u64;
                self.send(flow, group, commands)?;
                continue;
            }
            let Some(walk) = walk else { return Ok(()) };
            match walk.next(flow.is_idle())? {
                Next::Batch(batch) => self.accept(flow, batch),
                Next::Nothing | Next::End => return Ok(()),
            }
        }
        self.pace.is_full();
        Ok(())
    }

    /// Takes in what SCAN returned, and leaves out what is not to be looked up.
    fn accept(&mut self, flow: &mut Flow, mut batch: Batch) {
        let options = self.task.options;
        let mut before = 0;
        for at in 0..batch.len() {
            let name = batch.name(at);
            let hash = (!self.told.is_empty()).then(|| options.salt.hash(name));
            if hash.is_some_and(|hash| self.told.remove(&hash)) {
                before += 1;
                batch.finish(at);
            } else if self.glob.as_ref().is_some_and(|glob| !glob.matches(name))
                || options.sample.is_some_and(|percent| !is_sampled(name, percent))
            {
                batch.finish(at);
            }
        }
        self.counts.scanned += batch.keys - before;
        self.counts.long_names += batch.long_names;
        options.progress.keys.fetch_add(batch.keys - before, Ordering::Relaxed);
        flow.accept(batch);
    }

    /// Forgets what was scanned and not told, and gives the cursor from which it is told later.
    fn roll_back(&mut self, flow: &Flow) -> u64 {
        let salt = self.task.options.salt;
        for batch in flow.unfinished() {
            let mut finished = 0;
            for at in batch.finished() {
                self.told.insert(salt.hash(batch.name(at)));
                finished += 1;
            }
            self.counts.scanned -= batch.keys - finished;
            self.counts.long_names -= batch.long_names;
        }
        // A database that was at its end goes on with the next; its own cursor cannot come again.
        flow.unfinished().next().map_or(flow.next.unwrap_or(END), |oldest| oldest.from)
    }

    fn send(&mut self, flow: &mut Flow, mut group: Group, commands: u64) -> Result<(), Fault> {
        self.rest(self.pace.pause(Instant::now()));
        group.sent = Instant::now();
        self.pace.sent(group.keys.len(), commands, group.sent);
        self.running.look.send(&self.out)?;
        flow.sent(group);
        Ok(())
    }

    /// Reads a group's answers, and sends it to its next stage, or tells of it.
    fn advance(&mut self, flow: &mut Flow, mut group: Group) -> Result<(), Fault> {
        let look = &mut self.running.look;
        match group.stage {
            Stage::First => {
                for _ in &group.keys {
                    group.rows.push(self.questions.read(look)?);
                }
                self.ask_again(flow, group)
            }
            Stage::Second => {
                for row in &mut group.rows {
                    self.questions.read_again(look, row)?;
                }
                self.ask_for_values(flow, group)
            }
            Stage::Values => {
                for (row, wish) in group.rows.iter().zip(&group.wishes) {
                    let found = wish.map(|wish| wish.read(look, row)).transpose()?;
                    group.found.push(found.unwrap_or_default());
                }
                self.ask_for_rest(flow, group)
            }
            Stage::Rest => {
                for found in &mut group.found {
                    Wish::read_rest(look, found)?;
                }
                self.tell(flow, group);
                Ok(())
            }
        }
    }

    /// Asks what the first answers left open.
    fn ask_again(&mut self, flow: &mut Flow, mut group: Group) -> Result<(), Fault> {
        self.out.clear();
        let mut commands = 0;
        let batch = flow.batch(&group);
        for (row, at) in group.rows.iter().zip(&group.keys) {
            commands += self.questions.write_again(batch.name(*at), row, &mut self.out);
        }
        if commands == 0 {
            return self.ask_for_values(flow, group);
        }
        group.stage = Stage::Second;
        self.send(flow, group, commands)
    }

    fn ask_for_values(&mut self, flow: &mut Flow, group: Group) -> Result<(), Fault> {
        if !self.values {
            self.tell(flow, group);
            return Ok(());
        }
        group.split().into_iter().for_each(|group| flow.ready(group));
        while let Some(group) = flow.take_ready() {
            self.send_values(flow, group)?;
        }
        Ok(())
    }

    /// Asks for the values of a group's keys, as far as they are wanted.
    fn send_values(&mut self, flow: &mut Flow, mut group: Group) -> Result<(), Fault> {
        self.out.clear();
        let mut commands = 0;
        let batch = flow.batch(&group);
        for (row, at) in group.rows.iter().zip(&group.keys) {
            let name = batch.name(*at);
            let there = row.key_type.as_ref().filter(|_| row.state == State::There);
            let wish = there.map(|key_type| {
                let fact = values::fact(self.db, name, row, key_type, self.task.clock);
                Wish::new(row, self.observer.wants(&fact), self.task.options.elements)
            });
            commands += wish.map_or(0, |wish| wish.write(name, row, &mut self.out));
            group.wishes.push(wish);
        }
        if commands == 0 {
            self.tell(flow, group);
            return Ok(());
        }
        group.stage = Stage::Values;
        self.send(flow, group, commands)
    }

    /// Asks for some elements of large values, now that their lengths are known.
    fn ask_for_rest(&mut self, flow: &mut Flow, mut group: Group) -> Result<(), Fault> {
        self.out.clear();
        let mut commands = 0;
        let batch = flow.batch(&group);
        let asked = group.rows.iter().zip(&group.wishes).zip(&mut group.found);
        for (((row, wish), found), at) in asked.zip(&group.keys) {
            let name = batch.name(*at);
            let asked = wish.map(|wish| wish.write_rest(name, row, found, &mut self.out));
            found.asked = asked.unwrap_or_default();
            commands += found.asked.len() as u64;
        }
        if commands == 0 {
            self.tell(flow, group);
            return Ok(());
        }
        group.stage = Stage::Rest;
        self.send(flow, group, commands)
    }

    /// Tells the observer of a group's keys.
    fn tell(&mut self, flow: &mut Flow, mut group: Group) {
        let batch = flow.batch(&group);
        group.wishes.resize(group.keys.len(), None);
        group.found.resize_with(group.keys.len(), Default::default);
        let answers = group.rows.iter().zip(&group.wishes).zip(&group.found);
        for (((row, wish), found), at) in answers.zip(&group.keys) {
            self.refused.extend(&found.refused);
            self.tell_one(batch.name(*at), row, wish.map(|wish| (wish, found)));
        }
        self.pace.looked_up(group.keys.len(), Instant::now());
        flow.finish(&group);
    }

    fn tell_one(&mut self, name: &[u8], row: &Row, value: Option<(Wish, &values::Found)>) {
        let key_type = match (row.state, &row.key_type) {
            (State::There, Some(key_type)) => key_type,
            (State::Denied, _) => {
                self.counts.denied += 1;
                return;
            }
            _ => {
                self.counts.gone += 1;
                return;
            }
        };
        if value.is_some_and(|(_, found)| found.is_gone) {
            self.counts.torn += 1;
            return;
        }
        let mut fact = values::fact(self.db, name, row, key_type, self.task.clock);
        fact.whole = self.observer.begin(&fact).limit().is_none();
        if let Some((wish, found)) = value {
            let told;
            (told, fact.whole) = wish.tell(found, row, self.task.clock, &mut self.observer);
            fact.length = found.length;
            let is_torn = found.is_broken_off(wish, row);
            self.counts.torn += u64::from(is_torn);
            let is_lacking = wish.is_for_elements() && !fact.whole && !is_torn;
            self.counts.partly += u64::from(is_lacking && told > 0);
            self.counts.unread += u64::from(is_lacking && told == 0);
        }
        self.observer.end(&fact);
        self.counts.keys += 1;
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

    /// Connects again, if the server is the same process still.
    fn reconnect(&mut self, why: String) -> Result<(), Fault> {
        const LONGEST: Duration = Duration::from_secs(2);
        let mut pause = Duration::from_millis(100);
        loop {
            match Lines::open(self.task) {
                Ok(mut lines) => {
                    self.task.expect_same(&Info::ask(&mut lines.control)?)?;
                    let round_trip = lines.round_trip()?;
                    let is_bound = self.task.options.bound.is_some();
                    let lines = lines.run(is_bound, round_trip);
                    // What was measured so far is not worth keeping.
                    let _ = std::mem::replace(&mut self.running, lines);
                    return Ok(());
                }
                Err(Fault::Fatal(Error::Unreachable { .. }) | Fault::Lost(_))
                    if pause < LONGEST && !self.task.must_stop() => {}
                Err(Fault::Fatal(Error::Unreachable { .. })) => return Err(Fault::Lost(why)),
                Err(fault) => return Err(fault),
            }
            self.rest(pause);
            pause *= 2;
        }
    }
}

/// No cursor: all of a database was scanned.
const END: u64 = u64::MAX;
