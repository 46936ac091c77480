//! An audit that was stopped, kept in a file so that it goes on after a restart.

use crate::config::Source;
use crate::folder;
use keyward_audit::live::shown;
use keyward_audit::{ResumeFile, Stopped, Terms, now};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// The largest file that is read.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// What must be the same for an audit to go on.
pub(super) fn terms(source: &Source, schemas: &str) -> Terms {
    let mut options = BTreeMap::from([("primary".to_owned(), source.options.primary.to_string())]);
    options.extend(source.options.db.map(|db| ("db".to_owned(), db.to_string())));
    Terms { source: shown(&source.url), schemas: schemas.to_owned(), options }
}

/// What was counted before, where it can go on; whatever else the file holds is of no use.
pub(super) fn read(path: &Path, terms: &Terms) -> Option<Stopped> {
    let bytes = keyward_fact::read_file(path, MAX_BYTES).ok()?;
    let file = ResumeFile::parse(&bytes).ok()?;
    file.check(terms).ok()?;
    Some(file.stopped)
}

/// Keeps what was counted. A server that does not say who it is would not be known again.
pub(super) fn write(path: &Path, terms: Terms, today: String, stopped: &Stopped) -> io::Result<()> {
    if stopped.resume.shards.iter().any(|shard| shard.run_id.is_empty()) {
        return Ok(());
    }
    let file = ResumeFile::new(terms, today, None, stopped.clone(), now());
    folder::replace(path, file.text()?.as_bytes())
}

/// There is nothing left to resume.
pub(super) fn remove(path: &Path) {
    // It may never have been there.
    let _ = fs::remove_file(path);
}
