//! A bar on standard error, on a terminal, for what takes longer than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keyward_audit::live;
use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long nothing is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far reading has come.
pub(super) struct Progress {
    start: Instant,
    size: Option<u64>,
    terminal: bool,
    furthest: AtomicU64,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    pub(super) fn new(size: Option<u64>) -> Self {
        Progress {
            start: Instant::now(),
            size,
            terminal: io::stderr().is_terminal(),
            furthest: AtomicU64::new(0),
            bar: OnceLock::new(),
        }
    }

    /// So many bytes were read; threads may say it in any order.
    pub(super) fn reached(&self, offset: u64) {
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

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// Watches how far the reading of servers has come, until it is dropped.
pub(super) struct Watch {
    over: Arc<AtomicBool>,
    drawing: Option<JoinHandle<()>>,
}

impl Watch {
    pub(super) fn new(progress: &Arc<live::Progress>) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let drawing = io::stderr().is_terminal().then(|| {
            let (over, progress) = (over.clone(), progress.clone());
            thread::spawn(move || draw_until(&over, &progress))
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
