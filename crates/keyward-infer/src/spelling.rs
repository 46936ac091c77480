//! How the values of one place are spelt: with text before or behind them that all, or many of them, share.

use crate::form::{Form, atoms, whole as form_of};
use crate::thresholds::{Threshold, Thresholds};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Texts that share what stands before and behind a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) before: Vec<u8>,
    pub(crate) behind: Vec<u8>,
    /// The numbers of the texts
    pub(crate) members: Vec<usize>,
    /// Whether `before` is the whole text
    pub(crate) literal: bool,
}

/// Finds what the texts of a place share.
pub(crate) fn split(texts: &[&[u8]], thresholds: &Thresholds) -> Vec<Group> {
    let all: Vec<usize> = (0..texts.len()).collect();
    let mut groups = Vec::new();
    part((texts, thresholds), all, 0, 0, 0, &mut groups);
    groups
}

/// A part of values that consist of several.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Where each text has its value
    Values(Vec<Range<usize>>),
    /// What stands between two values
    Mark(u8),
}

/// The values in texts: two if each text has a value of the same form at its end, or its beginning, behind or before
/// the same punctuation, and otherwise one.
pub(crate) fn parts(texts: &[&[u8]], typed: bool, thresholds: &Thresholds) -> Vec<Part> {
    let fewest = thresholds.count(Threshold::Fewest);
    let one = || vec![Part::Values(texts.iter().map(|text| 0..text.len()).collect())];
    if typed || texts.is_empty() {
        return one();
    }
    for end in [true, false] {
        let ends: Option<Vec<(usize, Form, u8)>> =
            texts.iter().map(|text| typed_end(text, end)).collect();
        let Some(ends) = ends else { continue };
        let (_, form, mark) = ends[0];
        let alike = |(_, own, between): &(usize, Form, u8)| {
            *between == mark && std::mem::discriminant(own) == std::mem::discriminant(&form)
        };
        let places = texts.iter().zip(&ends).map(|(text, (at, ..))| (0..*at, at + 1..text.len()));
        let (heads, tails): (Vec<_>, Vec<_>) = places.unzip();
        let distinct = |places: &[Range<usize>]| {
            texts
                .iter()
                .zip(places)
                .map(|(text, place)| &text[place.clone()])
                .collect::<BTreeSet<_>>()
                .len()
        };
        if ends.iter().all(alike) && distinct(&heads) >= fewest && distinct(&tails) >= fewest {
            return vec![Part::Values(heads), Part::Mark(mark), Part::Values(tails)];
        }
    }
    one()
}

/// Where the punctuation is that parts a value of a typical form from the rest of a text, that form, and the punctuation.
fn typed_end(text: &[u8], end: bool) -> Option<(usize, Form, u8)> {
    let atoms = atoms(text);
    let (value, mark) = match &atoms[..] {
        [_, .., mark, value] if end => (value, mark),
        [value, mark, .., _] if !end => (value, mark),
        _ => return None,
    };
    let form = value.form.or_else(|| form_of(&text[value.place.clone()]))?;
    // Numbers are parts of many names.
    let is_typical = !matches!(form, Form::Opaque | Form::Span | Form::Number);
    let mark = mark.place.start..mark.place.end;
    match &text[mark.clone()] {
        [byte] if is_typical && byte.is_ascii_punctuation() => Some((mark.start, form, *byte)),
        _ => None,
    }
}

/// All of so many texts, which share nothing.
pub(crate) fn whole(texts: usize) -> Vec<Group> {
    let members = (0..texts).collect();
    vec![Group { before: Vec::new(), behind: Vec::new(), members, literal: false }]
}

/// Parts texts by what stands before or behind the value, from which `before` and `behind` bytes are known.
fn part(
    (texts, thresholds): (&[&[u8]], &Thresholds),
    members: Vec<usize>,
    before: usize,
    behind: usize,
    depth: usize,
    groups: &mut Vec<Group>,
) {
    let fewest = thresholds.count(Threshold::Fewest);
    let inside = |member: &usize| &texts[*member][before..texts[*member].len() - behind];
    let distinct: BTreeSet<&[u8]> = members.iter().map(inside).collect();
    let whole = |members: Vec<usize>, literal: bool| {
        let text = texts[members[0]];
        let (end, tail) =
            if literal { (text.len(), text.len()) } else { (before, text.len() - behind) };
        Group { before: text[..end].to_vec(), behind: text[tail..].to_vec(), members, literal }
    };
    if distinct.len() < fewest || depth > 8 {
        groups.push(whole(members, false));
        return;
    }
    if let Some((head, tail)) = shared(&distinct) {
        part((texts, thresholds), members, before + head, behind + tail, depth + 1, groups);
        return;
    }
    let own: Vec<&[u8]> = distinct.iter().copied().collect();
    if parts(&own, false, thresholds).len() > 1 {
        groups.push(whole(members, false));
        return;
    }
    let deep = deep(&distinct, fewest);
    if !deep.is_empty() {
        let mut others = Vec::new();
        let mut apart: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for member in members {
            let text = inside(&member);
            match deep.iter().find(|start| text.starts_with(start) && text.len() > start.len()) {
                Some(start) => apart.entry(start).or_default().push(member),
                None => others.push(member),
            }
        }
        for (start, members) in apart {
            part((texts, thresholds), members, before + start.len(), behind, depth + 1, groups);
        }
        let mut by_text: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for member in others {
            by_text.entry(inside(&member)).or_default().push(member);
        }
        if by_text.len() >= fewest {
            let others = by_text.into_values().flatten().collect();
            part((texts, thresholds), others, before, behind, depth + 1, groups);
        } else {
            groups.extend(by_text.into_values().map(|members| whole(members, true)));
        }
        return;
    }
    for (end, of) in [(false, head as fn(&[u8]) -> usize), (true, tail)] {
        let Some(ends) = strong(&distinct, of, end, thresholds) else { continue };
        let mut apart: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        let mut others = Vec::new();
        for member in members {
            let text = inside(&member);
            let len = of(text);
            let own = if end { &text[text.len() - len..] } else { &text[..len] };
            match ends.get(own) {
                Some(own) => apart.entry(own).or_default().push(member),
                None => others.push(member),
            }
        }
        for (own, members) in apart {
            let (head, tail) = if end { (0, own.len()) } else { (own.len(), 0) };
            part((texts, thresholds), members, before + head, behind + tail, depth + 1, groups);
        }
        let mut by_text: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for member in others {
            by_text.entry(inside(&member)).or_default().push(member);
        }
        if by_text.len() >= fewest {
            groups.push(whole(by_text.into_values().flatten().collect(), false));
        } else {
            groups.extend(by_text.into_values().map(|members| whole(members, true)));
        }
        return;
    }
    groups.push(whole(members, false));
}

/// What all texts begin and end with, up to punctuation, or up to where digits follow letters.
fn shared(texts: &BTreeSet<&[u8]>) -> Option<(usize, usize)> {
    let first = texts.first()?;
    let shortest = texts.iter().map(|text| text.len()).min()?;
    let mut head = shortest;
    let mut tail = shortest;
    for text in texts {
        head = head.min(first.iter().zip(*text).take_while(|(a, b)| a == b).count());
        tail =
            tail.min(first.iter().rev().zip(text.iter().rev()).take_while(|(a, b)| a == b).count());
    }
    // The texts are sorted, but not by their ends.
    let glued = |at: usize| {
        at > 0
            && first[at - 1].is_ascii_alphabetic()
            && texts.iter().all(|text| text.len() > at && text[at..].iter().all(u8::is_ascii_digit))
    };
    let fixed = |at: usize| {
        let len = first.len() - at;
        at > 0
            && len >= 16
            && first[..at].iter().all(u8::is_ascii_alphabetic)
            && texts
                .iter()
                .all(|text| text.len() - at == len && text[at..].iter().all(u8::is_ascii_hexdigit))
    };
    while head > 0 && !is_joint(first[head - 1]) && !glued(head) && !fixed(head) {
        head -= 1;
    }
    while tail > 0 && !is_joint(first[first.len() - tail]) {
        tail -= 1;
    }
    if head + tail >= shortest {
        tail = 0;
    }
    // What is left must not be empty, nor a value of numbers lose a sign.
    (head + tail > 0 && head + tail < shortest).then_some((head, tail))
}

/// Beginnings of at least two words that enough texts share, if others do not have them.
fn deep<'t>(texts: &BTreeSet<&'t [u8]>, fewest: usize) -> Vec<&'t [u8]> {
    let mut heads: BTreeMap<&[u8], Vec<&'t [u8]>> = BTreeMap::new();
    for text in texts {
        let len = head(text);
        if len > 0 && len < text.len() {
            heads.entry(&text[..len]).or_default().push(text);
        }
    }
    let start = |texts: Vec<&'t [u8]>| {
        let first = *texts.first()?;
        let shared = texts.iter().map(|text| {
            first.iter().zip(*text).take_while(|(ours, theirs)| ours == theirs).count()
        });
        let mut len = shared.min()?;
        while len > 0 && !is_joint(first[len - 1]) {
            len -= 1;
        }
        let words = first[..len].split(|byte| is_joint(*byte)).filter(|word| !word.is_empty());
        let enough = texts.len() >= fewest && texts.iter().all(|text| text.len() > len);
        (enough && words.count() >= 2).then(|| &first[..len])
    };
    heads.into_values().filter_map(start).collect()
}

/// Beginnings, or ends, that enough texts share, if nearly all texts have one of them.
#[allow(clippy::cast_precision_loss, reason = "a share")]
fn strong<'t>(
    texts: &BTreeSet<&'t [u8]>,
    of: fn(&[u8]) -> usize,
    end: bool,
    thresholds: &Thresholds,
) -> Option<BTreeSet<&'t [u8]>> {
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    for text in texts {
        let len = of(text);
        if len > 0 && len < text.len() {
            let own = if end { &text[text.len() - len..] } else { &text[..len] };
            *counts.entry(own).or_default() += 1;
        }
    }
    let fewest = thresholds.count(Threshold::Fewest);
    counts.retain(|_, count| *count >= fewest);
    // Codes of two letters, such as languages, are values.
    let is_code = |own: &&&[u8]| own.iter().filter(|byte| !is_joint(**byte)).count() <= 2;
    if counts.len() > 1 && counts.keys().filter(is_code).count() == counts.len() {
        return None;
    }
    let covered: usize = counts.values().sum();
    let is_strong = !counts.is_empty()
        && counts.len() <= thresholds.count(Threshold::MostHeads)
        && covered as f64 >= thresholds.of(Threshold::HeadsCover) * texts.len() as f64;
    is_strong.then(|| counts.into_keys().collect())
}

/// A first word, with the punctuation behind it.
fn head(text: &[u8]) -> usize {
    text.iter().position(|byte| is_joint(*byte)).map_or(0, |at| at + 1)
}

/// A last word, with the punctuation before it.
fn tail(text: &[u8]) -> usize {
    text.iter().rev().position(|byte| is_joint(*byte)).map_or(0, |at| at + 1)
}

fn is_joint(byte: u8) -> bool {
    byte.is_ascii_punctuation() || byte == b' '
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(texts: &[&str]) -> Vec<String> {
        let bytes: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        let show = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        let look = |group: Group| {
            let hole = if group.literal { "" } else { "*" };
            format!("{}{hole}{}", show(&group.before), show(&group.behind))
        };
        split(&bytes, &Thresholds::default()).into_iter().map(look).collect()
    }

    #[test]
    fn text_that_values_share_is_found() {
        assert_eq!(looks(&["v2_a", "v2_b", "v2_c", "v2_d", "v2_e"]), ["v2_*"]);
        assert_eq!(looks(&["user1", "user2", "user30", "user4", "user5"]), ["user*"]);
        assert_eq!(looks(&["a.png", "b.png", "c.png", "d.png", "e.png"]), ["*.png"]);
        assert_eq!(looks(&["anna", "ben", "carl", "dora", "emil"]), ["*"]);
        assert_eq!(looks(&["12", "13", "14", "15", "16"]), ["*"]);
        let names = ["anna", "ben", "carl", "dora", "emil", "fritz"];
        let carts = names.iter().map(|name| format!("cart_{name}"));
        let both: Vec<String> =
            carts.chain(names.iter().map(|name| format!("wish_{name}"))).collect();
        let both: Vec<&str> = both.iter().map(String::as_str).collect();
        assert_eq!(looks(&both), ["cart_*", "wish_*"]);
        assert_eq!(looks(&["a-first-post", "hello-world", "news", "the-end", "old"]), ["*"]);
    }
}
