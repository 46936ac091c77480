//! The tree while it grows: what a [`Trie`] is laid out from, and what the prover walks.

use super::{Edge, LiteralTable, Literals, Matcher, NONE, Node, Target, Trie, Word};
#[cfg(feature = "prove")]
use crate::automaton::Nfa;
use crate::automaton::{Dfa, Meeting, TooLarge, meet, meet_dfa, subset};
use crate::path::{Path, Piece, Segment};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The tree by segments.
#[derive(Debug, Default)]
pub(crate) struct Growing {
    pub(crate) nodes: Vec<GrowingNode>,
    matchers: Vec<Segment>,
    numbers: HashMap<Vec<PieceKey>, u32>,
    dfas: HashMap<u32, Result<Arc<Dfa>, TooLarge>>,
    meetings: HashMap<(u32, u32), Result<Meeting, TooLarge>>,
    subsets: HashMap<(u32, u32), bool>,
}

#[derive(Debug, Default)]
pub(crate) struct GrowingNode {
    pub(crate) literals: BTreeMap<Box<[u8]>, u32>,
    /// Number of the matcher, and the node behind it
    pub(crate) edges: Vec<(u32, u32)>,
    /// Number of the matcher, and the paths behind it
    pub(crate) rests: Vec<(u32, Vec<u32>)>,
    pub(crate) ends: Vec<u32>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum PieceKey {
    Literal(Vec<u8>),
    /// By address: a keyspace holds each language once
    Typed(usize),
}

impl Growing {
    pub(crate) fn new<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Self {
        let mut growing = Growing { nodes: vec![GrowingNode::default()], ..Growing::default() };
        for (number, path) in (0u32..).zip(paths) {
            growing.insert(path, number);
        }
        growing
    }

    fn insert(&mut self, path: &Path, number: u32) {
        let mut at = 0usize;
        let last = path.segments.len() - 1;
        for (index, segment) in path.segments.iter().enumerate() {
            if path.rest && index == last {
                return self.insert_rest(at, segment, number);
            }
            at = self.child(at, segment) as usize;
        }
        self.nodes[at].ends.push(number);
    }

    /// The node behind a segment, new if it must be.
    fn child(&mut self, at: usize, segment: &Segment) -> u32 {
        let fresh = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        let child = if let Some(text) = segment.literal() {
            *self.nodes[at].literals.entry(text.into_bytes().into()).or_insert(fresh)
        } else {
            let matcher = self.number(segment);
            let edges = &self.nodes[at].edges;
            if let Some(&(_, child)) = edges.iter().find(|&&(other, _)| other == matcher) {
                return child;
            }
            let others: Vec<u32> = edges.iter().map(|&(other, _)| other).collect();
            let place = self.place(&others, matcher);
            self.nodes[at].edges.insert(place, (matcher, fresh));
            fresh
        };
        if child == fresh {
            self.nodes.push(GrowingNode::default());
        }
        child
    }

    fn insert_rest(&mut self, at: usize, segment: &Segment, number: u32) {
        let matcher = self.number(segment);
        let others: Vec<u32> = self.nodes[at].rests.iter().map(|&(other, _)| other).collect();
        if let Some(found) = others.iter().position(|&other| other == matcher) {
            self.nodes[at].rests[found].1.push(number);
        } else {
            let place = self.place(&others, matcher);
            self.nodes[at].rests.insert(place, (matcher, vec![number]));
        }
    }

    /// Before the first that holds all of it: narrower types come first.
    fn place(&mut self, others: &[u32], matcher: u32) -> usize {
        others.iter().position(|&other| self.holds(other, matcher)).unwrap_or(others.len())
    }

    /// Whether everything that `narrow` matches, `wide` is known to match too.
    fn holds(&mut self, wide: u32, narrow: u32) -> bool {
        if let Some(&known) = self.subsets.get(&(wide, narrow)) {
            return known;
        }
        let holds = match (self.dfa(wide), self.dfa(narrow)) {
            (Ok(wide), Ok(narrow)) => subset(&narrow, &wide) == Ok(Meeting::Apart),
            _ => false,
        };
        self.subsets.insert((wide, narrow), holds);
        holds
    }

    /// A shortest segment that both match.
    pub(crate) fn meet(&mut self, left: u32, right: u32) -> Result<Meeting, TooLarge> {
        let pair = (left.min(right), left.max(right));
        if let Some(known) = self.meetings.get(&pair) {
            return known.clone();
        }
        let meeting = if let (Ok(left), Ok(right)) = (self.dfa(pair.0), self.dfa(pair.1)) {
            meet_dfa(&left, &right)
        } else {
            let segment = |number: u32| self.matchers[number as usize].nfa();
            segment(pair.0).and_then(|left| meet(&left, &segment(pair.1)?))
        };
        self.meetings.insert(pair, meeting.clone());
        meeting
    }

    /// Whether a segment matches.
    #[cfg(feature = "prove")]
    pub(crate) fn matches(&self, matcher: u32, segment: &[u8]) -> bool {
        self.matchers[matcher as usize].matches(segment)
    }

    /// The language of a segment.
    #[cfg(feature = "prove")]
    pub(crate) fn nfa(&self, matcher: u32) -> Result<Nfa, TooLarge> {
        self.matchers[matcher as usize].nfa()
    }

    fn dfa(&mut self, matcher: u32) -> Result<Arc<Dfa>, TooLarge> {
        let segment = &self.matchers[matcher as usize];
        self.dfas.entry(matcher).or_insert_with(|| segment.dfa().map(Arc::new)).clone()
    }

    fn number(&mut self, segment: &Segment) -> u32 {
        let mut key = Vec::new();
        for piece in &segment.pieces {
            match piece {
                Piece::Typed(language) => key.push(PieceKey::Typed(Arc::as_ptr(language) as usize)),
                Piece::Literal(text) => match key.last_mut() {
                    Some(PieceKey::Literal(before)) => before.extend_from_slice(text.as_bytes()),
                    _ => key.push(PieceKey::Literal(text.as_bytes().to_vec())),
                },
            }
        }
        key.retain(|piece| !matches!(piece, PieceKey::Literal(text) if text.is_empty()));
        let fresh = u32::try_from(self.matchers.len()).unwrap_or(NONE);
        let number = *self.numbers.entry(key).or_insert(fresh);
        if number == fresh {
            self.matchers.push(segment.clone());
        }
        number
    }

    /// Whether another path may take keys from this one: whether it is anywhere entered behind
    /// another way on that can match the same segment, or ends where another ends.
    pub(crate) fn is_shadowed(&mut self, path: &Path, number: u32) -> bool {
        let mut at = 0usize;
        let last = path.segments.len() - 1;
        for (index, segment) in path.segments.iter().enumerate() {
            if path.rest && index == last {
                let node = &self.nodes[at];
                return !node.literals.is_empty()
                    || !node.edges.is_empty()
                    || node.rests.iter().any(|(_, paths)| paths.first() != Some(&number));
            }
            if let Some(text) = segment.literal() {
                at = self.nodes[at].literals[text.as_bytes()] as usize;
                continue;
            }
            let matcher = self.number(segment);
            if self.nodes[at].literals.keys().any(|text| segment.matches(text)) {
                return true;
            }
            for (other, child) in self.nodes[at].edges.clone() {
                if other == matcher {
                    at = child as usize;
                    break;
                }
                if self.meet(other, matcher) != Ok(Meeting::Apart) {
                    return true;
                }
            }
        }
        self.nodes[at].ends.first() != Some(&number)
    }

    /// Lays the tree out for walking.
    pub(crate) fn finish(&self, separator: u8) -> Trie {
        let mut trie = Trie {
            separator,
            nodes: Vec::with_capacity(self.nodes.len()),
            edges: Vec::new(),
            matchers: self.matchers.iter().map(Matcher::new).collect(),
            literals: LiteralTable::new(self.nodes.iter().map(|node| node.literals.len()).sum()),
        };
        for (number, node) in (0u32..).zip(&self.nodes) {
            let literals = self.literals(number, node, &mut trie.literals);
            let edges =
                node.edges.iter().map(|&(matcher, to)| Edge { matcher, to: self.target(to) });
            let edges = append(&mut trie.edges, edges);
            let first = |paths: &[u32]| paths.first().copied().unwrap_or(NONE);
            let rests = node.rests.iter();
            let rests =
                rests.map(|(matcher, to)| Edge { matcher: *matcher, to: Target::path(first(to)) });
            let rests = append(&mut trie.edges, rests);
            let only_edge = if edges.len() == 1 && rests.is_empty() {
                trie.edges.last().copied()
            } else {
                None
            };
            trie.nodes.push(Node { literals, only_edge, edges, rests, end: first(&node.ends) });
        }
        trie
    }

    fn literals(&self, number: u32, node: &GrowingNode, table: &mut LiteralTable) -> Literals {
        let mut literals = node.literals.iter();
        if let (Some((text, &child)), None) = (literals.next(), literals.next())
            && let Some(word) = Word::short(text)
        {
            return Literals::One(word, self.target(child));
        }
        for (text, &child) in &node.literals {
            table.insert(number, text, self.target(child));
        }
        if node.literals.is_empty() { Literals::None } else { Literals::Many }
    }

    /// A node with nothing behind it is as good as the path that ends there.
    fn target(&self, node: u32) -> Target {
        match &self.nodes[node as usize] {
            GrowingNode { literals, edges, rests, ends }
                if literals.is_empty()
                    && edges.is_empty()
                    && rests.is_empty()
                    && !ends.is_empty() =>
            {
                Target::path(ends[0])
            }
            _ => Target(node),
        }
    }
}

/// Adds edges; where they stand.
fn append(edges: &mut Vec<Edge>, more: impl Iterator<Item = Edge>) -> std::ops::Range<u32> {
    let len = |edges: &Vec<Edge>| u32::try_from(edges.len()).unwrap_or(NONE);
    let start = len(edges);
    edges.extend(more);
    start..len(edges)
}
