//! Which day it is: what `migration-overdue` judges by.

use crate::failure::{Failure, Result};
use keyward_schema::model::Date;
use std::time::{SystemTime, UNIX_EPOCH};

/// Set to a day such as `2026-11-15`, it stands for today, so that a run can be repeated.
const VARIABLE: &str = "KEYWARD_TODAY";

/// The day in UTC and the time in milliseconds since 1970, or the day that the environment names and its
/// beginning.
pub(crate) fn today() -> Result<(Date, u64)> {
    match std::env::var_os(VARIABLE) {
        None => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Ok((civil(now.as_secs() / 86_400), u64::try_from(now.as_millis()).unwrap_or(u64::MAX)))
        }
        Some(day) => day.to_str().and_then(parse).map(|day| (day, begins(day))).ok_or_else(|| {
            let day = day.to_string_lossy();
            Failure::new(format!("`{VARIABLE}` is `{day}`, which is not a date"))
                .help("write it as `2026-11-15`, or unset it")
        }),
    }
}

/// When a day begins, in milliseconds since 1970.
fn begins(day: Date) -> u64 {
    let text = format!("{:04}-{:02}-{:02}T00:00:00Z", day.year, day.month, day.day);
    keyward_audit::parse_rfc3339(&text).unwrap_or(0)
}

/// The day that a text such as `2026-11-15` names.
pub(crate) fn parse(text: &str) -> Option<Date> {
    let digits = |range: std::ops::Range<usize>| {
        let part = text.get(range)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<u16>().ok())?
    };
    let bytes = text.as_bytes();
    let shaped = bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
    let (year, month, day) = (digits(0..4)?, digits(5..7)?, digits(8..10)?);
    let month = u8::try_from(month).ok()?;
    let day = u8::try_from(day).ok()?;
    let good = shaped && (1..=12).contains(&month) && (1..=days(year, month)).contains(&day);
    good.then_some(Date { year, month, day })
}

fn days(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The day that lies so many days after 1970-01-01.
fn civil(mut left: u64) -> Date {
    let mut date = Date { year: 1970, month: 1, day: 1 };
    loop {
        let month = u64::from(days(date.year, date.month));
        if left < month || date.year == u16::MAX {
            // A month has at most 31 days.
            date.day = u8::try_from(left.min(30) + 1).unwrap_or(1);
            return date;
        }
        left -= month;
        date = match date.month {
            12 => Date { year: date.year + 1, month: 1, day: 1 },
            month => Date { month: month + 1, ..date },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(year: u16, month: u8, day: u8) -> Date {
        Date { year, month, day }
    }

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!(civil(0), date(1970, 1, 1));
        assert_eq!(civil(59), date(1970, 3, 1));
        assert_eq!(civil(11_016), date(2000, 2, 29));
        assert_eq!(civil(20_772), date(2026, 11, 15));
        assert_eq!(civil(u64::MAX).year, u16::MAX);
    }

    #[test]
    fn only_days_that_exist_are_read() {
        assert_eq!(parse("2026-11-15"), Some(date(2026, 11, 15)));
        assert_eq!(parse("2024-02-29"), Some(date(2024, 2, 29)));
        for wrong in [
            "",
            "2026-2-3",
            "2025-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026/11/15",
            "+026-11-15",
            "2026-11-15 ",
            "202ä-11-1",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
