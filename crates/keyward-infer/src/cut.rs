//! Cuts a key into segments.

use crate::form::{Atom, Form, atoms, whole};
use std::borrow::Cow;
use std::ops::Range;

/// The most segments that are told apart; what follows is the last one.
pub(crate) const DEEPEST: usize = 24;

/// A segment, and the byte behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) place: Range<usize>,
    /// The separator behind it; `None` at the end of the key
    pub(crate) separator: Option<u8>,
}

/// Cuts a key at one separator, but not inside a value that contains it: an IPv6 address is one segment, colons
/// included, and so is a UUID between hyphens.
pub(crate) fn cut(key: &[u8], separator: u8) -> Vec<Segment> {
    let mut segments = Vec::with_capacity(5);
    if separator != b':' {
        let mut start = 0;
        let is_cut = |atom: &Atom| atom.form.is_none() && key[atom.place.clone()] == [separator];
        for atom in atoms(key).into_iter().filter(is_cut).take(DEEPEST - 1) {
            segments.push(Segment { place: start..atom.place.start, separator: Some(separator) });
            start = atom.place.end;
        }
        segments.push(Segment { place: start..key.len(), separator: None });
        return segments;
    }
    let mut at = 0;
    loop {
        let rest = &key[at..];
        let end = match address(rest) {
            Some(end) => Some(end).filter(|end| *end < rest.len()),
            None => rest.iter().position(|byte| *byte == separator),
        };
        match end {
            Some(end) if segments.len() + 1 < DEEPEST => {
                segments.push(Segment { place: at..at + end, separator: Some(separator) });
                at += end + 1;
            }
            _ => {
                segments.push(Segment { place: at..key.len(), separator: None });
                return segments;
            }
        }
    }
}

/// The end of the IPv6 address that a text begins with.
fn address(text: &[u8]) -> Option<usize> {
    let hex = text.iter().take(5).all(|byte| byte.is_ascii_hexdigit() || *byte == b':');
    let colons = text.iter().take(39).filter(|byte| **byte == b':').count();
    if !hex || colons < 2 {
        return None;
    }
    let ends = |end: &usize| text.get(*end).is_none_or(|byte| *byte == b':');
    let longest =
        keyward_pattern::raw_ipv6(text).map(|(end, _)| end + network(&text[end..])).find(ends)?;
    // `1::2` may be a number and an empty segment: an address has a letter, or several groups.
    let groups = text[..longest].split(|byte| *byte == b':').filter(|it| !it.is_empty()).count();
    let is_network = text[..longest].contains(&b'/');
    ((groups >= 3 || is_network) && whole(&text[..longest]) == Some(Form::RawIp)).then_some(longest)
}

/// The length of a network's size behind its address: `/56`.
pub(crate) fn network(text: &[u8]) -> usize {
    match text {
        [b'/', digits @ ..] => match digits.iter().take_while(|it| it.is_ascii_digit()).count() {
            len @ 1..=3 => 1 + len,
            _ => 0,
        },
        _ => 0,
    }
}

/// What separates segments, in the order in which they are preferred.
const SEPARATORS: [u8; 5] = [b':', b'|', b'/', b'.', b'#'];
/// What separates words where nothing else does.
const JOINTS: [u8; 2] = [b'-', b'_'];

/// The separator at which a key is cut: the keyspace's own if the key has it, otherwise the first that it has.
pub(crate) fn separator(key: &[u8], main: u8) -> u8 {
    let key = outside_addresses(key);
    if key.contains(&main) {
        return main;
    }
    let first = |set: &[u8]| key.iter().copied().find(|byte| set.contains(byte));
    first(&SEPARATORS).or_else(|| first(&JOINTS)).unwrap_or(main)
}

/// The separator of a keyspace: the one that most keys have, where the earlier of two is preferred.
pub(crate) fn main_separator<'k>(keys: impl Iterator<Item = &'k [u8]>) -> u8 {
    let mut counts = [0u64; SEPARATORS.len()];
    for key in keys {
        let key = outside_addresses(key);
        for (count, separator) in counts.iter_mut().zip(SEPARATORS) {
            *count += u64::from(key.contains(&separator));
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    // A separator that nearly as many keys have wins if it comes first.
    let at = counts.iter().position(|count| *count * 4 >= most * 3 && most > 0).unwrap_or(0);
    SEPARATORS[at]
}

/// What a key has besides mail addresses: their dots and hyphens separate nothing.
fn outside_addresses(key: &[u8]) -> Cow<'_, [u8]> {
    if !key.contains(&b'@') && !key.windows(3).any(|it| it == b"%40") {
        return Cow::Borrowed(key);
    }
    let others = atoms(key).into_iter().filter(|atom| atom.form != Some(Form::Email));
    Cow::Owned(others.flat_map(|atom| key[atom.place].iter().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(key: &str) -> Vec<&str> {
        let separator = separator(key.as_bytes(), b':');
        cut(key.as_bytes(), separator).into_iter().map(|it| &key[it.place]).collect()
    }

    #[test]
    fn keys_are_cut_at_their_own_separator() {
        assert_eq!(pieces("user:42:cart"), ["user", "42", "cart"]);
        assert_eq!(pieces("a::b:"), ["a", "", "b", ""]);
        assert_eq!(pieces("page:/docs/x"), ["page", "/docs/x"]);
        assert_eq!(pieces("app/users/7"), ["app", "users", "7"]);
        assert_eq!(pieces("_kombu.binding.celery"), ["_kombu", "binding", "celery"]);
        assert_eq!(pieces("celery-task-meta"), ["celery", "task", "meta"]);
        assert_eq!(pieces("rl:2001:db8::1:1m"), ["rl", "2001:db8::1", "1m"]);
        let task = "celery-task-meta-550e8400-e29b-41d4-a716-446655440000";
        assert_eq!(pieces(task)[3], "550e8400-e29b-41d4-a716-446655440000");
        assert_eq!(pieces("rl:2001:db8:60::/56"), ["rl", "2001:db8:60::/56"]);
        assert_eq!(pieces("box/a.b@c.org/1"), ["box", "a.b@c.org", "1"]);
        assert_eq!(pieces("plain"), ["plain"]);
        assert_eq!(pieces(""), [""]);
    }
}
