//! All patterns of a keyspace as one tree over segments: literals by hash, types by automaton.
//!
//! Own code because of its speed: one pass over the key, hardly any growth with the number of
//! patterns. A dense automaton of the union of all patterns took twice the time at 13 patterns and
//! six times at 1,000, `RegexSet` three and fifteen times.

mod growing;
mod literals;

pub(crate) use growing::Growing;

use crate::automaton::{Dfa, TooLarge};
use crate::language::Language;
use crate::path::{Segment, find};
use literals::{LiteralTable, Word};
use std::ops::Range;
use std::sync::Arc;

const NONE: u32 = u32::MAX;

/// The tree, laid out for walking.
#[derive(Debug)]
pub(crate) struct Trie {
    separator: u8,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    matchers: Vec<Matcher>,
    literals: LiteralTable,
}

/// A place in the tree, one cache line: with a thousand patterns the way down is mostly waiting
/// for memory. What most nodes have, one literal or one type, stands in the node itself.
#[derive(Debug)]
#[repr(align(64))]
struct Node {
    literals: Literals,
    /// The first of `edges`, if there is one and nothing else
    only_edge: Option<Edge>,
    /// Types that lead on, the narrower ones first
    edges: Range<u32>,
    /// Types that take the rest of the key, likewise
    rests: Range<u32>,
    /// The path that ends here
    end: u32,
}

/// The literals that lead on from a node.
#[derive(Debug)]
enum Literals {
    None,
    One(Word, Target),
    /// In the table
    Many,
}

#[derive(Debug, Clone, Copy)]
struct Edge {
    matcher: u32,
    to: Target,
}

/// Where a step leads: to a node, or to a path that ends there with nothing going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Target(u32);

impl Target {
    const PATH: u32 = 1 << 31;

    fn path(number: u32) -> Self {
        Target(number | Target::PATH)
    }
}

/// What a segment with at least one parameter may be.
#[derive(Debug)]
pub(crate) enum Matcher {
    Single {
        before: Box<[u8]>,
        language: Arc<Language>,
        after: Box<[u8]>,
    },
    Several(Box<Dfa>),
    /// Several parameters whose automaton would be too large: followed reading by reading
    Many(Segment),
}

impl Trie {
    /// The path that the key belongs to; where several do, the one that is narrower at the first
    /// place where they differ.
    #[inline]
    pub(crate) fn find(&self, key: &[u8]) -> Option<u32> {
        self.walk(Target(0), key, 0)
    }

    fn walk(&self, mut at: Target, key: &[u8], mut start: usize) -> Option<u32> {
        loop {
            let node = self.nodes.get(at.0 as usize)?;
            let end = start + find(self.separator, &key[start..]);
            let segment = &key[start..end];
            let literal = match &node.literals {
                Literals::None => None,
                Literals::One(word, to) => word.is(segment).then_some(*to),
                Literals::Many => self.literals.get(at.0, segment),
            };
            // With a single way on there is nothing to come back to.
            let only = match (literal, node.only_edge) {
                (None, Some(edge)) if self.matchers[edge.matcher as usize].matches(segment) => {
                    edge.to
                }
                (None, Some(_)) => return None,
                (Some(to), None) if node.edges.is_empty() && node.rests.is_empty() => to,
                _ => return self.branch(node, literal, key, start..end),
            };
            if end == key.len() {
                return self.end(only);
            }
            at = only;
            start = end + 1;
        }
    }

    /// Tries each way on in turn. A node is reached at one place of the key only, so that no node
    /// is entered twice for one key.
    fn branch(
        &self,
        node: &Node,
        literal: Option<Target>,
        key: &[u8],
        segment: Range<usize>,
    ) -> Option<u32> {
        let go_on = |to: Target| {
            if segment.end == key.len() {
                self.end(to)
            } else {
                self.walk(to, key, segment.end + 1)
            }
        };
        if let Some(found) = literal.and_then(go_on) {
            return Some(found);
        }
        for edge in self.edges(&node.edges) {
            if self.matchers[edge.matcher as usize].matches(&key[segment.clone()])
                && let Some(found) = go_on(edge.to)
            {
                return Some(found);
            }
        }
        let mut rests = self.edges(&node.rests).iter();
        let rest = rests
            .find(|edge| self.matchers[edge.matcher as usize].matches(&key[segment.start..]))?;
        self.end(rest.to)
    }

    fn edges(&self, range: &Range<u32>) -> &[Edge] {
        &self.edges[range.start as usize..range.end as usize]
    }

    /// The path that ends at a target.
    #[inline]
    fn end(&self, target: Target) -> Option<u32> {
        if target.0 & Target::PATH != 0 {
            return Some(target.0 & !Target::PATH);
        }
        let path = self.nodes[target.0 as usize].end;
        (path != NONE).then_some(path)
    }
}

impl Matcher {
    fn new(segment: &Segment) -> Self {
        if let Some((before, language, after)) = segment.single() {
            return Matcher::Single {
                before: before.into_bytes().into(),
                language: language.clone(),
                after: after.into_bytes().into(),
            };
        }
        match segment.dfa() {
            Ok(dfa) => Matcher::Several(Box::new(dfa)),
            Err(TooLarge) => Matcher::Many(segment.clone()),
        }
    }

    #[inline]
    fn matches(&self, segment: &[u8]) -> bool {
        match self {
            Matcher::Single { before, language, after } => {
                if before.is_empty() && after.is_empty() {
                    return language.matches(segment);
                }
                segment
                    .strip_prefix(&**before)
                    .and_then(|rest| rest.strip_suffix(&**after))
                    .is_some_and(|inside| language.matches(inside))
            }
            Matcher::Several(dfa) => dfa.matches(segment),
            Matcher::Many(pieces) => pieces.matches(segment),
        }
    }
}
