//! What is removed: all is kept for a day, one an hour for a month, one a day for as long as asked for, and less where
//! the file gets too large.

use super::Result;
use super::write::int;
use crate::config::Retention;
use rusqlite::{Connection, params};

const HOUR: i64 = 60 * 60 * 1000;
const DAY: i64 = 24 * HOUR;
const MONTH: i64 = 31 * DAY;

/// Removes what is too old, too dense, or too much.
pub(super) fn thin(connection: &mut Connection, retention: &Retention, now: u64) -> Result<()> {
    let now = int(now);
    let oldest = now - i64::try_from(retention.age.as_millis()).unwrap_or(i64::MAX);
    let change = connection.transaction()?;
    for table in ["audits", "polls", "changes"] {
        change.execute(&format!("DELETE FROM {table} WHERE at < ?"), [oldest])?;
    }
    for table in ["audits", "polls"] {
        for (from, to, bucket) in [(now - MONTH, now - DAY, HOUR), (oldest, now - MONTH, DAY)] {
            keep_last(&change, table, (from, to), bucket)?;
        }
    }
    change.commit()?;
    shrink(connection, retention.bytes)
}

/// Keeps the last row of each bucket of time.
fn keep_last(
    connection: &Connection,
    table: &str,
    (from, to): (i64, i64),
    bucket: i64,
) -> Result<()> {
    connection.execute(
        &format!(
            "DELETE FROM {table} WHERE at >= ?1 AND at < ?2 AND (server, at) NOT IN
                 (SELECT server, max(at) FROM {table} WHERE at >= ?1 AND at < ?2
                  GROUP BY server, at / ?3)"
        ),
        params![from, to, bucket],
    )?;
    Ok(())
}

/// Removes the oldest reports, and then the oldest of everything, until the file is within its bound.
fn shrink(connection: &mut Connection, most: u64) -> Result<()> {
    const SHARE: i64 = 10;
    while size(connection)? > most {
        let change = connection.transaction()?;
        let reports: i64 =
            change.query_row("SELECT count(*) FROM reports", [], |row| row.get(0))?;
        // The newest is what a restart begins with.
        let removed = if reports > 1 {
            change.execute(
                "DELETE FROM reports WHERE audit IN
                     (SELECT audit FROM reports JOIN audits ON id = audit ORDER BY at LIMIT ?)",
                [(reports / SHARE).max(1)],
            )?
        } else {
            let mut removed = 0;
            for table in ["audits", "polls", "changes"] {
                let rows: i64 =
                    change.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
                        row.get(0)
                    })?;
                if rows > 1 {
                    let until: i64 = change.query_row(
                        &format!("SELECT at FROM {table} ORDER BY at LIMIT 1 OFFSET ?"),
                        [rows / SHARE],
                        |row| row.get(0),
                    )?;
                    removed +=
                        change.execute(&format!("DELETE FROM {table} WHERE at <= ?"), [until])?;
                }
            }
            removed
        };
        change.commit()?;
        if removed == 0 {
            break;
        }
    }
    // Free pages go back to the disk, a few at a time.
    let mut vacuum = connection.prepare("PRAGMA incremental_vacuum(2000)")?;
    let mut rows = vacuum.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Bytes of the pages that hold something.
fn size(connection: &Connection) -> Result<u64> {
    let number = |name: &str| -> Result<u64> {
        let number: i64 = connection.pragma_query_value(None, name, |row| row.get(0))?;
        Ok(number.unsigned_abs())
    };
    let pages = number("page_count")?.saturating_sub(number("freelist_count")?);
    Ok(pages.saturating_mul(number("page_size")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::history::write::Poll;
    use std::time::Duration;

    fn poll(at: i64) -> Poll {
        let at = u64::try_from(at).unwrap_or(0);
        Poll { at, used_memory: Some(at), ..Poll::default() }
    }

    #[test]
    fn the_past_gets_thinner_and_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let age = Duration::from_secs(100 * 24 * 60 * 60);
        let history = History::new(folder.path(), Retention { age, bytes: u64::MAX });
        let now = 500 * DAY;
        for half_hour in 0..200 * 48 {
            history.add_poll("a", &poll(now - half_hour * HOUR / 2)).expect("it is written");
        }
        history.add_poll("b", &poll(now - 90 * DAY)).expect("it is written");
        history.thin(int_back(now)).expect("it is thinned");
        let kept = history.polls("a", (0, u64::MAX)).expect("it is read");
        let within = |from: i64, to: i64| {
            let is_in = |at: u64| (now - to..now - from).contains(&int(at));
            kept.iter().filter(|it| is_in(it.at)).count()
        };
        assert_eq!(within(-1, DAY), 49, "all of the last day");
        let hours = within(DAY, MONTH);
        assert!((30 * 24..=30 * 24 + 1).contains(&hours), "one an hour of the month: {hours}");
        let days = within(MONTH, 100 * DAY);
        assert!((69..=70).contains(&days), "one a day before: {days}");
        assert_eq!(within(101 * DAY, 500 * DAY), 0, "nothing that is too old");
        assert_eq!(history.polls("b", (0, u64::MAX)).expect("it is read").len(), 1);
        history.thin(int_back(now)).expect("it is thinned");
        assert_eq!(history.polls("a", (0, u64::MAX)).expect("it is read"), kept, "once is enough");
    }

    #[test]
    fn a_file_that_is_too_large_loses_the_oldest() {
        let folder = tempfile::tempdir().expect("a folder");
        let most = 256 * 1024;
        let retention = Retention { age: Duration::from_secs(u32::MAX.into()), bytes: most };
        let history = History::new(folder.path(), retention);
        let now = 10 * DAY;
        for second in 0..20_000 {
            history.add_poll("a", &poll(now - second * 1000)).expect("it is written");
        }
        history.thin(int_back(now)).expect("it is thinned");
        let kept = history.polls("a", (0, u64::MAX)).expect("it is read");
        assert!(!kept.is_empty() && kept.len() < 20_000, "{}", kept.len());
        assert_eq!(kept.last().map(|it| int(it.at)), Some(now), "the newest is kept");
        let connection = Connection::open(folder.path().join("history.sqlite")).expect("a file");
        assert!(size(&connection).expect("a size") <= most);
    }

    fn int_back(number: i64) -> u64 {
        u64::try_from(number).unwrap_or(0)
    }
}
