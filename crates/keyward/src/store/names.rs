//! Where a key stands: its name, its other names while a migration lasts, and what is derived of it.

use crate::former::add_former;
use crate::{Definition, Key, Keyspace, Prefix as _};
use keyward_pattern::{derived, slot};

/// The names of one key.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    /// The one that counts
    pub(crate) name: String,
    /// Those that it has besides, in the order in which they are asked
    pub(crate) others: Vec<String>,
    /// How many bytes of the schema's own name are the prefix
    prefix: usize,
    /// Whether the one that counts is an old one; then the schema's own is the first of the others
    old: bool,
}

impl Names {
    /// The names of a key of one definition.
    pub(crate) fn new<K: Key>(key: &K, prefix: &<K::Keyspace as Keyspace>::Prefix) -> Self {
        let mut name = String::with_capacity(prefix.len() + key.bare_len());
        prefix.write(&mut name);
        let start = name.len();
        key.write_bare(&mut name);
        if K::DEFINITION.former.is_empty() {
            return Names { name, others: Vec::new(), prefix: start, old: false };
        }
        let values: Vec<String> = prefix.values().into_iter().chain(key.values()).collect();
        Self::with_former::<K::Keyspace>(K::DEFINITION, name, start, &values)
    }

    /// The names of a key of any definition.
    pub(crate) fn of<S: Keyspace>(key: &S, prefix: &S::Prefix) -> Self {
        let mut name = String::new();
        prefix.write(&mut name);
        let start = name.len();
        name.clear();
        key.write_with_prefix(prefix, &mut name);
        if key.definition().former.is_empty() {
            return Names { name, others: Vec::new(), prefix: start, old: false };
        }
        let values: Vec<String> = prefix.values().into_iter().chain(key.values()).collect();
        Self::with_former::<S>(key.definition(), name, start, &values)
    }

    fn with_former<S: Keyspace>(
        definition: &'static Definition,
        name: String,
        prefix: usize,
        values: &[String],
    ) -> Self {
        let mut others = vec![name];
        let old = add_former::<S>(definition, values, &mut others);
        let name = others.remove(0);
        Names { name, others, prefix, old }
    }

    /// The schema's own name, which indexes know it by.
    pub(crate) fn own(&self) -> &str {
        if self.old { &self.others[0] } else { &self.name }
    }

    /// All names, the one that counts first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.others.iter().map(String::as_str))
    }

    /// Those that are asked where the one that counts has nothing. While an old name counts, the
    /// schema's own is a copy of it: what programs that know the old name only have removed is gone.
    pub(crate) fn fallbacks(&self) -> &[String] {
        &self.others[usize::from(self.old)..]
    }

    /// Whether a name is only written, and never asked.
    pub(crate) fn is_copy(&self, name: &str) -> bool {
        self.old && self.others[0] == name
    }

    /// The key beside one of the names that Keyward keeps for itself.
    pub(crate) fn derived_of(&self, name: &str, word: &str) -> Option<String> {
        derived(self.prefix(), name, word)
    }

    /// The key beside the name that counts.
    pub(crate) fn derived(&self, word: &str) -> Option<String> {
        self.derived_of(&self.name, word)
    }

    /// What every key of the schema begins with.
    pub(crate) fn prefix(&self) -> &str {
        &self.own()[..self.prefix]
    }

    /// The other names that can be written in one step with the one that counts, and those that
    /// cannot.
    pub(crate) fn by_slot(&self, cluster: bool) -> (Vec<&str>, Vec<&str>) {
        let near = |other: &&str| !cluster || slot(other.as_bytes()) == slot(self.name.as_bytes());
        self.others.iter().map(String::as_str).partition(near)
    }
}
