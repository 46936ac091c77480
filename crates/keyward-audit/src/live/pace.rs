//! How fast a server is read: how many keys are looked up at once, and for how long it rests.
//!
//! Two things are kept apart. How far away the server is decides how much must be under way for it not to
//! wait for this side; that is the round trip times the keys a second, as in any network (the
//! bandwidth-delay product). How busy it is decides how much may be under way. That is found as
//! [LEDBAT](https://www.rfc-editor.org/rfc/rfc6817) finds it for background transfers: PINGs on a connection
//! of their own ([`Probe`](super::probe::Probe)) measure what another client waits for, and what counts is how
//! much longer they take than the fastest of late. While that stays small, more is sent; as soon as it does
//! not, less.
//!
//! A server runs what it has read from one client before it turns to the next, 16 KiB of commands or little
//! more, so small groups of keys are also what keeps the slowest of the others' commands fast.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::options::Bound;

/// How many keys are looked up at once, and what pause follows.
#[derive(Debug)]
pub(super) struct Pace {
    bound: Option<Bound>,
    /// Keys that may be under way
    window: f64,
    /// Whether the window was full since it was last changed
    full: bool,
    /// Whether the server's capacity is still searched for
    starting: bool,
    /// The part of the time in which something is under way, where even the smallest window is too much
    share: f64,
    recent: Recent,
    /// The fastest PING of late
    round_trip: Duration,
    rate: Rate,
    /// What SCAN asks for
    count: Arc<AtomicUsize>,
    began: Instant,
    commands: u64,
}

/// The bounds of a window, in keys, where a round trip takes no time.
const FEWEST: f64 = 16.0;
const MOST: f64 = 400.0;
/// Keys that one SCAN asks for, at most. It is one command however many keys it visits.
const MOST_COUNT: usize = 1_000;
const MOST_COUNT_UNBOUND: usize = 10_000;
/// The largest part of the time that a busy server is used for, as long as nobody waits for too long.
const BUSY_SHARE: f64 = 0.25;
const LEAST_SHARE: f64 = 1.0 / 64.0;

impl Pace {
    pub(super) fn new(bound: Option<Bound>, round_trip: Duration) -> Self {
        let mut pace = Pace {
            bound,
            window: MOST,
            full: false,
            starting: true,
            share: 1.0,
            recent: Recent::default(),
            round_trip,
            rate: Rate::default(),
            count: Arc::default(),
            began: Instant::now(),
            commands: 0,
        };
        if bound.is_some() {
            pace.window = 3.0 * pace.fewest();
        }
        pace.set_count();
        pace
    }

    /// How many keys may be under way.
    pub(super) fn window(&self) -> usize {
        whole(self.window)
    }

    /// How many keys are asked for together. Of batches of 20 to 1,000 keys, those of 100 to 200 cost a server
    /// least.
    pub(super) fn group(&self) -> usize {
        (self.window() / 4).clamp(8, if self.share < 1.0 { whole(FEWEST) } else { 100 })
    }

    /// What SCAN asks for, which changes all the time.
    pub(super) fn count(&self) -> &Arc<AtomicUsize> {
        &self.count
    }

    /// As much is under way as may be.
    pub(super) fn is_full(&mut self) {
        self.full = true;
    }

    /// Keys were looked up.
    pub(super) fn looked_up(&mut self, keys: usize) {
        self.rate.add(keys);
        if self.bound.is_none() {
            self.window = self.largest();
            self.set_count();
        }
    }

    /// How long to wait before anything may be sent.
    pub(super) fn due(&self) -> Duration {
        let Some(max_ops) = self.bound.and_then(|bound| bound.max_ops) else {
            return Duration::ZERO;
        };
        #[expect(clippy::cast_precision_loss, reason = "a pause need not be exact")]
        let due = Duration::from_secs_f64(self.commands as f64 / max_ops.max(1) as f64);
        due.saturating_sub(self.began.elapsed())
    }

    /// Commands were sent.
    pub(super) fn sent(&mut self, commands: u64) {
        self.commands += commands;
    }

    /// A group's answers took this long: how long to pause before the next is sent.
    pub(super) fn rest(&self, took: Duration) -> Duration {
        /// Also on a server that is overloaded, a scan comes to its end: a few keys in this time take less
        /// than a hundredth of it.
        const LONGEST: Duration = Duration::from_millis(5);
        if self.share >= 1.0 {
            return Duration::ZERO;
        }
        let busy = took.saturating_sub(self.round_trip);
        busy.mul_f64(1.0 / self.share - 1.0).min(LONGEST)
    }

    /// PINGs took this long; the fastest of late is the round trip.
    pub(super) fn probed(&mut self, took: &mut [Duration], round_trip: Duration) {
        let Some(bound) = self.bound else { return };
        self.round_trip = round_trip;
        took.sort_unstable();
        let added = |took: Duration| took.saturating_sub(round_trip);
        let Some(median) = took.get(took.len() / 2).map(|took| added(*took)) else { return };
        for took in &*took {
            self.recent.add(added(*took));
        }
        if self.recent.slowest_but_one() > bound.max_latency {
            self.starting = false;
            if self.window > self.fewest() {
                self.window = (self.window / 2.0).max(self.fewest());
            } else {
                self.share = (self.share / 2.0).max(LEAST_SHARE);
            }
            self.recent = Recent::default();
        } else if median > bound.aim() {
            self.starting = false;
            self.back_off(bound.aim().as_secs_f64() / median.as_secs_f64());
        } else if self.share < 1.0 {
            self.share = (self.share * 1.25).min(1.0);
        } else if self.full {
            self.window *= if self.starting { 2.0 } else { 1.25 };
        }
        self.window = self.window.min(self.largest());
        self.full = false;
        self.recent.forget_if_full();
        self.set_count();
    }

    fn back_off(&mut self, to: f64) {
        if self.window > self.fewest() {
            self.window = (self.window * to.max(0.5)).max(self.fewest());
        } else if self.share > BUSY_SHARE {
            self.share = (self.share * 0.7).max(BUSY_SHARE);
        }
    }

    /// The smallest window: a few keys, and as many more as keep a server far away from getting fewer a second
    /// than a near one.
    fn fewest(&self) -> f64 {
        const EACH: f64 = 0.005;
        FEWEST * (1.0 + 2.0 * self.round_trip.as_secs_f64() / EACH)
    }

    /// The largest window that is of use: some keys at the server, and what is on its way. A key takes up to
    /// four round trips, one for each stage.
    fn largest(&self) -> f64 {
        MOST + 4.0 * self.rate.a_second() * self.round_trip.as_secs_f64()
    }

    /// As many names as a window needs come with one round trip.
    fn set_count(&self) {
        let most = if self.bound.is_some() { MOST_COUNT } else { MOST_COUNT_UNBOUND };
        let count = if self.window() <= whole(MOST) { self.window() / 2 } else { self.window() };
        self.count.store(count.clamp(10, most), Ordering::Relaxed);
    }
}

impl Bound {
    /// How much longer PINGs may take than on an idle server, half of them. A twentieth of what the slowest
    /// may take.
    fn aim(&self) -> Duration {
        (self.max_latency / 20).max(Duration::from_micros(50))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a window is some thousands of keys"
)]
fn whole(window: f64) -> usize {
    window as usize
}

/// Keys a second, of late.
#[derive(Debug, Default)]
struct Rate {
    since: Option<Instant>,
    keys: usize,
    a_second: f64,
}

impl Rate {
    const EVERY: Duration = Duration::from_millis(50);

    fn add(&mut self, keys: usize) {
        self.keys += keys;
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() < Self::EVERY {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a rate need not be exact")]
        let now = self.keys as f64 / since.elapsed().as_secs_f64();
        self.a_second = now.max(self.a_second * 0.9);
        (self.since, self.keys) = (Some(Instant::now()), 0);
    }

    fn a_second(&self) -> f64 {
        self.a_second
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

    fn forget_if_full(&mut self) {
        if self.count >= 100 {
            *self = Recent::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_micros(50);

    fn pace(round_trip: Duration) -> Pace {
        Pace::new(Some(Bound::default()), round_trip)
    }

    /// So many rounds of PINGs that took this much longer than the fastest.
    fn probed(pace: &mut Pace, rounds: usize, added: Duration) {
        let round_trip = pace.round_trip;
        for _ in 0..rounds {
            pace.is_full();
            pace.probed(&mut [round_trip + added; 5], round_trip);
        }
    }

    #[test]
    fn a_server_far_away_gets_more_at_once() {
        let far = Duration::from_millis(20);
        let windows = [IDLE, far].map(|round_trip| {
            let mut pace = pace(round_trip);
            pace.rate.a_second = 50_000.0;
            probed(&mut pace, 20, Duration::ZERO);
            pace.window()
        });
        assert_eq!(windows, [410, 4_400]);
    }

    #[test]
    fn others_who_wait_make_the_window_smaller_and_then_pauses_longer() {
        let mut pace = pace(IDLE);
        probed(&mut pace, 20, Duration::ZERO);
        let (before, busy) = (pace.window(), Duration::from_millis(1));
        probed(&mut pace, 20, busy);
        assert!(pace.window() < before, "{pace:?}");
        assert!((pace.share - BUSY_SHARE).abs() < f64::EPSILON, "{pace:?}");
        assert_eq!(pace.rest(IDLE + busy), busy * 3);
        probed(&mut pace, 20, Duration::from_millis(6));
        assert!(pace.share <= LEAST_SHARE, "{pace:?}");
        assert!(pace.rest(Duration::from_secs(1)) <= Duration::from_millis(5), "{pace:?}");
        probed(&mut pace, 40, Duration::ZERO);
        assert_eq!(pace.rest(busy), Duration::ZERO);
        assert!(pace.window() > 100, "{pace:?}");
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut pace = pace(IDLE);
        let before = pace.window();
        for _ in 0..20 {
            pace.probed(&mut [IDLE; 5], IDLE);
        }
        assert_eq!(pace.window(), before);
    }

    #[test]
    fn commands_a_second_are_bounded_however_few_may_be() {
        let bound = Bound { max_ops: Some(10), ..Bound::default() };
        let mut pace = Pace::new(Some(bound), Duration::ZERO);
        assert_eq!(pace.due(), Duration::ZERO);
        pace.sent(400);
        assert!(pace.due() > Duration::from_secs(30));
        let mut free = Pace::new(None, Duration::ZERO);
        free.sent(400);
        assert_eq!(free.due(), Duration::ZERO);
    }
}
