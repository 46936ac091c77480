//! Keys that stand for others: the biggest, and examples of what is wrong.

use crate::mask::Masked;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// How many examples are kept.
const EXAMPLES: usize = 3;

/// The biggest of some keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Biggest {
    /// How many are wanted
    top: usize,
    keys: Vec<Ranked>,
}

/// A big key in its order: the bytes, then the salted order of its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ranked {
    pub(crate) bytes: u64,
    pub(crate) order: u64,
    pub(crate) key: Masked,
    pub(crate) length: Option<u64>,
    pub(crate) db: u64,
}

impl Ranked {
    fn rank(&self) -> (Reverse<u64>, u64) {
        (Reverse(self.bytes), self.order)
    }
}

impl Biggest {
    pub(super) fn new(top: usize) -> Self {
        Biggest { top, keys: Vec::new() }
    }

    /// Whether a key of so many bytes may be among them; in many definitions all have the same size, and
    /// then its order decides.
    #[inline]
    pub(crate) fn may_rank(&self, bytes: u64, least_order: impl FnOnce() -> u64) -> bool {
        match self.keys.last() {
            Some(last) if self.keys.len() >= self.top => {
                bytes > last.bytes || bytes == last.bytes && least_order() <= last.order
            }
            _ => self.top > 0,
        }
    }

    /// Puts a key among them, if it is one of them.
    pub(crate) fn rank(
        &mut self,
        (bytes, order): (u64, u64),
        length: Option<u64>,
        db: u64,
        key: impl FnOnce() -> Masked,
    ) {
        let at = self.keys.partition_point(|big| big.rank() < (Reverse(bytes), order));
        if at < self.top {
            self.keys.insert(at, Ranked { bytes, order, key: key(), length, db });
            self.keys.truncate(self.top);
        }
    }

    pub(super) fn merge(&mut self, other: Biggest) {
        self.top = self.top.max(other.top);
        self.keys.extend(other.keys);
        self.keys.sort_by_key(Ranked::rank);
        self.keys.truncate(self.top);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Ranked> {
        self.keys.iter()
    }
}

/// Some of the keys of a kind: those that come first in the salted order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Examples(Vec<Example>);

/// A key that stands for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Example {
    pub(crate) order: u64,
    pub(crate) key: Masked,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<Detail>,
}

/// What a key has that is wrong, where that says more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Detail {
    /// Its type
    Type(String),
    /// What is left of its TTL, in milliseconds
    Ttl(u64),
    /// A field that is not declared
    Field(Masked),
    /// How many entries it has
    Entries(u64),
    /// How many bytes it has
    Bytes(u64),
}

impl Examples {
    /// Whether a key at this place of the order would be kept.
    #[inline]
    pub(crate) fn want(&self, order: u64) -> bool {
        self.0.len() < EXAMPLES || self.0.last().is_some_and(|last| order < last.order)
    }

    pub(crate) fn add(&mut self, example: Example) {
        let at = self.0.partition_point(|known| known.order < example.order);
        // A scan may return a key twice.
        if self.0.get(at).is_none_or(|known| known.order != example.order) {
            self.0.insert(at, example);
            self.0.truncate(EXAMPLES);
        }
    }

    pub(crate) fn merge(&mut self, other: Examples) {
        other.0.into_iter().for_each(|example| self.add(example));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Example> {
        self.0.iter()
    }
}
