//! Finds the keys that are to be settled.

use super::{COUNT, Task};
use crate::error::Error;
use crate::pass::{Pass, Seen};
use keyward_audit::live::{self, Primary, Reply, Requests};
use keyward_pattern::slot;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;

/// How many keys one SCAN asks for where others may wait. From 1,000 on, a server takes 0.6 µs for each, and the way there
/// and back is short beside 2,000.
const PAGE: usize = 2_000;

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
        self.scan(b"0", COUNT, glob.as_deref())?;
        loop {
            self.pass.control.wait()?;
            let answer = self.primary.reply()?;
            let (next, names) = page(&self.primary, answer)?;
            let is_last = next == b"0";
            // It is answered while these keys are looked at.
            if !is_last {
                let bound = self.pass.bound.map(|_| count.load(Ordering::Relaxed));
                self.scan(&next, bound.unwrap_or(PAGE), glob.as_deref())?;
            }
            let tasks = self.pick(names);
            if !tasks.is_empty() && give.send(tasks).is_err() {
                // Nobody takes them any more, and says why.
                return Ok(self.seen);
            }
            if is_last {
                return Ok(self.seen);
            }
        }
    }

    fn scan(&mut self, cursor: &[u8], count: usize, glob: Option<&str>) -> Result<(), Error> {
        let count = count.to_string();
        let mut scan: Vec<&[u8]> = vec![b"SCAN", cursor, b"COUNT", count.as_bytes()];
        if let Some(glob) = glob {
            scan.extend([&b"MATCH"[..], glob.as_bytes()]);
        }
        let mut requests = Requests::default();
        requests.add(&scan);
        Ok(self.primary.send(&requests)?)
    }

    fn pick(&mut self, names: Vec<Vec<u8>>) -> Vec<Task> {
        self.seen.keys += names.len() as u64;
        self.pass.control.seen(names.len() as u64);
        let work = self.pass.work;
        if self.pass.journal.is_none() {
            for row in names.iter().flat_map(|key| work.is_new_name(key)) {
                self.seen.rows[row].new_names += 1;
            }
        }
        let mut tasks = Vec::new();
        for key in names {
            let mut only = None;
            let mut give = |row, change| {
                let before = only.replace((row, change));
                let before = before.map(|(row, change)| Task { key: key.clone(), row, change });
                tasks.extend(before);
            };
            work.picks(self.elsewhere, &key, &mut give);
            tasks.extend(only.map(|(row, change)| Task { key, row, change }));
        }
        tasks
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
