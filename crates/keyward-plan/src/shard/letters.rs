//! Dead letters, which are pushed again or removed one by one, with the store's own scripts.

use super::{Shard, Task, settled};
use crate::change::{Grave, Outcome};
use crate::error::Error;
use crate::journal::{Note, Record};
use keyward::shared::{Said, unfit};
use keyward_audit::live::{Reply, Requests};
use keyward_audit::parse_rfc3339;
use keyward_pattern::slot;
use std::time::Instant;

/// How many letters are read at once.
const BATCH: u64 = 100;

/// A dead letter.
struct Letter {
    entry: Vec<u8>,
    note: Option<Vec<u8>>,
    said: Said,
}

/// A letter that leaves the list, and the call that lets it.
struct Leaving {
    letter: Letter,
    call: Vec<Vec<u8>>,
}

impl Shard<'_> {
    /// Lets the letters leave that are there now, the oldest first.
    pub(super) fn unbury(&mut self, task: &Task, grave: &Grave) -> Result<(), Error> {
        self.expect_near(&task.key, grave.queue())?;
        let Some((mut left, ends)) = self.length(task)? else { return Ok(()) };
        let mut kept = 0;
        while left > 0 {
            self.pass.control.wait()?;
            self.lag.wait(self.pass.control)?;
            let began = Instant::now();
            let letters = self.read_letters(task, grave, kept, BATCH.min(left))?;
            let count = letters.len();
            if count == 0 {
                break;
            }
            left = left.saturating_sub(count as u64);
            let mut leaving = Vec::new();
            let mut is_over = false;
            for letter in letters {
                match self.judge_letter(task, grave, letter)? {
                    Ok(_) if !self.pass.budget.take() => {
                        is_over = true;
                        break;
                    }
                    Ok(it) => leaving.push(it),
                    Err(outcome) => {
                        kept += 1;
                        self.note_letter(task, outcome);
                    }
                }
            }
            let (stayed, is_full) = self.let_leave(task, grave, ends, leaving)?;
            kept += stayed;
            self.throttle.rest(count, count as u64, began)?;
            if is_over || is_full {
                break;
            }
        }
        Ok(())
    }

    /// How many letters there are, and when their list ends; `None` if it is not a list.
    fn length(&mut self, task: &Task) -> Result<Option<(u64, i64)>, Error> {
        let length = self.primary.command(&[b"LLEN", &task.key])?;
        let ends = self.primary.command(&[b"PEXPIRETIME", &task.key])?;
        match (length, ends) {
            (Reply::Integer(length), Reply::Integer(ends)) => {
                Ok(Some((u64::try_from(length).unwrap_or(0), ends)))
            }
            (Reply::Error(reply), _) | (_, Reply::Error(reply)) => {
                let outcome = self.refused(&reply)?;
                self.note_letter(task, outcome);
                Ok(None)
            }
            (other, _) => Err(self.odd(&other)),
        }
    }

    fn read_letters(
        &mut self,
        task: &Task,
        grave: &Grave,
        first: u64,
        count: u64,
    ) -> Result<Vec<Letter>, Error> {
        let notes = grave.notes.as_deref().map(str::as_bytes);
        let keys: Vec<&[u8]> = std::iter::once(&task.key[..]).chain(notes).collect();
        let (from, to) = (first.to_string(), (first + count - 1).to_string());
        let mut requests = Requests::default();
        let args = [from.as_bytes(), to.as_bytes()];
        self.pass.scripts.letters.call(&mut requests, false, &keys, &args);
        self.primary.send(&requests)?;
        let letters = match self.primary.reply()? {
            Reply::Array(letters) => letters,
            Reply::Error(reply) => {
                let outcome = self.refused(&reply)?;
                self.note_letter(task, outcome);
                return Ok(Vec::new());
            }
            other => return Err(self.odd(&other)),
        };
        let read = |letter: Reply| {
            let Reply::Array(parts) = letter else { return Err(self.odd(&letter)) };
            let (entry, note) = match <[Reply; 2]>::try_from(parts) {
                Ok([Reply::Bytes(entry), Reply::Bytes(note)]) => (entry, Some(note)),
                Ok([Reply::Bytes(entry), _]) => (entry, None),
                Ok([other, _]) => return Err(self.odd(&other)),
                Err(parts) => return Err(self.odd(&Reply::Array(parts))),
            };
            let said = if grave.notes.is_some() { note.as_deref() } else { Some(&entry[..]) };
            let said = said.and_then(Said::read).unwrap_or_default();
            Ok(Letter { entry, note, said })
        };
        letters.into_iter().map(read).collect()
    }

    /// The call that lets a letter leave, or why it stays.
    fn judge_letter(
        &self,
        task: &Task,
        grave: &Grave,
        letter: Letter,
    ) -> Result<Result<Leaving, Outcome>, Error> {
        let said = &letter.said;
        if said.queue.as_deref().is_some_and(|queue| !grave.is_of(queue)) {
            return Ok(Err(Outcome::Same));
        }
        let failed = said.failed_at.as_deref().and_then(parse_rfc3339);
        if failed.is_some_and(|failed| failed > grave.until) {
            return Ok(Err(Outcome::Later));
        }
        if grave.purges {
            let mut keys = vec![task.key.clone()];
            keys.extend(grave.notes.clone().map(String::into_bytes));
            let mut call = self.pass.scripts.purge.command(keys.len());
            call.extend(keys);
            call.push(letter.entry.clone());
            return Ok(Ok(Leaving { letter, call }));
        }
        let payload = match &grave.notes {
            Some(_) => Some(letter.entry.clone()),
            None => said.payload(grave.is_stream),
        };
        let id = said.id.clone().unwrap_or_default();
        let is_fit = |payload: &Vec<u8>| !grave.is_stream || unfit(payload).is_none();
        let (Some(payload), true) = (payload.filter(is_fit), is_id(&id)) else {
            return Ok(Err(Outcome::NoJob));
        };
        let status = match &id[..] {
            "" => None,
            id => match self.pass.work.status(grave.own(), id) {
                Ok(status) => status,
                Err(_) => return Ok(Err(Outcome::NoJob)),
            },
        };
        if let Some(status) = &status {
            self.expect_near(grave.queue().as_bytes(), &status.key)?;
        }
        let (spec, ttl) = status.as_ref().map_or(("", 0), |it| (it.spec.as_str(), it.ttl));
        let (bound, ttl) = (grave.bound.to_string(), ttl.to_string());
        let noted: &[u8] = if grave.notes.is_some() { b"1" } else { b"0" };
        let count = 8 + usize::from(status.is_some()) + usize::from(grave.notes.is_some());
        let mut call = self.pass.scripts.push[usize::from(grave.is_stream)].command(count);
        call.extend(grave.keys.iter().map(|key| key.clone().into_bytes()));
        call.extend(status.as_ref().map(|it| it.key.clone().into_bytes()));
        call.extend(grave.notes.clone().map(String::into_bytes));
        call.push(task.key.clone());
        let args: [&[u8]; 13] = [
            b"0",
            b"0",
            b"",
            b"",
            bound.as_bytes(),
            spec.as_bytes(),
            ttl.as_bytes(),
            &letter.entry,
            noted,
            b"",
            b"0",
            id.as_bytes(),
            &payload,
        ];
        call.extend(args.map(<[u8]>::to_vec));
        Ok(Ok(Leaving { letter, call }))
    }

    /// Lets letters leave. Returns how many stayed, and whether the queue is full.
    fn let_leave(
        &mut self,
        task: &Task,
        grave: &Grave,
        ends: i64,
        leaving: Vec<Leaving>,
    ) -> Result<(u64, bool), Error> {
        let count = leaving.len() as u64;
        let Some(journal) = self.pass.journal else {
            for _ in &leaving {
                self.note_letter(task, Outcome::Done);
            }
            return Ok((count, false));
        };
        if leaving.is_empty() {
            return Ok((0, false));
        }
        let mut requests = Requests::default();
        let (mut records, db) = (Vec::new(), self.primary.db());
        for Leaving { letter, call } in leaving {
            requests.add(&call.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let key = grave.notes.clone().map(String::into_bytes);
            let note = key.zip(letter.note).map(|(key, text)| Note { key, text });
            let (dead, letter) = (task.key.clone(), letter.entry);
            records.push(Record::Letter { db, dead, ends, letter, note });
        }
        let first = journal.write(&records, true)?;
        self.primary.send(&requests)?;
        let mut outcomes = Vec::new();
        for _ in 0..requests.len() {
            outcomes.push(match self.primary.reply()? {
                Reply::Integer(0) => Outcome::Gone,
                Reply::Integer(_) => Outcome::Done,
                Reply::Error(reply) => self.refused(&reply)?,
                Reply::Array(parts) => match &parts[..] {
                    [Reply::Integer(1), ..] => Outcome::Done,
                    [Reply::Integer(-1), ..] => Outcome::Full,
                    [Reply::Integer(-2), Reply::Bytes(why)] => {
                        self.refused(&String::from_utf8_lossy(why))?
                    }
                    [_, Reply::Bytes(ticket)] if ticket.is_empty() => Outcome::Gone,
                    _ => Outcome::Held,
                },
                other => return Err(self.odd(&other)),
            });
        }
        let not = outcomes.iter().zip(first..).filter(|(it, _)| **it != Outcome::Done);
        let not: Vec<Record> = not.map(|(_, number)| Record::Not(number)).collect();
        journal.write(&not, false)?;
        self.pass.budget.give_back(not.len() as u64);
        for outcome in &outcomes {
            self.note_letter(task, *outcome);
        }
        let stays = |it: &&Outcome| !matches!(it, Outcome::Done | Outcome::Gone);
        let stayed = outcomes.iter().filter(stays).count() as u64;
        Ok((stayed, outcomes.contains(&Outcome::Full)))
    }

    /// Counts a letter; its list is a sample once.
    fn note_letter(&mut self, task: &Task, outcome: Outcome) {
        let sample = self.pass.mask.unknown(&task.key).to_string();
        let tally = &mut self.tallies[task.row];
        tally.add(outcome, || sample.clone());
        if outcome == Outcome::Done {
            tally.samples.dedup();
            self.changed(1);
        }
    }

    fn expect_near(&self, one: &[u8], other: &str) -> Result<(), Error> {
        if !self.primary.is_clustered() || slot(one) == slot(other.as_bytes()) {
            return Ok(());
        }
        Err(Error::refused(
            "the queue, its dead letters and its statuses are in different slots",
            "give their patterns the same hash tag, as in `{#job_type}`",
        ))
    }

    fn refused(&self, reply: &str) -> Result<Outcome, Error> {
        if reply.starts_with("WRONGTYPE") || reply.contains("WRONGTYPE Operation") {
            return Ok(Outcome::WrongType);
        }
        settled(&self.primary, reply)
    }
}

/// Whether a push takes this id, or none.
fn is_id(id: &str) -> bool {
    !id.starts_with('=') && id.len() <= 512 && !id.chars().any(char::is_control)
}
