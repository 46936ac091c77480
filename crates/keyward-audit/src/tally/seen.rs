//! What was seen of one definition's keys.

use crate::facts::Gathered;
use crate::infer::EXAMPLES;
use crate::plan::Planned;
use crate::report::{Count, Example};
use crate::sketch::Sketch;

/// What was seen of one definition's keys.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) gathered: Gathered,
    /// Of each parameter
    pub(crate) sketches: Vec<Sketch>,
    pub(crate) derived: Count,
    /// What was wrong, by its number
    pub(crate) broken: Vec<Broken>,
}

/// Keys with which something is wrong.
#[derive(Debug, Clone, Default)]
pub(crate) struct Broken {
    pub(crate) count: Count,
    /// Those with the least salted hashes
    examples: Vec<(u64, String, Option<String>)>,
}

impl Seen {
    pub(crate) fn new(planned: &Planned) -> Self {
        Seen {
            gathered: Gathered::default(),
            sketches: vec![Sketch::default(); planned.params.len()],
            derived: Count::default(),
            broken: Vec::new(),
        }
    }

    /// Whether a key of this hash would be an example.
    pub(crate) fn wants(&self, slot: usize, order: u64) -> bool {
        self.broken.get(slot).is_none_or(|broken| broken.wants(order))
    }

    pub(crate) fn break_slot(
        &mut self,
        slot: usize,
        bytes: u64,
        order: u64,
        detail: Option<String>,
        key: impl FnOnce() -> String,
    ) {
        if self.broken.len() <= slot {
            self.broken.resize_with(slot + 1, Broken::default);
        }
        self.broken[slot].add(bytes, order, detail, key);
    }
}

impl Broken {
    fn wants(&self, order: u64) -> bool {
        self.examples.len() < EXAMPLES
            || self.examples.last().is_some_and(|(last, _, _)| order < *last)
    }

    pub(crate) fn add(
        &mut self,
        bytes: u64,
        order: u64,
        detail: Option<String>,
        key: impl FnOnce() -> String,
    ) {
        self.count.add(bytes);
        if self.wants(order) {
            let at = self.examples.partition_point(|(known, _, _)| *known < order);
            self.examples.insert(at, (order, key(), detail));
            self.examples.truncate(EXAMPLES);
        }
    }

    pub(crate) fn examples(&self) -> Vec<Example> {
        let example = |(order, key, detail): &(u64, String, Option<String>)| Example {
            hash: format!("{order:016x}"),
            key: key.clone(),
            detail: detail.clone(),
        };
        self.examples.iter().map(example).collect()
    }
}
