//! Watches what is written: names of touched keys → classify → type and TTL → what is wrong.
//!
//! A server is told nothing but what to tell: no setting is changed, nothing is written, and no key looks used.
//! For each server, one thread takes in names as fast as they come, and another looks keys up within a budget.

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

use super::error::Error;
use super::options::Options;
use super::primary::Primary;
use crate::checks::Audit;
use crate::report::Finding;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long to wait before a lost server is tried again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// How a server is watched.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Watching {
    /// How names are learnt; the best that the server allows, unless one is asked for
    pub via: Option<Way>,
    /// How many keys of a server are looked up a second; `None` for as many as are written
    pub looks: Option<u32>,
    /// Set from elsewhere to end: what was written until then is still judged
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
    /// A server was lost: what is written from now on is not seen
    Lost(&'e Error),
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
    /// Names that were not looked up, since more were written than the budget allows
    pub passed_over: u64,
    /// Keys that this user was not allowed to look up
    pub denied: u64,
    /// How often a server was lost, and what was written meanwhile not seen
    pub gaps: u32,
}

impl Audit {
    /// Watches what is written to the servers that a URL means, until [`Watching::finish`] is set, and tells
    /// what is wrong as it is seen. A server that is lost is tried again until then.
    ///
    /// # Errors
    /// If it cannot begin, if [`Options::stop`] is set, or if a server is lost in a way that trying again
    /// cannot repair.
    pub fn watch(
        self: &Arc<Self>,
        url: &str,
        options: &Options,
        watching: &Watching,
        tell: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Watched, Error> {
        let options = Options { client_name: "keyward-watch", ..options.clone() };
        let watch = Watch {
            audit: self,
            options: &options,
            watching,
            tell,
            found: Mutex::default(),
            broken: AtomicBool::new(false),
        };
        watch.until_finished(url)?;
        Ok(watch.lock().take())
    }
}

/// What the threads of one watch share.
struct Watch<'w> {
    audit: &'w Arc<Audit>,
    options: &'w Options,
    watching: &'w Watching,
    tell: &'w (dyn Fn(Event<'_>) + Sync),
    found: Mutex<Found>,
    /// Set when one thread failed, so that the others end
    broken: AtomicBool,
}

impl Watch<'_> {
    fn until_finished(&self, url: &str) -> Result<(), Error> {
        let mut pause = PAUSES.0;
        let mut began = false;
        loop {
            self.broken.store(false, Ordering::Release);
            let ended = Primary::all(url, self.options).and_then(|primaries| {
                (began, pause) = (true, PAUSES.0);
                self.session(&primaries)
            });
            let error = match ended {
                Ok(()) => return Ok(()),
                Err(error) if !began || !is_passing(&error) => return Err(error),
                Err(error) => error,
            };
            if pause == PAUSES.0 {
                (self.tell)(Event::Lost(&error));
                self.lock().lost();
            }
            if self.is_over() {
                return Ok(());
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Watches all servers until it is over, or one is lost.
    fn session(&self, primaries: &[Primary]) -> Result<(), Error> {
        let ways = primaries.iter().map(|primary| Names::open(primary, self.watching.via));
        let ways: Vec<Names> = ways.collect::<Result<_, _>>()?;
        for (primary, names) in primaries.iter().zip(&ways) {
            let (server, notes) = (primary.name.as_str(), &names.notes[..]);
            (self.tell)(Event::Watching { server, via: names.way, notes });
        }
        let queues: Vec<Queue> = ways.iter().map(|_| Queue::new(self.audit)).collect();
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for ((primary, names), queue) in primaries.iter().zip(ways).zip(&queues) {
                let looker = Looker::open(self, primary, names.subscriber)?;
                threads.push(scope.spawn(|| self.ended(names.receive(self, queue))));
                threads.push(scope.spawn(|| self.ended(looker.run(queue))));
            }
            let ended: Vec<Result<(), Error>> =
                threads.into_iter().map(|thread| thread.join().unwrap_or(Ok(()))).collect();
            for queue in &queues {
                self.lock().add(queue);
            }
            ended.into_iter().collect()
        })
    }

    /// Where one thread fails, the others end too.
    fn ended(&self, result: Result<(), Error>) -> Result<(), Error> {
        if result.is_err() {
            self.broken.store(true, Ordering::Release);
        }
        result
    }

    fn is_over(&self) -> bool {
        self.watching.finish.load(Ordering::Acquire) || self.options.stop.load(Ordering::Acquire)
    }

    fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire) || self.options.stop.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a server may come back.
fn is_passing(error: &Error) -> bool {
    !matches!(
        error,
        Error::Stopped
            | Error::Kind { .. }
            | Error::Url { .. }
            | Error::Options { .. }
            | Error::Denied { .. }
            | Error::Missing { .. }
    )
}
