//! Whether a definition can claim a key that is derived from another's.

use crate::automaton::{Meeting, Nfa, TooLarge, meet};
use crate::path::{Path, Piece, agree, leading};
use crate::prove::overlap::{Claim, Overlap, OverlapKind, Overlaps};
use crate::prove::search::{MAX_FOUND, path_nfa};
use crate::{Keyspace, Part, Template};
use std::collections::HashSet;

/// How many pairs of a pattern and a derived key are compared before giving up.
const MAX_DERIVED: usize = 20_000;

/// Keys derived from one keyspace's definitions against another's, or its own, definitions. A
/// derived key holds one brace more than its owner's key, and no parameter but a raw one holds any: only
/// paths with as many braces in their literals need a look. The claim of the definition comes first.
pub(super) fn derived_overlaps(claimers: &Keyspace, owners: &Keyspace, overlaps: &mut Overlaps) {
    let braced: Vec<(u32, &Path, Option<usize>)> = (0u32..)
        .zip(claimers.paths())
        .map(|(number, path)| (number, path, braces(path)))
        .filter(|(_, _, braces)| *braces != Some(0))
        .collect();
    if braced.is_empty() {
        return;
    }
    let mut seen = HashSet::new();
    let mut visits = 0;
    let forms = (0u32..).zip(owners.paths()).flat_map(|(number, owner)| {
        let braces = braces(owner);
        // Whose values may hold braces has keys with a hash tag and without.
        let tagged =
            [false, true].into_iter().filter(move |it| braces.is_none_or(|n| (n > 0) == *it));
        tagged.map(move |tagged| (number, owner, tagged, braces.map(|braces| braces + 1)))
    });
    for (owner_number, owner, tagged, expected) in forms {
        let begins =
            if tagged { leading(&owner.segments, owners.separator()) } else { reserved(owners) };
        let near = |path: &Path| agree(&leading(&path.segments, claimers.separator()), &begins);
        let as_many =
            |braces: Option<usize>| braces.is_none() || expected.is_none() || braces == expected;
        let near = braced.iter().filter(|(_, path, braces)| as_many(*braces) && near(path));
        for (number, path, _) in near {
            visits += 1;
            if visits > MAX_DERIVED || overlaps.overlaps.len() >= MAX_FOUND {
                overlaps.complete = false;
                return;
            }
            let derived = derived_nfa(owners, owner, tagged);
            let meeting =
                derived.and_then(|derived| meet(&derived, &path_nfa(path, claimers.separator())?));
            match meeting {
                Ok(Meeting::Apart) => {}
                Ok(Meeting::At(witness)) => {
                    let claims = (claimers.owner(*number), owners.owner(owner_number));
                    if seen.insert(claims) {
                        overlaps.overlaps.push(Overlap {
                            first: Claim::Definition(claims.0),
                            second: Claim::Derived(claims.1),
                            witness: String::from_utf8_lossy(&witness).into_owned(),
                            kind: OverlapKind::Conflict,
                        });
                    }
                }
                Err(TooLarge) => overlaps.complete = false,
            }
        }
    }
}

/// How many opening braces the keys of a path hold; `None` if a value may hold some.
fn braces(path: &Path) -> Option<usize> {
    let count = |piece: &Piece| match piece {
        Piece::Literal(text) => Some(text.matches('{').count()),
        Piece::Typed(language) => (!language.spelling.uses(b'{')).then_some(0),
    };
    path.segments.iter().flat_map(|segment| &segment.pieces).map(count).sum()
}

/// What every derived key of an owner without a tag begins with, as far as the prefix is literal.
fn reserved(keyspace: &Keyspace) -> Vec<u8> {
    let mut text = Vec::new();
    for part in keyspace.prefix().map_or(&[][..], Template::parts) {
        match part {
            Part::Literal(literal) => text.extend_from_slice(literal.as_bytes()),
            Part::Hole(_) => return text,
        }
    }
    text.push(b'~');
    text
}

/// All keys that can be derived from a path's.
fn derived_nfa(keyspace: &Keyspace, path: &Path, tagged: bool) -> Result<Nfa, TooLarge> {
    let word = Nfa::bytes(&[(b'a', b'z')]).repeat(1, None)?;
    let key = path_nfa(path, keyspace.separator())?;
    let close = Nfa::literal(b"}");
    if tagged {
        return Nfa::concat([key, Nfa::literal(b"~{"), word, close]);
    }
    let prefix = keyspace.prefix_nfa()?;
    Nfa::concat([prefix, Nfa::literal(b"~"), word, Nfa::literal(b":{"), key, close])
}
