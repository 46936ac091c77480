//! Keys that end earlier: when they ended goes into the journal first.

use super::{Shard, TRIES, Task, flag, settled};
use crate::change::{Change, Ending, Outcome};
use crate::error::Error;
use crate::journal::Record;
use keyward_audit::live::{Reply, Requests};

/// When a key ends, as it was saved, and when it is to end.
type Ends = (i64, u64);

impl Shard<'_> {
    /// Lets keys end earlier. Most end early enough, and the journal is for what is changed.
    pub(super) fn shorten(&mut self, tasks: Vec<Task>) -> Result<(), Error> {
        let outcomes = self.shorten_once(&tasks, &[])?;
        let Some(journal) = self.pass.journal else {
            tasks.iter().zip(outcomes).for_each(|(task, outcome)| self.note(task, outcome));
            return Ok(());
        };
        let mut left = self.keep_done(tasks, outcomes);
        for _ in 0..TRIES {
            if left.is_empty() {
                return Ok(());
            }
            let db = self.primary.db();
            let ends = self.ends(&left)?;
            let record = |(task, (ends, at)): (&Task, &Ends)| Record::Shortened {
                db,
                key: task.key.clone(),
                ends: *ends,
                at: *at,
            };
            let records: Vec<Record> = left.iter().zip(&ends).map(record).collect();
            let first = journal.write(&records, true)?;
            let outcomes = self.shorten_once(&left, &ends)?;
            let not = outcomes.iter().zip(first..).filter(|(it, _)| **it != Outcome::Done);
            let not: Vec<Record> = not.map(|(_, number)| Record::Not(number)).collect();
            journal.write(&not, false)?;
            let mut again = Vec::new();
            for (task, outcome) in left.into_iter().zip(outcomes) {
                if outcome == Outcome::Unsaved {
                    again.push(task);
                } else {
                    self.note(&task, outcome);
                }
            }
            left = again;
        }
        self.note_all(&left, Outcome::Unsettled);
        Ok(())
    }

    /// Without `ends` it only looks.
    fn shorten_once(&mut self, tasks: &[Task], ends: &[Ends]) -> Result<Vec<Outcome>, Error> {
        let mut requests = Requests::default();
        for (at, task) in tasks.iter().enumerate() {
            let Change::Shorten { ttl, whose } = &task.change else { continue };
            let (word, within) = match whose {
                Ending::Late => (&b"late"[..], *ttl),
                Ending::Never => (&b"never"[..], *ttl),
                Ending::After(limit) => (&b"after"[..], *limit),
            };
            let (saved, end) = ends.get(at).copied().unwrap_or_default();
            let numbers = [within.to_string(), saved.to_string(), end.to_string()];
            let [within, saved, end] = numbers.each_ref().map(String::as_bytes);
            let act = !ends.is_empty();
            let args = [flag(act), word, within, saved, end];
            self.pass.scripts.shorten.call(&mut requests, act, &[&task.key], &args);
        }
        self.outcomes(&requests)
    }

    /// When keys end, and when they are to end by the clock of their server.
    fn ends(&mut self, tasks: &[Task]) -> Result<Vec<Ends>, Error> {
        let mut requests = Requests::default();
        requests.add(&[b"TIME"]);
        for task in tasks {
            requests.add(&[b"PEXPIRETIME", &task.key]);
        }
        self.primary.send(&requests)?;
        let now = millis(&self.primary.reply()?).unwrap_or(self.pass.now);
        let mut all = Vec::new();
        for task in tasks {
            let ends = match self.primary.reply()? {
                Reply::Integer(ends) => ends,
                // Where a slot moves, the step that follows says so.
                Reply::Error(reply) => settled(&self.primary, &reply).map(|_| -2)?,
                _ => -2,
            };
            let Change::Shorten { ttl, .. } = &task.change else { continue };
            all.push((ends, now.saturating_add(*ttl)));
        }
        Ok(all)
    }

    /// The tasks that were found to be done; the others are noted.
    pub(super) fn keep_done(&mut self, tasks: Vec<Task>, outcomes: Vec<Outcome>) -> Vec<Task> {
        let mut left = Vec::new();
        for (task, outcome) in tasks.into_iter().zip(outcomes) {
            if outcome == Outcome::Done { left.push(task) } else { self.note(&task, outcome) }
        }
        left
    }
}

/// What TIME answers, in milliseconds.
fn millis(reply: &Reply) -> Option<u64> {
    let Reply::Array(parts) = reply else { return None };
    let number = |part: &Reply| match part {
        Reply::Bytes(text) => std::str::from_utf8(text).ok()?.parse::<u64>().ok(),
        _ => None,
    };
    let (seconds, micros) = (number(parts.first()?)?, number(parts.get(1)?)?);
    Some(seconds.saturating_mul(1000).saturating_add(micros / 1000))
}
