//! Numbers over time, from the history.

use super::frame::At;
use super::words::{Moment, size};
use crate::forecast::{self, Memory};
use crate::history::{AuditRow, PollRow};
use crate::info::NodeInfo;
use jiff::Timestamp;
use keyward_fact::thousands;
use keyward_page::{Beside, LineChart, Mark, Point, Scale, percent};
use serde::{Deserialize, Serialize};

/// Points of a chart: more than a wall shows is wasted.
const POINTS: usize = 360;
/// Milliseconds of a day.
const DAY_MILLIS: u64 = 86_400_000;

/// What the address asks for.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    /// `day`, `week`, `month` or `year`
    time: String,
}

/// A chart, and the number that it ends with.
#[derive(Debug, Serialize)]
pub(super) struct Chart {
    name: &'static str,
    now: String,
    note: Option<String>,
    line: LineChart,
}

/// A stretch of time that can be chosen.
#[derive(Debug, Serialize)]
pub(super) struct Range {
    name: &'static str,
    href: String,
    here: bool,
}

const RANGES: [(&str, u64); 4] = [("day", 1), ("week", 7), ("month", 31), ("year", 366)];

impl Asked {
    fn days(&self) -> (&'static str, u64) {
        *RANGES.iter().find(|it| it.0 == self.time).unwrap_or(&RANGES[1])
    }

    /// From when to when, in milliseconds since 1970.
    pub(super) fn between(&self, at: &At<'_>) -> (u64, u64) {
        (at.now.saturating_sub(self.days().1 * DAY_MILLIS), at.now)
    }

    /// The stretches that can be chosen on a page.
    pub(super) fn ranges(&self, path: &str) -> Vec<Range> {
        let range = |(name, _): (&'static str, u64)| Range {
            name,
            href: format!("{path}?time={name}"),
            here: name == self.days().0,
        };
        RANGES.into_iter().map(range).collect()
    }
}

/// What the server said about itself between two moments, and what it says now.
fn polls(at: &At<'_>, between: (u64, u64)) -> Vec<PollRow> {
    // A history that cannot be read is a notice on every page.
    let mut polls = at.state.history.polls(&at.server.name, between).unwrap_or_default();
    let last = polls.last().map_or(0, |it| it.at);
    if let Some(info) = at.current.info.as_ref().filter(|it| it.at > last) {
        let sum = |of: fn(&NodeInfo) -> Option<u64>| -> Option<u64> {
            info.nodes.iter().map(of).sum::<Option<u64>>().filter(|_| !info.nodes.is_empty())
        };
        polls.push(PollRow {
            at: info.at,
            used_memory: info.used_memory(),
            maxmemory: info.maxmemory(),
            ops: info.ops(),
            clients: sum(|it| it.clients),
            hits: sum(|it| it.hits),
            misses: sum(|it| it.misses),
            evicted: sum(|it| it.evicted),
            expired: sum(|it| it.expired),
        });
    }
    polls
}

/// The changes of the schemas between two moments.
pub(super) fn marks(at: &At<'_>, between: (u64, u64)) -> Vec<Mark> {
    // A history that cannot be read is a notice on every page.
    let changes = at.state.history.changes(&at.server.name, between).unwrap_or_default();
    changes.into_iter().map(|it| Mark { at: secs(it.at), text: it.text }).collect()
}

/// A chart of these numbers, in milliseconds since 1970.
pub(super) fn chart(
    name: &'static str,
    points: impl IntoIterator<Item = (u64, Option<f64>)>,
    scale: Scale,
    beside: &Beside,
) -> Option<Chart> {
    let points: Vec<Point> = points
        .into_iter()
        .filter_map(|(at, value)| value.map(|value| Point { at: secs(at), value }))
        .collect();
    let points = thinned(&points);
    let now = (scale.value)(points.last()?.value);
    Some(Chart { name, now, note: None, line: LineChart::new(name, &points, beside, scale)? })
}

/// What an overview shows.
pub(super) fn overview(at: &At<'_>, asked: &Asked) -> Vec<Chart> {
    let between = asked.between(at);
    let audits = at.state.history.audits(&at.server.name, between).unwrap_or_default();
    let polls = polls(at, between);
    let beside = Beside { marks: marks(at, between), ..Beside::default() };
    let of = |name, scale, number: fn(&AuditRow) -> Option<f64>| {
        chart(name, audits.iter().map(|it| (it.at, number(it))), scale, &beside)
    };
    let mut charts: Vec<Chart> = Vec::new();
    charts.extend(of("As declared", SHARE, |it| it.compliance));
    charts.extend(memory(at, &polls, &beside));
    charts.extend(of("Keys", COUNT, |it| Some(float(it.keys))));
    charts.extend(of("Findings", COUNT, |it| Some(float(it.errors + it.warnings))));
    charts
}

/// What the page of a server shows.
pub(super) fn server(at: &At<'_>, asked: &Asked) -> Vec<Chart> {
    let polls = polls(at, asked.between(at));
    let none = Beside::default();
    let of = |name, number: fn(&PollRow) -> Option<u64>| {
        chart(name, polls.iter().map(|it| (it.at, number(it).map(float))), COUNT, &none)
    };
    let hits = pairs(&polls, |a, b, _| {
        let (hits, misses) = (grown(a.hits?, b.hits?)?, grown(a.misses?, b.misses?)?);
        (hits + misses > 0.0).then(|| hits / (hits + misses))
    });
    let rate = |number: fn(&PollRow) -> Option<u64>| {
        pairs(&polls, move |a, b, seconds| Some(grown(number(a)?, number(b)?)? / seconds))
    };
    [
        memory(at, &polls, &none),
        of("Commands a second", |it| it.ops),
        chart("Hit rate", hits, SHARE, &none),
        chart("Evicted a second", rate(|it| it.evicted), RATE, &none),
        chart("Expired a second", rate(|it| it.expired), RATE, &none),
        of("Clients", |it| it.clients),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What the page of a definition shows.
pub(super) fn definition(at: &At<'_>, asked: &Asked, place: (&str, &str)) -> Vec<Chart> {
    let between = asked.between(at);
    let rows = at.state.history.definition(&at.server.name, place, between).unwrap_or_default();
    let beside = Beside { marks: marks(at, between), ..Beside::default() };
    let of = |name, scale, number: fn(&crate::history::DefinitionRow) -> Option<u64>| {
        chart(name, rows.iter().map(|it| (it.at, number(it).map(float))), scale, &beside)
    };
    [
        of("Keys", COUNT, |it| Some(it.keys)),
        of("Bytes", BYTES, |it| it.bytes),
        of("Without a TTL", COUNT, |it| Some(it.no_ttl)),
        of("99 % of keys have at most", BYTES, |it| it.p99),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Memory against its bound, and where it goes.
fn memory(at: &At<'_>, polls: &[PollRow], beside: &Beside) -> Option<Chart> {
    let last = polls.iter().rev().find(|it| it.used_memory.is_some())?;
    let week = (at.now.saturating_sub(forecast::LOOK_BACK), at.now);
    let week = at.state.history.polls(&at.server.name, week).unwrap_or_default();
    let mut beside = beside.clone();
    let expected = forecast::memory(&week);
    if let Memory::Line { used, per_day, .. } = expected {
        // As far ahead as a quarter of what is shown.
        let ahead = last.at.saturating_sub(polls.first()?.at) / 4;
        let value = (float(used) + per_day * float(ahead) / float(DAY_MILLIS)).max(0.0);
        beside.forecast = vec![Point { at: secs(last.at + ahead), value }];
    }
    let numbers = polls.iter().filter_map(|it| it.used_memory.map(float));
    let most = numbers.chain(beside.forecast.iter().map(|it| it.value)).fold(0.0, f64::max);
    // A bound that is far away would press the line to the ground.
    beside.bound = (last.maxmemory.map(float))
        .filter(|bound| most > bound / 4.0)
        .map(|bound| (bound, format!("maxmemory {}", (BYTES.value)(bound))));
    let numbers = polls.iter().map(|it| (it.at, it.used_memory.map(float)));
    let mut chart = chart("Memory", numbers, BYTES, &beside)?;
    chart.note = Some(said(&expected));
    Some(chart)
}

/// A forecast in words.
fn said(expected: &Memory) -> String {
    match expected {
        Memory::NotEnough { why } => format!("no forecast: {why}"),
        Memory::Line { per_day, full_at, .. } => {
            let each_day = format!("{} a day", size(whole(per_day.abs())));
            let grows = if *per_day >= 0.0 { "grows" } else { "shrinks" };
            match full_at {
                Some(at) => {
                    let when = Moment::new(*at).text;
                    format!("{grows} by {each_day}; full on {when} if that continues")
                }
                None => format!("{grows} by {each_day}"),
            }
        }
    }
}

/// As many as a chart needs, each the mean of its neighbours; the last stays as it is.
fn thinned(points: &[Point]) -> Vec<Point> {
    let step = points.len().div_ceil(POINTS).max(1);
    let mean = |some: &[Point]| {
        let value = some.iter().map(|it| it.value).sum::<f64>() / float(some.len() as u64);
        Point { at: some[some.len() / 2].at, value }
    };
    let mut thin: Vec<Point> = points.chunks(step).map(mean).collect();
    if let (Some(last), Some(end)) = (thin.last_mut(), points.last()) {
        *last = *end;
    }
    thin
}

/// What happened between each two neighbours, and how many seconds that took.
fn pairs(
    polls: &[PollRow],
    number: impl Fn(&PollRow, &PollRow, f64) -> Option<f64>,
) -> Vec<(u64, Option<f64>)> {
    // Neighbours of a second ago say little about a week.
    let step = polls.len().div_ceil(POINTS).max(1);
    let few: Vec<&PollRow> = polls.iter().step_by(step).collect();
    let pair = |pair: &[&PollRow]| {
        let seconds = float(pair[1].at.saturating_sub(pair[0].at)) / 1000.0;
        (pair[1].at, (seconds > 0.0).then(|| number(pair[0], pair[1], seconds)).flatten())
    };
    few.windows(2).map(pair).collect()
}

/// A counter that did not begin again.
fn grown(before: u64, after: u64) -> Option<f64> {
    after.checked_sub(before).map(float)
}

pub(super) const COUNT: Scale = Scale {
    value: |it| thousands(whole(it)),
    time: moment,
    tick,
    from_zero: true,
    most: None,
    least: 1.0,
    binary: false,
};

pub(super) const BYTES: Scale = Scale { value: |it| size(whole(it)), binary: true, ..COUNT };

const RATE: Scale = Scale { value: |it| format!("{it:.1}"), least: 0.1, ..COUNT };

const SHARE: Scale =
    Scale { value: percent, from_zero: false, most: Some(1.0), least: 0.01, ..COUNT };

fn moment(at: i64) -> String {
    Moment::new(u64::try_from(at).unwrap_or(0).saturating_mul(1000)).text
}

fn tick(at: i64) -> String {
    let time = Timestamp::from_second(at).unwrap_or(Timestamp::MIN);
    time.strftime("%b %-d, %H:%M").to_string()
}

fn secs(millis: u64) -> i64 {
    i64::try_from(millis / 1000).unwrap_or(i64::MAX)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is not negative")]
fn whole(number: f64) -> u64 {
    number.max(0.0).round() as u64
}

#[allow(clippy::cast_precision_loss, reason = "a pixel is coarser")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_is_said_in_a_sentence() {
        let line = |per_day, full_at| Memory::Line {
            used: 1,
            bound: None,
            per_day,
            fit: 1.0,
            full_at,
            over: 1,
            points: 20,
        };
        assert_eq!(said(&line(2048.0, None)), "grows by 2.0 KiB a day");
        assert_eq!(said(&line(-2048.0, None)), "shrinks by 2.0 KiB a day");
        let full = said(&line(2048.0, Some(0)));
        assert_eq!(full, "grows by 2.0 KiB a day; full on 1970-01-01 00:00 UTC if that continues");
    }

    #[test]
    fn many_points_become_few_and_the_last_stays() {
        let points: Vec<Point> = (0..10_000).map(|at| Point { at, value: 1.0 }).collect();
        let thin = thinned(&points);
        assert!(thin.len() <= POINTS && thin.last() == points.last());
    }

    #[test]
    fn a_counter_that_began_again_has_no_rate() {
        assert_eq!(grown(10, 3), None);
        assert_eq!(grown(3, 10), Some(7.0));
    }
}
