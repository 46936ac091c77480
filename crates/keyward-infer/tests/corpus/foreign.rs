//! Compares the table of well-known software with the keys that this software wrote.

use crate::apps::{App, Key, apps};
use keyward_infer::foreign::{Software, known, recognised};
use keyward_pattern::Glob;
use std::collections::{BTreeMap, BTreeSet};

/// All applications, held-out ones too: nothing is inferred from them here.
fn keyspaces() -> BTreeMap<String, Vec<Key>> {
    let all = ["tune", "held-out"].into_iter().flat_map(|set| apps(set).unwrap());
    all.map(|app: App| (app.name.clone(), app.keys().unwrap())).collect()
}

#[test]
fn software_is_recognised_where_it_wrote_keys_and_nowhere_else() {
    for (app, keys) in keyspaces() {
        let facts = keys.iter().map(|key| (&*key.name, key.kind.as_str()));
        let found: BTreeSet<_> = recognised(facts).into_iter().map(|it| it.name.as_str()).collect();
        let wrote = |it: &&Software| it.apps.contains(&app);
        let expected: BTreeSet<_> =
            known().iter().filter(wrote).map(|it| it.name.as_str()).collect();
        assert_eq!(found, expected, "{app}");
    }
}

#[test]
fn every_glob_and_sign_has_keys_that_the_software_wrote() {
    let keyspaces = keyspaces();
    for software in known() {
        if software.apps.is_empty() {
            assert!(software.known_from.starts_with("documentation: "), "{}", software.name);
            continue;
        }
        assert!(software.known_from.starts_with("keys that "), "{}", software.name);
        let keys: Vec<&Key> = software.apps.iter().flat_map(|app| &keyspaces[app]).collect();
        for glob in &software.globs {
            let has_key = keys.iter().any(|key| Glob::new(glob).matches(&key.name));
            assert!(has_key || NEVER_SEEN.contains(&glob.as_str()), "{}: `{glob}`", software.name);
        }
        for sign in &software.signs {
            let matching: Vec<_> =
                keys.iter().filter(|key| Glob::new(&sign.glob).matches(&key.name)).collect();
            assert!(!matching.is_empty(), "{}: `{}`", software.name, sign.glob);
            for key in matching {
                let name = key.name.escape_ascii();
                let expected = sign.r#type.as_ref().unwrap_or(&key.kind);
                assert_eq!(&key.kind, expected, "{}: `{name}`", software.name);
                assert!(software.glob_of(&key.name).is_some(), "{}: `{name}`", software.name);
            }
        }
    }
}

/// Globs of the table whose keys live for moments only: they are known from the library's code.
const NEVER_SEEN: [&str; 2] = ["unacked_mutex", "q:search:*"];

#[test]
fn software_has_all_keys_of_the_applications_that_it_wrote_alone() {
    let keyspaces = keyspaces();
    for software in known().iter().filter(|software| software.whole) {
        for key in software.apps.iter().flat_map(|app| &keyspaces[app]) {
            let name = key.name.escape_ascii();
            assert!(software.glob_of(&key.name).is_some(), "{}: `{name}`", software.name);
        }
    }
}
