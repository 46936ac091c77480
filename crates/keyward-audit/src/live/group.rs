//! What is under way between a scan and its server: batches of names, and groups of their keys that are
//! being looked up. Several groups are, each at a stage of its own, and are answered in the order in which
//! they were sent.

use std::collections::VecDeque;
use std::time::Instant;

use super::lookup::{Batch, Row};
use super::values::{Found, READ, Wish};

/// Some keys of a batch, on their way.
#[derive(Debug)]
pub(super) struct Group {
    /// The number of the batch
    batch: u64,
    /// Their places in it
    pub(super) keys: Vec<usize>,
    pub(super) stage: Stage,
    pub(super) rows: Vec<Row>,
    pub(super) wishes: Vec<Option<Wish>>,
    pub(super) found: Vec<Found>,
    pub(super) sent: Instant,
}

/// What a group waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// What is asked of every key
    First,
    /// What that left open
    Second,
    /// Lengths, and elements of small values
    Values,
    /// Elements of large ones
    Rest,
}

impl Group {
    /// The bytes that its values may take at the server while they wait to be read.
    fn weight(&self) -> u64 {
        self.rows.iter().map(|row| row.bytes.unwrap_or(0).min(READ)).sum()
    }

    /// Cut into groups whose values are read in one go.
    pub(super) fn split(mut self) -> Vec<Group> {
        let mut groups = Vec::new();
        while !self.rows.is_empty() {
            let mut sum = 0;
            let fit = self.rows.iter().take_while(|row| {
                let fits = sum <= READ;
                sum += row.bytes.unwrap_or(0).min(READ);
                fits
            });
            let fit = fit.count();
            let (keys, rows) = (self.keys.split_off(fit), self.rows.split_off(fit));
            let rest = Group { keys, rows, wishes: Vec::new(), found: Vec::new(), ..self };
            groups.push(std::mem::replace(&mut self, rest));
        }
        groups
    }
}

/// All that is under way in one database.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// The cursor behind the last batch; `None` at the end
    pub(super) next: Option<u64>,
    /// From the oldest on that is not finished
    batches: VecDeque<Batch>,
    /// The number of the oldest
    first: u64,
    /// Groups that were sent
    sent: VecDeque<Group>,
    /// Groups whose values are to be asked for
    ready: VecDeque<Group>,
    /// Keys of both
    keys: usize,
}

impl Flow {
    pub(super) fn from(cursor: Option<u64>) -> Self {
        Flow { next: cursor, ..Flow::default() }
    }

    /// How many keys are under way.
    pub(super) fn keys(&self) -> usize {
        self.keys
    }

    pub(super) fn is_idle(&self) -> bool {
        self.sent.is_empty()
    }

    /// Takes in what SCAN returned.
    pub(super) fn accept(&mut self, batch: Batch) {
        self.next = Some(batch.cursor).filter(|cursor| *cursor != 0);
        self.batches.push_back(batch);
        self.forget_finished();
    }

    /// The next group of keys to look up, of up to so many.
    pub(super) fn take(&mut self, most: usize) -> Option<Group> {
        for (batch, number) in self.batches.iter_mut().zip(self.first..) {
            let keys = batch.take(most);
            if !keys.is_empty() {
                self.keys += keys.len();
                return Some(Group {
                    batch: number,
                    keys,
                    stage: Stage::First,
                    rows: Vec::new(),
                    wishes: Vec::new(),
                    found: Vec::new(),
                    sent: Instant::now(),
                });
            }
        }
        None
    }

    pub(super) fn batch(&self, group: &Group) -> &Batch {
        &self.batches[usize::try_from(group.batch - self.first).unwrap_or(usize::MAX)]
    }

    pub(super) fn sent(&mut self, group: Group) {
        self.sent.push_back(group);
    }

    /// The group whose answers come next.
    pub(super) fn answered(&mut self) -> Option<Group> {
        self.sent.pop_front()
    }

    /// A group whose values are to be asked for as soon as there is room.
    pub(super) fn ready(&mut self, group: Group) {
        self.ready.push_back(group);
    }

    /// A group whose values can be asked for. Answers wait in the server's memory, so not all are at once.
    pub(super) fn take_ready(&mut self) -> Option<Group> {
        const MOST: u64 = 4 * READ;
        let asked = self.sent.iter().filter(|group| group.stage == Stage::Values);
        let weight: u64 = asked.map(Group::weight).sum();
        let next = self.ready.front()?;
        if weight > 0 && weight + next.weight() > MOST {
            return None;
        }
        self.ready.pop_front()
    }

    /// The observer was told of a group's keys.
    pub(super) fn finish(&mut self, group: &Group) {
        let at = usize::try_from(group.batch - self.first).unwrap_or(usize::MAX);
        for key in &group.keys {
            self.batches[at].finish(*key);
        }
        self.keys -= group.keys.len();
        self.forget_finished();
    }

    fn forget_finished(&mut self) {
        while self.batches.front().is_some_and(Batch::is_finished) {
            self.batches.pop_front();
            self.first += 1;
        }
    }

    /// Forgets what was sent, after the connection broke.
    pub(super) fn send_again(&mut self) {
        self.sent.clear();
        self.ready.clear();
        self.keys = 0;
        self.batches.iter_mut().for_each(Batch::ask_again);
    }

    /// The batches that are not finished, the oldest first, with those behind them.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = &Batch> {
        self.batches.iter()
    }
}
