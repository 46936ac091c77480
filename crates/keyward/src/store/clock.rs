//! Time that a test can set.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Where the store takes its time from: for the breaker, for ages in the process's own cache, for
/// early refresh. What expires on the server goes by the server's time.
#[derive(Clone)]
pub struct Clock(ClockKind);

#[derive(Clone)]
enum ClockKind {
    System(Instant),
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// The time that passes.
    pub fn system() -> Self {
        Clock(ClockKind::System(Instant::now()))
    }

    /// A clock that stands still until it is [advanced](Clock::advance).
    pub fn manual() -> Self {
        Clock(ClockKind::Manual(Arc::default()))
    }

    /// Moves a manual clock on; the system's clock moves by itself.
    pub fn advance(&self, by: Duration) {
        if let ClockKind::Manual(now) = &self.0 {
            now.fetch_add(millis(by), Ordering::SeqCst);
        }
    }

    /// Whether time passes by itself.
    pub(crate) fn is_system(&self) -> bool {
        matches!(self.0, ClockKind::System(_))
    }

    /// Milliseconds since the clock was made.
    pub(crate) fn now(&self) -> u64 {
        millis(self.elapsed())
    }

    /// The time since the clock was made, as exact as it is known.
    pub(crate) fn elapsed(&self) -> Duration {
        match &self.0 {
            ClockKind::System(start) => start.elapsed(),
            ClockKind::Manual(now) => Duration::from_millis(now.load(Ordering::SeqCst)),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = if self.is_system() { "system" } else { "manual" };
        write!(f, "Clock({source}, {} ms)", self.now())
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
