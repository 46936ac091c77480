//! What a value holds, from its first elements.

use crate::form::{Form, atoms};
use crate::typing::UNIX;
use keyward_fact::{Element, Excerpt};

/// The most elements of a value that are looked at.
pub const MOST_ELEMENTS: usize = 64;
/// How much of an element is looked at: enough for the top level of most JSON documents.
pub const MOST_BYTES: usize = 4096;
/// The longest text that is kept, of a name or of a value.
const LONGEST: usize = 48;
/// The most texts that are kept of one value.
const MOST_TEXTS: usize = 24;

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Uint,
    Int,
    Float,
    Bool,
    Uuid,
    Timestamp,
    Date,
    Json,
    Text,
    Bytes,
}

/// A name and what it stands for, or only a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    /// The name of a field; empty for a member, an item or a whole string
    pub(crate) name: Box<str>,
    pub(crate) kind: Kind,
    /// The value, where it is short
    pub(crate) text: Option<Box<str>>,
}

/// What was seen of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Content {
    /// Fields of a hash or of a stream's entries; members, items, or the one text of a string
    pub(crate) parts: Vec<Part>,
    /// The names at the top level of a JSON object, with the kinds of their values
    pub(crate) json: Vec<(Box<str>, Kind)>,
    /// Whether there are fields that no schema can name, or too many
    pub(crate) open: bool,
    /// The least and the greatest score, as whole numbers; `None` where one is not whole
    pub(crate) scores: Option<(i64, i64)>,
    pub(crate) fractions: bool,
    /// How many elements were seen
    pub(crate) seen: u32,
    /// When the value says that it was created, in milliseconds since 1970
    pub(crate) created: Option<u64>,
}

impl Content {
    /// Adds an element.
    pub fn see(&mut self, element: &Element<'_>) {
        if self.seen as usize >= MOST_ELEMENTS {
            self.open |= matches!(element, Element::Field { .. });
            return;
        }
        self.seen += 1;
        match element {
            Element::Field { name, value, .. } => self.field(*name, *value),
            Element::Text(text) | Element::Item(text) | Element::Member(text) => self.value(*text),
            Element::Scored { member, score } => {
                self.score(*score);
                self.value(*member);
            }
            _ => {}
        }
    }

    fn field(&mut self, name: Excerpt<'_>, value: Excerpt<'_>) {
        let known = str::from_utf8(name.bytes)
            .ok()
            .filter(|text| name.is_whole() && is_field_name(text) && self.parts.len() < MOST_TEXTS);
        let Some(known) = known else {
            self.open = true;
            return;
        };
        if self.parts.iter().all(|part| *part.name != *known) {
            let part = part(known, value);
            if is_creation(known) {
                self.created = part.text.as_deref().and_then(time);
            }
            self.parts.push(part);
        }
    }

    /// When the value says that it was created, in milliseconds since 1970: by a field such as `created_at`.
    pub fn created(&self) -> Option<u64> {
        self.created
    }

    fn value(&mut self, text: Excerpt<'_>) {
        if self.parts.len() >= MOST_TEXTS {
            return;
        }
        let part = part("", text);
        if part.kind == Kind::Json && self.json.is_empty() {
            self.json = top_level(text.bytes);
        }
        self.parts.push(part);
    }

    #[allow(clippy::cast_possible_truncation, reason = "whole numbers below 2^53 are exact")]
    fn score(&mut self, score: f64) {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if score.fract() != 0.0 || score.abs() > EXACT || !score.is_finite() {
            self.fractions = true;
            return;
        }
        let score = score as i64;
        let (least, most) = self.scores.unwrap_or((score, score));
        self.scores = Some((least.min(score), most.max(score)));
    }

    /// Orders what was seen, so that it does not depend on the order of elements.
    #[must_use]
    pub fn finish(mut self) -> Self {
        self.parts.sort();
        self.json.sort();
        self
    }

    /// The names that tell one kind of value from another: fields, or names at the top level of JSON.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let fields = self.parts.iter().map(|part| &*part.name).filter(|name| !name.is_empty());
        fields.chain(self.json.iter().map(|(name, _)| &**name))
    }
}

/// Whether a field of this name says when its hash was created.
fn is_creation(name: &str) -> bool {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let names = ["created", "createdat", "createdon", "creationtime", "ctime", "iat", "issuedat"];
    names.contains(&letters.to_ascii_lowercase().as_str())
}

/// A time as seconds or milliseconds since 1970.
fn time(text: &str) -> Option<u64> {
    let number = text.split('.').next()?.parse::<u64>().ok()?;
    match number {
        _ if UNIX.contains(&number) => Some(number * 1000),
        _ if UNIX.contains(&(number / 1000)) => Some(number),
        _ => None,
    }
}

fn part(name: &str, value: Excerpt<'_>) -> Part {
    let kind = kind(value);
    let text =
        str::from_utf8(value.bytes).ok().filter(|it| value.is_whole() && it.len() <= LONGEST);
    Part { name: name.into(), kind, text: text.map(Into::into) }
}

/// Whether a field may have this name in a schema: a word that a person chose, without a value in it.
pub(crate) fn is_field_name(name: &str) -> bool {
    let is_part = |char: char| char.is_ascii_alphanumeric() || "_-.$@:/".contains(char);
    let digits = name.chars().filter(char::is_ascii_digit).count();
    !name.is_empty()
        && name.len() <= LONGEST
        && name.chars().all(is_part)
        && name.starts_with(|char: char| char.is_ascii_alphabetic() || "_$@".contains(char))
        && digits * 3 <= name.len()
        && atoms(name.as_bytes()).iter().all(|atom| !atom.form.is_some_and(Form::is_somebodys))
}

/// What a text is.
pub(crate) fn kind(value: Excerpt<'_>) -> Kind {
    let Ok(text) = str::from_utf8(value.bytes) else {
        // A text that was cut may end inside a letter.
        let valid = str::from_utf8(value.bytes).map_or_else(|error| error.valid_up_to(), str::len);
        let cut = !value.is_whole() && valid + 4 > value.bytes.len();
        return if cut { Kind::Text } else { Kind::Bytes };
    };
    let bytes = text.as_bytes();
    let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    match bytes {
        _ if text.parse::<u64>().is_ok_and(|it| it.to_string() == text) => Kind::Uint,
        _ if text.parse::<i64>().is_ok_and(|it| it.to_string() == text) => Kind::Int,
        b"true" | b"false" => Kind::Bool,
        _ if is_float(text) => Kind::Float,
        _ if crate::form::whole(bytes) == Some(crate::form::Form::Uuid) => {
            if text.bytes().any(|byte| byte.is_ascii_uppercase()) { Kind::Text } else { Kind::Uuid }
        }
        _ if crate::form::whole(bytes) == Some(crate::form::Form::Date) => Kind::Date,
        [b'0'..=b'9', ..]
            if bytes.len() >= 20
                && bytes.get(10) == Some(&b'T')
                && digits(&bytes[..4])
                && (bytes.ends_with(b"Z") || bytes[19..].iter().any(|it| b"+-".contains(it)))
                && is_timestamp(bytes) =>
        {
            Kind::Timestamp
        }
        [b'{', .., b'}'] | [b'[', .., b']'] if is_json(text) => Kind::Json,
        [b'{' | b'[', ..] if !value.is_whole() && looks_like_json(text) => Kind::Json,
        _ if text.chars().any(|char| char.is_control() && !"\t\n\r".contains(char)) => Kind::Bytes,
        _ => Kind::Text,
    }
}

fn is_float(text: &str) -> bool {
    text.contains('.')
        && text.bytes().all(|byte| byte.is_ascii_digit() || b".-eE+".contains(&byte))
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

fn is_timestamp(text: &[u8]) -> bool {
    let shape = b"0000-00-00T00:00:00";
    text.iter().zip(shape).all(|(byte, like)| match like {
        b'0' => byte.is_ascii_digit(),
        _ => byte == like,
    })
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// The beginning of an object or an array that was cut.
fn looks_like_json(text: &str) -> bool {
    let rest = text[1..].trim_start();
    match text.as_bytes()[0] {
        b'{' => rest.starts_with('"') && rest.contains("\":"),
        _ => {
            rest.starts_with(['"', '{', '[', '-'])
                || rest.starts_with(|it: char| it.is_ascii_digit())
        }
    }
}

/// The names at the top level of an object.
fn top_level(text: &[u8]) -> Vec<(Box<str>, Kind)> {
    const MOST: usize = 32;
    let Ok(serde_json::Value::Object(object)) = serde_json::from_slice(text) else {
        return Vec::new();
    };
    let named = object.iter().filter(|(name, _)| is_field_name(name)).take(MOST);
    let kind_of = |value: &serde_json::Value| match value {
        serde_json::Value::Bool(_) => Kind::Bool,
        serde_json::Value::Number(number) if number.is_u64() => Kind::Uint,
        serde_json::Value::Number(number) if number.is_i64() => Kind::Int,
        serde_json::Value::Number(_) => Kind::Float,
        serde_json::Value::String(text) => kind(Excerpt::up_to(MOST_BYTES, text.as_bytes())),
        _ => Kind::Json,
    };
    named.map(|(name, value)| (name.as_str().into(), kind_of(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_what_people_would_call_them() {
        for (text, expected) in [
            ("42", Kind::Uint),
            ("-42", Kind::Int),
            ("007", Kind::Text),
            ("1.5", Kind::Float),
            ("true", Kind::Bool),
            ("2026-11-15", Kind::Date),
            ("2026-11-15T10:00:00Z", Kind::Timestamp),
            ("550e8400-e29b-41d4-a716-446655440000", Kind::Uuid),
            (r#"{"a":1}"#, Kind::Json),
            ("[1,2]", Kind::Json),
            ("{oops}", Kind::Text),
            ("", Kind::Text),
            ("a\u{1}b", Kind::Bytes),
        ] {
            assert_eq!(kind(Excerpt::up_to(99, text.as_bytes())), expected, "{text}");
        }
        assert_eq!(kind(Excerpt::up_to(99, &[0xff, 0xfe])), Kind::Bytes);
        assert_eq!(kind(Excerpt::new(b"{\"a\":{\"b", 99)), Kind::Json);
    }
}
