//! One pass over all keys of the servers: each key is shown to the work, and what it asks for is looked at or done.
//!
//! A pass remembers nothing. What it meets says whether something is left to do, so that the next one goes on
//! wherever this one ended, however it ended.

use crate::change::{Change, How, Outcome, Relocation};
use crate::control::Control;
use crate::error::Error;
use crate::journal::{Journal, Record};
use crate::lag::Lag;
use crate::script::{Scripts, digest};
use crate::work::Work;
use keyward_audit::Mask;
use keyward_audit::live::{self, Bound, Primary, Reply, Requests, Throttle};
use keyward_pattern::slot;
use std::collections::BTreeMap;
use std::thread;
use std::time::Instant;

/// How many samples a row has.
const SAMPLES: usize = 5;

/// How often a key is tried whose value changes while it is saved.
const TRIES: usize = 5;

/// What a pass is to do.
pub(crate) struct Pass<'a> {
    pub(crate) work: &'a dyn Work,
    /// Where changes are noted first; nothing is changed without it
    pub(crate) journal: Option<&'a Journal>,
    pub(crate) bound: Option<Bound>,
    pub(crate) control: &'a Control,
    pub(crate) mask: &'a Mask,
    pub(crate) scripts: &'a Scripts,
}

/// What became of the keys of one row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) outcomes: BTreeMap<Outcome, u64>,
    pub(crate) samples: Vec<String>,
    /// Keys that go to another slot
    pub(crate) far: u64,
}

/// What a pass saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) keys: u64,
    pub(crate) rows: Vec<Tally>,
}

impl Tally {
    fn add(&mut self, outcome: Outcome, sample: impl FnOnce() -> String) {
        *self.outcomes.entry(outcome).or_default() += 1;
        if outcome == Outcome::Done && self.samples.len() < SAMPLES {
            self.samples.push(sample());
        }
    }

    pub(crate) fn of(&self, outcome: Outcome) -> u64 {
        self.outcomes.get(&outcome).copied().unwrap_or(0)
    }

    fn merge(&mut self, other: Tally) {
        for (outcome, count) in other.outcomes {
            *self.outcomes.entry(outcome).or_default() += count;
        }
        self.samples.extend(other.samples);
        self.samples.truncate(SAMPLES);
        self.far += other.far;
    }
}

impl Seen {
    pub(crate) fn of(&self, outcome: Outcome) -> u64 {
        self.rows.iter().map(|row| row.of(outcome)).sum()
    }

    fn merge(&mut self, other: Seen) {
        self.keys += other.keys;
        self.rows.resize(self.rows.len().max(other.rows.len()), Tally::default());
        for (row, tally) in self.rows.iter_mut().zip(other.rows) {
            row.merge(tally);
        }
    }
}

impl Pass<'_> {
    /// Looks at all keys of all servers, or changes them.
    pub(crate) fn run(&self, primaries: Vec<Primary>) -> Result<Seen, Error> {
        let rows = self.work.rows().len();
        let shard = |primary: Primary| {
            let throttle = Throttle::begin(&primary, self.bound)?;
            let tallies = vec![Tally::default(); rows];
            let lag = Lag::new(&primary)?;
            let mut shard = Shard { pass: self, primary, throttle, lag, keys: 0, tallies };
            shard.pass.scripts.load(&mut shard.primary)?;
            shard.walk()?;
            Ok(Seen { keys: shard.keys, rows: shard.tallies })
        };
        thread::scope(|scope| {
            let threads: Vec<_> =
                primaries.into_iter().map(|it| scope.spawn(move || shard(it))).collect();
            let mut seen = Seen { keys: 0, rows: vec![Tally::default(); rows] };
            let mut failed = None;
            for thread in threads {
                match thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
                    Ok(one) => seen.merge(one),
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
            failed.map_or(Ok(seen), Err)
        })
    }
}

/// The keys of one server.
struct Shard<'a> {
    pass: &'a Pass<'a>,
    primary: Primary,
    throttle: Throttle,
    lag: Lag,
    keys: u64,
    tallies: Vec<Tally>,
}

/// A key that is to be changed.
struct Task {
    key: Vec<u8>,
    row: usize,
    change: Change,
}

impl Shard<'_> {
    fn walk(&mut self) -> Result<(), Error> {
        let glob = self.pass.work.glob();
        let mut cursor = b"0".to_vec();
        loop {
            let count = self.throttle.count().to_string();
            let mut scan: Vec<&[u8]> = vec![b"SCAN", &cursor, b"COUNT", count.as_bytes()];
            if let Some(glob) = &glob {
                scan.extend([&b"MATCH"[..], glob.as_bytes()]);
            }
            let answer = self.primary.command(&scan)?;
            let (next, names) = page(&self.primary, answer)?;
            self.keys += names.len() as u64;
            self.pass.control.seen(names.len() as u64);
            let pick = |key: Vec<u8>| {
                let (row, change) = self.pass.work.pick(&key)?;
                Some(Task { key, row, change })
            };
            let mut tasks: Vec<Task> = names.into_iter().filter_map(pick).collect();
            while !tasks.is_empty() {
                self.pass.control.wait()?;
                self.lag.wait(self.pass.control)?;
                let window = self.throttle.window().max(1).min(tasks.len());
                let rest = tasks.split_off(window);
                let began = Instant::now();
                let count = tasks.len();
                self.settle(std::mem::replace(&mut tasks, rest))?;
                self.throttle.rest(count, count as u64, began)?;
            }
            self.pass.control.wait()?;
            if next == b"0" {
                return Ok(());
            }
            cursor = next;
        }
    }

    /// Looks at some keys, or changes them.
    fn settle(&mut self, tasks: Vec<Task>) -> Result<(), Error> {
        let clustered = self.primary.is_clustered();
        let (mut near, mut saved, mut discarded) = (Vec::new(), Vec::new(), Vec::new());
        for task in tasks {
            match &task.change {
                Change::Nowhere => self.note(&task, Outcome::Nowhere),
                Change::Relocate(it) if clustered && slot(it.to.as_bytes()) != slot(&task.key) => {
                    self.tallies[task.row].far += 1;
                    self.note(&task, Outcome::Unsettled);
                }
                Change::Relocate(_) => near.push(task),
                Change::Remove { .. } | Change::Shorten { .. } => saved.push(task),
                Change::Discard { .. } => discarded.push(task),
            }
        }
        self.relocate(near)?;
        self.save_and_change(saved)?;
        self.discard(&discarded)
    }

    fn note(&mut self, task: &Task, outcome: Outcome) {
        let mask = self.pass.mask;
        self.tallies[task.row].add(outcome, || mask.unknown(&task.key).to_string());
        if outcome == Outcome::Done {
            self.pass.control.changed(1);
        }
    }

    fn note_all(&mut self, tasks: &[Task], outcome: Outcome) {
        for task in tasks {
            self.note(task, outcome);
        }
    }

    /// Moves and copies within a slot: noted in the journal, done, and what was not done noted behind it.
    fn relocate(&mut self, mut tasks: Vec<Task>) -> Result<(), Error> {
        // Most copies are there already, and the journal is for what is changed.
        let is_copy = |task: &Task| relocation(task).is_some_and(|it| it.how != How::Rename);
        if self.pass.journal.is_none() || tasks.iter().any(is_copy) {
            let outcomes = self.relocate_once(&tasks, false, &[])?;
            let acts = self.pass.journal.is_some();
            let mut left = Vec::new();
            for (task, outcome) in tasks.into_iter().zip(outcomes) {
                if acts && outcome == Outcome::Done {
                    left.push(task);
                } else {
                    self.note(&task, outcome);
                }
            }
            tasks = left;
        }
        let Some(journal) = self.pass.journal.filter(|_| !tasks.is_empty()) else { return Ok(()) };
        let db = self.primary.db();
        let record = |task: &Task| relocation(task).map(|it| intent(db, &task.key, it));
        let records: Vec<Record> = tasks.iter().filter_map(record).collect();
        let first = journal.write(&records, false)?;
        let outcomes = self.relocate_once(&tasks, true, &[])?;
        let not = outcomes.iter().zip(first..).filter(|(it, _)| **it != Outcome::Done);
        let not: Vec<Record> = not.map(|(_, number)| Record::Not(number)).collect();
        journal.write(&not, false)?;
        let mut again = Vec::new();
        for (task, outcome) in tasks.into_iter().zip(outcomes) {
            if outcome == Outcome::Unsaved { again.push(task) } else { self.note(&task, outcome) }
        }
        self.replace(again, journal)
    }

    /// Copies over values that are not the same: what they replace goes into the journal first.
    fn replace(&mut self, mut tasks: Vec<Task>, journal: &Journal) -> Result<(), Error> {
        for _ in 0..TRIES {
            if tasks.is_empty() {
                return Ok(());
            }
            let targets: Vec<Vec<u8>> = tasks
                .iter()
                .filter_map(|task| relocation(task).map(|it| it.to.clone().into_bytes()))
                .collect();
            let values = self.read(&targets)?;
            let db = self.primary.db();
            let (mut records, mut guards) = (Vec::new(), Vec::new());
            for ((task, key), value) in tasks.iter().zip(&targets).zip(&values) {
                if let Value::There { dump, ends } = value {
                    let (key, dump) = (key.clone(), dump.clone());
                    guards.push(digest(&dump, *ends));
                    records.push(Record::Saved { db, key, ends: *ends, dump });
                } else {
                    guards.push(String::new());
                }
                records.extend(relocation(task).map(|it| intent(db, &task.key, it)));
            }
            journal.write(&records, true)?;
            let outcomes = self.relocate_once(&tasks, true, &guards)?;
            let mut again = Vec::new();
            for ((task, outcome), value) in tasks.into_iter().zip(outcomes).zip(values) {
                match (outcome, value) {
                    (_, Value::TooLarge) => self.note(&task, Outcome::TooLarge),
                    (Outcome::Unsaved, _) => again.push(task),
                    (outcome, _) => self.note(&task, outcome),
                }
            }
            tasks = again;
        }
        self.note_all(&tasks, Outcome::Unsettled);
        Ok(())
    }

    fn relocate_once(
        &mut self,
        tasks: &[Task],
        act: bool,
        guards: &[String],
    ) -> Result<Vec<Outcome>, Error> {
        let mut requests = Requests::default();
        for (at, task) in tasks.iter().enumerate() {
            let Some(it) = relocation(task) else { continue };
            let mut keys = vec![&task.key[..], it.to.as_bytes()];
            if let Some((from, to)) = &it.fences {
                keys.extend([from.as_bytes(), to.as_bytes()]);
            }
            let (kind, guard) =
                (it.kind.as_deref().unwrap_or(""), guards.get(at).map_or("", String::as_str));
            let args = [flag(act), it.how.word().as_bytes(), kind.as_bytes(), guard.as_bytes()];
            self.pass.scripts.relocate.call(&mut requests, act, &keys, &args);
        }
        self.outcomes(&requests)
    }

    /// Removes keys, or lets them end earlier: what they were goes into the journal first.
    fn save_and_change(&mut self, mut tasks: Vec<Task>) -> Result<(), Error> {
        let Some(journal) = self.pass.journal else {
            if !tasks.is_empty() {
                let outcomes = self.change(&tasks, false, &[])?;
                tasks.iter().zip(outcomes).for_each(|(task, outcome)| self.note(task, outcome));
            }
            return Ok(());
        };
        for _ in 0..TRIES {
            if tasks.is_empty() {
                return Ok(());
            }
            let db = self.primary.db();
            let keys: Vec<Vec<u8>> = tasks.iter().map(|task| task.key.clone()).collect();
            let values = self.read(&keys)?;
            let (mut records, mut guards) = (Vec::new(), Vec::new());
            for (task, value) in tasks.iter().zip(&values) {
                let (key, guard) = (
                    task.key.clone(),
                    match value {
                        Value::There { dump, ends } => match &task.change {
                            Change::Shorten { ttl, .. } => {
                                let (key, ttl) = (task.key.clone(), *ttl);
                                records.push(Record::Shortened { db, key, ends: *ends, ttl });
                                ends.to_string()
                            }
                            _ => digest(dump, *ends),
                        },
                        Value::Gone | Value::TooLarge => String::new(),
                    },
                );
                if let (Change::Remove { .. }, Value::There { dump, ends }) = (&task.change, value)
                {
                    records.push(Record::Saved { db, key, ends: *ends, dump: dump.clone() });
                }
                guards.push(guard);
            }
            journal.write(&records, true)?;
            let outcomes = self.change(&tasks, true, &guards)?;
            let mut again = Vec::new();
            for ((task, outcome), value) in tasks.into_iter().zip(outcomes).zip(values) {
                match (outcome, value) {
                    (Outcome::Unsaved, Value::TooLarge) => self.note(&task, Outcome::TooLarge),
                    (Outcome::Unsaved, _) => again.push(task),
                    (outcome, _) => self.note(&task, outcome),
                }
            }
            tasks = again;
        }
        self.note_all(&tasks, Outcome::Unsettled);
        Ok(())
    }

    fn change(
        &mut self,
        tasks: &[Task],
        act: bool,
        guards: &[String],
    ) -> Result<Vec<Outcome>, Error> {
        let mut requests = Requests::default();
        for (at, task) in tasks.iter().enumerate() {
            let guard = guards.get(at).map_or("", String::as_str);
            match &task.change {
                Change::Remove { unless_lone, beside } => {
                    let lone = unless_lone.iter().map(String::as_bytes);
                    let beside = beside.iter().map(String::as_bytes);
                    let keys: Vec<&[u8]> =
                        std::iter::once(&task.key[..]).chain(lone).chain(beside).collect();
                    let args = [flag(act), guard.as_bytes(), flag(unless_lone.is_some())];
                    self.pass.scripts.remove.call(&mut requests, act, &keys, &args);
                }
                Change::Shorten { ttl, only_endless } => {
                    let ttl = ttl.to_string();
                    let args = [flag(act), guard.as_bytes(), ttl.as_bytes(), flag(*only_endless)];
                    self.pass.scripts.shorten.call(&mut requests, act, &[&task.key], &args);
                }
                Change::Relocate(_) | Change::Discard { .. } | Change::Nowhere => {}
            }
        }
        self.outcomes(&requests)
    }

    /// Removes keys of which nothing is kept.
    fn discard(&mut self, tasks: &[Task]) -> Result<(), Error> {
        if tasks.is_empty() {
            return Ok(());
        }
        if self.pass.journal.is_none() {
            self.note_all(tasks, Outcome::Done);
            return Ok(());
        }
        let mut requests = Requests::default();
        for task in tasks {
            let Change::Discard { beside } = &task.change else { continue };
            let mut command: Vec<&[u8]> = vec![b"UNLINK", &task.key];
            command.extend(beside.iter().map(String::as_bytes));
            requests.add(&command);
        }
        let outcomes = self.outcomes_of(&requests, |reply| match reply {
            Reply::Integer(0) => Some(Outcome::Gone),
            Reply::Integer(_) => Some(Outcome::Done),
            _ => None,
        })?;
        tasks.iter().zip(outcomes).for_each(|(task, outcome)| self.note(task, outcome));
        Ok(())
    }

    /// The values of keys, as DUMP gives them, and when they end.
    fn read(&mut self, keys: &[Vec<u8>]) -> Result<Vec<Value>, Error> {
        let mut requests = Requests::default();
        for key in keys {
            requests.add(&[b"DUMP", key]);
            requests.add(&[b"PEXPIRETIME", key]);
        }
        self.primary.send(&requests)?;
        let mut values = Vec::new();
        for _ in keys {
            let (dump, ends) = (self.primary.reply()?, self.primary.reply()?);
            values.push(match (dump, ends) {
                (Reply::Bytes(dump), Reply::Integer(ends)) => Value::There { dump, ends },
                (Reply::Skipped, _) => Value::TooLarge,
                // Where a slot moves, the step that follows says so.
                (Reply::Error(reply), _) | (_, Reply::Error(reply)) => {
                    settled(&self.primary, &reply)?;
                    Value::Gone
                }
                _ => Value::Gone,
            });
        }
        Ok(values)
    }

    fn outcomes(&mut self, requests: &Requests) -> Result<Vec<Outcome>, Error> {
        self.outcomes_of(requests, |reply| match reply {
            Reply::Integer(code) => Outcome::of(*code),
            _ => None,
        })
    }

    fn outcomes_of(
        &mut self,
        requests: &Requests,
        read: impl Fn(&Reply) -> Option<Outcome>,
    ) -> Result<Vec<Outcome>, Error> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        self.primary.send(requests)?;
        let mut outcomes = Vec::new();
        for _ in 0..requests.len() {
            let reply = self.primary.reply()?;
            outcomes.push(match (&reply, read(&reply)) {
                (_, Some(outcome)) => outcome,
                (Reply::Error(why), None) => settled(&self.primary, why)?,
                (other, None) => {
                    let got = format!("a script was answered with {}", other.kind());
                    let address = self.primary.name.clone();
                    return Err(live::Error::Garbage { address, got }.into());
                }
            });
        }
        Ok(outcomes)
    }
}

/// A value that is to be saved.
enum Value {
    There { dump: Vec<u8>, ends: i64 },
    Gone,
    TooLarge,
}

fn relocation(task: &Task) -> Option<&Relocation> {
    match &task.change {
        Change::Relocate(it) => Some(it),
        _ => None,
    }
}

fn intent(db: u64, key: &[u8], it: &Relocation) -> Record {
    let (from, to) = (key.to_vec(), it.to.clone().into_bytes());
    match it.how {
        How::Rename => Record::Moved { db, from, to },
        how => Record::Copied { db, from, to, new_counts: how == How::Absent },
    }
}

fn flag(on: bool) -> &'static [u8] {
    if on { b"1" } else { b"0" }
}

/// An error that passes, for which the key is asked about again; every other one ends the pass.
fn settled(primary: &Primary, reply: &str) -> Result<Outcome, Error> {
    const PASSING: [&str; 8] = [
        "MOVED",
        "ASK",
        "TRYAGAIN",
        "CLUSTERDOWN",
        "NOSCRIPT",
        "LOADING",
        "READONLY",
        "MASTERDOWN",
    ];
    if PASSING.iter().any(|word| reply.starts_with(word)) {
        return Ok(Outcome::Unsettled);
    }
    if reply.starts_with("OOM") {
        return Err(Error::unfinished(
            format!("{} has no memory left for a copy: {reply}", primary.name),
            "raise `maxmemory`, or remove what is not needed, and apply the plan again",
        ));
    }
    let (address, command) = (primary.name.clone(), "a step of the plan");
    Err(live::Error::Reply { address, command, reply: reply.to_owned() }.into())
}

/// The cursor and the names of one answer to SCAN.
fn page(primary: &Primary, reply: Reply) -> Result<(Vec<u8>, Vec<Vec<u8>>), Error> {
    let address = || primary.name.clone();
    let odd = |what: String| live::Error::Garbage {
        address: address(),
        got: format!("SCAN was answered with {what}"),
    };
    if let Reply::Error(reply) = reply {
        return Err(live::Error::Reply { address: address(), command: "SCAN", reply }.into());
    }
    let what = reply.kind();
    let Reply::Array(parts) = reply else { return Err(odd(what).into()) };
    let Ok([Reply::Bytes(cursor), Reply::Array(names)]) = <[Reply; 2]>::try_from(parts) else {
        return Err(odd("another list".to_owned()).into());
    };
    let names = names.into_iter().filter_map(|name| match name {
        Reply::Bytes(name) => Some(name),
        _ => None,
    });
    Ok((cursor, names.collect()))
}
