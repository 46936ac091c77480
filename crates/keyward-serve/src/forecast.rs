//! What is to be expected, from what was seen: memory by a straight line, expiries by what is left of TTLs.

use crate::history::PollRow;
use keyward_audit::Report;
use keyward_audit::report::{Ttl, TtlBucket};
use serde::Serialize;
use utoipa::ToSchema;

/// The least time and the fewest points that a line is drawn through.
const LEAST_SPAN: u64 = 6 * 60 * 60 * 1000;
const LEAST_POINTS: usize = 12;
/// How far back the line looks: a week, so that days and weekends are in it.
pub const LOOK_BACK: u64 = 7 * DAY;
/// How far ahead it says when memory is full: a line does not know the next year.
const LOOK_AHEAD: f64 = 180.0;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Where a server's memory goes.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Memory {
    /// There are too few points for a line
    NotEnough {
        /// What is missing, in a sentence without a full stop
        why: String,
    },
    /// A line through the last days
    Line {
        /// Bytes in use at the last point
        used: u64,
        /// The bound; `null` where there is none
        bound: Option<u64>,
        /// Bytes a day by which it grows, or shrinks
        per_day: f64,
        /// How much of the change the line explains, from 0 to 1
        fit: f64,
        /// When it reaches the bound, in milliseconds since 1970; `null` where it does not within 180 days
        full_at: Option<u64>,
        /// Over how many milliseconds it was seen
        over: u64,
        /// Through how many points it goes
        points: usize,
    },
}

/// The forecast of memory by a straight line through what was seen.
pub fn memory(polls: &[PollRow]) -> Memory {
    let points: Vec<(u64, u64)> =
        polls.iter().filter_map(|poll| Some((poll.at, poll.used_memory?))).collect();
    let not_enough = |why: &str| Memory::NotEnough { why: why.to_owned() };
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return not_enough("the server's memory was not seen yet");
    };
    let over = last.0.saturating_sub(first.0);
    if points.len() < LEAST_POINTS || over < LEAST_SPAN {
        return not_enough("there is not enough history yet: a line needs 6 h");
    }
    let (slope, fit) = line(&points, first.0);
    let per_day = slope * float(DAY);
    let bound = polls.last().and_then(|poll| poll.maxmemory);
    let full_at = bound.and_then(|bound| {
        if last.1 >= bound {
            return Some(last.0);
        }
        let days = float(bound - last.1) / per_day;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is in range"
        )]
        (per_day > 0.0 && days <= LOOK_AHEAD).then(|| last.0 + (days * float(DAY)) as u64)
    });
    Memory::Line { used: last.1, bound, per_day, fit, full_at, over, points: points.len() }
}

/// The slope of the line with the least squares, and how much of the change it explains.
fn line(points: &[(u64, u64)], start: u64) -> (f64, f64) {
    let count = float(points.len() as u64);
    let at = |point: &(u64, u64)| float(point.0 - start);
    let mean_x = points.iter().map(at).sum::<f64>() / count;
    let mean_y = points.iter().map(|it| float(it.1)).sum::<f64>() / count;
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for point in points {
        let (x, y) = (at(point) - mean_x, float(point.1) - mean_y);
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    if xx == 0.0 {
        return (0.0, 0.0);
    }
    // What does not change is explained by any level line.
    let fit = if yy == 0.0 { 1.0 } else { (xy * xy / (xx * yy)).clamp(0.0, 1.0) };
    (xy / xx, fit)
}

/// Keys that expire in the 24 hours after an audit, unless they are renewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Expiries {
    /// All of them
    pub keys: u64,
    /// By definition, the most first; definitions without any are left out
    pub definitions: Vec<Expiry>,
    /// Of keys that nobody declared
    pub undeclared: u64,
    /// Of keys under old names, derived keys and those of other software; `null` where they were not counted
    pub other: Option<u64>,
}

/// Keys of a definition that expire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Expiry {
    /// The keyspace's name
    pub schema: String,
    /// The definition
    pub definition: String,
    /// Keys
    pub keys: u64,
}

/// The forecast of expiries from what is left of TTLs.
pub fn expiries(report: &Report) -> Expiries {
    let within = |buckets: &[TtlBucket]| {
        let within = buckets.iter().filter(|it| it.up_to.is_some_and(|up_to| up_to <= 86_400));
        within.map(|bucket| bucket.keys).fold(0, u64::saturating_add)
    };
    let soon = |ttl: &Ttl| within(&ttl.buckets);
    let each = report.definitions.iter().map(|it| Expiry {
        schema: it.schema.clone(),
        definition: it.name.clone(),
        keys: soon(&it.facts.ttl),
    });
    let mut definitions: Vec<Expiry> = each.filter(|it| it.keys > 0).collect();
    definitions.sort_by_key(|it| std::cmp::Reverse(it.keys));
    let undeclared = report.unknown.iter().chain(&report.groups).map(|it| soon(&it.facts.ttl));
    let undeclared = undeclared.fold(0, u64::saturating_add);
    let listed = definitions.iter().map(|it| it.keys).fold(undeclared, u64::saturating_add);
    let all = report.lifetimes().map(|it| within(&it.buckets));
    let other = all.map(|all| all.saturating_sub(listed));
    Expiries { keys: all.unwrap_or(listed), definitions, undeclared, other }
}

/// Keys without a TTL, whatever they are.
pub(crate) fn without_ttl(report: &Report) -> u64 {
    let all = report.lifetimes().map(|it| it.none);
    all.unwrap_or_else(|| {
        let groups = report.groups.iter().chain(&report.unknown).map(|it| &it.facts);
        let facts = report.definitions.iter().map(|it| &it.facts).chain(groups);
        facts.map(|it| it.ttl.none).fold(0, u64::saturating_add)
    })
}

#[allow(clippy::cast_precision_loss, reason = "a forecast needs no 53 bits")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polls(hours: u64, used: impl Fn(u64) -> u64, maxmemory: Option<u64>) -> Vec<PollRow> {
        let poll = |minute: u64| PollRow {
            at: minute * 60_000,
            used_memory: Some(used(minute)),
            maxmemory,
            ops: None,
            clients: None,
            hits: None,
            misses: None,
            evicted: None,
            expired: None,
        };
        (0..=hours * 60).map(poll).collect()
    }

    #[test]
    fn a_line_says_when_memory_is_full() {
        // 1,000 bytes an hour, and 24,000 left to the bound after 24 hours.
        let Memory::Line { used, per_day, fit, full_at, .. } =
            memory(&polls(24, |minute| minute * 1_000 / 60, Some(48_000)))
        else {
            panic!("there is enough history")
        };
        assert_eq!(used, 24_000);
        assert!((per_day - 24_000.0).abs() < 10.0, "{per_day}");
        assert!(fit > 0.999, "{fit}");
        let hours = full_at.expect("it fills") / 3_600_000;
        assert!((47..=48).contains(&hours), "{hours}");
    }

    #[test]
    fn little_history_makes_no_forecast_and_a_level_line_never_fills() {
        let few = memory(&polls(5, |_| 10, Some(20)));
        assert!(matches!(few, Memory::NotEnough { .. }), "{few:?}");
        assert!(matches!(memory(&[]), Memory::NotEnough { .. }));
        let Memory::Line { per_day, full_at, fit, .. } = memory(&polls(7, |_| 10, Some(20))) else {
            panic!("there is enough history")
        };
        assert_eq!((per_day, full_at, fit), (0.0, None, 1.0));
        let Memory::Line { full_at, .. } = memory(&polls(7, |minute| minute, None)) else {
            panic!("there is enough history")
        };
        assert_eq!(full_at, None, "without a bound nothing is full");
    }
}
