//! Watches what is written: names of touched keys → classify → type and TTL → what is wrong.
//!
//! A server is told nothing but what to tell: no setting is changed, nothing is written, and no key looks used.
//! For each server, one thread takes in names as fast as they come, and another looks keys up within a budget. A
//! server that is lost is looked for again, and the others are watched meanwhile. Who the servers of a cluster are is
//! asked again and again, since slots and primaries move without a connection that breaks.

mod found;
mod look;
mod names;
mod queue;
mod shards;

pub use found::Counted;
pub use names::Way;

use found::Found;
use queue::{Name, Queue};
use shards::Shards;

use super::error::Error;
use super::options::Options;
use crate::checks::Audit;
use crate::report::Finding;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The most names that wait until it is known which server has them.
const MOST_DISPLACED: usize = 100_000;

/// How a server is watched.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Watching {
    /// How names are learnt; the best that the server allows, unless one is asked for
    pub via: Option<Way>,
    /// How many keys of a server are looked up a second; `None` for as many as are written
    pub looks: Option<u32>,
    /// Set from elsewhere to end: what was written until then is still judged, as far as `looks` allows within a
    /// second
    pub finish: Arc<AtomicBool>,
}

impl Default for Watching {
    fn default() -> Self {
        Watching { via: None, looks: Some(2_000), finish: Arc::default() }
    }
}

/// What happens while servers are watched.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// What is written to a server is seen from now on
    Watching {
        /// Its address
        server: &'e str,
        /// How
        via: Way,
        /// What that cannot see, in sentences without a full stop
        notes: &'e [String],
    },
    /// Something is wrong that was not seen before
    Found(&'e Finding),
    /// A server was lost: what is written to it from now on is not seen
    Lost {
        /// Its address
        server: &'e str,
        /// Why, in a sentence without a full stop
        why: &'e str,
    },
}

/// All that was seen.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Watched {
    /// What is wrong, each pattern once, in the order in which they were seen
    pub findings: Vec<Counted>,
    /// Keys that were wrong in a way that had no room in `findings`
    pub beyond: u64,
    /// Names that were received; one that was touched again before it was looked up is counted once
    pub touched: u64,
    /// Keys that were looked up and were there
    pub looked_up: u64,
    /// Names that were looked up and were not there: deleted by then, or in another database
    pub gone: u64,
    /// Names that were not looked up, since more were written than could be, or were too long
    pub passed_over: u64,
    /// Keys that this user was not allowed to look up
    pub denied: u64,
    /// How often a server was lost or took over slots, and what was written to it meanwhile not seen
    pub gaps: u32,
}

impl Watched {
    /// Whether something that was written was not seen, or may not be looked at.
    pub fn is_incomplete(&self) -> bool {
        self.gaps > 0 || self.denied > 0
    }

    /// Whether something that was written was not judged, for whatever reason: a bound on lookups may be one that
    /// was asked for.
    pub fn is_partial(&self) -> bool {
        self.is_incomplete() || self.passed_over > 0 || self.beyond > 0
    }
}

impl Audit {
    /// Watches what is written to the servers that a URL means, until [`Watching::finish`] is set, and tells
    /// what is wrong as it is seen. A server that is lost is looked for again until then.
    ///
    /// # Errors
    /// If it cannot begin, or if [`Options::stop`] is set.
    pub fn watch(
        self: &Arc<Self>,
        url: &str,
        options: &Options,
        watching: &Watching,
        tell: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Watched, Error> {
        let options = Options { client_name: "keyward-watch", ..options.clone() };
        let (audit, options) = (self, &options);
        let watch = Watch {
            audit,
            options,
            watching,
            tell,
            found: Mutex::default(),
            queues: Mutex::default(),
            displaced: Mutex::default(),
        };
        thread::scope(|scope| Shards::begin(&watch, url, scope)?.until_finished())?;
        Ok(watch.end())
    }
}

/// What the threads of one watch share.
struct Watch<'w> {
    audit: &'w Arc<Audit>,
    options: &'w Options,
    watching: &'w Watching,
    tell: &'w (dyn Fn(Event<'_>) + Sync),
    found: Mutex<Found>,
    /// By server. What waits when one is lost is looked up when it is back
    queues: Mutex<BTreeMap<String, Arc<Queue>>>,
    /// Names that another server may have by now
    displaced: Mutex<Vec<Name>>,
}

impl Watch<'_> {
    /// Where the names of a server wait.
    fn queue(&self, server: &str) -> Arc<Queue> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Queue::new(self.audit));
        let queue = queues.entry(server.to_owned()).or_insert_with(new);
        queue.lock().open();
        queue.clone()
    }

    fn end(self) -> Watched {
        let mut found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let queues = self.queues.into_inner().unwrap_or_else(PoisonError::into_inner);
        for queue in queues.values() {
            found.add(queue);
        }
        let displaced = self.displaced.into_inner().unwrap_or_else(PoisonError::into_inner);
        for _ in &displaced {
            found.passed_over();
        }
        found.take()
    }

    fn is_over(&self) -> bool {
        self.watching.finish.load(Ordering::Acquire) || self.options.stop.load(Ordering::Acquire)
    }

    /// Keeps a name until it is known which server has it.
    fn displace(&self, name: Name) {
        let mut displaced = self.displaced.lock().unwrap_or_else(PoisonError::into_inner);
        if displaced.len() < MOST_DISPLACED {
            displaced.push(name);
        } else {
            self.lock().passed_over();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
