//! Whether two definitions can have a key in common.
//!
//! [`Search`] finds the pairs of paths that meet; here they are judged, a pair of definitions at a
//! time, and derived keys are added.

use crate::automaton::{Meeting, TooLarge, meet, subset};
use crate::language::MAX_STATES;
use crate::path::{Path, Segment, agree, leading};
use crate::prove::derived::derived_overlaps;
use crate::prove::search::{MAX_FOUND, Search, path_nfa, tail_nfa};
use crate::{DefinitionId, Keyspace};
use std::collections::{BTreeMap, HashSet};

/// How many pairs of patterns with different separators are compared before giving up.
const MAX_UNLIKE: usize = 50_000;

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
        /// The word, where it is a single one; a parameter that takes the rest cannot begin with it
        word: Option<String>,
    },
}

/// The overlaps inside a keyspace, prefix parameters free and derived keys included.
pub fn overlaps(keyspace: &Keyspace) -> Overlaps {
    let mut search = Search::new(keyspace.paths().iter(), keyspace.separator());
    search.pairs(0, 0);
    let mut overlaps = judge(search, keyspace);
    derived_overlaps(keyspace, keyspace, &mut overlaps);
    overlaps
}

/// The overlaps between two keyspaces: the first claim is the first's, the second the second's.
/// Nothing is reserved across keyspaces: every overlap is a conflict.
pub fn overlaps_between(left: &Keyspace, right: &Keyspace) -> Overlaps {
    let mut found = between(left, right, &|_, _| true);
    derived_overlaps(left, right, &mut found);
    let already = found.overlaps.len();
    derived_overlaps(right, left, &mut found);
    for overlap in &mut found.overlaps[already..] {
        std::mem::swap(&mut overlap.first, &mut overlap.second);
    }
    found
}

/// The same without derived keys, for the pairs of definitions that are asked for.
pub(super) fn between(left: &Keyspace, right: &Keyspace, asked: &Asked<'_>) -> Overlaps {
    if left.separator() == right.separator() {
        like_overlaps(left, right, asked)
    } else {
        unlike_overlaps(left, right, asked)
    }
}

/// Whether a definition of the one keyspace is compared with a definition of the other.
pub(super) type Asked<'a> = dyn Fn(DefinitionId, DefinitionId) -> bool + 'a;

/// With the same separator both are walked as one tree.
fn like_overlaps(left: &Keyspace, right: &Keyspace, asked: &Asked<'_>) -> Overlaps {
    let shift = u32::try_from(left.paths().len()).unwrap_or(u32::MAX);
    let asked = |a: u32, b: u32| asked(left.owner(a), right.owner(b - shift));
    let mut search = Search::new(left.paths().iter().chain(right.paths()), left.separator());
    search.split = Some(shift);
    search.asked = Some(&asked);
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

/// With another separator segments do not line up: whole patterns are compared.
fn unlike_overlaps(left: &Keyspace, right: &Keyspace, asked: &Asked<'_>) -> Overlaps {
    let mut found = Overlaps { overlaps: Vec::new(), complete: true };
    let mut visits = 0;
    let mut seen = HashSet::new();
    for (a, left_path) in (0u32..).zip(left.paths()) {
        let begins = leading(&left_path.segments, left.separator());
        let near =
            |path: &&(u32, &Path)| agree(&begins, &leading(&path.1.segments, right.separator()));
        for (b, right_path) in (0u32..).zip(right.paths()).collect::<Vec<_>>().iter().filter(near) {
            if !asked(left.owner(a), right.owner(*b)) {
                continue;
            }
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

/// One overlap for each pair of definitions, with what follows from it. A definition with a `key`
/// parameter has several paths: only if one definition is the narrower one wherever they meet are
/// its keys reserved.
fn judge(mut search: Search<'_>, keyspace: &Keyspace) -> Overlaps {
    let mut judged: BTreeMap<(DefinitionId, DefinitionId), Judgement> = BTreeMap::new();
    for (a, b) in std::mem::take(&mut search.found) {
        // In the order of the definitions.
        let (a, b) = if keyspace.owner(a) <= keyspace.owner(b) { (a, b) } else { (b, a) };
        let pair = (keyspace.owner(a), keyspace.owner(b));
        if pair.0 == pair.1 {
            continue; // two readings of one definition's key, see `ambiguities`
        }
        let known = judged.get(&pair).map(|judgement| judgement.narrower);
        if known == Some(None) {
            continue; // a conflict already
        }
        let narrower = if narrower(&mut search, a, b) {
            Some(Side::First)
        } else if narrower(&mut search, b, a) {
            Some(Side::Second)
        } else {
            None
        };
        match known {
            None => {
                judged.insert(pair, Judgement { narrower, paths: (a, b) });
            }
            Some(known) if known != narrower => {
                judged.insert(pair, Judgement { narrower: None, paths: (a, b) });
            }
            Some(_) => {}
        }
    }
    let complete = search.complete;
    let overlap = |((first, second), Judgement { narrower, paths: (a, b) })| {
        let witness = search.witness(a, b);
        let ((first, second), kind) = match narrower {
            None => ((first, second), OverlapKind::Conflict),
            Some(Side::First) => ((first, second), reserved(&search, keyspace, second, (a, b))),
            Some(Side::Second) => ((second, first), reserved(&search, keyspace, first, (b, a))),
        };
        Overlap {
            first: Claim::Definition(first),
            second: Claim::Definition(second),
            witness,
            kind,
        }
    };
    let mut overlaps: Vec<Overlap> = judged.into_iter().map(overlap).collect();
    overlaps.sort_by_key(|overlap| (overlap.first, overlap.second));
    Overlaps { overlaps, complete }
}

/// How two definitions meet, and two of their paths that do.
struct Judgement {
    narrower: Option<Side>,
    paths: (u32, u32),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    First,
    Second,
}

/// Whether one path is at least as specific as the other at every place, and not its equal.
fn narrower(search: &mut Search<'_>, narrow: u32, wide: u32) -> bool {
    let (narrow, wide) = (search.paths[narrow as usize], search.paths[wide as usize]);
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
    let whole = if wide.rest { tail } else { tail + 1 };
    for (narrow, wide) in narrow.segments[..whole].iter().zip(&wide.segments) {
        let (narrow, wide) = (search.growing.number(narrow), search.growing.number(wide));
        if !search.growing.holds(wide, narrow) {
            return false;
        }
        strictly |= !search.growing.holds(narrow, wide);
    }
    if wide.rest {
        let narrow = tail_nfa(&narrow.segments[tail..], search.separator);
        let dfas = narrow
            .and_then(|nfa| nfa.determinize(MAX_STATES))
            .and_then(|narrow| Ok((narrow, wide.segments[tail].dfa()?)));
        let Ok((narrow, wide)) = dfas else { return false };
        if subset(&narrow, &wide) != Ok(Meeting::Apart) {
            return false;
        }
        strictly |= subset(&wide, &narrow) != Ok(Meeting::Apart);
    }
    strictly
}

/// Which parameter of the wider definition cannot have which word.
fn reserved(
    search: &Search<'_>,
    keyspace: &Keyspace,
    wide: DefinitionId,
    (narrow_path, wide_path): (u32, u32),
) -> OverlapKind {
    let (narrow, wide_path) =
        (search.paths[narrow_path as usize], search.paths[wide_path as usize]);
    let places = wide_path.segments.iter().enumerate().filter_map(|(index, segment)| {
        let param = wide_path.param_at(index)?;
        let word = narrow.segments.get(index).and_then(Segment::literal);
        let word = word.filter(|_| segment.literal().is_none());
        Some((param, word))
    });
    let places: Vec<(usize, Option<String>)> = places.collect();
    let place = places.iter().find(|(_, word)| word.is_some()).or(places.last());
    let params = keyspace.definition(wide).params();
    let name = |param: usize| params.get(param).map_or(String::new(), |(name, _)| name.clone());
    match place {
        Some((param, word)) => OverlapKind::Reserved { hole: name(*param), word: word.clone() },
        None => OverlapKind::Conflict,
    }
}
