//! How long loads take, so that a value can be refreshed just before it expires.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A moving average for each definition.
#[derive(Debug, Default)]
pub(crate) struct Pace(Mutex<HashMap<&'static str, f64>>);

impl Pace {
    /// A load has ended.
    pub(crate) fn note(&self, definition: &'static str, took: Duration) {
        let took = took.as_secs_f64() * 1000.0;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let average = known.entry(definition).or_insert(took);
        *average += (took - *average) * 0.2;
    }

    /// Whether a value with so many milliseconds left should be loaded again: the nearer its end and
    /// the longer a load takes, the more likely, so that many callers do not all decide the same
    /// (Vattani, Chierichetti, Lowenstein: Optimal Probabilistic Cache Stampede Prevention, 2015).
    pub(crate) fn is_due(&self, definition: &'static str, left_ms: u64, chance: f64) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(load) = known.get(definition) else { return false };
        #[allow(clippy::cast_precision_loss, reason = "a TTL in ms is far below 2^53")]
        let left = left_ms as f64;
        -load * chance.max(f64::MIN_POSITIVE).ln() >= left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_and_slow_loads_make_a_refresh_likely() {
        let pace = Pace::default();
        assert!(!pace.is_due("listing", 0, 0.01), "nothing is known");
        pace.note("listing", Duration::from_millis(100));
        assert!(pace.is_due("listing", 50, 0.5), "69 ms before the end");
        assert!(!pace.is_due("listing", 100, 0.5));
        assert!(pace.is_due("listing", 400, 0.01));
        assert!(!pace.is_due("other", 1, 0.01));
    }
}
