//! The definition that was perhaps meant by keys that nobody declared.

use super::{Leaf, Leaves};
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
    pub(crate) parting: Parting,
}

/// How a key parts from a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Parting {
    /// Another word stands where the pattern has this one
    Word(String),
    /// This word stands there, in other capitals
    Capitals(String),
    /// This word stands there, misspelt
    Misspelt(String),
    RawAddress,
    Braces,
    /// No value of this type
    Type(String),
    /// Nothing that fits this segment
    Value(String),
    /// The key ends where the pattern has this segment
    Short(String),
    Long,
    Together,
}

impl Leaves {
    /// Looks for the neighbours of the leaves with the most keys.
    pub(crate) fn find_neighbours(&mut self, mut nearest: impl FnMut(&[u8]) -> Option<Near>) {
        let mut leaves = Vec::new();
        self.root.each_mut(&mut |leaf: &mut Leaf| leaves.push(leaf));
        leaves.sort_by_key(|leaf| {
            (Reverse(leaf.keys.amount.keys), leaf.first.as_ref().map(|(order, _)| *order))
        });
        for (at, leaf) in leaves.into_iter().enumerate() {
            let Some((order, key)) = leaf.first.take() else { continue };
            let is_first = leaf.near.as_ref().is_none_or(|(known, _)| order < *known);
            if is_first && at < MOST_NEIGHBOURS {
                leaf.near = Some((order, nearest(&key)));
            }
        }
    }
}

impl Leaf {
    pub(crate) fn near(&self) -> Option<&Near> {
        self.near.as_ref()?.1.as_ref()
    }
}
