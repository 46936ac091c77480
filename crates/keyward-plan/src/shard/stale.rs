//! Keys that are removed since the name that counts is gone: copies whose original was removed, and old names of a key
//! that a store has deleted.
//!
//! They are saved first, and then the name that counts is looked at. What a store writes before that look is seen by it,
//! and what a store writes later is not what was saved: it stays.

use super::near::relocation;
use super::save::Saving;
use super::{Shard, Task, is_moved, settled};
use crate::change::{Change, How, Outcome};
use crate::error::Error;
use crate::journal::Journal;
use keyward_audit::live::{Reply, Requests};

impl Shard<'_> {
    /// Removes copies that have no original.
    pub(super) fn remove_orphans(&mut self, tasks: Vec<Task>) -> Result<(), Error> {
        if tasks.is_empty() {
            return Ok(());
        }
        // Most copies have one, and need not be saved.
        let outcomes = self.orphans(&tasks)?;
        let mut left = Vec::new();
        for (task, outcome) in tasks.into_iter().zip(outcomes) {
            if outcome == Outcome::Done { left.push(task) } else { self.note(&task, outcome) }
        }
        let Some(journal) = self.pass.journal else { return self.remove(left) };
        let act = |shard: &mut Shard<'_>, tasks: &[Task], guards: &[String]| {
            let outcomes = shard.orphans(tasks)?;
            shard.remove_those(tasks, guards, outcomes)
        };
        self.save_first(left, journal, &Saving::removing(act))
    }

    /// Removes old names of keys that a store has deleted under the new name, which counts.
    pub(super) fn remove_deleted(
        &mut self,
        tasks: Vec<Task>,
        journal: &Journal,
    ) -> Result<(), Error> {
        let act = |shard: &mut Shard<'_>, tasks: &[Task], guards: &[String]| {
            let outcomes = shard.deleted(tasks)?;
            shard.remove_those(tasks, guards, outcomes)
        };
        self.save_first(tasks, journal, &Saving::removing(act))
    }

    /// Removes those of the keys that are to go (`Done`), as they were saved.
    fn remove_those(
        &mut self,
        tasks: &[Task],
        guards: &[String],
        mut outcomes: Vec<Outcome>,
    ) -> Result<Vec<Outcome>, Error> {
        let going = tasks.iter().zip(guards).zip(&outcomes);
        let going = going.filter(|(_, outcome)| **outcome == Outcome::Done);
        let going: Vec<(&Task, &str)> =
            going.map(|((task, guard), _)| (task, guard.as_str())).collect();
        let mut removed = self.remove_once(&going, true)?.into_iter();
        for outcome in outcomes.iter_mut().filter(|it| **it == Outcome::Done) {
            *outcome = removed.next().unwrap_or(Outcome::Unsettled);
        }
        Ok(outcomes)
    }

    /// Whether copies have no original: `Done` if they are to go.
    fn orphans(&mut self, tasks: &[Task]) -> Result<Vec<Outcome>, Error> {
        let mut requests: Vec<(&[u8], Vec<&[u8]>)> = Vec::new();
        for task in tasks {
            let Change::Orphan { old, .. } = &task.change else { continue };
            let old = old.iter().map(String::as_bytes);
            requests.extend(old.map(|name| (name, vec![&b"EXISTS"[..], name])));
        }
        let mut replies = self.router()?.ask(&requests)?.into_iter();
        let outcome = |task: &Task| {
            let Change::Orphan { old, beside } = &task.change else { return Outcome::Unsettled };
            let found: Vec<Reply> = replies.by_ref().take(old.len()).collect();
            if found.contains(&Reply::Integer(1)) {
                Outcome::Same
            } else if found.iter().any(|reply| *reply != Reply::Integer(0)) {
                Outcome::Unsettled
            } else if beside.is_some() {
                Outcome::Done
            } else {
                Outcome::Lone
            }
        };
        Ok(tasks.iter().map(outcome).collect())
    }

    /// Whether stores have deleted keys whose old names are still there: `Done` if these are to go.
    fn deleted(&mut self, tasks: &[Task]) -> Result<Vec<Outcome>, Error> {
        let newer = self.newer(tasks)?;
        let new = tasks.iter().filter_map(|task| Some(relocation(task)?.to.as_bytes()));
        let requests: Vec<_> = new.map(|name| (name, vec![&b"EXISTS"[..], name])).collect();
        let replies = self.router()?.ask(&requests)?;
        let is_gone = |reply: &Reply| *reply == Reply::Integer(0);
        let outcome = |(newer, reply): (Option<bool>, Reply)| match newer {
            Some(true) if is_gone(&reply) => Outcome::Done,
            _ => Outcome::Unsettled,
        };
        Ok(newer.into_iter().zip(replies).map(outcome).collect())
    }

    /// Whether a store has changed the new names, which count, later than the old ones, in another slot: where they are
    /// gone, it has deleted the key. `None` if the server does not say.
    pub(super) fn newer(&mut self, tasks: &[Task]) -> Result<Vec<Option<bool>>, Error> {
        let is_clustered = self.primary.is_clustered();
        let work = self.pass.work;
        let versions = |task: &Task| {
            let it = relocation(task).filter(|it| it.how == How::Absent)?;
            let is_split = is_clustered && is_moved(task);
            is_split.then(|| work.versions(&task.key, &it.to))?
        };
        let pairs: Vec<Option<(String, String)>> = tasks.iter().map(versions).collect();
        let of_new = pairs.iter().flatten().map(|(_, new)| new.as_bytes());
        let of_new: Vec<_> = of_new.map(|key| (key, vec![&b"GET"[..], key])).collect();
        if of_new.is_empty() {
            return Ok(vec![Some(false); tasks.len()]);
        }
        let mut of_new = self.router()?.ask(&of_new)?.into_iter();
        let mut requests = Requests::default();
        for (old, _) in pairs.iter().flatten() {
            requests.add(&[b"GET", old.as_bytes()]);
        }
        self.primary.send(&requests)?;
        let mut of_old = Vec::new();
        for _ in 0..requests.len() {
            of_old.push(self.primary.reply()?);
        }
        let mut of_old = of_old.into_iter();
        let mut all = Vec::new();
        for pair in pairs {
            if pair.is_none() {
                all.push(Some(false));
                continue;
            }
            let (new, old) = (of_new.next(), of_old.next());
            let (new, old) = (self.version(new)?, self.version(old)?);
            all.push(new.zip(old).map(|(new, old)| new > old));
        }
        Ok(all)
    }

    /// A version, 0 if there is none; `None` if the server does not say.
    fn version(&self, reply: Option<Reply>) -> Result<Option<u64>, Error> {
        Ok(match reply {
            Some(Reply::Nil) => Some(0),
            // As scripts read it: what is no version is none.
            Some(Reply::Bytes(text)) => {
                let text = std::str::from_utf8(&text).ok();
                Some(text.and_then(|text| text.parse().ok()).unwrap_or(0))
            }
            Some(Reply::Error(reply)) if !reply.starts_with("WRONGTYPE") => {
                settled(&self.primary, &reply).map(|_| None)?
            }
            _ => None,
        })
    }
}
