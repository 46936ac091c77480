//! What is counted of one definition.

use super::{Amount, Example, Examples, KeyCounts};
use crate::outline::OutlinedDefinition;
use crate::sketch::Sketch;
use serde::{Deserialize, Serialize};

/// What is counted of one definition's keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DefinitionCounts {
    pub(crate) keys: KeyCounts,
    /// The values of each parameter
    pub(crate) params: Vec<Sketch>,
    /// Keys that a role or a strategy added beside the definition's own
    pub(crate) derived: Amount,
    /// Keys of which something is declared that only their values or lengths show, and that were not read
    pub(crate) unread: u64,
    /// Hashes with fields that are declared to expire, and whose TTLs were not read
    pub(crate) ttls_unread: u64,
    /// Elements that were read: entries of streams, items of lists, members, fields
    pub(crate) elements: u64,
    /// Values that were read in part
    pub(crate) in_part: u64,
    /// The most elements that were read of one of those
    pub(crate) most_in_part: u64,
    /// What was wrong, by its slot
    pub(crate) broken: Vec<Broken>,
}

/// Keys with which something is wrong.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Broken {
    pub(crate) amount: Amount,
    /// Elements of those keys that are wrong, where elements are judged
    pub(crate) elements: u64,
    pub(crate) examples: Examples,
}

impl DefinitionCounts {
    pub(crate) fn new(params: usize, top: usize) -> Self {
        DefinitionCounts {
            keys: KeyCounts::new(top),
            params: vec![Sketch::default(); params],
            derived: Amount::default(),
            unread: 0,
            ttls_unread: 0,
            elements: 0,
            in_part: 0,
            most_in_part: 0,
            broken: Vec::new(),
        }
    }

    /// Counts a key with which something is wrong, and its elements that are; `example` is asked for one that is kept.
    pub(crate) fn break_slot(
        &mut self,
        (slot, elements): (usize, u64),
        bytes: u64,
        order: u64,
        example: impl FnOnce() -> Example,
    ) {
        if self.broken.len() <= slot {
            self.broken.resize_with(slot + 1, Broken::default);
        }
        self.broken[slot].add(bytes, order, example);
        self.broken[slot].elements += elements;
    }

    pub(super) fn merge(&mut self, other: DefinitionCounts) {
        self.keys.merge(other.keys);
        self.params.iter_mut().zip(&other.params).for_each(|(ours, theirs)| ours.merge(theirs));
        self.derived.merge(other.derived);
        self.unread += other.unread;
        self.ttls_unread += other.ttls_unread;
        self.elements += other.elements;
        self.in_part += other.in_part;
        self.most_in_part = self.most_in_part.max(other.most_in_part);
        if self.broken.len() < other.broken.len() {
            self.broken.resize_with(other.broken.len(), Broken::default);
        }
        self.broken.iter_mut().zip(other.broken).for_each(|(ours, theirs)| ours.merge(theirs));
    }

    pub(super) fn fits(&self, outlined: &OutlinedDefinition) -> bool {
        self.params.len() == outlined.params.len() && self.broken.len() <= outlined.slots.len()
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        let broken =
            self.broken.iter().flat_map(|it| [it.amount.keys, it.amount.bytes, it.elements]);
        let own = [self.derived.keys, self.derived.bytes, self.unread, self.ttls_unread]
            .into_iter()
            .chain([self.elements, self.in_part]);
        self.keys.numbers().chain(own).chain(broken)
    }
}

impl Broken {
    pub(crate) fn add(&mut self, bytes: u64, order: u64, example: impl FnOnce() -> Example) {
        self.amount.add(bytes);
        if self.examples.want(order) {
            self.examples.add(example());
        }
    }

    pub(super) fn merge(&mut self, other: Broken) {
        self.amount.merge(other.amount);
        self.elements += other.elements;
        self.examples.merge(other.examples);
    }
}
