//! What a `keyward.toml` says, once it has been read: plain data with spans, no behaviour beyond
//! what follows from the data itself.
//!
//! Everything that names something else (an event's definition, a queue's dead letter) keeps the
//! name as it was written: whether the name exists is for a rule to say, with its place.

use crate::span::{Span, Spanned};
use keyward_fact::{Duration, KeyType, Size};
use keyward_pattern::{Param, Template};
use std::fmt;

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
    /// `[defaults]`
    pub defaults: Defaults,
    /// `[rules]`
    pub rules: RuleSettings,
    /// `[params]`, in the order of the file
    pub params: Vec<ParamDeclaration>,
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
    /// Findings accepted for the whole keyspace
    pub allow: Vec<Allow>,
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
    /// What stands between two segments; `:` unless given
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

/// `[layout]`: the shape that every pattern follows.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The shape as written
    pub text: Spanned<String>,
    /// Its slots, in order
    pub slots: Vec<Slot>,
    /// Words with a meaning of their own (`all`, `active`, `default`)
    pub reserved: Vec<Spanned<String>>,
}

/// One slot of the layout's shape.
#[derive(Debug, Clone)]
pub struct Slot {
    /// `entity` in `<entity>`; a literal slot has none
    pub name: Option<String>,
    /// The text of a literal slot (`v2` in `<namespace>:v2:<entity>`)
    pub literal: Option<String>,
    /// Whether it may be left out: `[:<subkey>]`
    pub optional: bool,
    /// Whether it takes the rest: `<identifier...>`
    pub rest: bool,
    /// The words allowed here
    pub words: Option<Words>,
}

/// The words allowed in a slot.
#[derive(Debug, Clone)]
pub enum Words {
    /// The same words always
    Fixed(Vec<Spanned<String>>),
    /// Words that depend on the word in an earlier slot
    By {
        /// The earlier slot
        slot: Spanned<String>,
        /// For each of its words, the words allowed here
        words: Vec<(Spanned<String>, Vec<Spanned<String>>)>,
    },
}

/// `[server]`: what the server must be set to.
#[derive(Debug, Clone, Default)]
pub struct Server {
    /// `maxmemory`
    pub maxmemory: Option<Spanned<Size>>,
    /// `maxmemory-policy`
    pub maxmemory_policy: Option<Spanned<Policy>>,
    /// `save`: the snapshot points; an empty string turns snapshots off
    pub save: Option<Spanned<String>>,
    /// `appendonly`
    pub appendonly: Option<Spanned<bool>>,
    /// Any other setting, by its name in `redis.conf`
    pub other: Vec<(Spanned<String>, Spanned<String>)>,
}

/// `maxmemory-policy`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the setting of that name")]
pub enum Policy {
    Noeviction,
    AllkeysLru,
    AllkeysLfu,
    AllkeysRandom,
    VolatileLru,
    VolatileLfu,
    VolatileRandom,
    VolatileTtl,
}

impl Policy {
    /// All policies, in the order of the enum.
    pub const ALL: [Policy; 8] = [
        Policy::Noeviction,
        Policy::AllkeysLru,
        Policy::AllkeysLfu,
        Policy::AllkeysRandom,
        Policy::VolatileLru,
        Policy::VolatileLfu,
        Policy::VolatileRandom,
        Policy::VolatileTtl,
    ];

    /// The name in `redis.conf`.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Noeviction => "noeviction",
            Policy::AllkeysLru => "allkeys-lru",
            Policy::AllkeysLfu => "allkeys-lfu",
            Policy::AllkeysRandom => "allkeys-random",
            Policy::VolatileLru => "volatile-lru",
            Policy::VolatileLfu => "volatile-lfu",
            Policy::VolatileRandom => "volatile-random",
            Policy::VolatileTtl => "volatile-ttl",
        }
    }

    /// Whether the server may evict a key without a TTL.
    pub fn evicts_persistent(self) -> bool {
        matches!(self, Policy::AllkeysLru | Policy::AllkeysLfu | Policy::AllkeysRandom)
    }

    /// Whether the server may evict a key with a TTL before it ends.
    pub fn evicts_expiring(self) -> bool {
        self != Policy::Noeviction
    }
}

/// `[alerts]`
#[derive(Debug, Clone, Default)]
pub struct Alerts {
    /// The share of `maxmemory`, in per cent, above which an audit reports
    pub memory: Option<Spanned<f64>>,
}

/// `[defaults]`: what holds for every definition that does not say otherwise.
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

/// `[rules]`
#[derive(Debug, Clone)]
pub struct RuleSettings {
    /// Which rule set applies; `recommended` unless given
    pub set: Spanned<RuleSet>,
    /// Settings of single rules, by name as written
    pub rules: Vec<(Spanned<String>, RuleSetting)>,
}

/// The nested rule sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleSet {
    /// What no keyspace can do without: soundness
    Minimal,
    /// What almost everyone wants
    Recommended,
    /// Everything
    Strict,
}

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Not reported
    Off,
    /// Reported; `check` still exits 1, as for any finding
    Warn,
    /// Reported first
    Error,
}

/// One rule's settings: `missing-owner = "error"`, or a table.
#[derive(Debug, Clone, Default)]
pub struct RuleSetting {
    /// The severity, if it is overridden
    pub severity: Option<Severity>,
    /// Words for rules with a word list (`abbreviation`)
    pub words: Vec<Spanned<String>>,
    /// Words such a rule must accept
    pub accept: Vec<Spanned<String>>,
    /// A bound for rules with a bound in time (`stale-cache`)
    pub max: Option<Spanned<Duration>>,
}

/// One entry of `[params]`, or of a definition's own `params`.
#[derive(Debug, Clone)]
pub struct ParamDeclaration {
    /// The parameter's name
    pub name: Spanned<String>,
    /// Its type, normalisation and encoding
    pub param: Spanned<Param>,
    /// Where its `encode` stands, if it has one
    pub encode_span: Option<Span>,
    /// What it means, for people
    pub doc: Option<Spanned<String>>,
    /// The text pipeline that makes it from human text
    pub from: Option<Spanned<String>>,
    /// Whether reports must mask it; yes unless `pii = false`
    pub pii: bool,
}

/// One entry of `[keys]`: a pattern and what stands under it.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Its id: the name of the table
    pub name: Spanned<String>,
    /// What it is for
    pub doc: Option<Spanned<String>>,
    /// Who answers for it; already filled from `[defaults]`
    pub owner: Option<Spanned<String>>,
    /// The group it belongs to
    pub group: Option<Spanned<String>>,
    /// The pattern, without the prefix
    pub pattern: Spanned<Template>,
    /// The declaration of each parameter, in the order of the prefix's and then the pattern's parameters
    pub params: Vec<ParamDeclaration>,
    /// The type, written or implied by fields, value or role; `None` where the convention does not say
    pub key_type: Option<Spanned<KeyType>>,
    /// What a string holds, or each entry of a list or stream
    pub value: Option<Spanned<Value>>,
    /// The fields of a hash or of a stream's entries
    pub fields: Vec<Field>,
    /// Whether other fields are admitted
    pub open: bool,
    /// What a set or sorted set holds
    pub member: Option<Spanned<Value>>,
    /// What a sorted set is ordered by
    pub score: Option<Spanned<Value>>,
    /// The TTL, written or implied by a role or `[defaults]`
    pub ttl: Option<Spanned<Ttl>>,
    /// The jitter, in per cent
    pub jitter: Option<Spanned<f64>>,
    /// What a write does to a TTL that is running
    pub on_write: OnWrite,
    /// Whether a read starts the TTL anew
    pub sliding: bool,
    /// The lifecycle, written or implied
    pub lifecycle: Lifecycle,
    /// Where the lifecycle was written, if it was
    pub lifecycle_span: Option<Span>,
    /// The bound on a collection's length; already filled from `[defaults]`
    pub max_len: Option<Spanned<u64>>,
    /// The bound on a value's size; already filled from `[defaults]`
    pub max_bytes: Option<Spanned<Size>>,
    /// What happens when `max_len` is reached
    pub on_full: OnFull,
    /// How a free parameter in an event is resolved
    pub invalidate: Option<Spanned<Invalidate>>,
    /// Example keys, written like the pattern: without the prefix
    pub examples: Vec<Spanned<String>>,
    /// What it is for beyond storage
    pub role: Option<Spanned<Role>>,
    /// What the runtime does for a cache
    pub cache: CacheOptions,
    /// Findings accepted for this definition
    pub allow: Vec<Allow>,
}

/// What a key holds, or a field, a member, a score.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Valid UTF-8
    Text,
    /// i64
    Int,
    /// u64
    Uint,
    /// f64
    Float,
    /// `true` or `false`
    Bool,
    /// A UUID
    Uuid,
    /// A time in RFC 3339
    Timestamp,
    /// A date, `2026-11-15`
    Date,
    /// Seconds since 1970
    Unix,
    /// Milliseconds since 1970
    UnixMs,
    /// Anything
    Bytes,
    /// One of these words; a single word is a constant
    Enum(Vec<String>),
    /// JSON
    Json {
        /// The application's type, if it is named
        of: Option<JsonType>,
        /// Whether it is compressed with zstd
        zstd: bool,
    },
    /// The value of another definition's parameter: `{ ref = "session.session_id" }`
    Ref {
        /// The definition
        definition: String,
        /// Its parameter
        param: String,
    },
    /// Another definition's key: `{ key = "entity" }`
    Key(String),
}

/// What is inside a JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonType {
    /// A type of the application, by its name
    Named(String),
    /// An array of simple values: `{ json = ["text"] }`
    Array(Box<Value>),
}

/// A field of a hash.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name
    pub name: Spanned<String>,
    /// What it holds
    pub value: Spanned<Value>,
    /// Whether it may be missing: `"text?"` or `optional = true`
    pub optional: bool,
    /// Its own TTL (Redis 7.4, Valkey 9)
    pub ttl: Option<Spanned<Ttl>>,
    /// What it means
    pub doc: Option<Spanned<String>>,
}

/// How long a key lives.
#[derive(Debug, Clone, PartialEq)]
pub enum Ttl {
    /// `"none"`: it never expires
    None,
    /// `"7d"`
    Fixed(Duration),
    /// `"1m..5m"`: a write picks inside
    Range(Duration, Duration),
    /// `{ by = "window" }`: by the word in a parameter
    By {
        /// The parameter
        param: String,
        /// The TTL for each of its words
        values: Vec<(String, Duration)>,
    },
    /// `{ caller = true, max = "24h" }`: the application knows
    Caller {
        /// The bound
        max: Option<Duration>,
    },
}

impl Ttl {
    /// The longest a key may live; `None` if there is no bound.
    pub fn longest(&self) -> Option<Duration> {
        match self {
            Ttl::None => None,
            Ttl::Fixed(ttl) | Ttl::Range(_, ttl) => Some(*ttl),
            Ttl::By { values, .. } => values.iter().map(|(_, ttl)| *ttl).max(),
            Ttl::Caller { max } => *max,
        }
    }

    /// The shortest TTL that a write may set; `None` if it never expires or only the caller knows.
    pub fn shortest(&self) -> Option<Duration> {
        match self {
            Ttl::None | Ttl::Caller { .. } => None,
            Ttl::Fixed(ttl) | Ttl::Range(ttl, _) => Some(*ttl),
            Ttl::By { values, .. } => values.iter().map(|(_, ttl)| *ttl).min(),
        }
    }

    /// Whether keys expire at all.
    pub fn expires(&self) -> bool {
        *self != Ttl::None
    }
}

/// For people; a duration or a range as it is written.
impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ttl::None => f.write_str("none"),
            Ttl::Fixed(ttl) => write!(f, "{ttl}"),
            Ttl::Range(from, to) => write!(f, "{from}..{to}"),
            Ttl::By { param, values } => {
                write!(f, "by `{param}`")?;
                for (number, (word, ttl)) in values.iter().enumerate() {
                    write!(f, "{} {word} {ttl}", if number == 0 { ":" } else { "," })?;
                }
                Ok(())
            }
            Ttl::Caller { max: None } => f.write_str("given by the caller"),
            Ttl::Caller { max: Some(max) } => write!(f, "given by the caller, at most {max}"),
        }
    }
}

/// What a write does to a TTL that is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnWrite {
    /// Starts it anew; the default
    Set,
    /// Leaves it
    Keep,
}

/// What happens when a collection has reached `max_len`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFull {
    /// The oldest or lowest entries go; the default
    Trim,
    /// The write is refused
    Refuse,
}

/// How a free parameter in an event is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invalidate {
    /// By a derived index of the keys that exist
    Index,
    /// By SCAN
    Scan,
}

/// What may happen to a key before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lifecycle {
    /// No TTL, never evicted
    Protected,
    /// A TTL, and not evicted before it
    Retained,
    /// A TTL; early loss logs a person out
    Session,
    /// A TTL; may vanish at any time
    Cache,
    /// A TTL of an hour at most
    Temporary,
}

impl Lifecycle {
    /// All, in the order of the enum.
    pub const ALL: [Lifecycle; 5] = [
        Lifecycle::Protected,
        Lifecycle::Retained,
        Lifecycle::Session,
        Lifecycle::Cache,
        Lifecycle::Temporary,
    ];

    /// The word in a schema.
    pub fn name(self) -> &'static str {
        match self {
            Lifecycle::Protected => "protected",
            Lifecycle::Retained => "retained",
            Lifecycle::Session => "session",
            Lifecycle::Cache => "cache",
            Lifecycle::Temporary => "temporary",
        }
    }
}

/// What a definition is for beyond storage.
#[derive(Debug, Clone)]
pub enum Role {
    /// A number that is counted up and down
    Counter(Counter),
    /// A counter with a bound
    Quota(Quota),
    /// A limit on how often something may happen
    RateLimit(RateLimit),
    /// A lock
    Lock(Lock),
    /// A queue of jobs
    Queue(Queue),
    /// A person's session
    Session(SessionRole),
    /// A way to find other keys
    Index(Index),
    /// A switch
    Flag,
    /// A board ordered by score
    Ranking,
}

impl Role {
    /// The word in a schema.
    pub fn name(&self) -> &'static str {
        match self {
            Role::Counter(_) => "counter",
            Role::Quota(_) => "quota",
            Role::RateLimit(_) => "rate_limit",
            Role::Lock(_) => "lock",
            Role::Queue(_) => "queue",
            Role::Session(_) => "session",
            Role::Index(_) => "index",
            Role::Flag => "flag",
            Role::Ranking => "ranking",
        }
    }
}

/// `counter = {}`
#[derive(Debug, Clone, Default)]
pub struct Counter {
    /// Whether it may fall below zero
    pub negative: bool,
}

/// `quota = { limit = 100, window = "1d" }`
#[derive(Debug, Clone)]
pub struct Quota {
    /// The most that may be used
    pub limit: Spanned<Limit>,
    /// When it starts anew
    pub window: Option<Spanned<Duration>>,
}

/// The bound of a quota or a rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Always the same
    Fixed(u64),
    /// `"caller"`: the application knows
    Caller,
}

/// `rate_limit = { limit = 10, window = "60s" }`
#[derive(Debug, Clone)]
pub struct RateLimit {
    /// How often
    pub limit: Spanned<Limit>,
    /// In which time
    pub window: Spanned<Duration>,
    /// How it is counted
    pub algorithm: Algorithm,
    /// What to answer while the server is away
    pub on_outage: OnOutage,
}

/// How a rate limit is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// `fixed-window`; the default
    FixedWindow,
    /// `sliding-window`
    SlidingWindow,
    /// `gcra`
    Gcra,
}

/// What a limit answers while the server is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnOutage {
    /// Allow; the default
    Open,
    /// Refuse
    Closed,
}

/// `lock = {}`
#[derive(Debug, Clone, Default)]
pub struct Lock {}

/// `queue = { dead_letter = "…", status = "…", job_id = "…" }`
#[derive(Debug, Clone, Default)]
pub struct Queue {
    /// The definition that takes failed jobs
    pub dead_letter: Option<Spanned<String>>,
    /// The definition that holds a job's status
    pub status: Option<Spanned<String>>,
    /// The parameter of `status` that is the job's id
    pub job_id: Option<Spanned<String>>,
}

/// `session = { index = "…", revoked = "…" }`
#[derive(Debug, Clone, Default)]
pub struct SessionRole {
    /// The definition that lists a person's sessions
    pub index: Option<Spanned<String>>,
    /// The definition that marks a session as revoked
    pub revoked: Option<Spanned<String>>,
}

/// `index = { of = "…", by = "…", reverse = "…" }`
#[derive(Debug, Clone)]
pub struct Index {
    /// The definition whose keys are found
    pub of: Spanned<String>,
    /// The parameter or field by which they are found
    pub by: Option<Spanned<String>>,
    /// The definition that leads back
    pub reverse: Option<Spanned<String>>,
}

/// What the runtime does for a cache.
#[derive(Debug, Clone, Default)]
pub struct CacheOptions {
    /// `l1 = "10s"`: kept in the process, at most this old
    pub l1: Option<Spanned<Duration>>,
    /// `early_refresh = true`: refreshed before it expires
    pub early_refresh: Option<Spanned<bool>>,
    /// `stale_if_error = "1h"`: served this long past its end when the loader fails
    pub stale_if_error: Option<Spanned<Duration>>,
    /// `negative_ttl = "30s"`: how long "there is none" is remembered
    pub negative_ttl: Option<Spanned<Duration>>,
    /// `load_lock = "5s"`: one process loads at a time
    pub load_lock: Option<Spanned<Duration>>,
}

/// `[events.*]`: something that happens in the application and invalidates keys.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its id
    pub name: Spanned<String>,
    /// When it happens
    pub doc: Option<Spanned<String>>,
    /// Its parameters
    pub params: Vec<ParamDeclaration>,
    /// What it invalidates
    pub invalidates: Vec<Spanned<Invalidation>>,
    /// Findings accepted for this event
    pub allow: Vec<Allow>,
}

/// `permission(folder_id = id, user_id = *)`
#[derive(Debug, Clone, PartialEq)]
pub struct Invalidation {
    /// The definition
    pub definition: String,
    /// What was written in the parentheses
    pub bindings: Vec<Binding>,
    /// `definition(*)`: every parameter that is not bound is free
    pub rest_free: bool,
}

/// `param = source`
#[derive(Debug, Clone, PartialEq)]
pub struct Binding {
    /// The definition's parameter
    pub param: String,
    /// Where its value comes from
    pub source: BindingSource,
}

/// Where a bound parameter's value comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum BindingSource {
    /// The event's parameter of this name
    Param(String),
    /// Always this word: `region = 'de'`
    Word(String),
    /// `*`: every value
    Free,
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
}

/// `[foreign.*]`: keys of other software, counted and never judged.
#[derive(Debug, Clone)]
pub struct Foreign {
    /// Its id
    pub name: Spanned<String>,
    /// Whose keys they are
    pub doc: Option<Spanned<String>>,
    /// A glob over whole keys, as `SCAN MATCH` reads it
    pub glob: Spanned<String>,
}

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
