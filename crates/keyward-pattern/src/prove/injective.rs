//! Whether an encoding can spell two values alike.
//!
//! Two values with one spelling are found by reading both at once: the one whose spelling is behind
//! goes on, so that what the other is ahead by is always the tail of one replacement. That makes
//! the search finite and its first hit a shortest pair.

use crate::automaton::{Dfa, TooLarge};
use crate::codec::Codec;
use crate::definition::Slot;
use crate::{DefinitionId, Keyspace};
use std::collections::{HashSet, VecDeque};

/// More steps than any sensible encoding needs.
const MAX_STEPS: usize = 200_000;

/// An encoding that loses something: two values with one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lossy {
    /// The definition
    pub definition: DefinitionId,
    /// The parameter
    pub param: String,
    /// A value
    pub left: String,
    /// Another value
    pub right: String,
    /// What both become; empty where the search reached its bound before an answer
    pub spelling: String,
}

/// The parameters of a keyspace whose encoding can spell two values alike.
pub fn lossy(keyspace: &Keyspace) -> Vec<Lossy> {
    let mut found = Vec::new();
    for definition in keyspace.definitions() {
        let compiled = keyspace.compiled(definition.id());
        for ((name, _), slot) in compiled.params.iter().zip(&compiled.slots) {
            let Slot::Typed(language) = slot else { continue };
            let (Codec::Mapped(_), Some(values)) = (&language.codec, &language.values) else {
                continue;
            };
            let (left, right) = match collision(values, &language.codec) {
                Ok(None) => continue,
                Ok(Some(values)) => values,
                Err(TooLarge) => Default::default(),
            };
            let mut spelling = String::new();
            language.codec.write(&left, &mut spelling);
            found.push(Lossy {
                definition: definition.id(),
                param: name.clone(),
                left,
                right,
                spelling,
            });
        }
    }
    found
}

/// Two readings, and by what the second one's spelling is ahead of the first one's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Pair {
    behind: u32,
    ahead: u32,
    lead: Vec<u8>,
    /// Whether the values differ already
    apart: bool,
}

/// How a pair was reached: the bytes read by the one behind and by the one ahead, and whether the
/// two changed places.
struct Step {
    from: usize,
    behind: Option<u8>,
    ahead: Option<u8>,
    swapped: bool,
}

/// Two values with one spelling, if there are any.
fn collision(values: &Dfa, codec: &Codec) -> Result<Option<(String, String)>, TooLarge> {
    let spellings: Vec<Vec<u8>> =
        (0..=u8::MAX).map(|byte| codec.spell(byte).unwrap_or_else(|| vec![byte])).collect();
    // Bytes of one class behave alike, but not where a replacement begins with one of them.
    let special = |byte: u8| {
        let mut replaced = (0..=u8::MAX).zip(&spellings).filter(|(own, word)| **word != [*own]);
        replaced.any(|(own, word)| own == byte || word.contains(&byte))
    };
    let bytes = values.representatives(special);
    let start =
        Pair { behind: values.start(), ahead: values.start(), lead: Vec::new(), apart: false };
    let mut pairs = vec![start.clone()];
    let mut steps = vec![Step { from: 0, behind: None, ahead: None, swapped: false }];
    let mut seen = HashSet::from([start]);
    let mut open = VecDeque::from([0]);
    while let Some(number) = open.pop_front() {
        let pair = pairs[number].clone();
        if pair.apart
            && pair.lead.is_empty()
            && values.accepting(pair.behind)
            && values.accepting(pair.ahead)
        {
            return Ok(Some(unwind(&steps, number)));
        }
        let mut go = |next: Pair, step: Step| {
            if seen.insert(next.clone()) {
                pairs.push(next);
                steps.push(step);
                open.push_back(pairs.len() - 1);
            }
        };
        for &byte in &bytes {
            let next = values.next(pair.behind, byte);
            if Dfa::is_dead(next) {
                continue;
            }
            let spelling = &spellings[usize::from(byte)];
            if !pair.apart {
                // Still the same value: both read the same byte, or part here.
                go(
                    Pair { behind: next, ahead: next, lead: Vec::new(), apart: false },
                    Step { from: number, behind: Some(byte), ahead: Some(byte), swapped: false },
                );
                for &other in &bytes {
                    let other_next = values.next(pair.ahead, other);
                    let other_spelling = &spellings[usize::from(other)];
                    if other == byte || Dfa::is_dead(other_next) {
                        continue;
                    }
                    if let Some(lead) = other_spelling.strip_prefix(&spelling[..]) {
                        go(
                            Pair {
                                behind: next,
                                ahead: other_next,
                                lead: lead.to_vec(),
                                apart: true,
                            },
                            Step {
                                from: number,
                                behind: Some(byte),
                                ahead: Some(other),
                                swapped: false,
                            },
                        );
                    }
                }
                continue;
            }
            // The one behind catches up with the lead, or overtakes and becomes the one ahead.
            if let Some(lead) = pair.lead.strip_prefix(&spelling[..]) {
                go(
                    Pair { behind: next, ahead: pair.ahead, lead: lead.to_vec(), apart: true },
                    Step { from: number, behind: Some(byte), ahead: None, swapped: false },
                );
            } else if let Some(lead) = spelling.strip_prefix(&pair.lead[..]) {
                go(
                    Pair { behind: pair.ahead, ahead: next, lead: lead.to_vec(), apart: true },
                    Step { from: number, behind: Some(byte), ahead: None, swapped: true },
                );
            }
        }
        if pairs.len() > MAX_STEPS {
            return Err(TooLarge);
        }
    }
    Ok(None)
}

/// The two values that led to a pair.
fn unwind(steps: &[Step], mut number: usize) -> (String, String) {
    let (mut behind, mut ahead) = (Vec::new(), Vec::new());
    while number != 0 {
        let step = &steps[number];
        if step.swapped {
            std::mem::swap(&mut behind, &mut ahead);
        }
        behind.extend(step.behind);
        ahead.extend(step.ahead);
        number = step.from;
    }
    let text = |mut bytes: Vec<u8>| {
        bytes.reverse();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (left, right) = (text(behind), text(ahead));
    if left <= right { (left, right) } else { (right, left) }
}
