//! What a `keyward.toml` says, once it has been read: plain data with spans, no behaviour beyond
//! what follows from the data itself.
//!
//! Everything that names something else (an event's definition, a queue's dead letter) keeps the
//! name as it was written: whether the name exists is for a rule to say, with its place.

mod definition;
mod derived;
mod event;
mod generate;
mod layout;
mod migration;
mod relation;
mod role;
mod rules;
mod server;
mod text;
mod ttl;
mod value;

pub use definition::{
    CacheOptions, Definition, Invalidate, Keep, Lifecycle, OnFull, OnWrite, ParamDeclaration,
};
pub use derived::Derived;
pub use event::{Binding, BindingSource, Event, Invalidation};
pub use generate::{Generate, JavaTarget, RustTarget};
pub use keyward_pattern::Recase;
pub use layout::{Layout, Meaning, Slot, Words};
pub use migration::{Convert, Migration, Phase, Rename, Score};
pub use relation::{Ends, Law, Relation};
pub use role::{
    Algorithm, Counter, Flag, Index, Limit, Lock, OnOutage, Queue, Quota, Ranking, RateLimit,
    RefreshToken, Role, SessionRole, Ties,
};
pub use rules::{RuleSet, RuleSetting, RuleSettings, Severity};
pub use server::{Policy, Server};
pub use text::{Numbers, Shorten, TextPipeline};
pub use ttl::Ttl;
pub use value::{Field, JsonType, Value};

use crate::span::{Span, Spanned};
use keyward_fact::Size;
use keyward_pattern::Template;

/// A checked `keyward.toml` with everything it includes.
#[derive(Debug, Clone)]
pub struct Schema {
    /// `[keyspace]`
    pub keyspace: Keyspace,
    /// `[layout]`
    pub layout: Option<Layout>,
    /// `[server]`
    pub server: Server,
    /// `[alerts]`
    pub alerts: Alerts,
    /// `[generate]`
    pub generate: Generate,
    /// `[defaults]`
    pub defaults: Defaults,
    /// `[rules]`
    pub rules: RuleSettings,
    /// `[params]`, in the order of the file
    pub params: Vec<ParamDeclaration>,
    /// `[text.*]`, in the order of the file
    pub texts: Vec<TextPipeline>,
    /// `[keys.*]`, in the order of the file; a `DefinitionId` of [`Schema::compiled`] is an index here
    pub keys: Vec<Definition>,
    /// `[events.*]`
    pub events: Vec<Event>,
    /// `[groups.*]`
    pub groups: Vec<Named>,
    /// `[owners.*]`
    pub owners: Vec<Named>,
    /// `[foreign.*]`
    pub foreign: Vec<Foreign>,
    /// `[migrations.*]`
    pub migrations: Vec<Migration>,
    /// `[plans]`
    pub plans: Plans,
    /// `[[checklist]]`
    pub checklist: Vec<ChecklistItem>,
    /// Findings accepted for the whole keyspace
    pub allow: Vec<Allow>,
    /// `[[accept]]`: breaking changes that are accepted
    pub accept: Vec<Accept>,
    /// All definitions, compiled: build, parse, glob, classify
    pub compiled: keyward_pattern::Keyspace,
}

/// `[keyspace]`
#[derive(Debug, Clone)]
pub struct Keyspace {
    /// The name of the keyspace
    pub name: Spanned<String>,
    /// What the keyspace is, for people
    pub doc: Option<Spanned<String>>,
    /// What every key starts with; may have parameters
    pub prefix: Option<Spanned<Template>>,
    /// The character between two segments; `:` unless given
    pub separator: Spanned<char>,
    /// Whether literals may contain capitals
    pub case: Spanned<Case>,
    /// The database these keys live in
    pub db: Option<Spanned<u32>>,
    /// Whether the keyspace must work on a Redis Cluster
    pub cluster: Spanned<bool>,
    /// The longest key that is allowed, in bytes
    pub max_key_len: Option<Spanned<u64>>,
}

/// How literals are cased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// Lower case only; the default
    Lower,
    /// Any
    Any,
}

/// `[alerts]`
#[derive(Debug, Clone, Default)]
pub struct Alerts {
    /// The share of `maxmemory`, in per cent, above which an audit reports
    pub memory: Option<Spanned<f64>>,
}

/// `[[checklist]]`: an item of a team's check-list.
#[derive(Debug, Clone)]
pub struct ChecklistItem {
    /// The item, in the team's words
    pub text: Spanned<String>,
    /// Whether it must hold, or should
    pub level: Level,
    /// The rules that decide it; none where people do
    pub rules: Vec<Spanned<String>>,
}

/// Whether an item of a check-list must hold, or should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// It must
    #[default]
    Must,
    /// It should
    Should,
}

/// `[plans]`
#[derive(Debug, Clone, Default)]
pub struct Plans {
    /// Whether a plan needs an approval by each owner of what it changes
    pub require_owner: bool,
}

/// `[defaults]`: values for every definition that does not set its own.
#[derive(Debug, Clone, Default)]
pub struct Defaults {
    /// The TTL
    pub ttl: Option<Spanned<Ttl>>,
    /// The bound on a collection's length
    pub max_len: Option<Spanned<u64>>,
    /// The bound on a value's size
    pub max_bytes: Option<Spanned<Size>>,
    /// The jitter of TTLs, in per cent
    pub jitter: Option<Spanned<f64>>,
    /// The owner
    pub owner: Option<Spanned<String>>,
}

/// `[groups.*]` and `[owners.*]`
#[derive(Debug, Clone)]
pub struct Named {
    /// The name
    pub name: Spanned<String>,
    /// What it is
    pub doc: Option<Spanned<String>>,
    /// How to reach an owner
    pub contact: Option<Spanned<String>>,
    /// Whether the definitions of a group may change at any time
    pub unstable: bool,
}

impl Schema {
    /// Whether a definition may change at any time: its group is declared `unstable`.
    pub fn is_unstable(&self, definition: &Definition) -> bool {
        let Some(group) = &definition.group else { return false };
        self.groups.iter().any(|named| named.unstable && named.name.value == group.value)
    }

    /// How to reach the owner of a definition.
    pub fn contact(&self, definition: &Definition) -> Option<&str> {
        let owner = definition.owner.as_ref()?;
        let named = self.owners.iter().find(|named| named.name.value == owner.value)?;
        named.contact.as_ref().map(|contact| contact.value.as_str())
    }
}

/// `[foreign.*]`: keys of other software, counted and never judged.
#[derive(Debug, Clone)]
pub struct Foreign {
    /// Its id
    pub name: Spanned<String>,
    /// Whose keys they are
    pub doc: Option<Spanned<String>>,
    /// A glob over whole keys, as `SCAN MATCH` reads it, with `\xHH` for a byte
    pub glob: Spanned<String>,
}

/// A calendar day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// Year
    pub year: u16,
    /// Month, from 1
    pub month: u8,
    /// Day, from 1
    pub day: u8,
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// `{ rule = "…", reason = "…" }`: a finding that was accepted.
#[derive(Debug, Clone)]
pub struct Allow {
    /// The rule's name
    pub rule: Spanned<String>,
    /// Why
    pub reason: Spanned<String>,
    /// The whole entry
    pub span: Span,
}

/// `[[accept]]`: a breaking change that was accepted.
#[derive(Debug, Clone)]
pub struct Accept {
    /// The rule's name
    pub rule: Spanned<String>,
    /// What changes: a definition, a part of one, an event
    pub subject: Spanned<String>,
    /// Why
    pub reason: Spanned<String>,
    /// The last day on which it is accepted
    pub expires: Spanned<Date>,
    /// The whole entry
    pub span: Span,
}
