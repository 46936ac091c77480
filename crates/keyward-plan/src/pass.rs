//! One pass over all keys of the servers: each key is shown to the work, and what it asks for is looked at or done.
//!
//! A pass remembers nothing. What it meets says whether something is left to do, so that the next one goes on
//! wherever this one ended, however it ended.

use crate::change::Outcome;
use crate::control::Control;
use crate::error::Error;
use crate::export::Export;
use crate::journal::Journal;
use crate::make::name;
use crate::script::Scripts;
use crate::shard::Shard;
use crate::work::Work;
use keyward_audit::Mask;
use keyward_audit::live::{Bound, Primary};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// How many samples a row has.
const SAMPLES: usize = 5;

/// What a pass is to do.
pub(crate) struct Pass<'a> {
    pub(crate) work: &'a dyn Work,
    /// Where changes are noted first; nothing is changed without it
    pub(crate) journal: Option<&'a Journal>,
    pub(crate) bound: Option<Bound>,
    pub(crate) control: &'a Control,
    pub(crate) mask: &'a Mask,
    /// The time, in milliseconds since 1970
    pub(crate) now: u64,
    /// Whether keys may move to another slot although a crash can lose them
    pub(crate) accept_loss: bool,
    pub(crate) scripts: &'a Scripts,
    pub(crate) budget: Budget,
    /// Where it is written what is found about somebody
    pub(crate) export: Option<&'a Export>,
}

/// How much more may be changed, by all threads together.
#[derive(Debug)]
pub(crate) struct Budget(AtomicU64);

impl Budget {
    /// So much, of which some is spent.
    pub(crate) fn new(limit: Option<u64>, spent: u64) -> Self {
        Budget(AtomicU64::new(limit.map_or(u64::MAX, |limit| limit.saturating_sub(spent))))
    }

    /// Takes one; whether there was one.
    pub(crate) fn take(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Gives some back that were not used.
    pub(crate) fn give_back(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }
}

/// What became of the keys of one row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) outcomes: BTreeMap<Outcome, u64>,
    pub(crate) samples: Vec<String>,
    /// Keys that a person must decide about, each with the reason
    pub(crate) conflicts: Vec<String>,
    /// Keys that go to another slot
    pub(crate) far: u64,
    /// Entries of collections that go
    pub(crate) elements: u64,
    /// Keys that have the new name
    pub(crate) new_names: u64,
    /// Copies whose memory was measured, and their bytes
    pub(crate) measured: (u64, u64),
    /// For how many seconds no key was used that is not the same under its new name; none where the server
    /// does not say
    pub(crate) idle: Option<u64>,
    /// Keys of which the server does not say when they were used
    pub(crate) unseen_use: u64,
}

/// What a pass saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) keys: u64,
    pub(crate) rows: Vec<Tally>,
    /// Whether slots of the cluster came or went meanwhile: keys may have gone with them, and were not seen
    pub(crate) moved: bool,
}

impl Tally {
    pub(crate) fn add(&mut self, outcome: Outcome, sample: impl FnOnce() -> String) {
        *self.outcomes.entry(outcome).or_default() += 1;
        if outcome == Outcome::Done && self.samples.len() < SAMPLES {
            self.samples.push(sample());
        } else if outcome.is_conflict() && self.conflicts.len() < SAMPLES {
            let why = name(outcome);
            let why = why.strip_prefix("conflict: ").unwrap_or(&why);
            self.conflicts.push(format!("{}: {why}", sample()));
        }
    }

    pub(crate) fn of(&self, outcome: Outcome) -> u64 {
        self.outcomes.get(&outcome).copied().unwrap_or(0)
    }

    /// How many bytes all copies take, about; `None` if none was measured.
    pub(crate) fn copy_bytes(&self) -> Option<u64> {
        let (count, bytes) = self.measured;
        let all = u128::from(self.of(Outcome::Done)) * u128::from(bytes);
        all.checked_div(count.into()).map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    fn merge(&mut self, other: Tally) {
        for (outcome, count) in other.outcomes {
            *self.outcomes.entry(outcome).or_default() += count;
        }
        self.samples.extend(other.samples);
        self.samples.truncate(SAMPLES);
        self.conflicts.extend(other.conflicts);
        self.conflicts.truncate(SAMPLES);
        self.far += other.far;
        self.elements += other.elements;
        self.new_names += other.new_names;
        self.measured.0 += other.measured.0;
        self.measured.1 += other.measured.1;
        self.unseen_use += other.unseen_use;
        self.idle = [self.idle, other.idle].into_iter().flatten().min();
    }
}

impl Seen {
    /// Nothing yet, of so many rows.
    pub(crate) fn of_rows(rows: usize) -> Self {
        Seen { rows: vec![Tally::default(); rows], ..Seen::default() }
    }

    pub(crate) fn of(&self, outcome: Outcome) -> u64 {
        self.rows.iter().map(|row| row.of(outcome)).sum()
    }

    pub(crate) fn merge(&mut self, other: Seen) {
        self.keys += other.keys;
        self.moved |= other.moved;
        self.rows.resize(self.rows.len().max(other.rows.len()), Tally::default());
        for (row, tally) in self.rows.iter_mut().zip(other.rows) {
            row.merge(tally);
        }
    }
}

impl Pass<'_> {
    /// Looks at all keys of all servers, or changes them.
    pub(crate) fn run(&self, primaries: &mut [Primary]) -> Result<Seen, Error> {
        let before = slots(primaries)?;
        let mut seen = self.walk(primaries)?;
        seen.moved = before.is_none() || before != slots(primaries)?;
        Ok(seen)
    }

    fn walk(&self, primaries: &[Primary]) -> Result<Seen, Error> {
        let rows = self.work.rows().len();
        let shard = |at: usize| Shard::read(self, primaries, at, rows);
        thread::scope(|scope| {
            let threads: Vec<_> =
                (0..primaries.len()).map(|at| scope.spawn(move || shard(at))).collect();
            let mut seen = Seen::of_rows(rows);
            let mut failed = None;
            for thread in threads {
                match thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
                    Ok(one) => seen.merge(one),
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
            failed.map_or(Ok(seen), Err)
        })
    }
}

/// The slots of all servers; `None` while some come or go.
fn slots(primaries: &mut [Primary]) -> Result<Option<Vec<Vec<String>>>, Error> {
    let all = primaries.iter_mut().map(Primary::slots_now);
    Ok(all.collect::<Result<Option<Vec<_>>, _>>()?)
}
