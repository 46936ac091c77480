//! Keys that no definition has, and that one nearly has.

use super::super::indexes;
use crate::change::{Change, How, Relocation};
use keyward_audit::{Audit, Options, Subject};
use keyward_schema::{Neighbours, Schema};
use std::sync::{Mutex, PoisonError};

/// Finds the keys that were meant.
pub(super) struct Misspelt<'s> {
    schema: &'s Schema,
    /// Which knows all keys that are somebody's
    audit: Audit,
    /// Shared by the threads of all servers
    neighbours: Mutex<Neighbours<'s>>,
    /// For each definition: its row
    rows: Vec<usize>,
}

impl<'s> Misspelt<'s> {
    pub(super) fn new(schema: &'s Schema, rows: Vec<usize>) -> Self {
        let (schemas, keyspaces) =
            (std::slice::from_ref(schema), std::slice::from_ref(&schema.compiled));
        Misspelt {
            schema,
            audit: Audit::new(vec![Subject::new(schema.clone())], &Options::default()),
            neighbours: Mutex::new(Neighbours::new(schemas, keyspaces)),
            rows,
        }
    }

    /// Where a key of the keyspace's own database belongs.
    pub(super) fn pick(&self, key: &[u8]) -> Option<(usize, Change)> {
        let db = self.schema.keyspace.db.as_ref().map_or(0, |db| u64::from(db.value));
        // Keyward's own keys are never misspelt.
        if key.contains(&b'~') || !self.audit.is_unknown(db, key) {
            return None;
        }
        let mut neighbours = self.neighbours.lock().unwrap_or_else(PoisonError::into_inner);
        let (definition, to) = neighbours.corrected(key)?;
        let number = self.schema.compiled.classify(to.as_bytes())?.index();
        let meant = self.schema.keys.get(number).filter(|it| *it.name == *definition.name)?;
        let row = *self.rows.get(number)?;
        let kind = meant.key_type.as_ref().map(|it| it.stored().into());
        let indexes = indexes(self.schema, meant, &to);
        let (how, fences, convert) = (How::Rename, None, None);
        let it = Relocation { to, how, kind, fences, convert, indexes };
        Some((row, Change::Relocate(it)))
    }
}
