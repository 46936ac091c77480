//! What became of a definition's keys in another version of its keyspace.
//!
//! Whole keys are compared, as automata: neither the separators nor the prefixes of the two need to agree.

use crate::automaton::{self, Meeting, Nfa, TooLarge};
use crate::definition::{Compiled, KeySlot, Op, Slot};
use crate::language::MAX_STATES;
use crate::prove::glob::glob_nfa;
use crate::prove::overlap::{Claim, OverlapKind, Overlaps, between, overlaps};
use crate::prove::search::path_nfa;
use crate::{DefinitionId, Glob, Keyspace};
use std::collections::HashMap;
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

/// One version of a keyspace, and which of its definitions take keys of others.
///
/// ```
/// use keyward_pattern::{Keyspace, Template, prove::Version};
///
/// let keyspace = |patterns: &[&str]| {
///     let mut builder = Keyspace::builder(':')?;
///     for pattern in patterns {
///         builder.define(pattern, &Template::parse(pattern)?, |_| None);
///     }
///     Ok::<_, Box<dyn std::error::Error>>(builder.finish().unwrap())
/// };
/// let (old, new) = (keyspace(&["symbol:{s}"])?, keyspace(&["symbol:{s}", "symbol:a"])?);
/// let symbol = old.find("symbol:{s}").unwrap();
/// let before = Version::new(&old).keys(symbol)?;
/// let after = Version::new(&new).keys(symbol)?;
/// assert_eq!(before.shortest()?.unwrap(), "symbol:a");
/// assert_eq!(after.shortest()?.unwrap(), "symbol:b"); // `symbol:a` is another one's
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Version<'k> {
    keyspace: &'k Keyspace,
    /// For each definition some of whose keys narrower ones take, those
    narrower: HashMap<DefinitionId, Vec<DefinitionId>>,
    complete: bool,
}

/// The keys of a definition.
#[derive(Debug, Clone)]
pub struct Keys {
    /// What its pattern matches
    written: Nfa,
    /// What of it narrower definitions take
    taken: Nfa,
    /// The longest that a key may be
    max_len: Option<usize>,
}

impl<'k> Version<'k> {
    /// Looks for overlaps, if there can be any.
    pub fn new(keyspace: &'k Keyspace) -> Self {
        let mut version = Version { keyspace, narrower: HashMap::new(), complete: true };
        if !keyspace.definitions().any(|it| it.is_shadowed()) {
            return version;
        }
        let found = overlaps(keyspace);
        version.complete = found.complete;
        for overlap in found.overlaps {
            if let (OverlapKind::Reserved { .. }, Claim::Definition(taker), Claim::Definition(of)) =
                (&overlap.kind, overlap.first, overlap.second)
            {
                version.narrower.entry(of).or_default().push(taker);
            }
        }
        version
    }

    /// Whether all overlaps were found; if not, keys may be called one definition's that are another one's.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether one definition is the narrower one of two: what its pattern matches is never the other one's.
    pub fn takes_from(&self, narrow: DefinitionId, wide: DefinitionId) -> bool {
        self.narrower.get(&wide).is_some_and(|takers| takers.contains(&narrow))
    }

    /// The keys of a definition.
    ///
    /// # Panics
    /// If the number belongs to another keyspace.
    pub fn keys(&self, of: DefinitionId) -> Result<Keys, Uncompared> {
        let takers = self.narrower.get(&of).into_iter().flatten();
        let taken = takers.map(|taker| self.written(*taker)).collect::<Result<Vec<_>, _>>()?;
        let slots = &self.keyspace.compiled(of).slots;
        let holds_shadowed = slots.iter().any(|it| matches!(it, Slot::Key(slot) if slot.shadowed));
        let written = if holds_shadowed { self.told_apart(of)? } else { self.written(of)? };
        let max_len = self.keyspace.0.max_len.map(|max| max.whole);
        Ok(Keys { written, taken: Nfa::any(taken)?, max_len })
    }

    /// All texts of a definition's pattern.
    fn written(&self, of: DefinitionId) -> Result<Nfa, TooLarge> {
        let paths = self.keyspace.compiled(of).paths.clone();
        let paths = paths.map(|number| {
            path_nfa(&self.keyspace.paths()[number as usize], self.keyspace.separator())
        });
        let mut paths = paths.collect::<Result<Vec<Nfa>, TooLarge>>()?;
        if paths.len() == 1 { Ok(paths.remove(0)) } else { Nfa::any(paths) }
    }

    /// The same where a parameter holds keys of a definition whose keys others may take: without those.
    fn told_apart(&self, of: DefinitionId) -> Result<Nfa, TooLarge> {
        let compiled = self.keyspace.compiled(of);
        let held = |slot: &KeySlot| {
            if !slot.shadowed {
                return any_path(slot, self.keyspace.separator());
            }
            let targets = slot.targets.iter().map(|target| self.held(*target));
            Nfa::any(targets.collect::<Result<Vec<_>, _>>()?)
        };
        Nfa::concat(parts(compiled, &compiled.ops, held)?)
    }

    /// The keys of a definition without the prefix and without those that narrower ones take.
    fn held(&self, of: DefinitionId) -> Result<Nfa, TooLarge> {
        let own = self.bare(of)?;
        let takers = self.narrower.get(&of).into_iter().flatten();
        let takers = takers.filter(|taker| !self.keyspace.compiled(**taker).absolute);
        let takers = takers.map(|taker| self.bare(*taker)).collect::<Result<Vec<_>, _>>()?;
        if takers.is_empty() {
            return Ok(own);
        }
        let takers = Nfa::any(takers)?.determinize(MAX_STATES)?;
        Ok(Nfa::from_dfa(&own.determinize(MAX_STATES)?.without(&takers, MAX_STATES)?))
    }

    fn bare(&self, of: DefinitionId) -> Result<Nfa, TooLarge> {
        let compiled = self.keyspace.compiled(of);
        let held = |slot: &KeySlot| any_path(slot, self.keyspace.separator());
        Nfa::concat(parts(compiled, &without_prefix(compiled), held)?)
    }
}

impl Keys {
    /// A shortest of them.
    pub fn shortest(&self) -> Result<Option<String>, Uncompared> {
        self.beside(&[])
    }

    /// A shortest of them that none of the other patterns has; `None` if together they have all. Whether narrower
    /// definitions take keys of the others is not asked.
    ///
    /// ```
    /// # use keyward_pattern::{Keyspace, Template, prove::Version};
    /// # let keyspace = |pattern: &str| {
    /// #     let mut builder = Keyspace::builder(':')?;
    /// #     builder.define("user", &Template::parse(pattern)?, |_| None);
    /// #     Ok::<_, Box<dyn std::error::Error>>(builder.finish().unwrap())
    /// # };
    /// let (old, new) = (keyspace("user:{id}")?, keyspace("user:{id:uint}")?);
    /// let user = old.find("user").unwrap();
    /// let (before, after) = (Version::new(&old).keys(user)?, Version::new(&new).keys(user)?);
    /// assert_eq!(before.beside(&[&after])?.unwrap(), "user:a");
    /// assert_eq!(after.beside(&[&before])?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn beside(&self, others: &[&Keys]) -> Result<Option<String>, Uncompared> {
        let others = others.iter().map(|it| it.written.clone());
        let wide = Nfa::any(others.chain([self.taken.clone()]))?;
        Ok(self.word(automaton::uncovered([&self.written], &wide)?))
    }

    /// A shortest key that belongs to both definitions, each in its own keyspace.
    pub fn common(&self, other: &Keys) -> Result<Option<String>, Uncompared> {
        let taken = Nfa::any([self.taken.clone(), other.taken.clone()])?;
        let found = automaton::uncovered([&self.written, &other.written], &taken)?;
        Ok(self.word(found).filter(|word| other.is_short(word.len())))
    }

    /// The same for keys that a third pattern has, whoever takes them from it.
    pub fn common_within(
        &self,
        other: &Keys,
        pattern: &Keys,
    ) -> Result<Option<String>, Uncompared> {
        let taken = Nfa::any([self.taken.clone(), other.taken.clone()])?;
        let all = [&self.written, &other.written, &pattern.written];
        let found = automaton::uncovered(all, &taken)?;
        Ok(self.word(found).filter(|word| other.is_short(word.len())))
    }

    /// A shortest of them that a glob does not match.
    pub fn outside(&self, glob: &Glob) -> Result<Option<String>, Uncompared> {
        let wide = Nfa::any([glob_nfa(glob)?, self.taken.clone()])?;
        Ok(self.word(automaton::uncovered([&self.written], &wide)?))
    }

    /// The shortest word that was found: if it is too long for a key, all are.
    fn word(&self, meeting: Meeting) -> Option<String> {
        match meeting {
            Meeting::At(word) if self.is_short(word.len()) => {
                Some(String::from_utf8_lossy(&word).into_owned())
            }
            _ => None,
        }
    }

    fn is_short(&self, len: usize) -> bool {
        self.max_len.is_none_or(|max| len <= max)
    }
}

/// Keys of definitions of the old keyspace that patterns of the new one match, for the pairs that are asked for:
/// the first claim is the old one's, the second the new one's. Derived keys are left out. Whether narrower
/// definitions take such a key is not asked: [`Keys::common`] decides that.
pub fn taken(
    old: &Keyspace,
    new: &Keyspace,
    asked: impl Fn(DefinitionId, DefinitionId) -> bool,
) -> Overlaps {
    between(old, new, &asked)
}

/// The languages of the steps of building a key.
fn parts(
    compiled: &Compiled,
    ops: &[Op],
    held: impl Fn(&KeySlot) -> Result<Nfa, TooLarge>,
) -> Result<Vec<Nfa>, TooLarge> {
    let part = |op: &Op| match op {
        Op::Literal(text) => Ok(Nfa::literal(text.as_bytes())),
        Op::Param(number) => match &compiled.slots[*number] {
            Slot::Typed(language) => Ok(Nfa::from_dfa(&language.spelling)),
            Slot::Key(slot) => held(slot),
        },
    };
    ops.iter().map(part).collect()
}

/// The steps behind the prefix, whose last literal may be one with the pattern's first.
fn without_prefix(compiled: &Compiled) -> Vec<Op> {
    let mut left = compiled.prefix_literal_len;
    let mut ops = Vec::new();
    for op in &compiled.ops {
        match op {
            Op::Literal(text) => {
                let cut = left.min(text.len());
                left -= cut;
                ops.push(Op::Literal(text[cut..].into()));
            }
            Op::Param(number) if *number < compiled.prefix_params => {}
            Op::Param(number) => ops.push(Op::Param(*number)),
        }
    }
    ops
}

fn any_path(slot: &KeySlot, separator: u8) -> Result<Nfa, TooLarge> {
    Nfa::any(
        slot.paths.iter().map(|path| path_nfa(path, separator)).collect::<Result<Vec<_>, _>>()?,
    )
}
