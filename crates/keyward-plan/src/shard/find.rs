//! Finds the keys that are to be settled.

use super::{COUNT, Task};
use crate::error::Error;
use crate::pass::{Pass, Seen};
use keyward_audit::live::{self, Primary, Reply};
use keyward_pattern::slot;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;

/// How many keys one SCAN asks for at most, where others may wait: it takes one to two milliseconds.
const MOST_COUNT: usize = 10_000;

/// Walks through the keys of one database.
pub(super) struct Finder<'a> {
    pass: &'a Pass<'a>,
    primary: Primary,
    /// The database, if it is not that of the keyspace
    elsewhere: Option<u64>,
    seen: Seen,
}

impl<'a> Finder<'a> {
    pub(super) fn new(
        pass: &'a Pass<'a>,
        primary: &Primary,
        db: u64,
        rows: usize,
    ) -> Result<Self, Error> {
        let elsewhere = Some(db).filter(|db| *db != primary.db());
        let mut primary = primary.again()?;
        primary.select(db)?;
        let seen = Seen::of_rows(rows);
        Ok(Finder { pass, primary, elsewhere, seen })
    }

    /// Gives all keys to whoever settles them, and what was seen to the caller.
    pub(super) fn run(
        mut self,
        give: &SyncSender<Vec<Task>>,
        count: &AtomicUsize,
    ) -> Result<Seen, Error> {
        if let Some(mut known) = self.pass.work.known() {
            known.retain(|key| self.primary.has(slot(key.as_bytes())));
            let tasks = self.pick(known.into_iter().map(String::into_bytes).collect());
            // If nobody takes them any more, whoever should says why.
            let _ = give.send(tasks);
            return Ok(self.seen);
        }
        let glob = self.pass.work.glob();
        let mut cursor = b"0".to_vec();
        let mut unbound = COUNT;
        loop {
            self.pass.control.wait()?;
            let count = match self.pass.bound {
                Some(_) => count.load(Ordering::Relaxed),
                None => unbound,
            };
            let count = count.to_string();
            let mut scan: Vec<&[u8]> = vec![b"SCAN", &cursor, b"COUNT", count.as_bytes()];
            if let Some(glob) = &glob {
                scan.extend([&b"MATCH"[..], glob.as_bytes()]);
            }
            let answer = self.primary.command(&scan)?;
            let (next, names) = page(&self.primary, answer)?;
            // Where few of the keys are meant, what is waited for is the way to the server and back.
            unbound = if names.len() < COUNT { (2 * unbound).min(MOST_COUNT) } else { COUNT };
            let tasks = self.pick(names);
            if !tasks.is_empty() && give.send(tasks).is_err() {
                // Nobody takes them any more, and says why.
                return Ok(self.seen);
            }
            if next == b"0" {
                return Ok(self.seen);
            }
            cursor = next;
        }
    }

    fn pick(&mut self, names: Vec<Vec<u8>>) -> Vec<Task> {
        self.seen.keys += names.len() as u64;
        self.pass.control.seen(names.len() as u64);
        let work = self.pass.work;
        for key in &names {
            for row in work.is_new_name(key) {
                self.seen.rows[row].new_names += 1;
            }
        }
        let elsewhere = self.elsewhere;
        let picks = |key: Vec<u8>| {
            let picks = work.picks(elsewhere, &key).into_iter();
            picks.map(move |(row, change)| Task { key: key.clone(), row, change })
        };
        names.into_iter().flat_map(picks).collect()
    }
}

/// The cursor and the names of one answer to SCAN.
fn page(primary: &Primary, reply: Reply) -> Result<(Vec<u8>, Vec<Vec<u8>>), Error> {
    let address = || primary.name.clone();
    let odd = |what: String| live::Error::Garbage {
        address: address(),
        got: format!("SCAN was answered with {what}"),
    };
    if let Reply::Error(reply) = reply {
        return Err(live::Error::Reply { address: address(), command: "SCAN", reply }.into());
    }
    let what = reply.kind();
    let Reply::Array(parts) = reply else { return Err(odd(what).into()) };
    let Ok([Reply::Bytes(cursor), Reply::Array(names)]) = <[Reply; 2]>::try_from(parts) else {
        return Err(odd("another list".to_owned()).into());
    };
    let names = names.into_iter().filter_map(|name| match name {
        Reply::Bytes(name) => Some(name),
        _ => None,
    });
    Ok((cursor, names.collect()))
}
