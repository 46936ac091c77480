//! The pairs of paths that have a key in common.
//!
//! Up to the first parameter that may contain the separator, two patterns meet if and only if they meet
//! segment by segment. Both are walked down the tree of all patterns at once; where two segments have
//! nothing in common, everything below is pruned. From such a parameter on, whole tails are compared.

use crate::automaton::{Meeting, Nfa, TooLarge, meet};
use crate::path::{Path, Segment, agree, leading};
use crate::trie::Growing;

/// How many pairs of places in the tree are looked at before giving up.
const MAX_VISITS: usize = 2_000_000;
/// What comparing two tails costs, in such visits.
const TAIL_VISITS: usize = 50;
/// How many overlaps are collected; a schema with more has one problem, not many.
pub(super) const MAX_FOUND: usize = 1_000;

/// The walk down the tree.
pub(super) struct Search<'p> {
    pub(super) growing: Growing,
    pub(super) paths: Vec<&'p Path>,
    /// Paths from this number on belong to the other keyspace; only mixed pairs count
    pub(super) split: Option<u32>,
    /// Which of those pairs count, where not all do
    pub(super) asked: Option<&'p dyn Fn(u32, u32) -> bool>,
    pub(super) found: Vec<(u32, u32)>,
    visits: usize,
    pub(super) complete: bool,
    pub(super) separator: u8,
}

impl<'p> Search<'p> {
    pub(super) fn new(paths: impl Iterator<Item = &'p Path>, separator: u8) -> Self {
        let paths: Vec<&Path> = paths.collect();
        let growing = Growing::new(paths.iter().copied());
        Search {
            growing,
            paths,
            split: None,
            asked: None,
            found: Vec::new(),
            visits: 0,
            complete: true,
            separator,
        }
    }

    /// Looks at two places of the tree that the same beginning of a key can lead to.
    pub(super) fn pairs(&mut self, left: u32, right: u32) {
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
            && self.asked.is_none_or(|asked| asked(left.min(right), left.max(right)))
    }

    /// A parameter that takes the rest, against everything that continues from the other place.
    fn rests(&mut self, left: u32, right: u32) {
        let rests = self.growing.nodes[left as usize].rests.clone();
        let Some((_, first)) = rests.first() else { return };
        let depth = self.paths[first[0] as usize].segments.len() - 1;
        let begins =
            |number: u32| leading(&self.paths[number as usize].segments[depth..], self.separator);
        let below: Vec<(u32, Vec<u8>)> =
            self.below(right).into_iter().map(|number| (number, begins(number))).collect();
        let beside: Vec<(usize, u32, Vec<u8>)> = (0..)
            .zip(&self.growing.nodes[right as usize].rests)
            .flat_map(|(index, (_, paths))| paths.iter().map(move |&path| (index, path)))
            .map(|(index, number)| (index, number, begins(number)))
            .collect();
        for (index, (matcher, paths)) in rests.into_iter().enumerate() {
            let own = leading(&self.paths[paths[0] as usize].segments[depth..], self.separator);
            let Ok(rest) = self.growing.nfa(matcher) else {
                self.complete = false;
                continue;
            };
            if left == right {
                self.report(&paths, &paths, true);
            }
            // Two that take the rest from here meet as one pair, not as two.
            let beside = beside.iter().filter(|(other, ..)| left != right || *other > index);
            let beside = beside.map(|(_, number, begins)| (*number, begins));
            let others = below.iter().map(|(number, begins)| (*number, begins)).chain(beside);
            let near = others.filter(|(_, begins)| agree(begins, &own));
            for other in near.map(|(number, _)| number).collect::<Vec<_>>() {
                self.visits += TAIL_VISITS;
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

    /// All paths that continue from a place with at least one more segment, or take the rest later.
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
    pub(super) fn witness(&mut self, left: u32, right: u32) -> String {
        let (left, right) = (self.paths[left as usize], self.paths[right as usize]);
        let meeting = if left.rest || right.rest {
            path_nfa(left, self.separator)
                .and_then(|left| meet(&left, &path_nfa(right, self.separator)?))
        } else {
            self.segment_witness(left, right)
        };
        match meeting {
            Ok(Meeting::At(witness)) => String::from_utf8_lossy(&witness).into_owned(),
            _ => String::new(),
        }
    }

    /// Segment by segment, which the walk has looked at already.
    fn segment_witness(&mut self, left: &Path, right: &Path) -> Result<Meeting, TooLarge> {
        let mut key = Vec::new();
        for (index, (left, right)) in left.segments.iter().zip(&right.segments).enumerate() {
            if index > 0 {
                key.push(self.separator);
            }
            let (left, right) = (self.growing.number(left), self.growing.number(right));
            match self.growing.meet(left, right)? {
                Meeting::At(segment) => key.extend(segment),
                Meeting::Apart => return Ok(Meeting::Apart),
            }
        }
        Ok(Meeting::At(key))
    }
}

/// The whole keys of a path.
pub(super) fn path_nfa(path: &Path, separator: u8) -> Result<Nfa, TooLarge> {
    tail_nfa(&path.segments, separator)
}

pub(super) fn tail_nfa(segments: &[Segment], separator: u8) -> Result<Nfa, TooLarge> {
    let mut nfa = Nfa::empty();
    for (index, segment) in segments.iter().enumerate() {
        if index > 0 {
            nfa = nfa.then(Nfa::literal(&[separator]))?;
        }
        nfa = nfa.then(segment.nfa()?)?;
    }
    Ok(nfa)
}
