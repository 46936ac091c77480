//! The worker: takes jobs, runs their handler, and says what became of them.

use super::board::Board;
use super::idle::Idle;
use super::job::{Failure, Job, Outcome};
use super::lease::{End, Ended, Leased, Renewed, Taken, millis};
use super::line::Line;
use crate::kind::Queue;
use crate::store::error::Error;
use crate::store::handle::Handle;
use crate::store::measure;
use crate::{Behaviour, Codec, Key};
use futures_util::FutureExt as _;
use futures_util::future::{Shared, join_all};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use std::future::{Future, pending};
use std::marker::PhantomData;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};

/// How long an idle worker waits at most before it looks for what is due: retries, delayed jobs, leases that ended.
const POLL: Duration = Duration::from_secs(1);
/// The pause after an error of the server, which doubles up to a second.
const PAUSE: Duration = Duration::from_millis(50);

/// How much of an error is kept, in bytes.
const LONGEST_ERROR: usize = 4096;

type Waiting<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Takes jobs of a queue and runs a handler for each: see [`Handle::worker`].
#[must_use = "a worker does nothing until it is run"]
pub struct Worker<V, C> {
    lines: Result<Vec<Line>, Error>,
    concurrency: usize,
    stop: Waiting<()>,
    grace: Duration,
    kind: PhantomData<fn() -> (V, C)>,
}

impl<K: Key, V, C: Codec<V>, L> Handle<'_, K, Queue<V, C>, L> {
    /// A worker for this queue.
    pub fn worker(&self) -> Worker<V, C> {
        Worker {
            lines: self.lines(),
            concurrency: 1,
            stop: Box::pin(pending()),
            grace: Duration::from_secs(30),
            kind: PhantomData,
        }
    }
}

impl<V, C: Codec<V>> Worker<V, C> {
    /// How many jobs it handles at once, all in the task that runs it; 1 unless given.
    pub fn concurrency(self, jobs: usize) -> Self {
        Worker { concurrency: jobs.max(1), ..self }
    }

    /// When it ends: it takes nothing more, and waits for the jobs that run. [`terminated`] is SIGTERM or Ctrl-C.
    pub fn until(self, stop: impl Future<Output = ()> + Send + 'static) -> Self {
        Worker { stop: Box::pin(stop), ..self }
    }

    /// How long it waits then for the jobs that run, before it gives them back; 30 seconds unless given.
    pub fn grace(self, grace: Duration) -> Self {
        Worker { grace, ..self }
    }

    /// Runs until it is told to end.
    ///
    /// The handler is given each job at least once. What it returns as `Err` is tried again after a while, up to the
    /// schema's `max_attempts`; a panic is a failure too. While the server is away, the worker waits for it.
    ///
    /// # Errors
    /// If the queue cannot be used: its key holds another type, or its schema does not fit the server.
    pub async fn run<F, R>(self, handler: impl Fn(Job<V>) -> F) -> Result<(), Error>
    where
        // Not `AsyncFn`: the compiler could not see that a worker may be spawned.
        F: Future<Output = Result<R, Failure>>,
        R: Outcome,
    {
        let Worker { lines, concurrency, stop, grace, .. } = self;
        let failed = Arc::new(Notify::new());
        let gave_up = Arc::clone(&failed);
        let stop = async move {
            tokio::select! {
                () = stop => {}
                () = gave_up.notified() => {}
            }
        };
        let stop = stop.boxed().shared();
        let seats = Arc::new(Semaphore::new(concurrency.min(Semaphore::MAX_PERMITS)));
        // A queue that is being renamed has several names, which are worked on at the same time. The jobs of one wait
        // until there is nothing to take from those before it.
        let mut before = None;
        let mut shifts = Vec::new();
        for line in lines? {
            line.core.suits(line.definition)?;
            let (more, next) = watch::channel(true);
            let before = before.replace(next);
            let (seats, stop, failed) = (Arc::clone(&seats), stop.clone(), Arc::clone(&failed));
            let shift = Shift { line: Arc::new(line), seats, before, more, stop, grace, failed };
            shifts.push(shift.run::<V, C, F, R>(&handler));
        }
        join_all(shifts).await.into_iter().collect()
    }
}

/// The work on one name of a queue.
struct Shift {
    line: Arc<Line>,
    /// How many jobs may run, under all names
    seats: Arc<Semaphore>,
    /// Whether there may be more to take from the name before it
    before: Option<watch::Receiver<bool>>,
    /// Whether there may be more to take from this one
    more: watch::Sender<bool>,
    stop: Shared<Waiting<()>>,
    grace: Duration,
    /// Ends the work on all names
    failed: Arc<Notify>,
}

impl Shift {
    async fn run<V, C: Codec<V>, F, R>(self, handler: &impl Fn(Job<V>) -> F) -> Result<(), Error>
    where
        F: Future<Output = Result<R, Failure>>,
        R: Outcome,
    {
        let Shift { line, seats, mut before, more, mut stop, grace, failed: fails } = self;
        let lease = Duration::from_millis(line.definition.behaviour.lease_ms.unwrap_or(30_000));
        let board = Board::new(Arc::clone(&line), lease);
        let idle = Arc::new(Idle::default());
        let mut running = FuturesUnordered::new();
        // What is done is reported together with all that ends meanwhile.
        let (mut over, mut done) = (Vec::new(), Vec::new());
        let mut reporting: Option<Waiting<Vec<Arc<Leased>>>> = None;
        // Jobs whose status is to be written, unless they are done at once: then that is written.
        let mut marks: Vec<(String, String)> = Vec::new();
        let mut marking: FuturesUnordered<Waiting<()>> = FuturesUnordered::new();
        // A take must not be dropped when something else happens: its jobs would wait for the end of their leases.
        let mut taking: Option<Waiting<(OwnedSemaphorePermit, Result<Taken, Error>)>> = None;
        let mut resting: Option<Waiting<()>> = None;
        let mut ending: Option<Waiting<()>> = None;
        let mut failed = None;
        let mut pause = PAUSE;
        // What ends may make room for others of its group, and what failed is due again: both before the rest is over.
        let (mut blocked, mut look) = (false, false);
        let mut due: Option<Instant> = None;
        loop {
            while let Some(Some(more)) = running.next().now_or_never() {
                over.push(more);
            }
            for one in over.drain(..) {
                match one {
                    Over::Done(job, result) => done.push((job, result)),
                    Over::Settled(retry) => {
                        look |= blocked;
                        due = sooner(due, retry);
                    }
                }
            }
            marks.retain(|(ticket, _)| !done.iter().any(|(job, _)| job.ticket == *ticket));
            if !marks.is_empty() {
                let (line, marks) = (Arc::clone(&line), std::mem::take(&mut marks));
                marking.push(Box::pin(async move { line.mark(&marks).await }));
            }
            if reporting.is_none() && !done.is_empty() {
                let (line, done) = (Arc::clone(&line), std::mem::take(&mut done));
                reporting = Some(Box::pin(async move { finish(&line, lease, done).await }));
            }
            // Not while a report is under way: a connection that is lost with it would take the leases along.
            let wants = ending.is_none()
                && reporting.is_none()
                && taking.is_none()
                && (resting.is_none() || look);
            let waits = before.as_ref().is_some_and(|it| *it.borrow() && it.has_changed().is_ok());
            let free = if wants && !waits { seats.available_permits() } else { 0 };
            let free = u32::try_from(free).unwrap_or(u32::MAX);
            if free > 0
                && let Ok(taken) = Arc::clone(&seats).try_acquire_many_owned(free)
            {
                look = false;
                let line = Arc::clone(&line);
                taking = Some(Box::pin(async move {
                    let found = line.take(taken.num_permits(), lease).await;
                    (taken, found)
                }));
            }
            let busy = taking.is_some() || reporting.is_some() || !marking.is_empty();
            if ending.is_some() && running.is_empty() && !busy {
                break;
            }
            tokio::select! {
                Some(one) = running.next(), if !running.is_empty() => over.push(one),
                finished = next(&mut reporting), if reporting.is_some() => {
                    look |= blocked;
                    for job in &finished {
                        board.leave(job);
                    }
                }
                Some(()) = marking.next(), if !marking.is_empty() => {}
                () = reached(due), if due.is_some() => {
                    due = None;
                    look = true;
                }
                taken = next(&mut taking), if taking.is_some() => match taken {
                    (_, Ok(taken)) if ending.is_some() => {
                        line.mark(&taken.back).await;
                        for job in taken.jobs {
                            give_back(&line, &job).await;
                        }
                    }
                    (mut free, Ok(mut taken)) => {
                        let is_all = taken.jobs.len() < free.num_permits();
                        more.send_replace(!is_all);
                        marks.append(&mut taken.back);
                        if line.status.is_some() {
                            marks.extend(taken.jobs.iter().map(|it| (it.ticket.clone(), it.id.clone())));
                        }
                        pause = PAUSE;
                        blocked = taken.blocked;
                        if is_all && resting.is_none() {
                            resting = Some(rest(&line, &idle, &taken));
                        }
                        for job in taken.jobs {
                            let seat = free.split(1);
                            let (line, board) = (&line, &board);
                            running.push(async move {
                                let over = work::<V, C, F, R>(line, board, lease, job, handler).await;
                                drop(seat);
                                over
                            });
                        }
                    }
                    (_, Err(error)) => {
                        more.send_replace(false);
                        line.core.failures.note(line.definition.name, &error);
                        if error.is_unavailable() {
                            resting = Some(Box::pin(tokio::time::sleep(pause)));
                            pause = (pause * 2).min(POLL);
                        } else {
                            failed = Some(error);
                            fails.notify_one();
                            ending = Some(Box::pin(tokio::time::sleep(grace)));
                        }
                    }
                },
                () = next(&mut resting), if resting.is_some() => {}
                () = may_take(&mut before, &seats), if wants && taking.is_none() => {}
                () = &mut stop, if ending.is_none() => {
                    resting = None;
                    ending = Some(Box::pin(tokio::time::sleep(grace)));
                }
                () = next(&mut ending), if ending.is_some() => {
                    ending = Some(Box::pin(pending()));
                    for job in board.seated() {
                        give_back(&line, &job).await;
                    }
                    running.clear();
                    (reporting, done) = (None, Vec::new());
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

/// Waits until there is nothing more to take from the name before, and a seat for a job.
async fn may_take(before: &mut Option<watch::Receiver<bool>>, seats: &Semaphore) {
    if let Some(before) = before {
        // Who has ended takes nothing.
        _ = before.wait_for(|more| !*more).await;
    }
    drop(seats.acquire().await);
}

/// Waits for something, which is over then.
async fn next<T>(waiting: &mut Option<Waiting<T>>) -> T {
    let Some(future) = waiting else { return pending().await };
    let answer = future.await;
    *waiting = None;
    answer
}

fn sooner(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

async fn reached(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time.into()).await,
        None => pending().await,
    }
}

/// Waits for the next job.
fn rest(line: &Arc<Line>, idle: &Arc<Idle>, taken: &Taken) -> Waiting<()> {
    let most = taken.next.map_or(POLL, |next| next.clamp(Duration::from_millis(1), POLL));
    if taken.paused {
        return Box::pin(tokio::time::sleep(POLL));
    }
    let (line, idle) = (Arc::clone(line), Arc::clone(idle));
    Box::pin(async move {
        if let Err(error) = idle.wait(&line, most).await {
            line.core.failures.note(line.definition.name, &error);
            tokio::time::sleep(most.min(POLL / 4)).await;
        }
    })
}

async fn give_back(line: &Line, job: &Leased) {
    if let Err(error) = line.settle(job, &End::Release).await {
        line.core.failures.note(line.definition.name, &error);
    }
}

/// What has become of a job that was handled.
enum Over {
    /// It is done, which nobody knows yet
    Done(Arc<Leased>, Vec<u8>),
    /// Its lease has ended; when it is due again, if it is
    Settled(Option<Instant>),
}

/// Handles one job from its lease to its end, unless it is done.
async fn work<V, C: Codec<V>, F: Future<Output = Result<R, Failure>>, R: Outcome>(
    line: &Arc<Line>,
    board: &Board,
    lease: Duration,
    leased: Leased,
    handler: &impl Fn(Job<V>) -> F,
) -> Over {
    let began = Instant::now();
    let leased = Arc::new(leased);
    let seat = board.sit(&leased);
    let name = line.definition.name;
    let behaviour = &line.definition.behaviour;
    let condemned =
        line.dead.is_some() && behaviour.max_crashes.is_some_and(|most| leased.crashes >= most);
    let end = match C::decode(&leased.payload) {
        _ if condemned => {
            Err(Failure::fatal(format!("its worker was lost {} times", leased.crashes)))
        }
        Err(why) => Err(Failure::fatal(format!("the job cannot be read: {why}"))),
        Ok(value) => {
            let job = Job {
                value,
                leased: Arc::clone(&leased),
                line: Arc::clone(line),
                seat: seat.clone(),
            };
            let handled = AssertUnwindSafe(async { handler(job).await }).catch_unwind();
            let timeout = behaviour.timeout_ms.map(Duration::from_millis);
            tokio::select! {
                handled = within(timeout, handled) => match handled {
                    Some(Ok(Ok(result))) => Ok(result.into_bytes()),
                    Some(Ok(Err(failure))) => Err(failure),
                    Some(Err(panic)) => Err(Failure { why: format!("the handler panicked: {}", said(&*panic)), fatal: false }),
                    None => Err(Failure { why: format!("it took longer than {:?}", timeout.unwrap_or_default()), fatal: false }),
                },
                () = seat.over() => {
                    if seat.fate() == Renewed::Lost {
                        count(line, "lost");
                        board.leave(&leased);
                        return Over::Settled(None);
                    }
                    Err(Failure { why: "cancelled".to_owned(), fatal: false })
                },
            }
        }
    };
    measure::time("keyward_job_seconds", began.elapsed(), name);
    let mut failure = match end {
        Ok(result) => return Over::Done(leased, result),
        Err(failure) => failure,
    };
    failure.why.truncate(failure.why.floor_char_boundary(LONGEST_ERROR));
    let end = failed(line, &leased, failure);
    settle(line, lease, &leased, &end).await;
    board.leave(&leased);
    Over::Settled(match end {
        End::Retry(_, delay) | End::Dead(_, delay) => Some(Instant::now() + delay),
        End::Release => None,
    })
}

async fn within<T>(timeout: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match timeout {
        Some(timeout) => tokio::time::timeout(timeout, work).await.ok(),
        None => Some(work.await),
    }
}

fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Whether a job is tried again. A queue without dead letters has no place for one that is not.
fn failed(line: &Line, job: &Leased, failure: Failure) -> End {
    let behaviour = &line.definition.behaviour;
    let exhausted = behaviour.max_attempts.is_some_and(|most| job.attempts + 1 >= most);
    let delay = backoff(behaviour, job.attempts);
    if line.dead.is_some() && (failure.fatal || exhausted) {
        End::Dead(failure.why, delay)
    } else {
        End::Retry(failure.why, delay)
    }
}

/// Doubles with each attempt, and is shortened by up to a half, so that what failed together is not tried together.
fn backoff(behaviour: &Behaviour, attempts: u64) -> Duration {
    let first = behaviour.backoff_ms.unwrap_or(1_000);
    let most = behaviour.max_backoff_ms.unwrap_or(600_000).max(first);
    let doublings = u32::try_from(attempts).unwrap_or(u32::MAX).min(32);
    let delay = first.saturating_mul(1 << doublings).min(most).max(1);
    Duration::from_millis(fastrand::u64(delay.div_ceil(2)..=delay))
}

/// Tells the server which jobs are done; those jobs.
async fn finish(
    line: &Line,
    lease: Duration,
    done: Vec<(Arc<Leased>, Vec<u8>)>,
) -> Vec<Arc<Leased>> {
    let held = persist(line, lease, || line.finish(&done)).await;
    let held = held.unwrap_or_else(|| vec![false; done.len()]);
    for held in held {
        count(line, if held { "done" } else { "lost" });
    }
    done.into_iter().map(|(job, _)| job).collect()
}

/// Tells the server what became of a job that is not done.
async fn settle(line: &Line, lease: Duration, job: &Leased, end: &End) {
    let ended = persist(line, lease, || line.settle(job, end)).await;
    let outcome = match (ended, end) {
        (Some(Ended::AsAsked), End::Retry(..)) => "retried",
        (Some(Ended::AsAsked), End::Release) => "released",
        (Some(Ended::AsAsked), End::Dead(..)) => "dead",
        (Some(Ended::Full), _) => {
            let dead = line.dead.as_ref().map(|dead| dead.definition);
            let max_len = dead.and_then(|dead| dead.behaviour.max_len).unwrap_or(0);
            let definition = dead.map_or(line.definition.name, |dead| dead.name);
            line.core.failures.note(line.definition.name, &Error::Full { definition, max_len });
            "retried"
        }
        (Some(Ended::Lost) | None, _) => "lost",
    };
    count(line, outcome);
}

fn count(line: &Line, outcome: &'static str) {
    let labels = [("definition", line.definition.name), ("outcome", outcome)];
    measure::count("keyward_jobs_total", 1, &labels);
}

/// Asks the server again and again while it is away: the leases hold meanwhile.
async fn persist<T, F: Future<Output = Result<T, Error>>>(
    line: &Line,
    lease: Duration,
    ask: impl Fn() -> F,
) -> Option<T> {
    let began = Instant::now();
    let mut pause = PAUSE;
    loop {
        match ask().await {
            Ok(answer) => return Some(answer),
            Err(error) => {
                line.core.failures.note(line.definition.name, &error);
                if !error.is_unavailable() || millis(began.elapsed()) > millis(lease) {
                    return None;
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(POLL);
            }
        }
    }
}

/// Waits until the process is asked to end: by SIGTERM or Ctrl-C.
pub async fn terminated() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut term) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = term.recv() => return,
                Ok(()) = tokio::signal::ctrl_c() => return,
            }
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        tracing::warn!(target: "keyward", "signals cannot be received: the worker does not end by them");
        pending::<()>().await;
    }
}

impl<V, C> std::fmt::Debug for Worker<V, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("concurrency", &self.concurrency).finish_non_exhaustive()
    }
}
