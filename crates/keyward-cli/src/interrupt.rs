//! Ctrl-C, and SIGTERM, by which services are stopped.

use crate::failure::{Failure, Result};
use crate::output::complain;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::emulate_default_handler;
use signal_hook::low_level::siginfo::{Cause, Origin};
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

/// Sets `stop` when the program is asked to end, for whoever comes to an end of its own. When it is asked
/// again, it ends at once.
pub(crate) fn stop_at(stop: &Arc<AtomicBool>) -> Result<()> {
    let stop = stop.clone();
    on_first(move |_| {
        stop.store(true, Ordering::Relaxed);
        say("stopping; press Ctrl-C again to stop at once");
    })
}

/// Keeps the first signal that asks the program to end, for whoever passes it on. Where a terminal sent it, it is
/// negative: a command that runs in the foreground has it already.
pub(crate) fn keep_at(kept: &Arc<AtomicI32>) -> Result<()> {
    let kept = kept.clone();
    on_first(move |origin| {
        let is_terminal = origin.cause == Cause::Kernel;
        kept.store(if is_terminal { -origin.signal } else { origin.signal }, Ordering::Release);
        say("stopping; press Ctrl-C again to stop at once");
    })
}

/// Ends the program with this message when it is asked to, until the guard is dropped: from then on the
/// result is being written, which takes no time.
pub(crate) fn end_with(failure: Failure) -> Result<Guard> {
    let over = Arc::new(AtomicBool::new(false));
    let guard = Guard(over.clone());
    on_first(move |_| {
        if !over.load(Ordering::Acquire) {
            say("");
            failure.end();
        }
    })?;
    Ok(guard)
}

/// While it lives, the program may be ended in the middle of what it does.
#[derive(Debug)]
pub(crate) struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn on_first(first: impl FnOnce(Origin) + Send + 'static) -> Result<()> {
    let mut signals = SignalsInfo::<WithOrigin>::new([SIGINT, SIGTERM])
        .map_err(|error| Failure::new(format!("cannot watch for signals: {error}")))?;
    // It lives as long as the program, since nothing puts the old handlers back.
    thread::spawn(move || {
        let mut first = Some(first);
        for origin in signals.forever() {
            match first.take() {
                Some(first) => first(origin),
                None => drop(emulate_default_handler(origin.signal)),
            }
        }
    });
    Ok(())
}

/// Writes over a progress bar, on a terminal.
fn say(text: &str) {
    const ERASE_LINE: &str = "\r\u{1b}[K";
    if io::stderr().is_terminal() {
        let end = if text.is_empty() { "" } else { "\n" };
        // If standard error is gone, there is nobody left to tell.
        let _ = complain(format_args!("{ERASE_LINE}{text}{end}"));
    }
}
