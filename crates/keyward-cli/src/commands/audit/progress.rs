//! How far reading has come, on standard error: a bar on a terminal, for what takes longer than a second; one
//! line elsewhere, for what will take long.

use crate::output::{Output, complain};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keyward_audit::live;
use keyward_fact::thousands;
use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long nothing is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far reading has come.
pub(in crate::commands) struct Progress {
    start: Instant,
    size: Option<u64>,
    terminal: bool,
    furthest: AtomicU64,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    pub(in crate::commands) fn new(size: Option<u64>) -> Self {
        Progress {
            start: Instant::now(),
            size,
            terminal: io::stderr().is_terminal(),
            furthest: AtomicU64::new(0),
            bar: OnceLock::new(),
        }
    }

    /// So many bytes were read; threads may say it in any order.
    pub(in crate::commands) fn reached(&self, offset: u64) {
        let furthest = self.furthest.fetch_max(offset, Ordering::Relaxed).max(offset);
        if self.terminal && self.start.elapsed() >= PATIENCE {
            self.bar.get_or_init(|| self.draw()).set_position(furthest);
        }
    }

    fn draw(&self) -> ProgressBar {
        let target = ProgressDrawTarget::stderr_with_hz(10);
        let template = match self.size {
            Some(_) => "{bar:32} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            None => "{spinner} {bytes}, {bytes_per_sec}",
        };
        let bar = ProgressBar::with_draw_target(self.size, target);
        match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }

    /// Removes the bar.
    pub(in crate::commands) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// Watches how far the reading of servers has come, until it is dropped.
pub(in crate::commands) struct Watch {
    over: Arc<AtomicBool>,
    drawing: Option<JoinHandle<()>>,
}

impl Watch {
    pub(in crate::commands) fn new(progress: &Arc<live::Progress>, output: &Output) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let terminal = io::stderr().is_terminal();
        let drawing = (terminal || output.notes()).then(|| {
            let (over, progress) = (over.clone(), progress.clone());
            thread::spawn(move || {
                if terminal { draw_until(&over, &progress) } else { estimate(&over, &progress) }
            })
        });
        Watch { over, drawing }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(drawing) = self.drawing.take() {
            drawing.thread().unpark();
            _ = drawing.join();
        }
    }
}

fn draw_until(over: &AtomicBool, progress: &live::Progress) {
    let start = Instant::now();
    let mut bar: Option<ProgressBar> = None;
    while !over.load(Ordering::Acquire) {
        thread::park_timeout(Duration::from_millis(100));
        if start.elapsed() < PATIENCE {
            continue;
        }
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            match ProgressStyle::with_template(
                "{bar:32} {pos} of {len} keys, {per_sec}, {eta} left",
            ) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        bar.set_length(progress.expected.load(Ordering::Relaxed));
        bar.set_position(progress.keys.load(Ordering::Relaxed));
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

/// Says once how long it will take, where that is longer than it took to find out.
fn estimate(over: &AtomicBool, progress: &live::Progress) {
    let keys = || progress.keys.load(Ordering::Relaxed);
    let mut begun: Option<(Instant, u64)> = None;
    while !over.load(Ordering::Acquire) {
        thread::park_timeout(Duration::from_millis(100));
        let (since, before) = match begun {
            Some(begun) => begun,
            // A resumed scan has already read some.
            None if keys() > 0 => *begun.insert((Instant::now(), keys())),
            None => continue,
        };
        let Some(left) = time_left(since.elapsed(), before, keys(), progress) else { continue };
        // If standard error is gone, there is nobody left to tell.
        let _ = complain(format_args!(
            "about {} left ({} of {} keys read)\n",
            left.human(),
            thousands(keys()),
            thousands(progress.expected.load(Ordering::Relaxed))
        ));
        return;
    }
}

/// How long it will take, once that can be said, unless it is over soon.
fn time_left(
    elapsed: Duration,
    before: u64,
    keys: u64,
    progress: &live::Progress,
) -> Option<keyward_fact::Duration> {
    /// Until then the pace has been found.
    const ENOUGH: Duration = Duration::from_secs(5);
    let expected = progress.expected.load(Ordering::Relaxed);
    let (seen, left) = (keys.checked_sub(before)?, expected.checked_sub(keys)?);
    if elapsed < ENOUGH || seen == 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let left = elapsed.mul_f64(left as f64 / seen as f64);
    let seconds = left.as_secs();
    (left >= ENOUGH).then(|| keyward_fact::Duration::from_millis(seconds * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_by_what_was_seen() {
        let progress = live::Progress::default();
        progress.expected.store(1_000_000, Ordering::Relaxed);
        let after = |seconds, before, keys| {
            let left = time_left(Duration::from_secs(seconds), before, keys, &progress);
            left.map(keyward_fact::Duration::human)
        };
        assert_eq!(after(5, 0, 10_000).as_deref(), Some("8 min 15 s"));
        assert_eq!(after(5, 500_000, 510_000).as_deref(), Some("4 min 5 s"));
        assert_eq!(after(1, 0, 10_000), None);
        assert_eq!(after(5, 0, 999_999), None);
        assert_eq!(after(5, 10, 10), None);
    }
}
