//! All patterns of a keyspace as one tree over segments: literals by hash, types by automaton.
//!
//! Own code because of its speed: one pass over the key, hardly any growth with the number of
//! patterns. A dense automaton of the union of all patterns took twice the time at 13 patterns and
//! six times at 1,000, `RegexSet` three and fifteen times.

mod growing;
mod literals;
mod ways;

pub(crate) use growing::{Growing, GrowingNode};

use crate::automaton::{Dfa, TooLarge};
use crate::ends::Ends;
use crate::language::{Language, is_uuid};
use crate::path::{Segment, find};
use literals::{Literal, LiteralTable};
use std::sync::Arc;
use ways::{AllWays, Ways};

const NONE: u32 = u32::MAX;

/// The tree, laid out for walking.
#[derive(Debug)]
pub(crate) struct Trie {
    separator: u8,
    nodes: Vec<Node>,
    branches: Vec<Branch>,
    ways: AllWays,
    matchers: Vec<Matcher>,
    literals: LiteralTable,
}

/// A place in the tree. With a thousand patterns the way down is mostly waiting for memory, so
/// that nodes are small, and one that a path has to itself says where it leads without a look
/// elsewhere.
#[derive(Debug)]
enum Node {
    /// One literal leads on, nothing else
    Literal(Literal, Target),
    /// Several literals, which the table knows, and nothing else
    Literals,
    /// One type leads on, nothing else
    Edge(Edge),
    /// Everything else
    Branch(u32),
}

/// A place with several ways on, or where a path ends although others go on. The table knows its
/// literals.
#[derive(Debug)]
struct Branch {
    /// Types that lead on
    edges: Ways,
    /// Types that take the rest of the key
    rests: Ways,
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
    /// Where no step leads
    const NOWHERE: Self = Target(NONE);

    fn path(number: u32) -> Self {
        Target(number | Target::PATH)
    }
}

/// How far down a key a walk is.
#[derive(Debug, Clone, Copy)]
struct Depth {
    start: usize,
    /// The number of the segment that begins there
    segment: usize,
}

/// What a segment with at least one parameter may be.
#[derive(Debug)]
pub(crate) enum Matcher {
    Uuid,
    Whole(Arc<Language>),
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
    /// place where they differ. Where its segments end is noted on the way.
    #[inline]
    pub(crate) fn find(&self, key: &[u8], ends: &mut Ends) -> Option<u32> {
        self.walk(Target(0), key, ends, Depth { start: 0, segment: 0 })
    }

    fn walk(&self, mut at: Target, key: &[u8], ends: &mut Ends, depth: Depth) -> Option<u32> {
        let Depth { mut start, segment: mut nth } = depth;
        loop {
            // The number of a path does not belong to a node: there the key should have ended.
            let node = self.nodes.get(at.0 as usize)?;
            let (len, to) = match node {
                Node::Literal(literal, to) => {
                    (literal.is_at(key, start).then_some(literal.len())?, *to)
                }
                Node::Literals => {
                    let (len, to) = self.literals.step(at.0, key, start, self.separator);
                    if to == Target::NOWHERE {
                        return None;
                    }
                    (len, to)
                }
                Node::Edge(edge) => {
                    let matcher = &self.matchers[edge.matcher as usize];
                    (matcher.len_in(&key[start..], self.separator)?, edge.to)
                }
                Node::Branch(number) => {
                    let branch = &self.branches[*number as usize];
                    return self.branch(branch, at, key, ends, Depth { start, segment: nth });
                }
            };
            let end = start + len;
            ends.note(nth, end);
            if end == key.len() {
                return self.end(to);
            }
            // What was stepped over without looking for its end may go on.
            if key.get(end) != Some(&self.separator) {
                return None;
            }
            at = to;
            start = end + 1;
            nth += 1;
        }
    }

    /// Tries each way on in turn. A node is reached at one place of the key only, so that no node
    /// is entered twice for one key.
    #[inline(never)]
    fn branch(
        &self,
        branch: &Branch,
        at: Target,
        key: &[u8],
        ends: &mut Ends,
        depth: Depth,
    ) -> Option<u32> {
        let Depth { start, segment: nth } = depth;
        let (len, literal) = self.literals.step(at.0, key, start, self.separator);
        let segment = start..start + len;
        ends.note(nth, segment.end);
        let next = Depth { start: segment.end + 1, segment: nth + 1 };
        let mut go_on = |to: Target| {
            if segment.end == key.len() { self.end(to) } else { self.walk(to, key, ends, next) }
        };
        if literal != Target::NOWHERE
            && let Some(found) = go_on(literal)
        {
            return Some(found);
        }
        for edges in self.ways.of(&branch.edges, &key[segment.clone()]) {
            for edge in edges {
                if self.matches(*edge, &key[segment.clone()])
                    && let Some(found) = go_on(edge.to)
                {
                    return Some(found);
                }
            }
        }
        let rest = &key[segment.start..];
        let mut rests = self.ways.of(&branch.rests, rest);
        let found = rests.find_map(|edges| edges.iter().find(|edge| self.matches(**edge, rest)))?;
        ends.note(nth, key.len());
        self.end(found.to)
    }

    #[inline]
    fn matches(&self, edge: Edge, segment: &[u8]) -> bool {
        self.matchers[edge.matcher as usize].matches(segment)
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
            Node::Literal(..) | Node::Literals | Node::Edge(_) => None,
        }
    }
}

impl Matcher {
    fn new(segment: &Segment) -> Self {
        if let Some((before, language, after)) = segment.single() {
            if before.is_empty() && after.is_empty() {
                let language = language.clone();
                return if language.is_uuid() { Matcher::Uuid } else { Matcher::Whole(language) };
            }
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

    /// How long the segment is that a text begins with, if it matches. A uuid may go on behind its
    /// end, which is for the caller to see.
    #[inline]
    fn len_in(&self, text: &[u8], separator: u8) -> Option<usize> {
        if let Matcher::Uuid = self {
            return is_uuid(text.first_chunk()?).then_some(36);
        }
        self.len_by_separator(text, separator)
    }

    #[inline(never)]
    fn len_by_separator(&self, text: &[u8], separator: u8) -> Option<usize> {
        let len = find(separator, text);
        self.matches(&text[..len]).then_some(len)
    }

    #[inline]
    fn matches(&self, segment: &[u8]) -> bool {
        match self {
            Matcher::Uuid => segment.try_into().is_ok_and(is_uuid),
            Matcher::Whole(language) => language.matches(segment),
            Matcher::Single { before, language, after } => segment
                .strip_prefix(&**before)
                .and_then(|rest| rest.strip_suffix(&**after))
                .is_some_and(|inside| language.matches(inside)),
            Matcher::Several(dfa) => dfa.matches(segment),
            Matcher::Many(pieces) => pieces.matches(segment),
        }
    }
}
