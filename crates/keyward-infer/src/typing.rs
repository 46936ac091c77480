//! The type of a parameter, from its values.

use crate::draft::ParamType;
use crate::form::{Form, atoms, whole};
use crate::thresholds::{Threshold, Thresholds};
use crate::tree::Values;
use crate::types::Types;
use keyward_pattern::Type;

/// Seconds since 1970 that are a time in living memory: 2010 to 2050.
pub(crate) const UNIX: std::ops::RangeInclusive<u64> = 1_262_304_000..=2_524_608_000;

/// The type that holds all values: the narrowest that a person would choose.
pub(crate) fn param_type(values: &Values<'_>, types: &Types, thresholds: &Thresholds) -> ParamType {
    let all = |is: &dyn Fn(&[u8]) -> bool| !values.is_empty() && values.keys().all(|it| is(it));
    let hold = |name: &str| types.hold(name, values.keys().copied());
    let named = |name: &str| ParamType::Named(name.to_owned());
    let has_letters = |text: &[u8]| text.iter().any(u8::is_ascii_alphabetic);
    let form = |wanted: Form| all(&|text| whole(text) == Some(wanted));
    if all(&|text| matches!(whole(text), Some(Form::Ip | Form::RawIp)))
        && let Some(name) = ["ip", "raw_ip"].into_iter().find(|name| hold(name))
    {
        return named(name);
    }
    if values.keys().any(|text| text.contains(&types.separator)) {
        return ParamType::Rest;
    }
    let len = same_length(values).filter(|len| *len <= usize::from(Type::MAX_LEN));
    if form(Form::Uuid) && hold("uuid") {
        return named("uuid");
    }
    if all(&number::<u64>) {
        return named(time(values).unwrap_or("uint"));
    }
    if all(&number::<i64>) {
        return named("int");
    }
    if all(&|text| !has_letters(text) && text.iter().all(u8::is_ascii_digit)) {
        return match len {
            Some(len) => named(&format!("digits({len})")),
            None => ParamType::Regex("[0-9]+".to_owned()),
        };
    }
    if form(Form::Date) && hold("date") {
        return named("date");
    }
    if form(Form::Ulid) && hold("ulid") {
        return named("ulid");
    }
    if form(Form::Email) && hold("email") {
        return named("email");
    }
    let is_hex = |text: &[u8]| matches!(whole(text), Some(Form::Hex(_)));
    if values.keys().any(|text| is_hex(text)) && hold("hex") {
        return named(&len.map_or_else(|| "hex".to_owned(), |len| format!("hex({len})")));
    }
    if is_opaque(values)
        && let Some(name) = ["alnum", "base64url"].into_iter().find(|name| hold(name))
    {
        return named(&len.map_or_else(|| name.to_owned(), |len| format!("{name}({len})")));
    }
    if let Some(words) = words(values, thresholds) {
        return ParamType::Enum(words);
    }
    let share = |is: &dyn Fn(&[u8]) -> bool| values.keys().filter(|text| is(text)).count();
    let regions = share(&|text| text.iter().any(|it| matches!(it, b'-' | b'_')));
    if 2 * regions >= values.len() && hold("locale") {
        return named("locale");
    }
    let slugs = share(&|text| text.contains(&b'-'));
    if values.len() >= thresholds.count(Threshold::Slugs)
        && 2 * slugs >= values.len()
        && hold("slug")
    {
        return named("slug");
    }
    named("text")
}

/// The type of times that all of several numbers are.
fn time(values: &Values<'_>) -> Option<&'static str> {
    let within = |unit: u64| {
        let number = |text: &[u8]| str::from_utf8(text).ok()?.parse::<u64>().ok();
        values.keys().all(|text| number(text).is_some_and(|it| UNIX.contains(&(it / unit))))
    };
    match () {
        () if values.len() < 3 => None,
        () if within(1) => Some("unix"),
        () if within(1000) => Some("unix_ms"),
        () => None,
    }
}

/// Whether most values have letters and digits in no order that a word has.
fn is_opaque(values: &Values<'_>) -> bool {
    const SHORTEST: usize = 8;
    let is = |text: &&&[u8]| match whole(text) {
        Some(form) => matches!(form, Form::Opaque | Form::Hex(_) | Form::Uuid | Form::Ulid),
        None => atoms(text).iter().any(|atom| atom.form == Some(Form::Opaque)),
    };
    values.keys().all(|text| text.len() >= SHORTEST)
        && 2 * values.keys().filter(is).count() > values.len()
}

/// Few words that many keys share, none of which can be a person's.
fn words(values: &Values<'_>, thresholds: &Thresholds) -> Option<Vec<String>> {
    let is_word = |text: &&[u8]| {
        let is_span = whole(text) == Some(Form::Span);
        is_span
            || (1..=16).contains(&text.len())
                && text.iter().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-'))
                && text.iter().any(u8::is_ascii_lowercase)
                && !text.iter().all(u8::is_ascii_hexdigit)
    };
    let many = values.values().all(|weight| *weight >= thresholds.of(Threshold::KeysAWord));
    let few = (2..=thresholds.count(Threshold::MostWords)).contains(&values.len());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(texts: &[&str]) -> String {
        let values = texts.iter().map(|text| (text.as_bytes(), 1.0)).collect();
        match param_type(&values, &Types::new(b':'), &Thresholds::default()) {
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
            (&["10.0.0.1", "2001:db8::1"], "raw_ip"),
            (&["10.0.0.1", "20010db8000000000000000000000001"], "text"),
            (&["anna@example.org", "ben.b+x@example.org"], "email"),
            (&["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ"], "ulid"),
            (&["V1StGXR8_Z5jdHi6B-myT", "a7Bq90xK92bQa7Bq90xK9"], "base64url(21)"),
            (&["a7Bq90xK92bQ", "zz81ABh0Q2p4"], "alnum(12)"),
            (&["a7Bq90xK92bQ", "zz81ABh0Q2p4T"], "alnum"),
            (&["5D41402ABC4B2A76", "7D793037A0760186"], "alnum(16)"),
            (&["550E8400-E29B-41D4-A716-446655440000"], "base64url(36)"),
            (&["de_DE", "en", "zh_Hans_CN"], "locale"),
            (&["de", "en", "fr"], "text"),
            (&["anna", "ben"], "text"),
        ] {
            assert_eq!(typed(texts), expected, "{texts:?}");
        }
    }
}
