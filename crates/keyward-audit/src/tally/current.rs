//! The key that is being observed.

use crate::checks::{Class, slots};
use crate::counts::{Detail, stored_type};
use crate::mask::Masked;
use keyward_fact::Fact;

/// The key that is being observed.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) class: Class,
    /// Its name and its database, where what it stores refers to other keys
    pub(super) key: Vec<u8>,
    pub(super) db: u64,
    /// What is left of its TTL
    pub(super) remaining: Option<u64>,
    pub(super) expired: bool,
    /// Whether its elements are looked at
    pub(super) looking: bool,
    /// What is wrong with it
    pub(super) broken: Vec<Wrong>,
    /// By field, the number of the last key that had it
    pub(super) stamps: Vec<u64>,
    pub(super) number: u64,
    /// The field that comes next if fields are in the order of the schema
    pub(super) next_field: usize,
    /// How many elements were seen: entries of a stream, fields, members, items
    pub(super) elements: u64,
    /// Whether a field is declared to expire, and when it does was not seen
    pub(super) ttl_unseen: bool,
    /// What is left of the TTLs of fields that are wrong, by what is wrong
    pub(super) field_ttls: Vec<(usize, u64)>,
    /// The first field that is not declared
    pub(super) stranger: Option<Masked>,
}

/// What is wrong with a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrong {
    pub(super) slot: usize,
    /// How many of its elements are wrong, where elements are judged
    pub(super) elements: u64,
    /// The last element that was
    last: u64,
}

impl Current {
    /// Remembers which key it is.
    pub(super) fn identify(&mut self, fact: &Fact<'_>) {
        self.key.clear();
        self.key.extend(fact.key);
        self.db = fact.db;
    }

    /// Notes what is wrong: once for each key, and how many elements of it are.
    pub(super) fn breaks(&mut self, slot: usize) {
        let last = self.elements;
        match self.broken.iter_mut().find(|wrong| wrong.slot == slot) {
            None => self.broken.push(Wrong { slot, elements: 1, last }),
            Some(wrong) if wrong.last == last => {}
            Some(wrong) => (wrong.elements, wrong.last) = (wrong.elements + 1, last),
        }
    }

    /// Whether a hash, or the last entry of a stream, has a declared field.
    pub(super) fn has_field(&self, at: usize) -> bool {
        self.stamps[at] == self.number
    }

    /// What a key has that is wrong, where that can be said without showing a value.
    pub(super) fn detail(&self, slot: usize, fact: &Fact<'_>) -> Option<Detail> {
        match slot {
            slots::WRONG_TYPE => Some(Detail::Type(fact.key_type.name().to_owned())),
            slots::TTL_TOO_LONG | slots::TTL_UNEXPECTED => self.remaining.map(Detail::Ttl),
            slots::UNKNOWN_FIELD => self.stranger.clone().map(Detail::Field),
            slots::OVERSIZED_COLLECTION => fact.length.map(Detail::Entries),
            slots::OVERSIZED_VALUE => {
                let is_string = stored_type(fact.key_type) == Some(0);
                let size = if is_string { fact.length } else { fact.bytes };
                size.map(Detail::Bytes)
            }
            slot => {
                let left = self.field_ttls.iter().find(|(wrong, _)| *wrong == slot);
                left.map(|(_, left)| Detail::Ttl(*left))
            }
        }
    }
}
