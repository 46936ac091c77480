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
use literals::LiteralTable;
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

#[derive(Debug)]
struct Node {
    /// Whether literals lead on from here
    literals: bool,
    /// Types that lead on, the narrower ones first
    edges: std::ops::Range<u32>,
    /// Types that take the rest of the key, likewise
    rests: std::ops::Range<u32>,
    /// The path that ends here
    end: u32,
}

/// `to` is a node, or a path where the edge takes the rest.
#[derive(Debug)]
struct Edge {
    matcher: u32,
    to: u32,
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
        self.walk(0, key, 0)
    }

    fn walk(&self, mut at: u32, key: &[u8], mut start: usize) -> Option<u32> {
        loop {
            let node = &self.nodes[at as usize];
            let end = start + find(self.separator, &key[start..]);
            let segment = &key[start..end];
            let literal = if node.literals { self.literals.get(at, segment) } else { None };
            let ways = node.edges.end - node.edges.start + (node.rests.end - node.rests.start);
            // With a single way on there is nothing to come back to.
            let only = match literal {
                Some(child) if ways == 0 => Some(child),
                None if ways == 0 => return None,
                None if ways == 1 && node.rests.is_empty() => {
                    let edge = &self.edges[node.edges.start as usize];
                    if !self.matchers[edge.matcher as usize].matches(segment) {
                        return None;
                    }
                    Some(edge.to)
                }
                _ => None,
            };
            match only {
                Some(child) if end == key.len() => return self.end(child),
                Some(child) => {
                    at = child;
                    start = end + 1;
                }
                None => return self.branch(node, literal, key, start, end),
            }
        }
    }

    /// Tries each way on in turn. A node is reached at one place of the key only, so that no node
    /// is entered twice for one key.
    fn branch(
        &self,
        node: &Node,
        literal: Option<u32>,
        key: &[u8],
        start: usize,
        end: usize,
    ) -> Option<u32> {
        let go_on = |child: u32| {
            if end == key.len() { self.end(child) } else { self.walk(child, key, end + 1) }
        };
        if let Some(found) = literal.and_then(go_on) {
            return Some(found);
        }
        for edge in &self.edges[node.edges.start as usize..node.edges.end as usize] {
            if self.matchers[edge.matcher as usize].matches(&key[start..end])
                && let Some(found) = go_on(edge.to)
            {
                return Some(found);
            }
        }
        let mut rests = self.edges[node.rests.start as usize..node.rests.end as usize].iter();
        rests
            .find(|edge| self.matchers[edge.matcher as usize].matches(&key[start..]))
            .map(|edge| edge.to)
    }

    fn end(&self, node: u32) -> Option<u32> {
        let path = self.nodes[node as usize].end;
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
