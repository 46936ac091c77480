//! Values that name other keys, and the names that there are: samples of both, see [`Rare`].

use crate::hash::{Rarity, Salt};
use crate::mask::Masked;
use crate::rare::{KEPT, RAREST, Rare};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

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
#[serde(try_from = "Stored", into = "Stored")]
pub(crate) struct References {
    /// The least rarity that is kept
    least: Rarity,
    /// Values that resolve, or of which the sample of names is too small to tell; and how often they were seen
    settled: BTreeMap<Value, u64>,
    open: BTreeMap<Value, Referrer>,
}

/// Who has a value, and how often it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Referrer {
    /// Where a key of this name would be; `None` where there can be none
    pub(crate) pool: Option<usize>,
    /// The pool and the place of the value without the schema's prefix, where that would be another key
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bare: Option<(usize, Value)>,
    /// How many references have it
    pub(crate) count: u64,
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
    /// How many references it stands for
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

    /// Counts a value; `referrer` is asked unless an earlier key has it.
    pub(crate) fn add(&mut self, value: Value, order: u64, referrer: impl FnOnce() -> Referrer) {
        match self.open.get_mut(&value) {
            Some(known) if order >= known.order => known.count += 1,
            Some(known) => *known = Referrer { count: known.count + 1, ..referrer() },
            None => {
                self.open.insert(value, referrer());
                self.bound();
            }
        }
    }

    pub(super) fn merge(&mut self, other: References) {
        self.least = self.least.max(other.least);
        for (value, count) in other.settled {
            *self.settled.entry(value).or_default() += count;
        }
        for (value, referrer) in other.open {
            match self.open.entry(value) {
                Entry::Vacant(free) => drop(free.insert(referrer)),
                Entry::Occupied(mut known) => {
                    let count = known.get().count + referrer.count;
                    let is_earlier = referrer.order < known.get().order;
                    if is_earlier {
                        known.insert(referrer);
                    }
                    known.get_mut().count = count;
                }
            }
        }
        for (value, count) in &mut self.settled {
            *count += self.open.remove(value).map_or(0, |referrer| referrer.count);
        }
        self.bound();
    }

    /// Keeps only so many, the rarest.
    fn bound(&mut self) {
        let least = self.least;
        if self.open.keys().next().is_some_and(|(rarity, _)| *rarity < least)
            || self.settled.keys().next().is_some_and(|(rarity, _)| *rarity < least)
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
                self.settled.insert(value, referrer.count);
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
        let settled = self.settled.iter().filter(|((rarity, _), _)| *rarity >= least);
        let settled = settled.map(|(_, count)| Lookup {
            fits: true,
            found: Some(true),
            weight: weight.saturating_mul(*count),
            referrer: None,
        });
        let open = self.open.iter().map(|(value, referrer)| {
            let fits = referrer.pool.is_some_and(|pool| targets.contains(&pool));
            let found = referrer.pool.and_then(|pool| pools[pool].find(value));
            let bare = || referrer.bare.and_then(|(pool, value)| pools[pool].find(&value));
            let found = found.or_else(bare);
            let weight = if fits { weight } else { 1 }.saturating_mul(referrer.count);
            Lookup { fits, found, weight, referrer: Some(referrer) }
        });
        (settled.chain(open).collect(), least > 0)
    }

    /// Every number that is added when references are merged.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.settled.values().copied().chain(self.open.values().map(|it| it.count))
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
    /// How often each was seen, in the same order
    counts: Vec<u64>,
    open: Vec<(Rarity, u64, Referrer)>,
}

impl From<References> for Stored {
    fn from(References { least, settled, open }: References) -> Self {
        let open = open.into_iter().map(|((rarity, hash), it)| (rarity, hash, it));
        let counts = settled.values().copied().collect();
        Stored { settled: Rare::of(least, settled.into_keys()), counts, open: open.collect() }
    }
}

impl TryFrom<Stored> for References {
    type Error = &'static str;

    fn try_from(Stored { settled, counts, open }: Stored) -> Result<Self, Self::Error> {
        if settled.values().count() != counts.len() {
            return Err("its references are not all counted");
        }
        let least = settled.least();
        let open = open.into_iter().map(|(rarity, hash, it)| ((rarity.min(RAREST), hash), it));
        let mut read = References {
            least,
            settled: settled.values().zip(counts).collect(),
            open: open.collect(),
        };
        read.bound();
        Ok(read)
    }
}
