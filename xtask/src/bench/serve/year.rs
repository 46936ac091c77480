//! A year of history, as it is after it was thinned out: copies of a real audit at other times.

use anyhow::{Context, Result};
use rusqlite::{Connection, params};
use std::fs;
use std::path::Path;

const MINUTE: i64 = 60 * 1000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Writes it, and says how many audits there are and how large the file is.
pub(super) fn write(path: &Path) -> Result<(usize, u64)> {
    let mut connection = Connection::open(path)?;
    let change = connection.transaction()?;
    let (first, now, server): (i64, i64, i64) = change.query_row(
        "SELECT id, at, server FROM audits ORDER BY at DESC LIMIT 1",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let moments = moments(15 * MINUTE);
    for (number, ago) in moments.iter().enumerate() {
        // Numbers differ from audit to audit, as they do on a server.
        let more = i64::try_from(number % 97).context("a small number")?;
        change.execute(
            "INSERT INTO audits(server, at, took, schemas, complete, keys, bytes, judged, compliant, unknown_keys,
                 unknown_bytes, foreign_keys, no_ttl, errors, warnings)
             SELECT server, ?2, took, schemas, complete, keys + ?3, bytes + 100 * ?3, judged, compliant - ?3,
                 unknown_keys, unknown_bytes, foreign_keys, no_ttl, errors, warnings FROM audits WHERE id = ?1",
            params![first, now - ago, more],
        )?;
        let id = change.last_insert_rowid();
        change.execute(
            "INSERT INTO counted SELECT ?2, definition, keys + ?3, bytes + 100 * ?3, no_ttl, findings, p50, p99
             FROM counted WHERE audit = ?1",
            params![first, id, more],
        )?;
        change.execute(
            "INSERT INTO reports SELECT ?2, packed FROM reports WHERE audit = ?1",
            params![first, id],
        )?;
    }
    let mut add =
        change.prepare("INSERT OR REPLACE INTO polls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for ago in self::moments(MINUTE) {
        let (at, up) = (now - ago, 366 * DAY - ago);
        add.execute(params![
            server,
            at,
            40_000_000 + up / 1000,
            1_i64 << 30,
            1000 + up % 500,
            40 + up % 7,
            up,
            up / 9,
            0,
            up / 50
        ])?;
    }
    drop(add);
    for month in 1..12 {
        let at = now - month * 30 * DAY;
        change.execute(
            "INSERT OR REPLACE INTO changes VALUES (?, ?, 'x', 'added kind_1')",
            params![server, at],
        )?;
    }
    change.commit()?;
    drop(connection);
    Ok((moments.len() + 1, fs::metadata(path)?.len()))
}

/// How long ago: so often in the last day, each hour of a month, each day of a year.
fn moments(step: i64) -> Vec<i64> {
    let day = (1..).map(|it| it * step).take_while(|ago| *ago < DAY);
    let month = (24..31 * 24).map(|it| it * HOUR);
    let year = (31..365).map(|it| it * DAY);
    day.chain(month).chain(year).collect()
}
