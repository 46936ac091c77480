//! Whether a glob over other software's keys takes some of a keyspace's own.

use crate::automaton::{Meeting, Nfa, TooLarge, meet};
use crate::glob::{Glob, Token};
use crate::prove::overlap::path_nfa;
use crate::{DefinitionId, Keyspace};

/// A definition some of whose keys the glob matches, with a shortest such key; globs as
/// `SCAN MATCH` reads them. A definition for which the search reached its bound is reported with
/// an empty key.
pub fn glob_overlap(keyspace: &Keyspace, glob: &str) -> Option<(DefinitionId, String)> {
    let Ok(glob) = glob_nfa(&Glob::new(glob)) else {
        return keyspace.definitions().next().map(|first| (first.id(), String::new()));
    };
    for (number, path) in (0u32..).zip(keyspace.paths()) {
        let meeting = path_nfa(path, keyspace.separator()).and_then(|path| meet(&path, &glob));
        match meeting {
            Ok(Meeting::Apart) => {}
            Ok(Meeting::At(witness)) => {
                let witness = String::from_utf8_lossy(&witness).into_owned();
                return Some((keyspace.owner(number), witness));
            }
            Err(TooLarge) => return Some((keyspace.owner(number), String::new())),
        }
    }
    None
}

fn glob_nfa(glob: &Glob) -> Result<Nfa, TooLarge> {
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
