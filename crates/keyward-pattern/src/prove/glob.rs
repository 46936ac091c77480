//! Whether a glob over other software's keys takes some of a keyspace's own.

use crate::automaton::{Meeting, Nfa, TooLarge, meet};
use crate::prove::overlap::path_nfa;
use crate::{DefinitionId, Keyspace};

/// A definition some of whose keys the glob matches, with a shortest such key; globs as
/// `SCAN MATCH` reads them. A definition for which the search reached its bound is reported with
/// an empty key.
pub fn glob_overlap(keyspace: &Keyspace, glob: &str) -> Option<(DefinitionId, String)> {
    let Ok(glob) = glob_nfa(glob.as_bytes()) else {
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

fn glob_nfa(mut glob: &[u8]) -> Result<Nfa, TooLarge> {
    let any = || Nfa::bytes(&[(0, 0xff)]);
    let mut parts = Vec::new();
    while let [first, rest @ ..] = glob {
        glob = rest;
        parts.push(match first {
            b'*' => any().repeat(0, None)?,
            b'?' => any(),
            b'[' => {
                let (class, rest) = class(rest);
                glob = rest;
                class
            }
            b'\\' if !rest.is_empty() => {
                glob = &rest[1..];
                Nfa::literal(&rest[..1])
            }
            byte => Nfa::literal(&[*byte]),
        });
    }
    Nfa::concat(parts)
}

/// `[abc]`, `[a-z]`, `[^a]`; without its `]` it goes on to the end, as in the server.
fn class(mut text: &[u8]) -> (Nfa, &[u8]) {
    let negated = text.first() == Some(&b'^');
    if negated {
        text = &text[1..];
    }
    let mut member = [false; 256];
    loop {
        match text {
            [] => break,
            [b']', rest @ ..] => {
                text = rest;
                break;
            }
            [b'\\', byte, rest @ ..] => {
                member[usize::from(*byte)] = true;
                text = rest;
            }
            [first, b'-', last, rest @ ..] => {
                let range = usize::from(*first.min(last))..=usize::from(*first.max(last));
                member[range].fill(true);
                text = rest;
            }
            [byte, rest @ ..] => {
                member[usize::from(*byte)] = true;
                text = rest;
            }
        }
    }
    let ranges: Vec<(u8, u8)> = (0..=u8::MAX)
        .filter(|&byte| member[usize::from(byte)] != negated)
        .map(|byte| (byte, byte))
        .collect();
    (Nfa::bytes(&ranges), text)
}
