//! How well a schema finds the patterns that are true of a keyspace.

use std::collections::BTreeMap;
use std::fmt;

/// Four numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Score {
    /// The share of keys that have a definition
    pub(crate) coverage: f64,
    /// Definitions for each true pattern
    pub(crate) ratio: f64,
    /// The share of keys whose definition is mostly of their pattern
    pub(crate) purity: f64,
    /// The share of keys whose pattern is mostly in their definition
    pub(crate) wholeness: f64,
}

impl Score {
    pub(crate) fn values(self) -> [f64; 4] {
        [self.coverage, self.ratio, self.purity, self.wholeness]
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Score { coverage, ratio, purity, wholeness } = self;
        write!(f, "{coverage:.3} {ratio:.2} {purity:.3} {wholeness:.3}")
    }
}

/// Measures a schema by keys with the number of their true pattern. Keys count as much as their pattern has others: a
/// large family does not hide a small one.
pub(crate) fn measure(text: &str, keys: &[(Vec<u8>, usize)]) -> Score {
    let loaded = keyward_schema::read(text);
    let schema = loaded.schema.unwrap_or_else(|errors| {
        panic!(
            "{text}\n{}",
            keyward_schema::render(&loaded.sources, &errors, &keyward_schema::Style::default())
        )
    });
    let unsound = keyward_rules::unsound(&[&schema]);
    assert!(unsound.is_empty(), "{text}\n{unsound:#?}");
    let mut cells: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    let mut sizes: BTreeMap<usize, f64> = BTreeMap::new();
    for (_, pattern) in keys {
        *sizes.entry(*pattern).or_default() += 1.0;
    }
    let (mut all, mut covered) = (0.0, 0.0);
    for (key, pattern) in keys {
        let weight = 1.0 / sizes[pattern];
        all += weight;
        if let Some(id) = schema.compiled.classify(key) {
            covered += weight;
            *cells.entry((id.index(), *pattern)).or_default() += weight;
        }
    }
    let best = |of: fn(&(usize, usize)) -> usize| {
        let mut most: BTreeMap<usize, f64> = BTreeMap::new();
        for (cell, weight) in &cells {
            let entry = most.entry(of(cell)).or_default();
            *entry = entry.max(*weight);
        }
        most.values().sum::<f64>() / covered
    };
    Score {
        coverage: covered / all,
        ratio: schema.keys.len() as f64 / sizes.len() as f64,
        purity: best(|(definition, _)| *definition),
        wholeness: best(|(_, pattern)| *pattern),
    }
}
