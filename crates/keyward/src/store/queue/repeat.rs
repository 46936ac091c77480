//! Repeating jobs: pushed once at each tick of a schedule, however many processes run it.

use super::TICK;
use super::push::Push;
use crate::kind::{Declared, Queue};
use crate::store::error::Error;
use crate::store::handle::{Handle, malformed};
use crate::{Codec, Key};
use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

/// The longest sleep: a clock that is set is noticed then.
const NAP: Duration = Duration::from_secs(30);
/// How late a tick may be without being missed.
const LATE_MS: u64 = 10_000;
/// The most ticks that are made up for.
const MOST: usize = 10_000;

/// When a job repeats.
#[derive(Clone)]
pub struct Schedule {
    times: Times,
    missed: Missed,
}

#[derive(Clone)]
enum Times {
    Every(u64),
    #[cfg(feature = "cron")]
    Cron(Box<cronexpr::Crontab>),
}

/// What becomes of ticks at which no process ran the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missed {
    /// They are skipped. A tick is missed if it is ten seconds late
    Skip,
    /// One job is pushed for all of them
    #[default]
    Once,
    /// A job is pushed for each, up to ten thousand
    All,
}

impl Schedule {
    /// At all multiples of a period since 1970, in UTC: `every(1 h)` is every full hour. A period is a millisecond at least.
    pub fn every(period: Duration) -> Self {
        let period = u64::try_from(period.as_millis()).unwrap_or(u64::MAX).max(1);
        Schedule { times: Times::Every(period), missed: Missed::default() }
    }

    /// By a crontab expression of five fields, in a time zone: `cron("0 3 * * MON-FRI", "Europe/Berlin")`.
    ///
    /// # Errors
    /// If one of them is not understood.
    #[cfg(feature = "cron")]
    pub fn cron(expression: &str, zone: &str) -> Result<Self, Error> {
        let parsed = cronexpr::parse_crontab(&format!("{expression} {zone}"));
        let crontab = parsed.map_err(|error| {
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default().trim_start_matches(['^', ' ']);
            Error::Settings(format!("`{expression}` in `{zone}` is not a schedule: {why}"))
        })?;
        Ok(Schedule { times: Times::Cron(Box::new(crontab)), missed: Missed::default() })
    }

    /// What becomes of ticks that were missed; [`Missed::Once`] unless given.
    #[must_use]
    pub fn missed(self, missed: Missed) -> Self {
        Schedule { missed, ..self }
    }

    /// The first tick after a moment, both in milliseconds since 1970; `None` if there is none any more.
    fn after(&self, moment: u64) -> Option<u64> {
        match &self.times {
            Times::Every(period) => (moment / period + 1).checked_mul(*period),
            #[cfg(feature = "cron")]
            Times::Cron(crontab) => {
                let moment =
                    cronexpr::MakeTimestamp::from_millisecond(i64::try_from(moment).ok()?).ok()?;
                let next = crontab.find_next(moment).ok()?;
                u64::try_from(next.timestamp().as_millisecond()).ok()
            }
        }
    }

    /// The ticks that are due, of those after the last one.
    fn due(&self, last: u64, now: u64) -> Vec<u64> {
        let ticks = std::iter::successors(self.after(last), |tick| self.after(*tick));
        let ticks = ticks.take_while(|tick| *tick <= now);
        match self.missed {
            Missed::All => ticks.take(MOST).collect(),
            Missed::Once => ticks.last().into_iter().collect(),
            Missed::Skip => ticks.filter(|tick| now - tick <= LATE_MS).last().into_iter().collect(),
        }
    }
}

impl<K: Key, V, C: Codec<V>> Handle<'_, K, Queue<V, C>, Declared> {
    /// Pushes a job at each tick of a schedule, for ever: drop the future to stop. The name tells the queue's schedules apart.
    /// It may run in many processes: each tick is pushed once. While the server is away, it waits for it.
    ///
    /// # Errors
    /// If the server refuses, or the queue is full.
    pub async fn repeat(
        &self,
        name: &str,
        schedule: &Schedule,
        value: &V,
    ) -> Result<Infallible, Error> {
        let payload = C::encode(value).map_err(malformed::<K>)?;
        let line = self.line()?;
        self.core.suits(K::DEFINITION)?;
        let mut since = None;
        loop {
            let looked = async {
                let call = line.call(&TICK, &[], |cmd| _ = cmd.arg(name)).repeatable();
                let (now, last): (u64, Option<u64>) = line.read(self.core.send(&call).await?)?;
                // A schedule that was never run begins now.
                let last = last.unwrap_or(*since.get_or_insert(now));
                for tick in schedule.due(last, now) {
                    let mut push = Push::new();
                    push.tick = Some((name.to_owned(), tick));
                    self.push_payload(&payload, &push).await?;
                }
                Ok(schedule.after(now).map(|next| Duration::from_millis(next - now)))
            };
            match looked.await {
                Ok(next) => tokio::time::sleep(next.unwrap_or(NAP).min(NAP)).await,
                Err(error) if Error::is_unavailable(&error) => {
                    self.core.failures.note(K::NAME, &error);
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                Err(error) => return Err(error.about(K::NAME)),
            }
        }
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule").field("missed", &self.missed).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_ticks_are_skipped_pushed_once_or_all() {
        let every = Schedule::every(Duration::from_secs(60));
        let (last, now) = (600_000, 600_000 + 5 * 60_000 + 20_000);
        assert_eq!(every.clone().missed(Missed::Skip).due(last, now), [0; 0]);
        assert_eq!(every.clone().missed(Missed::Skip).due(last, now - 15_000), [900_000]);
        assert_eq!(every.clone().due(last, now), [900_000]);
        let all = every.missed(Missed::All);
        assert_eq!(all.due(last, now), [660_000, 720_000, 780_000, 840_000, 900_000]);
        assert_eq!(all.due(0, u64::from(u32::MAX)).len(), MOST);
        assert_eq!(all.due(now, last), [0; 0], "the clock was set back");
    }

    #[cfg(feature = "cron")]
    #[test]
    fn a_schedule_follows_its_time_zone() {
        let nightly = Schedule::cron("0 3 * * *", "Europe/Berlin").unwrap();
        // The night of 2026-03-29 has no hour from two to three.
        let before = 1_774_663_200_000; // 2026-03-28 03:00 in Berlin
        assert_eq!(nightly.after(before), Some(before + 23 * 3_600_000));
        let error = Schedule::cron("0 25 * * *", "Europe/Berlin").unwrap_err().to_string();
        assert!(
            error.starts_with("`0 25 * * *` in `Europe/Berlin` is not a schedule: "),
            "{error}"
        );
        assert!(Schedule::cron("0 3 * * *", "Europe/Atlantis").is_err());
    }
}
