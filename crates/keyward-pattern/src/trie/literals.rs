//! The literal segments of all nodes in one open-addressed table, so that a step down costs one
//! probe however many patterns there are.
//!
//! A segment is compared by its first and its last eight bytes, which up to sixteen are all there
//! are: no call, no second place in memory. Only longer ones are compared byte by byte. Where it
//! ends is found in the same eight bytes.

use super::{NONE, Target};
use crate::path::find;

/// The most bytes that a [`Word`] holds.
const WORD: usize = 16;

#[derive(Debug)]
pub(super) struct LiteralTable {
    slots: Vec<Slot>,
    /// Leaves as many of a hash's upper bits as number the slots; only those depend on every byte
    shift: u32,
    /// What does not fit into a word
    texts: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    word: Word,
    child: Target,
    /// Where the text begins, if it is longer than a word
    text: u32,
}

/// A segment of a node: its first eight bytes, its last eight if there are more, its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word {
    first: u64,
    last: u64,
    node_and_len: u64,
}

/// A literal of up to sixteen bytes that a node has to itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Literal {
    first: u64,
    last: u64,
    len: u8,
}

impl LiteralTable {
    pub(super) fn new(count: usize) -> Self {
        let empty = Slot { word: Word::of(b"", NONE), child: Target::NOWHERE, text: 0 };
        let len = (count * 2).next_power_of_two().max(2);
        LiteralTable {
            slots: vec![empty; len],
            shift: 64 - len.trailing_zeros(),
            texts: Vec::new(),
        }
    }

    /// How long the segment is that begins there, and where it leads from a node as a literal.
    // Not inlined: it would leave no registers to the walk, which then saves and loads all it has.
    #[inline(never)]
    pub(super) fn step(
        &self,
        node: u32,
        key: &[u8],
        start: usize,
        separator: u8,
    ) -> (usize, Target) {
        if let Some(eight) = key.get(start..).and_then(<[u8]>::first_chunk)
            && let Some((first, len)) = until(separator, u64::from_le_bytes(*eight))
        {
            return (len, self.get(Word::new(first, 0, len, node), |_| true));
        }
        self.step_far(node, key, start, separator)
    }

    /// The same where no separator is within eight bytes.
    #[inline(never)]
    fn step_far(&self, node: u32, key: &[u8], start: usize, separator: u8) -> (usize, Target) {
        let rest = &key[start..];
        let len = find(separator, rest);
        let is =
            |slot: &Slot| len <= WORD || self.texts[slot.text as usize..].starts_with(&rest[..len]);
        (len, self.get(Word::of(&rest[..len], node), is))
    }

    #[inline]
    fn get(&self, word: Word, is: impl Fn(&Slot) -> bool) -> Target {
        let mut at = self.slot_of(word);
        loop {
            let slot = &self.slots[at];
            if slot.word == word && is(slot) {
                return slot.child;
            }
            if slot.child == Target::NOWHERE {
                return Target::NOWHERE;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    pub(super) fn insert(&mut self, node: u32, text: &[u8], child: Target) {
        let word = Word::of(text, node);
        let mask = self.slots.len() - 1;
        let mut at = self.slot_of(word);
        while self.slots[at].child != Target::NOWHERE {
            at = (at + 1) & mask;
        }
        let start = u32::try_from(self.texts.len()).unwrap_or(NONE);
        if text.len() > WORD {
            self.texts.extend(text);
        }
        self.slots[at] = Slot { word, child, text: start };
    }

    #[inline]
    fn slot_of(&self, word: Word) -> usize {
        usize::try_from(word.hash() >> self.shift).unwrap_or_default()
    }
}

impl Literal {
    /// A text that is known whole by its first and last eight bytes.
    pub(super) fn short(text: &[u8]) -> Option<Self> {
        let Word { first, last, .. } = Word::of(text, NONE);
        let len = u8::try_from(text.len()).ok().filter(|len| (1..=16).contains(len))?;
        Some(Literal { first, last, len })
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len.into()
    }

    /// Whether a key goes on with it.
    #[inline]
    pub(super) fn is_at(&self, key: &[u8], start: usize) -> bool {
        let differs = eight(key, start) ^ self.first;
        if self.len <= 8 {
            return differs << (64 - 8 * u32::from(self.len)) == 0;
        }
        differs == 0 && eight(key, start + self.len() - 8) == self.last
    }
}

impl Word {
    fn of(text: &[u8], node: u32) -> Self {
        let last = if text.len() > 8 { eight(text, text.len() - 8) } else { 0 };
        Word::new(eight(text, 0), last, text.len(), node)
    }

    #[inline]
    fn new(first: u64, last: u64, len: usize, node: u32) -> Self {
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        Word { first, last, node_and_len: u64::from(node) << 32 | u64::from(len) }
    }

    #[inline]
    fn hash(self) -> u64 {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        (self.first ^ self.last.rotate_left(29) ^ self.node_and_len).wrapping_mul(FACTOR)
    }
}

/// What of eight bytes is before the first separator, zeros behind it, and how long that is.
#[inline]
fn until(separator: u8, eight: u64) -> Option<(u64, usize)> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let other = eight ^ (ONES * u64::from(separator));
    // The lowest bit is that of the first separator; higher ones can be wrong.
    let found = other.wrapping_sub(ONES) & !other & HIGH;
    let before = ((found & found.wrapping_neg()) >> 7).checked_sub(1)?;
    Some((eight & before, (found.trailing_zeros() / 8) as usize))
}

/// The eight bytes that begin there; behind the end are zeros.
#[inline]
fn eight(text: &[u8], start: usize) -> u64 {
    let Some(rest) = text.get(start..) else { return 0 };
    if let Some(word) = rest.first_chunk() {
        return u64::from_le_bytes(*word);
    }
    let missing = 64 - 8 * u32::try_from(rest.len()).unwrap_or_default();
    match text.last_chunk() {
        Some(word) => u64::from_le_bytes(*word).checked_shr(missing).unwrap_or(0),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_step_finds_the_segment_and_where_it_leads(
            texts in prop::collection::btree_set("[9;\u{1}a\u{0}]{0,20}", 0..40),
            key in "[:9;\u{1}a\u{0}]{0,60}",
        ) {
            let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
            let segments: Vec<&[u8]> = key.as_bytes().split(|byte| *byte == b':').collect();
            let known = texts.iter().copied().chain(segments.iter().copied().step_by(2));
            let known: std::collections::BTreeSet<&[u8]> = known.collect();
            let mut table = LiteralTable::new(known.len());
            for (number, text) in (0u32..).zip(&known) {
                table.insert(7, text, Target(number));
            }
            let mut start = 0;
            for segment in segments {
                let to = known.iter().position(|text| *text == segment);
                let to = to.map_or(Target::NOWHERE, |at| Target(u32::try_from(at).unwrap()));
                prop_assert_eq!(table.step(7, key.as_bytes(), start, b':'), (segment.len(), to));
                prop_assert_eq!(table.step(8, key.as_bytes(), start, b':').1, Target::NOWHERE);
                start += segment.len() + 1;
            }
        }

        #[test]
        fn a_literal_is_where_its_text_is(
            text in "[9a\u{0}]{1,16}", before in "[9a]{0,9}", behind in "[9a:]{0,9}", cut in 0..16usize,
        ) {
            let literal = Literal::short(text.as_bytes()).unwrap();
            let key = format!("{before}{text}{behind}");
            prop_assert!(literal.is_at(key.as_bytes(), before.len()));
            let other = format!("{before}{}x{behind}", &text[..cut.min(text.len() - 1)]);
            prop_assert!(!literal.is_at(other.as_bytes(), before.len()));
        }
    }
}
