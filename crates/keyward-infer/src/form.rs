//! What a piece of a key looks like: words, values of a typical form, and the punctuation between them.
//!
//! What a text looks like depends on its bytes alone.

use crate::cut::network;
use std::net::Ipv4Addr;
use std::ops::Range;

/// A longer run of letters is a value rather than a word.
pub(crate) const LONGEST_WORD: usize = 24;
/// So many letters, or so many digits behind fewer, make a number behind letters one of its own: `user12` and `u1234`, but
/// not `v2` or `s3`.
const GLUED_LETTERS: usize = 3;
const GLUED_DIGITS: usize = 3;
/// Usual lengths of hexadecimal ids, longest first.
const HEX_LENGTHS: [usize; 6] = [128, 64, 40, 32, 24, 16];

/// A form that only values have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Form {
    /// Digits
    Number,
    /// At least eight hexadecimal digits, with a letter and a digit; and how many
    Hex(u16),
    Uuid,
    Ulid,
    /// `2026-11-15`
    Date,
    Ip,
    /// An IPv6 address with colons
    RawIp,
    Email,
    /// A language and a country: `de_DE`
    Locale,
    /// A number with a unit: `5m`, `24h`
    Span,
    /// Letters and digits in no order that a word has; perhaps with `-` and `_`
    Opaque,
}

impl Form {
    /// The mark in a skeleton; no text of a key contains it.
    fn mark(self) -> u8 {
        match self {
            Form::Number => 1,
            Form::Hex(_) => 2,
            Form::Uuid => 3,
            Form::Ulid => 4,
            Form::Date => 5,
            Form::Ip => 6,
            Form::RawIp => 7,
            Form::Email => 8,
            Form::Locale => 16,
            Form::Span => 15,
            Form::Opaque => 14,
        }
    }
}

impl Form {
    /// Whether it tells who or what somebody is: no name of a field has it.
    pub(crate) fn is_somebodys(self) -> bool {
        matches!(
            self,
            Form::Email
                | Form::Uuid
                | Form::Ulid
                | Form::Ip
                | Form::RawIp
                | Form::Opaque
                | Form::Hex(_)
        )
    }
}

/// A piece of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Atom {
    /// Where it is in the segment
    pub(crate) place: Range<usize>,
    /// `None` for a word or punctuation
    pub(crate) form: Option<Form>,
}

/// Cuts a segment into words, punctuation and values.
pub(crate) fn atoms(text: &[u8]) -> Vec<Atom> {
    let mut atoms = Vec::with_capacity(3);
    if let Some(form) = whole(text) {
        atoms.push(Atom { place: 0..text.len(), form: Some(form) });
        return atoms;
    }
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let boundary = at == 0 || !text[at - 1].is_ascii_alphanumeric();
        let (len, form) = match spanning(rest).filter(|_| boundary) {
            Some((len, form)) => (len, Some(form)),
            None if !is_run(rest[0]) => (1, None),
            None => {
                let len = rest.iter().take_while(|byte| is_run(**byte)).count();
                if let Some((before, value)) = glued(&rest[..len]) {
                    let (start, end) = (at + before, at + before + value);
                    atoms.push(Atom { place: at..start, form: None });
                    let form = whole(&text[start..end]).unwrap_or(Form::Number);
                    atoms.push(Atom { place: start..end, form: Some(form) });
                    if end < at + len {
                        atoms.push(Atom { place: end..at + len, form: None });
                    }
                    at += len;
                    continue;
                }
                (len, run(&rest[..len]))
            }
        };
        atoms.push(Atom { place: at..at + len, form });
        at += len;
    }
    join_opaque(text, atoms)
}

/// The form of a whole text, if it is one value.
pub(crate) fn whole(text: &[u8]) -> Option<Form> {
    match text {
        [] => None,
        _ if text.iter().all(u8::is_ascii_digit) => Some(Form::Number),
        _ if is_uuid(text) => Some(Form::Uuid),
        _ if is_ulid(text) => Some(Form::Ulid),
        _ if is_date(text) => Some(Form::Date),
        _ if is_hex(text) => Some(Form::Hex(u16::try_from(text.len()).unwrap_or(u16::MAX))),
        _ if is_ip(text) => Some(Form::Ip),
        _ if email(text) == Some(text.len()) => Some(Form::Email),
        _ if text.contains(&b':') && is_raw_ip(text) => Some(Form::RawIp),
        _ if is_locale(text) => Some(Form::Locale),
        _ if is_span(text) => Some(Form::Span),
        [b'-', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            Some(Form::Number)
        }
        _ => None,
    }
}

/// A value that contains punctuation, at the beginning of a text.
fn spanning(text: &[u8]) -> Option<(usize, Form)> {
    let ends = |len: usize| text.get(len).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    if text.len() >= 36 && is_uuid(&text[..36]) && ends(36) {
        return Some((36, Form::Uuid));
    }
    if text.len() >= 10 && is_date(&text[..10]) && ends(10) {
        return Some((10, Form::Date));
    }
    if let Some(len) = email(text).filter(|len| ends(*len)) {
        return Some((len, Form::Email));
    }
    if text[0].is_ascii_digit() {
        let len = text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        if is_ip(&text[..len]) && ends(len) {
            return Some((len, Form::Ip));
        }
    }
    None
}

/// The form of a run of letters and digits.
fn run(run: &[u8]) -> Option<Form> {
    whole(run).or_else(|| is_opaque(run).then_some(Form::Opaque))
}

/// Where a value begins that stands right behind letters, and how long it is: `user123`, `poll22results`,
/// `cache5d41402abc4b2a76b9719d911017c592`.
fn glued(run: &[u8]) -> Option<(usize, usize)> {
    let letters = run.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    if letters == 0 || letters == run.len() {
        return None;
    }
    let digits = run[letters..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let behind = &run[letters + digits..];
    if behind.is_empty() && !is_hex(run) {
        return (letters >= GLUED_LETTERS || digits >= GLUED_DIGITS).then_some((letters, digits));
    }
    let is_word = behind.len() >= GLUED_LETTERS && behind.iter().all(u8::is_ascii_alphabetic);
    if letters >= GLUED_LETTERS && is_word && !is_hex(run) {
        return Some((letters, digits));
    }
    HEX_LENGTHS.into_iter().find_map(|len| {
        let start = run.len().checked_sub(len).filter(|start| *start > 0)?;
        (start <= letters && is_hex(&run[start..])).then_some((start, len))
    })
}

/// Opaque runs with `-`, `_` or `=` between or behind them are one value.
fn join_opaque(text: &[u8], atoms: Vec<Atom>) -> Vec<Atom> {
    let opaque = |atom: &Atom| atom.form == Some(Form::Opaque);
    let Some(first) = atoms.iter().position(opaque) else { return atoms };
    let mixed = |place: &Range<usize>| {
        let run = &text[place.clone()];
        run.iter().any(u8::is_ascii_uppercase) && run.iter().any(u8::is_ascii_lowercase)
    };
    let is_joint = |atom: &Atom| matches!(&text[atom.place.clone()], [b'-' | b'_' | b'=' | b'+']);
    let mut start = first;
    while start >= 2
        && is_joint(&atoms[start - 1])
        && (atoms[start - 2].form == Some(Form::Number) || mixed(&atoms[start - 2].place))
    {
        start -= 2;
    }
    let mut end = first + 1;
    while end < atoms.len() && (is_joint(&atoms[end]) || is_run(text[atoms[end].place.start])) {
        end += 1;
    }
    let place = atoms[start].place.start..atoms[end - 1].place.end;
    let mut joined = atoms[..start].to_vec();
    joined.push(Atom { place, form: Some(Form::Opaque) });
    joined.extend_from_slice(&atoms[end..]);
    joined
}

/// Letters and digits in no order that a word has.
fn is_opaque(run: &[u8]) -> bool {
    let digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
    let upper = run.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let lower = run.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    let kind = |byte: &u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    let turns = run.windows(2).filter(|pair| kind(&pair[0]) != kind(&pair[1])).count();
    if digits + upper + lower < run.len() {
        return false;
    }
    match digits {
        // Words in camel case turn twice for each word, and have more small letters than capitals.
        0 => run.len() > LONGEST_WORD || run.len() >= 12 && upper >= 4 && turns * 2 >= run.len(),
        1 => run.len() > LONGEST_WORD || run.len() >= 8 && turns >= 4,
        _ => {
            run.len() > LONGEST_WORD || run.len() >= 8 && turns >= 3 || run.len() >= 6 && turns >= 4
        }
    }
}

/// Whether a byte belongs to a run: a letter, a digit, or part of a letter outside ASCII.
fn is_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

fn is_hex(text: &[u8]) -> bool {
    let lower = text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let upper = || text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
    text.len() >= 8
        && (lower || upper())
        && text.iter().any(u8::is_ascii_digit)
        && text.iter().any(u8::is_ascii_alphabetic)
}

/// One to three digits and one letter, or a usual unit.
fn is_span(text: &[u8]) -> bool {
    const UNITS: [&[u8]; 14] = [
        b"ms", b"s", b"m", b"h", b"d", b"w", b"y", b"M", b"D", b"W", b"sec", b"min", b"hr", b"day",
    ];
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=4).contains(&digits) && UNITS.contains(&&text[digits..])
}

fn is_locale(text: &[u8]) -> bool {
    matches!(text, [a, b, b'_' | b'-', c, d] if [a, b].into_iter().all(u8::is_ascii_lowercase)
        && [c, d].into_iter().all(u8::is_ascii_uppercase))
}

fn is_uuid(text: &[u8]) -> bool {
    text.len() == 36
        && text.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_ulid(text: &[u8]) -> bool {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'A'..=b'H' | b'J' | b'K' | b'M' | b'N' | b'P'..=b'T' | b'V'..=b'Z');
    text.len() == 26 && matches!(text[0], b'0'..=b'7') && text.iter().all(is_digit)
}

fn is_date(text: &[u8]) -> bool {
    let digits = |range: Range<usize>| text[range].iter().all(u8::is_ascii_digit);
    text.len() == 10
        && text[4] == b'-'
        && text[7] == b'-'
        && digits(0..4)
        && digits(5..7)
        && digits(8..10)
}

fn is_ip(text: &[u8]) -> bool {
    matches!(text.len(), 7..=15)
        && text[0].is_ascii_digit()
        && str::from_utf8(text).is_ok_and(|text| text.parse::<Ipv4Addr>().is_ok())
}

fn is_raw_ip(text: &[u8]) -> bool {
    let mut ends = keyward_pattern::raw_ipv6(text).map(|(end, _)| end + network(&text[end..]));
    ends.any(|end| end == text.len())
}

/// The length of the mail address at the beginning of a text; the `@` may be written as in a URL.
fn email(text: &[u8]) -> Option<usize> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
    let local = text.iter().take_while(|byte| is_letter(**byte) || b"._%+-".contains(byte)).count();
    let sign = match text.get(local) {
        Some(b'@') => local..local + 1,
        _ => text[..local].windows(3).position(|it| it == b"%40").map(|at| at..at + 3)?,
    };
    let domain = &text[sign.end..];
    let is_part = |byte: &&u8| is_letter(**byte) || matches!(byte, b'.' | b'-');
    let mut len = domain.iter().take_while(is_part).count();
    while len > 0 && !is_letter(domain[len - 1]) {
        len -= 1;
    }
    let labels: Vec<&[u8]> = domain[..len].split(|byte| *byte == b'.').collect();
    let top = labels.last().filter(|_| labels.len() > 1)?;
    let is_top = top.len() > 1 && top.iter().all(|byte| !byte.is_ascii_digit());
    (sign.start > 0 && is_top && labels.iter().all(|label| !label.is_empty()))
        .then_some(sign.end + len)
}

/// Writes what a segment looks like: words and punctuation as they are, values by the mark of their form.
pub(crate) fn skeleton(text: &[u8], atoms: &[Atom], out: &mut Vec<u8>) {
    for atom in atoms {
        match atom.form {
            None => out.extend_from_slice(&text[atom.place.clone()]),
            Some(form) => out.push(form.mark()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(text: &str) -> String {
        let mut out = String::new();
        for atom in atoms(text.as_bytes()) {
            match atom.form {
                None => out.push_str(&text[atom.place]),
                Some(form) => out.push_str(&format!("<{form:?}>")),
            }
        }
        out
    }

    #[test]
    fn texts_look_as_people_would_say() {
        for (text, expected) in [
            ("user", "user"),
            ("42", "<Number>"),
            ("user-123", "user-<Number>"),
            ("user123", "user<Number>"),
            ("v2", "v2"),
            ("5m", "<Span>"),
            ("shard7", "shard<Number>"),
            ("poll22results", "poll<Number>results"),
            ("v2_BTCUSDT", "v2_BTCUSDT"),
            ("userProfile", "userProfile"),
            ("cache5d41402abc4b2a76b9719d911017c592", "cache<Hex(32)>"),
            ("deadbeef01", "<Hex(10)>"),
            ("550e8400-e29b-41d4-a716-446655440000", "<Uuid>"),
            ("celery-task-meta-550e8400-e29b-41d4-a716-446655440000", "celery-task-meta-<Uuid>"),
            ("report-2026-11-15.csv", "report-<Date>.csv"),
            ("10.0.0.1", "<Ip>"),
            ("2001:db8::1", "<RawIp>"),
            ("ann@example.org", "<Email>"),
            ("anna.mueller%40example.org", "<Email>"),
            ("to-ann@müller.de/x", "<Email>/x"),
            ("user@host", "user@host"),
            ("@angular", "@angular"),
            ("de_DE", "<Locale>"),
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "<Ulid>"),
            ("V1StGXR8_Z5jdHi6B-myT", "<Opaque>"),
            ("my-first-post", "my-first-post"),
            ("{42}", "{<Number>}"),
            ("-7", "<Number>"),
            ("", ""),
        ] {
            assert_eq!(look(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn atoms_cover_a_segment_without_gaps(text: Vec<u8>) {
            let mut end = 0;
            for atom in atoms(&text) {
                proptest::prop_assert_eq!(atom.place.start, end);
                end = atom.place.end;
            }
            proptest::prop_assert_eq!(end, text.len());
        }
    }
}
