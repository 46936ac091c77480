//! What was typed and what the environment says, as what it means.

use crate::args::Global;
use crate::failure::{Failure, Result};
use crate::today::today;
use keyward_audit::live::{is_url, shown};
use keyward_schema::model::Date;
use std::path::{Path, PathBuf};

/// The name of a schema that nobody names.
pub(crate) const SCHEMA_FILE: &str = "keyward.toml";

/// What holds for the whole run.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The schemas that were named
    named: Vec<PathBuf>,
    /// The day on which migrations are judged
    pub(crate) today: Date,
    /// What time it is, in milliseconds since 1970
    pub(crate) now: u64,
}

impl Settings {
    /// Takes everything from the arguments and the environment, once.
    pub(crate) fn new(global: &Global) -> Result<Self> {
        let (today, now) = today()?;
        Ok(Settings { named: global.schemas.clone(), today, now })
    }

    /// The schemas that were named by `--schema`.
    pub(crate) fn named(&self) -> &[PathBuf] {
        &self.named
    }

    /// The schemas to work on: those that were named, here or by the command, or the nearest one
    /// upwards from the working directory.
    pub(crate) fn schemas(&self, more: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for path in self.named.iter().chain(more) {
            refuse_url(path)?;
            if !paths.iter().any(|known| is_same(known, path)) {
                paths.push(path.clone());
            }
        }
        if paths.is_empty() {
            paths.push(find()?);
        }
        Ok(paths)
    }
}

/// A URL is no file, and what reads it would show its password.
fn refuse_url(path: &Path) -> Result<()> {
    match path.to_str() {
        Some(text) if is_url(text) && !path.exists() => {
            Err(Failure::new(format!("`{}` is a URL, and a schema is a file", shown(text)))
                .help("`keyward audit URL` audits a server"))
        }
        _ => Ok(()),
    }
}

fn is_same(left: &Path, right: &Path) -> bool {
    match (left.canonicalize(), right.canonicalize()) {
        (Ok(left), Ok(right)) => left == right,
        _ => left == right,
    }
}

/// The nearest `keyward.toml`, as a path from the working directory.
fn find() -> Result<PathBuf> {
    let nothing = || {
        Failure::new(format!("no {SCHEMA_FILE} found in this folder or its parents"))
            .help("`keyward init` writes one to start from, or name a file with `--schema FILE`")
    };
    let here = std::env::current_dir().map_err(|_| nothing())?;
    let mut shown = PathBuf::new();
    for folder in here.ancestors() {
        if folder.join(SCHEMA_FILE).exists() {
            return Ok(shown.join(SCHEMA_FILE));
        }
        shown.push("..");
    }
    Err(nothing())
}
