use std::thread;
use std::time::{Duration, Instant};

/// Far more than any condition needs, for machines where many tests run at once.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `condition` holds.
///
/// # Panics
///
/// When it does not hold within a minute; `what` says what was awaited.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
