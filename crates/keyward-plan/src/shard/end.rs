//! Queues under old names: looked at, and removed once nothing is left there.

use super::save::Saving;
use super::{Shard, Task, flag};
use crate::change::{Change, OldQueue, Outcome};
use crate::error::Error;
use crate::journal::Record;
use keyward_audit::live::Requests;

impl Shard<'_> {
    /// Looks whether queues are empty. In `cleanup`, those that are go; a key of theirs goes into the journal first.
    pub(super) fn end_queues(&mut self, tasks: Vec<Task>) -> Result<(), Error> {
        if tasks.is_empty() {
            return Ok(());
        }
        let outcomes = self.end_once(&tasks, false, &[])?;
        let mut empty = Vec::new();
        for (task, outcome) in tasks.into_iter().zip(outcomes) {
            let Some(queue) = queue(&task) else { continue };
            match outcome {
                Outcome::Done if !queue.is_over => self.note(&task, Outcome::Drained),
                Outcome::Done if self.pass.journal.is_some() => empty.push(task),
                Outcome::Holds if queue.is_served => self.note(&task, Outcome::Served),
                outcome => self.note(&task, outcome),
            }
        }
        let Some(journal) = self.pass.journal else { return Ok(()) };
        let saving = Saving {
            of: |task| task.key.clone(),
            records: |db, task, value| {
                let key = task.key.clone();
                let under = None;
                let saved = value.map(|(ends, dump)| Record::Saved { db, key, ends, dump, under });
                saved.into_iter().collect()
            },
            act: |shard, tasks, guards| shard.end_once(tasks, true, guards),
        };
        self.save_first(empty, journal, &saving)
    }

    fn end_once(
        &mut self,
        tasks: &[Task],
        act: bool,
        guards: &[String],
    ) -> Result<Vec<Outcome>, Error> {
        let mut requests = Requests::default();
        for (at, task) in tasks.iter().enumerate() {
            let Some(queue) = queue(task) else { continue };
            let keys: Vec<&[u8]> = queue.keys.iter().map(String::as_bytes).collect();
            let guard = guards.get(at).map_or("", String::as_str);
            let place = (queue.place + 1).to_string();
            let args = [flag(act), guard.as_bytes(), queue.kind.as_bytes(), place.as_bytes()];
            self.pass.scripts.end.call(&mut requests, act, &keys, &args);
        }
        self.outcomes(&requests)
    }
}

fn queue(task: &Task) -> Option<&OldQueue> {
    match &task.change {
        Change::End(queue) => Some(queue),
        _ => None,
    }
}
