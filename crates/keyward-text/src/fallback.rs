//! Names by the clock, for texts that have no other.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::time::SystemTime;
use unicode_normalization::UnicodeNormalization;

/// Why a text has no name of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fallback {
    /// Nothing but white space.
    Empty,
    /// Fewer than three characters, or nothing left that is long enough.
    Short,
    /// No letter and no digit in any script.
    SymbolsOnly,
}

/// Why the text has no name, if that shows before the first step.
pub(crate) fn before(text: &str) -> Option<Fallback> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Fallback::Empty);
    }
    // Three characters of ASCII are three characters, whatever follows.
    let begins_plain = text.as_bytes().get(..3).is_some_and(<[u8]>::is_ascii);
    (!begins_plain && text.nfc().take(3).count() < 3 || text.len() < 3).then_some(Fallback::Short)
}

impl Fallback {
    /// The name: a word, cut where the limit asks for it, and the time in UTC.
    pub(crate) fn name(self, max_len: Option<usize>, now: SystemTime) -> String {
        let time = timestamp(now);
        let word = match self {
            Fallback::Empty => "empty_content",
            Fallback::Short => "short_content",
            Fallback::SymbolsOnly => "special_chars_only",
        };
        let room = max_len.map_or(word.len(), |max| max.saturating_sub(time.len() + 1));
        let word = word[..room.clamp(1, word.len())].trim_end_matches('_');
        format!("{word}_{time}")
    }
}

/// A time such as `20240101_120000`. Before the year 0 and after 9999 it is the nearest that can be written.
fn timestamp(now: SystemTime) -> String {
    let now = Timestamp::try_from(now).unwrap_or_else(|_| {
        if now < SystemTime::UNIX_EPOCH { Timestamp::MIN } else { Timestamp::MAX }
    });
    let time = TimeZone::UTC.to_datetime(now);
    format!(
        "{:04}{:02}{:02}_{:02}{:02}{:02}",
        time.year().max(0),
        time.month(),
        time.day(),
        time.hour(),
        time.minute(),
        time.second()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_time_stays_whole_within_any_limit() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_704_110_400);
        for (max_len, name) in [
            (None, "special_chars_only_20240101_120000"),
            (Some(34), "special_chars_only_20240101_120000"),
            (Some(30), "special_chars_20240101_120000"),
            (Some(17), "s_20240101_120000"),
        ] {
            assert_eq!(Fallback::SymbolsOnly.name(max_len, now), name);
        }
    }

    #[test]
    fn a_clock_that_is_far_off_still_gives_a_name() {
        let far = Duration::from_secs(1 << 40);
        assert_eq!(timestamp(SystemTime::UNIX_EPOCH - far), "00000102_015959");
        assert!(timestamp(SystemTime::UNIX_EPOCH + far).starts_with("99991230"));
    }
}
