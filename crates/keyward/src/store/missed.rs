//! Invalidations that could not be sent: what they concern is not read from the server until they have been.
//!
//! Otherwise a process would read, after an outage, what it knows to be old.

use super::core::Core;
use super::error::Error;
use super::names::Names;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many are remembered. Beyond that an event is an error: whoever emits it must know.
const MOST: usize = 10_000;

/// An invalidation that could not be sent.
#[derive(Clone)]
pub(crate) struct Outstanding {
    /// Tells it from others
    pub(crate) id: String,
    pub(crate) what: What,
}

#[derive(Clone)]
pub(crate) enum What {
    Key(Names),
    /// Keys that an index knows
    Index(Arc<Sending>),
    /// Keys of a definition that are looked for among all keys, which may take long
    Scan(&'static str, Arc<Sending>),
}

pub(crate) type Sending = dyn for<'c> Fn(&'c Core) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'c>>
    + Send
    + Sync;

#[derive(Default)]
pub(crate) struct Missed {
    any: AtomicBool,
    list: Mutex<List>,
    /// Held by whoever is sending keys
    pub(crate) sending: tokio::sync::Mutex<()>,
    /// Whether a task looks for keys
    scanning: AtomicBool,
}

#[derive(Default)]
struct List {
    entries: BTreeMap<String, Entry>,
    /// The number of the next entry
    next: u64,
}

struct Entry {
    /// One that is added again while it is being sent is another one
    number: u64,
    what: What,
}

/// One that has not been sent.
pub(crate) struct Pending {
    id: String,
    number: u64,
    pub(crate) what: What,
}

impl Missed {
    /// Remembers them, if there is room for all.
    pub(crate) fn add(&self, missed: Vec<Outstanding>) -> bool {
        let mut list = self.lock();
        let room = list.entries.len() + missed.len() <= MOST;
        if room {
            for Outstanding { id, what } in missed {
                let number = list.next;
                list.next += 1;
                list.entries.insert(id, Entry { number, what });
            }
            self.any.store(!list.entries.is_empty(), Ordering::Release);
        }
        room
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Acquire)
    }

    /// Those that are quickly sent.
    pub(crate) fn quick(&self) -> Vec<Pending> {
        self.pending(|what| !matches!(what, What::Scan(..)))
    }

    /// Those that take a scan.
    pub(crate) fn scans(&self) -> Vec<Pending> {
        self.pending(|what| matches!(what, What::Scan(..)))
    }

    fn pending(&self, wanted: impl Fn(&What) -> bool) -> Vec<Pending> {
        let list = self.lock();
        let entries = list.entries.iter().filter(|(_, entry)| wanted(&entry.what));
        let pending = entries.map(|(id, entry)| Pending {
            id: id.clone(),
            number: entry.number,
            what: entry.what.clone(),
        });
        pending.collect()
    }

    /// Whether keys of a definition are still being looked for.
    pub(crate) fn concerns(&self, definition: &str) -> bool {
        let is_about = |entry: &Entry| matches!(entry.what, What::Scan(it, _) if it == definition);
        !self.is_empty() && self.lock().entries.values().any(is_about)
    }

    /// Forgets one that has been sent.
    pub(crate) fn done(&self, sent: &Pending) {
        let mut list = self.lock();
        if list.entries.get(&sent.id).is_some_and(|entry| entry.number == sent.number) {
            list.entries.remove(&sent.id);
        }
        self.any.store(!list.entries.is_empty(), Ordering::Release);
    }

    /// Whether the caller is the one who looks for keys now.
    pub(crate) fn begin_scanning(&self) -> bool {
        !self.scanning.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn end_scanning(&self) {
        self.scanning.store(false, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
