//! Samples of values, chosen by the values themselves: the same are chosen wherever they are seen, so that
//! what one definition refers to can be looked for in what another has.
//!
//! Of every value it is known how rare it is, see [`Salt::rarity`]: half of all values are at least of
//! rarity 1, a quarter of 2. When a sample is full, the rarity that it takes rises by one. So nearly every
//! value of a large keyspace is passed over at the price of one multiplication, and what is kept does not
//! depend on the order in which values come.

use crate::hash::{Rarity, Salt};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How many hashes are kept.
pub(crate) const KEPT: usize = 1024;
/// No hash has more zeros.
pub(crate) const RAREST: Rarity = 64;

/// The rarest of some values, by their salted hashes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rare {
    /// The least rarity that is kept
    least: Rarity,
    /// Up to twice as many as are kept; sorted, and each once, after [`Rare::tidy`]
    values: Vec<(Rarity, u64)>,
}

impl PartialEq for Rare {
    fn eq(&self, other: &Self) -> bool {
        self.clone().into_text() == other.clone().into_text()
    }
}

impl Rare {
    /// These values, none of which is less rare.
    pub(crate) fn of(least: Rarity, values: impl IntoIterator<Item = (Rarity, u64)>) -> Self {
        let mut sample = Rare { least, values: values.into_iter().collect() };
        sample.tidy();
        sample
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = (Rarity, u64)> {
        self.values.iter().copied()
    }

    /// Adds a value.
    #[inline]
    pub(crate) fn add(&mut self, salt: Salt, value: &[u8]) {
        let rarity = salt.rarity(value);
        if rarity >= self.least {
            self.keep((rarity, salt.hash(value)));
        }
    }

    #[cold]
    fn keep(&mut self, value: (Rarity, u64)) {
        if value.0 < self.least {
            return;
        }
        self.values.push(value);
        if self.values.len() >= 2 * KEPT {
            self.tidy();
        }
    }

    /// The least rarity that is kept.
    pub(crate) fn least(&self) -> Rarity {
        self.least
    }

    /// Whether a sample that is [tidy](Rare::tidy) has a value.
    pub(crate) fn has(&self, value: &(Rarity, u64)) -> bool {
        self.values.binary_search(value).is_ok()
    }

    /// Puts values in order and leaves out what is not kept.
    pub(crate) fn tidy(&mut self) {
        self.values.sort_unstable();
        self.values.dedup();
        while self.values.len() > KEPT {
            self.raise(self.least + 1);
        }
    }

    /// Keeps only what is so rare.
    fn raise(&mut self, least: Rarity) {
        self.least = self.least.max(least);
        self.values.retain(|(rarity, _)| *rarity >= self.least);
    }

    pub(crate) fn merge(&mut self, other: &Rare) {
        self.raise(other.least);
        for value in &other.values {
            self.keep(*value);
        }
        self.tidy();
    }

    /// What two samples know: those of this one, how many of them the other has too, and whether that is all
    /// there is.
    pub(crate) fn compare(&self, other: &Rare) -> Compared {
        let tidy = |sample: &Rare| {
            let mut sample = sample.clone();
            sample.tidy();
            sample
        };
        tidy(self).compare_tidy(&tidy(other))
    }

    fn compare_tidy(&self, other: &Rare) -> Compared {
        let least = self.least.max(other.least);
        let looked_at = self.values.iter().filter(|(rarity, _)| *rarity >= least);
        let shared = looked_at.clone().filter(|value| other.has(value));
        Compared {
            looked_at: looked_at.count() as u64,
            shared: shared.count() as u64,
            sampled: least > 0,
        }
    }

    /// For a file: the least rarity, then each value's rarity and hash.
    fn into_text(mut self) -> String {
        self.tidy();
        let mut bytes = vec![self.least];
        for (rarity, hash) in &self.values {
            bytes.push(*rarity);
            bytes.extend(hash.to_le_bytes());
        }
        STANDARD_NO_PAD.encode(bytes)
    }

    /// From a file; `None` if it is not a sample.
    fn from_text(text: &str) -> Option<Self> {
        let bytes = STANDARD_NO_PAD.decode(text).ok()?;
        let (least, values) = bytes.split_first().filter(|(least, _)| **least <= RAREST)?;
        let mut sample = Rare { least: *least, values: Vec::new() };
        for value in values.chunks(9) {
            let (rarity, hash) = value.split_first().filter(|(rarity, _)| **rarity <= RAREST)?;
            sample.keep((*rarity, u64::from_le_bytes(hash.try_into().ok()?)));
        }
        sample.tidy();
        Some(sample)
    }
}

impl Serialize for Rare {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.clone().into_text())
    }
}

impl<'de> Deserialize<'de> for Rare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Rare::from_text(&text).ok_or_else(|| D::Error::custom("a sample is damaged"))
    }
}

/// What two samples have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compared {
    pub(crate) looked_at: u64,
    pub(crate) shared: u64,
    pub(crate) sampled: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(numbers: impl Iterator<Item = u64>) -> Rare {
        let salt = Salt::of("test");
        let mut sample = Rare::default();
        numbers.for_each(|number| sample.add(salt, number.to_string().as_bytes()));
        sample.tidy();
        sample
    }

    #[test]
    fn few_values_are_compared_exactly() {
        let compared = of(0..100).compare(&of(90..200));
        assert_eq!(compared, Compared { looked_at: 100, shared: 10, sampled: false });
    }

    #[test]
    fn many_values_are_compared_by_a_sample() {
        let Compared { looked_at, shared, sampled } = of(0..100_000).compare(&of(25_000..100_000));
        assert!(sampled && looked_at > 400, "{looked_at}");
        let missing = (looked_at - shared) * 100 / looked_at;
        assert!((20..30).contains(&missing), "{missing} %");
    }

    proptest! {
        #[test]
        fn two_halves_are_the_whole(middle in 0u64..3000, end in 0u64..3000) {
            let mut merged = of(0..middle);
            merged.merge(&of(middle..middle + end));
            prop_assert_eq!(&merged, &of(0..middle + end));
            prop_assert_eq!(Rare::from_text(&merged.clone().into_text()), Some(merged));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[A-Za-z0-9+/]{0,64}|/{20000}|\\PC*") {
            if let Some(sample) = Rare::from_text(&text) {
                sample.compare(&of(0..10));
            }
        }
    }
}
