//! Knows servers again by what a plan has changed there, where they do not say any more who they are.
//!
//! A plan that was started is known by its marker. Once that is gone (it lives for 90 days, and may be evicted or flushed) and
//! the server was restarted, only its keys are left. Whoever says that it is the same server is believed if they agree.

use crate::error::Error;
use crate::journal::{Reader, Record};
use crate::router::Router;
use crate::script::{Scripts, digest};
use keyward_audit::live::{Primary, Reply};
use keyward_fact::thousands;
use std::collections::BTreeMap;
use std::path::Path;

/// How many records are looked at, at least where there are so many, and at most twice as many.
const LOOKED_AT: usize = 200;

/// Of so many keys, one may be otherwise than the journal says: keys expire, and are removed.
const MOST_AGREE: usize = 10;

/// What a record lets expect.
#[derive(Debug, PartialEq, Eq)]
enum Trace {
    /// One of these names is there
    There(Vec<Vec<u8>>),
    /// Nothing is there, or this value by its digest
    Gone(Vec<u8>, String),
    /// The key ends at this time, or is gone
    Ends(Vec<u8>, i64),
}

/// Refuses servers whose keys are not what the journal of a plan says.
pub(crate) fn expect(path: &Path, plan: &str, primaries: &[Primary]) -> Result<(), Error> {
    let all = traces(Reader::open(path, plan)?)?;
    let scripts = Scripts::new();
    let mut agree = 0;
    let mut by_db: BTreeMap<u64, Vec<&Trace>> = BTreeMap::new();
    for (db, trace) in &all {
        by_db.entry(*db).or_default().push(trace);
    }
    for (db, traces) in by_db {
        let mut router = Router::beside(primaries, db, &scripts)?;
        for trace in traces {
            agree += usize::from(trace.agrees(&mut router)?);
        }
    }
    if all.is_empty() {
        return Err(Error::refused(
            "the journal names no key by which the server could be known again",
            "make the plan again: this one has changed nothing, or was taken back",
        ));
    }
    if (all.len() - agree) * MOST_AGREE > all.len() {
        let why = match all.len() {
            1 => "the one key that the plan has changed is not as it left it here".to_owned(),
            all => format!(
                "of {} keys that the plan has changed, {} {} as it left them here",
                thousands(all as u64),
                thousands(agree as u64),
                if agree == 1 { "is" } else { "are" }
            ),
        };
        return Err(Error::refused(
            why,
            "check the URL; if it is the right server, its keys were changed since: restore them from a backup of your own",
        ));
    }
    Ok(())
}

/// What records of a journal let expect, spread over all of it, each with its database.
fn traces(journal: Reader) -> Result<Vec<(u64, Trace)>, Error> {
    let (mut kept, mut every) = (Vec::new(), 1_u64);
    let mut number = 0_u64;
    for record in journal {
        let record = record?;
        if record == Record::Undone {
            kept.clear();
        }
        let Some(trace) = trace(record) else { continue };
        if number.is_multiple_of(every) {
            kept.push(trace);
        }
        number += 1;
        if kept.len() == 2 * LOOKED_AT {
            let mut at = 0;
            kept.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            every *= 2;
        }
    }
    Ok(kept)
}

fn trace(record: Record) -> Option<(u64, Trace)> {
    Some(match record {
        Record::Moved { db, from, to } | Record::Copied { db, from, to, .. } => {
            (db, Trace::There(vec![from, to]))
        }
        Record::Placed { home, to, .. } => (home, Trace::There(vec![to])),
        Record::Made { db, key, .. } => (db, Trace::There(vec![key])),
        Record::Saved { db, key, ends, dump, .. } => (db, Trace::Gone(key, digest(&dump, ends))),
        Record::Shortened { db, key, at, .. } => (db, Trace::Ends(key, at.try_into().ok()?)),
        _ => return None,
    })
}

impl Trace {
    fn agrees(&self, router: &mut Router) -> Result<bool, Error> {
        let mut ask = |key: &[u8], command: &'static [u8]| -> Result<Reply, Error> {
            let reply = router.ask(&[(key, vec![command, key])])?.pop();
            Ok(reply.unwrap_or(Reply::Nil))
        };
        match self {
            Trace::There(names) => {
                for name in names {
                    if ask(name, b"EXISTS")? == Reply::Integer(1) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Trace::Gone(key, saved) => Ok(match (ask(key, b"DUMP")?, ask(key, b"PEXPIRETIME")?) {
                (Reply::Nil, _) => true,
                (Reply::Bytes(dump), Reply::Integer(ends)) => digest(&dump, ends) == *saved,
                _ => false,
            }),
            Trace::Ends(key, at) => Ok(match ask(key, b"PEXPIRETIME")? {
                Reply::Integer(ends) => ends == -2 || ends == *at,
                _ => false,
            }),
        }
    }
}
