//! Keys that are removed: what they were goes into the journal first.

use super::{Shard, TRIES, Task, Value, flag};
use crate::change::{Change, Outcome};
use crate::error::Error;
use crate::journal::Record;
use crate::script::digest;
use keyward_audit::live::{Reply, Requests};

impl Shard<'_> {
    /// Removes keys: what they were goes into the journal first.
    pub(super) fn remove(&mut self, mut tasks: Vec<Task>) -> Result<(), Error> {
        let Some(journal) = self.pass.journal else {
            if !tasks.is_empty() {
                let outcomes = self.remove_once(&tasks, false, &[])?;
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
            let values = self.read_values(&keys)?;
            let (mut records, mut guards, mut own) = (Vec::new(), Vec::new(), Vec::new());
            for (task, value) in tasks.iter().zip(&values) {
                own.push(records.len() as u64);
                guards.push(match value {
                    Value::There { dump, ends } => {
                        let (key, ends, dump) = (task.key.clone(), *ends, dump.clone());
                        let guard = digest(&dump, ends);
                        records.push(Record::Saved { db, key, ends, dump });
                        guard
                    }
                    Value::Gone | Value::TooLarge => String::new(),
                });
            }
            let first = journal.write(&records, true)?;
            let outcomes = self.remove_once(&tasks, true, &guards)?;
            let saved = values.iter().map(|value| matches!(value, Value::There { .. }));
            let not = outcomes.iter().zip(saved.zip(own));
            let not = not.filter(|(it, (saved, _))| **it != Outcome::Done && *saved);
            let not = not.map(|(_, (_, number))| Record::Not(first + number));
            journal.write(&not.collect::<Vec<_>>(), false)?;
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

    fn remove_once(
        &mut self,
        tasks: &[Task],
        act: bool,
        guards: &[String],
    ) -> Result<Vec<Outcome>, Error> {
        let mut requests = Requests::default();
        for (at, task) in tasks.iter().enumerate() {
            let guard = guards.get(at).map_or("", String::as_str);
            let Change::Remove { unless_lone, beside } = &task.change else { continue };
            let lone = unless_lone.iter().map(String::as_bytes);
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
