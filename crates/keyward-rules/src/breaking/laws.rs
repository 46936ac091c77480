//! The laws of comparing versions with several definitions that take keys of each other: key by key, what is said must
//! be so, and what is so must be said.

use super::Change;
use crate::harness::versions;
use keyward_pattern::prove::{self, OverlapKind};
use keyward_schema::model::Schema;
use proptest::prelude::*;
use std::fmt::Write as _;

/// What segments of keys are: words of the patterns, and values of their types.
const WORDS: [&str; 8] = ["x", "y", "h", "a", "7", "07", "v7", "a-b"];

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// A pattern that has keys in common with many others.
fn pattern() -> impl Strategy<Value = String> {
    let first = prop::sample::select(vec!["x", "x", "x", "y", "{k:word}", "{k:slug}"]);
    let rest = |hole: &'static str| {
        let segments =
            ["a", "7", "{}", "{:uint}", "{:slug}", "{:word}", "{:digits(2)}", "v{:uint}", "{...}"];
        let segments = segments.map(|it| it.replace('{', &format!("{{{hole}")));
        prop::sample::select(segments.to_vec())
    };
    (first, prop::option::of(rest("i")), prop::option::of(rest("j"))).prop_map(
        |(first, second, third)| {
            let all = [Some(first.to_owned()), second, third];
            all.into_iter().flatten().collect::<Vec<_>>().join(":")
        },
    )
}

/// Some definitions, the last of which may hold keys of the first.
fn definitions() -> impl Strategy<Value = String> {
    let patterns = prop::collection::vec(prop::option::of(pattern()), NAMES.len());
    (patterns, any::<bool>()).prop_map(|(patterns, holder)| {
        let mut text = String::new();
        for (name, pattern) in NAMES.iter().zip(&patterns) {
            if let Some(pattern) = pattern {
                let _ = write!(text, "[keys.{name}]\npattern = \"{pattern}\"\n");
            }
        }
        if holder && patterns[0].is_some() {
            text += "[keys.holder]\npattern = \"h:{of}\"\nparams = { of = { key = \"a\" } }\n";
        }
        text
    })
}

/// Two versions that are sound: whose key a key is, is decided.
fn sound(old: &str, new: &str) -> Option<(Schema, Schema)> {
    let (_, old, new) = versions(old, new);
    let is_sound = |schema: &Schema| {
        let found = prove::overlaps(&schema.compiled);
        found.complete
            && found.overlaps.iter().all(|it| matches!(it.kind, OverlapKind::Reserved { .. }))
            && prove::ambiguities(&schema.compiled).is_empty()
    };
    (is_sound(&old) && is_sound(&new)).then_some((old, new))
}

/// Every key of up to four segments of those words.
fn keys() -> Vec<String> {
    let mut keys: Vec<String> = WORDS.map(str::to_owned).to_vec();
    let mut last = keys.clone();
    for _ in 1..4 {
        let longer = last.iter().flat_map(|key| WORDS.map(|word| format!("{key}:{word}")));
        last = longer.collect();
        keys.extend(last.iter().cloned());
    }
    keys
}

fn owner<'s>(schema: &'s Schema, key: &str) -> Option<&'s str> {
    let id = schema.compiled.classify(key.as_bytes())?;
    Some(&schema.keys[id.index()].name.value)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_of_a_key_is_so(old in definitions(), new in definitions()) {
        let Some((old, new)) = sound(&old, &new) else { return Ok(()) };
        let change = Change::new(&old, &new, None);
        prop_assert!(change.complete);
        for pair in &change.pairs {
            let (before, after) = (pair.old.name.as_str(), pair.new.name.as_str());
            prop_assert!(!pair.keys.uncompared);
            if let Some(lost) = &pair.keys.lost {
                prop_assert_eq!(owner(&old, &lost.key), Some(before));
                prop_assert_ne!(owner(&new, &lost.key), Some(after));
                prop_assert_eq!(owner(&new, &lost.key), lost.now.as_deref());
            }
            if let Some(gained) = &pair.keys.gained {
                prop_assert_ne!(owner(&old, gained), Some(before));
                prop_assert_eq!(owner(&new, gained), Some(after));
            }
            if let Some(shared) = &pair.keys.shared {
                prop_assert_eq!(owner(&old, shared), Some(before));
                prop_assert_eq!(owner(&new, shared), Some(after));
            }
        }
        for gone in &change.removed {
            if let Some(lost) = &gone.lost {
                prop_assert_eq!(owner(&old, &lost.key), Some(gone.definition.name.as_str()));
                prop_assert_eq!(owner(&new, &lost.key), lost.now.as_deref());
            }
        }
        for taken in &change.taken {
            prop_assert_eq!(owner(&old, &taken.key), Some(taken.from.name.as_str()));
            prop_assert_eq!(owner(&new, &taken.key), Some(taken.by.name.as_str()));
        }
    }

    #[test]
    fn what_becomes_of_a_key_is_said(old in definitions(), new in definitions()) {
        let Some((old, new)) = sound(&old, &new) else { return Ok(()) };
        let change = Change::new(&old, &new, None);
        for key in keys() {
            let (Some(before), now) = (owner(&old, &key), owner(&new, &key)) else { continue };
            let Some(pair) = change.pair(before) else {
                prop_assert!(change.removed.iter().any(|it| it.definition.name.value == before));
                continue;
            };
            let is_taken =
                |by: &str| change.taken.iter().any(|it| it.from.name.value == before && it.by.name.value == by);
            match now {
                Some(now) if now == pair.new.name.value => {
                    prop_assert!(pair.keys.same || pair.keys.shared.is_some(), "`{}` stays", key);
                }
                Some(now) => {
                    let is_said = is_taken(now) || pair.keys.lost.is_some();
                    prop_assert!(is_said, "`{}` of `{}` is `{}`'s now", key, before, now);
                }
                None => prop_assert!(pair.keys.lost.is_some(), "`{}` of `{}` is lost", key, before),
            }
        }
        for key in keys() {
            let (None, Some(now)) = (owner(&old, &key), owner(&new, &key)) else { continue };
            if let Some(pair) = change.pairs.iter().find(|pair| pair.new.name.value == now) {
                prop_assert!(pair.keys.gained.is_some(), "`{}` is new", key);
            }
        }
    }

    /// What one direction loses, the other gains.
    #[test]
    fn the_way_back_is_the_mirror_image(old in definitions(), new in definitions()) {
        let Some((old, new)) = sound(&old, &new) else { return Ok(()) };
        let (there, back) = (Change::new(&old, &new, None), Change::new(&new, &old, None));
        for pair in there.pairs.iter().filter(|pair| !pair.is_renamed()) {
            let mirrored = back.pair(&pair.new.name).filter(|it| !it.is_renamed());
            let Some(mirrored) = mirrored else { continue };
            let lost = |lost: &Option<super::change::Lost>| lost.as_ref().map(|it| it.key.clone());
            prop_assert_eq!(lost(&pair.keys.lost), mirrored.keys.gained.clone());
            prop_assert_eq!(pair.keys.gained.clone(), lost(&mirrored.keys.lost));
            prop_assert_eq!(pair.keys.shared.is_some(), mirrored.keys.shared.is_some());
        }
    }
}
