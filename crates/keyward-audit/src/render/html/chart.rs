//! Small charts as numbers, in per cent of their width: strips of TTLs, ranges of sizes, histograms.

use crate::render::words;
use crate::report::{Distribution, Ttl, TtlBucket};
use keyward_page::{Column, Strip, columns, per_cent};
use serde::Serialize;
use std::collections::BTreeSet;

/// How long keys live, as a strip.
pub(super) fn strip(ttl: &Ttl) -> Strip {
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
    Strip::new(parts)
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

impl Quantiles {
    /// Those of some distribution whose numbers are written by `write`.
    pub(super) fn new(label: &'static str, of: &Distribution, write: fn(u64) -> String) -> Self {
        let values = [of.p50, of.p90, of.p99, of.max].map(write);
        let counts = of.histogram.iter().map(|bar| (bar.from, bar.count));
        Quantiles { label, values, columns: columns(counts, of.max, write) }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a pixel is coarser")]
fn log(number: u64) -> f64 {
    (number.max(1) as f64).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_is_full() {
        let buckets = vec![
            TtlBucket { up_to: Some(60), keys: 1 },
            TtlBucket { up_to: Some(600), keys: 0 },
            TtlBucket { up_to: None, keys: 2 },
        ];
        let strip = strip(&Ttl { buckets, none: 1, expiring: 3, ..Ttl::default() });
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
}
