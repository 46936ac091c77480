//! What is asked about keys before something is done with them.

use super::{Shard, Task};
use crate::change::{Change, Outcome};
use crate::error::Error;
use keyward_audit::live::{Reply, Requests};

/// What OBJECT REFCOUNT answers of an object that keys share.
const SHARED: i64 = i32::MAX as i64;

impl Shard<'_> {
    /// The tasks whose conditions hold, and those that have none. What other names are is asked of all at once, and
    /// not in one step with the change: the change itself is guarded by what the key was.
    pub(super) fn conditions(&mut self, tasks: Vec<Task>) -> Result<Vec<Task>, Error> {
        if !tasks.iter().any(|task| matches!(task.change, Change::If(_))) {
            return Ok(tasks);
        }
        let mut requests: Vec<(&[u8], Vec<&[u8]>)> = Vec::new();
        for task in &tasks {
            let Change::If(it) = &task.change else { continue };
            let names = it.needs.iter().map(|(name, _)| name).chain(&it.unless);
            let names = names.map(String::as_bytes);
            requests.extend(names.map(|name| (name, vec![&b"TYPE"[..], name])));
        }
        let mut replies = self.router()?.ask(&requests)?.into_iter();
        let mut left = Vec::new();
        for mut task in tasks {
            let it = match std::mem::replace(&mut task.change, Change::Stay(Outcome::Gone)) {
                Change::If(it) => *it,
                change => {
                    task.change = change;
                    left.push(task);
                    continue;
                }
            };
            let mut kind = || match replies.next() {
                Some(Reply::Status(kind)) => Some(kind),
                _ => None,
            };
            let other = it.needs.as_ref().map(|_| kind());
            let others: Vec<Option<String>> = it.unless.iter().map(|_| kind()).collect();
            let wanted = it.needs.and_then(|(_, wanted)| wanted);
            let outcome = match other {
                Some(None) => Some(Outcome::Unsettled),
                Some(Some(kind)) if kind == "none" => Some(Outcome::Lone),
                Some(Some(kind)) if wanted.is_some_and(|it| it != kind) => Some(Outcome::WrongType),
                _ if others.iter().any(Option::is_none) => Some(Outcome::Unsettled),
                _ if others.iter().flatten().any(|kind| kind != "none") => {
                    Some(Outcome::Superseded)
                }
                _ => None,
            };
            if let Some(outcome) = outcome {
                self.note(&task, outcome);
            } else {
                task.change = it.then;
                left.push(task);
            }
        }
        Ok(left)
    }

    /// Asks for how long keys were not used, before looking at them uses them.
    pub(super) fn ask_idle(&mut self, tasks: &[Task]) -> Result<(), Error> {
        self.idle.clear();
        if self.pass.journal.is_some() || !self.pass.work.asks_idle() {
            return Ok(());
        }
        let mut requests = Requests::default();
        for task in tasks {
            requests.add(&[b"OBJECT", b"IDLETIME", &task.key]);
            requests.add(&[b"OBJECT", b"REFCOUNT", &task.key]);
        }
        self.primary.send(&requests)?;
        for task in tasks {
            let (idle, owners) = (self.primary.reply()?, self.primary.reply()?);
            let idle = match idle {
                // Small numbers are one object for all keys of a server, which says nothing about a key.
                Reply::Integer(_) if owners == Reply::Integer(SHARED) => None,
                Reply::Integer(seconds) => Some(seconds.max(0).unsigned_abs()),
                // It is denied to this user, or the server counts uses and not the time.
                Reply::Error(_) => None,
                // It is gone.
                _ => continue,
            };
            self.idle.insert(task.key.clone(), idle);
        }
        Ok(())
    }
}
