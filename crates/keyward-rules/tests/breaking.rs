//! The laws of comparing two versions of a schema.

use keyward_rules::{BreakingOptions, Rule, Tier, breaking};
use keyward_schema::model::Date;
use keyward_schema::{Diagnostic, Schema, read};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const TODAY: Date = Date { year: 2026, month: 11, day: 17 };

/// Types of which each holds the one before it.
const LADDERS: [&[&str]; 3] =
    [&["uuid", "slug", "text"], &["digits(4)", "hex", "word", "text"], &["unix", "uint", "text"]];

fn compare(old: &Schema, new: &Schema) -> Vec<Diagnostic> {
    breaking(old, new, &BreakingOptions { today: TODAY, tiers: &[], measured: None }).findings
}

fn rules(findings: &[Diagnostic]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.rule).collect()
}

fn schema(text: &str) -> Schema {
    let loaded = read(text);
    loaded.schema.unwrap_or_else(|errors| panic!("{}\n{text}", errors[0].message))
}

fn with_pattern(pattern: &str) -> Schema {
    schema(&format!(
        "version = 1\n[keyspace]\nname = \"a\"\nprefix = \"app:\"\n[keys.it]\npattern = \"{pattern}\"\nvalue = \"uint\"\nttl = \"1h\"\n"
    ))
}

fn ty() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "text",
        "uuid",
        "int",
        "uint",
        "digits(3)",
        "hex",
        "hex(8)",
        "word",
        "slug",
        "locale",
        "date",
        "unix",
        "ip",
        "encoded",
    ])
}

/// A pattern of a few segments, each a word, a parameter, or a word with a parameter behind it.
fn pattern() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["a", "b", "cart", "v2_"]);
    let segment = (word, prop::option::of(ty()), any::<bool>());
    prop::collection::vec(segment, 1..4).prop_map(|segments| {
        let segments =
            segments.into_iter().enumerate().map(|(number, (word, ty, glued))| match ty {
                None => word.to_owned(),
                Some(ty) if glued => format!("{word}{{p{number}:{ty}}}"),
                Some(ty) => format!("{{p{number}:{ty}}}"),
            });
        segments.collect::<Vec<_>>().join(":")
    })
}

/// What stands between backticks in a message.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_schema_breaks_nothing_of_itself(pattern in pattern()) {
        let (old, new) = (with_pattern(&pattern), with_pattern(&pattern));
        prop_assert_eq!(rules(&compare(&old, &new)), Vec::<&str>::new());
    }

    #[test]
    fn a_type_that_takes_more_narrows_nothing(ladder in prop::sample::select(LADDERS.to_vec()), from in 0usize..3, by in 1usize..3) {
        let from = from.min(ladder.len() - 2);
        let to = (from + by).min(ladder.len() - 1);
        let of = |at: usize| with_pattern(&format!("cart:{{id:{}}}", ladder[at]));
        let widened = compare(&of(from), &of(to));
        prop_assert!(!rules(&widened).contains(&"param-narrowed"), "{:?}", widened);
        prop_assert!(rules(&widened).contains(&"param-widened"), "{:?}", widened);
        let narrowed = compare(&of(to), &of(from));
        prop_assert!(rules(&narrowed).contains(&"param-narrowed"), "{:?}", narrowed);
        prop_assert!(!rules(&narrowed).contains(&"param-widened"), "{:?}", narrowed);
    }

    /// A key that is said to be lost was one before and is none now; a new one the other way round.
    #[test]
    fn a_witness_is_a_key_of_one_version_only(before in pattern(), after in pattern()) {
        let (old, new) = (with_pattern(&before), with_pattern(&after));
        let is_key = |schema: &Schema, key: &str| schema.compiled.classify(key.as_bytes()).is_some();
        for finding in compare(&old, &new) {
            let witness = quoted(&finding.message).find(|it| it.starts_with("app:"));
            match (finding.rule, witness) {
                ("pattern-changed" | "param-narrowed", Some(key)) => {
                    prop_assert!(is_key(&old, key) && !is_key(&new, key), "{}: {} → {}", finding.message, before, after);
                }
                ("param-widened", Some(key)) => {
                    prop_assert!(!is_key(&old, key) && is_key(&new, key), "{}: {} → {}", finding.message, before, after);
                }
                ("key-reread", Some(key)) => {
                    prop_assert!(is_key(&old, key) && is_key(&new, key), "{}: {} → {}", finding.message, before, after);
                }
                _ => {}
            }
        }
    }

    /// Whatever is not reported as lost is found: keys of the old version are tried one by one.
    #[test]
    fn a_key_that_is_not_reported_is_found(before in pattern(), after in pattern(), seed in any::<u32>()) {
        let (old, new) = (with_pattern(&before), with_pattern(&after));
        let found = compare(&old, &new);
        let lost = rules(&found).iter().any(|rule| ["pattern-changed", "param-narrowed", "keyspace-moved"].contains(rule));
        let definition = old.compiled.definitions().next().unwrap();
        let mut state = seed as usize;
        let mut choose = |ways: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % ways.max(1)
        };
        for len in 1..6 {
            let values: Vec<String> = (0..definition.params().len())
                .map(|param| definition.sample(param, len, &mut choose).unwrap())
                .collect();
            let values: Vec<_> = values.iter().map(|value| value.as_str().into()).collect();
            let Ok(key) = definition.build(&values) else { continue };
            let is_found = new.compiled.classify(key.as_bytes()).is_some();
            prop_assert!(is_found || lost, "`{}` is lost: {} → {}", key, before, after);
        }
    }
}

#[test]
fn every_rule_on_changes_has_a_tier_and_no_other_has() {
    for rule in Rule::ALL {
        assert_eq!(rule.tier().is_some(), rule.is_breaking(), "{rule}");
    }
    for tier in Tier::ALL {
        assert!(Rule::ALL.iter().any(|rule| rule.tier() == Some(tier)), "{}", tier.name());
    }
}

#[test]
fn a_tier_that_is_not_asked_for_is_not_judged() {
    let (old, new) = (with_pattern("cart:{id:slug}"), with_pattern("basket:{user_id:slug}"));
    let of = |tiers: &[Tier]| {
        let options = BreakingOptions { today: TODAY, tiers, measured: None };
        rules(&breaking(&old, &new, &options).findings)
    };
    assert_eq!(of(&[Tier::Data]), ["pattern-changed"]);
    assert_eq!(of(&[Tier::Code]), ["params-changed"]);
    assert_eq!(of(&[Tier::Ops]), ["acl-outgrown"]);
    assert_eq!(of(&[]).len(), 3);
}

#[test]
fn rules_that_are_off_are_not_applied() {
    let text = "version = 1\n[keyspace]\nname = \"a\"\n[rules]\npattern-changed = \"off\"\n[keys.it]\npattern = \"PATTERN\"\nttl = \"1h\"\n";
    let (old, new) = (schema(&text.replace("PATTERN", "a")), schema(&text.replace("PATTERN", "b")));
    assert_eq!(rules(&compare(&old, &new)), ["acl-outgrown"]);
}

#[test]
fn a_definition_beside_many_narrower_ones_is_compared() {
    let with = |ty: &str| {
        let mut text =
            "version = 1\n[keyspace]\nname = \"a\"\n[keys.other]\npattern = \"{rest...}\"\n"
                .to_owned();
        for number in 0..200 {
            text += &format!("[keys.k{number}]\npattern = \"k{number}:{{id:{ty}}}\"\n");
        }
        schema(&text)
    };
    let grown = rules(&compare(&with("uint"), &with("slug")));
    assert!(
        grown.iter().all(|rule| *rule == "new-reservation" || *rule == "param-widened"),
        "{grown:?}"
    );
    let shrunk = compare(&with("slug"), &with("uint"));
    assert!(shrunk.iter().all(|it| it.rule == "param-narrowed"), "{:?}", rules(&shrunk));
    assert_eq!(
        shrunk[0].message,
        "`id` of `k0` does not take `a` any more: `k0:a` belongs to `other` now"
    );
}

/// The five conventions against themselves, and against what a team might do to them.
#[test]
fn the_conventions_break_when_they_are_changed() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for convention in
        ["reed-cms", "media-gateway", "document-library", "binary-options", "xeuz-cloud"]
    {
        let text = fs::read_to_string(examples.join(convention).join("keyward.toml")).unwrap();
        let old = schema(&text);
        assert_eq!(rules(&compare(&old, &schema(&text))), [""; 0], "{convention}");
        let other = text.replacen("\npattern = \"", "\npattern = \"moved:", 1);
        let found = compare(&old, &schema(&other));
        assert!(rules(&found).contains(&"pattern-changed"), "{convention}: {:?}", rules(&found));
        for finding in &found {
            assert!(
                !finding.labels.is_empty() && finding.subject.is_some(),
                "{convention}: {finding:?}"
            );
        }
    }
}
