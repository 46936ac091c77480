//! Moves and copies that cannot be one step: to another slot or database, or of a value that is converted here.
//!
//! A lease beside the new name is taken first. Whoever writes or removes the key under any of its names ends it, so
//! that what was read before such a write is not put over it.

use super::near::relocation;
use super::{Shard, TRIES, Task, Value, settled};
use crate::change::{How, Outcome, Relocation};
use crate::content::Content;
use crate::error::Error;
use crate::journal::{Journal, Record};
use crate::script::digest;
use keyward_audit::live::{Reply, Requests};

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
            let lease = relocation(&found.task)?.lease.clone()?.into_bytes();
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
        let requests = tasks.iter().zip(&tokens).filter_map(|(task, token)| {
            let lease = relocation(task)?.lease.as_ref()?.as_bytes();
            let args: [&[u8]; 7] =
                [b"SET", lease, token.as_bytes(), b"NX", b"GET", b"PX", LEASE.as_bytes()];
            Some((lease, args.to_vec()))
        });
        let requests: Vec<_> = requests.collect();
        if requests.len() < tasks.len() {
            // No key could share the slot of such a name.
            return Ok(tasks.iter().map(|_| Lease::Busy).collect());
        }
        let replies = self.router()?.ask(&requests)?;
        let lease = |(reply, token): (Reply, String)| match reply {
            Reply::Nil => Lease::Taken(token),
            Reply::Bytes(held) if held == REMOVED => Lease::Removed,
            _ => Lease::Busy,
        };
        Ok(replies.into_iter().zip(tokens).map(lease).collect())
    }

    /// Reads both sides, and decides what is to be done. Versions are read first: what is newer than they say by then
    /// has ended the lease.
    fn look_far(&mut self, tasks: Vec<Task>) -> Result<Vec<Found>, Error> {
        let newer = self.newer(&tasks)?;
        let keys: Vec<Vec<u8>> = tasks.iter().map(|task| task.key.clone()).collect();
        let kinds = self.kinds(&keys)?;
        let values = self.read_values(&keys)?;
        let mut contents = Vec::new();
        for (task, kind) in tasks.iter().zip(&kinds) {
            contents.push(match relocation(task).and_then(|it| it.convert) {
                Some(convert) => {
                    let content = self.content(&task.key, kind)?;
                    content.and_then(|content| content.convert(convert, self.pass.now))
                }
                None => None,
            });
        }
        let targets = self.targets(&tasks)?;
        let mut all = Vec::new();
        let sides = tasks.into_iter().zip(kinds).zip(values.into_iter().zip(targets));
        for ((((task, kind), (value, target)), converted), newer) in sides.zip(contents).zip(newer)
        {
            let Value::There { dump, ends } = value else {
                let outcome =
                    if let Value::TooLarge = value { Outcome::TooLarge } else { Outcome::Gone };
                let (source, dump) = (String::new(), Vec::new());
                all.push(Found {
                    task,
                    source,
                    ends: -1,
                    dump,
                    converted: None,
                    target,
                    outcome,
                    deleted: false,
                    placed: Vec::new(),
                });
                continue;
            };
            let source = digest(&dump, ends);
            let (outcome, deleted, placed) = (Outcome::Done, false, Vec::new());
            let mut found =
                Found { task, source, ends, dump, converted, target, outcome, deleted, placed };
            found.outcome = self.judge(&found, &kind)?;
            if found.outcome == Outcome::Done && matches!(found.target, Value::Gone) {
                match newer {
                    Some(newer) => found.deleted = newer,
                    None => found.outcome = Outcome::Unsettled,
                }
            }
            all.push(found);
        }
        Ok(all)
    }

    fn judge(&mut self, found: &Found, kind: &str) -> Result<Outcome, Error> {
        let Some(it) = relocation(&found.task) else { return Ok(Outcome::Gone) };
        if it.convert.is_some() {
            if found.converted.as_ref().is_none_or(Content::is_nothing) {
                return Ok(Outcome::WrongType);
            }
        } else if it.kind.as_deref().is_some_and(|wanted| wanted != kind) {
            return Ok(Outcome::WrongType);
        }
        let Value::There { dump, ends } = &found.target else {
            return Ok(if let Value::TooLarge = found.target {
                Outcome::TooLarge
            } else {
                Outcome::Done
            });
        };
        let same = *ends == found.ends
            && match (&found.converted, it.kind.as_deref()) {
                (Some(wanted), Some(kind)) => {
                    let there = self.content_at(&it.to, kind)?;
                    there.is_some_and(|there| wanted.is_same(&there))
                }
                _ if *dump == found.dump => true,
                // The members of a set or a hash have no order, so that equal ones may be stored differently.
                _ => {
                    let (key, to) = (found.task.key.clone(), it.to.clone());
                    let here = self.content(&key, kind)?;
                    here.is_some() && here == self.content_at(&to, kind)?
                }
            };
        Ok(match (same, it.how) {
            (true, How::Rename) | (false, How::Over) => Outcome::Done,
            (true, _) => Outcome::Same,
            (false, How::Absent) => Outcome::Differs,
            (false, How::Rename) => Outcome::Taken,
        })
    }

    /// Puts values under their new names. Returns the keys that were changed meanwhile.
    fn place(&mut self, all: Vec<(Found, String)>, journal: &Journal) -> Result<Vec<Task>, Error> {
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
            records.push(if it.convert.is_some() {
                Record::Making { db: home, key: to }
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
        let Some(Relocation { to, lease, .. }) = relocation(&found.task) else { return Vec::new() };
        let guard = match &found.target {
            Value::There { dump, ends } => digest(dump, *ends),
            Value::Gone | Value::TooLarge => String::new(),
        };
        let lease = lease.clone().unwrap_or_default();
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

    /// The types of keys, as the server names them.
    pub(super) fn kinds(&mut self, keys: &[Vec<u8>]) -> Result<Vec<String>, Error> {
        let mut requests = Requests::default();
        for key in keys {
            requests.add(&[b"TYPE", key]);
        }
        self.primary.send(&requests)?;
        let mut kinds = Vec::new();
        for _ in keys {
            kinds.push(match self.primary.reply()? {
                Reply::Status(kind) => kind,
                Reply::Error(reply) => settled(&self.primary, &reply).map(|_| String::new())?,
                _ => String::new(),
            });
        }
        Ok(kinds)
    }

    /// What stands under the new names.
    fn targets(&mut self, tasks: &[Task]) -> Result<Vec<Value>, Error> {
        let names: Vec<&[u8]> =
            tasks.iter().filter_map(|task| Some(relocation(task)?.to.as_bytes())).collect();
        let requests = names.iter().flat_map(|name| {
            let of = |command: &'static [u8]| (*name, vec![command, *name]);
            [of(b"DUMP"), of(b"PEXPIRETIME")]
        });
        let requests: Vec<_> = requests.collect();
        let mut replies = self.router()?.ask(&requests)?.into_iter();
        let mut values = Vec::new();
        while let (Some(dump), Some(ends)) = (replies.next(), replies.next()) {
            values.push(self.value(dump, ends)?);
        }
        Ok(values)
    }

    /// The content of an old value; `None` if it is not of a type that is converted.
    fn content(&mut self, key: &[u8], kind: &str) -> Result<Option<Content>, Error> {
        let Some(command) = reading(kind, key) else { return Ok(None) };
        Ok(Content::read(kind, self.primary.command(&command)?))
    }

    /// The content of a new value.
    fn content_at(&mut self, key: &str, kind: &str) -> Result<Option<Content>, Error> {
        let Some(command) = reading(kind, key.as_bytes()) else { return Ok(None) };
        let reply = self.router()?.ask(&[(key.as_bytes(), command)])?.pop();
        Ok(reply.and_then(|reply| Content::read(kind, reply)))
    }
}

/// The command that reads a value of this type.
fn reading<'k>(kind: &str, key: &'k [u8]) -> Option<Vec<&'k [u8]>> {
    let (command, args) = Content::reading(kind)?.split_first()?;
    Some([*command, key].into_iter().chain(args.iter().copied()).collect())
}
