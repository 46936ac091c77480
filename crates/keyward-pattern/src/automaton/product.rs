//! What two languages have in common, and whether one holds the other.

use super::{Dfa, Nfa, TooLarge, preference};
use std::collections::HashMap;
use std::hash::Hash;

/// More pairs of states than the products of sensible types have.
const MAX_PAIRS: usize = 1_000_000;

/// How two languages meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// They have nothing in common
    Apart,
    /// They share this word, and no shorter one
    At(Vec<u8>),
}

/// A shortest word that both automata accept.
pub(crate) fn meet_dfa(left: &Dfa, right: &Dfa) -> Result<Meeting, TooLarge> {
    let bytes = joint_representatives(left, right);
    let goal = |&(a, b): &(u32, u32)| left.accepting(a) && right.accepting(b);
    search((left.start(), right.start()), goal, |&(a, b), found| {
        if Dfa::is_dead(a) || Dfa::is_dead(b) {
            return;
        }
        for &byte in &bytes {
            let pair = (left.next(a, byte), right.next(b, byte));
            if !Dfa::is_dead(pair.0) && !Dfa::is_dead(pair.1) {
                found(pair, Some(byte));
            }
        }
    })
}

/// A shortest word of `narrow` that `wide` does not accept; apart means that `wide` holds all of it.
pub(crate) fn subset(narrow: &Dfa, wide: &Dfa) -> Result<Meeting, TooLarge> {
    let bytes = joint_representatives(narrow, wide);
    let goal = |&(a, b): &(u32, u32)| narrow.accepting(a) && !wide.accepting(b);
    search((narrow.start(), wide.start()), goal, |&(a, b), found| {
        for &byte in &bytes {
            let next = narrow.next(a, byte);
            if !Dfa::is_dead(next) {
                found((next, wide.next(b, byte)), Some(byte));
            }
        }
    })
}

/// A shortest word that both automata accept, without making either deterministic.
pub(crate) fn meet(left: &Nfa, right: &Nfa) -> Result<Meeting, TooLarge> {
    let goal = |&(a, b): &(u32, u32)| a == left.end() && b == right.end();
    search((left.start(), right.start()), goal, |&(a, b), found| {
        for &next in left.free(a) {
            found((next, b), None);
        }
        for &next in right.free(b) {
            found((a, next), None);
        }
        let mut steps = Vec::new();
        for &(first, last, next) in left.ranges(a) {
            for &(other_first, other_last, other_next) in right.ranges(b) {
                let shared = first.max(other_first)..=last.min(other_last);
                steps.extend(
                    shared
                        .min_by_key(|&byte| preference(byte))
                        .map(|byte| (byte, next, other_next)),
                );
            }
        }
        steps.sort_by_key(|&(byte, _, _)| preference(byte));
        for (byte, next, other_next) in steps {
            found((next, other_next), Some(byte));
        }
    })
}

/// One byte for each pair of classes that occurs, those easy to read first.
fn joint_representatives(left: &Dfa, right: &Dfa) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..=u8::MAX).collect();
    bytes.sort_by_key(|&byte| preference(byte));
    let mut seen = std::collections::HashSet::new();
    bytes.retain(|&byte| seen.insert((left.class(byte), right.class(byte))));
    bytes
}

/// Breadth first over states, steps without a byte counting nothing; the word of the first goal.
pub(crate) fn search<S: Copy + Eq + Hash>(
    start: S,
    goal: impl Fn(&S) -> bool,
    steps: impl Fn(&S, &mut dyn FnMut(S, Option<u8>)),
) -> Result<Meeting, TooLarge> {
    let mut came_from: HashMap<S, Step<S>> = HashMap::new();
    came_from.insert(start, Step { from: start, byte: None, len: 0 });
    let mut layer = vec![start];
    let mut next_layer = Vec::new();
    for len in 0.. {
        let mut at = 0;
        while at < layer.len() {
            let state = layer[at];
            at += 1;
            if goal(&state) {
                return Ok(Meeting::At(word_to(&came_from, start, state)));
            }
            steps(&state, &mut |next, byte| {
                let next_len = len + usize::from(byte.is_some());
                if came_from.get(&next).is_none_or(|known| next_len < known.len) {
                    came_from.insert(next, Step { from: state, byte, len: next_len });
                    if byte.is_some() { next_layer.push(next) } else { layer.push(next) }
                }
            });
            if came_from.len() > MAX_PAIRS {
                return Err(TooLarge);
            }
        }
        if next_layer.is_empty() {
            break;
        }
        layer = std::mem::take(&mut next_layer);
    }
    Ok(Meeting::Apart)
}

/// How a state was first reached.
struct Step<S> {
    from: S,
    byte: Option<u8>,
    len: usize,
}

fn word_to<S: Copy + Eq + Hash>(came_from: &HashMap<S, Step<S>>, start: S, goal: S) -> Vec<u8> {
    let mut word = Vec::new();
    let mut at = goal;
    while at != start {
        let step = &came_from[&at];
        word.extend(step.byte);
        at = step.from;
    }
    word.reverse();
    word
}
