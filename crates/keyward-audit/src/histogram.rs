//! How numbers are distributed: log-linear bars, eight for each power of two, the same everywhere.

use crate::report::{Bar, Distribution};

/// Counts numbers by their size. Only the bars between the least and the greatest take memory.
#[derive(Debug, Clone, Default)]
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

    pub(crate) fn absorb(&mut self, other: &Histogram) {
        for (bar, count) in (other.first..).zip(&other.counts).filter(|(_, count)| **count > 0) {
            if self.counts.get(bar.wrapping_sub(self.first)).is_none() {
                self.add_outside(bar);
                self.counts[bar - self.first] -= 1;
            }
            self.counts[bar - self.first] += count;
        }
        self.max = self.max.max(other.max);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub(crate) fn distribution(&self) -> Distribution {
        let bars = (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0);
        let histogram =
            bars.map(|(bar, count)| Bar { from: least(bar), to: greatest(bar), count: *count });
        Distribution { max: self.max, histogram: histogram.collect(), ..Distribution::default() }
            .with_quantiles()
    }
}

impl Distribution {
    /// Adds what another distribution has counted.
    pub(crate) fn merge(&mut self, other: &Distribution) {
        for bar in &other.histogram {
            match self.histogram.binary_search_by_key(&bar.from, |known| known.from) {
                Ok(at) => self.histogram[at].count += bar.count,
                Err(at) => self.histogram.insert(at, *bar),
            }
        }
        self.max = self.max.max(other.max);
        *self = std::mem::take(self).with_quantiles();
    }

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

    fn of(numbers: &[u64]) -> Distribution {
        let mut histogram = Histogram::default();
        for number in numbers {
            histogram.add(*number);
        }
        histogram.distribution()
    }

    #[test]
    fn small_numbers_have_bars_of_their_own() {
        let ones = of(&[1, 2, 2, 3]);
        assert_eq!((ones.p50, ones.p90, ones.max), (2, 3, 3));
        assert_eq!(of(&[]), Distribution::default());
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
            let found = of(&numbers).p90;
            numbers.sort_unstable();
            let exact = numbers[(numbers.len() * 9).div_ceil(10) - 1];
            prop_assert!(found >= exact && found - exact <= exact / 8);
        }

        #[test]
        fn two_halves_are_the_whole(left: Vec<u64>, right: Vec<u64>) {
            let mut merged = of(&left);
            merged.merge(&of(&right));
            prop_assert_eq!(merged, of(&[left, right].concat()));
        }
    }
}
