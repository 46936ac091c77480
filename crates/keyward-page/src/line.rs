//! A number over time: a line that a script is not needed for, and that fits a phone and a wall.
//!
//! Times are seconds. A line is interrupted where nothing was measured for much longer than usual.

use serde::Serialize;
use std::fmt::Write as _;

/// A number at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Seconds, since whenever
    pub at: i64,
    /// The number
    pub value: f64,
}

/// Something that happened: a vertical line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Seconds
    pub at: i64,
    /// What happened
    pub text: String,
}

/// How a chart's numbers are read and written.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// A number in words
    pub value: fn(f64) -> String,
    /// A time in words
    pub time: fn(i64) -> String,
    /// A time in few characters, for the axis
    pub tick: fn(i64) -> String,
    /// The axis begins at zero
    pub from_zero: bool,
    /// No number is greater
    pub most: Option<f64>,
    /// The least difference that can be seen in words
    pub least: f64,
    /// Numbers are counted in powers of 1,024
    pub binary: bool,
}

/// A line chart, in units of a plot that is 1,000 wide and 100 high.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineChart {
    /// What it shows, in words
    label: String,
    line: String,
    area: String,
    forecast: Option<String>,
    /// Height and label
    levels: Vec<(f64, String)>,
    /// Place in per cent and label
    times: Vec<(f64, String)>,
    bound: Option<(f64, String)>,
    /// Place in per cent and what happened
    marks: Vec<(f64, String)>,
    /// Place and width in per cent, and what is said there
    spots: Vec<(f64, f64, String)>,
    /// A number without a neighbour is a dot: place and height in per cent
    dots: Vec<(f64, f64)>,
}

/// What a chart shows beside its line.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// What is expected after the last point
    pub forecast: Vec<Point>,
    /// A level that the line should stay below, and its label
    pub bound: Option<(f64, String)>,
    /// What happened
    pub marks: Vec<Mark>,
}

impl LineChart {
    /// A chart of at least one point; the points are in the order of their times.
    pub fn new(name: &str, points: &[Point], beside: &Beside, scale: Scale) -> Option<Self> {
        let (first, last) = (points.first()?, points.last()?);
        let end = beside.forecast.last().map_or(last.at, |it| it.at.max(last.at));
        let axes = Axes::new(points, beside, scale, (first.at, end));
        let runs = runs(points);
        let numbers = points.iter().chain(&beside.forecast).map(|it| it.value);
        let [least, most] = [f64::min, f64::max].map(|of| numbers.clone().reduce(of));
        let (value, time) = (scale.value, scale.time);
        let label = format!(
            "{name}: {} at {}; between {} and {} since {}",
            value(last.value),
            time(last.at),
            value(least?),
            value(most?),
            time(first.at),
        );
        let forecast: Vec<Point> = [*last].into_iter().chain(beside.forecast.clone()).collect();
        let inside = |it: &&Mark| (first.at..=end).contains(&it.at);
        Some(LineChart {
            label,
            line: runs.iter().map(|run| axes.path(run)).collect(),
            area: runs.iter().map(|run| axes.area(run)).collect(),
            forecast: (!beside.forecast.is_empty()).then(|| axes.path(&forecast)),
            levels: axes.levels(value),
            times: axes.times(scale.tick),
            bound: (beside.bound.as_ref()).map(|(at, text)| (axes.y(*at), text.clone())),
            marks: (beside.marks.iter().filter(inside))
                .map(|it| (axes.x(it.at) / 10.0, format!("{}: {}", time(it.at), it.text)))
                .collect(),
            spots: spots(points, &axes, scale),
            dots: (runs.iter().filter(|run| run.len() == 1))
                .map(|run| (axes.x(run[0].at) / 10.0, axes.y(run[0].value)))
                .collect(),
        })
    }
}

#[derive(Debug)]
struct Axes {
    from: i64,
    to: i64,
    low: f64,
    high: f64,
    step: f64,
}

impl Axes {
    fn new(points: &[Point], beside: &Beside, scale: Scale, (from, to): (i64, i64)) -> Self {
        let bound = beside.bound.as_ref().map(|it| it.0);
        let numbers = points.iter().chain(&beside.forecast).map(|it| it.value).chain(bound);
        let finite = numbers.filter(|it| it.is_finite());
        let (mut low, mut high) =
            finite.fold((f64::MAX, f64::MIN), |(low, high), it| (low.min(it), high.max(it)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if scale.from_zero {
            low = low.min(0.0);
        }
        if high - low < f64::EPSILON * high.abs().max(1.0) {
            // A level line is shown in the middle.
            let room = if high.abs() < f64::EPSILON { 1.0 } else { high.abs() * 0.05 };
            (low, high) = (if scale.from_zero { low } else { low - room }, high + room);
        }
        let unit = if scale.binary { 1024.0 } else { 1000.0 };
        let step = step((high - low) / 3.0, unit);
        let step = step.max(scale.least);
        low = (low / step).floor() * step;
        high = (high / step).ceil() * step;
        if let Some(most) = scale.most {
            high = high.min(most);
        }
        // A single point is at the right edge, where now is.
        let from = if to <= from { to.saturating_sub(1) } else { from };
        Axes { from, to, low, high: high.max(low + step * 0.1), step }
    }

    #[allow(clippy::cast_precision_loss, reason = "a pixel is coarser")]
    fn x(&self, at: i64) -> f64 {
        let share =
            (at.saturating_sub(self.from)) as f64 / self.to.saturating_sub(self.from) as f64;
        tenths(share.clamp(0.0, 1.0) * 1000.0)
    }

    fn y(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        tenths(100.0 - share.clamp(0.0, 1.0) * 100.0)
    }

    fn path(&self, points: &[Point]) -> String {
        let mut path = String::new();
        for (number, point) in points.iter().enumerate() {
            let command = if number == 0 { 'M' } else { 'L' };
            let (x, y) = (self.x(point.at), self.y(point.value));
            // It cannot fail.
            let _ = write!(path, "{command}{x} {y}");
        }
        path
    }

    fn area(&self, points: &[Point]) -> String {
        let [Some(first), Some(last)] = [points.first(), points.last()] else {
            return String::new();
        };
        let (line, from, to) = (self.path(points), self.x(first.at), self.x(last.at));
        format!("{line}L{to} 100H{from}Z")
    }

    /// The levels between the lowest and the highest.
    fn levels(&self, value: fn(f64) -> String) -> Vec<(f64, String)> {
        let mut levels = Vec::new();
        let mut at = self.low;
        while at <= self.high + self.step * 0.01 && levels.len() < 8 {
            levels.push((self.y(at), value(at)));
            at += self.step;
        }
        levels
    }

    fn times(&self, tick: fn(i64) -> String) -> Vec<(f64, String)> {
        let span = self.to.saturating_sub(self.from);
        let at = |part: i64| self.from + span / 4 * part;
        let mut times: Vec<(f64, String)> = Vec::new();
        for part in 0..=4 {
            let label = tick(at(part));
            if times.last().is_none_or(|last| last.1 != label) {
                times.push((self.x(at(part)) / 10.0, label));
            }
        }
        times
    }
}

/// A step that people count in: 1, 2 or 5 times a power of ten, of a power of the unit.
fn step(about: f64, unit: f64) -> f64 {
    let about = about.max(f64::MIN_POSITIVE);
    let of = unit.powf(about.log(unit).floor());
    let power = 10_f64.powf((about / of).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|it| it * power);
    let step = steps.into_iter().find(|it| *it >= about / of).unwrap_or(power);
    of * if step >= 1000.0 { unit } else { step }
}

/// The points without the gaps between them.
fn runs(points: &[Point]) -> Vec<&[Point]> {
    let mut steps: Vec<i64> =
        points.windows(2).map(|it| it[1].at.saturating_sub(it[0].at)).collect();
    steps.sort_unstable();
    // What was thinned out later is not a gap: half of all steps are shorter, one in ten is longer.
    let usual = steps.get(steps.len() * 9 / 10).copied().unwrap_or(0).max(1);
    points.chunk_by(|a, b| b.at.saturating_sub(a.at) <= usual.saturating_mul(4)).collect()
}

/// A spot around each point says its number; many points share one.
fn spots(points: &[Point], axes: &Axes, scale: Scale) -> Vec<(f64, f64, String)> {
    let every = points.len().div_ceil(120).max(1);
    let shown: Vec<&Point> = points.iter().rev().step_by(every).collect();
    let places: Vec<f64> = shown.iter().rev().map(|it| axes.x(it.at) / 10.0).collect();
    let middle = |number: usize| match (places.get(number.wrapping_sub(1)), places.get(number)) {
        (Some(a), Some(b)) => f64::midpoint(*a, *b),
        (None, Some(_)) => 0.0,
        _ => 100.0,
    };
    (shown.iter().rev().enumerate())
        .map(|(number, it)| {
            let (from, to) = (middle(number), middle(number + 1));
            let text = format!("{}: {}", (scale.time)(it.at), (scale.value)(it.value));
            (tenths(from), tenths((to - from).max(0.1)), text)
        })
        .collect()
}

fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: Scale = Scale {
        value: |it| format!("{it:.0}"),
        time: |at| format!("t{at}"),
        tick: |at| at.to_string(),
        from_zero: true,
        most: None,
        least: 1.0,
        binary: false,
    };

    fn points(numbers: &[(i64, f64)]) -> Vec<Point> {
        numbers.iter().map(|&(at, value)| Point { at, value }).collect()
    }

    #[test]
    fn a_line_fills_its_plot() {
        let points = points(&[(0, 0.0), (50, 5.0), (100, 10.0)]);
        let chart = LineChart::new("keys", &points, &Beside::default(), SCALE).unwrap();
        assert_eq!(chart.line, "M0 100L500 50L1000 0");
        assert_eq!(chart.area, "M0 100L500 50L1000 0L1000 100H0Z");
        assert_eq!(chart.label, "keys: 10 at t100; between 0 and 10 since t0");
        assert_eq!(chart.levels.len(), 3);
        assert_eq!(chart.spots.len(), 3);
    }

    #[test]
    fn a_gap_interrupts_the_line() {
        let mut numbers: Vec<(i64, f64)> = (0..20).map(|at| (at, 1.0)).collect();
        numbers.extend((100..120).map(|at| (at, 2.0)));
        let chart = LineChart::new("", &points(&numbers), &Beside::default(), SCALE).unwrap();
        assert_eq!(chart.line.matches('M').count(), 2);
    }

    #[test]
    fn a_forecast_continues_the_line_and_marks_stay_inside() {
        let beside = Beside {
            forecast: points(&[(20, 20.0)]),
            bound: Some((40.0, "bound".to_owned())),
            marks: vec![
                Mark { at: 5, text: "schema".to_owned() },
                Mark { at: 500, text: "later".to_owned() },
            ],
        };
        let chart = LineChart::new("", &points(&[(0, 1.0), (10, 10.0)]), &beside, SCALE).unwrap();
        assert_eq!(chart.forecast.as_deref(), Some("M500 75L1000 50"));
        assert_eq!(chart.bound, Some((0.0, "bound".to_owned())));
        assert_eq!(chart.marks, [(25.0, "t5: schema".to_owned())]);
    }

    #[test]
    fn levels_are_numbers_that_people_count_in() {
        let levels = |points: &[(i64, f64)], scale: Scale| -> Vec<String> {
            let chart = LineChart::new("", &self::points(points), &Beside::default(), scale);
            chart.unwrap().levels.into_iter().map(|it| it.1).collect()
        };
        assert_eq!(levels(&[(0, 0.0), (1, 1.0)], SCALE), ["0", "1"]);
        let share =
            Scale { least: 0.01, value: |it| format!("{it:.2}"), from_zero: false, ..SCALE };
        assert_eq!(levels(&[(0, 0.9521), (1, 0.9522)], share), ["0.95", "0.96"]);
        assert_eq!(levels(&[(0, 0.0), (1, 290.0)], SCALE), ["0", "100", "200", "300"]);
        let bytes = Scale { binary: true, ..SCALE };
        let most = 2.9 * 1024.0 * 1024.0;
        assert_eq!(levels(&[(0, 0.0), (1, most)], bytes), ["0", "1048576", "2097152", "3145728"]);
    }

    #[test]
    fn what_cannot_be_drawn_is_not_a_panic() {
        let none = Beside::default();
        assert_eq!(LineChart::new("", &[], &none, SCALE), None);
        let odd = points(&[(i64::MIN / 4, f64::NAN), (i64::MAX / 4, f64::INFINITY)]);
        assert!(LineChart::new("", &odd, &none, SCALE).is_some());
        let one = LineChart::new("", &points(&[(7, 0.0)]), &none, SCALE).unwrap();
        assert_eq!(one.dots.first().map(|it| it.0), Some(100.0), "it is where now is");
    }
}
