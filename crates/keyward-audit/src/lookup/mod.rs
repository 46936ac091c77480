//! What a single key is: its definition and parameters, an old name, other software's key, or why it fits nothing.
//!
//! ```
//! use keyward_audit::lookup::{Lookup, describe};
//!
//! let schema = keyward_schema::read(r#"
//! version = 1
//! [keyspace]
//! name = "shop"
//! [keys.cart]
//! pattern = "cart:{user_id:uint}"
//! ttl = "7d"
//! "#).schema.expect("a schema without errors");
//! let (schemas, keyspaces) = (std::slice::from_ref(&schema), std::slice::from_ref(&schema.compiled));
//! let lookup = Lookup::new(schemas, keyspaces);
//!
//! let mut values = Vec::new();
//! let known = lookup.find(b"cart:42", &mut values).expect("a declared key");
//! let description = describe(b"cart:42", &known, &values, schemas, keyspaces);
//! assert_eq!(description.name, "cart");
//! assert_eq!(description.rows[0], ("user_id".into(), "42  (uint)".to_owned()));
//! assert!(lookup.find(b"carts:42", &mut values).is_none());
//! ```

mod describe;
mod near;

pub use describe::{Description, describe};
pub use near::{Near, nearest, shown};

use keyward_pattern::{DefinitionId, Glob, Keyspace, Owners};
use keyward_schema::Schema;
use memchr::memchr;
use std::borrow::Cow;

/// Everything that schemas say about keys, compiled once.
#[derive(Debug)]
pub struct Lookup {
    keyspaces: Vec<(Keyspace, Owners)>,
    elsewhere: Vec<Outside>,
}

/// What one schema says outside `[keys]`.
#[derive(Debug)]
struct Outside {
    /// For each database: the old patterns, and how many of the definitions are renames
    old: Vec<(Keyspace, usize)>,
    foreign: Vec<Glob>,
}

/// What a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<'k> {
    /// A definition's own key, or one that is derived from it
    Defined(Found<'k>),
    /// A key that a schema speaks of without defining it
    Elsewhere(Mention),
}

/// A key that belongs to a definition, itself or through its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found<'k> {
    /// Which of the keyspaces
    pub keyspace: usize,
    /// Which of its definitions
    pub definition: DefinitionId,
    /// The owner's key and the word, if this one is derived
    pub derived: Option<(&'k str, &'k str)>,
}

/// Where a key is spoken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mention {
    /// An old name
    Old {
        /// Which of the schemas
        schema: usize,
        /// Which of [`Schema::old_names_by_db`]
        names: usize,
        /// Which of its renames
        rename: usize,
    },
    /// Other software's
    Foreign {
        /// Which of the schemas
        schema: usize,
        /// Which of its `[foreign.*]`
        number: usize,
    },
}

impl Lookup {
    /// Prepares to find keys; the keyspaces are those of the schemas, perhaps with their prefixes bound.
    pub fn new(schemas: &[Schema], keyspaces: &[Keyspace]) -> Self {
        let keyspaces = keyspaces.iter().map(|it| (it.clone(), Owners::new(it)));
        let outside = |schema: &Schema| {
            let old = schema.old_names_by_db().into_iter();
            Outside {
                old: old.map(|old| (old.keyspace, old.renames.len())).collect(),
                foreign: schema.foreign.iter().map(|it| Glob::new(&it.glob)).collect(),
            }
        };
        Lookup { keyspaces: keyspaces.collect(), elsewhere: schemas.iter().map(outside).collect() }
    }

    /// Finds what a key is, and the values of its parameters.
    pub fn find<'k>(&self, key: &'k [u8], values: &mut Vec<Cow<'k, str>>) -> Option<Known<'k>> {
        if let Some(found) = self.defined(key, values) {
            return Some(Known::Defined(found));
        }
        self.elsewhere(key, values).map(Known::Elsewhere)
    }

    fn defined<'k>(&self, key: &'k [u8], values: &mut Vec<Cow<'k, str>>) -> Option<Found<'k>> {
        for (number, (keyspace, _)) in self.keyspaces.iter().enumerate() {
            if let Some(definition) = keyspace.parse_into(key, values) {
                return Some(Found { keyspace: number, definition, derived: None });
            }
        }
        memchr(b'~', key)?;
        let key = str::from_utf8(key).ok()?;
        for (number, (keyspace, owners)) in self.keyspaces.iter().enumerate() {
            let Some((owner, word)) = owners.find(key) else { continue };
            // An index belongs to no key, and has no values of its own.
            let definition = match keyspace.parse_into(owner.as_bytes(), values) {
                Some(definition) => Some(definition),
                None => owners.definition(keyspace, owner, word),
            };
            if let Some(definition) = definition {
                return Some(Found { keyspace: number, definition, derived: Some((owner, word)) });
            }
        }
        None
    }

    fn elsewhere<'k>(&self, key: &'k [u8], values: &mut Vec<Cow<'k, str>>) -> Option<Mention> {
        for (schema, outside) in self.elsewhere.iter().enumerate() {
            for (names, (keyspace, renames)) in outside.old.iter().enumerate() {
                if let Some(rename) = keyspace.parse_into(key, values).map(DefinitionId::index)
                    && rename < *renames
                {
                    return Some(Mention::Old { schema, names, rename });
                }
            }
        }
        values.clear();
        self.elsewhere.iter().enumerate().find_map(|(schema, outside)| {
            let number = outside.foreign.iter().position(|glob| glob.matches(key))?;
            Some(Mention::Foreign { schema, number })
        })
    }
}
