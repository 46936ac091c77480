//! Which key follows which, where keys of a definition name each other.

use crate::hash::Salt;
use crate::mask::Masked;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The most references that are followed: a cycle cannot be found in a sample.
pub(crate) const MOST: usize = 65_536;

/// The references of keys of a definition to each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Chains {
    /// How many references there are
    seen: u64,
    /// Whether there are too many to follow
    too_many: bool,
    #[serde(with = "steps")]
    steps: BTreeMap<u64, Step>,
}

/// A reference to the next key.
#[derive(Debug, Clone, PartialEq)]
struct Step {
    to: u64,
    /// The key that has it: never leaves the process
    key: Option<(u64, String)>,
    shown: Option<Masked>,
}

impl Chains {
    pub(crate) fn add(&mut self, salt: Salt, (db, key): (u64, &str), next: &[u8]) {
        self.seen += 1;
        let step = Step { to: salt.hash(next), key: Some((db, key.to_owned())), shown: None };
        self.insert(salt.hash(key.as_bytes()), step);
    }

    fn insert(&mut self, from: u64, step: Step) {
        if !self.too_many {
            self.steps.insert(from, step);
            self.bound();
        }
    }

    fn bound(&mut self) {
        if self.steps.len() > MOST {
            self.too_many = true;
            self.steps.clear();
        }
    }

    pub(super) fn merge(&mut self, other: Chains) {
        self.seen = self.seen.saturating_add(other.seen);
        self.too_many |= other.too_many;
        if self.too_many {
            self.steps.clear();
        }
        for (from, step) in other.steps {
            self.insert(from, step);
        }
    }

    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    pub(crate) fn too_many(&self) -> bool {
        self.too_many
    }

    /// The keys that follow from themselves, cycle by cycle, each from its least hash.
    pub(crate) fn cycles(&self) -> Vec<Vec<u64>> {
        let (mut cycles, mut done) = (Vec::new(), BTreeSet::new());
        for start in self.steps.keys() {
            let (mut path, mut at) = (Vec::new(), *start);
            while let Some(step) = self.steps.get(&at).filter(|_| done.insert(at)) {
                path.push(at);
                at = step.to;
            }
            if let Some(first) = path.iter().position(|it| *it == at) {
                let mut cycle = path.split_off(first);
                let least = cycle.iter().enumerate().min_by_key(|(_, hash)| **hash);
                let least = least.map_or(0, |(at, _)| at);
                cycle.rotate_left(least);
                cycles.push(cycle);
            }
        }
        cycles.sort();
        cycles
    }

    /// The key with a hash, and the hash of the next.
    pub(crate) fn step(&self, from: u64) -> Option<(&(u64, String), u64)> {
        let step = self.steps.get(&from)?;
        Some((step.key.as_ref()?, step.to))
    }

    pub(crate) fn shown(&self, from: u64) -> Option<&Masked> {
        self.steps.get(&from)?.shown.as_ref()
    }

    /// Takes back a reference that turned out not to be there any more.
    pub(crate) fn take_back(&mut self, from: u64) {
        self.steps.remove(&from);
    }

    /// Forgets all keys, and masks those that may be in a cycle: of a source that is `whole`, those that are.
    pub(crate) fn hide(&mut self, whole: bool, mask: impl Fn(u64, &str) -> Masked) {
        if whole {
            let cycles: BTreeSet<u64> = self.cycles().into_iter().flatten().collect();
            self.steps.retain(|from, _| cycles.contains(from));
        }
        for step in self.steps.values_mut() {
            if let Some((db, key)) = step.key.take() {
                step.shown = Some(mask(db, &key));
            }
        }
    }
}

/// The same in a file.
mod steps {
    use super::{Masked, Step};
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};
    use std::collections::BTreeMap;

    pub(super) fn serialize<S: Serializer>(
        steps: &BTreeMap<u64, Step>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let all: Vec<_> = steps.iter().map(|(from, it)| (from, it.to, &it.shown)).collect();
        all.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<u64, Step>, D::Error> {
        let all = Vec::<(u64, u64, Option<Masked>)>::deserialize(deserializer)?;
        let all = all.into_iter().take(super::MOST);
        Ok(all.map(|(from, to, shown)| (from, Step { to, key: None, shown })).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Salt;

    fn of(steps: &[(&str, &str)]) -> Chains {
        let mut chains = Chains::default();
        for (from, to) in steps {
            chains.add(Salt::of("test"), (0, from), to.as_bytes());
        }
        chains
    }

    fn sizes(chains: &Chains) -> Vec<usize> {
        let mut sizes: Vec<usize> = chains.cycles().iter().map(Vec::len).collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn only_keys_that_follow_from_themselves_are_in_a_cycle() {
        let chains = of(&[("a", "b"), ("b", "c"), ("c", "root")]);
        assert!(chains.cycles().is_empty());
        let steps = [("a", "b"), ("b", "c"), ("c", "b"), ("self", "self"), ("x", "a")];
        let mut chains = of(&steps);
        assert_eq!(sizes(&chains), [1, 2]);
        chains.merge(of(&[("root", "a"), ("p", "q"), ("q", "p")]));
        assert_eq!(sizes(&chains), [1, 2, 2]);
        chains.hide(true, |_, _| unreachable_mask());
        assert_eq!(chains.steps.len(), 5);
    }

    fn unreachable_mask() -> Masked {
        crate::mask::Mask::new(Salt::of("test"), false, &[]).unknown(b"key")
    }

    #[test]
    fn more_references_than_fit_are_not_followed() {
        let mut chains = Chains::default();
        for number in 0..=MOST {
            chains.add(Salt::of("test"), (0, &number.to_string()), b"next");
        }
        assert!(chains.too_many() && chains.cycles().is_empty());
        assert_eq!(chains.seen(), MOST as u64 + 1);
    }
}
