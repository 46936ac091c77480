//! The folder `corpus`: snapshots that real applications wrote, and what is true of them.

use crate::truth::Truth;
use anyhow::{Context, Result, bail};
use keyward_rdb::{Reader, Show, Value, Visitor};
use std::path::{Path, PathBuf};

/// One application.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) name: String,
    pub(crate) snapshot: PathBuf,
    pub(crate) truth: Truth,
}

/// A key, its Redis type, and the number of its true pattern.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: Box<[u8]>,
    /// What TYPE answers
    pub(crate) kind: String,
    pub(crate) pattern: usize,
}

/// The applications of a set, `tune` or `held-out`, by name.
pub(crate) fn apps(set: &str) -> Result<Vec<App>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(set);
    let entries = folder.read_dir().with_context(|| folder.display().to_string())?;
    let mut apps = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().context("an application has a name")?;
        let name = name.to_string_lossy().into_owned();
        let truth = Truth::read(&path.join("truth.toml"))?;
        apps.push(App { name, snapshot: path.join("dump.rdb.gz"), truth });
    }
    apps.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(apps)
}

impl App {
    /// All keys that had not expired when the snapshot was taken. Each must have one true pattern, and each pattern a key.
    pub(crate) fn keys(&self) -> Result<Vec<Key>> {
        let mut seen = Seen::default();
        let summary = Reader::open(&self.snapshot)?.read(&mut seen)?;
        let clock = summary.created_at.context("the snapshot says when it was taken")? * 1000;
        let mut keys = Vec::new();
        let mut wrong = Vec::new();
        for (name, kind, expires_at) in seen.0 {
            if expires_at.is_some_and(|at| at <= clock) {
                continue;
            }
            match self.truth.pattern_of(&name, &kind) {
                Ok(pattern) => keys.push(Key { name, kind, pattern }),
                Err(error) => wrong.push(error.to_string()),
            }
        }
        for (at, pattern) in self.truth.patterns.iter().enumerate() {
            if !keys.iter().any(|key| key.pattern == at) {
                wrong.push(format!("no key has the true pattern `{}`", pattern.key));
            }
        }
        if !wrong.is_empty() {
            bail!("{} ({}):\n  {}", self.name, self.truth.software, wrong.join("\n  "));
        }
        Ok(keys)
    }
}

/// Names, types and expiries of all keys.
#[derive(Default)]
struct Seen(Vec<(Box<[u8]>, String, Option<u64>)>);

impl Visitor for Seen {
    fn key(&mut self, _: &keyward_rdb::Key<'_>) -> Show {
        Show::NOTHING
    }

    fn value(&mut self, key: &keyward_rdb::Key<'_>, _: &Value) {
        self.0.push((key.name.into(), key.key_type.name().to_owned(), key.expires_at));
    }
}

#[test]
fn every_key_of_the_corpus_has_one_true_pattern() {
    let mut wrong = Vec::new();
    for set in ["tune", "held-out"] {
        let apps = apps(set).unwrap();
        assert!(!apps.is_empty(), "{set}");
        wrong.extend(apps.iter().filter_map(|app| app.keys().err()).map(|it| it.to_string()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
