//! All definitions of a keyspace, compiled together.

#[cfg(feature = "prove")]
use crate::automaton::{Nfa, TooLarge};
use crate::builder::{Builder, SeparatorError, unbindable};
use crate::definition::{Compiled, Definition, KeySlot, Slot};
use crate::ends::Ends;
use crate::path::Path;
use crate::trie::Trie;
use crate::{BuildError, DefinitionId, Template};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Up to so many parameters a key is parsed without a vector for their places.
const INLINE: usize = 8;

/// All definitions of a keyspace: finds the one a key belongs to, and builds keys of each.
///
/// ```
/// use keyward_pattern::{Keyspace, Template};
///
/// let mut builder = Keyspace::builder(':')?;
/// builder.prefix(&Template::parse("xc:")?, |_| None);
/// let listing = builder.define("listing", &Template::parse("folder:{id:uint}:listing")?, |_| None);
/// let keyspace = builder.finish().unwrap();
///
/// assert_eq!(keyspace.classify(b"xc:folder:7:listing"), Some(listing));
/// assert_eq!(keyspace.classify(b"xc:folder:07:listing"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Keyspace(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) separator: u8,
    pub(crate) definitions: Vec<Compiled>,
    pub(crate) names: HashMap<String, DefinitionId>,
    pub(crate) paths: Vec<Path>,
    /// The definition of each path
    pub(crate) owners: Vec<Owner>,
    pub(crate) trie: Trie,
    pub(crate) max_len: Option<MaxLen>,
    pub(crate) longest_prefix: Option<usize>,
    /// The keys without the prefix, where some parameter holds keys that another definition may take
    pub(crate) bare: Option<BareKeys>,
    /// What it was compiled from, for another binding of the prefix
    pub(crate) source: Builder,
}

/// The longest key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MaxLen {
    /// With its prefix
    pub(crate) whole: usize,
    /// Without it, so that the longest prefix still fits
    pub(crate) bare: usize,
}

/// Whose a path is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) id: DefinitionId,
    /// Whether keys inside the key must be looked at, see [`KeySlot`]
    pub(crate) holds_shadowed: bool,
}

/// Classifies keys without the prefix.
#[derive(Debug)]
pub(crate) struct BareKeys {
    pub(crate) trie: Trie,
    pub(crate) owners: Vec<DefinitionId>,
}

/// A key that belongs to a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed<'k> {
    /// The definition
    pub definition: DefinitionId,
    /// The values of its parameters, in their order
    pub values: Vec<Cow<'k, str>>,
}

impl Keyspace {
    /// Begins a keyspace whose segments are separated by an ASCII punctuation character.
    pub fn builder(separator: char) -> Result<Builder, SeparatorError> {
        Builder::new(separator)
    }

    /// The definition that the key belongs to: the only one whose `parse` succeeds.
    #[inline]
    pub fn classify(&self, key: &[u8]) -> Option<DefinitionId> {
        self.find_path(key, &mut Ends::new()).map(|(_, id)| id)
    }

    /// The definition that the key belongs to, and the values of its parameters.
    pub fn parse<'k>(&self, key: &'k [u8]) -> Option<Parsed<'k>> {
        let mut values = Vec::new();
        let definition = self.parse_into(key, &mut values)?;
        Some(Parsed { definition, values })
    }

    /// The same into a vector that is used again; what it held is dropped.
    pub fn parse_into<'k>(
        &self,
        key: &'k [u8],
        values: &mut Vec<Cow<'k, str>>,
    ) -> Option<DefinitionId> {
        values.clear();
        let mut ends = Ends::new();
        let (path, id) = self.find_path(key, &mut ends)?;
        let compiled = &self.0.definitions[id.index()];
        let mut inline = [const { 0..0 }; INLINE];
        let mut spilled;
        let ranges: &mut [Range<usize>] = if compiled.params.len() <= INLINE {
            &mut inline[..compiled.params.len()]
        } else {
            spilled = vec![0..0; compiled.params.len()];
            &mut spilled
        };
        self.0.paths[path as usize].capture(key, self.0.separator, &ends, ranges)?;
        for (slot, range) in compiled.slots.iter().zip(ranges) {
            let spelling = std::str::from_utf8(&key[range.clone()]).ok()?;
            values.push(match slot {
                Slot::Key(_) => Cow::Borrowed(spelling),
                Slot::Typed(language) => language.codec.read(spelling, language.values.as_ref())?,
            });
        }
        Some(id)
    }

    /// The definition that the key belongs to, and where each parameter's spelling lies in the key, in
    /// a vector that is used again: for programs that look at millions of keys.
    ///
    /// ```
    /// # use keyward_pattern::{Keyspace, Template};
    /// # let mut builder = Keyspace::builder(':')?;
    /// # builder.define("meta", &Template::parse("file:{file_id:uint}:meta")?, |_| None);
    /// # let keyspace = builder.finish().unwrap();
    /// let mut places = Vec::new();
    /// assert!(keyspace.locate(b"file:42:meta", &mut places).is_some());
    /// assert_eq!(places, [5..7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn locate(&self, key: &[u8], places: &mut Vec<Range<usize>>) -> Option<DefinitionId> {
        let mut ends = Ends::new();
        let (path, id) = self.find_path(key, &mut ends)?;
        self.0.paths[path as usize].locate(key, self.0.separator, &ends, places)?;
        Some(id)
    }

    #[inline]
    fn find_path(&self, key: &[u8], ends: &mut Ends) -> Option<(u32, DefinitionId)> {
        if self.0.max_len.is_some_and(|max| key.len() > max.whole) {
            return None;
        }
        let path = self.0.trie.find(key, ends)?;
        let owner = self.0.owners[path as usize];
        if owner.holds_shadowed && !self.holds_own_keys(path, owner.id, key, ends) {
            return None;
        }
        Some((path, owner.id))
    }

    /// Whether the keys inside a key are keys of the definitions they refer to.
    fn holds_own_keys(&self, path: u32, id: DefinitionId, key: &[u8], ends: &Ends) -> bool {
        let compiled = &self.0.definitions[id.index()];
        let mut places = vec![0..0; compiled.params.len()];
        let path = &self.0.paths[path as usize];
        let captured = path.capture(key, self.0.separator, ends, &mut places);
        captured.is_some()
            && compiled.slots.iter().zip(places).all(|(slot, place)| match slot {
                Slot::Key(slot) => self.owns(slot, &key[place]),
                Slot::Typed(_) => true,
            })
    }

    /// Whether a key without its prefix, which has the right form, belongs to a target and not to
    /// a narrower definition.
    pub(crate) fn owns(&self, slot: &KeySlot, key: &[u8]) -> bool {
        let Some(bare) = self.0.bare.as_ref().filter(|_| slot.shadowed) else { return true };
        let owner = bare.trie.find(key, &mut Ends::new()).map(|path| bare.owners[path as usize]);
        owner.is_some_and(|owner| slot.targets.contains(&owner))
    }

    /// One definition.
    ///
    /// # Panics
    /// If the number belongs to another keyspace.
    pub fn definition(&self, id: DefinitionId) -> Definition<'_> {
        Definition { keyspace: self, compiled: &self.0.definitions[id.index()], id }
    }

    /// All definitions, in order.
    pub fn definitions(&self) -> impl Iterator<Item = Definition<'_>> {
        (0u32..).map(DefinitionId).zip(&self.0.definitions).map(|(id, compiled)| Definition {
            keyspace: self,
            compiled,
            id,
        })
    }

    /// The definition of this name.
    pub fn find(&self, name: &str) -> Option<DefinitionId> {
        self.0.names.get(name).copied()
    }

    /// The same keyspace with the prefix's parameters bound; all of them must be given.
    pub fn bind(&self, values: &[(&str, &str)]) -> Result<Keyspace, BuildError> {
        self.0.source.bind(values)?.finish().map_err(unbindable)
    }

    /// The same definitions with text in place of every parameter's type: finds the definition that a
    /// key would belong to if its values were right. Its definitions may overlap.
    ///
    /// ```
    /// # use keyward_pattern::{Keyspace, Template};
    /// # let mut builder = Keyspace::builder(':')?;
    /// # let meta = builder.define("meta", &Template::parse("file:{file_id:uint}:meta")?, |_| None);
    /// # let keyspace = builder.finish().unwrap();
    /// assert_eq!(keyspace.classify(b"file:seven:meta"), None);
    /// assert_eq!(keyspace.loosened().unwrap().classify(b"file:seven:meta"), Some(meta));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn loosened(&self) -> Option<Keyspace> {
        self.0.source.loosened().finish().ok()
    }

    /// The longest that a key may be without its prefix, so that the longest prefix still fits.
    pub fn max_bare_len(&self) -> Option<usize> {
        self.0.max_len.map(|max| max.bare)
    }

    /// The length of the longest prefix; `None` if there is no bound.
    pub fn longest_prefix(&self) -> Option<usize> {
        self.0.longest_prefix
    }

    /// The separator.
    pub fn separator(&self) -> u8 {
        self.0.separator
    }

    /// The prefix, as it was given.
    pub fn prefix(&self) -> Option<&Template> {
        self.0.source.prefix_template()
    }

    /// The prefix's language, its parameters free.
    #[cfg(feature = "prove")]
    pub(crate) fn prefix_nfa(&self) -> Result<Nfa, TooLarge> {
        self.0.source.prefix_nfa()
    }

    #[cfg(feature = "prove")]
    pub(crate) fn paths(&self) -> &[Path] {
        &self.0.paths
    }

    #[cfg(feature = "prove")]
    pub(crate) fn owner(&self, path: u32) -> DefinitionId {
        self.0.owners[path as usize].id
    }

    #[cfg(feature = "prove")]
    pub(crate) fn compiled(&self, id: DefinitionId) -> &Compiled {
        &self.0.definitions[id.index()]
    }
}
