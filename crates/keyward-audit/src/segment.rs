//! What a key looks like that no schema speaks of: words, and values of some kind between separators.
//!
//! What a token is depends on its bytes alone, so that a key looks the same wherever and whenever it is
//! seen.

use keyward_pattern::raw_ipv6;
use std::net::Ipv4Addr;

/// What separates segments in the conventions that people use.
pub(crate) const SEPARATORS: [u8; 3] = [b':', b'/', b'|'];
/// What separates words inside a segment.
const JOINTS: [u8; 3] = [b'_', b'-', b'.'];
/// A longer word is taken for a value.
const LONGEST_WORD: usize = 24;

/// What stands for words that are too many to be words.
pub(crate) const WORD: &str = "<word>";
/// What stands for everything that is not looked at.
pub(crate) const REST: &str = "<rest>";

/// A word, a value or a separator in a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'k> {
    pub(crate) kind: Kind,
    pub(crate) bytes: &'k [u8],
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word or a separator
    Literal,
    Uuid,
    Number,
    Hex,
    Date,
    Ip,
    Email,
    Text,
}

impl Kind {
    /// All kinds of values.
    pub(crate) const VALUES: [Kind; 7] =
        [Kind::Uuid, Kind::Number, Kind::Hex, Kind::Date, Kind::Ip, Kind::Email, Kind::Text];

    /// The word in angle brackets.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Literal => "word",
            Kind::Uuid => "uuid",
            Kind::Number => "number",
            Kind::Hex => "hex",
            Kind::Date => "date",
            Kind::Ip => "ip",
            Kind::Email => "email",
            Kind::Text => "text",
        }
    }
}

/// A key cut into words, values and separators.
pub(crate) fn tokens(key: &[u8]) -> Vec<Token<'_>> {
    let mut all = Vec::new();
    for segment in segments(key) {
        let (inside, separator) = split_separator(segment);
        segment_tokens(inside, &mut all);
        if !separator.is_empty() {
            all.push(Token { kind: Kind::Literal, bytes: separator });
        }
    }
    all
}

/// A key cut behind its separators; each segment but the last ends with one. An IPv6 address is one
/// segment, colons included.
pub(crate) fn segments(key: &[u8]) -> impl Iterator<Item = &[u8]> {
    // With fewer colons there is no address.
    let may_have_address = key.split(|byte| *byte == b':').nth(3).is_some();
    let mut rest = key;
    std::iter::from_fn(move || {
        let address = if may_have_address { raw_address(rest) } else { None };
        let end = match address {
            Some(end) => (end + 1).min(rest.len()),
            None => rest
                .iter()
                .position(|byte| SEPARATORS.contains(byte))
                .map_or(rest.len(), |at| at + 1),
        };
        let (segment, behind) = rest.split_at(end);
        rest = behind;
        (!segment.is_empty()).then_some(segment)
    })
}

/// The end of the IPv6 address at the beginning of a text, if there is one.
fn raw_address(text: &[u8]) -> Option<usize> {
    let ends = |end: usize| text.get(end).is_none_or(|byte| SEPARATORS.contains(byte));
    raw_ipv6(text).map(|(end, _)| end).find(|end| ends(*end))
}

/// A segment without the separator at its end, and the separator.
pub(crate) fn split_separator(segment: &[u8]) -> (&[u8], &[u8]) {
    match segment {
        [inside @ .., last] if SEPARATORS.contains(last) => (inside, std::slice::from_ref(last)),
        _ => (segment, &[]),
    }
}

/// Writes what a segment looks like: `user_<number>:`.
pub(crate) fn look(segment: &[u8], out: &mut String) {
    let (inside, separator) = split_separator(segment);
    if let Some(kind) = whole(inside) {
        write_kind(kind, inside, out);
    } else {
        let mut found = Vec::with_capacity(4);
        segment_tokens(inside, &mut found);
        for token in found {
            write_kind(token.kind, token.bytes, out);
        }
    }
    out.extend(separator.iter().map(|byte| char::from(*byte)));
}

fn write_kind(kind: Kind, bytes: &[u8], out: &mut String) {
    match kind {
        Kind::Literal => out.extend(bytes.iter().map(|byte| char::from(*byte))),
        kind => {
            out.push('<');
            out.push_str(kind.word());
            out.push('>');
        }
    }
}

fn segment_tokens<'k>(segment: &'k [u8], out: &mut Vec<Token<'k>>) {
    /// With more parts than this, it is not a name that somebody chose.
    const MOST_PARTS: usize = 6;
    if let Some(kind) = whole(segment) {
        out.push(Token { kind, bytes: segment });
        return;
    }
    let is_joint = |byte: &u8| JOINTS.contains(byte);
    let parts = || segment.split_inclusive(is_joint);
    if parts().count() > MOST_PARTS {
        out.push(Token { kind: Kind::Text, bytes: segment });
        return;
    }
    let start = out.len();
    for part in parts() {
        let (inside, joint) = match part {
            [inside @ .., last] if is_joint(last) => (inside, std::slice::from_ref(last)),
            _ => (part, &[][..]),
        };
        let kind =
            if inside.is_empty() { Kind::Literal } else { whole(inside).unwrap_or(Kind::Text) };
        if kind == Kind::Text {
            out.truncate(start);
            out.push(Token { kind, bytes: segment });
            return;
        }
        out.push(Token { kind, bytes: inside });
        if !joint.is_empty() {
            out.push(Token { kind: Kind::Literal, bytes: joint });
        }
    }
}

/// What a segment is as a whole; `None` if it must be looked at part by part.
fn whole(text: &[u8]) -> Option<Kind> {
    let (mut digits, mut hex, mut letters, mut joints) = (0, 0, 0, 0);
    for byte in text {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'a'..=b'f' | b'A'..=b'F' => hex += 1,
            b'g'..=b'z' | b'G'..=b'Z' => letters += 1,
            b'_' | b'-' | b'.' => joints += 1,
            _ => return Some(other(text)),
        }
    }
    let len = text.len();
    match () {
        () if len == 0 => Some(Kind::Literal),
        () if digits == len => Some(Kind::Number),
        () if len == 36 && is_uuid(text) => Some(Kind::Uuid),
        () if joints == 0 && letters == 0 && digits > 0 && len >= 8 => Some(Kind::Hex),
        () if joints == 0 && digits == 0 => {
            Some(if len <= LONGEST_WORD { Kind::Literal } else { Kind::Text })
        }
        // `v2`, `s3`, `h264`
        () if joints == 0 => {
            let word = len <= 4 && text[0].is_ascii_alphabetic();
            Some(if word { Kind::Literal } else { Kind::Text })
        }
        () if is_date(text) => Some(Kind::Date),
        () if letters + hex == 0 && is_address(text) => Some(Kind::Ip),
        () if text[0] == b'-' && digits + 1 == len => Some(Kind::Number),
        () => None,
    }
}

/// What holds other characters than letters, digits and joints.
#[cold]
fn other(text: &[u8]) -> Kind {
    if text.contains(&b':') {
        return Kind::Ip;
    }
    match text.iter().position(|byte| *byte == b'@') {
        Some(at) if at > 0 && text[at..].contains(&b'.') => Kind::Email,
        // `{42}`, `~lease`, `*`: marks around what is looked at by itself elsewhere
        _ => Kind::Text,
    }
}

fn is_uuid(text: &[u8]) -> bool {
    text.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

fn is_date(text: &[u8]) -> bool {
    let digits = |range: std::ops::Range<usize>| text[range].iter().all(u8::is_ascii_digit);
    text.len() == 10
        && text[4] == b'-'
        && text[7] == b'-'
        && digits(0..4)
        && digits(5..7)
        && digits(8..10)
}

fn is_address(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok_and(|text| text.parse::<Ipv4Addr>().is_ok())
}

/// What a value is as a whole.
pub(crate) fn kind(value: &[u8]) -> Kind {
    match tokens(value)[..] {
        [only] => only.kind,
        _ => Kind::Text,
    }
}

/// A look without the separator at its end, and the separator.
pub(crate) fn cut(look: &str) -> (&str, &str) {
    match look.as_bytes().last() {
        Some(last) if SEPARATORS.contains(last) => look.split_at(look.len() - 1),
        _ => (look, ""),
    }
}

/// Whether a look is a word, or has one: not only a value of some kind.
pub(crate) fn is_word(look: &str) -> bool {
    let (inside, _) = cut(look);
    let kind = inside.strip_prefix('<').and_then(|inside| inside.strip_suffix('>'));
    let is_kind = |kind| Kind::VALUES.iter().any(|it| it.word() == kind);
    !inside.is_empty() && inside != WORD && inside != REST && !kind.is_some_and(is_kind)
}

/// Whether a look stands for whatever may be there.
pub(crate) fn is_anything(look: &str) -> bool {
    let (inside, _) = cut(look);
    let kind = inside.strip_prefix('<').and_then(|inside| inside.strip_suffix('>'));
    inside == WORD || inside == REST || kind == Some(Kind::Text.word())
}

/// What stands for a word that is one of too many; its separator stays.
pub(crate) fn any_word(look: &str) -> String {
    format!("{WORD}{}", cut(look).1)
}

/// What stands for a word that must not be shown; its separator stays.
pub(crate) fn hidden_word(look: &str) -> String {
    format!("<{}>{}", Kind::Text.word(), cut(look).1)
}

/// Whether a segment as it is shown stands for any word, and another for one or for any.
pub(crate) fn is_wider(wide: &str, narrow: &str) -> bool {
    let ((wide, separator), (narrow, end)) = (cut(wide), cut(narrow));
    let any = |inside: &str| inside != REST && is_anything(inside);
    separator == end && any(wide) && (any(narrow) || is_word(narrow))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn looks(key: &str) -> String {
        let mut text = String::new();
        segments(key.as_bytes()).for_each(|segment| look(segment, &mut text));
        text
    }

    #[test]
    fn keys_look_as_people_would_say() {
        for (key, expected) in [
            ("user:42:cart", "user:<number>:cart"),
            ("sess:550e8400-e29b-41d4-a716-446655440000", "sess:<uuid>"),
            ("v2:report/2026-11-15/daily", "v2:report/<date>/daily"),
            ("rate:10.0.0.1", "rate:<ip>"),
            ("cart_42", "cart_<number>"),
            ("lock:deadbeef01", "lock:<hex>"),
            ("mail:ann@example.org", "mail:<email>"),
            ("token:QzJ4c2V4Y3JldA==", "token:<text>"),
            ("user_profile:a1b2c3", "user_profile:<text>"),
            ("login:2001:db8::1:limit", "login:<ip>:limit"),
            ("login:fe80:0:0:0:0:0:0:1", "login:<ip>"),
            ("a::b", "a::b"),
            ("dead:beef:cafe", "dead:beef:cafe"),
            ("", ""),
        ] {
            assert_eq!(looks(key), expected);
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_when_a_key_is_cut(key: Vec<u8>) {
            let joined: Vec<u8> = tokens(&key).iter().flat_map(|token| token.bytes.to_vec()).collect();
            prop_assert_eq!(joined, key);
        }
    }
}
