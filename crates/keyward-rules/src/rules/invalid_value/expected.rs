//! What a value must be, and whether bytes are that.

use keyward_fact::Excerpt;
use keyward_schema::model::{JsonType, Value};

/// How many bytes of a value are looked at.
pub const LOOKED_AT: usize = 256;

/// What a value must be.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Expected {
    /// A declared value
    Declared(Value),
    /// An integer that INCR accepts
    Count {
        /// Whether it may be below zero
        negative: bool,
    },
}

impl Expected {
    /// Any bytes.
    pub const ANYTHING: Expected = Expected::Declared(Value::Bytes);

    /// What a declared value must be.
    pub fn new(value: &Value) -> Self {
        Expected::Declared(value.clone())
    }

    /// Its name in a message, after "is not": `a uint`.
    pub fn name(&self) -> String {
        let value = match self {
            Expected::Declared(value) => value,
            Expected::Count { negative: true } => return "an integer that INCR accepts".to_owned(),
            Expected::Count { negative: false } => {
                return "an integer from 0 on that INCR accepts".to_owned();
            }
        };
        let name = match value {
            Value::Bytes | Value::Ref { .. } | Value::Key(_) => "a value",
            Value::Text => "UTF-8 text",
            Value::Int => "an int",
            Value::Uint | Value::Unix | Value::UnixMs => "a uint",
            Value::Float => "a float",
            Value::Bool => "`true` or `false`",
            Value::Uuid => "a uuid",
            Value::Timestamp => "a timestamp (RFC 3339)",
            Value::Date => "a date (YYYY-MM-DD)",
            Value::Enum(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                return match words.as_slice() {
                    [only] => only.clone(),
                    _ => format!("one of {}", words.join(", ")),
                };
            }
            Value::Json { zstd: true, .. } => "JSON compressed with zstd",
            Value::Json { of: Some(JsonType::Array(_)), .. } => "a JSON array",
            Value::Json { .. } => "JSON",
        };
        name.to_owned()
    }

    /// Whether there is anything to check: references are checked elsewhere.
    pub fn asks(&self) -> bool {
        !matches!(self, Expected::Declared(Value::Bytes | Value::Ref { .. } | Value::Key(_)))
    }

    /// Whether a value is one. Of a long one only the beginning is there.
    #[inline]
    pub fn takes(&self, excerpt: Excerpt<'_>) -> bool {
        !self.asks() || self.is(excerpt)
    }

    fn is(&self, excerpt: Excerpt<'_>) -> bool {
        let bytes = excerpt.bytes;
        let value = match self {
            Expected::Declared(value) => value,
            Expected::Count { negative } => {
                let count = if excerpt.is_whole() { as_count(bytes) } else { None };
                return count.is_some_and(|count| *negative || count >= 0);
            }
        };
        match value {
            Value::Bytes | Value::Ref { .. } | Value::Key(_) => true,
            Value::Text => is_text(bytes, excerpt.is_whole()),
            Value::Int => {
                excerpt.is_whole() && is_integer(bytes.strip_prefix(b"-").unwrap_or(bytes))
            }
            Value::Uint | Value::Unix | Value::UnixMs => excerpt.is_whole() && is_integer(bytes),
            Value::Float => {
                excerpt.is_whole()
                    && str::from_utf8(bytes).is_ok_and(|text| text.parse::<f64>().is_ok())
            }
            Value::Bool => bytes == b"true" || bytes == b"false",
            Value::Uuid => {
                bytes.len() == 36 && is_shaped(bytes, b"hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh")
            }
            Value::Timestamp => excerpt.is_whole() && is_timestamp(bytes),
            Value::Date => bytes.len() == 10 && is_shaped(bytes, b"dddd-dd-dd"),
            Value::Enum(words) => words.iter().any(|word| word.as_bytes() == bytes),
            Value::Json { zstd: true, .. } => bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]),
            Value::Json { of, .. } => {
                let array = matches!(of, Some(JsonType::Array(_)));
                is_json(excerpt, array.then_some(b'['))
            }
        }
    }
}

#[inline]
fn is_text(bytes: &[u8], whole: bool) -> bool {
    bytes.is_ascii() || is_utf8(bytes, whole)
}

fn is_utf8(bytes: &[u8], whole: bool) -> bool {
    match str::from_utf8(bytes) {
        Ok(_) => true,
        // Cut inside a character.
        Err(error) => !whole && error.error_len().is_none(),
    }
}

/// Digits that fit 64 bits, about.
fn is_integer(digits: &[u8]) -> bool {
    (1..=20).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
}

/// The number that a server increments: 64 bits with a sign, written as the server writes it. It refuses a
/// sign or a zero too many, and blanks.
fn as_count(bytes: &[u8]) -> Option<i64> {
    let text = str::from_utf8(bytes).ok()?;
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// Whether every byte is of the class at its place: `d` a digit, `h` a hexadecimal one, else itself.
fn is_shaped(bytes: &[u8], shape: &[u8]) -> bool {
    bytes.iter().zip(shape).all(|(byte, class)| match class {
        b'd' => byte.is_ascii_digit(),
        b'h' => byte.is_ascii_hexdigit(),
        class => byte == class,
    })
}

fn is_timestamp(bytes: &[u8]) -> bool {
    const SECONDS: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let Some((seconds, rest)) = bytes.split_at_checked(SECONDS.len()) else { return false };
    let rest = match rest {
        [b'.', fraction @ ..] => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            &fraction[digits..]
        }
        rest => rest,
    };
    let zone = matches!(rest, b"Z" | b"z")
        || rest.len() == 6 && matches!(rest[0], b'+' | b'-') && is_shaped(&rest[1..], b"dd:dd");
    zone && is_shaped(seconds, SECONDS)
}

/// Whether it begins and ends as JSON does. To look inside would cost more than all the rest.
fn is_json(excerpt: Excerpt<'_>, opening: Option<u8>) -> bool {
    let text = excerpt.bytes.trim_ascii();
    let (Some(first), Some(last)) = (text.first(), text.last()) else { return false };
    if opening.is_some_and(|opening| opening != *first) {
        return false;
    }
    let closing = match first {
        b'{' => b'}',
        b'[' => b']',
        b'"' => b'"',
        b't' | b'f' | b'n' => {
            return matches!(text, b"true" | b"false" | b"null");
        }
        b'-' | b'0'..=b'9' => {
            return !excerpt.is_whole()
                || str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok());
        }
        _ => return false,
    };
    !excerpt.is_whole() || (*last == closing && text.len() > 1)
}
