//! Values that are put under names in other slots or databases, and the old names that are given up then.

use super::super::near::relocation;
use super::super::{Shard, Task, Value, settled};
use super::Found;
use crate::change::{How, Outcome, Relocation};
use crate::error::Error;
use crate::journal::{Journal, Record};
use crate::script::digest;
use keyward_audit::live::{Reply, Requests};

impl Shard<'_> {
    /// Puts values under their new names. Returns the keys that were changed meanwhile.
    pub(super) fn place(
        &mut self,
        all: Vec<(Found, String)>,
        journal: &Journal,
    ) -> Result<Vec<Task>, Error> {
        let (db, home) = (self.primary.db(), self.home);
        let (mut records, mut acting) = (Vec::new(), Vec::new());
        for (found, token) in all {
            if found.outcome != Outcome::Done {
                self.note(&found.task, found.outcome);
                continue;
            }
            let Some(it) = relocation(&found.task) else { continue };
            let (from, to) = (found.task.key.clone(), it.to.clone().into_bytes());
            if let Value::There { dump, ends } = &found.target {
                let (key, dump) = (to.clone(), dump.clone());
                records.push(Record::Replaced { db: home, key, ends: *ends, dump });
            }
            records.push(if let Some(content) = &found.converted {
                let holds = content.digest().into_bytes();
                Record::Making { db: home, key: to, ends: found.ends, holds }
            } else {
                let (new_counts, renamed) = (it.how == How::Absent, it.how == How::Rename);
                Record::Placed { db, home, from, to, new_counts, renamed }
            });
            acting.push((found, token));
        }
        journal.write(&records, true)?;
        let calls: Vec<Vec<Vec<u8>>> =
            acting.iter().map(|(found, token)| self.placing(found, token)).collect();
        let requests = acting.iter().zip(&calls).filter_map(|((found, _), call)| {
            let key = relocation(&found.task)?.to.as_bytes();
            Some((key, call.iter().map(Vec::as_slice).collect()))
        });
        let requests: Vec<_> = requests.collect();
        let replies = self.router()?.ask(&requests)?;
        let mut placed = Vec::new();
        let mut again = Vec::new();
        let mut made = Vec::new();
        for ((mut found, _), reply) in acting.into_iter().zip(replies) {
            match reply {
                Reply::Bytes(digest) => {
                    if let Some(it) = relocation(&found.task).filter(|it| it.convert.is_some()) {
                        let (key, digest) = (it.to.clone().into_bytes(), digest.clone());
                        made.push(Record::Made { db: home, key, digest });
                    }
                    found.placed = digest;
                    placed.push(found);
                }
                Reply::Error(reply) => {
                    let outcome = settled(&self.primary, &reply)?;
                    self.note(&found.task, outcome);
                }
                _ => again.push(found.task),
            }
        }
        journal.write(&made, false)?;
        again.extend(self.confirm(placed)?);
        Ok(again)
    }

    fn placing(&self, found: &Found, token: &str) -> Vec<Vec<u8>> {
        let Some(Relocation { to, .. }) = relocation(&found.task) else { return Vec::new() };
        let guard = match &found.target {
            Value::There { dump, ends } => digest(dump, *ends),
            Value::Gone | Value::TooLarge => String::new(),
        };
        let lease = self.pass.work.lease(to).unwrap_or_default();
        let ends = found.ends.to_string();
        let mut args: Vec<Vec<u8>> = self.pass.scripts.place.command(2);
        args.extend([to, &lease, token, &guard, &ends].map(|arg| arg.as_bytes().to_vec()));
        match &found.converted {
            Some(content) => {
                args.push(Vec::new());
                args.extend(content.writing());
            }
            None => args.push(found.dump.clone()),
        }
        args
    }

    /// Looks whether the old values are still what was put under the new names, and gives them up where they
    /// are to move. Returns the keys that were changed meanwhile.
    fn confirm(&mut self, placed: Vec<Found>) -> Result<Vec<Task>, Error> {
        let is_move =
            |found: &Found| relocation(&found.task).is_some_and(|it| it.how == How::Rename);
        let (moves, copies): (Vec<Found>, Vec<Found>) = placed.into_iter().partition(is_move);
        let keys: Vec<Vec<u8>> = copies.iter().map(|found| found.task.key.clone()).collect();
        let now = self.read_values(&keys)?;
        let mut again = Vec::new();
        for (found, now) in copies.into_iter().zip(now) {
            match now {
                Value::There { dump, ends } if digest(&dump, ends) == found.source => {
                    self.note(&found.task, Outcome::Done);
                }
                Value::Gone => {
                    self.unmake(&found)?;
                    self.note(&found.task, Outcome::Gone);
                }
                _ => again.push(found.task),
            }
        }
        again.extend(self.give_up(moves)?);
        Ok(again)
    }

    /// Removes what was put under a new name while its old one was removed: nothing removed comes back.
    fn unmake(&mut self, found: &Found) -> Result<(), Error> {
        let Some(it) = relocation(&found.task) else { return Ok(()) };
        let key = it.to.as_bytes();
        let mut args = self.pass.scripts.unmake.command(1);
        args.extend([key.to_vec(), found.placed.clone()]);
        let request = (key, args.iter().map(Vec::as_slice).collect());
        match self.router()?.ask(&[request])?.pop() {
            Some(Reply::Error(reply)) => settled(&self.primary, &reply).map(drop),
            _ => Ok(()),
        }
    }

    /// Removes old keys whose values are under their new names, when these will outlive a crash.
    fn give_up(&mut self, moves: Vec<Found>) -> Result<Vec<Task>, Error> {
        if moves.is_empty() {
            return Ok(Vec::new());
        }
        if !self.pass.accept_loss && !self.router()?.is_durable()? {
            return Err(Error::refused(
                "the server cannot say when a key is on disk, and a move to another slot would be lost with it",
                "`--accept-loss` moves nevertheless; WAITAOF needs Redis 7.2 or Valkey, with `appendonly yes`",
            ));
        }
        let mut requests = Requests::default();
        for found in &moves {
            let args = [b"1", found.source.as_bytes(), b"0"];
            self.pass.scripts.remove.call(&mut requests, true, &[&found.task.key], &args);
        }
        let outcomes = self.outcomes(&requests)?;
        let mut again = Vec::new();
        for (found, outcome) in moves.into_iter().zip(outcomes) {
            if outcome == Outcome::Unsaved {
                again.push(found.task);
            } else {
                self.note(&found.task, outcome);
            }
        }
        Ok(again)
    }
}
