//! What servers showed of themselves.

use crate::outline::OutlinedSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What servers showed; what two of them have in common is there once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerCounts {
    pub(crate) settings: BTreeSet<Got>,
    pub(crate) memory: BTreeSet<Memory>,
}

/// What a server says of a setting that a schema asks for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Got {
    /// The number of the schema
    pub(crate) schema: usize,
    /// The number of the setting there
    pub(crate) setting: usize,
    /// `None` where it could not be seen
    pub(crate) value: Option<String>,
    /// Why it could not be seen, where the server said so
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unseen: Option<String>,
}

/// How much memory a server uses whose schema has a bound for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// The number of the schema
    pub(crate) schema: usize,
    pub(crate) used: u64,
    pub(crate) maxmemory: u64,
}

impl ServerCounts {
    pub(super) fn merge(&mut self, other: ServerCounts) {
        self.settings.extend(other.settings);
        self.memory.extend(other.memory);
    }

    pub(super) fn fits(&self, schemas: &[OutlinedSchema]) -> bool {
        let settings = self.settings.iter().all(|it| {
            schemas.get(it.schema).is_some_and(|schema| it.setting < schema.settings.len())
        });
        settings && self.memory.iter().all(|it| it.schema < schemas.len())
    }
}
