//! What is kept of a keyspace of any size: a sample of its keys in which rare families have their share.
//!
//! Each key has a fixed hash, and belongs to several strata: the keys of its *skeleton* (its words, with values
//! replaced by their form), of its *shape* (its forms alone), and of each of its words at its place in that shape. A
//! stratum keeps the keys with the smallest hashes, and of too many strata those with the smallest hashes are kept. What
//! is kept therefore depends only on the set of keys: not on their order, and not on how they were distributed to
//! sketches that were merged.
//!
//! How many keys a kept one stands for follows from the fullest of its strata: see [`Sketch::samples`].

use crate::content::Content;
use crate::cut::{cut, separator};
use crate::form::{LONGEST_WORD, atoms, skeleton};
use crate::hash::{hash, join};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The most skeletons that are kept apart, and the keys kept of all of them together.
const SKELETONS: usize = 4096;
const SKELETON_KEYS: usize = 131_072;
/// The fewest and the most keys of one skeleton.
const FEWEST: usize = 32;
const MOST: usize = 1024;
/// The most shapes, and keys of one.
const SHAPES: usize = 192;
const SHAPE_KEYS: usize = 256;
/// The places of a shape at which words are kept apart, how many words, and how many keys of each.
const PLACES: usize = 6;
const WORDS: usize = 32;
const WORD_KEYS: usize = 3;
/// The longest key that is kept whole.
pub(crate) const LONGEST_KEY: usize = 512;

/// A key, and what is known about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Observed {
    /// The number of its database
    pub db: u64,
    /// Its name
    pub key: Box<[u8]>,
    /// The type, as the server's TYPE answers
    pub key_type: Box<str>,
    /// What is left of its TTL, in milliseconds
    pub ttl: Option<u64>,
    /// For how many seconds it had not been used
    pub idle: Option<u64>,
    /// For how many seconds it has been there, if its value says so
    pub age: Option<u64>,
    /// Bytes of a string, elements of a collection
    pub length: Option<u64>,
    /// What its value holds; `None` where it was not read
    pub content: Option<Content>,
}

impl Observed {
    /// A key of which no more is known yet.
    pub fn new(db: u64, key: &[u8], key_type: &str) -> Self {
        Observed {
            db,
            key: key.into(),
            key_type: key_type.into(),
            ttl: None,
            idle: None,
            age: None,
            length: None,
            content: None,
        }
    }
}

/// A kept key.
#[derive(Debug, Clone)]
pub(crate) struct Sample<'s> {
    pub(crate) observed: &'s Observed,
    /// How many keys it stands for
    pub(crate) weight: f64,
}

/// A sample of a keyspace. Sketches of parts of it can be merged.
#[derive(Debug, Clone, Default)]
pub struct Sketch {
    keys: u64,
    /// Keys that no pattern can have: too long
    long: u64,
    skeletons: BTreeMap<u64, Stratum>,
    shapes: BTreeMap<u64, Shape>,
    kept: HashMap<u64, Observed>,
    /// Keys whose shape is not kept
    others: Stratum,
    /// What kept keys are in no stratum any more is found out when there are too many
    since: usize,
}

#[derive(Debug, Clone, Default)]
struct Shape {
    all: Stratum,
    /// By place and word
    words: BTreeMap<(u8, u64), Stratum>,
}

/// The keys with the smallest hashes.
#[derive(Debug, Clone, Default)]
struct Stratum {
    hashes: BTreeSet<u64>,
    /// Whether keys may have been left out
    full: bool,
}

/// The strata that a key belongs to.
struct Strata {
    hash: u64,
    skeleton: u64,
    shape: u64,
    words: Vec<(u8, u64)>,
}

impl Sketch {
    /// Whether a key would be kept, so that it is worth reading its value. While other keys are observed, the answer
    /// may change from yes to no, never back.
    pub fn wants(&self, db: u64, key: &[u8]) -> bool {
        key.len() <= LONGEST_KEY && self.takes(&Strata::of(db, key))
    }

    /// Counts a key that [`wants`](Sketch::wants) refused.
    pub fn pass_over(&mut self, key: &[u8]) {
        self.keys += 1;
        self.long += u64::from(key.len() > LONGEST_KEY);
    }

    /// Counts a key, and keeps it if it is among those to keep.
    pub fn observe(&mut self, observed: Observed) {
        if observed.key.len() > LONGEST_KEY {
            self.pass_over(&observed.key);
            return;
        }
        self.keys += 1;
        let strata = Strata::of(observed.db, &observed.key);
        if self.takes(&strata) {
            self.keep(&strata, observed);
        }
    }

    /// How many keys were observed.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// How many of them were too long for any pattern.
    pub fn long(&self) -> u64 {
        self.long
    }

    /// Adds what another sketch has seen.
    pub fn merge(&mut self, other: Sketch) {
        self.keys += other.keys;
        self.long += other.long;
        for (hash, observed) in other.kept {
            self.put(hash, observed);
        }
        for (id, theirs) in other.skeletons {
            self.skeletons.entry(id).or_default().merge(theirs, MOST);
        }
        while self.skeletons.len() > SKELETONS {
            self.skeletons.pop_last();
        }
        self.trim();
        for (id, theirs) in other.shapes {
            let ours = self.shapes.entry(id).or_default();
            ours.all.merge(theirs.all, SHAPE_KEYS);
            for (word, stratum) in theirs.words {
                ours.words.entry(word).or_default().merge(stratum, WORD_KEYS);
            }
            (0u8..).take(PLACES).for_each(|place| ours.trim(place));
        }
        self.others.merge(other.others, SHAPE_KEYS);
        while self.shapes.len() > SHAPES {
            self.drop_shape();
        }
        self.sweep();
    }

    /// The kept keys, in the order of their names.
    pub(crate) fn samples(&self) -> Vec<Sample<'_>> {
        let mut samples: Vec<Sample<'_>> = self
            .kept
            .values()
            .filter_map(|observed| {
                let strata = Strata::of(observed.db, &observed.key);
                let chance = self.chance(&strata)?;
                Some(Sample { observed, weight: 1.0 / chance })
            })
            .collect();
        samples.sort_by(|left, right| left.observed.cmp(right.observed));
        samples
    }

    /// The share of all hashes for which a key of these strata is kept; `None` if it is not.
    #[allow(clippy::cast_precision_loss, reason = "a share needs no 64 bits")]
    fn chance(&self, strata: &Strata) -> Option<f64> {
        let limits = self.strata(strata).map(Stratum::limit);
        let limits = limits.filter(|limit| strata.hash <= *limit);
        limits.max().map(|limit| (limit as f64 / u64::MAX as f64).max(f64::MIN_POSITIVE))
    }

    /// The strata of a key that are kept.
    fn strata<'s>(&'s self, strata: &'s Strata) -> impl Iterator<Item = &'s Stratum> {
        let shape = self.shapes.get(&strata.shape);
        let all = shape.map_or(&self.others, |shape| &shape.all);
        let words = strata.words.iter().filter_map(move |word| shape?.words.get(word));
        self.skeletons.get(&strata.skeleton).into_iter().chain([all]).chain(words)
    }

    /// Whether a key would be kept.
    fn takes(&self, strata: &Strata) -> bool {
        let new_skeleton = !self.skeletons.contains_key(&strata.skeleton)
            && (self.skeletons.len() < SKELETONS
                || self
                    .skeletons
                    .last_key_value()
                    .is_some_and(|(last, _)| strata.skeleton < *last));
        let new_shape = || {
            !self.shapes.contains_key(&strata.shape)
                && (self.shapes.len() < SHAPES
                    || self.shapes.last_key_value().is_some_and(|(last, _)| strata.shape < *last))
        };
        let new_word = || {
            let Some(shape) = self.shapes.get(&strata.shape) else { return false };
            strata.words.iter().any(|word| !shape.words.contains_key(word) && shape.may_add(*word))
        };
        new_skeleton
            || self.strata(strata).any(|stratum| strata.hash <= stratum.limit())
            || new_shape()
            || new_word()
    }

    fn keep(&mut self, strata: &Strata, observed: Observed) {
        let before = skeleton_keys(self.skeletons.len());
        self.skeletons.entry(strata.skeleton).or_default().add(strata.hash, before);
        if self.skeletons.len() > SKELETONS {
            self.skeletons.pop_last();
        }
        if skeleton_keys(self.skeletons.len()) < before {
            self.trim();
        }
        let last = self.shapes.last_key_value().map(|(last, _)| *last);
        let is_kept = self.shapes.contains_key(&strata.shape)
            || self.shapes.len() < SHAPES
            || last.is_some_and(|last| strata.shape < last);
        if is_kept {
            let shape = self.shapes.entry(strata.shape).or_default();
            shape.all.add(strata.hash, SHAPE_KEYS);
            for word in &strata.words {
                shape.words.entry(*word).or_default().add(strata.hash, WORD_KEYS);
                shape.trim(word.0);
            }
            if self.shapes.len() > SHAPES {
                self.drop_shape();
            }
        } else {
            self.others.add(strata.hash, SHAPE_KEYS);
        }
        self.put(strata.hash, observed);
        self.since += 1;
        if self.since > self.kept.len() / 2 + 65_536 {
            self.sweep();
        }
    }

    /// Forgets the shape with the greatest hash; its keys are among the others from now on.
    fn drop_shape(&mut self) {
        if let Some((_, shape)) = self.shapes.pop_last() {
            self.others.merge(shape.all, SHAPE_KEYS);
        }
    }

    fn put(&mut self, hash: u64, observed: Observed) {
        match self.kept.entry(hash) {
            std::collections::hash_map::Entry::Vacant(free) => drop(free.insert(observed)),
            // Seen twice, by a scan or in two sources: which of the two is kept must not depend on the order.
            std::collections::hash_map::Entry::Occupied(mut known) => {
                if *known.get() < observed {
                    known.insert(observed);
                }
            }
        }
    }

    fn trim(&mut self) {
        let most = skeleton_keys(self.skeletons.len());
        self.skeletons.values_mut().for_each(|stratum| stratum.trim(most));
    }

    /// Forgets keys that are in no stratum.
    fn sweep(&mut self) {
        self.since = 0;
        let kept = std::mem::take(&mut self.kept);
        let is_in = |hash: &u64, observed: &Observed| {
            let strata = Strata::of(observed.db, &observed.key);
            self.strata(&strata).any(|stratum| stratum.hashes.contains(hash))
        };
        let kept = kept.into_iter().filter(|(hash, observed)| is_in(hash, observed)).collect();
        self.kept = kept;
    }
}

/// How many keys of each skeleton are kept, if there are so many.
fn skeleton_keys(skeletons: usize) -> usize {
    (SKELETON_KEYS / skeletons.max(1).next_power_of_two()).clamp(FEWEST, MOST)
}

impl Shape {
    /// Whether a word is among those to keep at its place.
    fn may_add(&self, (place, word): (u8, u64)) -> bool {
        let at_place = self.words.range((place, 0)..=(place, u64::MAX));
        at_place.clone().count() < WORDS
            || at_place.last().is_some_and(|((_, last), _)| word < *last)
    }

    fn trim(&mut self, place: u8) {
        while self.words.range((place, 0)..=(place, u64::MAX)).count() > WORDS {
            let last = self.words.range((place, 0)..=(place, u64::MAX)).next_back();
            let Some(last) = last.map(|(last, _)| *last) else { return };
            self.words.remove(&last);
        }
    }
}

impl Stratum {
    /// The greatest hash that is kept.
    fn limit(&self) -> u64 {
        self.hashes.last().filter(|_| self.full).map_or(u64::MAX, |last| *last)
    }

    fn add(&mut self, hash: u64, most: usize) {
        self.hashes.insert(hash);
        self.trim(most);
    }

    fn trim(&mut self, most: usize) {
        self.full |= self.hashes.len() >= most;
        while self.hashes.len() > most {
            self.hashes.pop_last();
        }
    }

    /// Whoever is full has as many keys as are kept, so that what it left out would not be kept now.
    fn merge(&mut self, other: Stratum, most: usize) {
        self.hashes.extend(other.hashes);
        self.full |= other.full;
        self.trim(most);
    }
}

impl Strata {
    fn of(db: u64, key: &[u8]) -> Self {
        let segments = cut(key, separator(key, b':'));
        let count = segments.len();
        let mut strata = Strata {
            hash: join(hash(key), db),
            skeleton: 0,
            shape: 0,
            words: Vec::with_capacity(count.min(PLACES)),
        };
        for (at, segment) in segments.into_iter().enumerate() {
            let end = u64::from(segment.separator.unwrap_or(0));
            let (look, form) = look(&key[segment.place]);
            let look = join(look, end);
            strata.skeleton = join(strata.skeleton, look);
            // Words of one segment are one word here.
            strata.shape = join(join(strata.shape, u64::from(form)), end);
            // The first places, and the last one.
            let place = if at + 1 == count { PLACES - 1 } else { at };
            if place + 1 < PLACES || at + 1 == count {
                strata.words.push((u8::try_from(place).unwrap_or(u8::MAX), look));
            }
        }
        strata
    }
}

/// The hash of what a segment looks like, and the mark of its form if it is one value.
pub(crate) fn look(text: &[u8]) -> (u64, u8) {
    // Most segments are a number or a plain word.
    if text.iter().all(u8::is_ascii_lowercase) && text.len() <= LONGEST_WORD {
        return (hash(text), 0);
    }
    let atoms = atoms(text);
    let mut out = Vec::with_capacity(text.len());
    skeleton(text, &atoms, &mut out);
    let form = if matches!(&atoms[..], [only] if only.form.is_some()) { out[0] } else { 0 };
    (hash(&out), form)
}
