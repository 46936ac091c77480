//! Searches for old names of keys, while a migration lasts.

use crate::definition::FormerPart;
use crate::former::parse;
use crate::generated::{Search, spell_former};
use crate::{Keyspace, Prefix};
use keyward_pattern::escape_glob;

/// A glob that finds the old names with these values of the definition's own parameters.
pub(crate) fn glob<S: Keyspace>(
    parts: &[FormerPart],
    prefix: &S::Prefix,
    values: &[Option<String>],
) -> Option<String> {
    let known: Vec<Option<String>> =
        prefix.values().into_iter().map(Some).chain(values.iter().cloned()).collect();
    let mut glob = String::new();
    for part in parts {
        match part {
            FormerPart::Literal(text) => escape_glob(text, &mut glob),
            FormerPart::Value(at, language, recase) => match known.get((*at)?)? {
                Some(text) => escape_glob(&spell_former::<S>(*language, *recase, text)?, &mut glob),
                None => glob.push('*'),
            },
        }
    }
    Some(glob)
}

/// The key that has this old name, if it is one that is searched: a glob's star crosses separators.
pub(crate) fn meant<S: Keyspace>(search: &Search, prefix: &S::Prefix, name: &str) -> Option<S> {
    let found = parse::<S>(name.as_bytes())?;
    let key = found.key.filter(|_| found.prefix.is_none_or(|it| it == *prefix))?;
    is_meant(search, &key).then_some(key)
}

/// Whether a key is one that is searched.
pub(crate) fn is_meant<S: Keyspace>(search: &Search, key: &S) -> bool {
    let values = key.values();
    let mut known = values.iter().zip(&search.values);
    key.definition().number == search.definition.number
        && known.all(|(value, known)| known.as_ref().is_none_or(|known| known == value))
}
