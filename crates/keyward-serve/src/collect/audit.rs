//! One audit after the other, within the load budget; a lost or stopped one goes on where it was.

use super::Stop;
use super::sample::Samples;
use crate::config::Source;
use crate::schemas;
use crate::state::{Audited, Auditing, Event, Schemas, Server, Shared};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use keyward_audit::live::{self, Progress};
use keyward_audit::{Audit, Options, Outcome, Salt, Stopped, Subject, now};
use keyward_schema::model::Date;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long to wait before a failed audit is tried again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// How often progress is told.
const TICK: Duration = Duration::from_millis(500);

/// Audits a server until it is told to stop.
pub(super) fn run(state: &Shared, number: usize, source: &Source, stop: &Stop) {
    let Some(server) = state.servers.get(number) else { return };
    let mut audits = Audits { state, server, source, stop, earlier: None };
    let mut pause = PAUSES.0;
    while !stop.is_set() {
        let wait = match audits.once() {
            Next::Done => {
                pause = PAUSES.0;
                source.every
            }
            Next::Failed { why, help, keys } => {
                let wait = pause;
                pause = (pause * 2).min(PAUSES.1);
                let next = now().saturating_add(millis(wait));
                audits.tell(Auditing::Failed { at: now(), why, help, keys, next });
                wait
            }
            Next::Stopped => return,
        };
        stop.wait(wait);
    }
}

/// The audits of one server.
struct Audits<'a> {
    state: &'a Shared,
    server: &'a Server,
    source: &'a Source,
    stop: &'a Stop,
    /// What was counted before a server was lost
    earlier: Option<(Stopped, Instant)>,
}

enum Next {
    Done,
    Failed { why: String, help: String, keys: u64 },
    Stopped,
}

impl Audits<'_> {
    fn once(&mut self) -> Next {
        let schemas = self.schemas();
        let audit = prepare(&schemas);
        let (earlier, began) = match self.earlier.take() {
            Some((earlier, began)) if audit.can_go_on(&earlier).is_ok() => (Some(earlier), began),
            _ => (None, Instant::now()),
        };
        let samples = Samples::default();
        let mut options = self.source.options.clone();
        options.stop = self.stop.flag.clone();
        options.progress = Arc::default();
        let listener = || Some(samples.listener());
        let outcome = self.telling(&options.progress.clone(), || {
            audit.observe_on(&self.source.url, &options, earlier.as_ref(), listener, now())
        });
        match outcome {
            Ok(Outcome::Whole(report)) => {
                let took = millis(began.elapsed());
                let samples = samples.take();
                let audited = Audited { report: *report, at: now(), took, samples };
                self.publish(audited);
                Next::Done
            }
            Ok(Outcome::Stopped(_)) => Next::Stopped,
            Ok(Outcome::Lost(error, stopped)) => {
                let keys = stopped.keys();
                self.earlier = Some((*stopped, began));
                failed(&error, keys)
            }
            Err(live::Error::Stopped) => Next::Stopped,
            Err(error) => failed(&error, 0),
        }
    }

    /// The schemas as they are on disk, or the last good ones.
    fn schemas(&self) -> Arc<Schemas> {
        let current = self.server.current();
        match schemas::reopen(&self.source.schemas) {
            Ok(read) if read.fingerprint == current.schemas.fingerprint => {
                self.change(|current| current.schema_error = None);
                current.schemas.clone()
            }
            Ok(read) => {
                let read = Arc::new(read);
                let new = read.clone();
                self.change(|current| {
                    current.schemas = new;
                    current.schema_error = None;
                });
                read
            }
            Err(why) => {
                self.change(|current| current.schema_error = Some(why));
                current.schemas.clone()
            }
        }
    }

    fn publish(&self, audited: Audited) {
        let next = now().saturating_add(millis(self.source.every));
        let audited = Arc::new(audited);
        self.change(|current| {
            current.audit = Some(audited);
            current.auditing = Auditing::Idle { next };
        });
    }

    fn change(&self, change: impl FnOnce(&mut crate::state::Current)) {
        let event = Event::Audit { server: self.server.name.clone() };
        self.state.update(self.server, event, change);
    }

    /// Runs an audit, and tells meanwhile how far it is.
    fn telling<T: Send>(&self, progress: &Arc<Progress>, audit: impl FnOnce() -> T + Send) -> T {
        let over = AtomicBool::new(false);
        let since = now();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut last = None;
                while !over.load(Ordering::Acquire) {
                    let keys = progress.keys.load(Ordering::Relaxed);
                    let expected = progress.expected.load(Ordering::Relaxed);
                    if last.replace(keys) != Some(keys) {
                        self.tell(Auditing::Running { since, keys, expected });
                    }
                    thread::park_timeout(TICK);
                }
            });
            let done = audit();
            over.store(true, Ordering::Release);
            done
        })
    }

    fn tell(&self, auditing: Auditing) {
        let event =
            Event::Progress { server: self.server.name.clone(), auditing: auditing.clone() };
        self.state.update(self.server, event, |current| current.auditing = auditing);
    }
}

fn prepare(schemas: &Schemas) -> Arc<Audit> {
    let options = Options {
        salt: Salt::of(""),
        today: today(),
        schemas: schemas.fingerprint.clone(),
        ..Options::default()
    };
    let subjects = schemas.each.iter().zip(&schemas.paths).map(|(schema, path)| {
        let path = Some(path.clone());
        Subject { path, ..Subject::new(schema.clone()) }
    });
    Arc::new(Audit::new(subjects.collect(), &options))
}

/// The day in UTC.
pub(super) fn today() -> Date {
    let day = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let (month, of_month) = (day.month().unsigned_abs(), day.day().unsigned_abs());
    Date { year: day.year().unsigned_abs(), month, day: of_month }
}

fn failed(error: &live::Error, keys: u64) -> Next {
    Next::Failed { why: error.to_string(), help: error.help().to_owned(), keys }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
