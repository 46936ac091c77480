//! Whether a glob over other software's keys takes some of a keyspace's own.

use crate::automaton::{Meeting, Nfa, TooLarge, meet};
use crate::glob::{Glob, Token};
use crate::prove::search::path_nfa;
use crate::{DefinitionId, Keyspace};

/// The definitions some of whose keys the glob matches, each with a shortest such key; globs as schemas
/// write them, see [`Glob::with_bytes`]. A definition for which the search reached its bound is reported with
/// an empty key.
pub fn glob_overlaps(keyspace: &Keyspace, glob: &str) -> Vec<(DefinitionId, String)> {
    let glob = glob_nfa(&Glob::with_bytes(glob));
    let mut found: Vec<(DefinitionId, String)> = Vec::new();
    for (number, path) in (0u32..).zip(keyspace.paths()) {
        let owner = keyspace.owner(number);
        if found.last().is_some_and(|(known, _)| *known == owner) {
            continue;
        }
        let path = path_nfa(path, keyspace.separator());
        match glob.as_ref().map_err(|error| *error).and_then(|glob| meet(&path?, glob)) {
            Ok(Meeting::Apart) => {}
            Ok(Meeting::At(witness)) => {
                found.push((owner, String::from_utf8_lossy(&witness).into_owned()));
            }
            Err(TooLarge) => found.push((owner, String::new())),
        }
    }
    found
}

/// All texts that a glob matches.
pub(super) fn glob_nfa(glob: &Glob) -> Result<Nfa, TooLarge> {
    let parts = glob.tokens().iter().map(|token| match token {
        Token::Any => Nfa::bytes(&[(0, 0xff)]).repeat(0, None),
        Token::One(set) => Ok(Nfa::bytes(&ranges(set))),
    });
    Nfa::concat(parts.collect::<Result<Vec<_>, _>>()?)
}

fn ranges(set: &[bool; 256]) -> Vec<(u8, u8)> {
    let members = (0..=u8::MAX).filter(|&byte| set[usize::from(byte)]);
    members.fold(Vec::new(), |mut ranges: Vec<(u8, u8)>, byte| {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(byte) => *last = byte,
            _ => ranges.push((byte, byte)),
        }
        ranges
    })
}
