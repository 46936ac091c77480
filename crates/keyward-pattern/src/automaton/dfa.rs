//! A minimal deterministic automaton as a dense table.

use super::{TooLarge, preference};
use std::cell::OnceCell;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// State 0 is dead: nothing leads out of it, and it does not accept.
const DEAD: u32 = 0;

/// A deterministic automaton. Rows are states, columns are classes of bytes that no state tells apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dfa {
    classes: [u8; 256],
    /// The length of a row: one entry a class, and one that says whether the state accepts
    stride: u32,
    /// `rows[state + class]`; a state is the offset of its row, which saves a multiplication a byte
    rows: Vec<u32>,
    start: u32,
}

impl Dfa {
    /// From `next[state][class]` with state 0 dead; made minimal.
    pub(super) fn new(
        classes: [u8; 256],
        next: &[Vec<u32>],
        accepting: &[bool],
        start: u32,
    ) -> Self {
        let merged = merge_equal_states(next, accepting);
        let (classes, keep) = merge_equal_classes(&classes, next, &merged);
        let states = merged.iter().max().map_or(1, |max| max + 1);
        let stride = u32::try_from(keep.len() + 1).unwrap_or(u32::MAX);
        let mut rows = vec![DEAD; (states * stride) as usize];
        for (old, row) in next.iter().enumerate() {
            let new = (merged[old] * stride) as usize;
            for (column, &class) in keep.iter().enumerate() {
                rows[new + column] = merged[row[class] as usize] * stride;
            }
            rows[new + keep.len()] = u32::from(accepting[old]);
        }
        Dfa { classes, stride, rows, start: merged[start as usize] * stride }
    }

    /// From the table of an automaton that was minimal when it was written; `None` if it is not a table.
    pub(crate) fn from_table(
        classes: [u8; 256],
        next: &[Vec<u32>],
        accepting: &[bool],
        start: u32,
    ) -> Option<Self> {
        let dead = next.first()?;
        if dead.iter().any(|&next| next != DEAD) || *accepting.first()? {
            return None;
        }
        let stride = u32::try_from(dead.len() + 1).ok()?;
        u32::try_from(next.len()).ok()?.checked_mul(stride)?;
        let mut rows = Vec::new();
        for (row, &accepting) in next.iter().zip(accepting) {
            rows.extend(row.iter().map(|&next| next * stride));
            rows.push(u32::from(accepting));
        }
        Some(Dfa { classes, stride, rows, start: start * stride })
    }

    /// Whether each state accepts, and where each class leads from it, by numbers.
    pub(crate) fn table(&self) -> impl Iterator<Item = (bool, impl Iterator<Item = u32>)> {
        let stride = self.stride;
        self.rows.chunks_exact(stride as usize).map(move |row| {
            let (accepting, next) = row.split_last().unwrap_or((&0, &[]));
            (*accepting != 0, next.iter().map(move |next| next / stride))
        })
    }

    /// How many classes of bytes there are.
    pub(crate) fn class_count(&self) -> usize {
        self.stride as usize - 1
    }

    /// A state's number; the dead one is 0.
    pub(crate) fn number(&self, state: u32) -> u32 {
        state / self.stride
    }

    pub(crate) fn start(&self) -> u32 {
        self.start
    }

    #[inline]
    pub(crate) fn next(&self, state: u32, byte: u8) -> u32 {
        self.rows[state as usize + usize::from(self.classes[usize::from(byte)])]
    }

    #[inline]
    pub(crate) fn accepting(&self, state: u32) -> bool {
        self.rows[(state + self.stride - 1) as usize] != 0
    }

    pub(crate) fn is_dead(state: u32) -> bool {
        state == DEAD
    }

    /// Whether the automaton accepts exactly these bytes.
    #[inline]
    pub(crate) fn matches(&self, bytes: &[u8]) -> bool {
        let mut state = self.start;
        for &byte in bytes {
            state = self.next(state, byte);
            if state == DEAD {
                return false;
            }
        }
        self.accepting(state)
    }

    /// How many leading bytes can still be continued to a match.
    pub(crate) fn progress(&self, bytes: &[u8]) -> usize {
        let mut state = self.start;
        for (at, &byte) in bytes.iter().enumerate() {
            state = self.next(state, byte);
            if state == DEAD {
                return at;
            }
        }
        bytes.len()
    }

    /// A word of the language, of about so many bytes: `choose` picks one of so many ways on.
    pub(crate) fn sample(&self, len: usize, choose: &mut dyn FnMut(usize) -> usize) -> Vec<u8> {
        let mut word = Vec::new();
        let mut state = self.start;
        // Most words end where they are long enough, and need none.
        let distances = OnceCell::new();
        let far =
            |state: u32| distances.get_or_init(|| self.distances())[self.number(state) as usize];
        while !(self.is_empty() || self.accepting(state) && word.len() >= len) {
            let on = |byte: &u8| self.next(state, *byte) != DEAD;
            let mut ways: Vec<u8> = (0..=u8::MAX).filter(on).collect();
            if word.len() >= len {
                ways.retain(|&byte| far(self.next(state, byte)) < far(state));
            }
            if ways.is_empty() {
                break;
            }
            // What is read most easily stands first; every kind of byte is chosen as often, not every
            // byte: there are far more letters than digits.
            ways.sort_by_key(|&byte| preference(byte));
            let mut classes: Vec<u8> = Vec::new();
            for class in ways.iter().map(|&byte| self.class(byte)) {
                if !classes.contains(&class) {
                    classes.push(class);
                }
            }
            let class = classes[choose(classes.len()) % classes.len()];
            ways.retain(|&byte| self.class(byte) == class);
            let byte = ways[choose(ways.len()) % ways.len()];
            word.push(byte);
            state = self.next(state, byte);
        }
        word
    }

    /// For each state, how many bytes are missing to a match.
    fn distances(&self) -> Vec<usize> {
        let mut distances = vec![usize::MAX; self.states()];
        let table: Vec<(bool, Vec<u32>)> =
            self.table().map(|(accepting, next)| (accepting, next.collect())).collect();
        for (distance, (accepting, _)) in distances.iter_mut().zip(&table) {
            if *accepting {
                *distance = 0;
            }
        }
        loop {
            let mut changed = false;
            // Backwards, since most states lead to those behind them.
            for (state, (_, next)) in table.iter().enumerate().rev() {
                let best = next.iter().map(|&next| distances[next as usize]).min();
                let best = best.unwrap_or(usize::MAX).saturating_add(1);
                if best < distances[state] {
                    distances[state] = best;
                    changed = true;
                }
            }
            if !changed {
                return distances;
            }
        }
    }

    /// How many states, the dead one included.
    pub(crate) fn states(&self) -> usize {
        self.rows.len() / self.stride as usize
    }

    /// One byte of each class, easy to read ones first, and all bytes for which `apart` holds.
    #[cfg(feature = "prove")]
    pub(crate) fn representatives(&self, apart: impl Fn(u8) -> bool) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..=u8::MAX).collect();
        bytes.sort_by_key(|&byte| preference(byte));
        let mut seen = vec![false; self.stride as usize];
        bytes.retain(|&byte| {
            apart(byte) || !std::mem::replace(&mut seen[usize::from(self.class(byte))], true)
        });
        bytes
    }

    /// The byte's class: bytes of one class are told apart by no state.
    pub(crate) fn class(&self, byte: u8) -> u8 {
        self.classes[usize::from(byte)]
    }

    /// Whether a match can contain the byte. In a minimal automaton every state but the dead one
    /// leads to a match.
    pub(crate) fn uses(&self, byte: u8) -> bool {
        let class = u32::from(self.class(byte));
        let mut states = (self.stride..).step_by(self.stride as usize).take(self.states() - 1);
        states.any(|state| self.rows[(state + class) as usize] != DEAD)
    }

    /// What both accept.
    pub(crate) fn intersect(&self, other: &Dfa, max_states: usize) -> Result<Dfa, TooLarge> {
        self.product(other, true, max_states)
    }

    /// What the other does not accept.
    pub(crate) fn without(&self, other: &Dfa, max_states: usize) -> Result<Dfa, TooLarge> {
        self.product(other, false, max_states)
    }

    /// What this one accepts, and the other if and only if `both`.
    fn product(&self, other: &Dfa, both: bool, max_states: usize) -> Result<Dfa, TooLarge> {
        let mut classes = [0; 256];
        let mut samples: Vec<u8> = Vec::new();
        let mut class_of_pair = HashMap::new();
        for byte in 0..=u8::MAX {
            classes[usize::from(byte)] =
                *class_of_pair.entry((self.class(byte), other.class(byte))).or_insert_with(|| {
                    samples.push(byte);
                    u8::try_from(samples.len() - 1).unwrap_or(u8::MAX)
                });
        }
        let mut numbers = HashMap::from([((self.start, other.start), 1u32)]);
        let mut open = vec![(self.start, other.start)];
        let mut next = vec![vec![DEAD; samples.len()]];
        let mut accepting = vec![false];
        let mut at = 0;
        while at < open.len() {
            let (a, b) = open[at];
            at += 1;
            accepting.push(self.accepting(a) && other.accepting(b) == both);
            let mut row = Vec::with_capacity(samples.len());
            for &byte in &samples {
                let pair = (self.next(a, byte), other.next(b, byte));
                row.push(if pair.0 == DEAD || (both && pair.1 == DEAD) {
                    DEAD
                } else {
                    *numbers.entry(pair).or_insert_with(|| {
                        open.push(pair);
                        u32::try_from(open.len()).unwrap_or(u32::MAX)
                    })
                });
            }
            next.push(row);
            if open.len() > 2 * max_states {
                return Err(TooLarge);
            }
        }
        Ok(Dfa::new(classes, &next, &accepting, 1))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == DEAD
    }

    /// The length of the shortest match; of an empty language, zero.
    pub(crate) fn min_len(&self) -> usize {
        let mut seen = vec![false; self.states()];
        let mut queue = VecDeque::from([(self.start, 0)]);
        while let Some((state, len)) = queue.pop_front() {
            if self.accepting(state) {
                return len;
            }
            for next in self.successors(state) {
                if !std::mem::replace(&mut seen[(next / self.stride) as usize], true) {
                    queue.push_back((next, len + 1));
                }
            }
        }
        0
    }

    /// The length of the longest match; `None` if there is no bound.
    pub(crate) fn max_len(&self) -> Option<usize> {
        // Longest path; a cycle shows as a path longer than there are states.
        let mut incoming = vec![0usize; self.states()];
        let index = |state: u32| (state / self.stride) as usize;
        for state in (self.stride..).step_by(self.stride as usize).take(self.states() - 1) {
            for next in self.successors(state) {
                incoming[index(next)] += 1;
            }
        }
        let mut longest = vec![0usize; self.states()];
        let mut ready: Vec<u32> = if incoming[index(self.start)] == 0 {
            vec![self.start]
        } else {
            return self.is_empty().then_some(0);
        };
        let mut done = 1;
        while let Some(state) = ready.pop() {
            for next in self.successors(state) {
                let at = index(next);
                longest[at] = longest[at].max(longest[index(state)] + 1);
                incoming[at] -= 1;
                if incoming[at] == 0 {
                    done += 1;
                    ready.push(next);
                }
            }
        }
        (done == self.states() - 1).then(|| longest.into_iter().max().unwrap_or(0))
    }

    /// The live states that follow, one for each class.
    fn successors(&self, state: u32) -> impl Iterator<Item = u32> {
        let row = state as usize..(state + self.stride - 1) as usize;
        self.rows[row].iter().copied().filter(|&next| next != DEAD)
    }
}

/// For each state, the number of its group of states that accept the same; the dead group is 0.
///
/// Hopcroft's refinement: of two halves only the smaller one splits others again.
fn merge_equal_states(next: &[Vec<u32>], accepting: &[bool]) -> Vec<u32> {
    let before = Predecessors::new(next);
    let alive = can_accept(&before, accepting);
    let first = |state: usize| usize::from(alive[state]) + usize::from(accepting[state]);
    let mut groups = Groups::new(&(0..next.len()).map(first).collect::<Vec<_>>());
    let mut open: Vec<usize> = (0..groups.ranges.len()).collect();
    let mut is_open = vec![true; open.len()];
    while let Some(splitter) = open.pop() {
        is_open[splitter] = false;
        let targets = groups.states[groups.ranges[splitter].clone()].to_vec();
        for class in 0..before.classes {
            for &state in targets.iter().flat_map(|&target| before.of(class, target)) {
                groups.mark(state);
            }
            for (old, new) in groups.split() {
                is_open.push(false);
                let smaller =
                    if groups.ranges[new].len() <= groups.ranges[old].len() { new } else { old };
                let again = if is_open[old] { new } else { smaller };
                open.push(again);
                is_open[again] = true;
            }
        }
    }
    // Numbered in the order of the states, the dead ones first, whatever order they were split in.
    let mut numbers = HashMap::from([(groups.of[DEAD as usize], 0)]);
    let number = |of: usize| {
        let fresh = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(of).or_insert(fresh)
    };
    groups.of.into_iter().map(number).collect()
}

/// States in groups that can be split at the cost of what is split off.
struct Groups {
    /// All states, those of a group together, the marked ones first
    states: Vec<u32>,
    /// Where each state stands in `states`
    places: Vec<usize>,
    /// Each state's group
    of: Vec<usize>,
    ranges: Vec<Range<usize>>,
    marked: Vec<usize>,
    touched: Vec<usize>,
}

impl Groups {
    fn new(first: &[usize]) -> Self {
        let mut states: Vec<u32> = (0u32..).take(first.len()).collect();
        states.sort_by_key(|&state| first[state as usize]);
        let mut groups = Groups {
            places: vec![0; first.len()],
            of: vec![0; first.len()],
            ranges: Vec::new(),
            marked: Vec::new(),
            touched: Vec::new(),
            states,
        };
        let mut last = None;
        for place in 0..groups.states.len() {
            let state = groups.states[place] as usize;
            if last != Some(first[state]) {
                last = Some(first[state]);
                groups.ranges.push(place..place);
                groups.marked.push(0);
            }
            let group = groups.ranges.len() - 1;
            groups.ranges[group].end = place + 1;
            groups.places[state] = place;
            groups.of[state] = group;
        }
        groups
    }

    fn mark(&mut self, state: u32) {
        let group = self.of[state as usize];
        let (place, front) =
            (self.places[state as usize], self.ranges[group].start + self.marked[group]);
        if place < front {
            return;
        }
        let other = self.states[front];
        self.states.swap(place, front);
        (self.places[state as usize], self.places[other as usize]) = (front, place);
        if self.marked[group] == 0 {
            self.touched.push(group);
        }
        self.marked[group] += 1;
    }

    /// Splits the marked states off; each group that was split, and the new one.
    fn split(&mut self) -> Vec<(usize, usize)> {
        let mut splits = Vec::new();
        for group in std::mem::take(&mut self.touched) {
            let marked = std::mem::take(&mut self.marked[group]);
            if marked == self.ranges[group].len() {
                continue;
            }
            let start = self.ranges[group].start;
            let new = self.ranges.len();
            self.ranges[group].start = start + marked;
            self.ranges.push(start..start + marked);
            self.marked.push(0);
            for &state in &self.states[start..start + marked] {
                self.of[state as usize] = new;
            }
            splits.push((group, new));
        }
        splits
    }
}

/// The states that lead to each state by each class, in one list.
struct Predecessors {
    classes: usize,
    starts: Vec<usize>,
    states: Vec<u32>,
}

impl Predecessors {
    fn new(next: &[Vec<u32>]) -> Self {
        let classes = next.first().map_or(0, Vec::len);
        let place = |class: usize, to: u32| class * next.len() + to as usize;
        let mut starts = vec![0; classes * next.len() + 1];
        for row in next {
            for (class, &to) in row.iter().enumerate() {
                starts[place(class, to) + 1] += 1;
            }
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut filled = starts.clone();
        let mut states = vec![0; classes * next.len()];
        for (from, row) in (0u32..).zip(next) {
            for (class, &to) in row.iter().enumerate() {
                let at = &mut filled[place(class, to)];
                states[*at] = from;
                *at += 1;
            }
        }
        Predecessors { classes, starts, states }
    }

    fn of(&self, class: usize, state: u32) -> &[u32] {
        let states = (self.starts.len() - 1).checked_div(self.classes).unwrap_or(0);
        let at = class * states + state as usize;
        &self.states[self.starts[at]..self.starts[at + 1]]
    }
}

/// Which states lead to acceptance.
fn can_accept(before: &Predecessors, accepting: &[bool]) -> Vec<bool> {
    let mut alive = accepting.to_vec();
    let mut queue: Vec<u32> =
        (0u32..).zip(accepting).filter(|(_, accepts)| **accepts).map(|(state, _)| state).collect();
    while let Some(state) = queue.pop() {
        for &from in (0..before.classes).flat_map(|class| before.of(class, state)) {
            if !std::mem::replace(&mut alive[from as usize], true) {
                queue.push(from);
            }
        }
    }
    alive
}

/// Joins classes that no state tells apart. Gives the new class of each byte, and an old class
/// for each new one.
fn merge_equal_classes(
    classes: &[u8; 256],
    next: &[Vec<u32>],
    group: &[u32],
) -> ([u8; 256], Vec<usize>) {
    let width = next.first().map_or(0, Vec::len);
    let mut ids = HashMap::new();
    let mut keep = Vec::new();
    let new_of_old: Vec<u8> = (0..width)
        .map(|class| {
            let column: Vec<u32> = next.iter().map(|row| group[row[class] as usize]).collect();
            *ids.entry(column).or_insert_with(|| {
                keep.push(class);
                u8::try_from(keep.len() - 1).unwrap_or(u8::MAX)
            })
        })
        .collect();
    (classes.map(|class| new_of_old[usize::from(class)]), keep)
}
