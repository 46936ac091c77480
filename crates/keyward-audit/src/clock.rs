//! Moments as people and programs write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// Milliseconds since 1970, by the clock of this machine.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Milliseconds since 1970 in RFC 3339: `2026-11-15T13:27:47Z`. What is past the year 9999 is written as its end.
pub fn rfc3339(millis: u64) -> String {
    format!("{}Z", EPOCH.saturating_add(Duration::from_secs(millis / 1000)))
}

/// The milliseconds since 1970 of such a text.
pub fn parse_rfc3339(text: &str) -> Option<u64> {
    u64::try_from(text.parse::<Timestamp>().ok()?.as_millisecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn moments_are_written_in_utc() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(1_794_749_267_000), "2026-11-15T13:27:47Z");
        assert_eq!(rfc3339(951_782_400_000), "2000-02-29T00:00:00Z");
        assert!(rfc3339(u64::MAX).starts_with("9999-12-31T23:59:59"));
    }

    #[test]
    fn only_moments_that_exist_are_read() {
        for wrong in
            ["", "2026-11-15", "2026-02-30T00:00:00Z", "2026-11-15T24:00:00Z", "x-1-1T0:0:0Z"]
        {
            assert_eq!(parse_rfc3339(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(seconds in 0..=Timestamp::MAX.as_second().cast_unsigned()) {
            prop_assert_eq!(parse_rfc3339(&rfc3339(seconds * 1000)), Some(seconds * 1000));
        }
    }
}
