//! Moves and copies that cannot be one step: to another slot or database, or of a value that is converted here.
//!
//! A lease beside the new name is taken first. Whoever writes or removes the key under any of its names ends it, so
//! that what was read before such a write is not put over it.

mod look;
mod place;

use super::near::relocation;
use super::{Shard, TRIES, Task, Value};
use crate::change::{How, Outcome};
use crate::content::Content;
use crate::error::Error;
use keyward_audit::live::Reply;

/// How long a lease lasts: longer than some hundred keys take to be read and written. Whoever is killed keeps
/// others waiting for so long.
const LEASE: &str = "5000";

/// What a store leaves beside a name that it has removed, before it removes the others: for them, the key is gone.
const REMOVED: &[u8] = b"removed";

/// Whether the new name can be written.
enum Lease {
    Taken(String),
    /// A store has removed the key, and was not able to remove its old name yet
    Removed,
    /// Somebody else writes it
    Busy,
}

/// A key under its old name and what is to be put under the new one.
struct Found {
    task: Task,
    /// The old value, by its digest
    source: String,
    ends: i64,
    dump: Vec<u8>,
    converted: Option<Content>,
    /// What stands under the new name
    target: Value,
    outcome: Outcome,
    /// Whether a store has deleted the key, so that the old name goes
    deleted: bool,
    /// The digest of what was put there
    placed: Vec<u8>,
}

impl Shard<'_> {
    /// Moves or copies keys that are far from their new names.
    pub(super) fn send_far(&mut self, mut tasks: Vec<Task>) -> Result<(), Error> {
        // Most copies are there already, and need no lease.
        let (mut left, mut deleted) = (Vec::new(), Vec::new());
        let all = self.look_far(tasks)?;
        let is_copy = |found: &&Found| {
            found.outcome == Outcome::Done
                && !found.deleted
                && relocation(&found.task).is_some_and(|it| it.how != How::Rename)
        };
        let copies =
            all.iter().filter(is_copy).map(|it| (it.task.row, it.task.key.clone())).collect();
        self.measure(copies)?;
        for found in all {
            if found.outcome != Outcome::Done || self.pass.journal.is_none() {
                self.note(&found.task, found.outcome);
            } else if found.deleted {
                deleted.push(found.task);
            } else {
                left.push(found.task);
            }
        }
        let Some(journal) = self.pass.journal else { return Ok(()) };
        self.remove_deleted(deleted, journal)?;
        tasks = left;
        for _ in 0..TRIES {
            if tasks.is_empty() {
                return Ok(());
            }
            let leases = self.lease(&tasks)?;
            let (mut leased, mut kept, mut removed) = (Vec::new(), Vec::new(), Vec::new());
            for (task, lease) in tasks.into_iter().zip(leases) {
                let new_counts = relocation(&task).is_some_and(|it| it.how == How::Absent);
                match lease {
                    Lease::Taken(token) => {
                        leased.push(task);
                        kept.push(token);
                    }
                    Lease::Removed if new_counts => removed.push(task),
                    Lease::Removed | Lease::Busy => self.note(&task, Outcome::Unsettled),
                }
            }
            self.note_in_indexes(&leased)?;
            let found = self.look_far(leased)?;
            self.unlease(&found, &kept)?;
            let all = found.into_iter().zip(kept);
            let (deleted, found): (Vec<_>, Vec<_>) = all.partition(|(found, _)| found.deleted);
            removed.extend(deleted.into_iter().map(|(found, _)| found.task));
            self.remove_deleted(removed, journal)?;
            tasks = self.place(found, journal)?;
        }
        self.note_all(&tasks, Outcome::Unsettled);
        Ok(())
    }

    /// Gives the leases of keys back for which nothing is left to do.
    fn unlease(&mut self, all: &[Found], tokens: &[String]) -> Result<(), Error> {
        let is_left = |found: &Found| found.outcome != Outcome::Done || found.deleted;
        let calls = all.iter().zip(tokens).filter(|(found, _)| is_left(found));
        let calls = calls.filter_map(|(found, token)| {
            let lease = self.pass.work.lease(&relocation(&found.task)?.to)?.into_bytes();
            let mut call = self.pass.scripts.unlease.command(1);
            call.extend([lease.clone(), token.clone().into_bytes()]);
            Some((lease, call))
        });
        let calls: Vec<(Vec<u8>, Vec<Vec<u8>>)> = calls.collect();
        let requests: Vec<(&[u8], Vec<&[u8]>)> = calls
            .iter()
            .map(|(lease, call)| (&lease[..], call.iter().map(Vec::as_slice).collect()))
            .collect();
        // One that could not be given back ends by itself.
        self.router()?.ask(&requests).map(drop)
    }

    /// Takes the leases beside the new names.
    fn lease(&mut self, tasks: &[Task]) -> Result<Vec<Lease>, Error> {
        let mut tokens = Vec::new();
        for _ in tasks {
            tokens.push(crate::make::id()?);
        }
        let lease = |task| self.pass.work.lease(&relocation(task)?.to);
        let Some(leases) = tasks.iter().map(lease).collect::<Option<Vec<String>>>() else {
            // No key could share the slot of such a name.
            return Ok(tasks.iter().map(|_| Lease::Busy).collect());
        };
        let requests = leases.iter().zip(&tokens).map(|(lease, token)| {
            let (lease, token) = (lease.as_bytes(), token.as_bytes());
            let args: [&[u8]; 7] = [b"SET", lease, token, b"NX", b"GET", b"PX", LEASE.as_bytes()];
            (lease, args.to_vec())
        });
        let requests: Vec<_> = requests.collect();
        let replies = self.router()?.ask(&requests)?;
        let lease = |(reply, token): (Reply, String)| match reply {
            Reply::Nil => Lease::Taken(token),
            Reply::Bytes(held) if held == REMOVED => Lease::Removed,
            _ => Lease::Busy,
        };
        Ok(replies.into_iter().zip(tokens).map(lease).collect())
    }
}
