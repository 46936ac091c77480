//! What must not change the draft of a real application's keys: their order, how they are sharded, and what separates
//! their segments.
#![allow(clippy::cast_possible_truncation, dead_code, reason = "each test uses some of it")]

#[path = "corpus/apps.rs"]
mod apps;
#[path = "corpus/collect.rs"]
mod collect;
mod pretend;
#[path = "corpus/truth.rs"]
mod truth;

use collect::{observed, sample};
use keyward_infer::{Draft, Observed, Options, Sketch, infer, write};
use pretend::Random;

fn draft(sketch: &Sketch) -> Draft {
    infer(sketch, &Options::default().without_foreign())
}

fn shuffled(observed: &[Observed], seed: u64) -> Vec<&Observed> {
    let mut random = Random::new(seed);
    let mut all: Vec<(u64, &Observed)> =
        observed.iter().map(|one| (random.below(u64::MAX), one)).collect();
    all.sort_by_key(|(order, _)| *order);
    all.into_iter().map(|(_, one)| one).collect()
}

#[test]
fn order_and_shards_change_nothing() {
    for app in apps::apps("tune").unwrap() {
        let observed = observed(&app.snapshot);
        let expected = write(&draft(&sample(&observed)), &app.name);
        let mixed = shuffled(&observed, 3);
        let mut whole = Sketch::default();
        for shard in mixed.chunks(mixed.len().div_ceil(3)).rev() {
            whole.merge(sample(shard.iter().copied()));
        }
        assert_eq!(write(&draft(&whole), &app.name), expected, "{}", app.name);
    }
}

/// Applications with colons inside of values: IPv6 addresses.
const OTHERWISE: &[&str] = &["connect-redis"];

#[test]
fn another_separator_has_the_same_patterns() {
    let mut differ = Vec::new();
    for app in apps::apps("tune").unwrap() {
        let before = observed(&app.snapshot);
        let first = draft(&sample(&before));
        let taken = before.iter().any(|one| one.key.contains(&b'|'));
        if first.separator != ':' || taken || OTHERWISE.contains(&app.name.as_str()) {
            continue;
        }
        let renamed = |one: &Observed| {
            let key: Vec<u8> =
                one.key.iter().map(|byte| if *byte == b':' { b'|' } else { *byte }).collect();
            Observed { key: key.into(), ..one.clone() }
        };
        let after: Vec<Observed> = before.iter().map(renamed).collect();
        let second = draft(&sample(&after));
        if patterns(&second) != patterns(&first) {
            differ.push((app.name.clone(), patterns(&first), patterns(&second)));
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
}

/// The patterns, with `:` as separator, and without the names of parameters.
fn patterns(draft: &Draft) -> Vec<String> {
    let pattern = |it: &keyward_infer::draft::Definition| {
        let mut inside = false;
        let text = format!("{}{}", draft.prefix, it.pattern(|_| true)).replace('|', ":");
        let mut out = String::new();
        for char in text.chars() {
            inside = (inside || char == '{') && char != '}' && !(inside && char == ':');
            if !inside || char == '{' {
                out.push(char);
            }
        }
        out
    };
    let mut patterns: Vec<String> = draft.definitions.iter().map(pattern).collect();
    patterns.sort();
    patterns
}
