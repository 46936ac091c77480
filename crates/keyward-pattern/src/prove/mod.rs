//! Decides the three promises of a keyspace, exactly, each with a witness when it does not hold.
//!
//! 1. **Round trip**: no key has two readings ([`ambiguities`]), no encoding loses anything ([`lossy`]).
//! 2. **No overlap**: no key belongs to two definitions, to a derived key, or to two bindings of
//!    the prefix ([`overlaps`], [`overlaps_between`], [`glob_overlaps`]).
//! 3. **No injection** needs no search: a type whose values could contain the separator, a brace or
//!    a control character does not compile, and globs are escaped.
//!
//! Two versions of a keyspace are compared by [`Version`], [`Keys`] and [`taken`]: which keys a definition has lost,
//! and which of its keys another one has now.
//!
//! Every search is bounded. Where a bound is reached the result says so, and nothing counts as proved.

mod ambiguity;
mod change;
mod derived;
mod glob;
mod injective;
mod overlap;
mod recase;
mod regex;
mod search;

pub use ambiguity::{Ambiguity, ambiguities};
pub use change::{Keys, Uncompared, Version, taken};
pub use glob::glob_overlaps;
pub use injective::{Lossy, lossy};
pub use overlap::{Claim, Overlap, OverlapKind, Overlaps, overlaps, overlaps_between};
pub use recase::{Recased, changes_case, recased};
pub(crate) use regex::regex;

use crate::automaton::{Meeting, meet_dfa, subset};
use crate::language::Language;
use crate::{LanguageError, Param};

/// Whether every value of `narrow` is a value of `wide`; if not, one that is not.
///
/// A `key` is only a value of a `key` that may be as much.
///
/// ```
/// use keyward_pattern::{Type, prove::accepts_all};
/// let (text, uuid) = (Type::Text.into(), Type::Uuid.into());
/// assert_eq!(accepts_all(':', &text, &uuid), Ok(None));
/// assert!(accepts_all(':', &uuid, &text).unwrap().is_some());
/// ```
pub fn accepts_all(
    separator: char,
    wide: &Param,
    narrow: &Param,
) -> Result<Option<String>, LanguageError> {
    if wide == narrow {
        return Ok(None);
    }
    let separator = separator as u8;
    match (wide.ty.targets(), narrow.ty.targets()) {
        (Some(wide), Some(narrow)) => {
            let missing = narrow.iter().find(|target| !wide.contains(target));
            return Ok(missing.map(|target| format!("a key of {target}")));
        }
        (None, Some(targets)) => {
            return Ok(targets.first().map(|target| format!("a key of {target}")));
        }
        (Some(_), None) => {
            let narrow = Language::of(narrow, separator)?;
            return match meet_dfa(narrow.values(), narrow.values())? {
                Meeting::At(witness) => Ok(Some(String::from_utf8_lossy(&witness).into_owned())),
                Meeting::Apart => Ok(None),
            };
        }
        (None, None) => {}
    }
    let (wide, narrow) = (Language::of(wide, separator)?, Language::of(narrow, separator)?);
    match subset(narrow.values(), wide.values())? {
        Meeting::Apart => Ok(None),
        Meeting::At(witness) => Ok(Some(String::from_utf8_lossy(&witness).into_owned())),
    }
}
