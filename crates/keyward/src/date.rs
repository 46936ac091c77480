//! A day of the calendar.

use crate::ValueError;
use std::fmt;
use std::str::FromStr;

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
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let last = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let exists =
            (1..=9999).contains(&year) && (1..=12).contains(&month) && (1..=last).contains(&day);
        if exists {
            Ok(Date { year, month, day })
        } else {
            Err(ValueError::new("date", "date", &format!("{year:04}-{month:02}-{day:02}")))
        }
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
