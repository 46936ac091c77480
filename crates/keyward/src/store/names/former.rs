//! Searches for old names of keys, while a migration lasts.

use crate::Keyspace;
use crate::former::parse;
use crate::generated::Search;

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
