//! The literal segments of all nodes in one table.

use super::NONE;

/// The literal segments of all nodes in one open-addressed table, so that a step down costs one
/// probe however many patterns there are.
#[derive(Debug)]
pub(super) struct LiteralTable {
    slots: Vec<Slot>,
    texts: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    hash: u32,
    child: u32,
    start: u32,
    len: u32,
}

impl LiteralTable {
    pub(super) fn new(count: usize) -> Self {
        let empty = Slot { hash: 0, child: NONE, start: 0, len: 0 };
        LiteralTable {
            slots: vec![empty; (count * 2).next_power_of_two().max(2)],
            texts: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn get(&self, node: u32, text: &[u8]) -> Option<u32> {
        let hash = hash(node, text);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = &self.slots[at];
            if slot.child == NONE {
                return None;
            }
            if slot.hash == hash
                && slot.len as usize == text.len() + 4
                && self.texts[slot.start as usize..][..4] == node.to_le_bytes()
                && self.texts[slot.start as usize + 4..][..text.len()] == *text
            {
                return Some(slot.child);
            }
            at = (at + 1) & mask;
        }
    }

    /// The node's number is kept before the text: the same word may stand in many places.
    pub(super) fn insert(&mut self, node: u32, text: &[u8], child: u32) {
        let hash = hash(node, text);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at].child != NONE {
            at = (at + 1) & mask;
        }
        let start = u32::try_from(self.texts.len()).unwrap_or(NONE);
        self.texts.extend(node.to_le_bytes());
        self.texts.extend(text);
        let len = u32::try_from(text.len() + 4).unwrap_or(NONE);
        self.slots[at] = Slot { hash, child, start, len };
    }
}

/// Multiply and fold over eight bytes at a time.
#[inline]
fn hash(node: u32, text: &[u8]) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = (u64::from(node) << 32 | text.len() as u64).wrapping_mul(FACTOR);
    let mut mix = |word: u64| hash = (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    let (words, tail) = text.as_chunks::<8>();
    for word in words {
        mix(u64::from_le_bytes(*word));
    }
    if !tail.is_empty() {
        // The last bytes as one word, overlapping what was read already where there is enough.
        let word = match (text.last_chunk::<8>(), tail.first_chunk::<4>(), tail.last_chunk::<4>()) {
            (Some(last), _, _) => u64::from_le_bytes(*last),
            (None, Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
            }
            _ => {
                u64::from(tail[0])
                    | u64::from(tail[tail.len() / 2]) << 8
                    | u64::from(tail[tail.len() - 1]) << 16
            }
        };
        mix(word);
    }
    (hash >> 32) as u32
}
