//! Which day it is: what `migration-overdue` judges by.

use crate::failure::{Failure, Result};
use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};
use keyward_schema::model::Date;

/// Set to a day such as `2026-11-15`, it replaces today, so that a run can be repeated.
const VARIABLE: &str = "KEYWARD_TODAY";

/// The day in UTC and the time in milliseconds since 1970, or the day that the environment names and its
/// beginning.
pub(crate) fn today() -> Result<(Date, u64)> {
    let Some(text) = std::env::var_os(VARIABLE) else {
        let now = Timestamp::now();
        let day = now.to_zoned(TimeZone::UTC).date();
        return Ok((date(day), now.as_millisecond().max(0).unsigned_abs()));
    };
    let day = text.to_str().and_then(read).ok_or_else(|| {
        let text = text.to_string_lossy();
        Failure::new(format!("`{VARIABLE}` is `{text}`, which is not a date"))
            .help("write it as `2026-11-15`, or unset it")
    })?;
    let begins = day.duration_since(civil::date(1970, 1, 1)).as_secs();
    Ok((date(day), begins.max(0).unsigned_abs() * 1000))
}

/// So many days after a day, as a schema writes it.
pub(crate) fn later(day: Date, days: i64) -> String {
    let civil = |it: Date| {
        let (year, month, day) =
            (i16::try_from(it.year), i8::try_from(it.month), i8::try_from(it.day));
        civil::Date::new(year.ok()?, month.ok()?, day.ok()?).ok()
    };
    let later = civil(day).and_then(|it| it.checked_add(jiff::Span::new().days(days)).ok());
    later.map_or(day.to_string(), |it| it.to_string())
}

/// The day that a text such as `2026-11-15` names.
pub(crate) fn parse(text: &str) -> Option<Date> {
    read(text).map(date)
}

/// Only as it is written: jiff reads `20261115` as well, and years before the first.
fn read(text: &str) -> Option<civil::Date> {
    let day: civil::Date = text.parse().ok()?;
    (day.to_string() == text && day.year() >= 0).then_some(day)
}

/// No number is negative.
fn date(day: civil::Date) -> Date {
    let (month, of_month) = (day.month().unsigned_abs(), day.day().unsigned_abs());
    Date { year: day.year().unsigned_abs(), month, day: of_month }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_that_exist_are_read() {
        assert_eq!(parse("2026-11-15"), Some(Date { year: 2026, month: 11, day: 15 }));
        assert_eq!(parse("2024-02-29"), Some(Date { year: 2024, month: 2, day: 29 }));
        for wrong in [
            "",
            "2026-2-3",
            "2025-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026/11/15",
            "+026-11-15",
            "2026-11-15 ",
            "20261115",
            "-000001-01-01",
            "202ä-11-1",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
