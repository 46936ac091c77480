//! The tables, and their version.

use super::{Error, Result};
use rusqlite::{Connection, TransactionBehavior};

/// Rises with each step in [`STEPS`].
const VERSION: i64 = 1;

/// How a file of each version becomes one of the next.
const STEPS: [&str; 1] = ["
CREATE TABLE servers(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE definitions(
    id INTEGER PRIMARY KEY, schema TEXT NOT NULL, name TEXT NOT NULL, UNIQUE(schema, name));
CREATE TABLE audits(
    id INTEGER PRIMARY KEY, server INTEGER NOT NULL REFERENCES servers(id),
    at INTEGER NOT NULL, took INTEGER NOT NULL, schemas TEXT NOT NULL, complete INTEGER NOT NULL,
    keys INTEGER NOT NULL, bytes INTEGER, judged INTEGER NOT NULL, compliant INTEGER NOT NULL,
    unknown_keys INTEGER NOT NULL, unknown_bytes INTEGER, foreign_keys INTEGER NOT NULL,
    no_ttl INTEGER NOT NULL, errors INTEGER NOT NULL, warnings INTEGER NOT NULL,
    UNIQUE(server, at));
CREATE TABLE counted(
    audit INTEGER NOT NULL REFERENCES audits(id) ON DELETE CASCADE,
    definition INTEGER NOT NULL REFERENCES definitions(id),
    keys INTEGER NOT NULL, bytes INTEGER, no_ttl INTEGER NOT NULL, findings INTEGER NOT NULL,
    p50 INTEGER, p99 INTEGER,
    PRIMARY KEY(audit, definition)) WITHOUT ROWID;
CREATE TABLE reports(
    audit INTEGER PRIMARY KEY REFERENCES audits(id) ON DELETE CASCADE, packed BLOB NOT NULL);
CREATE TABLE changes(
    server INTEGER NOT NULL REFERENCES servers(id), at INTEGER NOT NULL, schemas TEXT NOT NULL,
    text TEXT NOT NULL, PRIMARY KEY(server, at)) WITHOUT ROWID;
CREATE TABLE polls(
    server INTEGER NOT NULL REFERENCES servers(id), at INTEGER NOT NULL,
    used_memory INTEGER, maxmemory INTEGER, ops INTEGER, clients INTEGER,
    hits INTEGER, misses INTEGER, evicted INTEGER, expired INTEGER,
    PRIMARY KEY(server, at)) WITHOUT ROWID;
"];

/// Makes a new file what it should be, and an older one too.
pub(super) fn prepare(connection: &mut Connection) -> Result<()> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version > VERSION {
        return Err(Error::Newer(version));
    }
    // Only before the first table is there does this have an effect.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "journal_size_limit", 4 * 1024 * 1024)?;
    // Two connections may begin at the same time.
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = change.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let done = usize::try_from(version).unwrap_or(0);
    for (version, step) in (1_i64..).zip(STEPS).skip(done) {
        change.execute_batch(step)?;
        change.pragma_update(None, "user_version", version)?;
    }
    change.commit()?;
    Ok(())
}
