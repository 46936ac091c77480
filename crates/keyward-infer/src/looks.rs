//! What a count of every key needs beside a sample: keys told apart as finely as any draft does.

use crate::cut::{cut, separator};
use crate::hash::join;
use crate::sketch::{LONGEST_KEY, Observed, Sketch, look};

/// What a segment of a key looks like, with the separator behind it: a word, perhaps with values in it, or one value of
/// some form. Equal ones have equal hashes, everywhere and always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Look {
    /// Whether there is a word in it
    pub is_word: bool,
    /// Which word, or which form
    pub hash: u64,
}

/// What the segments of a key look like, one after the other. Keys for which that is the same are the same for a draft, but
/// for the values in them.
pub fn looks(key: &[u8]) -> impl Iterator<Item = Look> {
    cut(key, separator(key, b':')).into_iter().map(|segment| {
        let end = u64::from(segment.separator.unwrap_or(0));
        let (hash, form) = look(&key[segment.place]);
        Look { is_word: form == 0, hash: join(hash, end) }
    })
}

/// Whether a pattern can have a key at all: text of at most 512 bytes without control characters.
pub fn can_be_drafted(key: &[u8]) -> bool {
    let is_text = |text: &str| !text.is_empty() && !text.chars().any(char::is_control);
    key.len() <= LONGEST_KEY && str::from_utf8(key).is_ok_and(is_text)
}

impl Sketch {
    /// The kept keys in the order of their names, each with how many keys it stands for.
    pub fn kept(&self) -> impl Iterator<Item = (&Observed, f64)> {
        self.samples().into_iter().map(|sample| (sample.observed, sample.weight))
    }
}
