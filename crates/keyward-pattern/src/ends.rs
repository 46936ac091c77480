//! Where a key's segments end, as far as a walk has come.

use std::ops::Range;

/// So many segments are remembered; what lies behind them is looked for again.
pub(crate) const MOST: usize = 8;

/// Where the first segments of a key end.
///
/// Each is noted when it is stepped over, not found before: an id of fixed length is stepped over
/// without looking for the separator behind it. Splitting keys beforehand took a fifth of the
/// instructions that an audit spent on finding their definitions.
#[derive(Debug)]
pub(crate) struct Ends {
    /// Where each segment begins, and behind the last the one that would follow
    starts: [usize; MOST + 1],
}

impl Ends {
    #[inline]
    pub(crate) fn new() -> Self {
        Ends { starts: [0; MOST + 1] }
    }

    #[inline]
    pub(crate) fn note(&mut self, segment: usize, end: usize) {
        if let Some(next) = self.starts.get_mut(segment + 1) {
            *next = end + 1;
        }
    }

    /// Where a segment lies that was noted.
    #[inline]
    pub(crate) fn segment(&self, number: usize) -> Range<usize> {
        self.starts[number]..self.starts[number + 1] - 1
    }

    /// Where a segment ends, if that was noted.
    #[inline]
    pub(crate) fn end(&self, number: usize) -> Option<usize> {
        self.starts.get(number + 1)?.checked_sub(1)
    }
}
