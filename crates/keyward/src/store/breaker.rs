//! Stops asking a server that does not answer.
//!
//! Own code: the breakers on crates.io wrap a future each and know one error type; this one is asked
//! on every command and must cost nothing while it is closed or open, which one atomic does.

use super::clock::Clock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// When the breaker opens, and when it tries again:
/// `BreakerSettings::default().min_samples(10).cooldown(Duration::from_secs(5))`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BreakerSettings {
    /// The time over which errors are counted
    pub window: Duration,
    /// How many answers there must be in it before it may open
    pub min_samples: u32,
    /// The share of errors, from 0 to 1, at which it opens
    pub error_rate: f64,
    /// It also opens when nothing but errors came for so long, and at least `min_samples` of them: a server
    /// that hangs after much good traffic would cost a timeout a request until their share is reached
    pub silence: Duration,
    /// How long it stays open before it lets a probe through
    pub cooldown: Duration,
    /// How many probes must succeed in a row before it closes
    pub probes: u32,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        BreakerSettings {
            window: Duration::from_secs(10),
            min_samples: 5,
            error_rate: 0.5,
            silence: Duration::from_secs(1),
            cooldown: Duration::from_secs(1),
            probes: 2,
        }
    }
}

impl BreakerSettings {
    /// The time over which errors are counted; ten seconds unless given.
    #[must_use]
    pub fn window(self, window: Duration) -> Self {
        BreakerSettings { window, ..self }
    }

    /// How many answers there must be before it may open; five unless given.
    #[must_use]
    pub fn min_samples(self, min_samples: u32) -> Self {
        BreakerSettings { min_samples, ..self }
    }

    /// The share of errors, from 0 to 1, at which it opens; a half unless given.
    #[must_use]
    pub fn error_rate(self, error_rate: f64) -> Self {
        BreakerSettings { error_rate, ..self }
    }

    /// It also opens when nothing but errors came for so long; a second unless given.
    #[must_use]
    pub fn silence(self, silence: Duration) -> Self {
        BreakerSettings { silence, ..self }
    }

    /// How long it stays open before it lets a probe through; a second unless given.
    #[must_use]
    pub fn cooldown(self, cooldown: Duration) -> Self {
        BreakerSettings { cooldown, ..self }
    }

    /// How many probes must succeed in a row before it closes; two unless given.
    #[must_use]
    pub fn probes(self, probes: u32) -> Self {
        BreakerSettings { probes, ..self }
    }
}

/// What the breaker is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BreakerState {
    /// Every command goes to the server
    Closed,
    /// No command does
    Open,
    /// One at a time does, to see whether the server is back
    HalfOpen,
}

/// Counts answers, and says whether the server may be asked.
#[derive(Debug)]
pub(crate) struct Breaker {
    settings: BreakerSettings,
    clock: Clock,
    /// 0 while closed; otherwise one more than the time until which nothing is let through
    open_until: AtomicU64,
    inner: Mutex<Counts>,
}

#[derive(Debug)]
struct Counts {
    state: BreakerState,
    /// Good and bad answers, in slices of the window
    slices: [Slice; SLICES],
    /// When the first of the errors came that no good answer has followed, and how many there are
    only_bad: Option<(u64, u32)>,
    probing: bool,
    good_probes: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slice {
    number: u64,
    good: u32,
    bad: u32,
}

const SLICES: usize = 10;

/// A command that the breaker has let through. Its outcome must be told; if it is dropped before, as
/// a cancelled caller does, it counts as nothing, and the next probe may go.
#[derive(Debug)]
pub(crate) struct Permit<'b> {
    breaker: &'b Breaker,
    probe: bool,
    told: bool,
}

/// What the breaker did because of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Opened,
    Closed,
}

impl Breaker {
    pub(crate) fn new(settings: BreakerSettings, clock: Clock) -> Self {
        let counts = Counts {
            state: BreakerState::Closed,
            slices: [Slice::default(); SLICES],
            only_bad: None,
            probing: false,
            good_probes: 0,
        };
        Breaker { settings, clock, open_until: AtomicU64::new(0), inner: Mutex::new(counts) }
    }

    pub(crate) fn state(&self) -> BreakerState {
        self.lock().state
    }

    /// Whether the server may be asked.
    pub(crate) fn permit(&self) -> Option<Permit<'_>> {
        let open_until = self.open_until.load(Ordering::Acquire);
        if open_until == 0 {
            return Some(Permit { breaker: self, probe: false, told: false });
        }
        if self.clock.now() < open_until - 1 {
            return None;
        }
        let mut counts = self.lock();
        if counts.state == BreakerState::Closed {
            return Some(Permit { breaker: self, probe: false, told: false });
        }
        if counts.probing {
            return None;
        }
        counts.state = BreakerState::HalfOpen;
        counts.probing = true;
        Some(Permit { breaker: self, probe: true, told: false })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn open(&self, counts: &mut Counts) {
        counts.state = BreakerState::Open;
        counts.good_probes = 0;
        let until = self.clock.now().saturating_add(millis(self.settings.cooldown));
        self.open_until.store(until.saturating_add(1), Ordering::Release);
    }

    fn close(&self, counts: &mut Counts) {
        counts.state = BreakerState::Closed;
        counts.good_probes = 0;
        counts.slices = [Slice::default(); SLICES];
        counts.only_bad = None;
        self.open_until.store(0, Ordering::Release);
    }

    /// Counts an answer; whether it is to open.
    fn count(&self, counts: &mut Counts, good: bool) -> bool {
        let now = self.clock.now();
        let width = (millis(self.settings.window) / SLICES as u64).max(1);
        let number = now / width + 1;
        let slice = &mut counts.slices[usize::try_from(number).unwrap_or(0) % SLICES];
        if slice.number != number {
            *slice = Slice { number, good: 0, bad: 0 };
        }
        if good {
            slice.good = slice.good.saturating_add(1);
            counts.only_bad = None;
            return false;
        }
        slice.bad = slice.bad.saturating_add(1);
        let recent =
            |(since, _): &(u64, u32)| now.saturating_sub(*since) <= millis(self.settings.window);
        let (since, errors) = counts.only_bad.filter(recent).unwrap_or((now, 0));
        counts.only_bad = Some((since, errors.saturating_add(1)));
        if errors >= self.settings.min_samples.saturating_sub(1)
            && now.saturating_sub(since) >= millis(self.settings.silence)
        {
            return true;
        }
        let recent = counts.slices.iter().filter(|slice| slice.number + SLICES as u64 > number);
        let (good, bad) = recent.fold((0u64, 0u64), |(good, bad), slice| {
            (good + u64::from(slice.good), bad + u64::from(slice.bad))
        });
        #[allow(clippy::cast_precision_loss, reason = "a share needs no 53 bits")]
        let rate = bad as f64 / (good + bad) as f64;
        good + bad >= u64::from(self.settings.min_samples) && rate >= self.settings.error_rate
    }
}

impl Permit<'_> {
    /// The server answered.
    pub(crate) fn good(mut self) -> Option<Turn> {
        self.told = true;
        let mut counts = self.breaker.lock();
        if !self.probe {
            if counts.state == BreakerState::Closed {
                self.breaker.count(&mut counts, true);
            }
            return None;
        }
        counts.probing = false;
        counts.good_probes += 1;
        if counts.good_probes < self.breaker.settings.probes {
            return None;
        }
        self.breaker.close(&mut counts);
        Some(Turn::Closed)
    }

    /// The server did not answer, or not in time.
    pub(crate) fn bad(mut self) -> Option<Turn> {
        self.told = true;
        let mut counts = self.breaker.lock();
        if self.probe {
            counts.probing = false;
            self.breaker.open(&mut counts);
            return None;
        }
        if counts.state != BreakerState::Closed || !self.breaker.count(&mut counts, false) {
            return None;
        }
        self.breaker.open(&mut counts);
        Some(Turn::Opened)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.probe && !self.told {
            self.breaker.lock().probing = false;
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaker() -> (Breaker, Clock) {
        let clock = Clock::manual();
        (Breaker::new(BreakerSettings::default(), clock.clone()), clock)
    }

    fn fail(breaker: &Breaker) -> Option<Turn> {
        breaker.permit().unwrap().bad()
    }

    #[test]
    fn it_opens_at_the_error_rate_and_not_before_there_are_enough_answers() {
        let (breaker, _) = breaker();
        for _ in 0..4 {
            assert_eq!(fail(&breaker), None);
        }
        assert_eq!(fail(&breaker), Some(Turn::Opened));
        assert_eq!(breaker.state(), BreakerState::Open);
        assert!(breaker.permit().is_none());
    }

    #[test]
    fn good_answers_keep_it_closed() {
        let (breaker, _) = breaker();
        for _ in 0..100 {
            breaker.permit().unwrap().good();
            breaker.permit().unwrap().good();
            assert_eq!(fail(&breaker), None);
        }
        assert_eq!(breaker.state(), BreakerState::Closed);
    }

    #[test]
    fn nothing_but_errors_for_a_while_opens_it_whatever_went_before() {
        let (breaker, clock) = breaker();
        for _ in 0..1000 {
            breaker.permit().unwrap().good();
        }
        // A connection that breaks fails all that was under way, and nothing follows from that.
        for _ in 0..100 {
            assert_eq!(fail(&breaker), None);
        }
        clock.advance(Duration::from_millis(900));
        breaker.permit().unwrap().good();
        for _ in 0..10 {
            assert_eq!(fail(&breaker), None);
            clock.advance(Duration::from_millis(100));
        }
        assert_eq!(fail(&breaker), Some(Turn::Opened));
    }

    #[test]
    fn errors_are_forgotten_when_the_window_has_passed() {
        let (breaker, clock) = breaker();
        for _ in 0..4 {
            fail(&breaker);
        }
        clock.advance(Duration::from_secs(11));
        assert_eq!(fail(&breaker), None);
        assert_eq!(breaker.state(), BreakerState::Closed);
    }

    #[test]
    fn it_closes_after_good_probes_one_at_a_time() {
        let (breaker, clock) = breaker();
        for _ in 0..5 {
            fail(&breaker);
        }
        clock.advance(Duration::from_secs(1));
        let probe = breaker.permit().unwrap();
        assert_eq!(breaker.state(), BreakerState::HalfOpen);
        assert!(breaker.permit().is_none(), "one probe at a time");
        assert_eq!(probe.good(), None);
        assert_eq!(breaker.permit().unwrap().good(), Some(Turn::Closed));
        assert_eq!(breaker.state(), BreakerState::Closed);
    }

    #[test]
    fn a_bad_probe_opens_it_again() {
        let (breaker, clock) = breaker();
        for _ in 0..5 {
            fail(&breaker);
        }
        clock.advance(Duration::from_secs(1));
        assert_eq!(fail(&breaker), None);
        assert!(breaker.permit().is_none());
        clock.advance(Duration::from_secs(1));
        assert!(breaker.permit().is_some());
    }

    #[test]
    fn a_cancelled_probe_makes_way_for_the_next() {
        let (breaker, clock) = breaker();
        for _ in 0..5 {
            fail(&breaker);
        }
        clock.advance(Duration::from_secs(1));
        drop(breaker.permit().unwrap());
        assert!(breaker.permit().is_some());
    }
}
