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
//! more, so small groups of keys are also what keeps the slowest of the others' commands fast. For the same
//! reason groups are sent at even intervals: what a window far away allows would otherwise arrive at once, be
//! answered at once and be sent at once again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::options::Bound;

/// The bounds of a window, in keys, where a round trip takes no time.
const FEWEST: f64 = 16.0;
const MOST: f64 = 400.0;
/// Keys a second that a scan begins with, far away. A server that is busy can do five times as many.
const FIRST_RATE: f64 = 20_000.0;
/// Round trips that a key takes, about, until that is known: most are asked twice.
const ROUND_TRIPS: f64 = 2.0;
/// A server's capacity is found when so many rounds of PINGs have not brought a tenth more keys a second.
const STALLED: u32 = 3;
/// Keys that are asked for together, at most. Of batches of 20 to 1,000 keys, those of 100 to 200 cost a server
/// least.
const GROUP: usize = 100;
/// How much faster groups may be sent than one window a round trip: with 1, a late one is never made up for.
const CATCH_UP: f64 = 1.25;
/// A shorter pause between two groups is none: sleeping takes longer.
const GRAIN: Duration = Duration::from_micros(100);
/// Keys that one SCAN asks for, at most: near, and where a round trip needs more. It is one command however many
/// keys it visits, and takes about 0.2 ms for 1,000.
const MOST_COUNT: usize = 1_000;
/// Nearer than this, the next SCAN is answered while keys of the last one are looked up.
const NEAR: Duration = Duration::from_micros(500);
const MOST_COUNT_FAR: usize = 4_000;
const MOST_COUNT_UNBOUND: usize = 10_000;
/// The aim of [`Bound::aim`] is a part of the most that others may wait, and a part of the round trip: over a
/// long way PINGs take longer or shorter by about as much, whatever the server does.
const AIM: u32 = 20;
const JITTER: u32 = 32;
/// The largest share of the time that a busy server is used for, as long as nobody waits for too long.
const BUSY_SHARE: f64 = 0.25;
const LEAST_SHARE: f64 = 1.0 / 64.0;

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
    /// The most keys a second so far, and since how many rounds
    best: (f64, u32),
    /// The share of the time in which something is under way, where even the smallest window is too much
    share: f64,
    recent: Recent,
    /// The fastest PING of late
    round_trip: Duration,
    rate: Rate,
    /// What SCAN asks for
    count: Arc<AtomicUsize>,
    began: Instant,
    commands: u64,
    /// When the next group may be sent
    next: Instant,
}

impl Pace {
    pub(super) fn new(bound: Option<Bound>, round_trip: Duration, now: Instant) -> Self {
        let mut pace = Pace {
            bound,
            window: MOST,
            full: false,
            starting: true,
            best: (0.0, 0),
            share: 1.0,
            recent: Recent::default(),
            round_trip,
            rate: Rate::new(),
            count: Arc::default(),
            began: now,
            commands: 0,
            next: now,
        };
        if bound.is_some() {
            let far = FIRST_RATE * ROUND_TRIPS * round_trip.as_secs_f64();
            pace.window = far.max(3.0 * pace.fewest());
        }
        pace.set_count();
        pace
    }

    /// How many keys may be under way.
    pub(super) fn window(&self) -> usize {
        whole(self.window)
    }

    /// How many keys are asked for together.
    pub(super) fn group(&self) -> usize {
        (self.window() / 4).clamp(8, if self.share < 1.0 { whole(FEWEST) } else { GROUP })
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
    pub(super) fn looked_up(&mut self, keys: usize, now: Instant) {
        self.rate.add(keys, now);
        if self.bound.is_none() {
            self.window = self.largest();
            self.set_count();
        }
    }

    /// How long until commands are allowed again, of which there may be so many a second.
    pub(super) fn due(&self, now: Instant) -> Duration {
        let Some(max_ops) = self.bound.and_then(|bound| bound.max_ops) else {
            return Duration::ZERO;
        };
        #[expect(clippy::cast_precision_loss, reason = "a pause need not be exact")]
        let due = Duration::from_secs_f64(self.commands as f64 / max_ops.max(1) as f64);
        due.saturating_sub(now.saturating_duration_since(self.began))
    }

    /// How long to wait before the next group is sent.
    pub(super) fn pause(&self, now: Instant) -> Duration {
        let even = self.next.saturating_duration_since(now);
        if even < GRAIN { self.due(now) } else { self.due(now).max(even) }
    }

    /// A group of keys was asked for, with so many commands.
    pub(super) fn sent(&mut self, keys: usize, commands: u64, now: Instant) {
        self.commands += commands;
        self.rate.asked += keys;
        if self.bound.is_none() {
            return;
        }
        let interval = self.interval();
        // One that was late is followed by one that is early, and not by many.
        let late = now.checked_sub(interval).unwrap_or(now);
        self.next = self.next.max(late) + interval;
    }

    /// The time between two groups, so that a window takes a round trip.
    fn interval(&self) -> Duration {
        #[expect(clippy::cast_precision_loss, reason = "some hundreds of keys")]
        let part = self.group() as f64 / self.window.max(1.0);
        self.round_trip.mul_f64((part / CATCH_UP).min(1.0))
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
        let aim = bound.aim(round_trip);
        let Some(median) = took.get(took.len().saturating_sub(1) / 2).map(|took| added(*took))
        else {
            return;
        };
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
        } else if median > aim {
            self.starting = false;
            self.back_off(aim.as_secs_f64() / median.as_secs_f64());
        } else if self.share < 1.0 {
            self.share = (self.share * 1.25).min(1.0);
        } else if self.full {
            self.window *= if self.starting { 2.0 } else { 1.25 };
            self.search();
        }
        self.window = self.window.min(self.largest());
        self.full = false;
        self.recent.forget_if_full();
        self.set_count();
    }

    /// Ends the search for the server's capacity where a larger window brings no more.
    fn search(&mut self) {
        let (best, rounds) = self.best;
        let rate = self.rate.a_second;
        self.best = if rate > 1.1 * best { (rate, 0) } else { (best, rounds + 1) };
        self.starting &= self.best.1 < STALLED;
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

    /// The largest window that is of use: some keys at the server, what is on its way, and room to find out
    /// whether more would be.
    fn largest(&self) -> f64 {
        let room = if self.starting { 2.0 } else { 1.25 };
        let rate = self.rate.a_second.max(FIRST_RATE) * self.rate.round_trips;
        MOST + room * rate * self.round_trip.as_secs_f64()
    }

    /// As many names as a window needs come with one round trip: a cursor must be waited for, so that no more
    /// keys a second are read than one SCAN returns in a round trip.
    fn set_count(&self) {
        let far = whole(1.5 * self.rate.a_second * self.round_trip.as_secs_f64());
        let most = match self.bound {
            Some(_) => far.clamp(MOST_COUNT, MOST_COUNT_FAR),
            None => MOST_COUNT_UNBOUND,
        };
        let is_near = self.round_trip < NEAR;
        let count = if is_near { self.window() / 2 } else { self.window() };
        self.count.store(count.clamp(10, most), Ordering::Relaxed);
    }
}

impl Bound {
    /// How much longer PINGs may take than on an idle server, half of them.
    fn aim(&self, round_trip: Duration) -> Duration {
        (self.max_latency / AIM).max(Duration::from_micros(50)) + round_trip / JITTER
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

/// Keys a second, and how often each is asked, of late.
#[derive(Debug)]
struct Rate {
    since: Option<Instant>,
    keys: usize,
    asked: usize,
    a_second: f64,
    round_trips: f64,
}

impl Rate {
    const EVERY: Duration = Duration::from_millis(50);

    fn new() -> Self {
        Rate { since: None, keys: 0, asked: 0, a_second: 0.0, round_trips: ROUND_TRIPS }
    }

    fn add(&mut self, keys: usize, now: Instant) {
        self.keys += keys;
        let elapsed = now.saturating_duration_since(*self.since.get_or_insert(now));
        if elapsed < Self::EVERY {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a rate need not be exact")]
        let (keys, asked) = (self.keys as f64, self.asked as f64);
        self.a_second = (keys / elapsed.as_secs_f64()).max(self.a_second * 0.9);
        // There are four stages.
        self.round_trips = (asked / keys).clamp(1.0, 4.0);
        (self.since, self.keys, self.asked) = (Some(now), 0, 0);
    }
}

/// Up to a hundred probes; then it begins again.
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
mod tests;
