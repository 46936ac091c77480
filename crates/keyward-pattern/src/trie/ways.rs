//! Which of many types at one place of the tree can match a text, by what their words begin with.
//!
//! A pattern whose separator is not the keyspace's is one segment, so that hundreds of them hang on one node. Tried one
//! after another, 400 of them cost microseconds a key; a search for what the text begins with, a binary one, hardly
//! depends on how many there are.

use super::{Edge, NONE};
use crate::path::Segment;
use std::ops::Range;

/// Up to so many types are tried one after another.
const FEW: usize = 4;

/// How many bytes of a beginning count.
const MOST: usize = 64;

/// The types that lead on from a node.
#[derive(Debug)]
pub(super) struct Ways {
    edges: Range<u32>,
    /// Their beginnings, sorted; none for a few types
    beginnings: Range<u32>,
}

/// The types of all nodes.
#[derive(Debug, Default)]
pub(super) struct AllWays {
    edges: Vec<Edge>,
    beginnings: Vec<Beginning>,
}

/// What all words of some types begin with.
#[derive(Debug)]
struct Beginning {
    text: Box<[u8]>,
    edges: Range<u32>,
    /// The longest other one that it begins with
    shorter: u32,
}

impl AllWays {
    /// Adds the types of a node, the narrower ones first.
    pub(super) fn add(&mut self, ways: Vec<(&Segment, Edge)>) -> Ways {
        let start = len(&self.edges);
        if ways.len() <= FEW {
            self.edges.extend(ways.into_iter().map(|(_, edge)| edge));
            return Ways { edges: start..len(&self.edges), beginnings: 0..0 };
        }
        let mut sorted: Vec<(Vec<u8>, Edge)> =
            ways.into_iter().map(|(segment, edge)| (beginning(segment), edge)).collect();
        // Stable: of those with the same beginning the narrower ones stay first.
        sorted.sort_by(|(left, _), (right, _)| left.cmp(right));
        let first = len(&self.beginnings);
        for (text, edge) in sorted {
            let number = len(&self.edges);
            self.edges.push(edge);
            let own = &mut self.beginnings[first as usize..];
            match own.last_mut() {
                Some(last) if *last.text == *text => last.edges.end += 1,
                _ => {
                    let last = own.len().checked_sub(1).map_or(NONE, |_| len(&self.beginnings) - 1);
                    let shorter = self.shortened(last, &text);
                    let edges = number..number + 1;
                    self.beginnings.push(Beginning { text: text.into(), edges, shorter });
                }
            }
        }
        Ways { edges: start..len(&self.edges), beginnings: first..len(&self.beginnings) }
    }

    /// The types of a node that may match a text, in groups; narrower ones come before those that hold them, since all
    /// words of a narrower one begin as those of the wider one do.
    #[inline]
    pub(super) fn of(&self, ways: &Ways, text: &[u8]) -> Groups<'_> {
        if ways.beginnings.is_empty() {
            return Groups { all: self, few: Some(ways.edges.clone()), next: NONE };
        }
        Groups { all: self, few: None, next: self.search(ways, text) }
    }

    /// The longest beginning that a text has.
    fn search(&self, ways: &Ways, text: &[u8]) -> u32 {
        let own = ways.beginnings.start as usize..ways.beginnings.end as usize;
        let not_behind = self.beginnings[own].partition_point(|it| *it.text <= *text);
        let last = u32::try_from(not_behind).ok().and_then(|count| count.checked_sub(1));
        last.map_or(NONE, |last| self.shortened(ways.beginnings.start + last, text))
    }

    /// The longest beginning that a text has, if none behind this one has it: whatever such a text begins with, this
    /// one begins with, too.
    fn shortened(&self, from: u32, text: &[u8]) -> u32 {
        let mut at = from;
        while at != NONE && !text.starts_with(&self.beginnings[at as usize].text) {
            at = self.beginnings[at as usize].shorter;
        }
        at
    }
}

/// The types of a node that may match a text.
pub(super) struct Groups<'w> {
    all: &'w AllWays,
    few: Option<Range<u32>>,
    next: u32,
}

impl<'w> Iterator for Groups<'w> {
    type Item = &'w [Edge];

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let range = if let Some(few) = self.few.take() {
            few
        } else {
            let beginning = self.all.beginnings.get(self.next as usize)?;
            self.next = beginning.shorter;
            beginning.edges.clone()
        };
        Some(&self.all.edges[range.start as usize..range.end as usize])
    }
}

/// What all words of a segment begin with.
fn beginning(segment: &Segment) -> Vec<u8> {
    segment.nfa().map_or(Vec::new(), |nfa| nfa.beginning(MOST))
}

fn len<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(NONE)
}

#[cfg(test)]
mod tests {
    use crate::{Keyspace, Template};

    fn keyspace(patterns: &[String]) -> Keyspace {
        let mut builder = Keyspace::builder(':').unwrap();
        for pattern in patterns {
            builder.define(pattern, &Template::parse(pattern).unwrap(), |_| None);
        }
        builder.finish().unwrap()
    }

    #[test]
    fn among_many_types_the_narrower_one_is_found_first() {
        let words = ["", "a", "ab", "ab-", "abc", "b", "ba-"];
        let mut patterns: Vec<String> = words.map(|word| format!("{word}{{x}}")).to_vec();
        patterns.push("ab{x:slug}".to_owned());
        patterns.push("{x:uint}".to_owned());
        patterns.push("{x:alnum}{y:digits(2)}".to_owned());
        let keyspace = keyspace(&patterns);
        for (key, pattern) in [
            ("zz", "{x}"),
            ("a-", "a{x}"),
            ("ab7", "ab{x:slug}"),
            ("ab!", "ab{x}"),
            ("ab-c", "ab-{x}"),
            ("abc", "ab{x:slug}"),
            ("abcd", "abc{x}"),
            ("b", "{x}"),
            ("ba-a", "ba-{x}"),
            ("42", "{x:uint}"),
            ("z42", "{x:alnum}{y:digits(2)}"),
        ] {
            let found = keyspace.classify(key.as_bytes()).unwrap();
            assert_eq!(keyspace.definition(found).name(), pattern, "{key}");
        }
        assert_eq!(keyspace.classify(b""), None);
    }

    /// Words may have more in common than the text before their parameter.
    #[test]
    fn a_beginning_is_what_all_words_have_in_common() {
        let mut patterns: Vec<String> =
            ["k", "l", "m", "n", "o-"].map(|it| format!("{it}{{x}}")).to_vec();
        patterns.push("{x:uuid}-{y:uint}".to_owned());
        let one = "{x}".to_owned();
        let mut builder = Keyspace::builder(':').unwrap();
        for pattern in patterns.iter().chain([&one]) {
            builder.define(pattern, &Template::parse(pattern).unwrap(), |_| {
                (*pattern == one)
                    .then(|| crate::Type::Enum(vec!["o-1".to_owned(), "o-12".to_owned()]).into())
            });
        }
        let keyspace = builder.finish().unwrap();
        let name =
            |key: &str| keyspace.classify(key.as_bytes()).map(|id| keyspace.definition(id).name());
        assert_eq!(name("o-1"), Some("{x}"));
        assert_eq!(name("o-2"), Some("o-{x}"));
        assert_eq!(name("o-"), None);
    }
}
