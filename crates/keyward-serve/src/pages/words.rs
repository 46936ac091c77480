//! Numbers and times in words.

use jiff::Timestamp;
use keyward_fact::{Duration, Size, thousands};
use serde::Serialize;

/// What stands for a number that is not known.
pub(super) const UNKNOWN: &str = "–";

/// A number of a headline.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Number {
    pub(super) label: &'static str,
    pub(super) value: String,
    pub(super) more: String,
    /// `good`, `mild`, `bad` or nothing
    pub(super) tone: &'static str,
    pub(super) href: String,
    /// In per cent
    pub(super) bar: Option<f64>,
}

/// A time, for people and for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Moment {
    pub(super) iso: String,
    pub(super) text: String,
}

impl Moment {
    /// Of milliseconds since 1970.
    pub(super) fn new(millis: u64) -> Self {
        let time = i64::try_from(millis).ok().and_then(|it| Timestamp::from_millisecond(it).ok());
        let iso = time.unwrap_or(Timestamp::MAX).strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let text = format!("{} {} UTC", &iso[..10], &iso[11..16]);
        Moment { iso, text }
    }
}

/// `3 min ago`
pub(super) fn ago(millis: u64, now: u64) -> String {
    format!("{} ago", coarse(now.saturating_sub(millis) / 1000))
}

/// The largest unit of so many seconds: `3 d`, `12 s`.
pub(super) fn coarse(seconds: u64) -> String {
    let human = Duration::from_secs(seconds).human();
    let words: Vec<&str> = human.split(' ').take(2).collect();
    words.join(" ")
}

/// `6 d 23 h`
pub(super) fn seconds(seconds: u64) -> String {
    Duration::from_secs(seconds).human()
}

/// `1.5 MiB`
pub(super) fn size(bytes: u64) -> String {
    Size::from_bytes(bytes).human()
}

/// The same, or `–`.
pub(super) fn size_if_known(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| UNKNOWN.to_owned(), size)
}

/// `1,204`, or `–`
pub(super) fn number_if_known(number: Option<u64>) -> String {
    number.map_or_else(|| UNKNOWN.to_owned(), thousands)
}

/// `1 key`, `7 keys`
pub(super) fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(number))
}

/// Microseconds: `340 µs`, `1.2 ms`, `3.4 s`
#[allow(clippy::cast_precision_loss, reason = "it is shown with one digit")]
pub(super) fn micros(micros: u64) -> String {
    match micros {
        0..1000 => format!("{micros} µs"),
        1000..1_000_000 => format!("{:.1} ms", micros as f64 / 1e3),
        1_000_000..60_000_000 => format!("{:.1} s", micros as f64 / 1e6),
        _ => seconds(micros / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_do() {
        assert_eq!(Moment::new(1_794_882_840_000).text, "2026-11-17 02:34 UTC");
        assert_eq!(Moment::new(u64::MAX).iso.len(), 20);
        assert_eq!(ago(0, 200_000), "3 min ago");
        assert_eq!(micros(340), "340 µs");
        assert_eq!(micros(1_240), "1.2 ms");
        assert_eq!(micros(120_000_000), "2 min");
    }
}
