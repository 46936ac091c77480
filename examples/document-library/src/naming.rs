//! Names from text, by the pipelines that the schema declares.

use crate::document_library::texts;
use crate::keyspace;
use crate::kind::Kind;
use keyward::text::Pipeline;
use std::time::{Duration, SystemTime};
use unicode_normalization::UnicodeNormalization as _;

/// The longest identifier that a key may have. Names are shorter, and leave room for a time.
const LONGEST: usize = 40;

/// The identifier of an element, from its heading or its first words.
pub fn name(kind: Kind, text: &str, now: SystemTime) -> String {
    if kind == Kind::Chunk {
        texts::CONTENT.name(text, now)
    } else {
        texts::HEADING.name(text, now)
    }
}

/// Whether the title of a document gives a name that is not by the clock.
pub(crate) fn is_title(text: &str) -> bool {
    own(text, &texts::HEADING).is_some()
}

/// The identifier of a category, an author or a tag; `None` if the text has no name of its own.
///
/// Pipelines name texts of two characters by the clock. A label would be another one with each second then, so here a
/// short text is its own name, if keys may have it: `AI` is `ai`, `t8` stays, `Öl` is `oel`.
pub fn label(text: &str) -> Option<String> {
    own(text, &texts::LABEL).or_else(|| short_label(text.trim()))
}

fn short_label(text: &str) -> Option<String> {
    if text.nfc().nth(2).is_some() {
        return None;
    }
    let is_label = |name: &String| keyspace::tag(name).is_ok();
    let lower = text.to_lowercase();
    Some(lower).filter(is_label).or_else(|| {
        // Twice it is long enough to be named, and one half of that is its name.
        let twice = own(&format!("{text} {text}"), &texts::LABEL)?;
        let (half, other) = twice.split_at_checked(twice.len() / 2)?;
        Some(half.to_owned()).filter(|it| other.strip_prefix('_') == Some(it) && is_label(it))
    })
}

/// What a pipeline makes of a text; `None` if that is a name by the clock, which differs with the clock.
pub(crate) fn own(text: &str, pipeline: &Pipeline) -> Option<String> {
    let [name, later] = [0, 1]
        .map(|second| pipeline.name(text, SystemTime::UNIX_EPOCH + Duration::from_secs(second)));
    Some(name).filter(|name| *name == later)
}

/// An identifier whose numbers are all taken, with the time in it; the `full`th that is tried, and itself if that is 0.
pub fn timed(identifier: &str, full: u32, now: SystemTime) -> String {
    if full == 0 {
        return identifier.to_owned();
    }
    // Two of the same second must differ.
    let time = generate_timestamp(now + Duration::from_secs(u64::from(full) - 1));
    let room = LONGEST - time.len() - 1;
    let identifier = &identifier[..identifier.floor_char_boundary(room)];
    format!("{}_{time}", identifier.trim_end_matches('_'))
}

/// A time as fallbacks have it, in UTC: `20240101_120000`.
pub fn generate_timestamp(now: SystemTime) -> String {
    let now = jiff::Timestamp::try_from(now).unwrap_or(jiff::Timestamp::MIN);
    jiff::tz::TimeZone::UTC.to_datetime(now).strftime("%Y%m%d_%H%M%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_label_is_its_own_name() {
        for (text, name) in [
            ("AI", Some("ai")),
            ("t8", Some("t8")),
            (" go ", Some("go")),
            ("Öl", Some("oel")),
            ("Ä", Some("ae")),
            ("o\u{308}l", Some("oel")),
            ("北", Some("bei")),
            ("C#", Some("c_hash")),
            ("C", None),
            ("8", Some("acht")),
            ("!", None),
            ("", None),
            ("😀", None),
            ("Wind & Wellen", Some("wind_and_wellen")),
        ] {
            assert_eq!(label(text).as_deref(), name, "{text:?}");
        }
    }
}
