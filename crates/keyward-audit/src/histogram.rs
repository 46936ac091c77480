//! How numbers are distributed: log-linear bars, eight for each power of two, the same everywhere.

use crate::report::{Bar, Distribution};
use serde::{Deserialize, Serialize};

/// Counts numbers by their size. Only the bars between the least and the greatest take memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub(crate) struct Histogram {
    first: usize,
    counts: Vec<u64>,
    max: u64,
}

impl Histogram {
    #[inline]
    pub(crate) fn add(&mut self, number: u64) {
        let bar = bar_of(number);
        match self.counts.get_mut(bar.wrapping_sub(self.first)) {
            Some(count) => *count += 1,
            None => self.add_outside(bar),
        }
        self.max = self.max.max(number);
    }

    #[cold]
    fn add_outside(&mut self, bar: usize) {
        if self.counts.is_empty() {
            self.first = bar;
        }
        if bar < self.first {
            let more = self.first - bar;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = bar;
        }
        let at = bar - self.first;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
    }

    pub(crate) fn merge(&mut self, other: &Histogram) {
        other.bars().for_each(|(bar, count)| self.add_many(bar, count));
        self.max = self.max.max(other.max);
    }

    fn add_many(&mut self, bar: usize, count: u64) {
        if self.counts.get(bar.wrapping_sub(self.first)).is_none() {
            self.add_outside(bar);
            self.counts[bar - self.first] -= 1;
        }
        self.counts[bar - self.first] += count;
    }

    /// The bars that are not empty.
    fn bars(&self) -> impl Iterator<Item = (usize, u64)> {
        let bars = (self.first..).zip(self.counts.iter().copied());
        bars.filter(|(_, count)| *count > 0)
    }

    /// Every number that is added when histograms are merged.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.counts.iter().copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub(crate) fn distribution(&self) -> Distribution {
        let histogram =
            self.bars().map(|(bar, count)| Bar { from: least(bar), to: greatest(bar), count });
        Distribution { max: self.max, histogram: histogram.collect(), ..Distribution::default() }
            .with_quantiles()
    }
}

/// In a file: the bars that are not empty, by number.
#[derive(Serialize, Deserialize)]
struct Stored {
    max: u64,
    bars: Vec<(usize, u64)>,
}

impl From<Histogram> for Stored {
    fn from(histogram: Histogram) -> Self {
        Stored { max: histogram.max, bars: histogram.bars().collect() }
    }
}

impl TryFrom<Stored> for Histogram {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let mut histogram = Histogram { max: stored.max, ..Histogram::default() };
        for (bar, count) in stored.bars {
            if bar > bar_of(u64::MAX) || count == 0 {
                return Err("a histogram has a bar that there cannot be");
            }
            // Whether sums can overflow is asked of all numbers together, later.
            if histogram.counts.get(bar.wrapping_sub(histogram.first)).is_some_and(|it| *it > 0) {
                return Err("a histogram has a bar twice");
            }
            histogram.add_many(bar, count);
        }
        Ok(histogram)
    }
}

impl Distribution {
    fn with_quantiles(mut self) -> Self {
        self.p50 = self.quantile(50);
        self.p90 = self.quantile(90);
        self.p99 = self.quantile(99);
        self
    }

    /// What so many per cent are at most: the end of a bar, and never more than the greatest.
    fn quantile(&self, percent: u64) -> u64 {
        let all: u128 = self.histogram.iter().map(|bar| u128::from(bar.count)).sum();
        let wanted = (all * u128::from(percent)).div_ceil(100);
        let mut seen: u128 = 0;
        for bar in &self.histogram {
            seen += u128::from(bar.count);
            if seen >= wanted {
                return bar.to.min(self.max);
            }
        }
        self.max
    }
}

/// The bar that a number falls into.
#[inline]
fn bar_of(number: u64) -> usize {
    if number < 8 {
        return usize::try_from(number).unwrap_or(0);
    }
    let exponent = number.ilog2() as usize;
    let eighth = usize::try_from(number >> (exponent - 3) & 7).unwrap_or(0);
    (exponent - 2) * 8 + eighth
}

/// The least number of a bar.
fn least(bar: usize) -> u64 {
    match bar {
        0..8 => bar as u64,
        _ => (8 + bar as u64 % 8) << (bar / 8 - 1),
    }
}

/// The greatest number of a bar.
fn greatest(bar: usize) -> u64 {
    if bar >= bar_of(u64::MAX) { u64::MAX } else { least(bar + 1) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(numbers: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for number in numbers {
            histogram.add(*number);
        }
        histogram
    }

    #[test]
    fn small_numbers_have_bars_of_their_own() {
        let ones = of(&[1, 2, 2, 3]).distribution();
        assert_eq!((ones.p50, ones.p90, ones.max), (2, 3, 3));
        assert_eq!(of(&[]).distribution(), Distribution::default());
    }

    proptest! {
        #[test]
        fn a_number_lies_in_its_bar(number: u64) {
            let bar = bar_of(number);
            prop_assert!(least(bar) <= number && number <= greatest(bar));
            prop_assert!(greatest(bar) - least(bar) <= least(bar) / 8);
        }

        #[test]
        fn a_quantile_is_at_most_an_eighth_too_high(mut numbers in proptest::collection::vec(0u64..1 << 40, 1..200)) {
            let found = of(&numbers).distribution().p90;
            numbers.sort_unstable();
            let exact = numbers[(numbers.len() * 9).div_ceil(10) - 1];
            prop_assert!(found >= exact && found - exact <= exact / 8);
        }

        #[test]
        fn two_halves_are_the_whole(left: Vec<u64>, right: Vec<u64>) {
            let mut merged = of(&left);
            merged.merge(&of(&right));
            prop_assert_eq!(&merged, &of(&[left, right].concat()));
            let stored = serde_json::to_string(&merged).unwrap();
            prop_assert_eq!(serde_json::from_str::<Histogram>(&stored).unwrap(), merged);
        }
    }
}
