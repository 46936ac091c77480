//! Whether a key of one definition can be read in two ways.
//!
//! What may contain the separator makes one segment of all that follows, so two readings can only part
//! inside a segment with several parameters, or between two paths of a definition with a parameter of type `key`.

use crate::automaton::{Dfa, Meeting, TooLarge, preference, search};
use crate::path::{Path, Piece, Segment};
use crate::prove::search::Search;
use crate::{DefinitionId, Keyspace};

/// A key with two readings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ambiguity {
    /// The definition
    pub definition: DefinitionId,
    /// The part of a key that can be read in two ways, shortest possible; empty where the search
    /// reached its bound before an answer
    pub witness: String,
    /// One reading, a word for each parameter involved
    pub left: Vec<String>,
    /// The other
    pub right: Vec<String>,
}

/// The definitions with keys that can be read in two ways.
pub fn ambiguities(keyspace: &Keyspace) -> Vec<Ambiguity> {
    let mut found: Vec<Ambiguity> = Vec::new();
    for definition in keyspace.definitions() {
        let id = definition.id();
        let numbers = keyspace.compiled(id).paths.clone();
        let paths = &keyspace.paths()[numbers.start as usize..numbers.end as usize];
        let inside = paths.iter().flat_map(|path| &path.segments).filter_map(|s| inside(id, s));
        for ambiguity in inside.chain(between(keyspace, id, paths)) {
            if !found.contains(&ambiguity) {
                found.push(ambiguity);
            }
        }
    }
    found
}

/// Two readings of one segment.
fn inside(definition: DefinitionId, segment: &Segment) -> Option<Ambiguity> {
    let (witness, (left, right)) = match two_readings(segment) {
        Ok(Meeting::Apart) => return None,
        Ok(Meeting::At(witness)) => {
            let readings = readings(segment, &witness);
            (String::from_utf8_lossy(&witness).into_owned(), readings)
        }
        Err(TooLarge) => Default::default(),
    };
    Some(Ambiguity { definition, witness, left, right })
}

/// Two paths of a definition that read a key differently: `{parent}:{rest...}` where both `a` and
/// `a:b` are keys that `parent` may be.
fn between(keyspace: &Keyspace, definition: DefinitionId, paths: &[Path]) -> Option<Ambiguity> {
    if paths.len() < 2 {
        return None;
    }
    let params = keyspace.definition(definition).params().len();
    let read = |path: u32, key: &str| {
        let mut places = vec![0..0; params];
        let (path, separator) = (&paths[path as usize], keyspace.separator());
        let ends = path.ends(key.as_bytes(), separator)?;
        path.capture(key.as_bytes(), separator, &ends, &mut places)?;
        Some(places.into_iter().map(|place| key[place].to_owned()).collect::<Vec<_>>())
    };
    let mut search = Search::new(paths.iter(), keyspace.separator());
    search.pairs(0, 0);
    let found = std::mem::take(&mut search.found);
    let two = found.into_iter().find_map(|(a, b)| {
        let witness = search.witness(a, b);
        let (left, right) = (read(a, &witness)?, read(b, &witness)?);
        (left != right).then_some(Ambiguity { definition, witness, left, right })
    });
    let unknown = || Ambiguity { definition, witness: String::new(), left: vec![], right: vec![] };
    two.or_else(|| (!search.complete).then(unknown))
}

/// How far a segment is read: the piece, and the state of its automaton or the offset in its text.
type PieceState = (u16, u32);

/// A shortest text that the segment's pieces can be laid over in two ways.
fn two_readings(segment: &Segment) -> Result<Meeting, TooLarge> {
    let typed = segment.pieces.iter().filter(|piece| matches!(piece, Piece::Typed(_))).count();
    if typed < 2 {
        return Ok(Meeting::Apart);
    }
    let last = u16::try_from(segment.pieces.len()).map_err(|_| TooLarge)?;
    let start: (PieceState, PieceState, bool) =
        ((0, enter(segment, 0)), (0, enter(segment, 0)), false);
    let mut bytes: Vec<u8> = (0..=u8::MAX).collect();
    bytes.sort_by_key(|&byte| preference(byte));
    let done = |at: PieceState| at.0 == last;
    search(
        start,
        |&(left, right, apart)| apart && done(left) && done(right),
        |&(left, right, apart), found| {
            // Passing from one piece to the next takes no byte. Where both pass together they have
            // not parted.
            let (left_next, right_next) = (leave(segment, left), leave(segment, right));
            if let Some(next) = left_next {
                found((next, right, apart), None);
            }
            if let Some(next) = right_next {
                found((left, next, apart), None);
            }
            for &byte in &bytes {
                if let (Some(a), Some(b)) = (read(segment, left, byte), read(segment, right, byte))
                {
                    found((a, b, apart || left.0 != right.0), Some(byte));
                }
            }
        },
    )
}

/// The first state of a piece.
fn enter(segment: &Segment, piece: usize) -> u32 {
    match segment.pieces.get(piece) {
        Some(Piece::Typed(language)) => language.spelling.start(),
        _ => 0,
    }
}

/// The start of the next piece, if the piece may end here.
fn leave(segment: &Segment, (piece, state): PieceState) -> Option<PieceState> {
    let ended = match segment.pieces.get(usize::from(piece))? {
        Piece::Literal(text) => state as usize == text.len(),
        Piece::Typed(language) => language.spelling.accepting(state),
    };
    ended.then(|| (piece + 1, enter(segment, usize::from(piece) + 1)))
}

/// The state after one more byte of the same piece.
fn read(segment: &Segment, (piece, state): PieceState, byte: u8) -> Option<PieceState> {
    let next = match segment.pieces.get(usize::from(piece))? {
        Piece::Literal(text) => {
            (text.as_bytes().get(state as usize) == Some(&byte)).then_some(state + 1)?
        }
        Piece::Typed(language) => {
            let next = language.spelling.next(state, byte);
            (!Dfa::is_dead(next)).then_some(next)?
        }
    };
    Some((piece, next))
}

/// The first two readings of a text, a word for each parameter.
fn readings(segment: &Segment, text: &[u8]) -> (Vec<String>, Vec<String>) {
    let mut all = Vec::new();
    read_from(segment, 0, text, &mut Vec::new(), &mut all);
    let mut all = all.into_iter();
    (all.next().unwrap_or_default(), all.next().unwrap_or_default())
}

fn read_from(
    segment: &Segment,
    piece: usize,
    text: &[u8],
    words: &mut Vec<String>,
    all: &mut Vec<Vec<String>>,
) {
    if all.len() == 2 {
        return;
    }
    match segment.pieces.get(piece) {
        None if text.is_empty() => all.push(words.clone()),
        None => {}
        Some(Piece::Literal(literal)) => {
            if let Some(rest) = text.strip_prefix(literal.as_bytes()) {
                read_from(segment, piece + 1, rest, words, all);
            }
        }
        Some(Piece::Typed(language)) => {
            for len in 1..=text.len() {
                if language.spelling.matches(&text[..len]) {
                    words.push(String::from_utf8_lossy(&text[..len]).into_owned());
                    read_from(segment, piece + 1, &text[len..], words, all);
                    words.pop();
                }
            }
        }
    }
}
