//! Keys and values that name somebody who is forgotten: exported, and removed without a copy.

use super::{Shard, TRIES, Task, flag, settled};
use crate::change::{Change, Forgetting, Look, Outcome, Place};
use crate::error::Error;
use crate::export;
use crate::journal::Record;
use keyward_audit::live::{Reply, Requests};
use std::sync::Arc;

/// How many values one call looks for.
const CHUNK: usize = 1000;

/// What was found of what is looked for, for each look.
type Found = Vec<Vec<Vec<u8>>>;

/// A key as it was read in one step.
struct Whole {
    kind: String,
    digest: Vec<u8>,
    ends: i64,
    content: Reply,
}

impl Shard<'_> {
    /// Removes what names somebody, or looks for it.
    pub(super) fn forget(&mut self, tasks: &[Task]) -> Result<(), Error> {
        let found = self.look_for(tasks)?;
        for (task, found) in tasks.iter().zip(found) {
            let Change::Forget(it) = &task.change else { continue };
            let it = Arc::clone(it);
            if it.lists {
                self.erase_listed(task, &it)?;
                continue;
            }
            if it.looks.is_empty() {
                self.erase(task, &it, None)?;
                continue;
            }
            let Some(found) = found else {
                self.note_forgotten(task, Outcome::WrongType, 1)?;
                continue;
            };
            let whole = |at: &usize| !found[*at].is_empty() && it.looks[*at].place.takes_key();
            if let Some(at) = (0..found.len()).find(whole) {
                self.erase(task, &it, Some(&it.looks[at]))?;
                continue;
            }
            for (look, found) in it.looks.iter().zip(&found).filter(|(_, it)| !it.is_empty()) {
                self.erase_part(task, &it, look, found)?;
            }
        }
        Ok(())
    }

    /// What is in the values that is looked for, for each look of each key; `None` for a key of another type.
    fn look_for(&mut self, tasks: &[Task]) -> Result<Vec<Option<Found>>, Error> {
        let mut requests = Requests::default();
        let mut owners = Vec::new();
        for (number, task) in tasks.iter().enumerate() {
            let Change::Forget(it) = &task.change else { continue };
            for (at, look) in it.looks.iter().enumerate() {
                for chunk in look.wanted.chunks(CHUNK) {
                    self.ask_for(&mut requests, false, &task.key, look, chunk);
                    owners.push((number, at));
                }
            }
        }
        let mut all: Vec<Option<Found>> = tasks
            .iter()
            .map(|task| match &task.change {
                Change::Forget(it) => Some(vec![Vec::new(); it.looks.len()]),
                _ => None,
            })
            .collect();
        if requests.is_empty() {
            return Ok(all);
        }
        self.primary.send(&requests)?;
        for (number, at) in owners {
            match self.primary.reply()? {
                Reply::Array(found) => {
                    if let Some(looks) = &mut all[number] {
                        looks[at].extend(texts(found));
                    }
                }
                Reply::Integer(_) => all[number] = None,
                // It is looked for again in the next pass.
                Reply::Error(reply) => {
                    let outcome = settled(&self.primary, &reply)?;
                    self.note_forgotten(&tasks[number], outcome, 1)?;
                }
                other => return Err(self.odd(&other)),
            }
        }
        Ok(all)
    }

    fn ask_for(
        &self,
        requests: &mut Requests,
        act: bool,
        key: &[u8],
        look: &Look,
        wanted: &[Vec<u8>],
    ) {
        let (word, field) = look.place.words();
        let mut args: Vec<&[u8]> = vec![flag(act), word.as_bytes(), field.as_bytes()];
        args.extend(wanted.iter().map(Vec::as_slice));
        self.pass.scripts.forget.call(requests, act, &[key], &args);
    }

    /// Removes a whole key, if it is still what was read, and what was looked for is still there.
    fn erase(&mut self, task: &Task, it: &Forgetting, look: Option<&Look>) -> Result<(), Error> {
        for _ in 0..TRIES {
            let whole = match self.read_whole(&task.key)? {
                Ok(whole) => whole,
                Err(outcome) => return self.note_forgotten(task, outcome, 1),
            };
            if let Some(look) = look
                && self.part(task, look, false, &look.wanted)?.is_empty()
            {
                return self.note_forgotten(task, Outcome::Gone, 1);
            }
            if let Some(export) = &self.pass.export {
                if is_skipped(&whole.content) {
                    return self.note_forgotten(task, Outcome::TooLarge, 1);
                }
                let value = (whole.kind.as_str(), whole.ends, &whole.content);
                let db = self.primary.db();
                export.write(&[export::key(&it.definition, &task.key, db, value)])?;
            }
            if self.pass.journal.is_none() {
                self.pass.work.found(&task.key);
                return self.note_forgotten(task, Outcome::Done, 1);
            }
            let mut requests = Requests::default();
            let beside = it.beside.iter().map(String::as_bytes);
            let keys: Vec<&[u8]> = std::iter::once(&task.key[..]).chain(beside).collect();
            let args: [&[u8]; 3] = [b"1", &whole.digest, b"0"];
            self.pass.scripts.remove.call(&mut requests, true, &keys, &args);
            let outcome = self.outcomes(&requests)?.pop().unwrap_or(Outcome::Unsettled);
            if outcome != Outcome::Unsaved {
                return self.note_forgotten(task, outcome, 1);
            }
        }
        self.note_forgotten(task, Outcome::Unsettled, 1)
    }

    /// Removes keys from a sorted set that lists keys, whether they are there or not.
    fn erase_listed(&mut self, task: &Task, it: &Forgetting) -> Result<(), Error> {
        let mut cursor = b"0".to_vec();
        loop {
            self.pass.control.wait()?;
            let answer =
                self.primary.command(&[b"ZSCAN", &task.key, &cursor, b"COUNT", b"1000"])?;
            let parts = match answer {
                Reply::Array(parts) => parts,
                Reply::Error(reply) if reply.starts_with("WRONGTYPE") => {
                    return self.note_forgotten(task, Outcome::WrongType, 1);
                }
                Reply::Error(reply) => {
                    let outcome = settled(&self.primary, &reply)?;
                    return self.note_forgotten(task, outcome, 1);
                }
                other => return Err(self.odd(&other)),
            };
            let Ok([Reply::Bytes(next), Reply::Array(pairs)]) = <[Reply; 2]>::try_from(parts)
            else {
                return Err(self.odd(&Reply::Nil));
            };
            let members = texts(pairs).step_by(2);
            let theirs: Vec<Vec<u8>> = members.filter(|it| self.pass.work.is_theirs(it)).collect();
            if !theirs.is_empty() {
                let look = Look { place: Place::Sorted, wanted: Arc::new(theirs) };
                self.erase_part(task, it, &look, &look.wanted)?;
            }
            if next == b"0" {
                return Ok(());
            }
            cursor = next;
        }
    }

    /// Removes members, entries or a field from a value that stays.
    fn erase_part(
        &mut self,
        task: &Task,
        it: &Forgetting,
        look: &Look,
        found: &[Vec<u8>],
    ) -> Result<(), Error> {
        if let Some(export) = &self.pass.export {
            let (word, field) = look.place.words();
            let place = if field.is_empty() { word } else { field };
            let db = self.primary.db();
            export.write(&[export::part(&it.definition, &task.key, db, place, found)])?;
        }
        let count = match self.pass.journal {
            Some(_) => self.part(task, look, true, found)?.len() as u64,
            None => found.len() as u64,
        };
        self.note_forgotten(task, Outcome::Done, count)
    }

    fn part(
        &mut self,
        task: &Task,
        look: &Look,
        act: bool,
        wanted: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, Error> {
        let mut found = Vec::new();
        for chunk in wanted.chunks(CHUNK) {
            let mut requests = Requests::default();
            self.ask_for(&mut requests, act, &task.key, look, chunk);
            self.primary.send(&requests)?;
            match self.primary.reply()? {
                Reply::Array(part) => found.extend(texts(part)),
                Reply::Integer(_) => {}
                Reply::Error(reply) => {
                    let outcome = settled(&self.primary, &reply)?;
                    self.note_forgotten(task, outcome, 1)?;
                }
                other => return Err(self.odd(&other)),
            }
        }
        Ok(found)
    }

    fn read_whole(&mut self, key: &[u8]) -> Result<Result<Whole, Outcome>, Error> {
        let mut requests = Requests::default();
        self.pass.scripts.read.call(&mut requests, false, &[key], &[]);
        self.primary.send(&requests)?;
        match self.primary.reply()? {
            Reply::Nil => Ok(Err(Outcome::Gone)),
            Reply::Error(reply) => Ok(Err(settled(&self.primary, &reply)?)),
            Reply::Array(parts) => match <[Reply; 4]>::try_from(parts) {
                Ok([Reply::Bytes(kind), Reply::Bytes(digest), Reply::Integer(ends), content]) => {
                    let kind = String::from_utf8_lossy(&kind).into_owned();
                    Ok(Ok(Whole { kind, digest, ends, content }))
                }
                _ => Err(self.odd(&Reply::Nil)),
            },
            other => Err(self.odd(&other)),
        }
    }

    /// Counts, and notes in the journal, without what it was. No key is a sample.
    fn note_forgotten(&mut self, task: &Task, outcome: Outcome, count: u64) -> Result<(), Error> {
        if count == 0 {
            return Ok(());
        }
        *self.tallies[task.row].outcomes.entry(outcome).or_default() += count;
        if outcome != Outcome::Done {
            return Ok(());
        }
        self.changed(count);
        if let Some(journal) = self.pass.journal {
            let (row, server) = (task.row as u64, self.primary.name.clone().into_bytes());
            journal.write(&[Record::Erased { row, server, count }], false)?;
        }
        Ok(())
    }
}

fn texts(replies: Vec<Reply>) -> impl Iterator<Item = Vec<u8>> {
    replies.into_iter().filter_map(|reply| match reply {
        Reply::Bytes(text) => Some(text),
        _ => None,
    })
}

fn is_skipped(content: &Reply) -> bool {
    match content {
        Reply::Skipped => true,
        Reply::Array(items) => items.iter().any(is_skipped),
        _ => false,
    }
}
