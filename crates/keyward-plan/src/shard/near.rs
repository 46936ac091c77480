//! Moves and copies that are one step at one server.

use super::save::Saving;
use super::{Shard, Task, flag, settled};
use crate::change::{Change, How, Outcome, Relocation};
use crate::error::Error;
use crate::journal::{Batch, Record};
use keyward_audit::live::{Reply, Requests};

/// How many keys one call renames: no other client waits for longer than a tenth of a millisecond.
const TOGETHER: usize = 50;
/// The same where others may wait. Of 50 to 1,000 keys, 200 and more cost a server least: 1.6 µs each, and a bare
/// RENAME 1.0.
const TOGETHER_UNBOUND: usize = 250;

impl Shard<'_> {
    /// Moves and copies within a slot: noted in the journal, done, and what was not done noted behind it.
    pub(super) fn relocate(&mut self, mut tasks: Vec<Task>) -> Result<(), Error> {
        // Most copies are there already, and the journal is for what is changed.
        let is_copy = |task: &Task| relocation(task).is_some_and(|it| it.how != How::Rename);
        if self.pass.journal.is_none() || tasks.iter().any(is_copy) {
            let outcomes = self.relocate_once(&tasks, false, &[])?;
            let acts = self.pass.journal.is_some();
            let copies = tasks
                .iter()
                .zip(&outcomes)
                .filter(|(task, it)| is_copy(task) && **it == Outcome::Done);
            let copies = copies.map(|(task, _)| (task.row, task.key.clone())).collect();
            self.measure(copies)?;
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
        self.note_in_indexes(&tasks)?;
        let db = self.primary.db();
        let mut batch = Batch::default();
        for (task, it) in tasks.iter().filter_map(|task| Some((task, relocation(task)?))) {
            match it.how {
                // There are many of them, and they are copied nowhere else.
                How::Rename => batch.add_move(db, &task.key, it.to.as_bytes()),
                _ => batch.add(&intent(db, &task.key, it)),
            }
        }
        let first = journal.write_batch(batch, false)?;
        let outcomes = self.relocate_or_rename(&tasks)?;
        let not = outcomes.iter().zip(first..).filter(|(it, _)| **it != Outcome::Done);
        let not: Vec<Record> = not.map(|(_, number)| Record::Not(number)).collect();
        journal.write(&not, false)?;
        let mut again = Vec::new();
        for (task, outcome) in tasks.into_iter().zip(outcomes) {
            if outcome == Outcome::Unsaved { again.push(task) } else { self.note(&task, outcome) }
        }
        // What they replace goes into the journal first.
        let saving = Saving {
            of: |task| relocation(task).map(|it| it.to.clone().into_bytes()).unwrap_or_default(),
            records: |db, task, value| {
                let Some(it) = relocation(task) else { return Vec::new() };
                let key = it.to.clone().into_bytes();
                let replaced = value.map(|(ends, dump)| Record::Replaced { db, key, ends, dump });
                replaced.into_iter().chain([intent(db, &task.key, it)]).collect()
            },
            act: |shard, tasks, guards| shard.relocate_once(tasks, true, guards),
        };
        self.save_first(again, journal, &saving)
    }

    /// Measures some of the values that would be copied, while a plan is made.
    pub(super) fn measure(&mut self, mut copies: Vec<(usize, Vec<u8>)>) -> Result<(), Error> {
        /// Of each kind of copy and thread.
        const MEASURED: u64 = 500;
        copies.retain(|(row, _)| self.tallies[*row].measured.0 < MEASURED);
        if self.pass.journal.is_some() || copies.is_empty() {
            return Ok(());
        }
        let mut requests = Requests::default();
        for (_, key) in &copies {
            requests.add(&[b"MEMORY", b"USAGE", key]);
        }
        self.primary.send(&requests)?;
        for (row, _) in copies {
            // Whoever may not ask plans without it.
            if let Reply::Integer(bytes @ 1..) = self.primary.reply()? {
                let (count, sum) = &mut self.tallies[row].measured;
                *count += 1;
                *sum = sum.saturating_add(bytes.unsigned_abs());
            }
        }
        Ok(())
    }

    /// Lets events find the new names, before these are there: what an index knows too much of does no harm.
    pub(super) fn note_in_indexes(&mut self, tasks: &[Task]) -> Result<(), Error> {
        let has_indexes = |it: &&Relocation| !it.indexes.0.is_empty();
        let indexed = tasks.iter().filter_map(|task| {
            relocation(task).filter(has_indexes).map(|it| (task.key.clone(), it.clone()))
        });
        let indexed: Vec<(Vec<u8>, Relocation)> = indexed.collect();
        if indexed.is_empty() {
            return Ok(());
        }
        let mut requests = Requests::default();
        for (key, _) in &indexed {
            requests.add(&[b"PTTL", key]);
        }
        self.primary.send(&requests)?;
        let mut calls: Vec<(Vec<u8>, Vec<Vec<u8>>)> = Vec::new();
        for (_, it) in &indexed {
            let (indexes, stale) = &it.indexes;
            let live = match self.primary.reply()? {
                Reply::Integer(left @ 0..) => left.unsigned_abs().saturating_add(*stale),
                _ => 0,
            };
            for index in indexes {
                let mut call = self.pass.scripts.index.command(1);
                let parts = [index.as_str(), &it.to, &live.to_string()];
                call.extend(parts.map(|part| part.as_bytes().to_vec()));
                calls.push((index.clone().into_bytes(), call));
            }
        }
        let requests: Vec<(&[u8], Vec<&[u8]>)> = calls
            .iter()
            .map(|(index, call)| (&index[..], call.iter().map(Vec::as_slice).collect()))
            .collect();
        for reply in self.router()?.ask(&requests)? {
            if let Reply::Error(reply) = reply {
                settled(&self.primary, &reply)?;
            }
        }
        Ok(())
    }

    /// Renames of one server are asked for together; a name that is taken may be by the same value.
    fn relocate_or_rename(&mut self, tasks: &[Task]) -> Result<Vec<Outcome>, Error> {
        let is_plain = |it: &Relocation| {
            it.how == How::Rename && it.fences.is_none() && asking(it.kind.as_deref()).is_some()
        };
        if self.primary.is_clustered() || !tasks.iter().filter_map(relocation).all(is_plain) {
            return self.relocate_once(tasks, true, &[]);
        }
        let most = if self.pass.bound.is_some() { TOGETHER } else { TOGETHER_UNBOUND };
        let groups: Vec<&[Task]> = tasks
            .chunk_by(|one, other| kind(one) == kind(other))
            .flat_map(|of_one_kind| of_one_kind.chunks(most))
            .collect();
        let mut requests = Requests::default();
        for group in &groups {
            let its = group.iter().filter_map(|task| Some((task, relocation(task)?)));
            let keys: Vec<&[u8]> =
                its.flat_map(|(task, it)| [&task.key[..], it.to.as_bytes()]).collect();
            let ask = group.first().and_then(|task| asking(kind(task))).unwrap_or_default();
            self.pass.scripts.rename.call(&mut requests, true, &keys, &[ask.as_bytes()]);
        }
        self.primary.send(&requests)?;
        let mut outcomes = Vec::new();
        for group in groups {
            let start = outcomes.len();
            match self.primary.reply()? {
                Reply::Array(left) => {
                    outcomes.resize(start + group.len(), Outcome::Done);
                    for pair in left.chunks(2) {
                        let [Reply::Integer(at), Reply::Integer(code)] = pair else {
                            return Err(self.odd(&Reply::Array(pair.to_vec())));
                        };
                        let at =
                            usize::try_from(*at).ok().and_then(|at| outcomes.get_mut(start + at));
                        if let Some(outcome) = at {
                            *outcome = Outcome::of(*code).unwrap_or(Outcome::Unsettled);
                        }
                    }
                }
                Reply::Error(reply) => {
                    let outcome = settled(&self.primary, &reply)?;
                    outcomes.resize(start + group.len(), outcome);
                }
                other => return Err(self.odd(&other)),
            }
        }
        for (task, outcome) in tasks.iter().zip(&mut outcomes) {
            if *outcome == Outcome::Taken {
                let again = self.relocate_once(std::slice::from_ref(task), true, &[])?;
                *outcome = again.first().copied().unwrap_or(Outcome::Unsettled);
            }
        }
        Ok(outcomes)
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
            if let Some((from, to)) = it.fences.as_deref() {
                keys.extend([from.as_bytes(), to.as_bytes()]);
            }
            let (kind, guard) =
                (it.kind.as_deref().unwrap_or(""), guards.get(at).map_or("", String::as_str));
            let args = [flag(act), it.how.word().as_bytes(), kind.as_bytes(), guard.as_bytes()];
            self.pass.scripts.relocate.call(&mut requests, act, &keys, &args);
        }
        self.outcomes(&requests)
    }
}

fn kind(task: &Task) -> Option<&str> {
    relocation(task)?.kind.as_deref()
}

/// The command that fails for keys of another type.
fn asking(kind: Option<&str>) -> Option<&'static str> {
    Some(match kind {
        None => "EXISTS",
        Some("string") => "STRLEN",
        Some("hash") => "HLEN",
        Some("list") => "LLEN",
        Some("set") => "SCARD",
        Some("zset") => "ZCARD",
        Some("stream") => "XLEN",
        Some(_) => return None,
    })
}

pub(super) fn relocation(task: &Task) -> Option<&Relocation> {
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
