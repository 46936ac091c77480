//! Small charts as numbers, in per cent of their width: strips of TTLs, ranges of sizes, histograms.

use crate::render::words;
use crate::report::{Distribution, Ttl, TtlBucket};
use keyward_fact::thousands;
use serde::Serialize;
use std::collections::BTreeSet;

/// How long keys live, as a strip.
#[derive(Debug, Serialize)]
pub(super) struct Strip {
    pub(super) bands: Vec<Band>,
    /// The same in words
    text: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Band {
    /// `t0` to `t8`, `none`, or `kept` where that is declared
    pub(super) class: String,
    x: f64,
    w: f64,
    tip: String,
}

impl Strip {
    pub(super) fn new(ttl: &Ttl) -> Self {
        let keys = ttl.buckets.iter().map(|bucket| bucket.keys);
        let all = keys.fold(ttl.none, u64::saturating_add);
        let mut parts: Vec<(String, String, u64)> = Vec::new();
        for (number, bucket) in ttl.buckets.iter().enumerate() {
            let what = match bucket.up_to {
                Some(_) => format!("up to {}", words::bound(bucket)),
                None => "more than a year".to_owned(),
            };
            parts.push((format!("t{}", number.min(8)), what, bucket.keys));
        }
        // A key that is declared to stay is not a fault.
        let (class, what) = match ttl.declared.as_deref() {
            Some("none") => ("kept", "no TTL, as declared"),
            _ => ("none", "no TTL"),
        };
        parts.push((class.to_owned(), what.to_owned(), ttl.none));
        let mut at = 0;
        let mut bands = Vec::new();
        let mut text = Vec::new();
        for (class, what, keys) in parts.into_iter().filter(|part| part.2 > 0) {
            let share = words::share(keys, all);
            let tip =
                format!("{what}: {} ({})", words::counted(keys, "key"), words::percent(share));
            text.push(format!("{what} {}", words::percent(share)));
            let x = per_cent(words::share(at, all));
            bands.push(Band { class, x, w: per_cent(share), tip });
            at = u64::saturating_add(at, keys);
        }
        Strip { bands, text: text.join(", ") }
    }
}

/// The legend of strips: class and label. The shades are a scale and stand there whole; what has no TTL is
/// listed as far as a strip shows it.
pub(super) fn legend<'s>(
    ttl: &Ttl,
    strips: impl Iterator<Item = &'s Strip>,
) -> Vec<(String, String)> {
    let label = |(number, bucket): (usize, &TtlBucket)| {
        let bound = words::bound(bucket);
        let label = if bucket.up_to.is_some() { format!("≤ {bound}") } else { bound };
        (format!("t{number}"), label)
    };
    let used: BTreeSet<&str> =
        strips.flat_map(|it| &it.bands).map(|band| band.class.as_str()).collect();
    let none = [("none", "no TTL"), ("kept", "no TTL, as declared")].into_iter();
    let none = none.filter(|(class, _)| used.contains(class));
    let none = none.map(|(class, label)| (class.to_owned(), label.to_owned()));
    ttl.buckets.iter().take(9).enumerate().map(label).chain(none).collect()
}

/// A logarithmic scale.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    from: f64,
    to: f64,
}

impl Scale {
    /// One that has room for all of these.
    pub(super) fn over<'a>(all: impl Iterator<Item = &'a Distribution>) -> Self {
        let mut scale = Scale { from: f64::MAX, to: 1.0 };
        for it in all {
            scale.from = scale.from.min(log(it.p50) - 1.0).floor().max(0.0);
            scale.to = scale.to.max(log(it.max) + 0.3).ceil();
        }
        scale.from = scale.from.min(scale.to - 1.0);
        scale
    }

    fn at(self, number: u64) -> f64 {
        per_cent((log(number) - self.from) / (self.to - self.from))
    }

    /// At most five sizes along the scale, so that their labels do not touch.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 64")]
    pub(super) fn marks(self) -> Vec<(f64, String)> {
        let (from, to) = (self.from as u32, self.to as u32);
        let step = ((to - from).div_ceil(5)).max(1).next_multiple_of(2);
        let powers = (from.next_multiple_of(step)..to.min(64)).step_by(step as usize);
        powers
            .map(|power| (self.at(1 << power), words::size(1 << power).replace(".0 ", " ")))
            .collect()
    }
}

/// How something is distributed, on a scale.
#[derive(Debug, Serialize)]
pub(super) struct Range {
    p50: f64,
    p90: f64,
    p99: f64,
    max: f64,
}

impl Range {
    pub(super) fn new(distribution: &Distribution, scale: Scale) -> Self {
        let [p50, p90, p99, max] =
            [distribution.p50, distribution.p90, distribution.p99, distribution.max]
                .map(|number| scale.at(number));
        Range { p50, p90, p99, max }
    }
}

/// Quantiles in words.
#[derive(Debug, Serialize)]
pub(super) struct Quantiles {
    pub(super) label: &'static str,
    values: [String; 4],
    columns: Vec<Column>,
}

/// A column of a histogram.
#[derive(Debug, Serialize)]
struct Column {
    x: f64,
    w: f64,
    y: f64,
    h: f64,
    tip: String,
}

impl Quantiles {
    /// Those of some distribution whose numbers are written by `write`.
    pub(super) fn new(label: &'static str, of: &Distribution, write: fn(u64) -> String) -> Self {
        let values = [of.p50, of.p90, of.p99, of.max].map(write);
        Quantiles { label, values, columns: columns(of, write) }
    }
}

/// A column for each power of two.
fn columns(of: &Distribution, write: fn(u64) -> String) -> Vec<Column> {
    let power = |number: u64| number.checked_ilog2().map_or(0, |power| power + 1);
    let mut counts: Vec<(u32, u64)> = Vec::new();
    for bar in &of.histogram {
        match counts.last_mut() {
            Some((last, count)) if *last == power(bar.from) => {
                *count = count.saturating_add(bar.count);
            }
            _ => counts.push((power(bar.from), bar.count)),
        }
    }
    let (Some((first, _)), Some((last, _))) = (counts.first(), counts.last()) else {
        return Vec::new();
    };
    let (first, columns) = (*first, (u64::from(last.saturating_sub(*first)) + 1).max(8));
    let most = counts.iter().map(|it| it.1).max().unwrap_or(1);
    let column = |(power, count): &(u32, u64)| {
        let h = per_cent(words::share(*count, most)).max(2.0);
        let from: u64 = if *power == 0 { 0 } else { 1 << (power - 1) };
        let to = from.saturating_mul(2).saturating_sub(1);
        Column {
            x: per_cent(words::share(u64::from(power.saturating_sub(first)), columns)),
            w: per_cent(words::share(1, columns)) * 0.9,
            y: 100.0 - h,
            h,
            tip: format!("{} to {}: {}", write(from), write(to.min(of.max)), thousands(*count)),
        }
    };
    counts.iter().map(column).collect()
}

#[allow(clippy::cast_precision_loss, reason = "a pixel is coarser")]
fn log(number: u64) -> f64 {
    (number.max(1) as f64).log2()
}

/// In per cent, with the digits that a pixel needs.
pub(super) fn per_cent(share: f64) -> f64 {
    (share.clamp(0.0, 1.0) * 10_000.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Bar;

    #[test]
    fn a_strip_is_full() {
        let buckets = vec![
            TtlBucket { up_to: Some(60), keys: 1 },
            TtlBucket { up_to: Some(600), keys: 0 },
            TtlBucket { up_to: None, keys: 2 },
        ];
        let strip = Strip::new(&Ttl { buckets, none: 1, expiring: 3, ..Ttl::default() });
        let shown: Vec<_> = strip.bands.iter().map(|it| (it.class.as_str(), it.x, it.w)).collect();
        assert_eq!(shown, [("t0", 0.0, 25.0), ("t2", 25.0, 50.0), ("none", 75.0, 25.0)]);
        assert_eq!(strip.text, "up to 1 min 25.0 %, more than a year 50.0 %, no TTL 25.0 %");
    }

    #[test]
    fn a_scale_has_room_for_everything() {
        let sizes = Distribution { p50: 100, p90: 300, p99: 900, max: 70_000, histogram: vec![] };
        let scale = Scale::over([&sizes].into_iter());
        let range = Range::new(&sizes, scale);
        assert!(0.0 < range.p50 && range.p50 < range.p90 && range.max <= 100.0, "{range:?}");
        assert!(scale.marks().len() >= 3, "{:?}", scale.marks());
        let nothing = Scale::over([&Distribution::default()].into_iter());
        assert!(nothing.at(0).abs() < 1e-9, "{nothing:?}");
        let greatest = Distribution { max: u64::MAX, ..Distribution::default() };
        assert!(!Scale::over([&greatest].into_iter()).marks().is_empty());
    }

    #[test]
    fn a_histogram_has_a_column_for_each_power_of_two() {
        let bar = |from, to, count| Bar { from, to, count };
        let histogram = vec![bar(0, 0, 1), bar(4, 4, 3), bar(5, 5, 1), bar(8, 8, 2)];
        let of = Distribution { max: 8, histogram, ..Distribution::default() };
        let columns = columns(&of, thousands);
        let tips: Vec<_> = columns.iter().map(|it| it.tip.as_str()).collect();
        assert_eq!(tips, ["0 to 0: 1", "4 to 7: 4", "8 to 8: 2"]);
    }

    #[test]
    fn a_histogram_that_cannot_be_does_not_panic() {
        let bar = |from, count| Bar { from, to: 0, count };
        let histogram = vec![bar(1 << 63, u64::MAX), bar(u64::MAX, u64::MAX), bar(0, 1)];
        let of = Distribution { histogram, ..Distribution::default() };
        assert_eq!(columns(&of, thousands).len(), 2);
    }
}
