//! The definition that was perhaps meant by keys that nobody declared.

use super::{Leaf, Leaves};
use keyward_fact::KeyType;
use keyward_rules::judge::{Breach, Why};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// For so many leaves the neighbour is looked for: those with the most keys.
const MOST_NEIGHBOURS: usize = 256;

/// A definition that was perhaps meant, and where a key parts from it. What the key has there is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Near {
    /// The number of the definition
    pub(crate) definition: usize,
    /// The segment where they part, counted from 1
    pub(crate) segment: usize,
    pub(crate) why: Why,
    /// What else does not fit
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) also: Vec<(usize, Why)>,
}

/// What is known of a key that nobody declared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stranger {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) near: Option<Near>,
    /// The number of the schema whose layout it breaks, and where
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) breach: Option<(usize, Breach)>,
}

impl Leaves {
    /// Looks for the neighbours of the leaves with the most keys.
    pub(crate) fn find_neighbours(&mut self, mut look: impl FnMut(&[u8], &KeyType) -> Stranger) {
        let mut leaves = Vec::new();
        self.root.each_mut(&mut |leaf: &mut Leaf| leaves.push(leaf));
        leaves.sort_by_key(|leaf| {
            (Reverse(leaf.keys.amount.keys), leaf.first.as_ref().map(|(order, _)| *order))
        });
        for (at, leaf) in leaves.into_iter().enumerate() {
            let Some((order, (key, key_type))) = leaf.first.take() else { continue };
            let is_first = leaf.near.as_ref().is_none_or(|(known, _)| order < *known);
            if is_first && at < MOST_NEIGHBOURS {
                leaf.near = Some((order, look(&key, &key_type)));
            }
        }
    }
}

impl Leaf {
    pub(crate) fn near(&self) -> Option<&Near> {
        self.near.as_ref()?.1.near.as_ref()
    }

    pub(crate) fn breach(&self) -> Option<&(usize, Breach)> {
        self.near.as_ref()?.1.breach.as_ref()
    }
}
