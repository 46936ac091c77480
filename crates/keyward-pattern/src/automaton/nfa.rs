//! Automata under construction: put together from pieces, then made deterministic.

use super::{Dfa, TooLarge};
use std::collections::HashMap;
use std::rc::Rc;

/// More states than any sensible type needs; a regular expression that wants more is refused.
const MAX_STATES: usize = 60_000;
/// How many states of the nondeterministic automaton may be looked at while it is made deterministic.
const MAX_WORK: usize = 40_000_000;

/// A nondeterministic automaton with one start and one end.
#[derive(Debug, Clone)]
pub(crate) struct Nfa {
    states: Vec<State>,
    start: u32,
    end: u32,
}

/// The sets of states that make up the deterministic automaton's.
struct Sets<'n> {
    nfa: &'n Nfa,
    numbers: HashMap<Rc<[u32]>, u32>,
    known: Vec<Rc<[u32]>>,
    /// The set that is being looked for, and what of it is still to be followed
    set: Vec<u32>,
    open: Vec<u32>,
    /// In which round each state was last met
    mark: Vec<u32>,
    round: u32,
}

impl Sets<'_> {
    /// The number of a set, with everything that is reached from it without reading.
    fn number(&mut self, from: &[u32]) -> u32 {
        // Most bytes lead nowhere, and nowhere is the first of all sets.
        if from.is_empty() && !self.known.is_empty() {
            return 0;
        }
        self.round += 1;
        self.set.clear();
        self.open.extend(from);
        while let Some(state) = self.open.pop() {
            if std::mem::replace(&mut self.mark[state as usize], self.round) != self.round {
                self.open.extend(&self.nfa.states[state as usize].free);
                self.set.push(state);
            }
        }
        self.set.sort_unstable();
        if let Some(&known) = self.numbers.get(self.set.as_slice()) {
            return known;
        }
        let fresh = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        let set = Rc::<[u32]>::from(self.set.as_slice());
        self.known.push(set.clone());
        self.numbers.insert(set, fresh);
        fresh
    }
}

#[derive(Debug, Clone, Default)]
struct State {
    /// First byte, last byte, target
    ranges: Vec<(u8, u8, u32)>,
    free: Vec<u32>,
}

impl Nfa {
    /// The empty word.
    pub(crate) fn empty() -> Self {
        Nfa { states: vec![State::default()], start: 0, end: 0 }
    }

    /// No word at all.
    pub(crate) fn nothing() -> Self {
        Nfa { states: vec![State::default(), State::default()], start: 0, end: 1 }
    }

    /// One byte out of these ranges.
    pub(crate) fn bytes(ranges: &[(u8, u8)]) -> Self {
        let ranges = ranges.iter().map(|&(first, last)| (first, last, 1)).collect();
        let start = State { ranges, free: Vec::new() };
        Nfa { states: vec![start, State::default()], start: 0, end: 1 }
    }

    /// Exactly this word.
    pub(crate) fn literal(word: &[u8]) -> Self {
        let mut states: Vec<State> = (1u32..)
            .zip(word)
            .map(|(next, &byte)| State { ranges: vec![(byte, byte, next)], free: Vec::new() })
            .collect();
        states.push(State::default());
        let end = u32::try_from(states.len() - 1).unwrap_or(u32::MAX);
        Nfa { states, start: 0, end }
    }

    /// Any of these sequences of byte ranges. Ranges at the same place behind the same beginning
    /// are equal or disjoint, so that beginnings can be shared.
    pub(super) fn tree(sequences: &[Vec<(u8, u8)>]) -> Result<Self, TooLarge> {
        let mut nfa = Nfa::nothing();
        for sequence in sequences {
            let mut at = nfa.start;
            for (index, &(first, last)) in sequence.iter().enumerate() {
                let ranges = &nfa.states[at as usize].ranges;
                let known = ranges.iter().find(|range| (range.0, range.1) == (first, last));
                at = match known {
                    _ if index + 1 == sequence.len() => {
                        let end = nfa.end;
                        nfa.states[at as usize].ranges.push((first, last, end));
                        end
                    }
                    Some(&(_, _, to)) => to,
                    None => {
                        let to = nfa.add();
                        nfa.states[at as usize].ranges.push((first, last, to));
                        to
                    }
                };
            }
        }
        if nfa.states.len() > MAX_STATES { Err(TooLarge) } else { Ok(nfa) }
    }

    /// What a deterministic automaton accepts, with each byte spelled as `spell` says.
    pub(crate) fn spelled(dfa: &Dfa, spell: impl Fn(u8) -> Option<Vec<u8>>) -> Self {
        let mut nfa = Nfa::empty();
        let mut numbers = HashMap::from([(dfa.start(), 0u32)]);
        let mut open = vec![dfa.start()];
        let end = nfa.add();
        nfa.end = end;
        while let Some(state) = open.pop() {
            let from = numbers[&state];
            if dfa.accepting(state) {
                nfa.states[from as usize].free.push(end);
            }
            for byte in 0..=u8::MAX {
                let next = dfa.next(state, byte);
                if Dfa::is_dead(next) {
                    continue;
                }
                let to = *numbers.entry(next).or_insert_with(|| {
                    open.push(next);
                    nfa.states.push(State::default());
                    u32::try_from(nfa.states.len() - 1).unwrap_or(u32::MAX)
                });
                match spell(byte) {
                    None => nfa.lead(from, byte, to),
                    Some(word) => nfa.thread(from, &word, to),
                }
            }
        }
        nfa
    }

    /// What a deterministic automaton accepts.
    pub(crate) fn from_dfa(dfa: &Dfa) -> Self {
        Nfa::spelled(dfa, |_| None)
    }

    /// One after the other.
    pub(crate) fn then(self, other: Nfa) -> Result<Self, TooLarge> {
        let mut nfa = self;
        let (start, end) = nfa.absorb(other)?;
        nfa.states[nfa.end as usize].free.push(start);
        nfa.end = end;
        Ok(nfa)
    }

    /// All in a row.
    pub(crate) fn concat(parts: impl IntoIterator<Item = Nfa>) -> Result<Self, TooLarge> {
        parts.into_iter().try_fold(Nfa::empty(), Nfa::then)
    }

    /// Any of them.
    pub(crate) fn any(parts: impl IntoIterator<Item = Nfa>) -> Result<Self, TooLarge> {
        let mut nfa = Nfa::nothing();
        for part in parts {
            let (start, end) = nfa.absorb(part)?;
            nfa.states[nfa.start as usize].free.push(start);
            let own_end = nfa.end;
            nfa.states[end as usize].free.push(own_end);
        }
        Ok(nfa)
    }

    /// What every word begins with, up to so many bytes. Each state must lead to the end.
    pub(crate) fn beginning(&self, most: usize) -> Vec<u8> {
        let mut text = Vec::new();
        let mut open = vec![self.start];
        while text.len() < most {
            let mut set: Vec<u32> = Vec::new();
            while let Some(state) = open.pop() {
                if !set.contains(&state) {
                    open.extend(&self.states[state as usize].free);
                    set.push(state);
                }
            }
            let ranges = || set.iter().flat_map(|&state| &self.states[state as usize].ranges);
            let Some(&(byte, _, _)) = ranges().next() else { break };
            if set.contains(&self.end) || !ranges().all(|range| (range.0, range.1) == (byte, byte))
            {
                break;
            }
            open.extend(ranges().map(|range| range.2));
            text.push(byte);
        }
        text
    }

    /// As often as this; without a `max`, without end.
    pub(crate) fn repeat(self, min: u32, max: Option<u32>) -> Result<Self, TooLarge> {
        let copies = max.unwrap_or(min.max(1)) as usize;
        if self.states.len().saturating_mul(copies.max(1)) > MAX_STATES {
            return Err(TooLarge);
        }
        let mut nfa = Nfa::empty();
        let mut last_start = 0;
        let mut skips = Vec::new();
        for copy in 0..copies {
            if copy >= min as usize {
                skips.push(nfa.end);
            }
            let (start, end) = nfa.absorb(self.clone())?;
            let before = nfa.end;
            nfa.states[before as usize].free.push(start);
            last_start = start;
            nfa.end = end;
        }
        let end = nfa.add();
        let before = nfa.end;
        nfa.states[before as usize].free.push(end);
        if max.is_none() {
            nfa.states[before as usize].free.push(last_start);
        }
        for skip in skips {
            nfa.states[skip as usize].free.push(end);
        }
        nfa.end = end;
        Ok(nfa)
    }

    /// The minimal deterministic automaton, with at most so many states.
    pub(crate) fn determinize(&self, max_states: usize) -> Result<Dfa, TooLarge> {
        let (classes, samples) = self.classes();
        let mut sets = Sets {
            nfa: self,
            numbers: HashMap::new(),
            known: Vec::new(),
            set: Vec::new(),
            open: Vec::new(),
            mark: vec![0; self.states.len()],
            round: 0,
        };
        let dead = sets.number(&[]);
        let start = sets.number(&[self.start]);
        let mut next: Vec<Vec<u32>> = vec![vec![dead; samples.len()]];
        let mut accepting = vec![false];
        let mut work = 0;
        let mut targets: Vec<Vec<u32>> = vec![Vec::new(); samples.len()];
        let mut at = 1;
        while at < sets.known.len() {
            let set = sets.known[at].clone();
            at += 1;
            accepting.push(set.binary_search(&self.end).is_ok());
            targets.iter_mut().for_each(Vec::clear);
            for &(first, last, to) in
                set.iter().flat_map(|&state| &self.states[state as usize].ranges)
            {
                let classes = usize::from(classes[usize::from(first)])
                    ..=usize::from(classes[usize::from(last)]);
                targets[classes].iter_mut().for_each(|targets| targets.push(to));
            }
            work += targets.iter().map(Vec::len).sum::<usize>();
            let mut row: Vec<u32> = Vec::with_capacity(samples.len());
            for (class, to) in targets.iter().enumerate() {
                // Neighbours mostly lead to the same states.
                row.push(match class.checked_sub(1) {
                    Some(before) if targets[before] == *to => row[before],
                    _ => sets.number(to),
                });
            }
            next.push(row);
            // Twice the bound: what is merged afterwards does not count.
            if sets.known.len() > 2 * max_states || work > MAX_WORK {
                return Err(TooLarge);
            }
        }
        let dfa = Dfa::new(classes, &next, &accepting, start);
        if dfa.states() > max_states { Err(TooLarge) } else { Ok(dfa) }
    }

    pub(super) fn start(&self) -> u32 {
        self.start
    }

    pub(super) fn end(&self) -> u32 {
        self.end
    }

    pub(super) fn free(&self, state: u32) -> &[u32] {
        &self.states[state as usize].free
    }

    pub(super) fn ranges(&self, state: u32) -> &[(u8, u8, u32)] {
        &self.states[state as usize].ranges
    }

    /// Bytes that no state tells apart get one number; also one byte for each number.
    pub(super) fn classes(&self) -> ([u8; 256], Vec<u8>) {
        let mut starts = [false; 257];
        starts[0] = true;
        for &(first, last, _) in self.states.iter().flat_map(|state| &state.ranges) {
            starts[usize::from(first)] = true;
            starts[usize::from(last) + 1] = true;
        }
        let mut classes = [0; 256];
        let mut samples = Vec::new();
        for byte in 0..=u8::MAX {
            if starts[usize::from(byte)] {
                samples.push(byte);
            }
            classes[usize::from(byte)] = u8::try_from(samples.len() - 1).unwrap_or(u8::MAX);
        }
        (classes, samples)
    }

    fn add(&mut self) -> u32 {
        self.states.push(State::default());
        u32::try_from(self.states.len() - 1).unwrap_or(u32::MAX)
    }

    /// Leads from one state to another through a byte, which follows the bytes given before.
    fn lead(&mut self, from: u32, byte: u8, to: u32) {
        match self.states[from as usize].ranges.last_mut() {
            Some((_, last, target)) if *target == to && last.checked_add(1) == Some(byte) => {
                *last = byte;
            }
            _ => self.states[from as usize].ranges.push((byte, byte, to)),
        }
    }

    /// Leads from one state to another through a word.
    fn thread(&mut self, from: u32, word: &[u8], to: u32) {
        let mut at = from;
        for (index, &byte) in word.iter().enumerate() {
            let next = if index + 1 == word.len() { to } else { self.add() };
            self.states[at as usize].ranges.push((byte, byte, next));
            at = next;
        }
    }

    /// Takes in another automaton's states; gives its start and end under their new numbers.
    fn absorb(&mut self, other: Nfa) -> Result<(u32, u32), TooLarge> {
        if self.states.len() + other.states.len() > MAX_STATES {
            return Err(TooLarge);
        }
        let shift = u32::try_from(self.states.len()).map_err(|_| TooLarge)?;
        self.states.extend(other.states.into_iter().map(|state| State {
            ranges: state.ranges.into_iter().map(|(a, b, to)| (a, b, to + shift)).collect(),
            free: state.free.into_iter().map(|to| to + shift).collect(),
        }));
        Ok((other.start + shift, other.end + shift))
    }
}
