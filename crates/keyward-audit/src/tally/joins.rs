//! What refers to other keys, and what is referred to: both are sampled.

use super::Pass;
use crate::plan::{Audit, Planned, PlannedJoin, Side};
use keyward_fact::Piece;
use std::ops::Range;

impl Pass {
    /// Notes a reference to another key; what is cut off cannot be one.
    #[inline]
    pub(super) fn refer(&mut self, audit: &Audit, join: usize, value: Piece<'_>) {
        if value.is_whole() {
            let value = audit.joins[join].without_prefix(value.bytes);
            self.note(audit, join, Side::Left, value);
        }
    }

    #[inline]
    pub(super) fn note(&mut self, audit: &Audit, join: usize, side: Side, value: &[u8]) {
        let (left, right) = &mut self.counts.joins[join];
        let sample = match side {
            Side::Left => left,
            Side::Right => right,
        };
        sample.add(audit.mask.salt, value);
    }

    pub(super) fn note_joins(
        &mut self,
        audit: &Audit,
        planned: &Planned,
        key: &[u8],
        places: &[Range<usize>],
    ) {
        for (param, place) in planned.params.iter().zip(places) {
            for join in &param.sought {
                self.note(audit, *join, Side::Right, &key[place.clone()]);
            }
        }
        for join in &planned.sought {
            self.note(audit, *join, Side::Right, audit.joins[*join].without_prefix(key));
        }
        for join in &planned.renamed {
            let values = places.iter().map(|place| &key[place.clone()]);
            self.note(audit, *join, Side::Left, &entity(values));
        }
    }
}

impl PlannedJoin {
    #[inline]
    fn without_prefix<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        // Most references have none, which their first byte says without a call.
        if self.prefix.first() != key.first() {
            return key;
        }
        key.strip_prefix(self.prefix.as_slice()).unwrap_or(key)
    }
}

/// The values of an entity's parameters, in a row.
pub(super) fn entity<'v>(values: impl Iterator<Item = &'v [u8]>) -> Vec<u8> {
    let mut all = Vec::new();
    for value in values {
        all.extend((value.len() as u64).to_le_bytes());
        all.extend(value);
    }
    all
}
