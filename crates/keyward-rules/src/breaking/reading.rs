//! Whether values that were written with one declaration can be read with another.

use keyward_schema::model::{Definition, JsonType, Value};
use keyward_schema::span::Span;

/// What happens to values that were written before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    /// They are what they were
    Same,
    /// They are read, as another type
    Wider,
    /// Some are not read, or read as something else; such as this one, where there is one to show
    Broken(Option<String>),
}

/// A part of a definition that holds values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    /// `None` for the value itself; `member`, `score`, `*`, or the name of a field
    pub(crate) name: Option<&'a str>,
    pub(crate) old: (&'a Value, &'a Span),
    pub(crate) new: (&'a Value, &'a Span),
}

/// The parts that both versions of a definition declare.
pub(crate) fn parts<'a>(old: &'a Definition, new: &'a Definition) -> Vec<Part<'a>> {
    let both = |name, old: &'a Option<_>, new: &'a Option<_>| {
        let (old, new): (&keyward_schema::Spanned<Value>, &keyward_schema::Spanned<Value>) =
            (old.as_ref()?, new.as_ref()?);
        Some(Part { name, old: (&old.value, &old.span), new: (&new.value, &new.span) })
    };
    let single = [
        both(None, &old.value, &new.value),
        both(Some("member"), &old.member, &new.member),
        both(Some("score"), &old.score, &new.score),
        both(Some("*"), &old.others, &new.others),
    ];
    let fields = old.fields.iter().filter_map(|field| {
        let same = new.fields.iter().find(|it| it.name.value == field.name.value)?;
        Some(Part {
            name: Some(field.name.as_str()),
            old: (&field.value.value, &field.value.span),
            new: (&same.value.value, &same.value.span),
        })
    });
    single.into_iter().flatten().chain(fields).collect()
}

/// What happens to the values of one type that are read as another.
pub(crate) fn reading(old: &Value, new: &Value) -> Reading {
    use Value::{
        Bool, Bytes, Date, Enum, Float, Int, Json, Key, Ref, Text, Timestamp, Uint, Unix, UnixMs,
        Uuid,
    };
    let such_as = |value: &str| Reading::Broken(Some(value.to_owned()));
    if old == new {
        return Reading::Same;
    }
    match (old, new) {
        (_, Bytes) | (Uint | Int | Unix | UnixMs, Float) | (Unix | UnixMs, Uint | Int) => {
            Reading::Wider
        }
        (Bytes | Json { zstd: true, .. }, Text) => Reading::Broken(None),
        // Both name keys, or values of parameters: what they may be is told by the definitions that they name.
        (_, Text) | (Ref { .. }, Ref { .. } | Key(_)) | (Key(_), Ref { .. }) => Reading::Wider,
        (Json { of, zstd }, Json { of: after, zstd: compressed }) => {
            if zstd == compressed {
                json(of.as_ref(), after.as_ref())
            } else {
                Reading::Broken(None)
            }
        }
        (Enum(words), Enum(after)) => match words.iter().find(|word| !after.contains(word)) {
            Some(word) => such_as(word),
            None => Reading::Wider,
        },
        (Enum(words), Bool) => {
            match words.iter().find(|it| !["true", "false"].contains(&it.as_str())) {
                Some(word) => such_as(word),
                None => Reading::Wider,
            }
        }
        (Key(names), Key(after)) => match names.iter().find(|name| !after.contains(name)) {
            Some(name) => Reading::Broken(Some(format!("a key of {name}"))),
            None => Reading::Wider,
        },
        (Uint, Int) => such_as("9223372036854775808"),
        (Int, Uint | Unix | UnixMs) => such_as("-1"),
        (Uint, Unix | UnixMs) => such_as("18446744073709551615"),
        // The same digits, another moment.
        (Unix, UnixMs) => such_as("1763337600"),
        (UnixMs, Unix) => such_as("1763337600000"),
        (Float, Int | Uint | Unix | UnixMs) => such_as("0.5"),
        (Bool, _) => such_as("true"),
        (Timestamp, _) => such_as("2026-11-17T00:00:00Z"),
        (Date, _) => such_as("2026-11-17"),
        (Uuid, _) => such_as("550e8400-e29b-41d4-a716-446655440000"),
        (Enum(words), _) => Reading::Broken(words.first().cloned()),
        _ => Reading::Broken(None),
    }
}

/// What is inside JSON. Keyward does not know the application's types: another name is another type in code.
fn json(old: Option<&JsonType>, new: Option<&JsonType>) -> Reading {
    match (old, new) {
        (Some(JsonType::Array(old)), Some(JsonType::Array(new))) => reading(old, new),
        (Some(JsonType::Named(_)), Some(JsonType::Array(_))) => Reading::Broken(None),
        _ => Reading::Wider,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_wider_numbers_only() {
        assert_eq!(reading(&Value::Uint, &Value::Uint), Reading::Same);
        assert_eq!(reading(&Value::Uint, &Value::Float), Reading::Wider);
        assert_eq!(reading(&Value::Int, &Value::Uint), Reading::Broken(Some("-1".to_owned())));
        assert_eq!(reading(&Value::Unix, &Value::Uint), Reading::Wider);
        assert_ne!(reading(&Value::Unix, &Value::UnixMs), Reading::Wider);
    }

    #[test]
    fn words_may_be_added_and_not_taken_away() {
        let words = |words: &[&str]| Value::Enum(words.iter().map(|&it| it.to_owned()).collect());
        assert_eq!(reading(&words(&["a"]), &words(&["b", "a"])), Reading::Wider);
        let broken = Reading::Broken(Some("b".to_owned()));
        assert_eq!(reading(&words(&["a", "b"]), &words(&["a"])), broken);
        assert_eq!(reading(&words(&["a"]), &Value::Text), Reading::Wider);
        assert_eq!(reading(&Value::Text, &words(&["a"])), Reading::Broken(None));
    }

    #[test]
    fn compressed_values_are_not_text() {
        let json = |zstd| Value::Json { of: None, zstd };
        assert_eq!(reading(&json(false), &json(true)), Reading::Broken(None));
        assert_eq!(reading(&json(true), &Value::Text), Reading::Broken(None));
        assert_eq!(reading(&json(true), &Value::Bytes), Reading::Wider);
        assert_eq!(reading(&json(false), &Value::Text), Reading::Wider);
    }
}
