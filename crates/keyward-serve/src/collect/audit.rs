//! One audit after the other, within the load budget; a lost or stopped one goes on where it was.

use super::derive;
use super::resume;
use super::sample::Samples;
use super::{Context, PAUSES, millis, today};
use crate::folder::why;
use crate::schemas;
use crate::state::{Audited, Auditing, Current, Event, Schemas};
use keyward_audit::live::{self, Progress};
use keyward_audit::{Audit, Options, Outcome, Report, Stopped, Subject, now};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often progress is told.
const TOLD: Duration = Duration::from_millis(500);
/// How often it is looked whether to pause.
const TICK: Duration = Duration::from_millis(50);

/// Audits a server until it is told to stop.
pub(super) fn run(context: &Context) {
    let mut audits = Audits { context, earlier: None, is_first: true };
    let mut pause = PAUSES.0;
    while !context.stop.is_set() {
        let returns = context.returns();
        match audits.once() {
            Next::Done => {
                pause = PAUSES.0;
                context.stop.wait(context.source.every);
            }
            Next::Failed { why, help, keys } => {
                let next = now().saturating_add(millis(pause));
                audits.tell(Auditing::Failed { at: now(), why, help, keys, next });
                pause = context.pause(pause, returns);
            }
            Next::Stopped => return,
        }
    }
}

/// The audits of one server.
struct Audits<'a> {
    context: &'a Context,
    /// What was counted before a server was lost, and when that began
    earlier: Option<(Stopped, Instant)>,
    /// Whether an earlier run may have left something to go on with
    is_first: bool,
}

enum Next {
    Done,
    Failed { why: String, help: String, keys: u64 },
    Stopped,
}

impl Audits<'_> {
    fn once(&mut self) -> Next {
        let context = self.context;
        let schemas = self.schemas();
        let audit = context.audit(&schemas);
        let (mut earlier, began) = self.take_earlier(&audit, &schemas.fingerprint);
        let samples = Samples::default();
        match self.observe(&audit, &schemas, &mut earlier, &samples) {
            Ok(Outcome::Whole(report)) => {
                let (took, samples) = (millis(began.elapsed()), samples.take());
                resume::remove(&context.resume_file());
                self.publish(Audited { report: *report, at: now(), took, samples }, &schemas);
                Next::Done
            }
            Ok(Outcome::Stopped(stopped)) => {
                self.keep(&stopped, &schemas);
                Next::Stopped
            }
            Ok(Outcome::Lost(error, stopped)) => {
                self.keep(&stopped, &schemas);
                let keys = stopped.keys();
                self.earlier = Some((*stopped, began));
                failed(&error, keys)
            }
            Err(live::Error::Stopped) => Next::Stopped,
            Err(error) => {
                let keys = earlier.as_ref().map_or(0, Stopped::keys);
                // To another server, what was counted means nothing.
                if matches!(error, live::Error::NotResumable { .. }) {
                    resume::remove(&context.resume_file());
                } else {
                    self.earlier = earlier.map(|earlier| (earlier, began));
                }
                failed(&error, keys)
            }
        }
    }

    /// Audits in stretches. After each, what was counted is kept, so that an audit goes on from there after a crash.
    fn observe(
        &self,
        audit: &Arc<Audit>,
        schemas: &Schemas,
        earlier: &mut Option<Stopped>,
        samples: &Samples,
    ) -> Result<Outcome, live::Error> {
        let context = self.context;
        let mut stretch = context.source.keep;
        loop {
            let mut options = context.options();
            (options.progress, options.stop) = (Arc::default(), Arc::default());
            let (progress, pause) = (options.progress.clone(), options.stop.clone());
            let listener = || Some(samples.listener());
            let outcome = self.telling(&progress, (&pause, stretch), || {
                audit.observe_on(&context.source.url, &options, earlier.as_ref(), listener, now())
            });
            let keys = earlier.as_ref().map_or(0, Stopped::keys);
            match outcome {
                outcome if context.stop.is_set() => return outcome,
                Ok(Outcome::Stopped(stopped)) if can_be_known_again(&stopped) => {
                    self.keep(&stopped, schemas);
                    if stopped.keys() <= keys {
                        // It begins again and again, and would never end.
                        stretch = stretch.saturating_mul(2);
                    }
                    *earlier = Some(*stopped);
                }
                // Nothing was seen yet, or it cannot go on.
                Ok(Outcome::Stopped(_)) | Err(live::Error::Stopped) => {
                    stretch = stretch.saturating_mul(16);
                }
                outcome => return outcome,
            }
        }
    }

    /// What an audit goes on from, if it is the same, and when that began as far as this process knows.
    fn take_earlier(&mut self, audit: &Audit, schemas: &str) -> (Option<Stopped>, Instant) {
        if std::mem::take(&mut self.is_first) {
            let terms = resume::terms(&self.context.source, schemas);
            let kept = resume::read(&self.context.resume_file(), &terms);
            self.earlier = kept.map(|kept| (kept, Instant::now()));
        }
        match self.earlier.take() {
            Some((earlier, began)) if audit.can_go_on(&earlier).is_ok() => (Some(earlier), began),
            _ => (None, Instant::now()),
        }
    }

    fn keep(&self, stopped: &Stopped, schemas: &Schemas) {
        let terms = resume::terms(&self.context.source, &schemas.fingerprint);
        let path = self.context.resume_file();
        let kept = resume::write(&path, terms, today().to_string(), stopped);
        let text = kept.err().map(|error| {
            format!("a stopped audit cannot be kept in `{}`: {}", path.display(), why(&error))
        });
        self.context.state.notice("resume", text);
    }

    /// The schemas as they are on disk, or the last good ones.
    fn schemas(&self) -> Arc<Schemas> {
        let current = self.context.server().current();
        let known = current.schemas.clone();
        match schemas::reopen(&self.context.source.schemas) {
            Ok(read) if read.fingerprint == known.fingerprint => {
                if current.schema_error.is_some() {
                    self.tell_schema(None);
                    self.change(|current| current.schema_error = None);
                }
                known
            }
            Ok(read) => {
                let read = Arc::new(read);
                if current.schema_error.is_some() {
                    self.tell_schema(None);
                }
                let (new, today) = (read.clone(), today());
                self.change(|current| {
                    current.migrations = derive::migrations(&new, current.report(), today);
                    current.checklist = derive::checklist(&new, current.report(), today);
                    current.repairs = derive::repairs(&new, current.report(), today);
                    current.schemas = new;
                    current.schema_error = None;
                });
                read
            }
            Err(why) => {
                if current.schema_error.is_none() {
                    self.tell_schema(Some(&why));
                }
                self.change(|current| current.schema_error = Some(why));
                known
            }
        }
    }

    /// Says in a line that the schemas cannot be read, or can again.
    fn tell_schema(&self, error: Option<&str>) {
        let name = &self.context.server().name;
        let line = match error.map(|it| it.lines().next().unwrap_or_default()) {
            Some(first) => {
                format!(
                    "warning: the schema of `{name}` cannot be read, the last good one is used: {first}"
                )
            }
            None => format!("the schema of `{name}` can be read again"),
        };
        self.context.state.say(&line);
    }

    fn publish(&self, audited: Audited, schemas: &Schemas) {
        let context = self.context;
        let added =
            context.state.history.add_audit(&context.server().name, &audited, &schemas.fingerprint);
        context.state.history_result(added);
        let queues = Arc::new(derive::queues(context, schemas));
        let (audited, today) = (Arc::new(audited), today());
        self.tell_webhooks(&audited.report);
        let repairs = derive::repairs(schemas, Some(&audited.report), today);
        let next = now().saturating_add(millis(context.source.every));
        self.change(|current| {
            current.migrations = derive::migrations(schemas, Some(&audited.report), today);
            current.checklist = derive::checklist(schemas, Some(&audited.report), today);
            current.repairs = repairs;
            current.queues = queues;
            current.audit = Some(audited);
            current.auditing = Auditing::Idle { next };
        });
    }

    fn tell_webhooks(&self, report: &Report) {
        let before = self.context.server().current().audit.clone();
        let before = before.as_ref().map(|it| &it.report);
        let name = &self.context.server().name;
        let webhooks = &self.context.state.webhooks;
        webhooks.audited(name, before, report);
    }

    fn change(&self, change: impl FnOnce(&mut Current)) {
        let event = Event::Audit { server: self.context.server().name.clone() };
        self.context.state.update(self.context.server(), event, change);
    }

    /// Runs an audit, tells meanwhile how far it is, and lets it pause after a stretch of time.
    fn telling<T>(
        &self,
        progress: &Arc<Progress>,
        (pause, stretch): (&AtomicBool, Duration),
        audit: impl FnOnce() -> T,
    ) -> T {
        let over = AtomicBool::new(false);
        let (since, began) = (now(), Instant::now());
        thread::scope(|scope| {
            let teller = scope.spawn(|| {
                let (mut last, mut told) = (None, None::<Instant>);
                while !over.load(Ordering::Acquire) {
                    let keys = progress.keys.load(Ordering::Relaxed);
                    let expected = progress.expected.load(Ordering::Relaxed);
                    let is_due = told.is_none_or(|told| told.elapsed() >= TOLD);
                    if is_due && last.replace(keys) != Some(keys) {
                        told = Some(Instant::now());
                        self.tell(Auditing::Running { since, keys, expected });
                    }
                    if self.context.stop.is_set() || began.elapsed() >= stretch {
                        pause.store(true, Ordering::Release);
                    }
                    thread::park_timeout(TICK);
                }
            });
            let done = audit();
            over.store(true, Ordering::Release);
            teller.thread().unpark();
            done
        })
    }

    fn tell(&self, auditing: Auditing) {
        let server = self.context.server();
        let event = Event::Progress { server: server.name.clone(), auditing: auditing.clone() };
        self.context.state.update(server, event, |current| current.auditing = auditing);
    }
}

impl Context {
    /// What an audit with these schemas looks for today.
    pub(super) fn audit(&self, schemas: &Schemas) -> Arc<Audit> {
        let options = Options {
            salt: self.folder.salt,
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
}

/// What a restart begins with: the last audit of the history.
pub(super) fn restore(context: &Context) {
    let server = context.server();
    let found = context.state.history.report(&server.name, u64::MAX);
    let (found, result) = match found {
        Ok(found) => (found, Ok(())),
        Err(error) => (None, Err(error)),
    };
    context.state.history_result(result);
    let audited = found
        .map(|(at, took, report)| Arc::new(Audited { report, at, took, samples: BTreeMap::new() }));
    let event = Event::Audit { server: server.name.clone() };
    context.state.update(server, event, |current| {
        current.audit = audited;
        let (schemas, today) = (current.schemas.clone(), today());
        current.migrations = derive::migrations(&schemas, current.report(), today);
        current.checklist = derive::checklist(&schemas, current.report(), today);
        current.repairs = derive::repairs(&schemas, current.report(), today);
    });
}

/// Whether all servers say who they are, so that an audit can go on.
fn can_be_known_again(stopped: &Stopped) -> bool {
    stopped.resume.shards.iter().all(|shard| !shard.run_id.is_empty())
}

fn failed(error: &live::Error, keys: u64) -> Next {
    Next::Failed { why: error.to_string(), help: error.help().to_owned(), keys }
}
