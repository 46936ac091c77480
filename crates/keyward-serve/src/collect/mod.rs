//! What asks servers: threads, since an audit blocks. Each writes to [`State`](crate::state::State) what it saw.

mod audit;
mod derive;
mod node;
mod poll;
mod resume;
mod sample;
mod stop;
mod watch;

pub(crate) use stop::Stop;

use crate::config::{Config, Source};
use crate::folder::Folder;
use crate::state::{Server, Shared};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use keyward_audit::live::Options;
use keyward_schema::model::Date;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long to wait before what a server refused is tried again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// The threads of all servers.
pub(crate) struct Collectors {
    threads: Vec<JoinHandle<()>>,
}

/// What the threads of one server share.
struct Context {
    state: Shared,
    number: usize,
    source: Source,
    folder: Arc<Folder>,
    stop: Stop,
    /// How often its server came back after it was away
    returns: AtomicU64,
}

impl Context {
    fn server(&self) -> &Server {
        &self.state.servers[self.number]
    }

    /// How its server is asked.
    fn options(&self) -> Options {
        let mut options = self.source.options.clone();
        options.stop = self.stop.flag.clone();
        options
    }

    /// How often its server came back after it was away.
    fn returns(&self) -> u64 {
        self.returns.load(Ordering::Acquire)
    }

    /// Notes that its server is back: who waits to try again does so at once.
    fn note_return(&self) {
        self.returns.fetch_add(1, Ordering::AcqRel);
        self.stop.wake();
    }

    /// Waits before something is tried again that failed, but not longer than until the server is back, which it was
    /// `returns` times when that began. Gives how long to wait the next time.
    fn pause(&self, pause: Duration, returns: u64) -> Duration {
        self.stop.wait_unless(pause, || self.returns() != returns);
        if self.returns() == returns { (pause * 2).min(PAUSES.1) } else { PAUSES.0 }
    }

    fn resume_file(&self) -> PathBuf {
        self.folder.resume(&self.source.name)
    }
}

/// Starts to collect.
pub(crate) fn start(
    config: &Config,
    state: &Shared,
    folder: &Arc<Folder>,
    stop: &Stop,
) -> io::Result<Collectors> {
    let mut threads = Vec::new();
    for (number, source) in config.servers.iter().enumerate() {
        let context = Arc::new(Context {
            state: state.clone(),
            number,
            source: source.clone(),
            folder: folder.clone(),
            stop: stop.clone(),
            returns: AtomicU64::new(0),
        });
        audit::restore(&context);
        let mut spawn = |what: &str, run: fn(&Context)| -> io::Result<()> {
            let context = context.clone();
            let builder = thread::Builder::new().name(format!("{what} {}", source.name));
            threads.push(builder.spawn(move || run(&context))?);
            Ok(())
        };
        spawn("audit", audit::run)?;
        spawn("poll", poll::run)?;
        if source.watch {
            spawn("watch", watch::run)?;
        }
    }
    Ok(Collectors { threads })
}

impl Collectors {
    /// Threads that end with them.
    pub(crate) fn add(&mut self, threads: Vec<JoinHandle<()>>) {
        self.threads.extend(threads);
    }

    /// Waits until they have ended, and not for ever: a thread that hangs ends with the program.
    pub(crate) fn join(self, patience: Duration) {
        const TICK: Duration = Duration::from_millis(5);
        let until = Instant::now() + patience;
        for thread in self.threads {
            while !thread.is_finished() && Instant::now() < until {
                thread::sleep(TICK);
            }
            if thread.is_finished() {
                // It has said itself what went wrong.
                let _ = thread.join();
            }
        }
    }
}

/// The day in UTC.
fn today() -> Date {
    let day = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let (month, of_month) = (day.month().unsigned_abs(), day.day().unsigned_abs());
    Date { year: day.year().unsigned_abs(), month, day: of_month }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
