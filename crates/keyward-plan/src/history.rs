//! What a journal says as a whole: which of its records happened, and which of them count.

use crate::error::Error;
use crate::journal::{Reader, Record};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// What must be known of a journal before its records are taken back. It grows with what did not happen and
/// what was replaced, which is little, and not with what was changed.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The first record that was not undone before
    start: u64,
    /// Records that did not happen
    not: HashSet<u64>,
    /// Keys whose converted values were put there
    made: HashSet<u128>,
    /// What was first done to a key whose value was replaced
    first: HashMap<u128, First>,
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
        for (number, record) in (0..).zip(Reader::open(path, plan)?) {
            match record? {
                Record::Undone => history = History { start: number + 1, ..History::default() },
                Record::Not(which) => _ = history.not.insert(which),
                Record::Made { key, .. } => _ = history.made.insert(known(&key)),
                Record::Replaced { key, .. } => {
                    history.first.insert(known(&key), First::Nothing);
                }
                _ => {}
            }
        }
        for (number, record) in (0..).zip(Reader::open(path, plan)?) {
            let record = record?;
            if !history.counts(number) {
                continue;
            }
            let (key, first) = match &record {
                Record::Copied { to, .. } | Record::Placed { to, .. } => (to, First::Made),
                Record::Making { key, .. } => (key, First::Made),
                Record::Replaced { key, .. } => (key, First::Replaced(number)),
                _ => continue,
            };
            if let Some(it @ First::Nothing) = history.first.get_mut(&known(key)) {
                *it = first;
            }
        }
        Ok(history)
    }

    /// Whether a record happened, as far as is known, and was not undone before.
    pub(crate) fn counts(&self, number: u64) -> bool {
        number >= self.start && !self.not.contains(&number)
    }

    /// Whether a replaced value is what stood there before the plan.
    pub(crate) fn is_original(&self, key: &[u8], number: u64) -> bool {
        self.first.get(&known(key)) == Some(&First::Replaced(number))
    }

    /// Whether it was noted that a converted value was put there.
    pub(crate) fn is_made(&self, key: &[u8]) -> bool {
        self.made.contains(&known(key))
    }
}

/// A key, in less memory.
fn known(key: &[u8]) -> u128 {
    let digest = sha1_smol::Sha1::from(key).digest().bytes();
    digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte))
}
