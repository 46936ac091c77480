//! All patterns of a keyspace as one tree over segments: literals by hash, types by automaton.
//!
//! Own code because of its speed: one pass over the key, hardly any growth with the number of
//! patterns. A dense automaton of the union of all patterns took twice the time at 13 patterns and
//! six times at 1,000, `RegexSet` three and fifteen times.

mod growing;
mod literals;

pub(crate) use growing::{Growing, GrowingNode};

use crate::automaton::{Dfa, TooLarge};
use crate::language::Language;
use crate::path::Segment;
use crate::split::Split;
use literals::{LiteralTable, Word};
use std::ops::Range;
use std::sync::Arc;

const NONE: u32 = u32::MAX;

/// The tree, laid out for walking.
#[derive(Debug)]
pub(crate) struct Trie {
    separator: u8,
    nodes: Vec<Node>,
    branches: Vec<Branch>,
    edges: Vec<Edge>,
    matchers: Vec<Matcher>,
    literals: LiteralTable,
}

/// A place in the tree. With a thousand patterns the way down is mostly waiting for memory, so
/// that nodes are small, and one that a path has to itself says where it leads without a look
/// elsewhere.
#[derive(Debug)]
enum Node {
    /// One literal leads on, nothing else
    Literal(Word, Target),
    /// One type leads on, nothing else
    Edge(Edge),
    /// Everything else
    Branch(u32),
}

/// A place with several ways on, or where a path ends although others go on.
#[derive(Debug)]
struct Branch {
    /// Whether literals lead on, which the table knows
    literals: bool,
    /// Types that lead on, the narrower ones first
    edges: Range<u32>,
    /// Types that take the rest of the key, likewise
    rests: Range<u32>,
    /// The path that ends here
    end: u32,
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

/// How far down a key a walk is.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: usize,
    /// The number of the segment that begins there
    segment: usize,
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
    pub(crate) fn find(&self, key: &[u8], split: &Split) -> Option<u32> {
        debug_assert_eq!(split.separator(), self.separator);
        self.walk(Target(0), key, split, Place { start: 0, segment: 0 })
    }

    fn walk(&self, mut at: Target, key: &[u8], split: &Split, place: Place) -> Option<u32> {
        let Place { mut start, segment: mut nth } = place;
        loop {
            let node = self.nodes.get(at.0 as usize)?;
            let end = split.end(nth, key, start);
            let segment = &key[start..end];
            let to = match node {
                Node::Literal(word, to) => word.is(segment).then_some(*to)?,
                Node::Edge(edge) => self.matches(*edge, segment).then_some(edge.to)?,
                Node::Branch(number) => {
                    let branch = &self.branches[*number as usize];
                    let literal =
                        branch.literals.then(|| self.literals.get(at.0, segment)).flatten();
                    match literal {
                        // With a single way on there is nothing to come back to.
                        Some(to) if branch.edges.is_empty() && branch.rests.is_empty() => to,
                        _ => {
                            let next = Place { start: end + 1, segment: nth + 1 };
                            return self.branch(branch, literal, key, split, start..end, next);
                        }
                    }
                }
            };
            if end == key.len() {
                return self.end(to);
            }
            at = to;
            start = end + 1;
            nth += 1;
        }
    }

    /// Tries each way on in turn. A node is reached at one place of the key only, so that no node
    /// is entered twice for one key.
    fn branch(
        &self,
        branch: &Branch,
        literal: Option<Target>,
        key: &[u8],
        split: &Split,
        segment: Range<usize>,
        next: Place,
    ) -> Option<u32> {
        let go_on = |to: Target| {
            if segment.end == key.len() { self.end(to) } else { self.walk(to, key, split, next) }
        };
        if let Some(found) = literal.and_then(go_on) {
            return Some(found);
        }
        for edge in self.edges(&branch.edges) {
            if self.matches(*edge, &key[segment.clone()])
                && let Some(found) = go_on(edge.to)
            {
                return Some(found);
            }
        }
        let mut rests = self.edges(&branch.rests).iter();
        let rest = rests.find(|edge| self.matches(**edge, &key[segment.start..]))?;
        self.end(rest.to)
    }

    #[inline]
    fn matches(&self, edge: Edge, segment: &[u8]) -> bool {
        self.matchers[edge.matcher as usize].matches(segment)
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
        match self.nodes[target.0 as usize] {
            Node::Branch(number) => {
                let path = self.branches[number as usize].end;
                (path != NONE).then_some(path)
            }
            Node::Literal(..) | Node::Edge(_) => None,
        }
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
