//! How threads are told to end, or to go on at once, while they wait.

use crate::state::lock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Shared by all threads of an instance.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    /// What audits look at
    pub(crate) flag: Arc<AtomicBool>,
    waiting: Arc<(Mutex<()>, Condvar)>,
}

impl Stop {
    /// Ends everything.
    pub(crate) fn stop(&self) {
        let (mutex, condvar) = &*self.waiting;
        let guard = lock(mutex);
        self.flag.store(true, Ordering::Release);
        condvar.notify_all();
        drop(guard);
    }

    /// Whether everything ends.
    pub(crate) fn is_set(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }

    /// Waits, and says whether to go on.
    pub(crate) fn wait(&self, duration: Duration) -> bool {
        self.wait_unless(duration, || false)
    }

    /// Waits no longer than until something has happened that [`Stop::wake`] tells of, and says whether to go on.
    pub(crate) fn wait_unless(&self, duration: Duration, happened: impl Fn() -> bool) -> bool {
        let (mutex, condvar) = &*self.waiting;
        let is_waiting = |(): &mut ()| !self.is_set() && !happened();
        let waited = condvar.wait_timeout_while(lock(mutex), duration, is_waiting);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        !self.is_set()
    }

    /// Lets all who wait look whether what they wait for has happened.
    pub(crate) fn wake(&self) {
        let (mutex, condvar) = &*self.waiting;
        let guard = lock(mutex);
        condvar.notify_all();
        drop(guard);
    }
}
