//! Keys that the store writes beside their owner's: a lease, an index.
//!
//! They have one reserved form that keeps the owner's slot and cannot meet a definition:
//! `<prefix>~word:{<key>}`, or the key and `~{word}` where the key has a hash tag of its own. Both
//! hold a brace more than their owner's key, and no parameter's value can hold one.

use crate::slot::hash_tag;

/// The derived key of `key` for `word`, which is lower-case letters; `key` is whole, prefix included.
///
/// `None` if the word is not one, or if the key has a `}` but no hash tag, so that no key beside it
/// could share its slot.
///
/// ```
/// use keyward_pattern::{derived, slot};
///
/// let lease = derived("xc:", "xc:file:7:meta", "lease").unwrap();
/// assert_eq!(lease, "xc:~lease:{xc:file:7:meta}");
/// assert_eq!(slot(lease.as_bytes()), slot(b"xc:file:7:meta"));
/// assert_eq!(derived("", "cart:{42}", "lease").unwrap(), "cart:{42}~{lease}");
/// ```
pub fn derived(prefix: &str, key: &str, word: &str) -> Option<String> {
    if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    if hash_tag(key.as_bytes()).len() != key.len() {
        return Some(format!("{key}~{{{word}}}"));
    }
    (!key.contains('}')).then(|| format!("{prefix}~{word}:{{{key}}}"))
}

/// The owner's key and the word of a derived key; `None` if it is not one.
///
/// ```
/// use keyward_pattern::owner_of;
/// assert_eq!(owner_of("xc:", "xc:~lease:{xc:file:7:meta}"), Some(("xc:file:7:meta", "lease")));
/// assert_eq!(owner_of("", "cart:{42}~{lease}"), Some(("cart:{42}", "lease")));
/// assert_eq!(owner_of("", "file:7~meta"), None);
/// ```
pub fn owner_of<'k>(prefix: &str, key: &'k str) -> Option<(&'k str, &'k str)> {
    let reserved = key.strip_prefix(prefix).and_then(|key| key.strip_prefix('~'));
    let (owner, word) = match reserved.and_then(|rest| rest.split_once(":{")) {
        Some((word, rest)) => (rest.strip_suffix('}')?, word),
        None => key.strip_suffix('}')?.rsplit_once("~{")?,
    };
    (derived(prefix, owner, word).as_deref() == Some(key)).then_some((owner, word))
}

/// The key that says that a plan with this id was started on a server, which is 16 hexadecimal digits.
///
/// ```
/// use keyward_pattern::{is_plan_marker, plan_marker};
/// let marker = plan_marker("xc:", "00ff00ff00ff00ff");
/// assert_eq!(marker, "xc:~plan:{00ff00ff00ff00ff}");
/// assert!(is_plan_marker(&marker) && !is_plan_marker("xc:~plan:{7}"));
/// ```
pub fn plan_marker(prefix: &str, id: &str) -> String {
    format!("{prefix}~plan:{{{id}}}")
}

/// Whether a key is such a marker, of whatever prefix.
pub fn is_plan_marker(key: &str) -> bool {
    let id = key.rsplit_once("~plan:{").and_then(|(_, rest)| rest.strip_suffix('}'));
    id.is_some_and(|id| {
        id.len() == 16
            && id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}
