//! The shape of a server's radix tree, from its keys in order.
//!
//! MEMORY USAGE counts a stream's radix trees by their nodes, 244 bytes each, which for a stream of
//! few entries is most of what it counts.

/// Counts the nodes of a radix tree of stream identifiers, which come in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Rax {
    keys: u64,
    nodes: u64,
    last: [u8; LENGTH],
    /// The depths at which the path to the last key branches, ascending, as a set of bits.
    branches: u32,
}

const LENGTH: usize = 16;

impl Rax {
    /// Adds the next key.
    pub(crate) fn insert(&mut self, key: [u8; LENGTH]) {
        if self.keys > 0 {
            let common = key.iter().zip(&self.last).take_while(|(a, b)| a == b).count();
            if common == LENGTH {
                return;
            }
            let depth = u32::try_from(common).unwrap_or(0);
            // The last key's leaf hangs from its deepest branch, or from the new one.
            let deepest = self.deepest().map_or(depth, |deepest| deepest.max(depth));
            self.leaf(deepest);
            while let Some(deepest) = self.deepest().filter(|deepest| *deepest > depth) {
                self.branches &= !(1 << deepest);
                let parent = self.deepest().map_or(depth, |parent| parent.max(depth));
                self.nodes += 1 + u64::from(deepest > parent + 1);
            }
            self.branches |= 1 << depth;
        }
        self.keys += 1;
        self.last = key;
    }

    /// How many keys and how many nodes it has.
    pub(crate) fn size(mut self) -> (u64, u64) {
        if self.keys == 0 {
            return (0, 1);
        }
        let Some(deepest) = self.deepest() else { return (1, 2) };
        self.leaf(deepest);
        while let Some(deepest) = self.deepest() {
            self.branches &= !(1 << deepest);
            self.nodes += 1;
            match self.deepest() {
                Some(parent) => self.nodes += u64::from(deepest > parent + 1),
                // What all keys share is one node at the root.
                None => self.nodes += u64::from(deepest > 0),
            }
        }
        (self.keys, self.nodes)
    }

    fn deepest(&self) -> Option<u32> {
        self.branches.checked_ilog2()
    }

    /// A leaf, and one node for the bytes between it and its branch.
    fn leaf(&mut self, branch: u32) {
        self.nodes += 1 + u64::from(LENGTH > branch as usize + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Counts by the definition: a node for every branch, every leaf, and every stretch between.
    fn nodes(keys: &[[u8; LENGTH]], depth: usize) -> u64 {
        if depth == LENGTH {
            return 1;
        }
        let next: BTreeSet<u8> = keys.iter().map(|key| key[depth]).collect();
        let below = |byte: u8| -> Vec<_> {
            keys.iter().filter(|key| key[depth] == byte).copied().collect()
        };
        if next.len() == 1 {
            let shared = (depth..LENGTH)
                .take_while(|at| keys.iter().all(|key| key[*at] == keys[0][*at]))
                .count();
            return 1 + nodes(keys, depth + shared);
        }
        1 + next.into_iter().map(|byte| nodes(&below(byte), depth + 1)).sum::<u64>()
    }

    #[test]
    fn an_empty_tree_is_a_root_and_one_key_is_two_nodes() {
        assert_eq!(Rax::default().size(), (0, 1));
        let mut one = Rax::default();
        one.insert([7; LENGTH]);
        assert_eq!(one.size(), (1, 2));
    }

    proptest! {
        #[test]
        fn nodes_are_counted_as_defined(keys in proptest::collection::btree_set(
            (0u8..3, 0u8..2, any::<u8>(), 14usize..17), 1..40)) {
            let keys: BTreeSet<[u8; LENGTH]> = keys.into_iter().map(|(a, b, c, at)| {
                let mut key = [0; LENGTH];
                key[3] = a;
                key[8] = b;
                key[at - 1] = c;
                key
            }).collect();
            let keys: Vec<_> = keys.into_iter().collect();
            let mut rax = Rax::default();
            for key in &keys {
                rax.insert(*key);
            }
            prop_assert_eq!(rax.size(), (keys.len() as u64, nodes(&keys, 0)));
        }
    }
}
