//! What a person meant by a duration, a range of them or a size that is spelled in another way.

use crate::scalar::LONGEST;
use keyward_fact::{Duration, Size};

const SECOND: u64 = 1_000;
const DAY: u64 = 24 * 60 * 60 * SECOND;

/// How units are called elsewhere: the names, the unit of a schema if there is one, milliseconds.
const UNITS: [(&[&str], Option<&str>, u64); 8] = [
    (&["ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds"], Some("ms"), 1),
    (&["s", "sec", "secs", "second", "seconds"], Some("s"), SECOND),
    (&["m", "min", "mins", "minute", "minutes"], Some("m"), 60 * SECOND),
    (&["h", "hr", "hrs", "hour", "hours"], Some("h"), 60 * 60 * SECOND),
    (&["d", "day", "days"], Some("d"), DAY),
    (&["w", "wk", "week", "weeks"], Some("w"), 7 * DAY),
    (&["mo", "month", "months"], None, 30 * DAY),
    (&["y", "yr", "year", "years"], None, 365 * DAY),
];

/// What stands between the ends of a range elsewhere.
const BETWEEN: [&str; 8] = ["...", "..", "…", "–", "—", "~", "-", " to "];

/// Whether a text says that a key does not expire.
pub(crate) fn is_never(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "",
        "none",
        "never",
        "forever",
        "no",
        "null",
        "nil",
        "off",
        "false",
        "infinite",
        "infinity",
        "permanent",
        "persist",
        "eternal",
    ];
    let text = text.trim().to_lowercase();
    WORDS.contains(&text.as_str())
        || text.parse().is_ok_and(|number: i64| number <= 0)
        || text.parse().is_ok_and(Duration::is_zero)
}

/// How the duration is written that a text means: `5 minutes` is `5m`, `3600` is `3600s`.
pub(crate) fn duration(text: &str) -> Option<String> {
    let mut rest = text.trim();
    let mut total: u64 = 0;
    let mut parts = 0;
    let mut single = None;
    while !rest.is_empty() {
        let (digits, after) = split(rest, |c| c.is_ascii_digit());
        let count: u64 = digits.parse().ok()?;
        let (fraction, after) = match after.strip_prefix(['.', ',']) {
            Some(after) => split(after, |c| c.is_ascii_digit()),
            None => ("", after),
        };
        let (name, after) = split(after.trim_start(), char::is_alphabetic);
        let (unit, millis) = match name {
            "" if parts == 0 && after.is_empty() => (Some("s"), SECOND),
            // A month or a minute.
            "M" => return None,
            _ => {
                let name = name.to_lowercase();
                let known = UNITS.iter().find(|(names, ..)| names.contains(&name.as_str()))?;
                (known.1, known.2)
            }
        };
        let part = count.checked_mul(millis)?.checked_add(share(fraction, millis)?)?;
        total = total.checked_add(part)?;
        parts += 1;
        single = unit.filter(|_| fraction.is_empty()).map(|unit| format!("{count}{unit}"));
        rest = after.trim_start();
    }
    let meant = Duration::from_millis(total);
    (!meant.is_zero() && meant <= LONGEST)
        .then(|| single.filter(|_| parts == 1).unwrap_or_else(|| meant.to_string()))
}

/// How the range is written that a text means: `1-5 min` is `1m..5m`.
pub(crate) fn range(text: &str) -> Option<String> {
    let (from, to) = BETWEEN.iter().find_map(|between| text.split_once(between))?;
    let to = duration(to)?;
    let from = match from.trim() {
        number if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{number}{}", to.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        from => duration(from)?,
    };
    let shorter = from.parse::<Duration>().ok()? < to.parse().ok()?;
    shorter.then(|| format!("{from}..{to}"))
}

/// How the size is written that a text means: `64 KiB` is `64kb`.
pub(crate) fn size(text: &str) -> Option<String> {
    let (digits, unit) = split(text.trim(), |c| c.is_ascii_digit());
    let unit = match unit.trim().to_lowercase().as_str() {
        "byte" | "bytes" => "b",
        "kib" | "kilobyte" | "kilobytes" | "kbyte" | "kbytes" => "kb",
        "mib" | "megabyte" | "megabytes" | "mbyte" | "mbytes" => "mb",
        "gib" | "gigabyte" | "gigabytes" | "gbyte" | "gbytes" => "gb",
        unit => return spelled_size(&format!("{digits}{unit}")),
    };
    spelled_size(&format!("{digits}{unit}"))
}

fn spelled_size(text: &str) -> Option<String> {
    text.parse::<Size>().is_ok().then(|| text.to_owned())
}

/// The part of a unit that a fraction is, if it is whole milliseconds.
fn share(fraction: &str, millis: u64) -> Option<u64> {
    let scale = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    if fraction.is_empty() {
        return Some(0);
    }
    let scaled = fraction.parse::<u64>().ok()?.checked_mul(millis)?;
    scaled.is_multiple_of(scale).then_some(scaled / scale)
}

fn split(text: &str, is_part: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_duration_is_understood_in_other_spellings() {
        for (text, meant) in [
            ("5min", "5m"),
            ("5 minutes", "5m"),
            ("1H", "1h"),
            ("1 h", "1h"),
            ("1.5h", "1h30m"),
            ("1,5 h", "1h30m"),
            ("1y", "365d"),
            ("2 months", "60d"),
            ("3600", "3600s"),
            ("1h 30min", "1h30m"),
            ("30m1h", "1h30m"),
            ("90 sec", "90s"),
        ] {
            assert_eq!(duration(text).as_deref(), Some(meant), "{text}");
        }
        for text in ["", "soon", "5M", "5 5", "0", "100y", "0.0001s", "1..5m", "5 parsecs"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn a_range_is_understood_in_other_spellings() {
        for text in ["1m-5m", "1-5m", "1m - 5m", "1m…5m", "1m...5m", "1min..5min", "1 to 5 min"] {
            assert_eq!(range(text).as_deref(), Some("1m..5m"), "{text}");
        }
        for text in ["5m-1m", "-5m", "1m-", "a-b", "5m"] {
            assert_eq!(range(text), None, "{text}");
        }
    }

    #[test]
    fn a_size_is_understood_in_other_spellings() {
        for (text, meant) in [("64 KiB", "64kb"), ("1 MB", "1mb"), ("100 bytes", "100b")] {
            assert_eq!(size(text).as_deref(), Some(meant), "{text}");
        }
        assert_eq!(size("1.5mb"), None);
    }

    proptest! {
        #[test]
        fn what_is_proposed_can_be_read(text in "[0-9.,]{1,5} ?(ms|s|min|h|days|w|y|M)?([0-9]{1,3}[a-z]{1,3})?|\\PC{0,8}") {
            if let Some(meant) = duration(&text) {
                prop_assert!(meant.parse::<Duration>().is_ok(), "{meant}");
            }
            if let Some(meant) = range(&text) {
                prop_assert!(meant.split_once("..").is_some(), "{meant}");
            }
        }
    }
}
