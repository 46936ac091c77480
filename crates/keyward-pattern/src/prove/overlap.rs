//! Whether two definitions can have a key in common.
//!
//! No parameter contains the separator, so two patterns meet if and only if they meet segment by
//! segment. Both are walked down the tree of all patterns at once; where two segments have nothing
//! in common, everything below is pruned. Only a parameter that takes the rest, and derived keys,
//! need whole keys compared.

use crate::automaton::{Meeting, Nfa, TooLarge, meet};
use crate::path::{Path, Piece, Segment};
use crate::prove::derived::{agree, derived_overlaps, leading};
use crate::trie::Growing;
use crate::{DefinitionId, Keyspace};
use std::collections::HashSet;

/// How many pairs of places in the tree are looked at before giving up.
const MAX_VISITS: usize = 2_000_000;
/// How many pairs of patterns with different separators are compared before giving up.
const MAX_UNLIKE: usize = 50_000;
/// How many overlaps are collected; a schema with more has one problem, not many.
pub(super) const MAX_FOUND: usize = 1_000;

/// What was found, and whether everything was looked at.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Overlaps {
    /// The overlaps, each pair once
    pub overlaps: Vec<Overlap>,
    /// Whether the search went to its end; if not, what was not found is not proved absent
    pub complete: bool,
}

/// Two claims to one key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overlap {
    /// One claim; of two definitions, the more specific one where there is one
    pub first: Claim,
    /// The other
    pub second: Claim,
    /// A shortest key that both claim
    pub witness: String,
    /// What follows from it
    pub kind: OverlapKind,
}

/// Who claims a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Claim {
    /// A definition's own keys
    Definition(DefinitionId),
    /// Keys derived from a definition's keys
    Derived(DefinitionId),
}

/// What follows from an overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverlapKind {
    /// Neither is more specific at every place: an error
    Conflict,
    /// The first is at least as specific at every place: its keys are its own, and the second
    /// refuses to build them
    Reserved {
        /// The second's parameter that cannot have the word
        hole: String,
        /// The word, where it is a single one
        word: Option<String>,
    },
}

/// The overlaps inside a keyspace, prefix parameters free and derived keys included.
pub fn overlaps(keyspace: &Keyspace) -> Overlaps {
    let mut search = Search::new(keyspace.paths().iter(), keyspace.separator());
    search.pairs(0, 0);
    let mut overlaps = search.finish(keyspace);
    derived_overlaps(keyspace, &mut overlaps);
    overlaps
}

/// The overlaps between two keyspaces: the first claim is the first's, the second the second's.
/// Nothing is reserved across keyspaces: every overlap is a conflict.
pub fn overlaps_between(left: &Keyspace, right: &Keyspace) -> Overlaps {
    if left.separator() != right.separator() {
        return unlike_overlaps(left, right);
    }
    let shift = u32::try_from(left.paths().len()).unwrap_or(u32::MAX);
    let mut search = Search::new(left.paths().iter().chain(right.paths()), left.separator());
    search.split = Some(shift);
    search.pairs(0, 0);
    let mut found = Overlaps { overlaps: Vec::new(), complete: search.complete };
    let mut seen = HashSet::new();
    for (a, b) in std::mem::take(&mut search.found) {
        let (first, second) = (a.min(b), a.max(b) - shift);
        let claims = (left.owner(first), right.owner(second));
        if seen.insert(claims) {
            let witness = search.witness(first, second + shift);
            found.overlaps.push(Overlap {
                first: Claim::Definition(claims.0),
                second: Claim::Definition(claims.1),
                witness,
                kind: OverlapKind::Conflict,
            });
        }
    }
    found
}

/// The pairs of paths that have a key in common, with a shortest such key.
pub(super) fn path_overlaps(paths: &[Path], separator: u8) -> Vec<(u32, u32, String)> {
    let mut search = Search::new(paths.iter(), separator);
    search.pairs(0, 0);
    let found = std::mem::take(&mut search.found);
    found.into_iter().map(|(a, b)| (a, b, search.witness(a, b))).collect()
}

/// With another separator segments do not line up: whole patterns are compared.
fn unlike_overlaps(left: &Keyspace, right: &Keyspace) -> Overlaps {
    let mut found = Overlaps { overlaps: Vec::new(), complete: true };
    let mut visits = 0;
    let mut seen = HashSet::new();
    for (a, left_path) in (0u32..).zip(left.paths()) {
        let begins = leading(left_path, left);
        let near = |path: &&(u32, &Path)| agree(&begins, &leading(path.1, right));
        for (b, right_path) in (0u32..).zip(right.paths()).collect::<Vec<_>>().iter().filter(near) {
            visits += 1;
            if visits > MAX_UNLIKE || found.overlaps.len() >= MAX_FOUND {
                found.complete = false;
                return found;
            }
            let meeting = path_nfa(left_path, left.separator())
                .and_then(|nfa| meet(&nfa, &path_nfa(right_path, right.separator())?));
            let claims = (left.owner(a), right.owner(*b));
            match meeting {
                Ok(Meeting::At(witness)) if seen.insert(claims) => found.overlaps.push(Overlap {
                    first: Claim::Definition(claims.0),
                    second: Claim::Definition(claims.1),
                    witness: String::from_utf8_lossy(&witness).into_owned(),
                    kind: OverlapKind::Conflict,
                }),
                Ok(_) => {}
                Err(TooLarge) => found.complete = false,
            }
        }
    }
    found
}

struct Search<'p> {
    growing: Growing,
    paths: Vec<&'p Path>,
    /// Paths from this number on belong to the other keyspace; only mixed pairs count
    split: Option<u32>,
    found: Vec<(u32, u32)>,
    visits: usize,
    complete: bool,
    separator: u8,
}

impl<'p> Search<'p> {
    fn new(paths: impl Iterator<Item = &'p Path>, separator: u8) -> Self {
        let paths: Vec<&Path> = paths.collect();
        let growing = Growing::new(paths.iter().copied());
        Search {
            growing,
            paths,
            split: None,
            found: Vec::new(),
            visits: 0,
            complete: true,
            separator,
        }
    }

    /// Looks at two places of the tree that the same beginning of a key can lead to.
    fn pairs(&mut self, left: u32, right: u32) {
        self.visits += 1;
        if self.visits > MAX_VISITS || self.found.len() >= MAX_FOUND {
            self.complete = false;
            return;
        }
        self.ends(left, right);
        self.rests(left, right);
        if left != right {
            self.rests(right, left);
        }
        for (a, b) in self.steps(left, right) {
            self.pairs(a, b);
        }
    }

    /// The pairs of places that one more common segment leads to.
    fn steps(&mut self, left: u32, right: u32) -> Vec<(u32, u32)> {
        let mut steps = Vec::new();
        let (a, b) = (&self.growing.nodes[left as usize], &self.growing.nodes[right as usize]);
        // The smaller set of literals is looked up in the larger.
        let (few, many, swapped) =
            if a.literals.len() <= b.literals.len() { (a, b, false) } else { (b, a, true) };
        for (text, &child) in &few.literals {
            if let Some(&other) = many.literals.get(text) {
                steps.push(if swapped { (other, child) } else { (child, other) });
            }
        }
        let (a_edges, b_edges) = (a.edges.clone(), b.edges.clone());
        let mut crossed = self.literal_steps(left, &b_edges);
        if left != right {
            crossed.extend(self.literal_steps(right, &a_edges).into_iter().map(|(b, a)| (a, b)));
        }
        steps.extend(crossed);
        for (index, &(matcher, child)) in a_edges.iter().enumerate() {
            let others = if left == right { &b_edges[index..] } else { &b_edges[..] };
            for &(other, other_child) in others {
                match self.growing.meet(matcher, other) {
                    Ok(Meeting::Apart) => {}
                    Ok(Meeting::At(_)) => steps.push((child, other_child)),
                    Err(TooLarge) => self.complete = false,
                }
            }
        }
        steps
    }

    /// Literals of one place that a parameter of the other takes.
    fn literal_steps(&mut self, node: u32, edges: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let mut steps = Vec::new();
        for &(matcher, child) in edges {
            let literals = &self.growing.nodes[node as usize].literals;
            self.visits += literals.len() / 8;
            let taken = literals.iter().filter(|(text, _)| self.growing.matches(matcher, text));
            steps.extend(taken.map(|(_, &other)| (other, child)));
        }
        steps
    }

    fn ends(&mut self, left: u32, right: u32) {
        let a = self.growing.nodes[left as usize].ends.clone();
        let b = self.growing.nodes[right as usize].ends.clone();
        self.report(&a, &b, left == right);
    }

    /// Every pair of paths that end together, as long as there is room.
    fn report(&mut self, a: &[u32], b: &[u32], same: bool) {
        for (index, &left) in a.iter().enumerate() {
            for &right in if same { &b[index + 1..] } else { b } {
                if !self.counts(left, right) {
                    continue;
                }
                if self.found.len() >= MAX_FOUND {
                    self.complete = false;
                    return;
                }
                self.found.push((left, right));
            }
        }
    }

    fn counts(&self, left: u32, right: u32) -> bool {
        self.split.is_none_or(|split| (left < split) != (right < split))
    }

    /// A parameter that takes the rest, against everything that goes on from the other place.
    fn rests(&mut self, left: u32, right: u32) {
        for (index, (matcher, paths)) in
            self.growing.nodes[left as usize].rests.clone().into_iter().enumerate()
        {
            let Ok(rest) = self.growing.nfa(matcher) else {
                self.complete = false;
                continue;
            };
            if left == right {
                self.report(&paths, &paths, true);
            }
            let depth = self.paths[paths[0] as usize].segments.len() - 1;
            let mut below = self.below(right);
            for (number, (_, others)) in self.growing.nodes[right as usize].rests.iter().enumerate()
            {
                // Two that take the rest from here meet as one pair, not as two.
                if left != right || number > index {
                    below.extend(others);
                }
            }
            for other in below {
                self.visits += 1;
                if self.visits > MAX_VISITS || self.found.len() >= MAX_FOUND {
                    self.complete = false;
                    return;
                }
                let tail = &self.paths[other as usize].segments[depth..];
                match tail_nfa(tail, self.separator).and_then(|tail| meet(&tail, &rest)) {
                    Ok(Meeting::Apart) => {}
                    Ok(Meeting::At(_)) => self.report(&paths, &[other], false),
                    Err(TooLarge) => self.complete = false,
                }
            }
        }
    }

    /// All paths that go on from a place with at least one more segment, or take the rest later.
    fn below(&self, node: u32) -> Vec<u32> {
        let mut paths = Vec::new();
        let node = &self.growing.nodes[node as usize];
        let mut open: Vec<u32> = node
            .literals
            .values()
            .copied()
            .chain(node.edges.iter().map(|&(_, child)| child))
            .collect();
        while let Some(at) = open.pop() {
            let node = &self.growing.nodes[at as usize];
            paths.extend(&node.ends);
            paths.extend(node.rests.iter().flat_map(|(_, paths)| paths));
            open.extend(node.literals.values());
            open.extend(node.edges.iter().map(|&(_, child)| child));
        }
        paths
    }

    /// A shortest key of both paths, which are known to meet.
    fn witness(&self, left: u32, right: u32) -> String {
        let (left, right) = (self.paths[left as usize], self.paths[right as usize]);
        let separator = self.separator;
        let meeting =
            path_nfa(left, separator).and_then(|left| meet(&left, &path_nfa(right, separator)?));
        match meeting {
            Ok(Meeting::At(witness)) => String::from_utf8_lossy(&witness).into_owned(),
            _ => String::new(),
        }
    }

    /// One overlap for each pair of definitions, with what follows from it.
    fn finish(mut self, keyspace: &Keyspace) -> Overlaps {
        let mut overlaps = Vec::new();
        let mut seen = HashSet::new();
        for (a, b) in std::mem::take(&mut self.found) {
            let (first, second) = (keyspace.owner(a), keyspace.owner(b));
            if first == second {
                continue; // two readings of one definition's key, see `ambiguities`
            }
            let pair = (first.min(second), first.max(second));
            if !seen.insert(pair) {
                continue;
            }
            let witness = self.witness(a, b);
            let overlap = if self.narrower(a, b) {
                self.reserved(keyspace, (first, second), (a, b), witness)
            } else if self.narrower(b, a) {
                self.reserved(keyspace, (second, first), (b, a), witness)
            } else {
                Overlap {
                    first: Claim::Definition(pair.0),
                    second: Claim::Definition(pair.1),
                    witness,
                    kind: OverlapKind::Conflict,
                }
            };
            overlaps.push(overlap);
        }
        overlaps.sort_by_key(|overlap| (overlap.first, overlap.second));
        Overlaps { overlaps, complete: self.complete }
    }

    /// Whether one path is at least as specific as the other at every place, and not its equal.
    fn narrower(&mut self, narrow: u32, wide: u32) -> bool {
        let (narrow, wide) = (self.paths[narrow as usize], self.paths[wide as usize]);
        let tail = wide.segments.len() - 1;
        let aligned = if wide.rest {
            narrow.segments.len() > tail
        } else {
            !narrow.rest && narrow.segments.len() == wide.segments.len()
        };
        if !aligned {
            return false;
        }
        let mut strictly = false;
        for (index, wide_segment) in wide.segments.iter().enumerate() {
            let narrow_nfa = if wide.rest && index == tail {
                tail_nfa(&narrow.segments[tail..], self.separator)
            } else {
                narrow.segments[index].nfa()
            };
            let dfas = narrow_nfa
                .and_then(|nfa| nfa.determinize(crate::language::MAX_STATES))
                .and_then(|narrow| Ok((narrow, wide_segment.dfa()?)));
            let Ok((narrow, wide)) = dfas else { return false };
            if crate::automaton::subset(&narrow, &wide) != Ok(Meeting::Apart) {
                return false;
            }
            strictly |= crate::automaton::subset(&wide, &narrow) != Ok(Meeting::Apart);
        }
        strictly
    }

    fn reserved(
        &self,
        keyspace: &Keyspace,
        (narrow, wide): (DefinitionId, DefinitionId),
        (narrow_path, wide_path): (u32, u32),
        witness: String,
    ) -> Overlap {
        let (narrow_path, wide_path) =
            (self.paths[narrow_path as usize], self.paths[wide_path as usize]);
        let mut hole = 0;
        let mut word = None;
        let mut typed = 0;
        for (index, segment) in wide_path.segments.iter().enumerate() {
            let holes =
                segment.pieces.iter().filter(|piece| matches!(piece, Piece::Typed(_))).count();
            let literal = narrow_path.segments.get(index).and_then(Segment::literal);
            if holes > 0 && literal.is_some() {
                (hole, word) = (typed, literal);
                break;
            }
            typed += holes;
        }
        let params = keyspace.definition(wide).params();
        let hole =
            params.get(hole).or(params.last()).map_or(String::new(), |(name, _)| name.clone());
        Overlap {
            first: Claim::Definition(narrow),
            second: Claim::Definition(wide),
            witness,
            kind: OverlapKind::Reserved { hole, word },
        }
    }
}

/// The whole keys of a path.
pub(super) fn path_nfa(path: &Path, separator: u8) -> Result<Nfa, TooLarge> {
    tail_nfa(&path.segments, separator)
}

fn tail_nfa(segments: &[Segment], separator: u8) -> Result<Nfa, TooLarge> {
    let mut nfa = Nfa::empty();
    for (index, segment) in segments.iter().enumerate() {
        if index > 0 {
            nfa = nfa.then(Nfa::literal(&[separator]))?;
        }
        nfa = nfa.then(segment.nfa()?)?;
    }
    Ok(nfa)
}
