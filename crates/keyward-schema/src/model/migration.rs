//! `[migrations.*]`: renames in progress.

use super::{Allow, Date, ParamDeclaration, Schema};
use crate::span::Spanned;
use keyward_fact::fleet::Announcement;
use keyward_pattern::Template;

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
    /// Definition and old pattern
    pub renames: Vec<Rename>,
    /// Findings accepted for this migration
    pub allow: Vec<Allow>,
}

/// `user_mapping = "BO:User:Mapping:{username}"`
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

/// The case of a parameter's ASCII letters under the new name; the old name spells them in the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recase {
    /// The new name is in lower case, the old one in upper case
    Lower,
    /// The new name is in upper case, the old one in lower case
    Upper,
}

impl Rename {
    /// Whether stores read and write this old name as long as the migration runs. Only a plan moves
    /// values that are converted or stand in another database.
    pub fn is_known_to_stores(&self) -> bool {
        self.convert.is_none() && self.db.is_none()
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

impl Recase {
    /// As the schema writes it.
    pub fn name(self) -> &'static str {
        match self {
            Recase::Lower => "lower",
            Recase::Upper => "upper",
        }
    }

    /// A value of the old name as the new one has it.
    pub fn new_value(self, old: &str) -> String {
        match self {
            Recase::Lower => old.to_ascii_lowercase(),
            Recase::Upper => old.to_ascii_uppercase(),
        }
    }

    /// A value of the new name as the old one has it.
    pub fn old_value(self, new: &str) -> String {
        match self {
            Recase::Lower => new.to_ascii_uppercase(),
            Recase::Upper => new.to_ascii_lowercase(),
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
