//! The literal segments of all nodes in one open-addressed table, so that a step down costs one
//! probe however many patterns there are.
//!
//! A segment is compared by its first and its last eight bytes, which up to sixteen are all there
//! are: no call, no second place in memory. Only longer ones are compared byte by byte.

use super::{NONE, Target};

/// The most bytes that a [`Word`] holds.
const WORD: usize = 16;
/// No node has this number.
const EMPTY: Target = Target(NONE);

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
    node: u32,
    child: Target,
    /// Where the text begins, if it is longer than a word
    text: u32,
}

/// A segment's length, and its first and last eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    first: u64,
    last: u64,
    len: u32,
}

impl LiteralTable {
    pub(super) fn new(count: usize) -> Self {
        let nothing = Word { first: 0, last: 0, len: 0 };
        let empty = Slot { word: nothing, node: NONE, child: EMPTY, text: 0 };
        let len = (count * 2).next_power_of_two().max(2);
        LiteralTable {
            slots: vec![empty; len],
            shift: 64 - len.trailing_zeros(),
            texts: Vec::new(),
        }
    }

    /// The node behind a literal segment of a node.
    #[inline]
    pub(super) fn get(&self, node: u32, text: &[u8]) -> Option<Target> {
        let word = Word::of(text);
        let mask = self.slots.len() - 1;
        let mut at = self.slot_of(word, node);
        loop {
            let slot = &self.slots[at];
            if slot.word == word && slot.node == node && (text.len() <= WORD || self.is(slot, text))
            {
                return Some(slot.child);
            }
            if slot.child == EMPTY {
                return None;
            }
            at = (at + 1) & mask;
        }
    }

    pub(super) fn insert(&mut self, node: u32, text: &[u8], child: Target) {
        let word = Word::of(text);
        let mask = self.slots.len() - 1;
        let mut at = self.slot_of(word, node);
        while self.slots[at].child != EMPTY {
            at = (at + 1) & mask;
        }
        let start = u32::try_from(self.texts.len()).unwrap_or(NONE);
        if text.len() > WORD {
            self.texts.extend(text);
        }
        self.slots[at] = Slot { word, node, child, text: start };
    }

    #[inline]
    fn slot_of(&self, word: Word, node: u32) -> usize {
        usize::try_from(word.hash(node) >> self.shift).unwrap_or_default()
    }

    fn is(&self, slot: &Slot, text: &[u8]) -> bool {
        self.texts[slot.text as usize..].starts_with(text)
    }
}

impl Word {
    /// A text that is known whole by its word.
    pub(super) fn short(text: &[u8]) -> Option<Self> {
        (text.len() <= WORD).then(|| Word::of(text))
    }

    #[inline]
    pub(super) fn is(&self, text: &[u8]) -> bool {
        self.len as usize == text.len() && *self == Word::of(text)
    }

    #[inline]
    fn of(text: &[u8]) -> Self {
        let (first, last) = match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
                (Some(first), Some(last)) => {
                    (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
                }
                _ => match text {
                    [] => (0, 0),
                    [.., last] => (
                        u64::from(text[0]) | u64::from(text[text.len() / 2]) << 8,
                        u64::from(*last),
                    ),
                },
            },
        };
        Word { first, last, len: u32::try_from(text.len()).unwrap_or(u32::MAX) }
    }

    #[inline]
    fn hash(self, node: u32) -> u64 {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed =
            self.first ^ self.last.rotate_left(29) ^ (u64::from(node) << 32 | u64::from(self.len));
        mixed.wrapping_mul(FACTOR)
    }
}
