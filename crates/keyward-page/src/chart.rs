//! Small charts as numbers, in per cent of their width: strips and histograms.

use crate::share::{percent, share};
use keyward_fact::thousands;
use serde::Serialize;

/// Parts of a whole, side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Strip {
    /// The parts that are not empty
    pub bands: Vec<Band>,
    /// The same in words
    pub text: String,
}

/// A part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Band {
    /// Its colour: `t0` to `t8`, `none` or `kept`
    pub class: String,
    /// Where it begins
    pub x: f64,
    /// How wide it is
    pub w: f64,
    /// What it is
    pub tip: String,
}

impl Strip {
    /// A strip of keys: class, name and count of each part.
    pub fn new(parts: Vec<(String, String, u64)>) -> Self {
        let all = parts.iter().map(|part| part.2).fold(0, u64::saturating_add);
        let mut at: u64 = 0;
        let mut bands = Vec::new();
        let mut text = Vec::new();
        for (class, what, keys) in parts.into_iter().filter(|part| part.2 > 0) {
            let part = share(keys, all);
            let percent = percent(part);
            let plural = if keys == 1 { "" } else { "s" };
            let tip = format!("{what}: {} key{plural} ({percent})", thousands(keys));
            text.push(format!("{what} {percent}"));
            bands.push(Band { class, x: per_cent(share(at, all)), w: per_cent(part), tip });
            at = at.saturating_add(keys);
        }
        Strip { bands, text: text.join(", ") }
    }
}

/// A column of a histogram.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    x: f64,
    w: f64,
    y: f64,
    h: f64,
    /// What it counts
    pub tip: String,
}

/// A column for each power of two: `counts` are numbers in ascending order with how often each occurs, and `write`
/// says a number that is at most `max` in words.
pub fn columns(
    counts: impl IntoIterator<Item = (u64, u64)>,
    max: u64,
    write: fn(u64) -> String,
) -> Vec<Column> {
    let power = |number: u64| number.checked_ilog2().map_or(0, |power| power + 1);
    let mut powers: Vec<(u32, u64)> = Vec::new();
    for (number, count) in counts {
        match powers.last_mut() {
            Some((last, all)) if *last == power(number) => *all = all.saturating_add(count),
            _ => powers.push((power(number), count)),
        }
    }
    let (Some((first, _)), Some((last, _))) = (powers.first(), powers.last()) else {
        return Vec::new();
    };
    let (first, columns) = (*first, (u64::from(last.saturating_sub(*first)) + 1).max(8));
    let most = powers.iter().map(|it| it.1).max().unwrap_or(1);
    let column = |(power, count): &(u32, u64)| {
        let h = per_cent(share(*count, most)).max(2.0);
        let from: u64 = if *power == 0 { 0 } else { 1 << (power - 1) };
        let to = from.saturating_mul(2).saturating_sub(1);
        Column {
            x: per_cent(share(u64::from(power.saturating_sub(first)), columns)),
            w: per_cent(share(1, columns)) * 0.9,
            y: 100.0 - h,
            h,
            tip: format!("{} to {}: {}", write(from), write(to.min(max)), thousands(*count)),
        }
    };
    powers.iter().map(column).collect()
}

/// In per cent, with the digits that a pixel needs.
pub fn per_cent(share: f64) -> f64 {
    (share.clamp(0.0, 1.0) * 10_000.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_is_full() {
        let part = |class: &str, keys| (class.to_owned(), format!("of {class}"), keys);
        let strip = Strip::new(vec![part("t0", 1), part("t1", 0), part("t2", 2), part("none", 1)]);
        let shown: Vec<_> = strip.bands.iter().map(|it| (it.class.as_str(), it.x, it.w)).collect();
        assert_eq!(shown, [("t0", 0.0, 25.0), ("t2", 25.0, 50.0), ("none", 75.0, 25.0)]);
        assert_eq!(strip.text, "of t0 25.0 %, of t2 50.0 %, of none 25.0 %");
        assert_eq!(strip.bands[0].tip, "of t0: 1 key (25.0 %)");
    }

    #[test]
    fn a_histogram_has_a_column_for_each_power_of_two() {
        let columns = columns([(0, 1), (4, 3), (5, 1), (8, 2)], 8, thousands);
        let tips: Vec<_> = columns.iter().map(|it| it.tip.as_str()).collect();
        assert_eq!(tips, ["0 to 0: 1", "4 to 7: 4", "8 to 8: 2"]);
    }

    #[test]
    fn a_histogram_that_cannot_be_does_not_panic() {
        let counts = [(1 << 63, u64::MAX), (u64::MAX, u64::MAX), (0, 1)];
        assert_eq!(columns(counts, 0, thousands).len(), 2);
    }
}
