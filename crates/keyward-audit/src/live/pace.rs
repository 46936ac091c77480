//! How fast a server is read.
//!
//! A server runs the commands that it has read from one client before it turns to the next: what others
//! wait for is a part of a batch, at most all of it. So batches are kept short, a pause in proportion
//! follows each, and a PING on a third connection, sent right behind the questions of a batch, samples
//! what another client would wait for, at most once in 5 ms. All of it is seen from this side: how long a
//! batch took includes the way there and back beyond the fastest PING, and whatever else this machine
//! and the server did meanwhile.

use std::time::{Duration, Instant};

use super::options::Bound;
use super::seen::Latency;

/// How many keys a batch has, and what pause follows it.
#[derive(Debug)]
pub(super) struct Pace {
    bound: Option<Bound>,
    /// Keys that the next SCAN asks for
    count: usize,
    /// The fastest PING
    idle: Duration,
    /// How many times as long as planned pauses are, since PINGs had to wait
    patience: f64,
    recent: Recent,
    probed: Option<Instant>,
    latency: Histogram,
    began: Instant,
    commands: u64,
}

/// The bounds of a batch, in keys. SCAN is one command however many keys it visits.
const FEWEST: usize = 10;
const MOST: usize = 1_000;
const FEWEST_UNBOUND: usize = 100;
const MOST_UNBOUND: usize = 10_000;

impl Pace {
    pub(super) fn new(bound: Option<Bound>, idle: Duration) -> Self {
        Pace {
            bound,
            count: if bound.is_some() { 20 } else { FEWEST_UNBOUND },
            idle,
            patience: 1.0,
            recent: Recent::default(),
            probed: None,
            latency: Histogram::default(),
            began: Instant::now(),
            commands: 0,
        }
    }

    /// How many keys to ask for.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// How many batches may be under way at once.
    pub(super) fn depth(&self) -> usize {
        if self.bound.is_some() { 1 } else { 4 }
    }

    /// Whether it is time to measure what others wait for.
    pub(super) fn wants_probe(&self) -> bool {
        const EVERY: Duration = Duration::from_millis(5);
        self.bound.is_some() && self.probed.is_none_or(|last| last.elapsed() >= EVERY)
    }

    /// A PING took this long.
    pub(super) fn probe(&mut self, took: Duration) {
        self.probed = Some(Instant::now());
        self.latency.count(took);
        let Some(bound) = self.bound else { return };
        self.recent.add(took);
        if self.recent.slowest_but_one() > bound.max_latency {
            self.patience = (self.patience * 2.0).min(64.0);
            self.count = (self.count / 2).max(FEWEST);
            self.recent = Recent::default();
        } else if self.recent.is_full() {
            self.patience = (self.patience * 0.8).max(1.0);
            self.recent = Recent::default();
        }
    }

    /// A batch took this long, and so many commands. Changes the size of the next, and says how long to
    /// pause before it.
    pub(super) fn batch(&mut self, took: Duration, commands: u64) -> Duration {
        /// A batch that took long was perhaps held up by something else.
        const LONGEST: Duration = Duration::from_secs(1);
        /// No batch is meant to be shorter than this, whatever the bound.
        const SHORTEST: Duration = Duration::from_micros(100);
        self.commands += commands;
        let busy = took.saturating_sub(self.idle);
        let aim = match self.bound {
            Some(bound) => (bound.max_latency / 20).max(SHORTEST),
            // Several times the way there and back, so that it matters little. Where that is short,
            // batches stay small, so that keys are perhaps still in the processor's cache when they are
            // looked up: on one machine with one mix of keys, of batches of 20 to 1,000 keys those of 100
            // to 200 cost the server least, and those of 1,000 a quarter more.
            None => self.idle * 4,
        };
        let (fewest, most) = match self.bound {
            Some(_) => (FEWEST, MOST),
            None => (FEWEST_UNBOUND, MOST_UNBOUND),
        };
        if busy > aim {
            self.count = (self.count * 7 / 8).max(fewest);
        } else if busy < aim * 3 / 4 {
            self.count = (self.count + self.count / 16 + 1).min(most);
        }
        let Some(bound) = self.bound else { return Duration::ZERO };
        let share = bound.share.clamp(0.01, 1.0);
        let mut pause = busy.mul_f64((1.0 / share - 1.0) * self.patience).min(LONGEST);
        if let Some(max_ops) = bound.max_ops {
            #[expect(clippy::cast_precision_loss, reason = "a pause need not be exact")]
            let due = Duration::from_secs_f64(self.commands as f64 / max_ops.max(1) as f64);
            pause = pause.max(due.saturating_sub(self.began.elapsed()));
        }
        pause
    }

    pub(super) fn latency(&self) -> Latency {
        Latency {
            probes: self.latency.total,
            idle: self.idle,
            p50: self.latency.quantile(50),
            p99: self.latency.quantile(99),
            max: self.latency.max,
        }
    }
}

/// Up to a hundred probes; then it begins anew.
#[derive(Debug, Default)]
struct Recent {
    count: usize,
    max: Duration,
    /// The slowest but one
    second: Duration,
}

impl Recent {
    fn add(&mut self, took: Duration) {
        self.count += 1;
        if took > self.max {
            self.second = self.max;
            self.max = took;
        } else {
            self.second = self.second.max(took);
        }
    }

    /// One slow answer in up to a hundred may be anything's fault; the second one slows the scan down.
    fn slowest_but_one(&self) -> Duration {
        self.second
    }

    fn is_full(&self) -> bool {
        self.count >= 100
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

    #[test]
    fn others_who_wait_make_batches_smaller_and_pauses_longer() {
        let bound = Bound::default();
        let mut pace = Pace::new(Some(bound), Duration::ZERO);
        pace.count = 400;
        for _ in 0..3 {
            pace.probe(bound.max_latency * 2);
        }
        assert!(pace.count < 400 && pace.patience > 1.0, "{pace:?}");
        for _ in 0..2_000 {
            pace.probe(Duration::from_micros(50));
        }
        assert!((pace.patience - 1.0).abs() < f64::EPSILON, "{pace:?}");
    }

    #[test]
    fn commands_a_second_are_bounded_however_few_may_be() {
        let bound = Bound { max_ops: Some(10), ..Bound::default() };
        let mut pace = Pace::new(Some(bound), Duration::ZERO);
        let pause = pace.batch(Duration::from_millis(1), 400);
        assert!(pause > Duration::from_secs(30), "{pause:?}");
        let mut free = Pace::new(None, Duration::ZERO);
        assert_eq!(free.batch(Duration::from_secs(9), 400), Duration::ZERO);
    }
}
