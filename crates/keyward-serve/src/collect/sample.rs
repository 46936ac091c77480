//! Some keys of each definition, masked: what a page shows of keys that are as declared.

use crate::state::{Sample, lock};
use keyward_audit::{Listener, Row};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

/// Keys that are kept of a definition.
const KEPT: usize = 10;

/// The samples of all shards.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples {
    all: Arc<Mutex<BTreeMap<(String, String), Reservoir>>>,
}

/// Each key is as likely to be kept as any other.
#[derive(Debug, Default)]
struct Reservoir {
    seen: usize,
    kept: Vec<Sample>,
}

impl Reservoir {
    /// Where the next key goes, if it is kept.
    fn place(&mut self) -> Option<usize> {
        self.seen += 1;
        let place = if self.seen <= KEPT { self.seen - 1 } else { fastrand::usize(..self.seen) };
        (place < KEPT).then_some(place)
    }

    fn put(&mut self, place: usize, sample: Sample) {
        match self.kept.get_mut(place) {
            Some(kept) => *kept = sample,
            None => self.kept.push(sample),
        }
    }
}

impl Samples {
    /// What listens to one shard. It gives back what it has when it is dropped, so that no thread waits for
    /// another with each key.
    pub(super) fn listener(&self) -> Listener {
        let mut shard = Shard { all: self.clone(), own: HashMap::new() };
        Box::new(move |row| shard.see(row))
    }

    /// What was kept.
    pub(super) fn take(&self) -> BTreeMap<(String, String), Vec<Sample>> {
        let all = std::mem::take(&mut *lock(&self.all));
        all.into_iter().map(|(name, it)| (name, it.kept)).collect()
    }
}

struct Shard {
    all: Samples,
    /// By keyspace, then by definition, so that a key is looked up without a new text
    own: HashMap<String, HashMap<String, Reservoir>>,
}

impl Shard {
    fn see(&mut self, row: &Row<'_>) {
        let (Some(schema), Some(definition), "defined") = (row.schema, row.definition, row.class)
        else {
            return;
        };
        if row.expired {
            return;
        }
        if !self.own.contains_key(schema) {
            self.own.insert(schema.to_owned(), HashMap::new());
        }
        let Some(definitions) = self.own.get_mut(schema) else { return };
        if !definitions.contains_key(definition) {
            definitions.insert(definition.to_owned(), Reservoir::default());
        }
        let Some(reservoir) = definitions.get_mut(definition) else { return };
        if let Some(place) = reservoir.place() {
            let sample = Sample {
                key: row.key.to_string(),
                key_type: row.key_type.to_owned(),
                length: row.length,
                bytes: row.bytes,
                ttl: row.ttl,
            };
            reservoir.put(place, sample);
        }
    }
}

impl Drop for Shard {
    fn drop(&mut self) {
        let mut all = lock(&self.all.all);
        for (schema, definitions) in self.own.drain() {
            for (definition, own) in definitions {
                let merged = all.entry((schema.clone(), definition)).or_default();
                merged.seen += own.seen;
                for sample in own.kept {
                    if merged.kept.len() < KEPT {
                        merged.kept.push(sample);
                    } else if fastrand::usize(..merged.seen) < own.seen {
                        let place = fastrand::usize(..KEPT);
                        merged.kept[place] = sample;
                    }
                }
            }
        }
    }
}
