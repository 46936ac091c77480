//! Whether one language holds all of another, without making either deterministic as a whole.

use super::product::search;
use super::{Meeting, Nfa, TooLarge, preference};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A shortest word that all of `narrow` accept and `wide` does not; apart means that `wide` holds all of them. Only
/// the sets of states of `wide` that such words lead to are looked at.
pub(crate) fn uncovered<const N: usize>(
    narrow: [&Nfa; N],
    wide: &Nfa,
) -> Result<Meeting, TooLarge> {
    let sets = RefCell::new(Sets::new(wide));
    let start = (narrow.map(Nfa::start), sets.borrow_mut().start());
    let end = narrow.map(Nfa::end);
    let goal = |&(at, set): &([u32; N], u32)| at == end && !sets.borrow().accepts(set);
    search(start, goal, |&(at, set), found| {
        for (number, narrow) in narrow.iter().enumerate() {
            for &next in narrow.free(at[number]) {
                let mut to = at;
                to[number] = next;
                found((to, set), None);
            }
        }
        let mut shared = vec![(0, u8::MAX, at)];
        for (number, narrow) in narrow.iter().enumerate() {
            let before = std::mem::take(&mut shared);
            for (first, last, mut to) in before {
                for &(other_first, other_last, next) in narrow.ranges(at[number]) {
                    to[number] = next;
                    shared.push((first.max(other_first), last.min(other_last), to));
                }
            }
            shared.retain(|(first, last, _)| first <= last);
        }
        let mut sets = sets.borrow_mut();
        let mut steps: Vec<(u8, [u32; N])> = Vec::new();
        for (first, last, to) in shared {
            steps.extend(sets.representatives(first, last).into_iter().map(|byte| (byte, to)));
        }
        steps.sort_by_key(|&(byte, _)| preference(byte));
        for (byte, to) in steps {
            found((to, sets.step(set, byte)), Some(byte));
        }
    })
}

/// The sets of states that words lead to, as they are met.
struct Sets<'n> {
    nfa: &'n Nfa,
    classes: [u8; 256],
    numbers: HashMap<Rc<[u32]>, u32>,
    known: Vec<Rc<[u32]>>,
    steps: HashMap<(u32, u8), u32>,
}

impl<'n> Sets<'n> {
    fn new(nfa: &'n Nfa) -> Self {
        let classes = nfa.classes().0;
        Sets { nfa, classes, numbers: HashMap::new(), known: Vec::new(), steps: HashMap::new() }
    }

    fn start(&mut self) -> u32 {
        self.number(vec![self.nfa.start()])
    }

    fn accepts(&self, set: u32) -> bool {
        self.known[set as usize].binary_search(&self.nfa.end()).is_ok()
    }

    /// Where a byte leads from a set.
    fn step(&mut self, set: u32, byte: u8) -> u32 {
        let class = self.classes[usize::from(byte)];
        if let Some(&known) = self.steps.get(&(set, class)) {
            return known;
        }
        let states = self.known[set as usize].clone();
        let ranges = states.iter().flat_map(|&state| self.nfa.ranges(state));
        let met = ranges.filter(|(first, last, _)| (*first..=*last).contains(&byte));
        let targets = met.map(|&(_, _, next)| next).collect();
        let to = self.number(targets);
        self.steps.insert((set, class), to);
        to
    }

    /// The number of a set, with everything that is reached from it without reading.
    fn number(&mut self, mut open: Vec<u32>) -> u32 {
        let mut set: Vec<u32> = Vec::new();
        while let Some(state) = open.pop() {
            if !set.contains(&state) {
                open.extend(self.nfa.free(state));
                set.push(state);
            }
        }
        set.sort_unstable();
        if let Some(&known) = self.numbers.get(set.as_slice()) {
            return known;
        }
        let fresh = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        let set = Rc::<[u32]>::from(set);
        self.known.push(set.clone());
        self.numbers.insert(set, fresh);
        fresh
    }

    /// One byte of the range for each class, the one that is read most easily.
    fn representatives(&self, first: u8, last: u8) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::new();
        let mut class = None;
        for byte in first..=last {
            // The bytes of a class are neighbours.
            let own = self.classes[usize::from(byte)];
            match bytes.last_mut() {
                Some(best) if class == Some(own) => {
                    if preference(byte) < preference(*best) {
                        *best = byte;
                    }
                }
                _ => bytes.push(byte),
            }
            class = Some(own);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(word: &str) -> Meeting {
        Meeting::At(word.as_bytes().to_vec())
    }

    #[test]
    fn the_shortest_word_that_is_missing_is_found() {
        let letters = Nfa::bytes(&[(b'a', b'z')]).repeat(1, None).unwrap();
        let digits = Nfa::bytes(&[(b'0', b'9')]).repeat(1, None).unwrap();
        let both = Nfa::any([letters.clone(), digits.clone()]).unwrap();
        assert_eq!(uncovered([&letters], &both), Ok(Meeting::Apart));
        assert_eq!(uncovered([&both], &letters), Ok(some("0")));
        assert_eq!(uncovered([&letters], &Nfa::literal(b"a")), Ok(some("b")));
        assert_eq!(uncovered([&Nfa::empty()], &letters), Ok(some("")));
        assert_eq!(uncovered([&Nfa::nothing()], &letters), Ok(Meeting::Apart));
    }

    #[test]
    fn what_two_have_in_common_is_found_beside_the_rest() {
        let letters = Nfa::bytes(&[(b'a', b'z')]).repeat(1, None).unwrap();
        let hex = Nfa::bytes(&[(b'0', b'9'), (b'a', b'f')]).repeat(1, None).unwrap();
        let single = Nfa::bytes(&[(0, 0xff)]);
        assert_eq!(uncovered([&letters, &hex], &Nfa::nothing()), Ok(some("a")));
        assert_eq!(uncovered([&letters, &hex], &single), Ok(some("aa")));
        let low = Nfa::bytes(&[(b'a', b'f')]).repeat(1, None).unwrap();
        assert_eq!(uncovered([&letters, &hex], &low), Ok(Meeting::Apart));
    }

    #[test]
    fn two_may_cover_what_neither_does_alone() {
        let any = Nfa::bytes(&[(0, 0xff)]);
        let low = Nfa::bytes(&[(0, 0x7f)]);
        let high = Nfa::bytes(&[(0x80, 0xff)]);
        assert_eq!(uncovered([&any], &Nfa::any([low, high]).unwrap()), Ok(Meeting::Apart));
    }
}
