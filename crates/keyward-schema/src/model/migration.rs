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
