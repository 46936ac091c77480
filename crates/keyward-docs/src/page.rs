//! What a template is filled with. Texts are complete, in the page's language; a template only places
//! them.

use super::Words;
use super::doc::Doc;
use super::prose::{Prose, Target};
use serde::Serialize;

/// Everything that a page says about a keyspace.
#[derive(Debug, Clone, Serialize)]
pub struct Page {
    /// The words of the page's language: headings, labels
    pub words: &'static Words,
    /// The heading of the page
    pub title: String,
    /// Who wrote the page, for a comment at its beginning: a line each
    pub notice: Vec<String>,
    /// Who wrote the page, and how to regenerate it
    pub generated: Prose,
    /// The command that writes the page
    pub command: String,
    /// What was selected, if not everything was
    pub only: Option<Prose>,
    /// `[keyspace]`
    pub keyspace: Keyspace,
    /// The sections that this page has
    pub sections: Sections,
    /// The definitions by group, in the order of the schema; those without a group come last
    pub groups: Vec<Group>,
    /// The lifecycles that some definition has
    pub lifecycles: Vec<Lifecycle>,
    /// The owners that some definition has
    pub owners: Vec<Owner>,
    /// How long each definition's keys live, the shortest first
    pub ttls: Vec<TtlRow>,
    /// The marks of the scale on which [`TtlRow`] is drawn
    pub scale: Vec<Mark>,
    /// What invalidates keys
    pub events: Vec<Event>,
    /// The globs of groups, lifecycles and owners
    pub operations: Vec<Operation>,
    /// `[server]` and `[alerts]`
    pub server: Server,
    /// `[layout]`
    pub layout: Option<Layout>,
    /// The pipelines of `[text]` that parameters on this page take their values from
    pub texts: Vec<Text>,
    /// `[migrations]`
    pub migrations: Vec<Migration>,
    /// `[foreign]`
    pub foreign: Vec<Foreign>,
    /// `[[checklist]]`: what must hold, then what should
    pub checklist: Vec<ChecklistItem>,
    /// Findings that were accepted
    pub accepted: Vec<Accepted>,
}

/// `[keyspace]`
#[derive(Debug, Clone, Serialize)]
pub struct Keyspace {
    /// Its name
    pub name: String,
    /// What it is
    pub doc: Option<Doc>,
    /// What applies to every key: prefix, separator, case, …
    pub facts: Vec<Fact>,
    /// How many definitions and events the page shows
    pub counts: Vec<String>,
}

/// A label and what it labels.
#[derive(Debug, Clone, Serialize)]
pub struct Fact {
    /// The label
    pub label: String,
    /// What it labels
    pub value: Prose,
}

/// The headings of the sections, and where they are; a section without content is `None`.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "each is the section of that name")]
pub struct Sections {
    pub overview: Option<Target>,
    pub lifecycles: Option<Target>,
    pub owners: Option<Target>,
    pub ttls: Option<Target>,
    pub events: Option<Target>,
    pub operations: Option<Target>,
    pub server: Option<Target>,
    pub layout: Option<Target>,
    pub texts: Option<Target>,
    pub migrations: Option<Target>,
    pub foreign: Option<Target>,
    pub checklist: Option<Target>,
    pub accepted: Option<Target>,
}

/// The definitions of a group.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    /// Its name; `None` for definitions without a group
    pub name: Option<String>,
    /// Its heading and where it is
    pub target: Target,
    /// What it is
    pub doc: Option<Doc>,
    /// Its definitions
    pub definitions: Vec<Definition>,
}

/// One entry of `[keys]`.
#[derive(Debug, Clone, Serialize)]
pub struct Definition {
    /// Its id and where it is on the page
    pub target: Target,
    /// What it is for
    pub doc: Option<Doc>,
    /// Its group
    pub group: Option<String>,
    /// Who is responsible for it
    pub owner: Option<String>,
    /// Its lifecycle
    pub lifecycle: LifecycleName,
    /// The pattern, prefix included
    pub pattern: String,
    /// The same as tokens, so that a page can show each kind in its own colour
    pub pieces: Vec<Token>,
    /// Example keys, prefix included: the schema's, or one that was built
    pub examples: Vec<String>,
    /// The parameters of prefix and pattern
    pub params: Vec<Param>,
    /// The type of its keys, if the schema says it
    pub key_type: Option<KeyType>,
    /// What a key holds: value, members, score
    pub content: Vec<Fact>,
    /// The fields of a hash or of a stream's entries
    pub fields: Vec<Field>,
    /// Whether other fields are allowed
    pub open: bool,
    /// How long its keys live
    pub ttl: Ttl,
    /// What it does beyond storing data, in sentences
    pub role: Vec<Prose>,
    /// The role's word in the schema
    pub role_name: Option<&'static str>,
    /// How much it may hold
    pub bounds: Vec<Prose>,
    /// What the runtime does for a cache
    pub cache: Vec<Prose>,
    /// What other definitions use it for
    pub related: Vec<Prose>,
    /// The events that invalidate it
    pub invalidated_by: Vec<InvalidatedBy>,
    /// The keys that Keyward writes next to it
    pub derived: Vec<Derived>,
    /// The former names of its keys
    pub former: Vec<Former>,
    /// The glob that finds its keys
    pub glob: String,
    /// The command that finds its keys
    pub command: String,
    /// The other definitions whose keys the glob also finds
    pub also_finds: Option<Prose>,
    /// Findings that were accepted for it
    pub accepted: Vec<Accepted>,
}

/// A token of a pattern.
#[derive(Debug, Clone, Serialize)]
pub struct Token {
    /// `literal`, `separator`, `param` or `brace` (of a hash tag)
    pub kind: &'static str,
    /// Whether it belongs to the prefix
    pub prefix: bool,
    /// What is written
    pub text: String,
    /// A parameter's type
    pub hint: Option<String>,
}

/// A parameter of a pattern or of an event.
#[derive(Debug, Clone, Serialize)]
pub struct Param {
    /// Its name
    pub name: String,
    /// Its type
    pub ty: Prose,
    /// What the schema says about it, and what its values look like
    pub meaning: Prose,
    /// Whether reports mask it
    pub masked: bool,
}

/// A type of Redis.
#[derive(Debug, Clone, Serialize)]
pub struct KeyType {
    /// The word in the schema
    pub name: String,
    /// The word in the page's language
    pub title: String,
}

/// A field of a hash.
#[derive(Debug, Clone, Serialize)]
pub struct Field {
    /// Its name
    pub name: String,
    /// What it holds
    pub value: Prose,
    /// Whether it may be missing
    pub optional: bool,
    /// What the schema says about it, and its own TTL
    pub meaning: Prose,
}

/// How long keys live.
#[derive(Debug, Clone, Serialize)]
pub struct Ttl {
    /// In words
    pub text: Prose,
    /// In a few words, for a badge
    pub short: String,
    /// Whether keys expire
    pub expires: bool,
    /// Jitter, sliding, and the like
    pub notes: Vec<Prose>,
}

/// A lifecycle's names.
#[derive(Debug, Clone, Serialize)]
pub struct LifecycleName {
    /// The word in the schema
    pub name: &'static str,
    /// The word in the page's language
    pub title: &'static str,
}

/// A lifecycle, what it means and who has it.
#[derive(Debug, Clone, Serialize)]
pub struct Lifecycle {
    /// Its names
    pub lifecycle: LifecycleName,
    /// What it means
    pub meaning: Prose,
    /// The eviction policies that suit it
    pub needs: Prose,
    /// Whether the declared policy suits it, in words
    pub fits: Option<Prose>,
    /// Whether the declared policy does not suit it
    pub at_risk: bool,
    /// Its definitions
    pub definitions: Vec<Target>,
}

/// Who is responsible for definitions.
#[derive(Debug, Clone, Serialize)]
pub struct Owner {
    /// The name
    pub name: String,
    /// What they do
    pub doc: Option<Doc>,
    /// How to reach them
    pub contact: Option<Doc>,
    /// Their definitions
    pub definitions: Vec<Target>,
}

/// A line of the table of TTLs.
#[derive(Debug, Clone, Serialize)]
pub struct TtlRow {
    /// The definition
    pub target: Target,
    /// Its lifecycle
    pub lifecycle: LifecycleName,
    /// In words
    pub text: Prose,
    /// In seconds, as commands take it; empty if there is none
    pub seconds: String,
    /// The shortest, from 0 to 100 on a logarithmic scale
    pub from: f64,
    /// The longest, from 0 to 100 on a logarithmic scale
    pub to: f64,
    /// Whether it never expires
    pub endless: bool,
}

/// A mark of the logarithmic scale.
#[derive(Debug, Clone, Serialize)]
pub struct Mark {
    /// Where, from 0 to 100
    pub at: f64,
    /// Its label
    pub label: String,
}

/// `[events.*]`
#[derive(Debug, Clone, Serialize)]
pub struct Event {
    /// Its id and where it is
    pub target: Target,
    /// When it happens
    pub doc: Option<Doc>,
    /// The parameters that it carries
    pub params: Vec<Param>,
    /// What it invalidates
    pub invalidates: Vec<Invalidates>,
}

/// What an event invalidates.
#[derive(Debug, Clone, Serialize)]
pub struct Invalidates {
    /// The definition
    pub definition: Prose,
    /// Which of its keys
    pub keys: Invalidated,
}

/// An event, seen from a definition.
#[derive(Debug, Clone, Serialize)]
pub struct InvalidatedBy {
    /// The event
    pub event: Target,
    /// When it happens
    pub doc: Option<Doc>,
    /// Which of its keys
    pub keys: Vec<Invalidated>,
}

/// The keys of a definition that an event invalidates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Invalidated {
    /// The event's parameters in braces, `*` where any value is meant
    pub pattern: String,
    /// How they are found, if there may be many
    pub how: Option<Prose>,
}

/// A key that Keyward writes next to a definition's key.
#[derive(Debug, Clone, Serialize)]
pub struct Derived {
    /// Its word: `lease`
    pub word: &'static str,
    /// What it is for
    pub meaning: Prose,
    /// The derived key of the first example
    pub example: Option<String>,
}

/// A former name of a definition's keys.
#[derive(Debug, Clone, Serialize)]
pub struct Former {
    /// The old pattern, whole
    pub pattern: String,
    /// The migration
    pub migration: String,
    /// `dual-write`, `read-fallback` or `cleanup`
    pub phase: &'static str,
    /// What that means
    pub meaning: Prose,
    /// When it began
    pub started: Option<String>,
    /// When the old name must be removed
    pub remove_after: Option<String>,
    /// What changes besides the name
    pub changes: Option<Prose>,
}

/// `[migrations.*]`
#[derive(Debug, Clone, Serialize)]
pub struct Migration {
    /// Its id
    pub name: String,
    /// Why
    pub doc: Option<Doc>,
    /// `dual-write`, `read-fallback` or `cleanup`
    pub phase: &'static str,
    /// What that means
    pub meaning: Prose,
    /// When it began
    pub started: Option<String>,
    /// When the old names must be removed
    pub remove_after: Option<String>,
    /// How it goes on and ends
    pub notes: Vec<Prose>,
    /// Old names and new ones
    pub renames: Vec<Rename>,
}

/// An old name and the new one.
#[derive(Debug, Clone, Serialize)]
pub struct Rename {
    /// The definition
    pub definition: Prose,
    /// The old pattern, whole
    pub from: String,
    /// The new pattern, prefix included
    pub to: String,
    /// What changes besides the name
    pub changes: Option<Prose>,
    /// What the definition is for
    pub doc: Option<Doc>,
}

/// How to find the keys of many definitions.
#[derive(Debug, Clone, Serialize)]
pub struct Operation {
    /// Which: a group, a lifecycle, an owner
    pub title: Prose,
    /// Their globs
    pub globs: Vec<String>,
    /// A command for each glob
    pub commands: Vec<String>,
    /// The options of `keyward key glob` that select the same
    pub selection: String,
}

/// `[server]` and `[alerts]`
#[derive(Debug, Clone, Serialize)]
pub struct Server {
    /// The lines for `redis.conf`; empty if nothing is declared
    pub conf: String,
    /// What they mean
    pub settings: Vec<Setting>,
    /// When to alert
    pub alert: Option<Prose>,
}

/// A line of `redis.conf`.
#[derive(Debug, Clone, Serialize)]
pub struct Setting {
    /// The setting
    pub name: String,
    /// Its value
    pub value: String,
    /// What it means, for the common ones
    pub meaning: Option<Prose>,
}

/// `[layout]`
#[derive(Debug, Clone, Serialize)]
pub struct Layout {
    /// What the shape is
    pub note: &'static str,
    /// The shape, as the schema writes it
    pub shape: String,
    /// Its slots
    pub slots: Vec<Slot>,
    /// Reserved words
    pub reserved: Option<Prose>,
}

/// A slot of the layout.
#[derive(Debug, Clone, Serialize)]
pub struct Slot {
    /// Its name, or its literal text
    pub name: String,
    /// Whether it may be left out or takes the rest
    pub notes: Vec<Prose>,
    /// The allowed words; several lines if they depend on another slot
    pub words: Vec<Prose>,
}

/// `[text.*]`
#[derive(Debug, Clone, Serialize)]
pub struct Text {
    /// Its id and where it is
    pub target: Target,
    /// Which texts it is for
    pub doc: Option<Doc>,
    /// The parameters that take its results
    pub for_params: Prose,
    /// What it does, in order
    pub steps: Vec<Prose>,
    /// Texts and their results
    pub examples: Vec<TextExample>,
}

/// A text and the identifier that is made from it.
#[derive(Debug, Clone, Serialize)]
pub struct TextExample {
    /// The text
    pub text: String,
    /// The identifier
    pub result: String,
}

/// `[foreign.*]`
#[derive(Debug, Clone, Serialize)]
pub struct Foreign {
    /// Its id
    pub name: String,
    /// Whose keys they are
    pub doc: Option<Doc>,
    /// The glob
    pub glob: String,
}

/// An item of the team's check-list.
#[derive(Debug, Clone, Serialize)]
pub struct ChecklistItem {
    /// Whether rules decide it, and have nothing against it
    pub holds: bool,
    /// The item
    pub text: Doc,
    /// Whether it must hold, or should
    pub level: &'static str,
    /// Who decides it
    pub decided: Prose,
}

/// A finding that was accepted.
#[derive(Debug, Clone, Serialize)]
pub struct Accepted {
    /// What it is about
    pub subject: Prose,
    /// The rule
    pub rule: String,
    /// Why
    pub reason: Doc,
}
