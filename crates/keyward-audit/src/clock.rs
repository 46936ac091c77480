//! Moments as people and programs write them.

/// Milliseconds since 1970 in RFC 3339: `2026-11-15T13:27:47Z`.
pub fn rfc3339(millis: u64) -> String {
    let seconds = millis / 1000;
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The milliseconds since 1970 of such a text.
pub fn parse_rfc3339(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, separator: char| -> Option<Vec<u64>> {
        text.split(separator).map(|part| part.parse().ok()).collect()
    };
    let [year, month, day] = <[u64; 3]>::try_from(numbers(date, '-')?).ok()?;
    let [hour, minute, second] = <[u64; 3]>::try_from(numbers(time, ':')?).ok()?;
    if !(1970..10_000).contains(&year)
        || !(1..=12).contains(&month)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    let days = days_before(year, month).checked_add(day.checked_sub(1)?)?;
    (civil(days) == (year, month, day))
        .then_some(((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000)
}

/// Year, month and day so many days after 1970-01-01.
fn civil(days: u64) -> (u64, u64, u64) {
    // Years begin in March, so that the day that some years lack is their last.
    let days = days.min(3_000_000) + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

/// The days from 1970-01-01 to the first of a month.
fn days_before(year: u64, month: u64) -> u64 {
    let (year, shifted) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * shifted + 2) / 5;
    (era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year).saturating_sub(719_468)
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
        fn what_is_written_reads_back(seconds in 0u64..253_402_300_800) {
            prop_assert_eq!(parse_rfc3339(&rfc3339(seconds * 1000)), Some(seconds * 1000));
        }
    }
}
