//! `[migrations.*]`: renames in progress.

use super::{Allow, Date, ParamDeclaration, Schema};
use crate::span::Spanned;
use keyward_fact::Duration;
use keyward_fact::fleet::Announcement;
use keyward_pattern::{Recase, Template};

/// `[migrations.*]`
#[derive(Debug, Clone)]
pub struct Migration {
    /// Its id
    pub name: Spanned<String>,
    /// Why
    pub doc: Option<Spanned<String>>,
    /// How far it is
    pub phase: Spanned<Phase>,
    /// When it began
    pub started: Option<Spanned<Date>>,
    /// When the old names must be gone
    pub remove_after: Option<Spanned<Date>>,
    /// The TTL that keys left under old names get in `cleanup`, if theirs is longer
    pub old_ttl: Option<Spanned<Duration>>,
    /// How long no key under an old name may have been used before the next step is taken, see
    /// [`Migration::quiet`]
    pub quiet: Option<Spanned<Duration>>,
    /// Definition and old pattern
    pub renames: Vec<Rename>,
    /// Findings accepted for this migration
    pub allow: Vec<Allow>,
}

/// `user_mapping = "BO:User:Mapping:{username}"`, or a table
#[derive(Debug, Clone)]
pub struct Rename {
    /// The definition, by name as written
    pub definition: Spanned<String>,
    /// The old pattern: absolute, with its own types
    pub from: Spanned<Template>,
    /// The declarations of its parameters
    pub params: Vec<ParamDeclaration>,
    /// What becomes of the value on its way to the new name
    pub convert: Option<Spanned<Convert>>,
    /// The parameters whose letters change their case on the way to the new name
    pub recase: Vec<(Spanned<String>, Recase)>,
    /// The database of the old keys, where it is not the keyspace's
    pub db: Option<Spanned<u64>>,
}

/// How the value under an old name becomes the value under the new one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Convert {
    /// A JSON object becomes a hash: its members are the fields
    JsonToHash,
    /// A hash becomes a JSON object
    HashToJson,
    /// A set becomes a sorted set
    SetToSortedSet {
        /// The score of each member
        score: Score,
    },
    /// A string in lower case
    LowerCase,
}

/// The score of a member that had none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Score {
    /// The same for all
    Fixed(f64),
    /// The time of the move
    Now,
}

impl Migration {
    /// How long no key under an old name may have been used before the next step is taken; a day
    /// unless the schema says otherwise.
    pub fn quiet(&self) -> Duration {
        self.quiet.as_ref().map_or(Duration::from_days(1), |quiet| quiet.value)
    }
}

impl Rename {
    /// Whether stores read and write this old name as long as the migration runs. Only a plan moves
    /// values that are converted or stand in another database.
    pub fn is_known_to_stores(&self) -> bool {
        self.convert.is_none() && self.db.is_none()
    }

    /// The database of the old keys, if it is not the keyspace's own.
    pub fn database(&self) -> Option<u64> {
        self.db.as_ref().map(|db| db.value)
    }

    /// How the case of a parameter changes.
    pub fn recase(&self, param: &str) -> Option<Recase> {
        self.recase.iter().find(|(name, _)| *name.value == *param).map(|(_, recase)| *recase)
    }
}

impl Convert {
    /// As the schema writes it.
    pub fn name(self) -> &'static str {
        match self {
            Convert::JsonToHash => "json-to-hash",
            Convert::HashToJson => "hash-to-json",
            Convert::SetToSortedSet { .. } => "set-to-sorted-set",
            Convert::LowerCase => "lower-case",
        }
    }
}

/// How far a migration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The old name is authoritative, both are written
    DualWrite,
    /// The new name is authoritative, both are written, reads fall back
    ReadFallback,
    /// New only
    Cleanup,
}

impl Phase {
    /// As the schema writes it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::DualWrite => "dual-write",
            Phase::ReadFallback => "read-fallback",
            Phase::Cleanup => "cleanup",
        }
    }
}

impl Schema {
    /// What clients of this schema call themselves, so that others see how far they are.
    pub fn announcement(&self) -> Announcement {
        let phases = self.migrations.iter().map(|it| (it.name.as_str(), it.phase.name()));
        Announcement::new(&self.keyspace.name, phases)
    }
}
