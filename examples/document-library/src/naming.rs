//! Names from text.

use crate::kind::Kind;
use keyward_text::{Numbers, Options, Pipeline};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

/// The longest identifier that a key may have. Names are shorter, and leave room for a time.
const LONGEST: usize = 40;

const SYMBOLS: &[(char, &str)] = &[
    ('&', "and"),
    ('%', "prozent"),
    ('€', "euro"),
    ('$', "dollar"),
    ('@', "at"),
    ('#', "hash"),
    ('+', "plus"),
    ('=', "equals"),
    ('<', "less_than"),
    ('>', "greater_than"),
];
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "der", "die", "das", "und", "oder", "ist", "sind", "ein", "eine", "zu", "zum", "zur", "von", "mit", "für", "auf",
    "in", "an", "bei", "über", "unter", "den", "dem", "des", "einen", "einem", "einer", "eines", "the", "and", "or",
    "is", "are", "a", "an", "to", "of", "with", "for", "on", "in", "at", "by", "over", "under",
];
const HEADING: Options<'static> = Options {
    numbers: Some(Numbers::German),
    abbreviations: &[("VaR", "value at risk"), ("ROI", "return on investment")],
    max_len: Some(30),
    idempotent: true,
    symbols: &[],
    stop_words: &[],
    words: None,
    shorten: keyward_text::Shorten::Cut,
};
static PIPELINES: LazyLock<[Pipeline; 3]> = LazyLock::new(|| {
    let content = Options { symbols: SYMBOLS, stop_words: STOP_WORDS, words: Some(4), ..HEADING };
    let label = Options { symbols: SYMBOLS, ..HEADING };
    [HEADING, content, label].map(|it| Pipeline::new(&it).expect("the options are good"))
});

/// The identifier of an element, from its heading or its first words.
pub fn name(kind: Kind, text: &str, now: SystemTime) -> String {
    let [heading, content, _] = &*PIPELINES;
    if kind == Kind::Chunk { content.name(text, now) } else { heading.name(text, now) }
}

/// The identifier of a category, an author or a tag; `None` if the text has no name of its own.
pub fn label(text: &str) -> Option<String> {
    // A name from the clock differs with the clock.
    let [a, b] = [0, 1].map(|second| SystemTime::UNIX_EPOCH + Duration::from_secs(second));
    let name = |now| PIPELINES[2].name(text, now);
    Some(name(a)).filter(|it| *it == name(b))
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
