//! Takes back what a plan has changed, as its journal says.

use crate::apply::{ApplyOptions, expect_schema};
use crate::control::Control;
use crate::document::Plan;
use crate::error::Error;
use crate::identity;
use crate::journal::{Reader, Record};
use crate::make::open;
use crate::script::{Script, Scripts};
use crate::work;
use keyward_audit::Mask;
use keyward_audit::live::{self, Primary, Reply, Requests};
use keyward_pattern::slot;
use keyward_schema::Schema;
use std::collections::VecDeque;

/// How many records are asked for at once.
const BATCH: usize = 500;

/// A record is taken back only when so many have followed it: what did not happen is noted soon after.
const LATE: usize = 100_000;

/// How many conflicts are shown.
const SHOWN: usize = 20;

/// What was taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undone {
    /// Keys that were taken back
    pub undone: u64,
    /// Keys that were as before already, or whose time is over
    pub same: u64,
    /// Keys that were changed by others since, and stay
    pub conflicts: u64,
    /// Some of these, masked, each with the reason
    pub examples: Vec<String>,
}

/// Takes back what a plan has changed on the servers that a URL names.
///
/// # Errors
/// If the plan cannot be undone, is of other servers, or a server fails. Undoing again goes on.
pub fn undo(
    plan: &Plan,
    url: &str,
    schema: &Schema,
    options: &ApplyOptions,
    mask: &Mask,
    control: &Control,
) -> Result<Undone, Error> {
    let work = work::for_undo(&plan.order, schema)?;
    if let Some(work) = &work {
        expect_schema(plan, schema, &**work)?;
    }
    let mut primaries = open(url, schema, &options.live)?;
    identity::expect(plan, schema, &mut primaries)?;
    let scripts = Scripts::new();
    for primary in &mut primaries {
        scripts.load(primary)?;
    }
    let mut undo = Undo { primaries, scripts, mask, control, undone: Undone::default() };
    // Names first, so that what they had replaced finds its place free.
    undo.names(Reader::open(&options.journal, &plan.id)?)?;
    undo.values(Reader::open(&options.journal, &plan.id)?)?;
    Ok(undo.undone)
}

struct Undo<'a> {
    primaries: Vec<Primary>,
    scripts: Scripts,
    mask: &'a Mask,
    control: &'a Control,
    undone: Undone,
}

/// A call that takes one record back.
struct Step {
    db: u64,
    /// The key whose server is asked
    key: Vec<u8>,
    script: Script,
    keys: Vec<Vec<u8>>,
    args: Vec<Vec<u8>>,
}

impl Undo<'_> {
    /// Takes back moves, copies and ends.
    fn names(&mut self, journal: Reader) -> Result<(), Error> {
        let mut waiting: VecDeque<(u64, Record)> = VecDeque::new();
        let mut steps = Vec::new();
        for (number, record) in (0..).zip(journal) {
            match record? {
                Record::Not(which) => waiting.retain(|(number, _)| *number != which),
                Record::Saved { .. } => {}
                record => waiting.push_back((number, record)),
            }
            if waiting.len() > LATE
                && let Some((_, record)) = waiting.pop_front()
            {
                steps.extend(self.step(record));
                self.take(&mut steps, false)?;
            }
        }
        for (_, record) in waiting {
            steps.extend(self.step(record));
            self.take(&mut steps, false)?;
        }
        self.take(&mut steps, true)
    }

    /// Brings back what was removed or replaced.
    fn values(&mut self, journal: Reader) -> Result<(), Error> {
        let mut steps = Vec::new();
        for record in journal {
            if let Record::Saved { db, key, ends, dump } = record? {
                let script = self.scripts.restore.clone();
                let args = vec![dump, ends.to_string().into_bytes()];
                steps.push(Step { db, keys: vec![key.clone()], key, script, args });
                self.take(&mut steps, false)?;
            }
        }
        self.take(&mut steps, true)
    }

    fn step(&self, record: Record) -> Option<Step> {
        Some(match record {
            Record::Moved { db, from, to } => Step {
                db,
                key: from.clone(),
                script: self.scripts.relocate.clone(),
                keys: vec![to, from],
                args: ["1", "rename", "", ""].map(|arg| arg.as_bytes().to_vec()).to_vec(),
            },
            Record::Copied { db, from, to, new_counts } => Step {
                db,
                key: from.clone(),
                script: self.scripts.back.clone(),
                keys: vec![from, to],
                args: vec![if new_counts { b"1".to_vec() } else { b"0".to_vec() }],
            },
            Record::Shortened { db, key, ends, ttl } => Step {
                db,
                key: key.clone(),
                script: self.scripts.lengthen.clone(),
                keys: vec![key],
                args: vec![ends.to_string().into_bytes(), ttl.to_string().into_bytes()],
            },
            Record::Saved { .. } | Record::Not(_) => return None,
        })
    }

    /// Takes steps, many at once.
    fn take(&mut self, steps: &mut Vec<Step>, all: bool) -> Result<(), Error> {
        if steps.is_empty() || (steps.len() < BATCH && !all) {
            return Ok(());
        }
        self.control.wait()?;
        let steps = std::mem::take(steps);
        for primary in &mut self.primaries {
            let own: Vec<&Step> =
                steps.iter().filter(|step| primary.has(slot(&step.key))).collect();
            for group in own.chunk_by(|one, other| one.db == other.db) {
                let Some(first) = group.first() else { continue };
                primary.select(first.db)?;
                let mut requests = Requests::default();
                for step in group {
                    let keys: Vec<&[u8]> = step.keys.iter().map(Vec::as_slice).collect();
                    let args: Vec<&[u8]> = step.args.iter().map(Vec::as_slice).collect();
                    step.script.call(&mut requests, true, &keys, &args);
                }
                primary.send(&requests)?;
                for step in group {
                    let answer = primary.reply()?;
                    match answer {
                        Reply::Integer(1) => {
                            self.undone.undone += 1;
                            self.control.changed(1);
                        }
                        Reply::Integer(0 | 2) => self.undone.same += 1,
                        Reply::Integer(_) => {
                            self.undone.conflicts += 1;
                            if self.undone.examples.len() < SHOWN {
                                let key = self.mask.unknown(&step.key);
                                self.undone.examples.push(key.to_string());
                            }
                        }
                        Reply::Error(reply) => {
                            let (address, command) = (primary.name.clone(), "a step of the undo");
                            return Err(live::Error::Reply { address, command, reply }.into());
                        }
                        other => {
                            let got = format!("a script was answered with {}", other.kind());
                            let address = primary.name.clone();
                            return Err(live::Error::Garbage { address, got }.into());
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
