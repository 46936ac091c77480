//! How long the names of keys are.

use crate::report::KeyLengths;
use serde::{Deserialize, Serialize};

/// How long the names of some keys are, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NameCounts {
    /// Counted here, too: counts of an earlier version have no lengths
    keys: u64,
    bytes: u64,
    longest: u64,
}

impl NameCounts {
    #[inline]
    pub(crate) fn add(&mut self, name: &[u8]) {
        let length = name.len() as u64;
        self.keys += 1;
        self.bytes = self.bytes.saturating_add(length);
        self.longest = self.longest.max(length);
    }

    pub(crate) fn merge(&mut self, other: NameCounts) {
        self.keys = self.keys.saturating_add(other.keys);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.longest = self.longest.max(other.longest);
    }

    /// As a report says it; nothing has no average.
    #[allow(clippy::cast_precision_loss, reason = "an average is shown with one digit")]
    pub(crate) fn lengths(self) -> Option<KeyLengths> {
        let NameCounts { keys, bytes, longest } = self;
        let average = || (bytes as f64 / keys as f64 * 10.0).round() / 10.0;
        (keys > 0).then(|| KeyLengths { average: average(), longest })
    }

    /// Every number that is added when counts are merged.
    pub(crate) fn numbers(self) -> [u64; 2] {
        [self.keys, self.bytes]
    }
}
