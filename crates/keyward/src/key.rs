//! What all generated keys have in common.

use crate::definition::{Definition, Lifecycle, Ttl};
use crate::former::KeyNames;
use crate::generated::{
    self, Entry, Former, Length, ParamSource, Search, Tables, ValueTexts, Visitor, Writer,
};
use crate::slot;
use std::fmt;
use std::hash::Hash;

/// A key of one definition: `keys::FolderListing { folder_id }`.
///
/// Its parameters are valid by construction, so that building cannot fail. Every key has `key()` and
/// `glob()` of its own; the rest comes with this trait: `use keyward::Key as _;`. What is named
/// `…_with_prefix` takes a [`Prefix`], where the schema's has parameters.
pub trait Key: Clone + fmt::Debug + Eq + Hash + Send + Sync + Sized + 'static {
    /// All keys of its schema.
    type Keyspace: Keyspace + From<Self>;

    /// What can be done to it: see [`crate::kind`].
    type Kind;

    /// Who says how long it lives: see [`crate::kind`].
    type Lifetime;

    /// Its place among the definitions of its schema.
    #[doc(hidden)]
    const NUMBER: usize;

    /// What the schema says about it.
    const DEFINITION: &'static Definition =
        &<Self::Keyspace as Keyspace>::DEFINITIONS[Self::NUMBER];

    /// Its name in the schema.
    const NAME: &'static str = Self::DEFINITION.name;
    /// Its whole pattern.
    const PATTERN: &'static str = Self::DEFINITION.pattern;
    /// The glob that finds all its keys.
    const GLOB: &'static str = Self::DEFINITION.glob;
    /// The type of the key: `string`, `hash`, …
    const TYPE: Option<&'static str> = Self::DEFINITION.key_type;
    /// What may become of it before its time.
    const LIFECYCLE: Lifecycle = Self::DEFINITION.lifecycle;
    /// How long it lives.
    const TTL: Ttl = Self::DEFINITION.ttl;

    /// Makes it any key of its schema: all of its keyspace's `From` is this.
    #[doc(hidden)]
    fn into_any(self) -> Self::Keyspace;

    /// Shows the literals and values of the key in turn, without the prefix.
    #[doc(hidden)]
    fn visit(&self, visitor: &mut impl Visitor);

    /// A key whose parameters come from somewhere.
    #[doc(hidden)]
    fn make(source: &mut ParamSource<'_>) -> Option<Self>;

    /// Appends the key.
    #[inline]
    fn write_key(&self, out: &mut String)
    where
        PrefixOf<Self>: Fixed,
    {
        self.write_with_prefix(&PrefixOf::<Self>::default(), out);
    }

    /// The key's Redis Cluster slot.
    fn slot(&self) -> u16
    where
        PrefixOf<Self>: Fixed,
    {
        self.slot_with_prefix(&PrefixOf::<Self>::default())
    }

    /// Reads a key; `None` if it is one of another definition or of none.
    fn parse(key: impl AsRef<[u8]>) -> Option<Self>
    where
        PrefixOf<Self>: Fixed,
    {
        Self::parse_with_prefix(key).map(|(_, key)| key)
    }

    /// Its names, as long as a migration lasts.
    fn names(&self) -> KeyNames
    where
        PrefixOf<Self>: Fixed,
    {
        self.names_with_prefix(&PrefixOf::<Self>::default())
    }

    /// How long this very key lives: where a parameter decides, what its word says.
    fn ttl(&self) -> Ttl {
        let Ttl::By { param, .. } = Self::TTL else { return Self::TTL };
        let mut values = Self::DEFINITION.params.iter().zip(self.values());
        let word = values.find(|(known, _)| known.name == param).map(|(_, word)| word);
        word.and_then(|word| Self::TTL.of_word(&word)).map_or(Self::TTL, Ttl::Fixed)
    }

    /// The values of its parameters as text, in the order of [`Definition::params`].
    fn values(&self) -> Vec<String> {
        let mut texts = ValueTexts(Vec::with_capacity(Self::DEFINITION.params.len()));
        self.visit(&mut texts);
        texts.0
    }

    /// The key. One allocation.
    #[inline]
    fn key_with_prefix(&self, prefix: &PrefixOf<Self>) -> String {
        generated::key(self, prefix)
    }

    /// Appends the key.
    #[inline]
    fn write_with_prefix(&self, prefix: &PrefixOf<Self>, out: &mut String) {
        out.reserve(prefix.len() + self.bare_len());
        prefix.write(out);
        self.write_bare(out);
    }

    /// The key's Redis Cluster slot.
    fn slot_with_prefix(&self, prefix: &PrefixOf<Self>) -> u16 {
        slot(self.key_with_prefix(prefix).as_bytes())
    }

    /// Its names, as long as a migration lasts.
    fn names_with_prefix(&self, prefix: &PrefixOf<Self>) -> KeyNames {
        let key = self.key_with_prefix(prefix);
        KeyNames::new::<Self::Keyspace>(Self::DEFINITION, key, prefix, || self.values())
    }

    /// Reads a key and the prefix it stands behind.
    fn parse_with_prefix(key: impl AsRef<[u8]>) -> Option<(PrefixOf<Self>, Self)> {
        generated::parse_one(key.as_ref())
    }

    /// Appends the key without its prefix.
    #[inline]
    fn write_bare(&self, out: &mut String) {
        self.visit(&mut Writer(out));
    }

    /// How many bytes [`write_bare`](Key::write_bare) appends, or a few more.
    #[inline]
    fn bare_len(&self) -> usize {
        let mut length = Length(0);
        self.visit(&mut length);
        length.0
    }
}

/// The prefix of a key.
type PrefixOf<K> = <<K as Key>::Keyspace as Keyspace>::Prefix;

/// A prefix without parameters.
#[diagnostic::on_unimplemented(
    message = "the prefix of this keyspace has parameters",
    label = "needs the prefix",
    note = "use the method that takes it: `key_with_prefix`, `write_with_prefix`, `slot_with_prefix`, `parse_with_prefix`"
)]
pub trait Fixed: Default {}

/// Any key of a schema: the generated enum `Key`.
pub trait Keyspace: Clone + fmt::Debug + Eq + Hash + Send + Sync + Sized + 'static {
    /// What every key begins with.
    type Prefix: Prefix;

    /// The name that a client of the schema gives its connections with `CLIENT SETNAME`, so that whoever migrates
    /// keys sees which phases the program knows: `keyward:shop:v2=dual-write`.
    const ANNOUNCEMENT: &'static str;

    /// What the schema says about this key.
    fn definition(&self) -> &'static Definition;

    /// Appends the key.
    fn write_with_prefix(&self, prefix: &Self::Prefix, out: &mut String);

    #[doc(hidden)]
    fn values(&self) -> Vec<String>;

    /// All definitions, by their numbers. One constant for all: one for each key takes the compiler longer.
    #[doc(hidden)]
    const DEFINITIONS: &'static [Definition];

    /// The old names of all migrations, by their numbers.
    #[doc(hidden)]
    const FORMER: &'static [Former];

    #[doc(hidden)]
    fn entries() -> &'static [Entry<Self>];

    #[doc(hidden)]
    fn tables() -> &'static Tables;
}

/// What every key of a schema begins with.
#[expect(
    clippy::len_without_is_empty,
    reason = "it is a length in bytes, nothing that holds things"
)]
pub trait Prefix: Clone + fmt::Debug + Eq + Hash + Send + Sync + Sized + 'static {
    /// Its parameters.
    const PARAMS: &'static [crate::Param];

    #[doc(hidden)]
    fn visit(&self, visitor: &mut impl Visitor);

    #[doc(hidden)]
    fn make(source: &mut ParamSource<'_>) -> Option<Self>;

    /// The values of its parameters as text.
    fn values(&self) -> Vec<String> {
        let mut texts = ValueTexts(Vec::new());
        self.visit(&mut texts);
        texts.0
    }

    /// Appends it.
    #[inline]
    fn write(&self, out: &mut String) {
        self.visit(&mut Writer(out));
    }

    /// How many bytes it has, or a few less than that.
    #[inline]
    fn len(&self) -> usize {
        let mut length = Length(0);
        self.visit(&mut length);
        length.0
    }
}

/// Something that happens in the application and makes keys invalid.
pub trait Event: Clone + fmt::Debug + Eq + Hash + Send + Sync + Sized + 'static {
    /// All keys of its schema.
    type Keyspace: Keyspace;

    /// Its name in the schema.
    const NAME: &'static str;

    #[doc(hidden)]
    const PARAMS: &'static [crate::Param];

    /// The definitions whose values are served until they are loaded again, by their numbers.
    #[doc(hidden)]
    const REFRESHES: &'static [u32] = &[];

    /// The keys that are known in full.
    fn keys(&self) -> Vec<Self::Keyspace>;

    /// Globs that find the others, under all names that are written as long as a migration lasts.
    fn globs_with_prefix(&self, prefix: &<Self::Keyspace as Keyspace>::Prefix) -> Vec<String> {
        generated::globs::<Self::Keyspace>(self.searches_with_prefix(prefix), prefix)
    }

    #[doc(hidden)]
    fn searches_with_prefix(&self, prefix: &<Self::Keyspace as Keyspace>::Prefix) -> Vec<Search>;

    #[doc(hidden)]
    fn make(source: &mut ParamSource<'_>) -> Option<Self>;
}
