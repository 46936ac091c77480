//! Values that name other keys, and the names that there are: samples of both, see [`Rare`].

use crate::hash::{Rarity, Salt};
use crate::mask::Masked;
use crate::rare::{KEPT, RAREST, Rare};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A value in the order in which values are kept.
pub(crate) type Value = (Rarity, u64);

/// Names that references may have: the keys of one definition, or the values of a parameter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pool {
    names: Rare,
    /// Names of keys that do not have the declared type
    mistyped: Rare,
}

impl Pool {
    #[inline]
    pub(crate) fn add(&mut self, salt: Salt, name: &[u8], mistyped: bool) {
        if mistyped { self.mistyped.add(salt, name) } else { self.names.add(salt, name) }
    }

    pub(super) fn merge(&mut self, other: &Pool) {
        self.names.merge(&other.names);
        self.mistyped.merge(&other.mistyped);
    }

    pub(super) fn tidy(&mut self) {
        self.names.tidy();
        self.mistyped.tidy();
    }

    /// Whether there is a key of this name and, if so, whether it has the declared type.
    fn find(&self, value: &Value) -> Option<bool> {
        let mistyped = || self.mistyped.has(value).then_some(false);
        self.names.has(value).then_some(true).or_else(mistyped)
    }

    fn least(&self) -> Rarity {
        self.names.least().max(self.mistyped.least())
    }
}

/// The values of one reference.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub(crate) struct References {
    /// The least rarity that is kept
    least: Rarity,
    /// Values that resolve, or of which the sample of names is too small to tell
    settled: BTreeSet<Value>,
    open: BTreeMap<Value, Referrer>,
}

/// Who has a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Referrer {
    /// Where a key of this name would be; `None` where there can be none
    pub(crate) pool: Option<usize>,
    /// The pool and the place of the value without the schema's prefix, where that would be another key
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bare: Option<(usize, Value)>,
    /// The order of the key that has the value: the first is kept
    pub(crate) order: u64,
    pub(crate) key: Masked,
    pub(crate) value: Masked,
}

/// What is known of one value.
#[derive(Debug)]
pub(crate) struct Lookup<'r> {
    /// Whether it can be a key of a definition that it is declared to name
    pub(crate) fits: bool,
    /// Whether the key of that name has its declared type, where there is one
    pub(crate) found: Option<bool>,
    /// How many values it stands for
    pub(crate) weight: u64,
    pub(crate) referrer: Option<&'r Referrer>,
}

impl References {
    /// The place of a value, if it is kept.
    #[inline]
    pub(crate) fn wants(&self, salt: Salt, value: &[u8]) -> Option<Value> {
        let rarity = salt.rarity(value);
        (rarity >= self.least).then(|| (rarity, salt.hash(value)))
    }

    /// Keeps a value; `referrer` is asked unless an earlier key has it.
    pub(crate) fn add(&mut self, value: Value, order: u64, referrer: impl FnOnce() -> Referrer) {
        if self.open.get(&value).is_none_or(|known| order < known.order)
            && self.open.insert(value, referrer()).is_none()
        {
            self.bound();
        }
    }

    pub(super) fn merge(&mut self, other: References) {
        self.least = self.least.max(other.least);
        self.settled.extend(other.settled);
        for (value, referrer) in other.open {
            let earlier = self.open.get(&value).is_none_or(|known| referrer.order < known.order);
            if earlier {
                self.open.insert(value, referrer);
            }
        }
        let settled = &self.settled;
        self.open.retain(|value, _| !settled.contains(value));
        self.bound();
    }

    /// Keeps only so many, the rarest.
    fn bound(&mut self) {
        let least = self.least;
        if self.open.keys().next().is_some_and(|(rarity, _)| *rarity < least)
            || self.settled.first().is_some_and(|(rarity, _)| *rarity < least)
        {
            self.retain();
        }
        while self.open.len() + self.settled.len() > KEPT && self.least < RAREST {
            self.least += 1;
            self.retain();
        }
    }

    fn retain(&mut self) {
        self.open = self.open.split_off(&(self.least, 0));
        self.settled = self.settled.split_off(&(self.least, 0));
    }

    /// Forgets who has a value that resolves: no other key can change that.
    pub(super) fn settle(&mut self, pools: &[Pool], targets: &[usize]) {
        let least = self.comparable(pools, targets);
        let open = std::mem::take(&mut self.open);
        for (value, referrer) in open {
            let target = referrer.pool.filter(|pool| targets.contains(pool));
            let is_settled =
                |pool: usize| value.0 < least || pools[pool].find(&value) == Some(true);
            if target.is_some_and(is_settled) {
                self.settled.insert(value);
            } else {
                self.open.insert(value, referrer);
            }
        }
    }

    /// The least rarity at which both values and the names that they should have are kept.
    fn comparable(&self, pools: &[Pool], targets: &[usize]) -> Rarity {
        let pools = targets.iter().map(|pool| pools[*pool].least());
        pools.fold(self.least, Rarity::max)
    }

    /// What is known of each value, once references were [resolved](super::Counts::resolve); and whether that is of
    /// a sample.
    pub(crate) fn lookups(&self, pools: &[Pool], targets: &[usize]) -> (Vec<Lookup<'_>>, bool) {
        let least = self.comparable(pools, targets);
        // A value that cannot be a key is known for certain. Of the others, only these are compared.
        let weight = 1u64.checked_shl(u32::from(least - self.least)).unwrap_or(u64::MAX);
        let settled = self.settled.iter().filter(|(rarity, _)| *rarity >= least);
        let settled =
            settled.map(|_| Lookup { fits: true, found: Some(true), weight, referrer: None });
        let open = self.open.iter().map(|(value, referrer)| {
            let fits = referrer.pool.is_some_and(|pool| targets.contains(&pool));
            let found = referrer.pool.and_then(|pool| pools[pool].find(value));
            let bare = || referrer.bare.and_then(|(pool, value)| pools[pool].find(&value));
            let found = found.or_else(bare);
            let weight = if fits { weight } else { 1 };
            Lookup { fits, found, weight, referrer: Some(referrer) }
        });
        (settled.chain(open).collect(), least > 0)
    }

    pub(super) fn fits(&self, pools: usize) -> bool {
        let bare = self.open.values().filter_map(|it| it.bare).map(|(pool, _)| pool);
        self.open.values().filter_map(|it| it.pool).chain(bare).all(|pool| pool < pools)
    }
}

/// The same in a file.
#[derive(Serialize, Deserialize)]
struct Stored {
    settled: Rare,
    open: Vec<(Rarity, u64, Referrer)>,
}

impl From<References> for Stored {
    fn from(References { least, settled, open }: References) -> Self {
        let open = open.into_iter().map(|((rarity, hash), it)| (rarity, hash, it));
        Stored { settled: Rare::of(least, settled), open: open.collect() }
    }
}

impl From<Stored> for References {
    fn from(Stored { settled, open }: Stored) -> Self {
        let least = settled.least();
        let open = open.into_iter().map(|(rarity, hash, it)| ((rarity.min(RAREST), hash), it));
        let mut read =
            References { least, settled: settled.values().collect(), open: open.collect() };
        read.bound();
        read
    }
}
