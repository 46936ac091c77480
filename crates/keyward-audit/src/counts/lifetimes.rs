//! How long all keys will live, whatever they are: definitions' own, derived, under old names, foreign and unknown.

use super::TTL_BOUNDS;
use crate::report::{Lifetimes, TtlBucket};
use serde::{Deserialize, Serialize};

/// How many keys have no TTL, and how many end when.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LifetimeCounts {
    persistent: u64,
    /// By [`TTL_BOUNDS`], and those beyond
    buckets: [u64; TTL_BOUNDS.len() + 1],
}

impl LifetimeCounts {
    /// Adds a key; `remaining` is what is left of its TTL, in milliseconds.
    #[inline]
    pub(crate) fn add(&mut self, remaining: Option<u64>) {
        match remaining {
            None => self.persistent += 1,
            Some(millis) => self.buckets[Self::bucket(millis / 1000)] += 1,
        }
    }

    /// The number of the bucket that a TTL of so many seconds is in.
    #[inline]
    pub(super) fn bucket(seconds: u64) -> usize {
        TTL_BOUNDS.partition_point(|bound| *bound < seconds)
    }

    pub(crate) fn merge(&mut self, other: LifetimeCounts) {
        self.persistent = self.persistent.saturating_add(other.persistent);
        for (ours, theirs) in self.buckets.iter_mut().zip(other.buckets) {
            *ours = ours.saturating_add(theirs);
        }
    }

    /// As a report says it. Counts of an earlier version have no lifetimes, or not of all keys.
    pub(crate) fn of(self, keys: u64) -> Option<Lifetimes> {
        let bounds = TTL_BOUNDS.into_iter().map(Some).chain([None]);
        let buckets = bounds.zip(self.buckets).map(|(up_to, keys)| TtlBucket { up_to, keys });
        let lifetimes = Lifetimes { none: self.persistent, buckets: buckets.collect() };
        let counted = self.numbers().fold(0, u64::saturating_add);
        (counted == keys).then_some(lifetimes)
    }

    /// Every number that is added when counts are merged.
    pub(crate) fn numbers(self) -> impl Iterator<Item = u64> {
        [self.persistent].into_iter().chain(self.buckets)
    }
}
