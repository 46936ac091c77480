//! Which words of undeclared keys may be shown: those that many keys share.
//!
//! Nobody declared these keys, so a word in one of them may be the name of a person or a secret. It is shown only
//! if it is not one key's own: at least [`LEAST`] keys must have it at the same place. Even then, words at one place
//! that are followed by the same, at least [`ALIKE`] of them with fewer than [`FEW`] keys each, are taken for
//! values: `user:alice:…`, `user:bob:…`.

use std::collections::{BTreeMap, BTreeSet};

/// With fewer keys than these, a word is not shown.
pub(crate) const LEAST: u64 = 5;
/// With fewer keys than these, a word may be one of many that are alike.
const FEW: u64 = 16;
/// So many words that are alike are values.
const ALIKE: usize = 4;

/// What is known of a word at one place.
#[derive(Debug, Default)]
pub(crate) struct Sharing<'l> {
    /// Keys that have it there
    pub(crate) keys: u64,
    /// What stands behind it
    pub(crate) below: BTreeSet<Vec<&'l str>>,
}

impl Sharing<'_> {
    /// Whether what stands behind a word matters: where many keys have it, it does not.
    pub(crate) fn is_of_few(keys: u64) -> bool {
        keys < FEW
    }
}

/// The words at one place that must not be shown.
pub(crate) fn hidden<'l>(words: &BTreeMap<&'l str, Sharing<'l>>) -> BTreeSet<&'l str> {
    let rare = words.iter().filter(|(_, sharing)| sharing.keys < LEAST);
    let mut hidden: BTreeSet<&str> = rare.map(|(word, _)| *word).collect();
    let mut alike: BTreeMap<&BTreeSet<Vec<&str>>, Vec<&'l str>> = BTreeMap::new();
    for (word, sharing) in words.iter().filter(|(_, sharing)| sharing.keys < FEW) {
        alike.entry(&sharing.below).or_default().push(word);
    }
    hidden.extend(alike.into_values().filter(|words| words.len() >= ALIKE).flatten());
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden_of(words: &[(&'static str, u64, &'static str)]) -> Vec<&'static str> {
        let words = words.iter().map(|(word, keys, below)| {
            (*word, Sharing { keys: *keys, below: [vec![*below]].into() })
        });
        hidden(&words.collect()).into_iter().collect()
    }

    #[test]
    fn a_word_is_shown_if_many_keys_share_it() {
        assert_eq!(hidden_of(&[("cart", 5, ""), ("alice", 4, "")]), ["alice"]);
    }

    #[test]
    fn many_words_with_the_same_behind_them_are_values() {
        let users = [("ann", 9, "x"), ("bob", 9, "x"), ("eve", 9, "x"), ("joe", 9, "x")];
        assert_eq!(hidden_of(&users), ["ann", "bob", "eve", "joe"]);
        assert_eq!(hidden_of(&users[..3]), [""; 0]);
        assert_eq!(hidden_of(&[users[0], users[1], users[2], ("joe", 16, "x")]), [""; 0]);
    }
}
