//! Members that name keys which are gone or say otherwise: what is removed goes into the journal first.
//!
//! A store may list a key before it writes it. So a member is found wrong several times before it is removed, and in one
//! step with a last look where both keys are in one slot; elsewhere the last look follows, and brings it back.

use super::{Shard, Task, settled};
use crate::change::{Outcome, Reference};
use crate::error::Error;
use crate::journal::{Journal, Record};
use keyward_audit::live::{Reply, Requests};
use std::thread;
use std::time::Duration;

/// How often a member must be found wrong, and how long apart: longer than a change takes.
const ROUNDS: usize = 3;
const APART: Duration = Duration::from_millis(100);

/// A set that is being read.
struct Reading {
    task: Task,
    is_sorted: bool,
    cursor: Vec<u8>,
    outcome: Outcome,
}

/// A member that may be wrong.
struct Suspect {
    /// Which of the sets has it
    set: usize,
    member: Vec<u8>,
    reference: Reference,
    /// What the field says
    says: Vec<u8>,
}

impl Shard<'_> {
    pub(super) fn prune(&mut self, tasks: Vec<Task>) -> Result<(), Error> {
        let keys: Vec<Vec<u8>> = tasks.iter().map(|task| task.key.clone()).collect();
        let kinds = self.kinds(&keys)?;
        let mut sets = Vec::new();
        for (task, kind) in tasks.into_iter().zip(kinds) {
            match kind.as_str() {
                "set" | "zset" => sets.push(Reading {
                    task,
                    is_sorted: kind == "zset",
                    cursor: b"0".to_vec(),
                    outcome: Outcome::Same,
                }),
                "none" => self.note(&task, Outcome::Gone),
                "" => self.note(&task, Outcome::Unsettled),
                _ => self.note(&task, Outcome::WrongType),
            }
        }
        while !sets.is_empty() {
            self.pass.control.wait()?;
            let suspects = self.next_members(&mut sets)?;
            let wrong = self.still_wrong(&mut sets, suspects)?;
            match self.pass.journal {
                None => {
                    for it in &wrong {
                        let set = &mut sets[it.set];
                        set.outcome = Outcome::Done;
                        self.tallies[set.task.row].elements += 1;
                    }
                }
                Some(journal) => self.remove_members(&mut sets, wrong, journal)?,
            }
            let mut open = Vec::new();
            for set in sets {
                if set.cursor == b"0" {
                    self.note(&set.task, set.outcome);
                } else {
                    open.push(set);
                }
            }
            sets = open;
        }
        Ok(())
    }

    /// Some more members of each set, as far as they name something.
    fn next_members(&mut self, sets: &mut [Reading]) -> Result<Vec<Suspect>, Error> {
        let mut requests = Requests::default();
        for set in &*sets {
            let scan: &[u8] = if set.is_sorted { b"ZSCAN" } else { b"SSCAN" };
            requests.add(&[scan, &set.task.key, &set.cursor, b"COUNT", b"500"]);
        }
        self.primary.send(&requests)?;
        let mut suspects = Vec::new();
        for (number, set) in sets.iter_mut().enumerate() {
            let reply = self.primary.reply()?;
            set.cursor = b"0".to_vec();
            let Reply::Array(parts) = reply else {
                if let Reply::Error(reply) = reply {
                    set.outcome = settled(&self.primary, &reply)?;
                }
                continue;
            };
            let Ok([Reply::Bytes(cursor), Reply::Array(members)]) = <[Reply; 2]>::try_from(parts)
            else {
                continue;
            };
            set.cursor = cursor;
            let step = if set.is_sorted { 2 } else { 1 };
            for member in members.into_iter().step_by(step) {
                let Reply::Bytes(member) = member else { continue };
                let work = self.pass.work;
                if let Some(reference) = work.refers(set.task.row, &set.task.key, &member) {
                    suspects.push(Suspect { set: number, member, reference, says: Vec::new() });
                }
            }
        }
        Ok(suspects)
    }

    /// The members that are wrong now; before they are removed, those that stay so.
    fn still_wrong(
        &mut self,
        sets: &mut [Reading],
        mut suspects: Vec<Suspect>,
    ) -> Result<Vec<Suspect>, Error> {
        let rounds = if self.pass.journal.is_some() { ROUNDS } else { 1 };
        for round in 0..rounds {
            if suspects.is_empty() {
                break;
            }
            if round > 0 {
                thread::sleep(APART);
            }
            suspects = self.wrong(sets, suspects)?;
        }
        Ok(suspects)
    }

    fn wrong(
        &mut self,
        sets: &mut [Reading],
        suspects: Vec<Suspect>,
    ) -> Result<Vec<Suspect>, Error> {
        let request = |it: &'_ Suspect| -> Option<(Vec<u8>, Vec<Vec<u8>>)> {
            let (command, key, field) = match &it.reference {
                Reference::Key(key) => ("EXISTS", key, None),
                Reference::Field(key, field) => ("HGET", key, Some(field)),
                Reference::Wrong => return None,
            };
            let parts = [command, key].into_iter().chain(field.map(String::as_str));
            Some((key.clone().into_bytes(), parts.map(|it| it.as_bytes().to_vec()).collect()))
        };
        let owned: Vec<_> = suspects.iter().filter_map(request).collect();
        let requests: Vec<(&[u8], Vec<&[u8]>)> = owned
            .iter()
            .map(|(key, parts)| (key.as_slice(), parts.iter().map(Vec::as_slice).collect()))
            .collect();
        let mut replies = self.router()?.ask(&requests)?.into_iter();
        let mut wrong = Vec::new();
        for mut it in suspects {
            let set = &mut sets[it.set];
            let is_wrong = match &it.reference {
                Reference::Wrong => true,
                _ => match replies.next() {
                    Some(Reply::Integer(0)) => true,
                    Some(Reply::Bytes(says)) => {
                        it.says = says;
                        self.pass.work.contradicts(set.task.row, &set.task.key, &it.says)
                    }
                    Some(Reply::Error(reply)) if !reply.starts_with("WRONGTYPE") => {
                        set.outcome = settled(&self.primary, &reply)?;
                        false
                    }
                    _ => false,
                },
            };
            if is_wrong {
                wrong.push(it);
            }
        }
        Ok(wrong)
    }

    fn remove_members(
        &mut self,
        sets: &mut [Reading],
        wrong: Vec<Suspect>,
        journal: &Journal,
    ) -> Result<(), Error> {
        if wrong.is_empty() {
            return Ok(());
        }
        let records = self.members(sets, &wrong)?;
        let first = journal.write(&records, true)?;
        let mut requests = Requests::default();
        let mut far = Vec::new();
        for (it, record) in wrong.iter().zip(&records) {
            let Record::Pruned { key, member, score, .. } = record else { continue };
            let (own, field) = match &it.reference {
                Reference::Key(own) => (Some(own), ""),
                Reference::Field(own, field) => (Some(own), field.as_str()),
                Reference::Wrong => (None, ""),
            };
            let near = own.filter(|own| !self.is_far(key, own));
            far.push(own.is_some() && near.is_none());
            let keys: Vec<&[u8]> =
                std::iter::once(&key[..]).chain(near.map(String::as_bytes)).collect();
            let args = [&member[..], score, field.as_bytes(), &it.says];
            self.pass.scripts.prune.call(&mut requests, true, &keys, &args);
        }
        let outcomes = self.outcomes(&requests)?;
        let not = outcomes.iter().zip(first..).filter(|(it, _)| **it != Outcome::Done);
        let not: Vec<Record> = not.map(|(_, number)| Record::Not(number)).collect();
        journal.write(&not, false)?;
        let mut unsure = Vec::new();
        for (((it, outcome), record), far) in wrong.into_iter().zip(outcomes).zip(records).zip(far)
        {
            let set = &mut sets[it.set];
            match outcome {
                Outcome::Done => {
                    set.outcome = Outcome::Done;
                    self.tallies[set.task.row].elements += 1;
                    if far {
                        unsure.push((it, record));
                    }
                }
                Outcome::Unsettled => set.outcome = outcome,
                _ => {}
            }
        }
        self.bring_back_members(sets, unsure)
    }

    /// What is to be noted of members before they are removed.
    fn members(&mut self, sets: &[Reading], wrong: &[Suspect]) -> Result<Vec<Record>, Error> {
        let mut requests = Requests::default();
        for it in wrong {
            let set = &sets[it.set];
            requests.add(&[b"PEXPIRETIME", &set.task.key]);
            if set.is_sorted {
                requests.add(&[b"ZSCORE", &set.task.key, &it.member]);
            }
        }
        self.primary.send(&requests)?;
        let mut records = Vec::new();
        for it in wrong {
            let set = &sets[it.set];
            // Where a slot moves, the step that follows says so.
            let ends = match self.primary.reply()? {
                Reply::Integer(ends) => ends,
                _ => -1,
            };
            let score = match set.is_sorted.then(|| self.primary.reply()).transpose()? {
                Some(Reply::Bytes(score)) => score,
                _ => Vec::new(),
            };
            let (db, key, member) = (self.primary.db(), set.task.key.clone(), it.member.clone());
            records.push(Record::Pruned { db, key, ends, member, score });
        }
        Ok(records)
    }

    /// Brings back members whose keys, in another slot, were written meanwhile.
    fn bring_back_members(
        &mut self,
        sets: &mut [Reading],
        removed: Vec<(Suspect, Record)>,
    ) -> Result<(), Error> {
        for (it, record) in removed {
            let Record::Pruned { key, ends, member, score, .. } = record else { continue };
            if !self.wrong(sets, vec![it])?.is_empty() {
                continue;
            }
            let ends = ends.to_string();
            let mut requests = Requests::default();
            let args = [&member[..], &score, ends.as_bytes()];
            self.pass.scripts.rejoin.call(&mut requests, true, &[&key], &args);
            self.outcomes(&requests)?;
        }
        Ok(())
    }
}
