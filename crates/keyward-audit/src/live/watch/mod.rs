//! Watches what is written: names of touched keys → classify → type and TTL → what is wrong.
//!
//! A server is told nothing but what to tell: no setting is changed, nothing is written, and no key looks used.
//! For each server, one thread takes in names as fast as they come, and another looks keys up within a budget. A
//! server that is lost is looked for again, and the others are watched meanwhile.

mod found;
mod look;
mod names;
mod queue;

pub use found::Counted;
pub use names::Way;

use found::Found;
use look::Looker;
use names::Names;
use queue::Queue;

use super::error::{Error, Fault};
use super::options::Options;
use super::primary::Primary;
use crate::checks::Audit;
use crate::report::Finding;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// How long to wait before a lost server is looked for again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// How often it is looked whether a server was lost, or all have ended.
const TICK: Duration = Duration::from_millis(20);

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
    /// How often a server was lost, and what was written to it meanwhile not seen
    pub gaps: u32,
}

impl Watched {
    /// Whether something that was written may not have been judged, and nobody asked for that.
    pub fn is_incomplete(&self) -> bool {
        self.gaps > 0 || self.denied > 0
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
        let found = Mutex::default();
        let watch = Watch { audit, options, watching, tell, found, queues: Mutex::default() };
        thread::scope(|scope| watch.until_finished(url, scope))?;
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
}

/// A server that is being watched.
struct Shard<'s> {
    name: String,
    via: Way,
    notes: Vec<String>,
    /// Set to end it at once
    broken: Arc<AtomicBool>,
    thread: ScopedJoinHandle<'s, Result<(), Fault>>,
}

impl Watch<'_> {
    fn until_finished<'s, 'e>(&'e self, url: &str, scope: &'s Scope<'s, 'e>) -> Result<(), Error> {
        let mut shards = Vec::new();
        for primary in Primary::all(url, self.options)? {
            match self.begin(&primary, scope) {
                Ok(shard) => shards.push(shard),
                Err(error) => {
                    shards.iter().for_each(Shard::end);
                    return Err(error);
                }
            }
        }
        // Whoever waits for the first waits for all.
        for shard in &shards {
            self.tell_of(shard);
        }
        let (mut pause, mut next) = (PAUSES.0, None::<Instant>);
        while !shards.is_empty() || !self.is_over() {
            thread::sleep(TICK);
            for shard in shards.extract_if(.., |shard| shard.thread.is_finished()) {
                let Shard { name, thread, .. } = shard;
                if let Some(why) = why(thread.join().unwrap_or_else(|_| Err(panicked()))) {
                    (self.tell)(Event::Lost { server: &name, why: &why });
                    self.lock().lost();
                    (pause, next) = (PAUSES.0, Some(Instant::now() + PAUSES.0));
                }
            }
            if next.is_some_and(|next| next <= Instant::now()) && !self.is_over() {
                let back = self.begin_again(url, &mut shards, scope);
                pause = (pause * 2).min(PAUSES.1);
                next = back.is_err().then(|| Instant::now() + pause);
            }
        }
        if self.options.stop.load(Ordering::Acquire) { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Watches the servers that are not watched; an error if one is still away.
    fn begin_again<'s, 'e>(
        &'e self,
        url: &str,
        shards: &mut Vec<Shard<'s>>,
        scope: &'s Scope<'s, 'e>,
    ) -> Result<(), Error> {
        let mut away = None;
        for primary in Primary::each(url, self.options)? {
            let begun = primary.and_then(|primary| {
                let is_watched = shards.iter().any(|shard| shard.name == primary.name);
                if is_watched { Ok(None) } else { self.begin(&primary, scope).map(Some) }
            });
            match begun {
                Ok(shard) => {
                    if let Some(shard) = shard {
                        self.tell_of(&shard);
                        shards.push(shard);
                    }
                }
                Err(error) => away = Some(error),
            }
        }
        away.map_or(Ok(()), Err)
    }

    fn begin<'s, 'e>(
        &'e self,
        primary: &Primary,
        scope: &'s Scope<'s, 'e>,
    ) -> Result<Shard<'s>, Error> {
        let broken = Arc::new(AtomicBool::new(false));
        let names = Names::open(primary, self.audit, self.watching.via)?;
        let looker = Looker::open(self, primary, names.subscriber)?;
        let queue = self.queue(&primary.name);
        let (via, notes) = (names.way, names.notes.clone());
        let ends = broken.clone();
        let thread = scope.spawn(move || {
            thread::scope(|scope| {
                let received = scope.spawn(|| ended(names.receive(self, &queue, &ends), &ends));
                let looked_up = ended(looker.run(&queue, &ends), &ends);
                received.join().unwrap_or_else(|_| Err(panicked())).and(looked_up)
            })
        });
        Ok(Shard { name: primary.name.clone(), via, notes, broken, thread })
    }

    fn tell_of(&self, shard: &Shard<'_>) {
        let Shard { name, via, notes, .. } = shard;
        (self.tell)(Event::Watching { server: name, via: *via, notes });
    }

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
        found.take()
    }

    fn is_over(&self) -> bool {
        self.watching.finish.load(Ordering::Acquire) || self.options.stop.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard<'_> {
    fn end(&self) {
        self.broken.store(true, Ordering::Release);
    }
}

/// Where one of two threads fails, the other ends too.
fn ended(result: Result<(), Fault>, ends: &AtomicBool) -> Result<(), Fault> {
    if result.is_err() {
        ends.store(true, Ordering::Release);
    }
    result
}

fn panicked() -> Fault {
    Fault::Lost("watching it failed".to_owned())
}

/// Why a server was lost, if it was.
fn why(result: Result<(), Fault>) -> Option<String> {
    match result {
        Ok(()) | Err(Fault::Fatal(Error::Stopped)) => None,
        Err(Fault::Lost(why) | Fault::Changed(why)) => Some(why),
        Err(Fault::Fatal(error)) => Some(error.to_string()),
    }
}
