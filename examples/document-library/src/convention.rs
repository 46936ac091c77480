//! The functions of the convention's document, with its names and what it says they do.
//!
//! ```
//! use document_library::convention::{generate_unique_key, validate_key_format};
//! use document_library::kind::Kind;
//! use std::collections::HashSet;
//!
//! let mut keys = HashSet::new();
//! for expected in ["ch:risk_management:001", "ch:risk_management:002"] {
//!     let key = generate_unique_key(Kind::Chapter, "risk_management", |key| keys.contains(key)).unwrap();
//!     assert_eq!(key, expected);
//!     assert!(validate_key_format(&key));
//!     keys.insert(key);
//! }
//! ```
//!
//! On a server, numbers are allotted by a script, in one step with the element they are for: see [`crate::import`].

use crate::document_library::Key;
use crate::keyspace::{self, HIGHEST};
use crate::kind::Kind;
use crate::naming::{own, timed};
use keyward::text::{Options, Pipeline};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;
use std::time::SystemTime;
use unicode_normalization::UnicodeNormalization as _;

pub use crate::naming::generate_timestamp;

/// The bound of a key's length in [`analyze_key_quality`], unless given.
pub const LONGEST_KEY: usize = 50;

/// The first free key with this identifier; `None` if it cannot be one, or all 999 are taken.
pub fn generate_unique_key(
    kind: Kind,
    identifier: &str,
    is_taken: impl Fn(&str) -> bool,
) -> Option<String> {
    keyspace::element(kind, identifier, 1).ok()?;
    let keys = (1..=HIGHEST).map(|number| format!("{}:{identifier}:{number:03}", kind.prefix()));
    keys.into_iter().find(|key| !is_taken(key))
}

/// Another key for one that is taken; where all numbers are taken, one with the time in its identifier. `None` if the
/// key given is not one of an element.
pub fn resolve_key_collision(
    base_key: &str,
    is_taken: impl Fn(&str) -> bool,
    now: SystemTime,
) -> Option<String> {
    let base = keyspace::parse(base_key)?;
    let (kind, identifier) = (keyspace::kind(&base), keyspace::identifier(&base));
    (0..).find_map(|full| generate_unique_key(kind, &timed(identifier, full, now), &is_taken))
}

/// The text, or a name by the clock if it is empty, has fewer than three characters, or has only symbols.
pub fn handle_invalid_input(text: &str, now: SystemTime) -> Cow<'_, str> {
    let text_itself = text.trim();
    let why = if text_itself.is_empty() {
        "empty_content"
    } else if text_itself.nfc().take(3).count() < 3 {
        "short_content"
    } else if !text.contains(is_letter_or_digit) {
        "special_chars_only"
    } else {
        return text.into();
    };
    format!("{why}_{}", generate_timestamp(now)).into()
}

/// Whether something is left of a character in Latin letters and digits.
fn is_letter_or_digit(c: char) -> bool {
    static PLAIN: LazyLock<Option<Pipeline>> =
        LazyLock::new(|| Pipeline::new(&Options::default()).ok());
    // A name has two characters or more, and begins with a letter.
    let is_transliterated =
        |plain: &Pipeline| own(&format!("abc{c}"), plain).is_some_and(|it| it != "abc");
    c.is_ascii_alphanumeric() || c.is_alphanumeric() && PLAIN.as_ref().is_none_or(is_transliterated)
}

/// The identifier within a limit: without vowels except at the beginning, or cut if that is still too long.
pub fn optimize_key_length(identifier: &str, max_length: usize) -> String {
    let length = |text: &str| text.chars().count();
    if length(identifier) <= max_length {
        return identifier.to_owned();
    }
    let mut consonants = String::new();
    for c in identifier.chars() {
        // Of a word that had only vowels, not even its `_` stays.
        let is_left_out = "aeiou".contains(c) || c == '_' && consonants.ends_with('_');
        if consonants.is_empty() || !is_left_out {
            consonants.push(c);
        }
    }
    let consonants = consonants.trim_end_matches('_');
    if length(consonants) <= max_length {
        return consonants.to_owned();
    }
    identifier.chars().take(max_length).collect()
}

/// Whether this is the key of an element.
pub fn validate_key_format(key: &str) -> bool {
    keyspace::parse(key).is_some()
}

/// Whether this is the key of a relation, or of a set in the catalogue.
pub fn validate_set_key_format(key: &str) -> bool {
    matches!(
        Key::parse(key),
        Some(
            Key::Children(_)
                | Key::AllDescendants(_)
                | Key::Sequence(_)
                | Key::Next(_)
                | Key::Previous(_)
                | Key::Siblings(_)
                | Key::CategoryDocs(_)
                | Key::AuthorDocs(_)
                | Key::TagChunks(_)
                | Key::LevelChunks(_)
        )
    )
}

/// The keys that are there more than once, each as often as it is there too often.
pub fn check_key_uniqueness<'k>(keys: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    let mut seen = HashSet::new();
    keys.into_iter().filter(|key| !seen.insert(*key)).collect()
}

/// Identifiers that several kinds have, with these kinds. They are notes: the prefixes keep the keys apart.
pub fn check_cross_type_conflicts<'k>(
    keys: impl IntoIterator<Item = &'k str>,
) -> BTreeMap<&'k str, Vec<Kind>> {
    let mut kinds: BTreeMap<&str, Vec<Kind>> = BTreeMap::new();
    for key in keys {
        let mut parts = key.split(':');
        let kind = parts.next().and_then(Kind::from_prefix);
        if let (Some(kind), Some(identifier)) = (kind, parts.next()) {
            let kinds = kinds.entry(identifier).or_default();
            if let Err(at) = kinds.binary_search(&kind) {
                kinds.insert(at, kind);
            }
        }
    }
    kinds.retain(|_, kinds| kinds.len() > 1);
    kinds
}

/// How good keys are, as the document measures it.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality<'k> {
    /// How many keys there are
    pub total_keys: usize,
    /// Their average length in characters; none of no keys
    pub average_length: Option<f64>,
    /// Those that are not keys of elements
    pub format_violations: Vec<&'k str>,
    /// Those that are longer than the bound
    pub length_violations: Vec<&'k str>,
    /// Those that are there more than once
    pub duplicates: Vec<&'k str>,
}

/// Measures keys. The document's bound of a key's length is [`LONGEST_KEY`].
pub fn analyze_key_quality<'k>(keys: &[&'k str], longest: usize) -> Quality<'k> {
    let length = |key: &str| key.chars().count();
    #[allow(clippy::cast_precision_loss, reason = "an average for people")]
    let average = |total: usize| total as f64 / keys.len() as f64;
    let total = keys.iter().map(|key| length(key)).sum();
    let these = |is: &dyn Fn(&str) -> bool| keys.iter().copied().filter(|key| is(key)).collect();
    Quality {
        total_keys: keys.len(),
        average_length: (!keys.is_empty()).then(|| average(total)),
        format_violations: these(&|key| !validate_key_format(key)),
        length_violations: these(&|key| length(key) > longest),
        duplicates: check_key_uniqueness(keys.iter().copied()),
    }
}
