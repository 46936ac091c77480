//! A single key that somebody met elsewhere: in a log of slow commands, for instance.

use super::{Audit, Class};
use crate::mask::Masked;
use std::collections::BTreeSet;

/// A key that a schema declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredKey<'a> {
    /// The keyspace's name
    pub schema: &'a str,
    /// Its definition
    pub definition: &'a str,
    /// The key, as it may be shown
    pub masked: Masked,
}

impl Audit {
    /// The definition of a key in whichever database, by its own, a derived or an old name; `None` where none has it.
    pub fn declared_key(&self, key: &[u8]) -> Option<DeclaredKey<'_>> {
        let own = self.schemas.iter().filter_map(|schema| schema.keyspace.db.as_ref());
        let databases: BTreeSet<u64> = own.map(|db| u64::from(db.value)).chain([0]).collect();
        let mut places = Vec::new();
        databases.into_iter().find_map(|db| {
            let class = self.classify(db, key, &mut places);
            let number = match class {
                Class::Defined(number) | Class::Derived { definition: number, .. } => number,
                Class::Old { space, rename } => self.spaces[space].renames[rename].definition?,
                Class::Marker | Class::Foreign { .. } | Class::Unknown => return None,
            };
            let (schema, definition) = self.declared(&self.definitions[number]);
            Some(DeclaredKey {
                schema: &schema.keyspace.name,
                definition: &definition.name,
                masked: self.masked(class, key, &places),
            })
        })
    }
}
