//! What a plan was asked to do.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a plan was asked to do. Everything else is worked out from the schema again when it is applied, so that
/// a plan can ask for nothing that its schema does not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Order {
    /// What the phase of a migration says
    Migrate {
        /// The migrations, each with the phase that it was planned for
        migrations: BTreeMap<String, String>,
        /// Values of the prefix's parameters, for old names that lack them
        values: BTreeMap<String, String>,
        /// In `cleanup`: old keys are removed also where the new name has nothing
        remove_lone: bool,
    },
    /// What an event invalidates
    Invalidate {
        /// The event
        event: String,
        /// The values of its parameters
        values: BTreeMap<String, String>,
    },
    /// Keys of a definition, of a group, or that a glob matches
    Drop {
        /// Which
        target: Target,
        /// Whether nothing is kept for an undo
        no_backup: bool,
    },
}

/// Which keys are dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Target {
    /// All keys of a definition, or those with these values of its parameters
    Definition {
        /// Which
        name: String,
        /// The values that are given
        values: BTreeMap<String, String>,
    },
    /// All keys of all definitions of a group
    Group(String),
    /// All keys that a glob matches
    Glob(String),
}

impl Order {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Order::Migrate { .. } => "migrate",
            Order::Invalidate { .. } => "invalidate",
            Order::Drop { .. } => "drop",
        }
    }
}
