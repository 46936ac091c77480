use std::thread;
use std::time::{Duration, Instant};

/// Far more than any condition needs, for machines where many tests run at once.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Waits until `condition` holds.
///
/// # Panics
///
/// When it does not hold within [`PATIENCE`]; `what` says what was awaited.
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let held = wait_for(|| condition().then_some(()));
    assert!(held.is_some(), "waited {PATIENCE:?} in vain until {what}");
}

/// Looks until there is something to be seen; `None` if there is nothing within [`PATIENCE`].
pub(crate) fn wait_for<T>(look: impl FnMut() -> Option<T>) -> Option<T> {
    wait_up_to(PATIENCE, look)
}

/// The same for what may take longer or less.
pub(crate) fn wait_up_to<T>(patience: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        let seen = look();
        if seen.is_some() || start.elapsed() > patience {
            return seen;
        }
        thread::sleep(Duration::from_millis(2));
    }
}
