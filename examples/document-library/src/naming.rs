//! Names from text, by the pipelines that the schema declares.

use crate::document_library::texts;
use crate::kind::Kind;
use keyward::text::Pipeline;
use std::time::{Duration, SystemTime};

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

/// The identifier of a category, an author or a tag; `None` if the text has no name of its own.
pub fn label(text: &str) -> Option<String> {
    own(text, &texts::LABEL)
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
