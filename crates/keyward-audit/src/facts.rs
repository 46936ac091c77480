//! What is known of some keys, gathered key by key in bounded memory.

use crate::histogram::Histogram;
use crate::observe::Observed;
use crate::report::{Big, Count, Facts, Ttl, TtlBucket};
use keyward_fact::{Encoding, KeyType};
use keyward_rdb::Key;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The bounds by which TTLs are told apart, in seconds: a minute, ten, an hour, six, a day, a week, 30
/// days, a year.
pub const TTL_BOUNDS: [u64; 8] = [60, 600, 3_600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000];

/// How many types of modules are told apart.
const MAX_MODULES: usize = 64;

/// Gathers the facts of some keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gathered {
    pub(crate) keys: u64,
    pub(crate) bytes: u64,
    types: [u64; 6],
    modules: BTreeMap<String, u64>,
    encodings: [u64; Encoding::ALL.len()],
    pub(crate) persistent: u64,
    pub(crate) expired: u64,
    pub(crate) too_long: u64,
    buckets: [u64; TTL_BOUNDS.len() + 1],
    remaining: Histogram,
    sizes: Histogram,
    lengths: Histogram,
    idle: Histogram,
    freq: Histogram,
    biggest: Vec<Ranked>,
}

/// A big key in its order: the bytes, then the salted hash.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ranked {
    bytes: u64,
    order: u64,
    key: String,
    length: Option<u64>,
    db: u64,
}

impl Gathered {
    /// Adds a key; `remaining` is what is left of its TTL, in milliseconds.
    #[inline]
    pub(crate) fn add(&mut self, key: &Key<'_>, observed: &Observed, remaining: Option<u64>) {
        self.keys += 1;
        match stored_type(key.key_type) {
            Some(number) => self.types[number] += 1,
            None => self.add_module(key.key_type.name()),
        }
        if let Some(encoding) = observed.encoding {
            self.encodings[encoding as usize] += 1;
        }
        match remaining {
            None => self.persistent += 1,
            Some(millis) => {
                let seconds = millis / 1000;
                self.buckets[TTL_BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
                self.remaining.add(seconds);
            }
        }
        if let Some(bytes) = observed.bytes {
            self.bytes += bytes;
            self.sizes.add(bytes);
        }
        if let Some(length) = observed.length {
            self.lengths.add(length);
        }
        if let Some(idle) = key.idle {
            self.idle.add(idle);
        }
        if let Some(freq) = key.freq {
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

    /// Whether a key of so many bytes may be among the biggest; in many definitions all have the same size,
    /// and then its order decides.
    #[inline]
    pub(crate) fn may_rank(
        &self,
        bytes: u64,
        top: usize,
        least_order: impl FnOnce() -> u64,
    ) -> bool {
        match self.biggest.last() {
            Some(last) if self.biggest.len() >= top => {
                bytes > last.bytes || bytes == last.bytes && least_order() <= last.order
            }
            _ => true,
        }
    }

    /// Puts a key among the biggest, if it is one.
    pub(crate) fn rank(
        &mut self,
        (bytes, order): (u64, u64),
        top: usize,
        length: Option<u64>,
        db: u64,
        key: impl FnOnce() -> String,
    ) {
        let at = self
            .biggest
            .partition_point(|big| (Reverse(big.bytes), big.order) < (Reverse(bytes), order));
        if at < top {
            self.biggest.insert(at, Ranked { bytes, order, key: key(), length, db });
            self.biggest.truncate(top);
        }
    }

    /// Takes over what was gathered elsewhere.
    pub(crate) fn absorb(&mut self, other: Gathered, top: usize) {
        self.keys += other.keys;
        self.bytes += other.bytes;
        self.persistent += other.persistent;
        self.expired += other.expired;
        self.too_long += other.too_long;
        add_each(&mut self.types, &other.types);
        add_each(&mut self.encodings, &other.encodings);
        add_each(&mut self.buckets, &other.buckets);
        add_counts(&mut self.modules, &other.modules);
        self.remaining.absorb(&other.remaining);
        self.sizes.absorb(&other.sizes);
        self.lengths.absorb(&other.lengths);
        self.idle.absorb(&other.idle);
        self.freq.absorb(&other.freq);
        for big in other.biggest {
            let Ranked { bytes, order, key, length, db } = big;
            self.rank((bytes, order), top, length, db, || key);
        }
    }

    /// As it stands in a report.
    pub(crate) fn facts(&self, declared: Option<String>) -> Facts {
        let types = STORED.iter().zip(self.types).map(|(name, count)| ((*name).to_owned(), count));
        let modules = self.modules.iter().map(|(name, count)| (name.clone(), *count));
        let encodings = Encoding::ALL.iter().zip(self.encodings);
        let some =
            |histogram: &Histogram| (!histogram.is_empty()).then(|| histogram.distribution());
        Facts {
            keys: self.keys,
            bytes: self.bytes,
            share: 0.0,
            types: types.chain(modules).filter(|(_, count)| *count > 0).collect(),
            encodings: encodings
                .filter(|(_, count)| *count > 0)
                .map(|(encoding, count)| (encoding.name().to_owned(), count))
                .collect(),
            ttl: self.ttl(declared),
            sizes: self.sizes.distribution(),
            lengths: self.lengths.distribution(),
            idle: some(&self.idle),
            freq: some(&self.freq),
            biggest: self.biggest.iter().map(Ranked::big).collect(),
        }
    }

    fn ttl(&self, declared: Option<String>) -> Ttl {
        let bounds = TTL_BOUNDS.into_iter().map(Some).chain([None]);
        let buckets = bounds.zip(self.buckets).map(|(up_to, keys)| TtlBucket { up_to, keys });
        Ttl {
            declared,
            none: self.persistent,
            expiring: self.buckets.iter().sum(),
            expired: self.expired,
            too_long: self.too_long,
            buckets: buckets.collect(),
            remaining: self.remaining.distribution(),
        }
    }
}

impl Ranked {
    fn big(&self) -> Big {
        Big {
            key: self.key.clone(),
            bytes: self.bytes,
            length: self.length,
            db: self.db,
            hash: format!("{:016x}", self.order),
        }
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

impl Facts {
    /// Adds the facts of other keys. Shares are left to whoever knows all bytes.
    pub(crate) fn merge(&mut self, other: &Facts, top: usize) {
        self.keys += other.keys;
        self.bytes += other.bytes;
        add_counts(&mut self.types, &other.types);
        add_counts(&mut self.encodings, &other.encodings);
        self.ttl.merge(&other.ttl);
        self.sizes.merge(&other.sizes);
        self.lengths.merge(&other.lengths);
        for (ours, theirs) in [(&mut self.idle, &other.idle), (&mut self.freq, &other.freq)] {
            if let Some(theirs) = theirs {
                ours.get_or_insert_default().merge(theirs);
            }
        }
        self.biggest.extend(other.biggest.iter().cloned());
        self.biggest.sort_by_cached_key(|big| (Reverse(big.bytes), big.hash.clone()));
        self.biggest.truncate(top);
    }
}

impl Ttl {
    fn merge(&mut self, other: &Ttl) {
        self.none += other.none;
        self.expiring += other.expiring;
        self.expired += other.expired;
        self.too_long += other.too_long;
        for bucket in &other.buckets {
            match self.buckets.iter_mut().find(|known| known.up_to == bucket.up_to) {
                Some(known) => known.keys += bucket.keys,
                None => self.buckets.push(*bucket),
            }
        }
        self.remaining.merge(&other.remaining);
        if self.declared.is_none() {
            self.declared.clone_from(&other.declared);
        }
    }
}

pub(crate) fn add_count(ours: &mut Count, theirs: Count) {
    ours.keys += theirs.keys;
    ours.bytes += theirs.bytes;
}

fn add_each(ours: &mut [u64], theirs: &[u64]) {
    ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours += theirs);
}

fn add_counts(ours: &mut BTreeMap<String, u64>, theirs: &BTreeMap<String, u64>) {
    for (name, count) in theirs {
        *ours.entry(name.clone()).or_default() += count;
    }
}
