//! Where a key's segments end, found once for all that is asked about the key.

use std::ops::Range;

/// So many segments are remembered; what lies behind them is looked for again.
pub(crate) const MOST: usize = 12;

/// Where the first segments of a key end.
///
/// ```
/// use keyward_pattern::{Keyspace, Split, Template};
/// # let mut builder = Keyspace::builder(':')?;
/// # let meta = builder.define("meta", &Template::parse("file:{file_id:uint}:meta")?, |_| None);
/// # let keyspace = builder.finish().unwrap();
/// let key = b"file:42:meta";
/// let split = Split::new(b':', key);
/// assert_eq!(keyspace.locate_split(key, &split, &mut Vec::new()), Some(meta));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Split {
    separator: u8,
    ends: [u32; MOST],
    count: usize,
}

impl Split {
    /// Finds where a key's segments end.
    #[inline]
    pub fn new(separator: u8, key: &[u8]) -> Self {
        let mut split = Split { separator, ends: [0; MOST], count: 0 };
        let (words, tail) = key.as_chunks::<8>();
        let mut at = 0;
        for word in words {
            split.note(zeros(u64::from_le_bytes(*word), separator), at);
            at += 8;
        }
        match key.last_chunk::<8>() {
            // The last eight bytes, without those that were seen already.
            Some(last) if !tail.is_empty() => {
                let seen = 8 - tail.len();
                let found = zeros(u64::from_le_bytes(*last), separator) >> (8 * seen);
                split.note(found, at);
            }
            Some(_) => {}
            None => {
                for (offset, _) in tail.iter().enumerate().filter(|(_, byte)| **byte == separator) {
                    split.push(at + offset);
                }
            }
        }
        split.push(key.len());
        split
    }

    /// The separator.
    #[inline]
    pub fn separator(&self) -> u8 {
        self.separator
    }

    /// Notes the separators that are marked in a word.
    #[inline]
    fn note(&mut self, mut found: u64, at: usize) {
        while found != 0 {
            self.push(at + (found.trailing_zeros() / 8) as usize);
            found &= found - 1;
        }
    }

    #[inline]
    fn push(&mut self, end: usize) {
        if let (Some(slot), Ok(end)) = (self.ends.get_mut(self.count), u32::try_from(end)) {
            *slot = end;
            self.count += 1;
        }
    }

    /// How many segments are remembered.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Where a segment lies that is remembered.
    #[inline]
    pub(crate) fn segment(&self, number: usize) -> Range<usize> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize + 1);
        start..self.ends[number] as usize
    }

    /// Where the segment of this number ends, which begins at `start`.
    #[inline]
    pub(crate) fn end(&self, number: usize, key: &[u8], start: usize) -> usize {
        match self.ends.get(number) {
            Some(end) if number < self.count => *end as usize,
            _ => start + crate::path::find(self.separator, &key[start..]),
        }
    }
}

/// Marks the bytes of a word that are the separator, each by its highest bit.
#[inline]
fn zeros(word: u64, separator: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let other = word ^ (ONES * u64::from(separator));
    !(((other & LOW) + LOW) | other | LOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn segments_end_where_separators_are(key in "[:9;\u{1}a]{0,60}") {
            let key = key.as_bytes();
            let split = Split::new(b':', key);
            let mut start = 0;
            for (number, segment) in key.split(|byte| *byte == b':').enumerate() {
                let end = split.end(number, key, start);
                prop_assert_eq!(&key[start..end], segment);
                start = end + 1;
            }
            prop_assert_eq!(start, key.len() + 1);
        }
    }
}
