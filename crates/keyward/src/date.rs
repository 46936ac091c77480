//! A day of the calendar.
//!
//! The arithmetic is our own, since every application compiles this crate: with `jiff` for it, a clean debug build
//! without features takes 6.7 CPU seconds instead of 3.2.

use crate::ValueError;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

/// A day of the Gregorian calendar, in the years 1 to 9999; written `2026-11-15`.
///
/// ```
/// use keyward::Date;
///
/// let day = Date::new(2028, 2, 29)?;
/// assert_eq!(day.to_string(), "2028-02-29");
/// assert_eq!("2028-02-29".parse(), Ok(day));
/// assert!(Date::new(2027, 2, 29).is_err());
/// # Ok::<(), keyward::ValueError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The day, if the calendar has it.
    pub fn new(year: u16, month: u8, day: u8) -> Result<Self, ValueError> {
        let numbers = (year.into(), month.into(), day.into());
        let exists = (1..=9999).contains(&year)
            && (1..=12).contains(&month)
            && civil(days(numbers.0, numbers.1, numbers.2)) == numbers;
        if exists {
            Ok(Date { year, month, day })
        } else {
            Err(ValueError::new("date", "date", &format!("{year:04}-{month:02}-{day:02}")))
        }
    }

    /// This day in UTC, by the clock of this machine.
    pub fn today() -> Self {
        Date::from(SystemTime::now())
    }

    /// The year, from 1 to 9999.
    pub fn year(self) -> u16 {
        self.year
    }

    /// The month, from 1 to 12.
    pub fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, from 1.
    pub fn day(self) -> u8 {
        self.day
    }

    #[inline]
    pub(crate) fn write(self, out: &mut String) {
        let digit = |number: u16| char::from(b'0' + (number % 10) as u8);
        let (month, day) = (u16::from(self.month), u16::from(self.day));
        out.extend([
            digit(self.year / 1000),
            digit(self.year / 100),
            digit(self.year / 10),
            digit(self.year),
            '-',
            digit(month / 10),
            digit(month),
            '-',
            digit(day / 10),
            digit(day),
        ]);
    }
}

/// The day of a moment, in UTC. Moments before 1970 and after 9999 stop there.
impl From<SystemTime> for Date {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let since = since.min(Duration::from_secs(crate::Unix::MAX.get()));
        let (year, month, day) = civil(since.as_secs().cast_signed() / 86_400);
        let small = |number: i64| u8::try_from(number).unwrap_or(u8::MAX);
        let year = u16::try_from(year).unwrap_or(u16::MAX);
        Date { year, month: small(month), day: small(day) }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(10);
        self.write(&mut text);
        f.pad(&text)
    }
}

impl FromStr for Date {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let number = |text: &str, digits: usize| {
            let good = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u16>().ok().filter(|_| good)
        };
        let date = || {
            let (year, rest) = text.split_once('-')?;
            let (month, day) = rest.split_once('-')?;
            let (month, day) = (number(month, 2)?, number(day, 2)?);
            Date::new(number(year, 4)?, month.try_into().ok()?, day.try_into().ok()?).ok()
        };
        date().ok_or_else(|| ValueError::new("date", "date", text))
    }
}

/// Days since 1970; the year is counted from March, so that the leap day is its last.
pub(crate) fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The day with this number since 1970.
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_has_its_number() {
        for day in -719_162..2_932_896 {
            let (year, month, of_month) = civil(day);
            assert_eq!(days(year, month, of_month), day);
        }
        assert_eq!(civil(0), (1970, 1, 1));
    }

    #[test]
    fn a_moment_is_in_a_day() {
        let day = |seconds| Date::from(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(day(0).to_string(), "1970-01-01");
        assert_eq!(day(951_868_799).to_string(), "2000-02-29");
        assert_eq!(day(951_868_800).to_string(), "2000-03-01");
        assert_eq!(day(crate::Unix::MAX.get() + 1).to_string(), "9999-12-31");
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(Date::from(before).to_string(), "1970-01-01");
    }
}
