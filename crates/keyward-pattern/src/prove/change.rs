//! What became of a definition's keys in another version of its keyspace.
//!
//! Whole keys are compared, as automata: neither the separators nor the prefixes of the two need to agree.

use crate::automaton::{self, Meeting, Nfa, TooLarge, meet};
use crate::prove::overlap::{Overlaps, between};
use crate::prove::search::path_nfa;
use crate::{Definition, DefinitionId, Keyspace};
use std::fmt;

/// Two definitions are too large to be compared within the bounds of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uncompared;

impl From<TooLarge> for Uncompared {
    fn from(_: TooLarge) -> Self {
        Uncompared
    }
}

impl fmt::Display for Uncompared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the patterns are too large to be compared")
    }
}

impl std::error::Error for Uncompared {}

/// A shortest text of a definition's pattern that none of the other patterns has; `None` if together they have all.
///
/// Patterns are compared as they are written: whether a narrower definition takes a key is not asked.
///
/// ```
/// use keyward_pattern::{Keyspace, Template, prove::uncovered};
///
/// let keyspace = |pattern: &str| {
///     let mut builder = Keyspace::builder(':')?;
///     builder.define("user", &Template::parse(pattern)?, |_| None);
///     Ok::<_, Box<dyn std::error::Error>>(builder.finish().unwrap())
/// };
/// let (old, new) = (keyspace("user:{id}")?, keyspace("user:{id:uint}")?);
/// let (old, new) = (old.definitions().next().unwrap(), new.definitions().next().unwrap());
/// assert_eq!(uncovered(old, &[new])?.unwrap(), "user:a");
/// assert_eq!(uncovered(new, &[old])?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn uncovered(of: Definition<'_>, by: &[Definition<'_>]) -> Result<Option<String>, Uncompared> {
    let wide = Nfa::any(by.iter().map(|it| keys(*it)).collect::<Result<Vec<_>, _>>()?)?;
    Ok(word(automaton::uncovered(&keys(of)?, &wide)?))
}

/// A shortest text that two patterns have in common.
pub fn common(left: Definition<'_>, right: Definition<'_>) -> Result<Option<String>, Uncompared> {
    Ok(word(meet(&keys(left)?, &keys(right)?)?))
}

/// Keys of definitions of the old keyspace that patterns of the new one match, for the pairs that are asked for:
/// the first claim is the old one's, the second the new one's. Derived keys are left out.
pub fn taken(
    old: &Keyspace,
    new: &Keyspace,
    asked: impl Fn(DefinitionId, DefinitionId) -> bool,
) -> Overlaps {
    between(old, new, &asked)
}

/// All texts of a definition's pattern.
fn keys(definition: Definition<'_>) -> Result<Nfa, TooLarge> {
    let keyspace = definition.keyspace;
    let paths = definition.compiled.paths.clone();
    let paths = paths.map(|number| {
        let path = &keyspace.paths()[number as usize];
        path_nfa(path, keyspace.separator())
    });
    let mut paths = paths.collect::<Result<Vec<Nfa>, TooLarge>>()?;
    match paths.len() {
        1 => Ok(paths.remove(0)),
        _ => Nfa::any(paths),
    }
}

fn word(meeting: Meeting) -> Option<String> {
    match meeting {
        Meeting::At(word) => Some(String::from_utf8_lossy(&word).into_owned()),
        Meeting::Apart => None,
    }
}
