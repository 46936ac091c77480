//! `[keys.*]`: a pattern, and what is stored under it.

use super::{Allow, Field, Relation, Role, Ttl, Value};
use crate::span::{Span, Spanned};
use keyward_fact::{Duration, KeyType, Size};
use keyward_pattern::{Param, Template};

/// One entry of `[params]`, or of a definition's own `params`.
#[derive(Debug, Clone)]
pub struct ParamDeclaration {
    /// The parameter's name
    pub name: Spanned<String>,
    /// Its type, normalisation and encoding
    pub param: Spanned<Param>,
    /// Where its `encode` was written, if it has one
    pub encode_span: Option<Span>,
    /// What it means, for people
    pub doc: Option<Spanned<String>>,
    /// Whether reports must mask it; yes unless `pii = false`
    pub pii: bool,
    /// The pipeline that makes its values from text
    pub from: Option<Spanned<String>>,
}

/// One entry of `[keys]`: a pattern and what is stored under it.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Its id: the name of the table
    pub name: Spanned<String>,
    /// What it is for
    pub doc: Option<Spanned<String>>,
    /// Who is responsible for it; already filled from `[defaults]`
    pub owner: Option<Spanned<String>>,
    /// The group it belongs to
    pub group: Option<Spanned<String>>,
    /// The pattern, without the prefix
    pub pattern: Spanned<Template>,
    /// What separates its parameters besides the keyspace's separator; the parameters exclude it already
    pub separators: Option<Spanned<String>>,
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
    /// What each of the other fields holds, if that is declared
    pub others: Option<Spanned<Value>>,
    /// What a set or sorted set holds
    pub member: Option<Spanned<Value>>,
    /// What a sorted set is ordered by
    pub score: Option<Spanned<Value>>,
    /// The other relations that it must agree with
    pub relation: Relation,
    /// The TTL, written or implied by a role or `[defaults]`
    pub ttl: Option<Spanned<Ttl>>,
    /// The jitter, in per cent
    pub jitter: Option<Spanned<f64>>,
    /// What a write does to a running TTL
    pub on_write: OnWrite,
    /// Whether a read starts the TTL again
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
    /// Which end stays when it is trimmed, if that was written
    pub keep: Option<Spanned<Keep>>,
    /// How a free parameter in an event is resolved
    pub invalidate: Option<Spanned<Invalidate>>,
    /// Example keys, written like the pattern: without the prefix
    pub examples: Vec<Spanned<String>>,
    /// What it is for beyond storage
    pub role: Option<Spanned<Role>>,
    /// What the runtime does for a cache
    pub cache: CacheOptions,
    /// Whether an event refreshes it
    pub refreshed: bool,
    /// Findings accepted for this definition
    pub allow: Vec<Allow>,
}

impl Definition {
    /// How long a key lives at least, after jitter; `None` if it never expires or the caller
    /// decides.
    pub fn shortest_ttl(&self) -> Option<Duration> {
        let ttl = self.ttl.as_ref()?;
        let shortest = ttl.shortest().or(match ttl.value {
            Ttl::Caller { max } => max,
            _ => None,
        })?;
        let percent = self.jitter.as_ref().map_or(0.0, |jitter| jitter.clamp(0.0, 100.0));
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of a TTL of at most ten years is far below 2^53"
        )]
        let cut = (shortest.as_millis() as f64 * percent / 100.0) as u64;
        Some(Duration::from_millis(shortest.as_millis().saturating_sub(cut)))
    }
}

/// What a write does to a running TTL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnWrite {
    /// Starts it again; the default
    Set,
    /// Leaves it
    Keep,
}

/// What happens when a collection has reached `max_len`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFull {
    /// Entries above the bound are removed; the default for ordered collections
    Trim,
    /// The write is refused; the default for sets and hashes
    Refuse,
}

/// Which end of an ordered collection stays when it is trimmed to `max_len`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The first entries of a list; the lowest scores of a sorted set
    First,
    /// The last entries of a list; the highest scores of a sorted set
    Last,
}

/// How a free parameter in an event is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invalidate {
    /// By a derived index of the keys that exist
    Index,
    /// By SCAN
    Scan,
}

/// Whether a key may be lost before its TTL ends.
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

/// What the runtime does for a cache.
#[derive(Debug, Clone, Default)]
pub struct CacheOptions {
    /// `l1 = "10s"`: kept in the process, at most this old
    pub l1: Option<Spanned<Duration>>,
    /// `early_refresh = true`: refreshed before it expires
    pub early_refresh: Option<Spanned<bool>>,
    /// `stale_if_error = "1h"`: served this long after it expired when the loader fails
    pub stale_if_error: Option<Spanned<Duration>>,
    /// `stale_if_slow = "200ms"`: if loading takes longer, the expired value is served meanwhile
    pub stale_if_slow: Option<Spanned<Duration>>,
    /// `negative_ttl = "30s"`: how long a missing value is remembered
    pub negative_ttl: Option<Spanned<Duration>>,
    /// `load_lock = "5s"`: one process loads at a time
    pub load_lock: Option<Spanned<Duration>>,
}
