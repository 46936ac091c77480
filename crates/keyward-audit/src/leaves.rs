//! Groups of undeclared keys from several observers, put together and made fit to be shown.
//!
//! In a report, a word of a group is written `user#9f2c41d07b3e8a55:`, with a salted hash behind it. A word
//! that is perhaps the name of a person has lost its text, and only the hash tells it from others:
//! `#9f2c41d07b3e8a55:`.

use crate::hash::Salt;
use crate::infer::{MOST_WORDS, WORD, is_word, joined};
use crate::report::Leaf;
use crate::segment::Kind;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

const SEPARATORS: [char; 3] = [':', '/', '|'];

impl Leaf {
    /// Gives every word its hash, but those that a schema has.
    pub(crate) fn mark(&mut self, salt: Salt, known: &HashSet<String>) {
        for segment in self.segments.iter_mut().filter(|segment| is_word(segment)) {
            let (word, separator) = cut(segment);
            if known.contains(word) {
                continue;
            }
            *segment = format!("{word}#{:016x}{separator}", salt.hash(word.as_bytes()));
        }
    }

    /// The pattern, if these are its segments as they are shown.
    pub(crate) fn pattern(&self) -> String {
        if self.segments.is_empty() { "(an empty key)".to_owned() } else { self.segments.concat() }
    }

    /// Hides what stands for a value in these segments.
    fn hide(&mut self, shown: &[String]) {
        let hidden = |key: &str| {
            let mut text = String::new();
            for (at, segment) in key.split_inclusive(SEPARATORS).enumerate() {
                match shown.get(at).or(shown.last()) {
                    Some(pattern) if pattern.starts_with('<') && !segment.contains('#') => {
                        text.push_str(pattern);
                    }
                    _ => text.push_str(segment),
                }
            }
            text
        };
        self.examples.iter_mut().for_each(|example| example.key = hidden(&example.key));
        self.facts.biggest.iter_mut().for_each(|big| big.key = hidden(&big.key));
    }
}

/// Puts together what several observers saw: the same groups, and words that are too many.
pub(crate) fn unite(mut leaves: Vec<Leaf>, top: usize) -> Vec<Leaf> {
    let mut texts: HashMap<String, String> = HashMap::new();
    for segment in leaves.iter().flat_map(|leaf| &leaf.segments) {
        if let Some((word, hash)) = marked(segment).filter(|(word, _)| !word.is_empty()) {
            texts.insert(hash.to_owned(), word.to_owned());
        }
    }
    for segment in leaves.iter_mut().flat_map(|leaf| &mut leaf.segments) {
        if let Some(("", hash)) = marked(segment)
            && let Some(word) = texts.get(hash)
        {
            *segment = format!("{word}{segment}");
        }
    }
    let deepest = leaves.iter().map(|leaf| leaf.segments.len()).max().unwrap_or(0);
    for depth in 0..deepest {
        for places in places(&leaves, depth, |leaf| {
            leaf.segments[..depth].iter().map(|it| name(it)).collect()
        }) {
            let names: BTreeSet<&str> = places
                .iter()
                .map(|at| leaves[*at].segments[depth].as_str())
                .filter(|segment| marked(segment).is_some())
                .map(name)
                .collect();
            let any = places.iter().any(|at| leaves[*at].segments[depth].starts_with(WORD));
            if any || names.len() > MOST_WORDS {
                for at in places {
                    let segment = &mut leaves[at].segments[depth];
                    if marked(segment).is_some() {
                        *segment = joined(segment);
                    }
                }
            }
        }
    }
    gather(leaves, top)
}

/// The groups as they are shown. Words that only few keys have each are put together: they are values, and
/// perhaps names of people.
pub(crate) fn show(leaves: &[Leaf], top: usize, revealed: bool) -> Vec<Leaf> {
    let paths = shown(leaves);
    let shown = leaves.iter().zip(paths).map(|(leaf, path)| {
        let mut leaf = leaf.clone();
        if !revealed {
            leaf.hide(&path);
        }
        leaf.segments = path;
        leaf
    });
    gather(shown.collect(), top)
}

/// Takes the text from words that are not shown.
pub(crate) fn redact(leaves: &mut [Leaf]) {
    let paths = shown(leaves);
    for (leaf, path) in leaves.iter_mut().zip(paths) {
        leaf.hide(&path);
        for (segment, shown) in leaf.segments.iter_mut().zip(&path) {
            if shown.starts_with('<')
                && let Some(at) = segment.find('#')
            {
                segment.replace_range(..at, "");
            }
        }
    }
}

/// The segments of each leaf as they are shown.
fn shown(leaves: &[Leaf]) -> Vec<Vec<String>> {
    let mut paths: Vec<Vec<String>> = vec![Vec::new(); leaves.len()];
    let deepest = leaves.iter().map(|leaf| leaf.segments.len()).max().unwrap_or(0);
    for depth in 0..deepest {
        let mut together: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
        for (at, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| leaf.segments.len() > depth)
        {
            let _ = leaf;
            together.entry(paths[at].clone()).or_default().push(at);
        }
        for places in together.into_values() {
            let hidden = few(leaves, &places, depth);
            for at in places {
                let segment = leaves[at].segments[depth].as_str();
                let text = match marked(segment) {
                    None => segment.to_owned(),
                    Some((word, _)) if !word.is_empty() && !hidden.contains(name(segment)) => {
                        format!("{word}{}", cut(segment).1)
                    }
                    Some(_) => format!("<{}>{}", Kind::Text.word(), cut(segment).1),
                };
                paths[at].push(text);
            }
        }
    }
    paths
}

/// The words at one place that only few keys have.
fn few<'l>(leaves: &'l [Leaf], places: &[usize], depth: usize) -> BTreeSet<&'l str> {
    /// With fewer keys than this a word says little.
    const FEW: u64 = 3;
    /// With fewer keys than this and the same below them, many words are a value.
    const SOME: u64 = 16;
    const MANY: usize = 4;
    let mut words: BTreeMap<&str, (u64, BTreeSet<Vec<&str>>)> = BTreeMap::new();
    for at in places {
        let leaf = &leaves[*at];
        let segment = leaf.segments[depth].as_str();
        if marked(segment).is_some() {
            let (keys, below) = words.entry(name(segment)).or_default();
            *keys += leaf.facts.keys;
            below.insert(leaf.segments[depth + 1..].iter().map(|it| name(it)).collect());
        }
    }
    let mut hidden: BTreeSet<&str> =
        words.iter().filter(|(_, (keys, _))| *keys < FEW).map(|(name, _)| *name).collect();
    if hidden.len() < 2 {
        hidden.clear();
    }
    let mut alike: BTreeMap<&BTreeSet<Vec<&str>>, Vec<&'l str>> = BTreeMap::new();
    for (name, (_, below)) in words.iter().filter(|(_, (keys, _))| *keys < SOME) {
        alike.entry(below).or_default().push(name);
    }
    hidden.extend(alike.into_values().filter(|names| names.len() >= MANY).flatten());
    hidden
}

/// The leaves that share what stands before a depth.
fn places<'l>(
    leaves: &'l [Leaf],
    depth: usize,
    before: impl Fn(&'l Leaf) -> Vec<&'l str>,
) -> Vec<Vec<usize>> {
    let mut together: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
    for (at, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| leaf.segments.len() > depth) {
        together.entry(before(leaf)).or_default().push(at);
    }
    together.into_values().collect()
}

/// Merges leaves with the same segments, and sorts them.
fn gather(leaves: Vec<Leaf>, top: usize) -> Vec<Leaf> {
    let mut all: BTreeMap<Vec<String>, Leaf> = BTreeMap::new();
    for leaf in leaves {
        let path = leaf.segments.iter().map(|segment| name(segment).to_owned()).collect();
        match all.entry(path) {
            std::collections::btree_map::Entry::Occupied(known) => {
                known.into_mut().merge(&leaf, top);
            }
            std::collections::btree_map::Entry::Vacant(free) => {
                free.insert(leaf);
            }
        }
    }
    all.into_values().collect()
}

/// A segment without the separator at its end, and the separator.
fn cut(segment: &str) -> (&str, &str) {
    let inside = segment.trim_end_matches(SEPARATORS);
    segment.split_at(inside.len())
}

/// The text and the hash of a word; `None` for a value.
fn marked(segment: &str) -> Option<(&str, &str)> {
    cut(segment).0.split_once('#')
}

/// Whether a segment as it is shown stands for any word, and another for one or for any.
pub(crate) fn is_free(wide: &str, narrow: &str) -> bool {
    let ((wide, separator), (narrow, end)) = (cut(wide), cut(narrow));
    let any = |segment: &str| segment == WORD || segment == format!("<{}>", Kind::Text.word());
    separator == end && any(wide) && (any(narrow) || is_word(narrow))
}

/// What tells a segment from others: a word's text, or its hash where that is all there is.
fn name(segment: &str) -> &str {
    match segment.find('#') {
        Some(0) | None => segment,
        Some(at) => &segment[..at],
    }
}
