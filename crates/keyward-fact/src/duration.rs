//! Durations: `500ms`, `60s`, `5m`, `24h`, `7d`, `2w`, and compounds such as `1h30m`.

use crate::number::thousands;
use std::fmt;
use std::str::FromStr;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;

/// The units that are read, largest first. Weeks are read and never printed: `7d` is what people
/// compare with `30d`.
const UNITS: [(&str, u64); 6] =
    [("w", WEEK), ("d", DAY), ("h", HOUR), ("m", MINUTE), ("s", SECOND), ("ms", 1)];

/// A length of time in whole milliseconds, which is how exactly Redis keeps a TTL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration {
    millis: u64,
}

impl Duration {
    /// Zero.
    pub const ZERO: Duration = Duration { millis: 0 };

    /// This many milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Duration { millis }
    }

    /// This many seconds, or the longest duration if they do not fit.
    pub const fn from_secs(seconds: u64) -> Self {
        Duration { millis: seconds.saturating_mul(SECOND) }
    }

    /// This many hours, or the longest duration if they do not fit.
    pub const fn from_hours(hours: u64) -> Self {
        Duration { millis: hours.saturating_mul(HOUR) }
    }

    /// This many days, or the longest duration if they do not fit.
    pub const fn from_days(days: u64) -> Self {
        Duration { millis: days.saturating_mul(DAY) }
    }

    /// The milliseconds in it.
    pub const fn as_millis(self) -> u64 {
        self.millis
    }

    /// The whole seconds in it.
    pub const fn as_secs(self) -> u64 {
        self.millis / SECOND
    }

    /// Whether it is zero.
    pub const fn is_zero(self) -> bool {
        self.millis == 0
    }

    /// For people: its two largest units, rounded down.
    ///
    /// ```
    /// # use keyward_fact::Duration;
    /// assert_eq!(Duration::from_hours(167).human(), "6 d 23 h");
    /// assert_eq!(Duration::from_secs(60).human(), "1 min");
    /// assert_eq!(Duration::from_millis(1_500).human(), "1 s 500 ms");
    /// ```
    pub fn human(self) -> String {
        const SHOWN: [(&str, u64); 5] =
            [("d", DAY), ("h", HOUR), ("min", MINUTE), ("s", SECOND), ("ms", 1)];
        let Some(largest) = SHOWN.iter().position(|(_, unit)| self.millis >= *unit) else {
            return "0 s".to_owned();
        };
        let mut rest = self.millis;
        let mut text = String::new();
        for (name, unit) in SHOWN.iter().skip(largest).take(2) {
            let count = rest / unit;
            rest %= unit;
            if count > 0 {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(&thousands(count));
                text.push(' ');
                text.push_str(name);
            }
        }
        text
    }
}

/// The canonical form: days, hours, minutes, seconds, milliseconds, none of them zero.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.pad("0s");
        }
        let mut rest = self.millis;
        let mut text = String::new();
        for (name, unit) in &UNITS[1..] {
            let count = rest / unit;
            rest %= unit;
            if count > 0 {
                text.push_str(&count.to_string());
                text.push_str(name);
            }
        }
        f.pad(&text)
    }
}

impl FromStr for Duration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        if text.is_empty() {
            return Err(DurationError::Empty);
        }
        let mut rest = text;
        let mut millis: u64 = 0;
        let mut last: Option<usize> = None;
        while !rest.is_empty() {
            let (digits, after) = split_at_first(rest, |c| !c.is_ascii_digit());
            if digits.is_empty() {
                return Err(DurationError::MissingNumber { text: rest.to_owned() });
            }
            let (unit, after) = split_at_first(after, |c| !c.is_alphabetic());
            if unit.is_empty() {
                return Err(if after.is_empty() {
                    DurationError::MissingUnit { number: digits.to_owned() }
                } else {
                    DurationError::UnknownUnit { unit: after.to_owned() }
                });
            }
            let Some(index) = UNITS.iter().position(|(name, _)| *name == unit) else {
                return Err(DurationError::UnknownUnit { unit: unit.to_owned() });
            };
            if last.is_some_and(|last| last >= index) {
                return Err(DurationError::Order { unit: unit.to_owned() });
            }
            last = Some(index);
            millis = digits
                .parse::<u64>()
                .ok()
                .and_then(|count| count.checked_mul(UNITS[index].1))
                .and_then(|part| millis.checked_add(part))
                .ok_or(DurationError::TooLong)?;
            rest = after;
        }
        Ok(Duration { millis })
    }
}

impl From<Duration> for std::time::Duration {
    fn from(duration: Duration) -> Self {
        std::time::Duration::from_millis(duration.millis)
    }
}

fn split_at_first(text: &str, stop: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(stop).unwrap_or(text.len()))
}

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DurationError {
    /// There is nothing to read
    Empty,
    /// A number without a unit
    MissingUnit {
        /// The number
        number: String,
    },
    /// A unit without a number
    MissingNumber {
        /// The text where a number was expected
        text: String,
    },
    /// A unit that does not exist
    UnknownUnit {
        /// The unit as written
        unit: String,
    },
    /// A unit twice, or after a smaller one
    Order {
        /// The unit
        unit: String,
    },
    /// More than fits in 64 bits of milliseconds
    TooLong,
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a duration cannot be empty"),
            Self::MissingUnit { number } => {
                write!(f, "`{number}` has no unit: `ms`, `s`, `m`, `h`, `d` or `w`")
            }
            Self::MissingNumber { text } => write!(f, "expected a number before `{text}`"),
            Self::UnknownUnit { unit } => {
                write!(
                    f,
                    "`{unit}` is not a unit of time; the units are `ms`, `s`, `m`, `h`, `d` and `w`"
                )
            }
            Self::Order { unit } => {
                write!(f, "`{unit}` must occur once, after all larger units: `1h30m`")
            }
            Self::TooLong => f.write_str("the duration is too long"),
        }
    }
}

impl std::error::Error for DurationError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Result<u64, DurationError> {
        text.parse::<Duration>().map(Duration::as_millis)
    }

    #[test]
    fn every_unit_is_read() {
        for (text, millis) in [
            ("500ms", 500),
            ("60s", 60_000),
            ("5m", 300_000),
            ("24h", 86_400_000),
            ("7d", 604_800_000),
            ("2w", 1_209_600_000),
            ("1h30m", 5_400_000),
            ("1d0h", 86_400_000),
            ("0s", 0),
        ] {
            assert_eq!(parsed(text), Ok(millis), "{text}");
        }
    }

    #[test]
    fn the_printed_form_is_canonical() {
        for (text, canonical) in [
            ("90m", "1h30m"),
            ("604800s", "7d"),
            ("2w", "14d"),
            ("24h", "1d"),
            ("1500ms", "1s500ms"),
            ("0h", "0s"),
        ] {
            assert_eq!(text.parse::<Duration>().unwrap().to_string(), canonical);
        }
    }

    #[test]
    fn a_bad_duration_says_what_is_wrong() {
        for (text, message) in [
            ("", "a duration cannot be empty"),
            ("60", "`60` has no unit: `ms`, `s`, `m`, `h`, `d` or `w`"),
            ("h", "expected a number before `h`"),
            ("-5m", "expected a number before `-5m`"),
            ("5 m", "` m` is not a unit of time; the units are `ms`, `s`, `m`, `h`, `d` and `w`"),
            ("5min", "`min` is not a unit of time; the units are `ms`, `s`, `m`, `h`, `d` and `w`"),
            ("1.5h", "`.5h` is not a unit of time; the units are `ms`, `s`, `m`, `h`, `d` and `w`"),
            ("30m1h", "`h` must occur once, after all larger units: `1h30m`"),
            ("1h1h", "`h` must occur once, after all larger units: `1h30m`"),
            ("99999999999999999999d", "the duration is too long"),
            ("18446744073709551615s", "the duration is too long"),
        ] {
            assert_eq!(parsed(text).unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn people_read_the_two_largest_units() {
        for (text, human) in [
            ("0s", "0 s"),
            ("999ms", "999 ms"),
            ("6d23h59m", "6 d 23 h"),
            ("1d30m", "1 d"),
            ("3650d", "3,650 d"),
        ] {
            assert_eq!(text.parse::<Duration>().unwrap().human(), human);
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(millis: u64) {
            let duration = Duration::from_millis(millis);
            prop_assert_eq!(duration.to_string().parse(), Ok(duration));
        }

        #[test]
        fn reading_never_panics(text in "[0-9wdhms .µ-]{0,24}|\\PC*") {
            let _ = text.parse::<Duration>();
        }
    }
}
