//! Counts errors by definition and kind, and logs the first of a series.

use super::clock::Clock;
use super::error::Error;
use super::measure;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A series of errors is over when none of its kind came for so long.
const QUIET_MS: u64 = 60_000;

/// When each definition last failed, by the kind of its error.
#[derive(Debug)]
pub(crate) struct Failures {
    clock: Clock,
    last: Mutex<HashMap<(&'static str, &'static str), u64>>,
}

impl Failures {
    pub(crate) fn new(clock: Clock) -> Self {
        Failures { clock, last: Mutex::default() }
    }

    /// Notes an error of a request.
    pub(crate) fn note(&self, definition: &'static str, error: &Error) {
        let kind = error.kind();
        measure::count("keyward_errors_total", 1, &[("definition", definition), ("kind", kind)]);
        // The breaker has said why it is open.
        if !matches!(error, Error::BreakerOpen) && self.is_first(definition, kind) {
            tracing::warn!(
                target: "keyward", definition, kind, %error,
                "a request failed; more like it are counted and not logged until a minute passes without one"
            );
        }
    }

    fn is_first(&self, definition: &'static str, kind: &'static str) -> bool {
        let now = self.clock.now();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let before = last.insert((definition, kind), now);
        before.is_none_or(|before| now.saturating_sub(before) > QUIET_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_series_is_logged_once_until_a_quiet_minute() {
        let clock = Clock::manual();
        let failures = Failures::new(clock.clone());
        assert!(failures.is_first("text", "unavailable"));
        for _ in 0..10 {
            clock.advance(Duration::from_secs(50));
            assert!(!failures.is_first("text", "unavailable"), "the series goes on");
        }
        assert!(failures.is_first("text", "refused"));
        assert!(failures.is_first("page", "unavailable"));
        clock.advance(Duration::from_secs(61));
        assert!(failures.is_first("text", "unavailable"));
    }
}
