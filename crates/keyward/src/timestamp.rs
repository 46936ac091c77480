//! A moment as RFC 3339 writes it.

use crate::date::{civil, days};
use crate::{Date, ValueError};
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

/// A moment as RFC 3339 writes it: `2026-11-15T08:30:00.250+01:00`.
///
/// Kept as it was written, since a value that is read and written back should not change.
///
/// ```
/// use keyward::Timestamp;
/// use std::time::{Duration, SystemTime};
///
/// let time: Timestamp = "1970-01-02T01:00:00+01:00".parse()?;
/// assert_eq!(time.to_system_time(), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(86_400)));
/// assert!("1970-01-02 01:00".parse::<Timestamp>().is_err());
/// # Ok::<(), keyward::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Timestamp {
    text: String,
    /// Seconds since 1970, in UTC
    seconds: i64,
    nanoseconds: u32,
}

impl Timestamp {
    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// This moment, by the clock of this machine.
    pub fn now() -> Self {
        Timestamp::from(SystemTime::now())
    }

    /// The moment; `None` if this machine has no number for it.
    pub fn to_system_time(&self) -> Option<SystemTime> {
        let whole = Duration::from_secs(self.seconds.unsigned_abs());
        let epoch = SystemTime::UNIX_EPOCH;
        let second =
            if self.seconds < 0 { epoch.checked_sub(whole) } else { epoch.checked_add(whole) };
        second?.checked_add(Duration::from_nanos(self.nanoseconds.into()))
    }
}

impl FromStr for Timestamp {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        read(text).ok_or_else(|| ValueError::new("timestamp", "RFC 3339", text))
    }
}

/// In UTC, with as many digits behind the second as it needs, up to nine. Years past 9999 cannot be
/// written and stop at its end, those before 1970 at its beginning.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let since = since.min(Duration::from_secs(crate::Unix::MAX.get()));
        let seconds = since.as_secs().cast_signed();
        let (year, month, day) = civil(seconds.div_euclid(86_400));
        let second = seconds.rem_euclid(86_400);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        let nanoseconds = since.subsec_nanos();
        if nanoseconds > 0 {
            text.push_str(format!(".{nanoseconds:09}").trim_end_matches('0'));
        }
        text.push('Z');
        Timestamp { text, seconds, nanoseconds }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

fn read(text: &str) -> Option<Timestamp> {
    let (date, rest) = text.split_at_checked(10)?;
    let date: Date = date.parse().ok()?;
    let rest = rest.strip_prefix(['T', 't'])?;
    let (time, rest) = rest.split_at_checked(8)?;
    // A leap second is a second of the minute it ends.
    let [hour, minute, second] = clock(time, [23, 59, 60])?;
    let (fraction, zone) = match rest.strip_prefix('.') {
        None => ("", rest),
        Some(rest) => {
            let end = rest.find(|char: char| !char.is_ascii_digit())?;
            rest.split_at_checked(end).filter(|(digits, _)| !digits.is_empty())?
        }
    };
    let nanoseconds = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    let offset = match zone.split_at_checked(1)? {
        ("Z" | "z", "") => 0,
        (sign @ ("+" | "-"), zone) => {
            let [hours, minutes] = clock(zone, [23, 59])?;
            let seconds = hours * 3600 + minutes * 60;
            if sign == "-" { -seconds } else { seconds }
        }
        _ => return None,
    };
    let days = days(date.year().into(), date.month().into(), date.day().into());
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset;
    Some(Timestamp { text: text.to_owned(), seconds, nanoseconds })
}

/// Numbers of two digits with `:` between them.
fn clock<const N: usize>(text: &str, limits: [i64; N]) -> Option<[i64; N]> {
    let mut parts = text.split(':');
    let mut numbers = [0; N];
    for (number, limit) in numbers.iter_mut().zip(limits) {
        let part = parts.next().filter(|part| part.len() == 2)?;
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        *number = part.parse().ok().filter(|number| digits && *number <= limit)?;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_rfc_3339_writes_is_a_timestamp() {
        for good in ["2026-11-15T08:30:00Z", "2026-11-15t08:30:60.5-23:59", "0001-01-01T00:00:00z"]
        {
            assert_eq!(good.parse::<Timestamp>().unwrap().as_str(), good);
        }
        for bad in [
            "",
            "2026-11-15",
            "2026-02-29T08:30:00Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T8:30:00Z",
            "2026-11-15T08:30:00.Z",
            "2026-11-15T08:30:00",
            "2026-11-15T08:30:00+0100",
            "2026-11-15T08:30:00+01:00:00",
            "2026-11-15T08:30:00Zx",
            "2026-11-15T+8:30:00Z",
            "2026-11-15T08:30:00é",
            "2026-11-15T::::::::Z",
        ] {
            assert!(bad.parse::<Timestamp>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_moment_comes_back() {
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_800_000_000, 250_000_000);
        let written = Timestamp::from(time);
        assert_eq!(written.as_str(), "2027-01-15T08:00:00.25Z");
        assert_eq!(written.to_system_time(), Some(time));
        assert_eq!(written.as_str().parse(), Ok(written));
    }
}
