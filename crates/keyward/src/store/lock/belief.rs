//! How long a holder may believe that it holds a lock.

use super::super::clock::Clock;
use std::time::{Duration, SystemTime};

/// When a confirmed call was sent, by two clocks: the monotonic one may stand still while the machine
/// sleeps, and the wall clock may be set back. The later of the two counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    monotonic: Duration,
    wall: SystemTime,
}

impl Sent {
    pub(super) fn now(clock: &Clock) -> Self {
        Sent { monotonic: clock.elapsed(), wall: SystemTime::now() }
    }

    /// How much time has passed since, at least.
    fn age(self, clock: &Clock) -> Duration {
        let monotonic = clock.elapsed().saturating_sub(self.monotonic);
        // A wall clock that was set back says nothing.
        let wall = self.wall.elapsed().unwrap_or(Duration::ZERO);
        if clock.is_system() { monotonic.max(wall) } else { monotonic }
    }

    /// How long a lock of this TTL is still believed in. A tenth of the TTL is kept back for clocks that do
    /// not run alike.
    pub(super) fn left(self, ttl: Duration, clock: &Clock) -> Duration {
        ttl.saturating_sub(ttl / 10).saturating_sub(self.age(clock))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn belief_ends_a_tenth_before_the_ttl() {
        let clock = Clock::manual();
        let (sent, ttl) = (Sent::now(&clock), Duration::from_secs(10));
        assert_eq!(sent.left(ttl, &clock), Duration::from_secs(9));
        clock.advance(Duration::from_secs(8));
        assert_eq!(sent.left(ttl, &clock), Duration::from_secs(1));
        clock.advance(Duration::from_secs(1));
        assert_eq!(sent.left(ttl, &clock), Duration::ZERO);
    }

    #[test]
    fn a_machine_that_slept_does_not_believe_any_more() {
        let clock = Clock::system();
        let ttl = Duration::from_secs(10);
        let asleep = SystemTime::now() - Duration::from_mins(1);
        let sent = Sent { monotonic: clock.elapsed(), wall: asleep };
        assert_eq!(sent.left(ttl, &clock), Duration::ZERO);
    }

    #[test]
    fn a_wall_clock_that_was_set_back_changes_nothing() {
        let clock = Clock::system();
        let sent =
            Sent { monotonic: clock.elapsed(), wall: SystemTime::now() + Duration::from_hours(1) };
        assert!(sent.left(Duration::from_secs(10), &clock) > Duration::ZERO);
    }
}
