//! Where a key stands: its name, its other names while a migration lasts, and what is derived of it.

pub(crate) mod course;
pub(crate) mod former;

use super::request::Uses;
use crate::former::{add_former, left};
use crate::{Definition, Key, Keyspace, Prefix as _};
use keyward_pattern::{derived, slot};
use std::borrow::Cow;

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
    /// Old names that are not used any more. Who removes the key removes them, too: programs whose schema is a phase
    /// behind still read them
    left: Vec<String>,
    /// The migration of each name, the one that counts first; empty for the schema's own
    migrations: Vec<&'static str>,
}

impl Names {
    /// The names of a key of one definition.
    pub(crate) fn new<K: Key>(key: &K, prefix: &<K::Keyspace as Keyspace>::Prefix) -> Self {
        let mut name = String::with_capacity(prefix.len() + key.bare_len());
        prefix.write(&mut name);
        let start = name.len();
        key.write_bare(&mut name);
        if K::DEFINITION.former.is_empty() {
            return Names::one(name, start);
        }
        let values: Vec<String> = prefix.values().into_iter().chain(key.values()).collect();
        Self::with_former::<K::Keyspace>(K::DEFINITION, name, start, &values)
    }

    /// The names of a key of any definition, with those that are left of migrations which are over.
    pub(crate) fn of<S: Keyspace>(key: &S, prefix: &S::Prefix) -> Self {
        let names = Self::used::<S>(key, prefix);
        names.leaving::<S>(key.definition(), prefix, || key.values())
    }

    /// The same names with those that are left of migrations which are over.
    pub(crate) fn leaving<S: Keyspace>(
        self,
        definition: &'static Definition,
        prefix: &S::Prefix,
        values: impl FnOnce() -> Vec<String>,
    ) -> Self {
        let left = left::<S>(definition, || prefix.values().into_iter().chain(values()).collect());
        Names { left, ..self }
    }

    fn used<S: Keyspace>(key: &S, prefix: &S::Prefix) -> Self {
        let mut name = String::new();
        prefix.write(&mut name);
        let start = name.len();
        name.clear();
        key.write_with_prefix(prefix, &mut name);
        if key.definition().former.is_empty() {
            return Names::one(name, start);
        }
        let values: Vec<String> = prefix.values().into_iter().chain(key.values()).collect();
        Self::with_former::<S>(key.definition(), name, start, &values)
    }

    /// A key that has one name.
    fn one(name: String, prefix: usize) -> Self {
        let (others, left, migrations) = (Vec::new(), Vec::new(), Vec::new());
        Names { name, others, prefix, old: false, left, migrations }
    }

    fn with_former<S: Keyspace>(
        definition: &'static Definition,
        name: String,
        prefix: usize,
        values: &[String],
    ) -> Self {
        let mut all = vec![(name, "")];
        let old = add_former::<S>(definition, values, &mut all);
        let (mut others, migrations): (Vec<String>, Vec<&'static str>) = all.into_iter().unzip();
        let name = others.remove(0);
        Names { name, others, prefix, old, left: Vec::new(), migrations }
    }

    /// The schema's own name, which indexes know it by.
    pub(crate) fn own(&self) -> &str {
        if self.old { &self.others[0] } else { &self.name }
    }

    /// All names, the one that counts first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.others.iter().map(String::as_str))
    }

    /// The old names that a read uses.
    pub(crate) fn read_by(&self, definition: &'static str) -> Option<Box<Uses>> {
        let mut asked = self.migrations.clone();
        if self.old {
            asked.remove(1);
        }
        let is_any = asked.iter().any(|it| !it.is_empty());
        is_any.then(|| Box::new(Uses { definition, asked, written: Vec::new() }))
    }

    /// The old names that a write uses.
    pub(crate) fn written_by(&self, definition: &'static str) -> Option<Box<Uses>> {
        let written = self.migrations.iter().copied().filter(|it| !it.is_empty());
        let written: Vec<&'static str> = written.collect();
        (!written.is_empty()).then(|| Box::new(Uses { definition, asked: Vec::new(), written }))
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

    /// The names in the slot of the one that counts, which is the first of them.
    pub(crate) fn together(&self, cluster: bool) -> Vec<&str> {
        let (near, _) = self.by_slot(cluster);
        std::iter::once(self.name.as_str()).chain(near).collect()
    }

    /// The names that are asked in another slot than that of the name that counts.
    pub(crate) fn far_fallbacks(&self, cluster: bool) -> Vec<&str> {
        let (_, far) = self.by_slot(cluster);
        far.into_iter().filter(|name| !self.is_copy(name)).collect()
    }

    /// Whether some are in another slot than the one that counts.
    pub(crate) fn is_split(&self, cluster: bool) -> bool {
        cluster && !self.by_slot(cluster).1.is_empty()
    }

    /// The names that a lock is taken under, those of one slot in one step: an old name first, since programs that know
    /// nothing of a migration take that one, and the schema's own last, which those take for whom it is over.
    pub(crate) fn locked(&self, cluster: bool) -> Vec<Vec<&str>> {
        let own = self.own();
        let mut groups: Vec<Vec<&str>> = Vec::new();
        for name in self.all().filter(|name| *name != own).chain([own]) {
            let near = groups
                .iter_mut()
                .find(|group| !cluster || slot(group[0].as_bytes()) == slot(name.as_bytes()));
            match near {
                Some(group) => group.push(name),
                None => groups.push(vec![name]),
            }
        }
        groups
    }

    /// The name that a limit counts under: until a migration ends, its old one alone. Two would allow twice as much.
    pub(crate) fn counted(&self) -> &str {
        let old = self.others.last().filter(|_| !self.old);
        old.unwrap_or(&self.name)
    }

    /// The name that a queue's jobs are pushed to.
    pub(crate) fn pushed(&self) -> &str {
        &self.name
    }

    /// The names that a queue's jobs are taken from, in this order: old ones first, so that they run dry.
    pub(crate) fn worked(&self) -> Vec<&str> {
        self.locked(false).concat()
    }

    /// The names that are removed with the key.
    pub(crate) fn to_remove(&self) -> Cow<'_, Self> {
        if self.left.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut names = self.clone();
        names.others.extend_from_slice(&self.left);
        Cow::Owned(names)
    }

    /// Whether nothing can be kept beside one of the names, so that no version can be either.
    pub(crate) fn is_lonely(&self) -> bool {
        self.all().any(|name| self.derived_of(name, "version").is_none())
    }

    /// Whose clock dates the changes: see `stamp.lua`.
    pub(crate) fn clock(&self) -> &'static str {
        if self.old { "0" } else { "1" }
    }
}

#[cfg(test)]
mod exclusion;
#[cfg(test)]
mod limit_matches;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod line_matches;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod lock_matches;
#[cfg(test)]
mod matches;
#[cfg(test)]
mod model;
#[cfg(test)]
mod plan_matches;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod undo;
#[cfg(test)]
mod undo_matches;
