//! Values that are lost go into the journal first: those of keys that are removed, and those that are replaced.

use super::{Shard, TRIES, Task, Value, flag};
use crate::change::{Change, Outcome};
use crate::error::Error;
use crate::journal::{Journal, Record};
use crate::script::digest;
use keyward_audit::live::{Reply, Requests};

/// How values are saved before they are lost.
pub(super) struct Saving {
    /// The key whose value it is
    pub(super) of: fn(&Task) -> Vec<u8>,
    /// What goes into the journal, with the value where there is one
    pub(super) records: fn(u64, &Task, Option<Saved>) -> Vec<Record>,
    /// The steps, each with the digest of what was saved
    pub(super) act: Act,
}

/// When a key ends, and what DUMP gives.
type Saved = (i64, Vec<u8>);

type Act = fn(&mut Shard<'_>, &[Task], &[String]) -> Result<Vec<Outcome>, Error>;

impl Saving {
    /// Of keys that are removed themselves.
    pub(super) fn removing(act: Act) -> Self {
        Saving {
            of: |task| task.key.clone(),
            records: |db, task, value| {
                let key = task.key.clone();
                let under = match &task.change {
                    Change::Remove { unless_lone, .. } => unless_lone.as_ref(),
                    _ => None,
                };
                let under = under.map(|name| name.clone().into_bytes());
                value
                    .map(|(ends, dump)| Record::Saved { db, key, ends, dump, under })
                    .into_iter()
                    .collect()
            },
            act,
        }
    }
}

impl Shard<'_> {
    /// Removes keys: what they were goes into the journal first.
    pub(super) fn remove(&mut self, tasks: Vec<Task>) -> Result<(), Error> {
        let Some(journal) = self.pass.journal else {
            if !tasks.is_empty() {
                let all: Vec<(&Task, &str)> = tasks.iter().map(|task| (task, "")).collect();
                let outcomes = self.remove_once(&all, false)?;
                tasks.iter().zip(outcomes).for_each(|(task, outcome)| self.note(task, outcome));
            }
            return Ok(());
        };
        let act = |shard: &mut Shard<'_>, tasks: &[Task], guards: &[String]| {
            let all = tasks.iter().zip(guards.iter().map(String::as_str));
            shard.remove_once(&all.collect::<Vec<_>>(), true)
        };
        self.save_first(tasks, journal, &Saving::removing(act))
    }

    /// Does something that values are lost by, which go into the journal first: again, where one was changed meanwhile.
    pub(super) fn save_first(
        &mut self,
        mut tasks: Vec<Task>,
        journal: &Journal,
        saving: &Saving,
    ) -> Result<(), Error> {
        let db = self.primary.db();
        for _ in 0..TRIES {
            if tasks.is_empty() {
                return Ok(());
            }
            let values = self.read_values(&tasks.iter().map(saving.of).collect::<Vec<_>>())?;
            let (mut records, mut guards, mut own) = (Vec::new(), Vec::new(), Vec::new());
            let mut too_large = Vec::new();
            for (task, value) in tasks.iter().zip(values) {
                let start = records.len() as u64;
                too_large.push(matches!(value, Value::TooLarge));
                let value = match value {
                    Value::There { dump, ends } => Some((ends, dump)),
                    Value::Gone | Value::TooLarge => None,
                };
                let guard = value.as_ref().map(|(ends, dump)| digest(dump, *ends));
                guards.push(guard.unwrap_or_default());
                records.extend((saving.records)(db, task, value));
                own.push(start..records.len() as u64);
            }
            let first = journal.write(&records, true)?;
            let outcomes = (saving.act)(self, &tasks, &guards)?;
            let not = outcomes.iter().zip(own).filter(|(it, _)| **it != Outcome::Done);
            let not = not.flat_map(|(_, own)| own).map(|number| Record::Not(first + number));
            journal.write(&not.collect::<Vec<_>>(), false)?;
            let mut again = Vec::new();
            for ((task, outcome), too_large) in tasks.into_iter().zip(outcomes).zip(too_large) {
                match outcome {
                    Outcome::Unsaved if too_large => self.note(&task, Outcome::TooLarge),
                    Outcome::Unsaved => again.push(task),
                    outcome => self.note(&task, outcome),
                }
            }
            tasks = again;
        }
        self.note_all(&tasks, Outcome::Unsettled);
        Ok(())
    }

    /// Removes keys, each if it is still what the digest says, or looks at them.
    pub(super) fn remove_once(
        &mut self,
        tasks: &[(&Task, &str)],
        act: bool,
    ) -> Result<Vec<Outcome>, Error> {
        let mut requests = Requests::default();
        for (task, guard) in tasks {
            let (unless_lone, beside) = match &task.change {
                // Nothing is asked of two servers in one step; a new name that vanishes meanwhile was
                // removed by whoever counts.
                Change::Remove { unless_lone, beside } => {
                    let near = |name: &&str| !self.is_far(&task.key, name);
                    (unless_lone.as_deref().filter(near), &beside[..])
                }
                Change::Orphan { beside: Some(beside), .. } => (None, &beside[..]),
                _ => (None, &[][..]),
            };
            let lone = unless_lone.iter().map(|name| name.as_bytes());
            let beside = beside.iter().map(String::as_bytes);
            let keys: Vec<&[u8]> =
                std::iter::once(&task.key[..]).chain(lone).chain(beside).collect();
            let args = [flag(act), guard.as_bytes(), flag(unless_lone.is_some())];
            self.pass.scripts.remove.call(&mut requests, act, &keys, &args);
        }
        self.outcomes(&requests)
    }

    /// Removes keys of which nothing is kept.
    pub(super) fn discard(&mut self, tasks: &[Task]) -> Result<(), Error> {
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
}
