//! What a journal says as a whole: which of its records happened, and which of them count.

use crate::error::Error;
use crate::journal::{Reader, Record};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// What must be known of a journal before its records are taken back. It grows with what did not happen, what was
/// replaced and what was removed more than once, which is little, and not with what was changed; while it is read, with
/// 8 bytes for each value that was removed.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The first record that was not undone before
    start: u64,
    /// Records that did not happen
    not: HashSet<u64>,
    /// Records that an earlier undo has settled
    settled: Vec<Settled>,
    /// Keys whose converted values were put there
    made: HashSet<u128>,
    /// What was first done to a key whose value was replaced, and by which record
    first: HashMap<u128, (First, u64)>,
    /// The last record of a key that was removed more than once
    last: HashMap<u128, u64>,
}

/// Records of these numbers, and the number of the one that says so.
#[derive(Debug, Clone, Copy)]
struct Settled {
    first: u64,
    last: u64,
    by: u64,
}

/// What was first done to a key whose value was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First {
    /// Nothing yet
    Nothing,
    /// This plan made it: what was replaced later was its own
    Made,
    /// Its value was replaced, by the record of this number
    Replaced(u64),
}

impl History {
    /// Reads a journal twice.
    pub(crate) fn read(path: &Path, plan: &str) -> Result<Self, Error> {
        let mut history = History::default();
        let mut removed: Vec<u64> = Vec::new();
        for (number, record) in (0..).zip(Reader::open(path, plan)?) {
            match record? {
                Record::Undone => {
                    history = History { start: number + 1, ..History::default() };
                    removed.clear();
                }
                Record::Not(which) => _ = history.not.insert(which),
                Record::Settled { first, last } => {
                    history.settled.push(Settled { first, last, by: number });
                }
                Record::Made { db, key, .. } => _ = history.made.insert(known(db, &key)),
                Record::Replaced { db, key, .. } => {
                    history.first.insert(known(db, &key), (First::Nothing, number));
                }
                Record::Saved { db, key, .. } => removed.push(short(known(db, &key))),
                _ => {}
            }
        }
        history.settled.sort_unstable_by_key(|it| it.first);
        let again = repeated(removed);
        for (number, record) in (0..).zip(Reader::open(path, plan)?) {
            let record = record?;
            if !history.happened(number) {
                continue;
            }
            let (key, first) = match &record {
                Record::Copied { db, to, .. } => (known(*db, to), First::Made),
                Record::Placed { home, to, .. } => (known(*home, to), First::Made),
                Record::Making { db, key, .. } => (known(*db, key), First::Made),
                Record::Replaced { db, key, .. } => (known(*db, key), First::Replaced(number)),
                Record::Saved { db, key, .. } => {
                    let key = known(*db, key);
                    if again.contains(&short(key)) {
                        history.last.insert(key, number);
                    }
                    continue;
                }
                _ => continue,
            };
            let is_first = |(first, by): &(First, u64)| {
                // What an undo has settled, an apply after it has begun anew.
                *first == First::Nothing || history.settled_by(*by).is_some_and(|by| by < number)
            };
            if history.first.get(&key).is_some_and(is_first) {
                history.first.insert(key, (first, number));
            }
        }
        Ok(history)
    }

    /// Whether a record happened, as far as is known, and is still to be taken back.
    pub(crate) fn counts(&self, number: u64) -> bool {
        self.happened(number) && self.settled_by(number).is_none()
    }

    /// Whether a record happened, as far as is known, since all was undone.
    pub(crate) fn happened(&self, number: u64) -> bool {
        number >= self.start && !self.not.contains(&number)
    }

    /// The record by which an undo has settled another one.
    fn settled_by(&self, number: u64) -> Option<u64> {
        let before = self.settled.partition_point(|it| it.first <= number);
        let near = before.checked_sub(1).and_then(|at| self.settled.get(at));
        near.filter(|it| number <= it.last).map(|it| it.by)
    }

    /// Whether a replaced value is what stood there before the plan.
    pub(crate) fn is_original(&self, db: u64, key: &[u8], number: u64) -> bool {
        self.first.get(&known(db, key)).is_some_and(|it| it.0 == First::Replaced(number))
    }

    /// Whether a removed value is what the plan has removed last of this key.
    pub(crate) fn is_last(&self, db: u64, key: &[u8], number: u64) -> bool {
        self.last.get(&known(db, key)).is_none_or(|last| *last == number)
    }

    /// Whether it was noted that a converted value was put there.
    pub(crate) fn is_made(&self, db: u64, key: &[u8]) -> bool {
        self.made.contains(&known(db, key))
    }
}

/// A key, in less memory.
fn known(db: u64, key: &[u8]) -> u128 {
    let mut sha = sha1_smol::Sha1::from(db.to_le_bytes());
    sha.update(key);
    let digest = sha.digest().bytes();
    digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte))
}

/// In still less, where it does no harm that two keys are taken for one.
#[expect(clippy::cast_possible_truncation, reason = "half of a digest is one")]
fn short(known: u128) -> u64 {
    known as u64
}

/// What is there more than once.
fn repeated(mut all: Vec<u64>) -> HashSet<u64> {
    all.sort_unstable();
    all.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect()
}
