//! One definition by itself, to be copied into a schema.

use crate::compose::name_params;
use crate::draft::{Definition, Holds, ParamType, PatternPiece, Ttl};
use crate::lifetime::human;
use crate::{draft, names, write};

/// A piece of a pattern whose parameters have no names yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text as it stands in the key
    Text(String),
    /// A parameter
    Param(ParamType),
}

/// A definition of these pieces, with the names that a draft would give to it and to its parameters.
///
/// ```
/// use keyward_infer::draft::{ParamType, Ttl};
/// use keyward_infer::{Piece, definition, snippet};
///
/// let id = ParamType::Named("uint".to_owned());
/// let pieces = [Piece::Text("user:".to_owned()), Piece::Param(id), Piece::Text(":cart".to_owned())];
/// let cart = definition(pieces, Some("set".to_owned()), Ttl::None);
/// assert_eq!(
///     snippet(&cart),
///     "[keys.user_cart]\npattern = \"user:{user_id:uint}:cart\"\ntype = \"set\"\nttl = \"none\"\n"
/// );
/// ```
pub fn definition(
    pieces: impl IntoIterator<Item = Piece>,
    key_type: Option<String>,
    ttl: Ttl,
) -> Definition {
    let mut definition = Definition {
        id: String::new(),
        pieces: Vec::new(),
        params: Vec::new(),
        separators: String::new(),
        keys: 0,
        group: None,
        key_type,
        ttl,
        ttls: Vec::new(),
        sliding: false,
        lifecycle: None,
        holds: Holds::default(),
        max_len: None,
        notes: Vec::new(),
        examples: Vec::new(),
    };
    for piece in pieces {
        match (piece, definition.pieces.last_mut()) {
            (Piece::Text(text), Some(PatternPiece::Text(before))) => before.push_str(&text),
            (Piece::Text(text), _) => definition.pieces.push(PatternPiece::Text(text)),
            (Piece::Param(ty), _) => {
                definition.pieces.push(PatternPiece::Param(definition.params.len()));
                definition.params.push(draft::Param { name: String::new(), ty, values: 0 });
            }
        }
    }
    name_params(&mut definition);
    let words = definition.words();
    definition.id = match definition.params.first() {
        Some(first) if words.is_empty() => format!("by_{}", first.name),
        _ => names::id(words.iter().map(String::as_str)),
    };
    definition
}

/// The TTL of keys of which so many expire, the last in so many milliseconds.
pub fn ttl(keys: u64, expiring: u64, longest: u64) -> Ttl {
    match human(longest.max(1)) {
        _ if expiring == 0 => Ttl::None,
        None => Ttl::Unknown,
        // The same share as in a draft.
        Some(within) if expiring.saturating_mul(100) >= keys.saturating_mul(99) => {
            Ttl::Within(within)
        }
        Some(within) => {
            let percent = expiring.saturating_mul(100).div_ceil(keys.max(1)).min(100);
            Ttl::Mixed { within, percent: u8::try_from(percent).unwrap_or(100) }
        }
    }
}

/// A definition as it stands in a schema by itself: its pattern, type and TTL. What its values hold, fields among it,
/// is not in it.
pub fn snippet(definition: &Definition) -> String {
    let bare = Definition {
        group: None,
        holds: Holds::default(),
        max_len: None,
        notes: Vec::new(),
        examples: Vec::new(),
        ..definition.clone()
    };
    write::uncommented(&bare)
}
