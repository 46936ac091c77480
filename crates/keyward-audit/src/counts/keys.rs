//! What is counted of some keys that belong together.

use super::{Amount, Biggest, LifetimeCounts, NameCounts};
use crate::histogram::Histogram;
use keyward_fact::{Encoding, Fact, KeyType};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The bounds of the TTL buckets, in seconds: a minute, ten, an hour, six, a day, a week, 30
/// days, a year.
pub const TTL_BOUNDS: [u64; 8] = [60, 600, 3_600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000];

/// How many types of modules are counted separately.
const MAX_MODULES: usize = 64;

/// What is counted of some keys that belong together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeyCounts {
    pub(crate) amount: Amount,
    #[serde(with = "types")]
    types: [u64; STORED.len()],
    modules: BTreeMap<String, u64>,
    #[serde(with = "encodings")]
    encodings: [u64; Encoding::ALL.len()],
    /// Keys without a TTL
    pub(crate) persistent: u64,
    /// Keys that had expired; they are in no other number
    pub(crate) expired: u64,
    /// Keys that live longer than declared
    pub(crate) too_long: u64,
    /// Keys with a TTL by [`TTL_BOUNDS`], and those beyond
    pub(crate) buckets: [u64; TTL_BOUNDS.len() + 1],
    /// What is left of TTLs, in seconds
    pub(crate) remaining: Histogram,
    pub(crate) sizes: Histogram,
    pub(crate) lengths: Histogram,
    pub(crate) idle: Histogram,
    pub(crate) freq: Histogram,
    pub(crate) biggest: Biggest,
    #[serde(default)]
    pub(crate) names: NameCounts,
}

impl KeyCounts {
    /// Nothing yet; so many of the biggest keys are wanted.
    pub(crate) fn new(top: usize) -> Self {
        KeyCounts { biggest: Biggest::new(top), ..KeyCounts::default() }
    }

    /// Adds a key; `remaining` is what is left of its TTL, in milliseconds.
    #[inline]
    pub(crate) fn add(&mut self, fact: &Fact<'_>, remaining: Option<u64>) {
        self.amount.add(fact.bytes.unwrap_or(0));
        self.names.add(fact.key);
        match stored_type(fact.key_type) {
            Some(number) => self.types[number] += 1,
            None => self.add_module(fact.key_type.name()),
        }
        if let Some(encoding) = fact.encoding {
            self.encodings[encoding as usize] += 1;
        }
        match remaining {
            None => self.persistent += 1,
            Some(millis) => {
                let seconds = millis / 1000;
                self.buckets[LifetimeCounts::bucket(seconds)] += 1;
                self.remaining.add(seconds);
            }
        }
        if let Some(bytes) = fact.bytes {
            self.sizes.add(bytes);
        }
        if let Some(length) = fact.length {
            self.lengths.add(length);
        }
        if let Some(idle) = fact.idle {
            self.idle.add(idle);
        }
        if let Some(freq) = fact.freq {
            self.freq.add(freq.into());
        }
    }

    #[cold]
    fn add_module(&mut self, name: &str) {
        if let Some(count) = self.modules.get_mut(name) {
            *count += 1;
        } else if self.modules.len() < MAX_MODULES {
            self.modules.insert(name.to_owned(), 1);
        }
    }

    pub(crate) fn merge(&mut self, other: KeyCounts) {
        self.amount.merge(other.amount);
        add_each(&mut self.types, &other.types);
        for (name, count) in other.modules {
            *self.modules.entry(name).or_default() += count;
        }
        add_each(&mut self.encodings, &other.encodings);
        self.persistent += other.persistent;
        self.expired += other.expired;
        self.too_long += other.too_long;
        add_each(&mut self.buckets, &other.buckets);
        self.remaining.merge(&other.remaining);
        self.sizes.merge(&other.sizes);
        self.lengths.merge(&other.lengths);
        self.idle.merge(&other.idle);
        self.freq.merge(&other.freq);
        self.biggest.merge(other.biggest);
        self.names.merge(other.names);
    }

    /// How many keys of each type, as TYPE answers; those that there are.
    pub(crate) fn types(&self) -> BTreeMap<String, u64> {
        let built_in =
            STORED.iter().zip(self.types).map(|(name, count)| ((*name).to_owned(), count));
        let modules = self.modules.iter().map(|(name, count)| (name.clone(), *count));
        built_in.chain(modules).filter(|(_, count)| *count > 0).collect()
    }

    /// How many keys of each encoding, as OBJECT ENCODING answers; those that there are.
    pub(crate) fn encodings(&self) -> BTreeMap<String, u64> {
        let all = Encoding::ALL.iter().zip(self.encodings).filter(|(_, count)| *count > 0);
        all.map(|(encoding, count)| (encoding.name().to_owned(), count)).collect()
    }

    /// Every number that is added when counts are merged.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        let singles =
            [self.amount.keys, self.amount.bytes, self.persistent, self.expired, self.too_long];
        let histograms = [&self.remaining, &self.sizes, &self.lengths, &self.idle, &self.freq];
        (singles.into_iter())
            .chain(self.names.numbers())
            .chain(self.types)
            .chain(self.modules.values().copied())
            .chain(self.encodings)
            .chain(self.buckets)
            .chain(histograms.into_iter().flat_map(Histogram::numbers))
    }
}

const STORED: [&str; 6] = ["string", "hash", "list", "set", "zset", "stream"];

/// The number of a type that every server has.
#[inline]
pub(crate) fn stored_type(key_type: &KeyType) -> Option<usize> {
    match key_type {
        KeyType::String | KeyType::Bitmap | KeyType::HyperLogLog => Some(0),
        KeyType::Hash => Some(1),
        KeyType::List => Some(2),
        KeyType::Set => Some(3),
        KeyType::Zset | KeyType::Geo => Some(4),
        KeyType::Stream => Some(5),
        KeyType::Module(_) => None,
    }
}

fn add_each(ours: &mut [u64], theirs: &[u64]) {
    ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours += theirs);
}

/// In a file, numbers stand by name, so that one more encoding does not change what others mean.
macro_rules! by_name {
    ($module:ident, $names:expr, $len:expr) => {
        mod $module {
            use super::*;
            use serde::de::Error as _;
            use serde::{Deserializer, Serializer};

            pub(super) fn serialize<S: Serializer>(
                counts: &[u64; $len],
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                let named = $names.zip(counts).filter(|(_, count)| **count > 0);
                serializer.collect_map(named)
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<[u64; $len], D::Error> {
                let mut counts = [0; $len];
                for (name, count) in BTreeMap::<String, u64>::deserialize(deserializer)? {
                    let at = $names.position(|known| known == name);
                    let at =
                        at.ok_or_else(|| D::Error::custom(format!("`{name}` is not known")))?;
                    counts[at] = count;
                }
                Ok(counts)
            }
        }
    };
}
by_name!(types, STORED.into_iter(), STORED.len());
by_name!(encodings, Encoding::ALL.into_iter().map(Encoding::name), Encoding::ALL.len());
