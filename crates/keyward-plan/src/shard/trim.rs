//! Collections that lose what they have above their bound: that goes into the journal first, piece by piece.

use super::{Shard, TRIES, Task, flag, settled};
use crate::change::{Change, Outcome, Trim};
use crate::error::Error;
use crate::journal::{Journal, Record};
use keyward_audit::live::{self, Reply, Requests};
use std::time::Instant;

/// How many entries go at once: few enough that nobody waits for it.
const PIECE: u64 = 500;

/// What is about to go.
struct Piece {
    /// How many entries are above the bound
    above: u64,
    left: u64,
    edges: Vec<u8>,
    /// By which the server knows again what it has shown
    seen: Vec<u8>,
    kind: Vec<u8>,
    gone: Vec<Vec<u8>>,
}

impl Shard<'_> {
    pub(super) fn trim(&mut self, tasks: Vec<Task>) -> Result<(), Error> {
        if tasks.is_empty() {
            return Ok(());
        }
        let mut requests = Requests::default();
        for task in &tasks {
            self.ask_trim(&mut requests, task, false, 1, b"");
        }
        self.primary.send(&requests)?;
        let mut looks = Vec::new();
        for _ in &tasks {
            looks.push(self.primary.reply()?);
        }
        for (task, reply) in tasks.into_iter().zip(looks) {
            match (self.piece(reply)?, self.pass.journal) {
                (Err(outcome), _) => self.note(&task, outcome),
                (Ok(piece), None) => {
                    self.tallies[task.row].elements += piece.above;
                    self.note(&task, Outcome::Done);
                }
                (Ok(_), Some(journal)) => {
                    let outcome = self.trim_one(&task, journal)?;
                    self.note(&task, outcome);
                }
            }
        }
        Ok(())
    }

    /// Trims one collection to its bound.
    fn trim_one(&mut self, task: &Task, journal: &Journal) -> Result<Outcome, Error> {
        let Change::Trim(Trim { keep, .. }) = &task.change else { return Ok(Outcome::Gone) };
        let (mut outcome, mut tries) = (Outcome::Same, 0);
        while tries < TRIES {
            let began = Instant::now();
            let piece = match self.trim_step(task, false, PIECE, b"").map(|it| self.piece(it))?? {
                Ok(piece) => piece,
                // The last piece is gone.
                Err(Outcome::Same) => return Ok(outcome),
                Err(other) => return Ok(other),
            };
            let count = piece.above.min(PIECE);
            let first = journal.write(
                &[Record::Trimmed {
                    db: self.primary.db(),
                    key: task.key.clone(),
                    kind: piece.kind,
                    kept_first: *keep == "first",
                    left: piece.left,
                    edges: piece.edges,
                    gone: piece.gone,
                }],
                true,
            )?;
            match self.trim_step(task, true, PIECE, &piece.seen).map(|it| self.piece(it))?? {
                Err(Outcome::Done) => {
                    (outcome, tries) = (Outcome::Done, 0);
                    self.tallies[task.row].elements += count;
                }
                other => {
                    journal.write(&[Record::Not(first)], false)?;
                    match other {
                        Err(Outcome::Unsaved) | Ok(_) => tries += 1,
                        Err(other) => return Ok(other),
                    }
                }
            }
            self.pass.control.wait()?;
            self.lag.wait(self.pass.control)?;
            self.throttle.rest(1, 2, began)?;
        }
        Ok(Outcome::Unsettled)
    }

    fn trim_step(
        &mut self,
        task: &Task,
        act: bool,
        most: u64,
        seen: &[u8],
    ) -> Result<Reply, Error> {
        let mut requests = Requests::default();
        self.ask_trim(&mut requests, task, act, most, seen);
        self.primary.send(&requests)?;
        Ok(self.primary.reply()?)
    }

    fn ask_trim(&self, requests: &mut Requests, task: &Task, act: bool, most: u64, seen: &[u8]) {
        let Change::Trim(it) = &task.change else { return };
        let (max, most) = (it.max.to_string(), most.to_string());
        let args = [
            flag(act),
            it.kind.as_bytes(),
            max.as_bytes(),
            it.keep.as_bytes(),
            most.as_bytes(),
            seen,
        ];
        self.pass.scripts.trim.call(requests, act, &[&task.key], &args);
    }

    /// What would go, or what became of the collection.
    fn piece(&self, reply: Reply) -> Result<Result<Piece, Outcome>, Error> {
        let odd = |what: String| {
            let got = format!("a script was answered with {what}");
            Error::from(live::Error::Garbage { address: self.primary.name.clone(), got })
        };
        let mut parts = match reply {
            Reply::Integer(code) => {
                let outcome = Outcome::of(code);
                return outcome.map(Err).ok_or_else(|| odd(format!("the number {code}")));
            }
            Reply::Error(why) => return settled(&self.primary, &why).map(Err),
            Reply::Array(parts) => parts.into_iter(),
            other => return Err(odd(other.kind())),
        };
        let mut number = || match parts.next() {
            Some(Reply::Integer(number)) => u64::try_from(number).ok(),
            _ => None,
        };
        let (Some(above), Some(left)) = (number(), number()) else {
            return Err(odd("another list".to_owned()));
        };
        let mut texts = Vec::new();
        for part in parts {
            match part {
                Reply::Bytes(text) => texts.push(text),
                Reply::Skipped => return Ok(Err(Outcome::TooLarge)),
                _ => return Err(odd("another list".to_owned())),
            }
        }
        let mut texts = texts.into_iter();
        let (Some(edges), Some(seen), Some(kind)) = (texts.next(), texts.next(), texts.next())
        else {
            return Err(odd("another list".to_owned()));
        };
        Ok(Ok(Piece { above, left, edges, seen, kind, gone: texts.collect() }))
    }
}
