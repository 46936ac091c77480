//! The type of a parameter, from its values.

use crate::draft::ParamType;
use crate::form::{Form, whole};
use crate::tree::Values;

/// An enum has at most so many words, each with at least so many keys.
const MOST_WORDS: usize = 12;
const KEYS_A_WORD: f64 = 20.0;
/// Seconds since 1970 that are a time in living memory: 2010 to 2050.
pub(crate) const UNIX: std::ops::RangeInclusive<u64> = 1_262_304_000..=2_524_608_000;

/// The type that holds all values. `delimiters` are characters next to the parameter that it must not contain, because
/// another parameter follows.
pub(crate) fn param_type(values: &Values<'_>, delimiters: &[u8], separator: u8) -> ParamType {
    let all = |is: &dyn Fn(&[u8]) -> bool| !values.is_empty() && values.keys().all(|it| is(it));
    let named = |name: &str| ParamType::Named(name.to_owned());
    if values.keys().any(|text| text.contains(&separator)) {
        return ParamType::Rest;
    }
    let len = same_length(values);
    let digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let form = |wanted: Form| all(&|text| whole(text) == Some(wanted));
    if form(Form::Uuid) && all(&|text| !text.iter().any(u8::is_ascii_uppercase)) {
        return named("uuid");
    }
    if all(&|text| number::<u64>(text)) {
        let within = |range: &std::ops::RangeInclusive<u64>, unit: u64| {
            let in_range = |text: &[u8]| {
                str::from_utf8(text)
                    .ok()
                    .and_then(|it| it.parse::<u64>().ok())
                    .is_some_and(|it| range.contains(&(it / unit)))
            };
            values.len() >= 3 && all(&in_range)
        };
        return match () {
            () if within(&UNIX, 1) => named("unix"),
            () if within(&UNIX, 1000) => named("unix_ms"),
            () => named("uint"),
        };
    }
    if all(&|text| number::<i64>(text)) {
        return named("int");
    }
    if all(&digits) {
        return match len {
            Some(len) if len <= 1024 => named(&format!("digits({len})")),
            _ => ParamType::Regex("[0-9]+".to_owned()),
        };
    }
    if all(&is_calendar_date) {
        return named("date");
    }
    if form(Form::Ip) {
        return named("ip");
    }
    let lower_hex = |text: &[u8]| text.iter().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
    let has_form = |text: &[u8]| matches!(whole(text), Some(Form::Hex(_)));
    if all(&lower_hex) && values.keys().any(|text| has_form(text)) {
        return match len {
            Some(len) if len <= 1024 => named(&format!("hex({len})")),
            _ => named("hex"),
        };
    }
    let upper_hex = |text: &[u8]| text.iter().all(|it| matches!(it, b'0'..=b'9' | b'A'..=b'F'));
    if let Some(len) = len
        && all(&upper_hex)
        && values.keys().any(|text| has_form(text))
    {
        return ParamType::Regex(format!("[0-9A-F]{{{len}}}"));
    }
    if form(Form::Ulid) {
        return ParamType::Regex("[0-7][0-9A-HJKMNP-TV-Z]{25}".to_owned());
    }
    let alnum = |text: &[u8]| text.iter().all(u8::is_ascii_alphanumeric);
    let opaque =
        |text: &&[u8]| crate::form::atoms(text).iter().any(|atom| atom.form == Some(Form::Opaque));
    if let Some(len) = len
        && (8..=1024).contains(&len)
        && values.keys().filter(|text| opaque(text)).count() * 2 > values.len()
    {
        if all(&alnum) {
            return ParamType::Regex(format!("[A-Za-z0-9]{{{len}}}"));
        }
        let url = |text: &[u8]| {
            text.iter().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'))
        };
        if all(&url) && !matches!(separator, b'-' | b'_') {
            return ParamType::Regex(format!("[A-Za-z0-9_-]{{{len}}}"));
        }
    }
    if let Some(words) = words(values) {
        return ParamType::Enum(words);
    }
    if delimiters.is_empty() { named("text") } else { without(values, delimiters, separator) }
}

/// Text without some characters, which only ASCII can say so far.
fn without(values: &Values<'_>, delimiters: &[u8], separator: u8) -> ParamType {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let free = |byte: u8| byte != separator && !delimiters.contains(&byte);
    if free(b'_') && values.keys().all(|text| text.iter().copied().all(is_word)) {
        return ParamType::Named("word".to_owned());
    }
    let mut class = String::from("[");
    for byte in b' '..=b'~' {
        if free(byte) && !matches!(byte, b'{' | b'}') {
            if matches!(byte, b'[' | b']' | b'\\' | b'^' | b'-' | b'&' | b'~') {
                class.push('\\');
            }
            class.push(char::from(byte));
        }
    }
    class.push_str("]+");
    // `A-Z` reads better than all letters.
    let letters = |from: u8, to: u8| (from..=to).map(char::from).collect::<String>();
    for (from, to) in [(b'a', b'z'), (b'A', b'Z'), (b'0', b'9')] {
        let range = format!("{}-{}", char::from(from), char::from(to));
        class = class.replacen(&letters(from, to), &range, 1);
    }
    ParamType::Regex(class)
}

/// Few words that many keys share, none of which can be a person's.
fn words(values: &Values<'_>) -> Option<Vec<String>> {
    let is_word = |text: &&[u8]| {
        (1..=16).contains(&text.len())
            && text.iter().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-'))
            && text.iter().any(u8::is_ascii_lowercase)
            && !text.iter().all(u8::is_ascii_hexdigit)
    };
    let many = values.values().all(|weight| *weight >= KEYS_A_WORD);
    let few = (2..=MOST_WORDS).contains(&values.len());
    if !(few && many && values.keys().all(is_word)) {
        return None;
    }
    values.keys().map(|text| str::from_utf8(text).ok().map(str::to_owned)).collect()
}

fn same_length(values: &Values<'_>) -> Option<usize> {
    let mut lengths = values.keys().map(|text| text.len());
    let first = lengths.next()?;
    (values.len() >= 2 && lengths.all(|len| len == first) || values.len() == 1).then_some(first)
}

/// Whether a text is a number in its only spelling.
fn number<T: std::str::FromStr + ToString>(text: &[u8]) -> bool {
    str::from_utf8(text)
        .is_ok_and(|text| text.parse::<T>().is_ok_and(|number| number.to_string() == text))
}

fn is_calendar_date(text: &[u8]) -> bool {
    if whole(text) != Some(Form::Date) {
        return false;
    }
    let number = |range: std::ops::Range<usize>| {
        str::from_utf8(&text[range]).ok().and_then(|it| it.parse::<u32>().ok()).unwrap_or(0)
    };
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    };
    year > 0 && (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(texts: &[&str]) -> String {
        let values = texts.iter().map(|text| (text.as_bytes(), 1.0)).collect();
        match param_type(&values, &[], b':') {
            ParamType::Named(name) => name,
            ParamType::Regex(regex) => format!("/{regex}/"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn values_have_the_type_that_people_would_give_them() {
        for (texts, expected) in [
            (&["1", "42"][..], "uint"),
            (&["-1", "42"], "int"),
            (&["001", "042"], "digits(3)"),
            (&["1763000000", "1763000100", "1763000200"], "unix"),
            (&["1763000000123", "1763000100123", "1763000200123"], "unix_ms"),
            (&["2026-11-15", "2026-02-28"], "date"),
            (&["2026-02-30", "2026-02-28"], "text"),
            (&["550e8400-e29b-41d4-a716-446655440000"], "uuid"),
            (&["5d41402abc4b2a76b9719d911017c592"], "hex(32)"),
            (&["10.0.0.1", "192.168.1.1"], "ip"),
            (&["anna", "ben"], "text"),
        ] {
            assert_eq!(typed(texts), expected, "{texts:?}");
        }
    }
}
