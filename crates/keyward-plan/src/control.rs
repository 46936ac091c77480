//! How a running plan is watched and steered.

use crate::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(50);

/// How far a plan is, and what it was told meanwhile. Shared between the threads that work, those that draw, and
/// those that listen.
#[derive(Debug)]
pub struct Control {
    began: Instant,
    /// When the pass over the keys began
    pass: Mutex<Instant>,
    seen: AtomicU64,
    changed: AtomicU64,
    /// How many keys there are to be seen, about
    expected: AtomicU64,
    paused: AtomicBool,
    stopped: AtomicBool,
    /// The most keys a second that are changed; 0 for any number
    rate: AtomicU64,
    /// Why a server is waited for, while one is
    lost: Mutex<Option<String>>,
}

impl Default for Control {
    fn default() -> Self {
        Control {
            began: Instant::now(),
            pass: Mutex::new(Instant::now()),
            seen: AtomicU64::new(0),
            changed: AtomicU64::new(0),
            expected: AtomicU64::new(0),
            paused: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            rate: AtomicU64::new(0),
            lost: Mutex::new(None),
        }
    }
}

/// How far a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Keys that were looked at
    pub seen: u64,
    /// Keys that there are, about
    pub expected: u64,
    /// Keys that were changed
    pub changed: u64,
    /// Since it began
    pub elapsed: Duration,
    /// Since it began to look at the keys that it looks at now: all keys are looked at several times
    pub pass: Duration,
    /// Whether it waits to go on
    pub paused: bool,
    /// The most keys a second that are changed; 0 for any number
    pub rate: u64,
}

impl Progress {
    /// Keys that were looked at a second, in this pass.
    pub fn keys_per_second(&self) -> u64 {
        let millis = u64::try_from(self.pass.as_millis()).unwrap_or(u64::MAX).max(1);
        self.seen.saturating_mul(1000) / millis
    }

    /// How long this pass still takes at that speed; `None` before the first key was seen.
    pub fn left(&self) -> Option<Duration> {
        let left = self.expected.saturating_sub(self.seen);
        let millis = u64::try_from(self.pass.as_millis()).unwrap_or(u64::MAX);
        let millis = millis.saturating_mul(left).checked_div(self.seen)?;
        Some(Duration::from_millis(millis))
    }
}

impl Control {
    /// How far it is.
    pub fn progress(&self) -> Progress {
        Progress {
            seen: self.seen.load(Ordering::Relaxed),
            expected: self.expected.load(Ordering::Relaxed),
            changed: self.changed.load(Ordering::Relaxed),
            elapsed: self.began.elapsed(),
            pass: self.pass.lock().unwrap_or_else(PoisonError::into_inner).elapsed(),
            paused: self.paused.load(Ordering::Relaxed),
            rate: self.rate.load(Ordering::Relaxed),
        }
    }

    /// Why a server is waited for, while one is.
    pub fn lost(&self) -> Option<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn lose(&self, why: Option<String>) {
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// Lets it wait, or go on.
    pub fn pause(&self, paused: bool) {
        self.paused.store(paused, Ordering::Relaxed);
    }

    /// Lets it end after the keys that are under way. What is left can be done later.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Changes at most so many keys a second; 0 for any number.
    pub fn rate(&self, keys: u64) {
        self.rate.store(keys, Ordering::Relaxed);
    }

    pub(crate) fn expect(&self, keys: u64) {
        self.expected.store(keys, Ordering::Relaxed);
        self.seen.store(0, Ordering::Relaxed);
        *self.pass.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    pub(crate) fn seen(&self, keys: u64) {
        self.seen.fetch_add(keys, Ordering::Relaxed);
    }

    pub(crate) fn changed(&self, keys: u64) {
        self.changed.fetch_add(keys, Ordering::Relaxed);
        let rate = self.rate.load(Ordering::Relaxed);
        if let Some(each) = 1_000_000_u64.checked_div(rate) {
            thread::sleep(Duration::from_micros(keys.saturating_mul(each)));
        }
    }

    /// Waits while it is paused.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        loop {
            if self.stopped.load(Ordering::Relaxed) {
                return Err(Error::unfinished(
                    "stopped before all keys were seen",
                    "apply the plan again to go on",
                ));
            }
            if !self.paused.load(Ordering::Relaxed) {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_judged_by_the_speed_of_this_pass() {
        let progress = Progress {
            seen: 200,
            expected: 1000,
            changed: 10,
            elapsed: Duration::from_secs(60),
            pass: Duration::from_secs(2),
            paused: false,
            rate: 0,
        };
        assert_eq!(progress.keys_per_second(), 100);
        assert_eq!(progress.left(), Some(Duration::from_secs(8)));
        assert_eq!(Progress { seen: 0, ..progress }.left(), None);
        assert_eq!(Progress { seen: 2000, ..progress }.left(), Some(Duration::ZERO));
    }
}
