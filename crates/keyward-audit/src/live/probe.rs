//! Measures what another client waits for: a PING every 5 ms, on a connection and in a thread of its own.
//!
//! Where this machine is busy, the thread also waits for a processor, before and after. That is not the
//! server's fault. How late the thread wakes from each pause says how long it waits for one, and is taken off.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::error::Fault;
use super::seen::Latency;

const EVERY: Duration = Duration::from_millis(5);
const LEAST: Duration = Duration::from_millis(1);

/// As many PINGs as are looked at together, unless that takes longer than this.
const ROUND: usize = 5;
const LONGEST_ROUND: Duration = Duration::from_millis(25);

/// Whether PINGs of so long are enough to decide by. Far away there are few.
pub(super) fn is_enough(pings: usize, over: Duration) -> bool {
    pings >= ROUND || (pings > 0 && over >= LONGEST_ROUND)
}

/// PINGs that are sent until it is ended.
pub(super) struct Probe {
    shared: Arc<Shared>,
    probing: JoinHandle<Option<Connection>>,
}

#[derive(Default)]
struct Shared {
    over: AtomicBool,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    recent: Vec<Duration>,
    /// When they were last looked at
    since: Option<Instant>,
    fastest: Fastest,
    /// How late the thread woke
    late: Vec<Duration>,
    least_late: Fastest,
    all: Histogram,
    /// Why it stopped
    fault: Option<Fault>,
}

impl Probe {
    pub(super) fn begin(mut connection: Connection, round_trip: Duration) -> Self {
        let shared = Arc::new(Shared::default());
        let mut seen = shared.seen();
        seen.fastest.add(round_trip);
        seen.since = Some(Instant::now());
        drop(seen);
        let telling = Arc::clone(&shared);
        let probing = thread::spawn(move || {
            while !telling.over.load(Ordering::Relaxed) {
                let start = Instant::now();
                if let Err(fault) = connection.command(&["PING"]) {
                    telling.seen().fault = Some(fault);
                    return None;
                }
                let took = start.elapsed();
                let pause = EVERY.saturating_sub(took).max(LEAST);
                let rested = Instant::now();
                thread::sleep(pause);
                telling.seen().add(took, rested.elapsed().saturating_sub(pause));
            }
            Some(connection)
        });
        Probe { shared, probing }
    }

    /// What PINGs took since this was last asked, and the fastest of late; nothing as long as there are few.
    pub(super) fn round(&self) -> Result<Option<(Vec<Duration>, Duration)>, Fault> {
        let mut seen = self.shared.seen();
        let over = seen.since.map_or(Duration::ZERO, |since| since.elapsed());
        if is_enough(seen.recent.len(), over) {
            return Ok(Some(seen.round()));
        }
        seen.fault.take().map_or(Ok(None), Err)
    }

    /// All that was measured, and the connection.
    pub(super) fn end(self) -> (Latency, Option<Connection>) {
        self.shared.over.store(true, Ordering::Relaxed);
        let connection = self.probing.join().ok().flatten();
        (self.shared.seen().latency(), connection)
    }
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn add(&mut self, took: Duration, late: Duration) {
        self.recent.push(took);
        self.fastest.add(took);
        self.all.count(took);
        self.late.push(late);
        self.least_late.add(late);
    }

    /// The slowest less what the latest had to wait for a processor, and so on.
    fn round(&mut self) -> (Vec<Duration>, Duration) {
        self.since = Some(Instant::now());
        let (mut took, mut late) =
            (std::mem::take(&mut self.recent), std::mem::take(&mut self.late));
        took.sort_unstable();
        late.sort_unstable();
        let (fastest, least) = (self.fastest.get(), self.least_late.get());
        for (took, late) in took.iter_mut().zip(late) {
            *took = took.saturating_sub(late.saturating_sub(least)).max(fastest);
        }
        (took, fastest)
    }

    fn latency(&self) -> Latency {
        Latency {
            probes: self.all.total,
            idle: self.fastest.get(),
            p50: self.all.quantile(50),
            p99: self.all.quantile(99),
            max: self.all.max,
        }
    }
}

/// The fastest of the last minute, or a little less: a route may become longer for good.
#[derive(Debug, Default)]
struct Fastest {
    now: Option<Duration>,
    before: Option<Duration>,
    since: Option<Instant>,
}

impl Fastest {
    const EVERY: Duration = Duration::from_secs(30);

    fn add(&mut self, took: Duration) {
        if self.since.is_none_or(|since| since.elapsed() > Self::EVERY) {
            (self.before, self.now) = (self.now.take(), None);
            self.since = Some(Instant::now());
        }
        self.now = Some(self.now.map_or(took, |now| now.min(took)));
    }

    fn get(&self) -> Duration {
        self.now.into_iter().chain(self.before).min().unwrap_or_default()
    }
}

/// Durations in microseconds, in eight steps a doubling.
#[derive(Debug)]
struct Histogram {
    counts: [u64; Histogram::STEPS * 32],
    total: u64,
    max: Duration,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: [0; Histogram::STEPS * 32], total: 0, max: Duration::ZERO }
    }
}

impl Histogram {
    const STEPS: usize = 8;

    fn count(&mut self, took: Duration) {
        let micros = took.as_micros().clamp(1, u128::from(u32::MAX));
        let doubling = micros.ilog2();
        let step = ((micros * Self::STEPS as u128) >> doubling) as usize - Self::STEPS;
        let place = (doubling as usize * Self::STEPS + step).min(self.counts.len() - 1);
        self.counts[place] += 1;
        self.total += 1;
        self.max = self.max.max(took);
    }

    /// At most so many per cent are slower than the rest; rounded up to a step.
    fn quantile(&self, percent: u64) -> Duration {
        let mut left = (self.total * percent).div_ceil(100);
        for (place, count) in self.counts.iter().enumerate() {
            if *count >= left && left > 0 {
                let (doubling, step) = (place / Self::STEPS, (place % Self::STEPS) as u64 + 1);
                let micros = (1_u64 << doubling) * (Self::STEPS as u64 + step) / Self::STEPS as u64;
                return Duration::from_micros(micros).min(self.max);
            }
            left = left.saturating_sub(*count);
        }
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_machine_adds_is_taken_off() {
        let millis = Duration::from_millis;
        let mut seen = Seen::default();
        for (took, late) in [(9, 1), (2, 1), (3, 8)] {
            seen.add(millis(took), millis(late));
        }
        assert_eq!(seen.round(), ([2, 3, 2].map(millis).into(), millis(2)));
        assert!(seen.recent.is_empty() && seen.late.is_empty());
    }

    #[test]
    fn quantiles_are_within_an_eighth() {
        let mut histogram = Histogram::default();
        for micros in 1..=1000 {
            histogram.count(Duration::from_micros(micros));
        }
        let [p50, p99] = [50, 99].map(|percent| histogram.quantile(percent).as_micros());
        assert!((500..=563).contains(&p50), "{p50}");
        assert!((990..=1000).contains(&p99), "{p99}");
        assert_eq!(Histogram::default().quantile(99), Duration::ZERO);
    }
}
