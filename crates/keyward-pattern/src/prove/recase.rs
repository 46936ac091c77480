//! Whether values of an old name are values of the new one in their new case.

use crate::automaton::{Meeting, Nfa, meet_dfa, subset};
use crate::language::{Language, MAX_STATES};
use crate::{LanguageError, Param, Recase};

/// What a new parameter makes of an old one's values in their new case.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recased {
    /// One that it refuses
    pub refused: Option<String>,
    /// One that it accepts
    pub accepted: Option<String>,
}

/// Which values of `old` are values of `new` in their new case.
///
/// ```
/// use keyward_pattern::{Recase, Type, prove::recased};
/// let (slug, word) = (Type::Slug.into(), Type::Word.into());
/// let it = recased(':', &slug, &word, Recase::Lower)?;
/// assert_eq!((it.accepted.as_deref(), it.refused.as_deref()), (Some("a"), Some("_")));
/// # Ok::<(), keyward_pattern::LanguageError>(())
/// ```
pub fn recased(
    separator: char,
    new: &Param,
    old: &Param,
    recase: Recase,
) -> Result<Recased, LanguageError> {
    let separator = separator as u8;
    let (new, old) = (Language::of(new, separator)?, Language::of(old, separator)?);
    let recased = Nfa::spelled(old.values(), |byte| Some(vec![recase.new_byte(byte)]));
    let recased = recased.determinize(MAX_STATES)?;
    let witness = |meeting| match meeting {
        Meeting::Apart => None,
        Meeting::At(witness) => Some(String::from_utf8_lossy(&witness).into_owned()),
    };
    Ok(Recased {
        refused: witness(subset(&recased, new.values())?),
        accepted: witness(meet_dfa(&recased, new.values())?),
    })
}

/// Whether a value of the parameter has a letter that the new case changes.
pub fn changes_case(separator: char, param: &Param, recase: Recase) -> Result<bool, LanguageError> {
    let language = Language::of(param, separator as u8)?;
    let changed = |byte: &u8| recase.new_byte(*byte) != *byte;
    Ok((0..=u8::MAX).filter(changed).any(|byte| language.values().uses(byte)))
}
