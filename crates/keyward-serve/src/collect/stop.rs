//! How threads are told to end, also while they wait.

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
        let (mutex, condvar) = &*self.waiting;
        let waited = condvar.wait_timeout_while(lock(mutex), duration, |()| !self.is_set());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        !self.is_set()
    }
}
