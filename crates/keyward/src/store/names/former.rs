//! Old names of keys, while a migration lasts: built from the values of the new one, and read back.

use crate::definition::FormerPart;
use crate::generated::spell_former;
use crate::{Keyspace, Prefix};
use keyward_pattern::escape_glob;

/// The old name for these values, those of the prefix first; `None` if the old type refuses one.
pub(crate) fn build<S: Keyspace>(parts: &[FormerPart], values: &[String]) -> Option<String> {
    let mut name = String::new();
    for part in parts {
        match part {
            FormerPart::Literal(text) => name.push_str(text),
            FormerPart::Value(at, _) | FormerPart::Recased(at, ..) => {
                name.push_str(&spelled::<S>(part, values.get(*at)?)?);
            }
        }
    }
    Some(name)
}

/// What a part of an old name is for this value of the new one.
fn spelled<S: Keyspace>(part: &FormerPart, value: &str) -> Option<String> {
    match part {
        FormerPart::Literal(text) => Some((*text).to_owned()),
        FormerPart::Value(_, language) => spell_former::<S>(*language, value),
        FormerPart::Recased(_, language, recase) => {
            spell_former::<S>(*language, &recase.old_value(value))
        }
    }
}

/// A glob that finds the old names with these values of the definition's own parameters.
pub(crate) fn glob<S: Keyspace>(
    parts: &[FormerPart],
    prefix: &S::Prefix,
    values: &[Option<String>],
) -> Option<String> {
    let known = known(prefix, values);
    let mut glob = String::new();
    for part in parts {
        match part {
            FormerPart::Literal(text) => escape_glob(text, &mut glob),
            FormerPart::Value(at, _) | FormerPart::Recased(at, ..) => match known.get(*at)? {
                Some(text) => escape_glob(&spelled::<S>(part, text)?, &mut glob),
                None => glob.push('*'),
            },
        }
    }
    Some(glob)
}

/// Whether a key is such an old name with these values: a glob's star crosses separators.
pub(crate) fn is_one<S: Keyspace>(
    parts: &[FormerPart],
    prefix: &S::Prefix,
    values: &[Option<String>],
    key: &str,
) -> bool {
    matches::<S>(parts, &known(prefix, values), key)
}

fn known(prefix: &impl Prefix, values: &[Option<String>]) -> Vec<Option<String>> {
    prefix.values().into_iter().map(Some).chain(values.iter().cloned()).collect()
}

fn matches<S: Keyspace>(parts: &[FormerPart], known: &[Option<String>], key: &str) -> bool {
    let Some((part, rest)) = parts.split_first() else { return key.is_empty() };
    match part {
        FormerPart::Literal(text) => {
            key.strip_prefix(text).is_some_and(|key| matches::<S>(rest, known, key))
        }
        FormerPart::Value(at, language) | FormerPart::Recased(at, language, _) => {
            if let Some(Some(text)) = known.get(*at) {
                return spelled::<S>(part, text)
                    .and_then(|spelled| key.strip_prefix(spelled.as_str()))
                    .is_some_and(|key| matches::<S>(rest, known, key));
            }
            let ends = key.char_indices().map(|(at, _)| at).skip(1).chain([key.len()]);
            ends.filter(|end| *end > 0).any(|end| {
                let (value, key) = key.split_at(end);
                spell_former::<S>(*language, value).as_deref() == Some(value)
                    && matches::<S>(rest, known, key)
            })
        }
    }
}
