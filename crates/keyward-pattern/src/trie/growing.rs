//! The tree while it grows: what a [`Trie`] is laid out from, and what the prover walks.

use super::{AllWays, Branch, Edge, Literal, LiteralTable, Matcher, NONE, Node, Target, Trie};
#[cfg(feature = "prove")]
use crate::automaton::Nfa;
use crate::automaton::{Dfa, Meeting, TooLarge, meet, meet_dfa, subset};
use crate::path::{Path, Piece, Segment, agree, leading};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// How many states of automata are compared before giving up: those of 100,000 ordinary types.
const MAX_WORK: usize = 10_000_000;

/// The tree by segments.
#[derive(Debug, Default)]
pub(crate) struct Growing {
    pub(crate) nodes: Vec<GrowingNode>,
    matchers: Vec<Segment>,
    /// What everything that each of them matches begins with
    beginnings: Vec<Vec<u8>>,
    /// How many states were compared so far
    work: usize,
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

    /// A tree that was grown elsewhere.
    pub(crate) fn from_nodes(nodes: Vec<GrowingNode>, matchers: Vec<Segment>) -> Self {
        Growing { nodes, matchers, ..Growing::default() }
    }

    /// The segment of a matcher.
    pub(crate) fn segment(&self, matcher: u32) -> &Segment {
        &self.matchers[matcher as usize]
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
    pub(crate) fn holds(&mut self, wide: u32, narrow: u32) -> bool {
        if !self.begin_alike(wide, narrow) {
            return false;
        }
        if let Some(&known) = self.subsets.get(&(wide, narrow)) {
            return known;
        }
        let holds = match (self.dfa(wide), self.dfa(narrow)) {
            (Ok(wide), Ok(narrow)) => {
                self.afford(&wide, &narrow).is_ok() && subset(&narrow, &wide) == Ok(Meeting::Apart)
            }
            _ => false,
        };
        self.subsets.insert((wide, narrow), holds);
        holds
    }

    /// A shortest segment that both match.
    pub(crate) fn meet(&mut self, left: u32, right: u32) -> Result<Meeting, TooLarge> {
        if !self.begin_alike(left, right) {
            return Ok(Meeting::Apart);
        }
        let pair = (left.min(right), left.max(right));
        if let Some(known) = self.meetings.get(&pair) {
            return known.clone();
        }
        let meeting = if let (Ok(left), Ok(right)) = (self.dfa(pair.0), self.dfa(pair.1)) {
            self.afford(&left, &right).and_then(|()| meet_dfa(&left, &right))
        } else {
            // Too large to be made deterministic, so each comparison builds and searches it again.
            self.work = self.work.saturating_add(MAX_WORK / 200);
            if self.work > MAX_WORK {
                return Err(TooLarge);
            }
            let segment = |number: u32| self.matchers[number as usize].nfa();
            segment(pair.0).and_then(|left| meet(&left, &segment(pair.1)?))
        };
        self.meetings.insert(pair, meeting.clone());
        meeting
    }

    /// Whether comparing two automata is within the bound on all such comparisons.
    fn afford(&mut self, left: &Dfa, right: &Dfa) -> Result<(), TooLarge> {
        self.work = self.work.saturating_add(left.states() + right.states());
        if self.work > MAX_WORK { Err(TooLarge) } else { Ok(()) }
    }

    /// Whether one text can begin as both do: a thousand `a1-{x}`, `a2-{x}`, … need no automata
    /// to be told apart.
    fn begin_alike(&self, left: u32, right: u32) -> bool {
        agree(&self.beginnings[left as usize], &self.beginnings[right as usize])
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

    pub(crate) fn number(&mut self, segment: &Segment) -> u32 {
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
            // A segment has no separator in it.
            self.beginnings.push(leading(std::slice::from_ref(segment), 0));
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
        let in_table = self.nodes.iter().filter(|node| node.only_literal().is_none());
        let mut trie = Trie {
            separator,
            nodes: Vec::new(),
            branches: Vec::new(),
            ways: AllWays::default(),
            matchers: self.matchers.iter().map(Matcher::new).collect(),
            literals: LiteralTable::new(in_table.map(|node| node.literals.len()).sum()),
        };
        let targets = self.targets();
        for (node, target) in self.nodes.iter().zip(&targets) {
            if target.0 & Target::PATH != 0 {
                continue;
            }
            let laid_out = if let Some((literal, child)) = node.only_literal() {
                Node::Literal(literal, targets[child as usize])
            } else if let Some((matcher, child)) = node.only_edge() {
                Node::Edge(Edge { matcher, to: targets[child as usize] })
            } else {
                trie.add_literals(node, *target, &targets);
                if node.has_only_literals() {
                    Node::Literals
                } else {
                    trie.branch_out(node, &targets, &self.matchers)
                }
            };
            trie.nodes.push(laid_out);
        }
        trie
    }

    /// Where a step to each node leads: a node with nothing behind it is as good as the path that
    /// ends there and gets no place of its own.
    fn targets(&self) -> Vec<Target> {
        let mut next = 0;
        let target = |(number, node): (usize, &GrowingNode)| {
            if number > 0 && node.is_leaf() {
                return Target::path(node.ends[0]);
            }
            next += 1;
            Target(next - 1)
        };
        self.nodes.iter().enumerate().map(target).collect()
    }
}

impl GrowingNode {
    fn is_leaf(&self) -> bool {
        self.literals.is_empty() && self.edges.is_empty() && self.rests.is_empty()
    }

    fn has_only_literals(&self) -> bool {
        self.edges.is_empty() && self.rests.is_empty() && self.ends.is_empty()
    }

    fn only_literal(&self) -> Option<(Literal, u32)> {
        let mut literals = self.literals.iter();
        let (text, &child) = literals.next()?;
        if literals.next().is_none() && self.has_only_literals() {
            Literal::short(text).map(|literal| (literal, child))
        } else {
            None
        }
    }

    fn only_edge(&self) -> Option<(u32, u32)> {
        match self.edges.as_slice() {
            [edge] if self.literals.is_empty() && self.rests.is_empty() && self.ends.is_empty() => {
                Some(*edge)
            }
            _ => None,
        }
    }
}

impl Trie {
    fn add_literals(&mut self, node: &GrowingNode, own: Target, targets: &[Target]) {
        for (text, &child) in &node.literals {
            self.literals.insert(own.0, text, targets[child as usize]);
        }
    }

    fn branch_out(&mut self, node: &GrowingNode, targets: &[Target], matchers: &[Segment]) -> Node {
        let first = |paths: &[u32]| paths.first().copied().unwrap_or(NONE);
        let way = |matcher: u32, to: Target| (&matchers[matcher as usize], Edge { matcher, to });
        let edges = node.edges.iter().map(|&(matcher, to)| way(matcher, targets[to as usize]));
        let edges = self.ways.add(edges.collect());
        let rests = node.rests.iter();
        let rests = rests.map(|(matcher, to)| way(*matcher, Target::path(first(to))));
        let rests = self.ways.add(rests.collect());
        self.branches.push(Branch { edges, rests, end: first(&node.ends) });
        Node::Branch(u32::try_from(self.branches.len() - 1).unwrap_or(NONE))
    }
}
