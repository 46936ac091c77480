//! Reads snapshots of applications.

use keyward_infer::{Content, MOST_BYTES, Observed, Sketch};
use keyward_rdb::{Element, Key, Reader, Show, Value, Visitor};
use std::path::Path;

/// Reads a snapshot as `keyward infer` does.
#[derive(Default)]
struct Collector {
    observed: Vec<Observed>,
    clock: u64,
    content: Content,
}

impl Visitor for Collector {
    fn key(&mut self, _: &Key<'_>) -> Show {
        self.content = Content::default();
        Show::up_to(MOST_BYTES)
    }

    fn element(&mut self, element: &Element<'_>) {
        self.content.see(element);
    }

    fn value(&mut self, key: &Key<'_>, value: &Value) {
        let fact = key.fact(Some(value));
        if fact.expires_at.is_some_and(|at| at <= self.clock) {
            return;
        }
        let mut observed = Observed::new(fact.db, fact.key, fact.key_type.name());
        observed.ttl = fact.expires_at.map(|at| at.saturating_sub(self.clock));
        observed.length = fact.length;
        observed.content = Some(std::mem::take(&mut self.content).finish());
        self.observed.push(observed);
    }
}

/// What was observed of each key of a snapshot.
pub(crate) fn observed(path: &Path) -> Vec<Observed> {
    let created = Reader::open(path).unwrap().read(&mut ()).unwrap().created_at.unwrap();
    let mut collector = Collector { clock: created * 1000, ..Collector::default() };
    Reader::open(path).unwrap().read(&mut collector).unwrap();
    collector.observed
}

/// A sample of these keys.
pub(crate) fn sample<'o>(observed: impl IntoIterator<Item = &'o Observed>) -> Sketch {
    let mut sketch = Sketch::default();
    observed.into_iter().for_each(|one| sketch.observe(one.clone()));
    sketch
}

pub(crate) fn sketch(path: &Path) -> Sketch {
    sample(&observed(path))
}
