//! What templates see of a schema.
//!
//! Everything is plain data under the names of the fields below: a template that replaces one of ours
//! is written against this page. Indexes count from zero. Texts are as the schema has them; a
//! template quotes them with the filters `literal` and `comment`, and makes names with `ident`, each
//! given the language: `{{ key.pattern | literal("java") }}`.

mod build;
mod name;

pub use name::Name;

#[cfg(feature = "files")]
use serde::Serialize;

/// A text of the schema on one line, for a comment. Read from right to left or hidden, a comment could
/// show other code than there is, so that marks of direction are left out.
pub fn one_line(text: &str) -> String {
    let is_break =
        |char: char| char.is_control() || matches!(char, '\u{85}' | '\u{2028}' | '\u{2029}');
    let is_direction = |char: &char| matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let chars = text.chars().filter(|char| !is_direction(char));
    chars.map(|char| if is_break(char) { ' ' } else { char }).collect()
}

/// One keyspace.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Module {
    /// The keyspace's name
    pub name: Name,
    /// What it is
    pub doc: Option<String>,
    /// The character between two segments
    pub separator: char,
    /// What every key begins with
    pub prefix: Prefix,
    /// The block that keys are read by, in base64; see `keyward_pattern::Tables`
    pub block: String,
    /// The types of parameters that are the schema's own: enums, texts and keys
    pub types: Vec<ParamType>,
    /// The pipelines that make values of parameters from text
    pub texts: Vec<Text>,
    /// The definitions, in order: a definition's number in the block is its index here
    pub keys: Vec<Key>,
    /// The old names of all migrations, in order: an old name's number in the block is its index here
    pub former: Vec<Former>,
    /// The events
    pub events: Vec<Event>,
    /// Definitions by group
    pub groups: Vec<Selection>,
    /// Definitions by lifecycle; only those that some definition has
    pub lifecycles: Vec<Selection>,
    /// Definitions by owner
    pub owners: Vec<Selection>,
    /// The application's types that hold JSON values
    pub json_types: Vec<String>,
    /// What clients of the schema call themselves with `CLIENT SETNAME`: its migrations, each with its phase
    pub announcement: String,
    /// Whether the keyspace works on a cluster
    pub cluster: bool,
    /// Whether a value or a field is JSON that code reads and writes
    pub needs_json: bool,
    /// Whether a value is compressed
    pub needs_zstd: bool,
}

/// What every key begins with.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Prefix {
    /// The pattern, empty if there is none
    pub pattern: String,
    /// The text, if it has no parameters
    pub constant: Option<String>,
    /// Its parameters
    pub params: Vec<Param>,
    /// Its literals and parameters
    pub parts: Vec<PatternPart>,
}

/// A piece of a pattern: a literal or a parameter.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct PatternPart {
    /// The literal
    pub literal: Option<String>,
    /// The literal as it is written in a glob
    pub glob: Option<String>,
    /// The parameter: an index of `params`
    pub param: Option<usize>,
}

/// A parameter of a pattern, a prefix or an event.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Param {
    /// Its name
    pub name: Name,
    /// What it means
    pub doc: Option<String>,
    /// Its type
    #[cfg_attr(feature = "files", serde(rename = "type"))]
    pub ty: ParamType,
    /// Whether it takes the rest of the key
    pub rest: bool,
    /// Whether reports mask it
    pub pii: bool,
}

/// The type of a parameter.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct ParamType {
    /// `uuid`, `int`, `uint`, `date`, `unix`, `unix_ms` and `ip` are the language's own types;
    /// `enum`, `text` and `key` are types of the schema with a name
    pub kind: &'static str,
    /// The type's name; for one of the language's own, the name of the kind
    pub name: Name,
    /// The type in the words of a schema: `uuid`, `regex [a-z]+`
    pub description: String,
    /// What it means, where every parameter of this type says the same
    pub doc: Option<String>,
    /// The number of its language in the block; none for a key
    pub language: Option<u32>,
    /// Whether a value is written differently in a key
    pub encoded: bool,
    /// Whether a value is made lower case before it is checked
    pub lower: bool,
    /// The words of an enum
    pub words: Vec<Word>,
    /// The definitions whose keys it holds: indexes of `keys`
    pub keys: Vec<usize>,
    /// The pipeline that makes its values from text: an index of `texts`
    pub from: Option<usize>,
}

/// A pipeline that makes identifiers from human text. Only Rust has it so far.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Text {
    /// Its name
    pub name: Name,
    /// Which texts it is for
    pub doc: Option<String>,
    /// Abbreviations with their long forms
    pub abbreviations: Vec<(String, String)>,
    /// The language in which numbers are spelled: `de` or `en`
    pub numbers: Option<&'static str>,
    /// Symbols with their words
    pub symbols: Vec<(char, String)>,
    /// Words that are left out
    pub stop_words: Vec<String>,
    /// How many words stay
    pub words: Option<u64>,
    /// The longest result
    pub max_len: Option<u64>,
    /// How a longer result is shortened: `cut` or `vowels`
    pub shorten: &'static str,
    /// Whether a text that has the form of a result stays as it is
    pub idempotent: bool,
}

/// A word of an enum.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Word {
    /// A name for it
    pub name: Name,
    /// The word
    pub text: String,
    /// How it is written in a key
    pub spelling: String,
}

/// A key definition.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "files", derive(Serialize))]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact about the key, true or false")]
pub struct Key {
    /// Its index
    pub number: usize,
    /// Its name
    pub name: Name,
    /// What it is for
    pub doc: Option<String>,
    /// Who is responsible for it
    pub owner: Option<String>,
    /// Its group
    pub group: Option<String>,
    /// Its lifecycle
    pub lifecycle: &'static str,
    /// Its role, if it has one
    pub role: Option<&'static str>,
    /// The whole pattern, prefix included
    pub pattern: String,
    /// Its parameters, without those of the prefix
    pub params: Vec<Param>,
    /// Its literals and parameters, without the prefix
    pub parts: Vec<PatternPart>,
    /// The glob with everything free, prefix included
    pub glob: String,
    /// Whether values that are each of their type can still be refused, because the key would be too long or belong
    /// to a more specific definition
    pub shadowed: bool,
    /// Whether its keys have a hash tag
    pub tagged: bool,
    /// How many bytes its literals have, prefix included
    pub literal_len: usize,
    /// Example keys, prefix included where it has no parameters
    pub examples: Vec<String>,
    /// The type of the key: `string`, `hash`, …
    #[cfg_attr(feature = "files", serde(rename = "type"))]
    pub ty: Option<String>,
    /// What a string holds, or each entry of a list or stream
    pub value: Option<Value>,
    /// The fields of a hash, or of a stream's entries
    pub fields: Vec<Field>,
    /// Whether other fields are admitted
    pub open: bool,
    /// What each of the other fields holds, if that is declared
    pub others: Option<Value>,
    /// What a set or sorted set holds
    pub member: Option<Value>,
    /// What a sorted set is ordered by
    pub score: Option<Value>,
    /// How long it lives
    pub ttl: Option<Ttl>,
    /// The bound on its length
    pub max_len: Option<u64>,
    /// The bound on its size in bytes
    pub max_bytes: Option<u64>,
    /// The name of its Spring cache, if it can have one
    pub cache_name: Option<String>,
    /// What a store does beyond reading and writing
    pub behaviour: Behaviour,
    /// The old names that are read or written as long as a migration lasts: indexes of `former`
    pub former: Vec<usize>,
    /// The definitions that its role refers to
    pub links: Vec<Link>,
    /// Whether a role reads or writes fields of its hash
    pub fields_at_run_time: bool,
}

/// A definition that a role refers to.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Link {
    /// The option that names it: `dead_letter`, `index`, …
    pub what: &'static str,
    /// The index of the definition in `keys`
    pub key: usize,
}

/// An old name of a key.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Former {
    /// Its migration
    pub migration: String,
    /// `dual-write`, `read-fallback` or `cleanup`
    pub phase: &'static str,
    /// The definition whose keys had this name: an index of `keys`
    pub key: usize,
    /// The database of the old keys, if it is not the keyspace's own
    pub db: Option<u64>,
    /// Its literals and parameters
    pub parts: Vec<FormerPart>,
    /// Whether programs read or write it
    pub used: bool,
}

/// A literal or a parameter of an old name.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct FormerPart {
    /// The literal
    pub literal: Option<String>,
    /// The definition's parameter of the same name, those of the prefix first; none if it has no such parameter
    pub param: Option<usize>,
    /// The number of its old type's language, if it has one
    pub language: Option<u32>,
    /// The definitions whose keys it is, if it is a key
    pub keys: Vec<usize>,
    /// The case of its ASCII letters under the new name, `lower` or `upper`, if the old name has the
    /// other: with `lower`, the old name is built from the value in upper case
    pub recase: Option<&'static str>,
}

/// What a store does beyond reading and writing a key.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "files", derive(Serialize))]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the schema, on or off")]
pub struct Behaviour {
    /// By how many per cent a TTL may be shortened
    pub jitter: f64,
    /// Whether a write leaves a running TTL
    pub keep_ttl: bool,
    /// Whether a read starts the TTL again
    pub sliding: bool,
    /// Whether a write to a collection that has reached its bound is refused; otherwise it is trimmed
    pub refuse_when_full: bool,
    /// How an event finds keys with a free parameter: `index` or `scan`
    pub invalidate: Option<&'static str>,
    /// The parameters that events bind when they look for its keys in an index, for each way
    pub indexes: Vec<Vec<usize>>,
    /// How old a copy in the process may be, in milliseconds
    pub l1_ms: Option<u64>,
    /// Whether it is refreshed before it expires
    pub early_refresh: bool,
    /// How long it is served after it expired when the loader fails, in milliseconds
    pub stale_ms: Option<u64>,
    /// How long loading may take until the expired value is served, in milliseconds
    pub slow_ms: Option<u64>,
    /// Whether an event marks it as due to be loaded again
    pub refreshed: bool,
    /// How long a missing value is remembered, in milliseconds
    pub negative_ms: Option<u64>,
    /// How long one process may load while the others wait, in milliseconds
    pub load_lock_ms: Option<u64>,
    /// The bound of a quota or a rate limit; none if the caller gives it
    pub limit: Option<u64>,
    /// The time in which a limit counts, or after which a quota starts again, in milliseconds
    pub window_ms: Option<u64>,
    /// Which end stays when it is trimmed, `first` or `last`; none where the schema does not say
    pub keep: Option<&'static str>,
    /// How a rate limit counts: `fixed-window`, `sliding-window` or `gcra`
    pub algorithm: Option<&'static str>,
    /// Whether a limit refuses while the server is unreachable
    pub closed_on_outage: bool,
    /// Whether a counter may fall below zero
    pub negative: bool,
    /// Whether a flag is on if nothing is stored
    pub on_by_default: bool,
    /// Who ranks higher of those with the same score: `first` or `last`
    pub ties: Option<&'static str>,
    /// Whether a lock goes to whoever has waited longest
    pub fair: bool,
    /// How many may hold a lock at once, if more than one
    pub holders: Option<u64>,
    /// How many replicas must confirm a lock
    pub replicas: Option<u64>,
    /// What a queue does
    pub queue: Option<Queue>,
    /// What a session does
    pub session: Option<Session>,
    /// What an index and its reverse hold: whether each holds whole keys
    pub index: Option<(bool, bool)>,
    /// How long a refresh token that was used is answered with its successor, in milliseconds
    pub reuse_grace_ms: Option<u64>,
    /// The field that a session or a refresh token sets to the time, and how: `timestamp`, `unix`, …
    pub touched: Option<(String, &'static str)>,
}

/// What a queue does with its jobs. Times are in milliseconds.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Queue {
    /// How long a job is a worker's without a heartbeat
    pub lease_ms: u64,
    /// How long a job may take
    pub timeout_ms: Option<u64>,
    /// How often a job is tried before it is dead; none: for ever
    pub max_attempts: Option<u64>,
    /// How often the worker of a job may be lost before the job is dead; none: any number
    pub max_crashes: Option<u64>,
    /// The pause after the first failure, which doubles with each
    pub backoff_ms: u64,
    /// The longest pause between two attempts
    pub max_backoff_ms: u64,
    /// How long a job that has ended is remembered with its result
    pub retain_ms: Option<u64>,
    /// How many jobs of a group run at once
    pub per_group: Option<u64>,
    /// The parameter of its status that is the id of a job
    pub job_id: Option<String>,
    /// Whether dead letters are values of the queue, and not objects that tell why a job failed
    pub dead_as_is: bool,
}

/// What a session does beyond being read.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Session {
    /// The parameter that is its id: an index of `params`
    pub id: usize,
    /// When it ends however often it is used, in milliseconds
    pub max_age_ms: Option<u64>,
    /// What a revocation holds: `timestamp`, `unix`, …, or `=` and a word
    pub revoked: Option<String>,
    /// Whether its index holds whole keys; otherwise it holds ids
    pub listed_as_key: bool,
    /// The unit of the index's scores in milliseconds, where it is a sorted set
    pub score_ms: Option<u64>,
}

/// What a key, a field, a member or a score holds.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Value {
    /// `text`, `int`, `uint`, `float`, `bool`, `uuid`, `timestamp`, `date`, `unix`, `unix_ms`,
    /// `bytes`, `enum`, `json`, `ref` or `key`
    pub kind: &'static str,
    /// The words of an enum
    pub words: Vec<Word>,
    /// The application's type of a JSON value
    pub json_type: Option<String>,
    /// What an array in JSON holds
    pub items: Option<Box<Value>>,
    /// Whether it is compressed with zstd
    pub zstd: bool,
    /// The type of the parameter that a `ref` refers to
    pub of: Option<ParamType>,
    /// The definitions whose keys it holds: indexes of `keys`
    pub keys: Vec<usize>,
}

/// A field of a hash.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Field {
    /// Its name; `id` is its name in the hash
    pub name: Name,
    /// What it means
    pub doc: Option<String>,
    /// What it holds
    pub value: Value,
    /// Whether it may be missing
    pub optional: bool,
    /// Its own TTL
    pub ttl: Option<Ttl>,
    /// Whether writing only this field leaves the key's running TTL
    pub keeps_ttl: bool,
}

/// How long a key lives.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Ttl {
    /// `none`, `fixed`, `range`, `by` or `caller`
    pub kind: &'static str,
    /// For people
    pub text: String,
    /// The shortest TTL that a write sets, in milliseconds
    pub min_ms: Option<u64>,
    /// The longest, in milliseconds
    pub max_ms: Option<u64>,
    /// The parameter that decides
    pub by: Option<Name>,
    /// The TTL in milliseconds for each of its words
    pub words: Vec<(String, u64)>,
}

/// An event.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Event {
    /// Its name
    pub name: Name,
    /// When it happens
    pub doc: Option<String>,
    /// Its parameters
    pub params: Vec<Param>,
    /// What it invalidates
    pub invalidates: Vec<Invalidation>,
}

/// Keys that an event invalidates.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Invalidation {
    /// The definition: an index of `keys`
    pub key: usize,
    /// Where the value of each of its parameters comes from, in order
    pub bindings: Vec<Binding>,
    /// Whether one key is meant; otherwise a glob finds them
    pub exact: bool,
    /// How the others are found: `index` or `scan`
    pub resolve: Option<&'static str>,
    /// Whether its values are served until they are loaded again; otherwise they are removed
    pub refresh: bool,
}

/// Where a parameter's value comes from.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Binding {
    /// The event's parameter: an index of its `params`
    pub param: Option<usize>,
    /// Whether that parameter has the same type; otherwise its text is a value of both
    pub same_type: bool,
    /// Always this word
    pub word: Option<Word>,
    /// Every value
    pub free: bool,
}

/// Definitions with something in common.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "files", derive(Serialize))]
pub struct Selection {
    /// What they have in common
    pub name: Name,
    /// What that is
    pub doc: Option<String>,
    /// The definitions: indexes of `keys`
    pub keys: Vec<usize>,
    /// The globs that find their keys, prefix included
    pub globs: Vec<String>,
}
