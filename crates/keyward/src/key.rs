//! What all generated keys have in common.

use crate::definition::{Definition, Ttl};
use crate::generated::{Entry, Found, Spell, Tables, Values};
use crate::{BuildError, slot};
use std::fmt;
use std::hash::Hash;

/// A key of one definition: `keys::FolderListing { folder_id }`.
///
/// Its parameters are valid by construction, so that building cannot fail. Where the prefix has no
/// parameters, generated keys have `key()`, `write_key()`, `slot()` and `parse()` without a prefix;
/// these methods are for code that works with any key.
pub trait Key: Clone + fmt::Debug + Eq + Hash + Send + Sync + Sized + 'static {
    /// All keys of its schema.
    type Keyspace: Keyspace + From<Self>;

    /// What the schema says about it.
    const DEFINITION: &'static Definition;

    /// Appends the key without its prefix.
    fn write_bare(&self, out: &mut String);

    /// How many bytes [`write_bare`](Key::write_bare) appends, or a few more.
    fn bare_len(&self) -> usize;

    /// The values of its parameters as text, in the order of [`Definition::params`].
    fn values(&self) -> Vec<String>;

    /// How long this very key lives: where a parameter decides, what its word says.
    fn ttl(&self) -> Ttl {
        Self::DEFINITION.ttl
    }

    /// Appends the key.
    #[inline]
    fn write_behind(&self, prefix: &<Self::Keyspace as Keyspace>::Prefix, out: &mut String) {
        out.reserve(prefix.len() + self.bare_len());
        prefix.write(out);
        self.write_bare(out);
    }

    /// The key. One allocation.
    #[inline]
    fn key_behind(&self, prefix: &<Self::Keyspace as Keyspace>::Prefix) -> String {
        let mut key = String::with_capacity(prefix.len() + self.bare_len());
        prefix.write(&mut key);
        self.write_bare(&mut key);
        key
    }

    /// The key's Redis Cluster slot.
    fn slot_behind(&self, prefix: &<Self::Keyspace as Keyspace>::Prefix) -> u16 {
        slot(self.key_behind(prefix).as_bytes())
    }

    #[doc(hidden)]
    fn read(found: &Found<'_>, first: usize) -> Option<Self>;

    #[doc(hidden)]
    fn from_values(values: &Values<'_>) -> Result<Self, BuildError>;

    #[doc(hidden)]
    const SPELL: &'static [Spell];
}

/// Any key of a schema: the generated enum `Key`.
pub trait Keyspace: Clone + fmt::Debug + Eq + Hash + Send + Sync + Sized + 'static {
    /// What every key begins with.
    type Prefix: Prefix;

    /// What the schema says about this key.
    fn definition(&self) -> &'static Definition;

    /// Appends the key.
    fn write_behind(&self, prefix: &Self::Prefix, out: &mut String);

    #[doc(hidden)]
    const KEYS: &'static [Entry<Self>];

    #[doc(hidden)]
    fn tables() -> &'static Tables;
}

/// What every key of a schema begins with.
#[expect(clippy::len_without_is_empty, reason = "it is a length in bytes, nothing that holds things")]
pub trait Prefix: Clone + fmt::Debug + Eq + Hash + Send + Sync + Sized + 'static {
    /// Its parameters.
    const PARAMS: &'static [crate::Param];

    /// The values of its parameters as text.
    fn values(&self) -> Vec<String>;

    /// Appends it.
    fn write(&self, out: &mut String);

    /// How many bytes it has, or a few less than that.
    fn len(&self) -> usize;

    #[doc(hidden)]
    fn read(found: &Found<'_>) -> Option<Self>;
}

/// Something that happens in the application and makes keys invalid.
pub trait Event: Clone + fmt::Debug + Eq + Hash + Send + Sync + Sized + 'static {
    /// All keys of its schema.
    type Keyspace: Keyspace;

    /// Its name in the schema.
    const NAME: &'static str;

    #[doc(hidden)]
    const PARAMS: &'static [crate::Param];

    /// The keys that are known in full.
    fn keys(&self) -> Vec<Self::Keyspace>;

    /// Globs that find the others.
    fn globs_behind(&self, prefix: &<Self::Keyspace as Keyspace>::Prefix) -> Vec<String>;

    #[doc(hidden)]
    fn from_values(values: &Values<'_>) -> Result<Self, BuildError>;
}
