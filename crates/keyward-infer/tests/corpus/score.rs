//! How well a schema describes a keyspace whose true patterns are known.

use crate::apps::Key;
use anyhow::{Result, anyhow};
use keyward_pattern::Glob;
use std::collections::BTreeMap;

/// The measures of one application, or their averages.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Score {
    /// The share of keys that a definition has
    pub(crate) coverage: f64,
    /// Definitions, for each true pattern
    pub(crate) ratio: f64,
    /// The share of keys whose definition belongs mostly to their true pattern
    pub(crate) purity: f64,
    /// The share of keys that are in the largest definition of their true pattern
    pub(crate) wholeness: f64,
}

/// A score, and what it was counted from.
#[derive(Debug)]
pub(crate) struct Scored {
    pub(crate) score: Score,
    pub(crate) keys: usize,
    pub(crate) definitions: usize,
    pub(crate) patterns: usize,
}

impl Score {
    pub(crate) fn average<'s>(scores: impl ExactSizeIterator<Item = &'s Score>) -> Score {
        let count = scores.len() as f64;
        let mut sum = Score::default();
        for score in scores {
            sum.coverage += score.coverage / count;
            sum.ratio += score.ratio / count;
            sum.purity += score.purity / count;
            sum.wholeness += score.wholeness / count;
        }
        sum
    }
}

/// Reads a schema, classifies all keys with it, and compares that with what is true. A `[foreign]` glob is a definition.
pub(crate) fn score(schema: &str, keys: &[Key]) -> Result<Scored> {
    let schema = keyward_schema::read(schema).schema.map_err(|errors| {
        let messages: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
        anyhow!("the schema cannot be read: {}", messages.join("; "))
    })?;
    let foreign: Vec<Glob> = schema.foreign.iter().map(|it| Glob::new(&it.glob.value)).collect();
    let definition = |key: &[u8]| match schema.compiled.classify(key) {
        Some(id) => Some(id.index()),
        None => foreign.iter().position(|it| it.matches(key)).map(|at| schema.keys.len() + at),
    };
    let found: Vec<_> = keys.iter().map(|key| (definition(&key.name), key.pattern)).collect();
    let definitions = schema.keys.len() + foreign.len();
    Ok(compare(&found, definitions))
}

/// Compares the definition of each key, if it has one, with its true pattern.
fn compare(keys: &[(Option<usize>, usize)], definitions: usize) -> Scored {
    let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let covered = keys.iter().filter_map(|(definition, pattern)| Some(((*definition)?, *pattern)));
    covered.clone().for_each(|pair| *counts.entry(pair).or_default() += 1);
    let mut most_of_definition: BTreeMap<usize, usize> = BTreeMap::new();
    let mut most_of_pattern: BTreeMap<usize, usize> = BTreeMap::new();
    for ((definition, pattern), count) in &counts {
        let keep = |most: &mut usize| *most = (*most).max(*count);
        keep(most_of_definition.entry(*definition).or_default());
        keep(most_of_pattern.entry(*pattern).or_default());
    }
    let patterns =
        keys.iter().map(|(_, pattern)| pattern).collect::<std::collections::BTreeSet<_>>();
    let share = |count: usize| count as f64 / keys.len() as f64;
    Scored {
        score: Score {
            coverage: share(covered.count()),
            ratio: definitions as f64 / patterns.len() as f64,
            purity: share(most_of_definition.values().sum()),
            wholeness: share(most_of_pattern.values().sum()),
        },
        keys: keys.len(),
        definitions,
        patterns: patterns.len(),
    }
}

fn key(name: &str, pattern: usize) -> Key {
    Key { name: name.as_bytes().into(), kind: "string".to_owned(), pattern }
}

fn schema(rest: &str) -> String {
    format!("version = 1\n\n[keyspace]\nname = \"x\"\n\n{rest}")
}

#[test]
fn a_schema_that_says_what_is_true_scores_one() {
    let keys = [key("a:1", 0), key("a:2", 0), key("b", 1)];
    let schema = schema("[keys.a]\npattern = \"a:{n:uint}\"\n\n[keys.b]\npattern = \"b\"\n");
    let scored = score(&schema, &keys).unwrap();
    let one = Score { coverage: 1.0, ratio: 1.0, purity: 1.0, wholeness: 1.0 };
    assert_eq!((scored.score, scored.keys, scored.definitions), (one, 3, 2));
}

#[test]
fn a_definition_that_takes_too_much_is_not_pure() {
    let keys = [key("a:1", 0), key("a:2", 0), key("a:x", 1), key("a:y", 1), key("a:z", 1)];
    let scored = score(&schema("[keys.a]\npattern = \"a:{n}\"\n"), &keys).unwrap();
    assert_eq!(scored.score, Score { coverage: 1.0, ratio: 0.5, purity: 0.6, wholeness: 1.0 });
}

#[test]
fn definitions_that_split_a_pattern_leave_it_in_pieces() {
    let keys = [key("a:x", 0), key("a:y", 0), key("a:z", 0), key("c", 1)];
    let schema = schema(
        "[keys.x]\npattern = \"a:x\"\n\n[keys.y]\npattern = \"a:y\"\n\n[foreign.c]\nglob = \"c*\"\n",
    );
    let scored = score(&schema, &keys).unwrap();
    assert_eq!(scored.score, Score { coverage: 0.75, ratio: 1.5, purity: 0.75, wholeness: 0.5 });
}

#[test]
fn an_average_counts_each_application_once() {
    let small = score(&schema("[keys.a]\npattern = \"a\"\n"), &[key("a", 0)]).unwrap();
    let keys: Vec<Key> = (0..9).map(|n| key(&format!("b:{n}"), n)).collect();
    let large = score(&schema("[keys.a]\npattern = \"a\"\n"), &keys).unwrap();
    assert_eq!((small.patterns, large.patterns), (1, 9));
    let average = Score::average([&small.score, &large.score].into_iter());
    assert!((average.coverage - 0.5).abs() < 1e-9);
    assert!((average.wholeness - 0.5).abs() < 1e-9);
}
