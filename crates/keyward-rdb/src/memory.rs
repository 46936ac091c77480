//! The memory that a key takes in the server, as MEMORY USAGE with SAMPLES 0 counts it.
//!
//! The sizes are those of Redis 7.0 on 64 bits, checked against it. Other versions keep dictionaries
//! and short strings differently by some bytes a key; what is said of them is an estimate.

use keyward_fact::Encoding;

use crate::allocator::Allocator;
use crate::entry::StreamInfo;
use crate::rax::Rax;

/// A value's object.
const OBJECT: u64 = 16;
/// An entry of a dictionary, of the keyspace's too.
const DICT_ENTRY: u64 = 24;
/// The keys before and behind it in the same slot, in a cluster.
const SLOT_LINKS: u64 = 16;
const DICT: u64 = 56;
const POINTER: u64 = 8;
const QUICKLIST: u64 = 40;
const QUICKLIST_NODE: u64 = 40;
/// A sorted set's two halves: the structure that holds them, and the skip list's head.
const ZSET: u64 = 16 + 32;
const SKIPLIST_NODE: u64 = 24;
const SKIPLIST_LEVEL: u64 = 16;
const SKIPLIST_LEVELS: u32 = 32;
const STREAM: u64 = 80;
const STREAM_ID: u64 = 16;
const GROUP: u64 = 40;
const CONSUMER: u64 = 24;
const PENDING: u64 = 24;
/// What the server assumes for each node of a radix tree.
const RAX_NODE: u64 = 4 + 30 * 8;
/// The size at which a stream's last node begins, before it is full and trimmed.
const STREAM_NODE: u64 = 4096;

/// Sizes up to 1,016 bytes.
const SMALL: usize = 128;

#[derive(Debug)]
pub(crate) struct Memory {
    allocator: Allocator,
    /// What small sizes occupy, by eights of bytes: most strings are small, and no branch is as good
    /// as a table.
    small: [u16; SMALL],
    /// A skip list's node on average, in 1/1024 bytes.
    skiplist_node: u64,
    /// An entry of the keyspace
    entry: u64,
}

impl Memory {
    pub(crate) fn new(allocator: Allocator, links_slots: bool) -> Self {
        // A quarter of the nodes of every level reach the next.
        let mut node = 0;
        let mut share = 1024 * 1024;
        for level in 1..=SKIPLIST_LEVELS {
            let size = SKIPLIST_NODE + SKIPLIST_LEVEL * u64::from(level);
            node += allocator.usable(size) * (share - share / 4);
            share /= 4;
        }
        let small = std::array::from_fn(|eights| {
            u16::try_from(allocator.usable(8 * eights as u64)).unwrap_or(u16::MAX)
        });
        let entry = if links_slots { DICT_ENTRY + SLOT_LINKS } else { DICT_ENTRY };
        Memory { allocator, small, skiplist_node: node / 1024, entry }
    }

    #[inline]
    fn usable(&self, size: u64) -> u64 {
        match self.small.get(usize::try_from(size.div_ceil(8)).unwrap_or(usize::MAX)) {
            Some(small) => u64::from(*small),
            None => self.allocator.usable(size),
        }
    }

    /// The key's name and its entry in the keyspace.
    #[inline]
    pub(crate) fn key(&self, name: u64) -> u64 {
        self.entry + self.sds(name)
    }

    #[inline]
    pub(crate) fn string(&self, encoding: Encoding, length: u64) -> u64 {
        match encoding {
            Encoding::Int => OBJECT,
            Encoding::Embstr => self.usable(length.saturating_add(OBJECT + 4)),
            _ => OBJECT + self.sds(length),
        }
    }

    /// A string of the server: header, bytes and a zero.
    #[inline]
    pub(crate) fn sds(&self, length: u64) -> u64 {
        let header = match length {
            0..32 => 1,
            32..256 => 3,
            256..65_536 => 5,
            65_536..4_294_967_296 => 9,
            _ => 17,
        };
        self.usable(length.saturating_add(header + 1))
    }

    /// A collection in one allocation.
    #[inline]
    pub(crate) fn packed(&self, length: u64) -> u64 {
        OBJECT + self.usable(length)
    }

    /// A node of a quicklist.
    #[inline]
    pub(crate) fn quicklist_node(&self, length: u64) -> u64 {
        QUICKLIST_NODE + self.usable(length)
    }

    pub(crate) fn quicklist(nodes: u64) -> u64 {
        nodes.saturating_add(OBJECT + QUICKLIST)
    }

    /// A hash table of `length` entries, whose strings take `strings` bytes.
    pub(crate) fn hashtable(length: u64, strings: u64) -> u64 {
        OBJECT.saturating_add(dict(length)).saturating_add(strings)
    }

    /// A sorted set of `length` entries, whose members take `strings` bytes.
    pub(crate) fn skiplist(&self, length: u64, strings: u64) -> u64 {
        let head = SKIPLIST_NODE + SKIPLIST_LEVEL * u64::from(SKIPLIST_LEVELS);
        let nodes = u128::from(self.skiplist_node) * u128::from(length) / 1024;
        (OBJECT + ZSET + self.usable(head))
            .saturating_add(dict(length))
            .saturating_add(u64::try_from(nodes).unwrap_or(u64::MAX))
            .saturating_add(strings)
    }

    /// A stream's node; the last one keeps the size at which it began.
    pub(crate) fn stream_node(&self, length: u64, last: bool) -> u64 {
        self.usable(if last { length.max(STREAM_NODE) } else { length })
    }

    pub(crate) fn stream(info: &StreamInfo, entries: Rax, parts: u64) -> u64 {
        (OBJECT + STREAM)
            .saturating_add(rax(entries))
            .saturating_add(parts)
            .saturating_add(info.groups.saturating_mul(GROUP))
            .saturating_add(info.pending.saturating_mul(PENDING))
    }

    pub(crate) fn consumer(name: u64, pending: Rax) -> u64 {
        CONSUMER.saturating_add(name).saturating_add(rax(pending))
    }

    pub(crate) fn module(serialized: u64) -> u64 {
        OBJECT.saturating_add(serialized)
    }
}

/// A dictionary: its head, its table of a power of two, and its entries.
fn dict(length: u64) -> u64 {
    let slots = length.max(4).checked_next_power_of_two().unwrap_or(u64::MAX);
    DICT.saturating_add(slots.saturating_mul(POINTER))
        .saturating_add(length.saturating_mul(DICT_ENTRY))
}

pub(crate) fn rax(tree: Rax) -> u64 {
    let (keys, nodes) = tree.size();
    keys.saturating_mul(STREAM_ID).saturating_add(nodes.saturating_mul(RAX_NODE))
}
