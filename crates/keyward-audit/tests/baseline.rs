//! What is worse than a baseline, and what only has another name.

mod support;

use keyward_audit::report::ChangeVerdict;
use keyward_audit::{Report, compare, difference};
use std::fmt::Write as _;
use support::{Dump, audit, schema, told};

const TOLERANCE: f64 = 0.5;

const SHOP: &str = r#"
[keyspace]
name = "shop"
[keys.user]
pattern = "user:{user_id:uint}"
ttl = "none"
[server]
maxmemory = "100b"
[alerts]
memory = "80%"
"#;

/// Keys of words, so many of each.
fn keys<'w>(words: impl IntoIterator<Item = (&'w str, u32)>) -> String {
    let mut commands = String::new();
    for (word, count) in words {
        for number in 0..count {
            let _ = writeln!(commands, "SET {word}:{number} x");
        }
    }
    commands
}

fn report(commands: &str) -> Report {
    told(&audit(vec![schema(SHOP)]), &Dump::of(commands))
}

/// What is new or worse, and how many findings are the same.
#[track_caller]
fn compared(before: &Report, mut after: Report) -> String {
    let diff = difference(before, &after, TOLERANCE);
    compare(&mut after, before, "baseline.json", TOLERANCE);
    let baseline = after.baseline.as_ref().expect("it was compared");
    assert_eq!(diff.is_worse(), baseline.worse > 0);
    let mut lines = Vec::new();
    for finding in &after.findings {
        let change = finding.change.as_ref().expect("each is compared");
        if change.verdict != ChangeVerdict::Same {
            lines.push(format!("{:?}, was {}: {}", change.verdict, change.count, finding.message));
        }
    }
    let gone = diff.findings.iter().filter(|finding| finding.verdict.is_none());
    lines.extend(gone.map(|finding| format!("gone: {}", finding.what)));
    lines.push(format!("worse: {}", baseline.worse));
    lines.join("\n")
}

/// Words that are no person's name: one for each letter.
fn words(count: usize) -> Vec<String> {
    (b'a'..=b'z').take(count).map(|letter| format!("{}ist", char::from(letter))).collect()
}

#[test]
fn one_key_more_of_a_pattern_that_was_not_named_is_the_same() {
    let words = words(24);
    let even = keys(words.iter().map(|word| (word.as_str(), 20)));
    let before = report(&even);
    let last = words.last().unwrap();
    let after = report(&format!("{even}SET {last}:999 x\n"));
    let named = |report: &Report| {
        report.findings.iter().any(|it| it.message.contains(&format!("`{last}:<number>`")))
    };
    assert!(!named(&before) && named(&after));
    assert_eq!(compared(&before, after.clone()), "worse: 0");
    assert_eq!(compared(&after, before), "worse: 0");
}

#[test]
fn a_word_more_that_turns_all_words_into_a_value_is_the_same() {
    let words = words(25);
    let all = |count: usize| {
        let sizes = words[..count].iter().enumerate();
        let users = ("user", 500);
        let sizes = sizes.map(|(at, word)| (word.as_str(), if at == 24 { 1 } else { 20 }));
        report(&keys(sizes.chain([users])))
    };
    let (few, many) = (all(24), all(25));
    assert_eq!(many.findings[0].subject.as_deref(), Some("<word>:<number>"));
    assert_eq!(compared(&few, many.clone()), "worse: 0");
    assert_eq!(compared(&many, few), "worse: 0");
}

#[test]
fn what_makes_the_unknown_more_is_named() {
    let known = [("user", 1400), ("cache", 20), ("sess", 20)];
    let before = report(&keys(known));
    let compare_with = |more: &[(&str, u32)]| {
        let all = known.iter().filter(|(word, _)| more.iter().all(|(other, _)| other != word));
        compared(&before, report(&keys(all.chain(more).copied())))
    };
    insta::assert_snapshot!("another_pattern", compare_with(&[("tmp", 30)]));
    insta::assert_snapshot!("more_of_the_same", compare_with(&[("cache", 60)]));
    insta::assert_snapshot!("fewer", compare_with(&[("cache", 0)]));
    // Each is less than the tolerance.
    let small = [("lock", 5), ("rate", 5), ("tmp", 5)];
    insta::assert_snapshot!("many_small_ones", compare_with(&small));
    // As many in one place as there were in another: the rate is what counts.
    insta::assert_snapshot!("instead", compare_with(&[("cache", 0), ("tmp", 20)]));
}

#[test]
fn memory_that_fills_up_is_worse() {
    let used = |bytes: u32| report(&format!("SET user:1 x\nINFO used_memory {bytes}\n"));
    assert_eq!(compared(&used(81), used(85)), "worse: 0");
    insta::assert_snapshot!(compared(&used(81), used(99)));
    assert_eq!(compared(&used(70), used(81)).lines().last(), Some("worse: 1"));
}
