//! Names that wait to be looked up: bounded, each once, and every definition gets its turn.

use crate::checks::{Audit, Class};
use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most names that wait, and the most bytes of them.
const MOST: usize = 262_144;
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// A key that was touched.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) db: u64,
    pub(super) key: Box<[u8]>,
    /// Whether it is known to have been written, and was not only touched: its name is judged even if it is gone
    pub(super) written: bool,
    hash: u64,
}

/// Names that wait to be looked up.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// By definition; behind them derived keys, old names and unknown keys
    groups: Vec<VecDeque<Name>>,
    /// The hashes of those that wait
    hashes: HashSet<u64>,
    bytes: usize,
    /// The group whose turn it is
    turn: usize,
    /// Whether no more will come
    closed: bool,
    pub(super) touched: u64,
    pub(super) passed_over: u64,
}

impl Queue {
    pub(super) fn new(audit: &Audit) -> Self {
        let groups = vec![VecDeque::new(); audit.definitions.len() + 3];
        Queue { waiting: Mutex::new(Waiting { groups, ..Waiting::default() }) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Takes in a name that was touched.
    pub(super) fn push(
        &mut self,
        audit: &Audit,
        class: Class,
        (db, key): (u64, &[u8]),
        written: bool,
    ) {
        let Some(group) = group(audit, class) else { return };
        self.touched += 1;
        let hash = audit.mask.salt.order(db, key) ^ u64::from(written);
        if self.admits(group, hash) {
            self.bytes += key.len();
            self.groups[group].push_back(Name { db, key: key.into(), written, hash });
        }
    }

    /// Takes back a name that could not be looked up.
    pub(super) fn put_back(&mut self, audit: &Audit, name: Name) {
        let class = audit.classify(name.db, &name.key, &mut Vec::new());
        let Some(group) = group(audit, class) else { return };
        if self.admits(group, name.hash) {
            self.bytes += name.key.len();
            self.groups[group].push_back(name);
        }
    }

    /// Whether a name is to wait: it does not wait already, and there is room.
    fn admits(&mut self, group: usize, hash: u64) -> bool {
        if !self.hashes.insert(hash) {
            return false;
        }
        let has_room = self.has_room_for(group);
        if !has_room {
            self.hashes.remove(&hash);
            self.passed_over += 1;
        }
        has_room
    }

    /// Whether one more fits: when all are too many, a group may have its share.
    fn has_room_for(&self, group: usize) -> bool {
        if self.hashes.len() <= MOST && self.bytes <= MOST_BYTES {
            return true;
        }
        let waiting = self.groups.iter().filter(|group| !group.is_empty()).count().max(1);
        // The shares of all together are one more time the bound.
        self.groups[group].len() < MOST / waiting && self.bytes <= 2 * MOST_BYTES
    }

    /// Up to so many names, from each group in turn.
    pub(super) fn take(&mut self, most: usize) -> Vec<Name> {
        let mut taken = Vec::new();
        let mut empty = 0;
        while taken.len() < most && empty < self.groups.len() {
            self.turn = (self.turn + 1) % self.groups.len();
            match self.groups[self.turn].pop_front() {
                None => empty += 1,
                Some(name) => {
                    empty = 0;
                    self.bytes -= name.key.len();
                    self.hashes.remove(&name.hash);
                    taken.push(name);
                }
            }
        }
        taken
    }

    /// More will come again.
    pub(super) fn open(&mut self) {
        self.closed = false;
    }

    /// What waits will not be looked up any more.
    pub(super) fn pass_over(&mut self) {
        let waiting: usize = self.groups.iter().map(VecDeque::len).sum();
        self.passed_over += waiting as u64;
        self.groups.iter_mut().for_each(VecDeque::clear);
        self.hashes.clear();
        self.bytes = 0;
    }

    /// No more will come.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }
}

/// The group of a key; nothing for one that is not judged.
fn group(audit: &Audit, class: Class) -> Option<usize> {
    let others = audit.definitions.len();
    match class {
        Class::Foreign { .. } | Class::Marker => None,
        Class::Defined(number) => Some(number),
        Class::Derived { .. } => Some(others),
        Class::Old { .. } => Some(others + 1),
        Class::Unknown => Some(others + 2),
    }
}
