//! What stands between the parameters of a segment, which their texts must not contain.

use crate::draft::{Param, ParamType};
use crate::tree::{Piece, Tree, Values};
use crate::types::Types;

/// The most characters that `separators` and `without` take.
const MOST: usize = 8;

/// Excludes from texts what stands between them and another parameter, if no value contains it: by the `separators` of
/// the definition, which it returns, or else from one parameter. `own` is the separator that the keys were cut at.
pub(crate) fn apply(
    tree: &Tree<'_>,
    pieces: &[Piece],
    params: &mut [Param],
    own: Option<u8>,
    types: &Types,
) -> String {
    let main = types.separator;
    let values: Vec<&Values<'_>> = pieces.iter().filter_map(|piece| values(tree, piece)).collect();
    let lacks = |number: usize, mark: u8| values[number].keys().all(|it| !it.contains(&mark));
    let mut marks: Vec<Vec<u8>> = (0..pieces.len())
        .filter(|at| !matches!(pieces[*at], Piece::Text(_)))
        .map(|at| delimiters(pieces, at, main))
        .collect();
    let text = ParamType::Named("text".to_owned());
    let is_text = |param: &Param| param.ty == text || param.ty == ParamType::Rest;
    let texts: Vec<usize> = (0..params.len()).filter(|number| is_text(&params[*number])).collect();
    let mut wanted: Vec<u8> = texts.iter().flat_map(|number| marks[*number].clone()).collect();
    wanted.extend(own.filter(|own| *own != main));
    wanted.sort_unstable();
    wanted.dedup();
    let is_separator = |mark: u8| keyward_pattern::Keyspace::builder(char::from(mark)).is_ok();
    let (shared, others): (Vec<u8>, Vec<u8>) = wanted
        .into_iter()
        .partition(|mark| is_separator(*mark) && texts.iter().all(|number| lacks(*number, *mark)));
    for (number, param) in params.iter_mut().enumerate() {
        let mut excluded = std::mem::take(&mut marks[number]);
        let base = match &param.ty {
            // A text with its own exceptions ignores those of the definition.
            ty if *ty == text => {
                excluded.retain(|mark| others.contains(mark));
                if !excluded.is_empty() {
                    excluded.extend(&shared);
                }
                "text"
            }
            ParamType::Named(name) if name == "slug" || name == "base64url" => name.as_str(),
            _ => continue,
        };
        let could =
            |mark: &u8| base == "text" || matches!((base, mark), (_, b'-') | ("base64url", b'_'));
        excluded.retain(|mark| could(mark) && lacks(number, *mark));
        excluded.sort_unstable();
        excluded.dedup();
        excluded.truncate(MOST);
        if !excluded.is_empty() {
            param.ty = ParamType::Without(base.to_owned(), string(&excluded));
        }
    }
    string(&shared[..shared.len().min(MOST)])
}

fn values<'t, 's>(tree: &'t Tree<'s>, piece: &Piece) -> Option<&'t Values<'s>> {
    match piece {
        Piece::Text(_) => None,
        Piece::Param(number) | Piece::Rest(number) => tree.params.get(*number),
    }
}

fn string(marks: &[u8]) -> String {
    marks.iter().copied().map(char::from).collect()
}

/// The punctuation behind a parameter that another parameter of the same segment follows.
fn delimiters(pieces: &[Piece], at: usize, main: u8) -> Vec<u8> {
    let text = |piece: Option<&Piece>| match piece {
        Some(Piece::Text(text)) => text.clone(),
        _ => Vec::new(),
    };
    let inside = |pieces: &mut dyn Iterator<Item = &Piece>| {
        for piece in pieces {
            match piece {
                Piece::Text(text) if text.contains(&main) => return false,
                Piece::Text(_) => {}
                Piece::Param(_) | Piece::Rest(_) => return true,
            }
        }
        false
    };
    let mut found = Vec::new();
    if inside(&mut pieces[at + 1..].iter()) {
        found.extend(text(pieces.get(at + 1)).first());
    }
    if inside(&mut pieces[..at].iter().rev()) {
        found.extend(at.checked_sub(1).and_then(|before| text(pieces.get(before)).last().copied()));
    }
    found.retain(|byte| byte.is_ascii_punctuation() && ![main, b'{', b'}'].contains(byte));
    found
}
