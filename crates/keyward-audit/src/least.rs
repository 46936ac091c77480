//! Samples by the least hashes: the same values are chosen wherever they are seen, so that what one
//! definition refers to can be looked for in what another has.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// How many hashes are kept.
const KEPT: usize = 1024;

/// The least hashes of some values, sorted, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Least {
    hashes: Vec<u64>,
}

impl Least {
    #[inline]
    pub(crate) fn add(&mut self, hash: u64) {
        if self.hashes.len() == KEPT && self.hashes.last().is_some_and(|last| hash >= *last) {
            return;
        }
        if let Err(at) = self.hashes.binary_search(&hash) {
            self.hashes.insert(at, hash);
            self.hashes.truncate(KEPT);
        }
    }

    pub(crate) fn merge(&mut self, other: &Least) {
        other.hashes.iter().for_each(|hash| self.add(*hash));
    }

    /// Up to which hash everything is known.
    fn known_up_to(&self) -> u64 {
        if self.hashes.len() < KEPT { u64::MAX } else { self.hashes.last().copied().unwrap_or(0) }
    }

    /// What both samples know: those of this one, how many of them the other has too, and whether that
    /// is all there is.
    pub(crate) fn compare(&self, other: &Least) -> Compared {
        let bound = self.known_up_to().min(other.known_up_to());
        let looked_at: Vec<&u64> = self.hashes.iter().take_while(|hash| **hash <= bound).collect();
        let shared = looked_at.iter().filter(|hash| other.hashes.binary_search(hash).is_ok());
        Compared {
            looked_at: looked_at.len() as u64,
            shared: shared.count() as u64,
            sampled: bound != u64::MAX,
        }
    }

    pub(crate) fn to_text(&self) -> String {
        let bytes: Vec<u8> = self.hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        STANDARD_NO_PAD.encode(bytes)
    }

    /// From a report; `None` if it is no sample.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let bytes = STANDARD_NO_PAD.decode(text).ok()?;
        let mut least = Least::default();
        for chunk in bytes.chunks(8) {
            least.add(u64::from_le_bytes(chunk.try_into().ok()?));
        }
        Some(least)
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
    use crate::hash::Salt;
    use proptest::prelude::*;

    fn of(numbers: impl Iterator<Item = u64>) -> Least {
        let salt = Salt::of("test");
        let mut least = Least::default();
        numbers.for_each(|number| least.add(salt.hash(&number.to_le_bytes())));
        least
    }

    #[test]
    fn few_values_are_compared_exactly() {
        let compared = of(0..100).compare(&of(90..200));
        assert_eq!(compared, Compared { looked_at: 100, shared: 10, sampled: false });
    }

    #[test]
    fn many_values_are_compared_by_a_sample() {
        let Compared { looked_at, shared, sampled } = of(0..100_000).compare(&of(25_000..100_000));
        assert!(sampled && looked_at > 500);
        let missing = (looked_at - shared) * 100 / looked_at;
        assert!((20..30).contains(&missing), "{missing} %");
    }

    proptest! {
        #[test]
        fn two_halves_are_the_whole(middle in 0u64..3000, end in 0u64..3000) {
            let mut merged = of(0..middle);
            merged.merge(&of(middle..middle + end));
            prop_assert_eq!(&merged, &of(0..middle + end));
            prop_assert_eq!(Least::from_text(&merged.to_text()), Some(merged));
        }
    }
}
