//! What a schema says about a key, as constants.

use keyward_pattern::Recase;
use std::time::Duration;

/// A key definition, as its schema has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Definition {
    /// Its name
    pub name: &'static str,
    /// The whole pattern, prefix included
    pub pattern: &'static str,
    /// The glob that finds all its keys
    pub glob: &'static str,
    /// The type of the key: `string`, `hash`, …; `None` where the schema does not say
    pub key_type: Option<&'static str>,
    /// What may become of it
    pub lifecycle: Lifecycle,
    /// How long it lives
    pub ttl: Ttl,
    /// What a store does beyond reading and writing
    pub behaviour: Behaviour,
    /// Whether its schema says that it works on a cluster
    pub cluster: bool,
    /// The numbers of its old names, while a migration lasts
    #[doc(hidden)]
    pub former: &'static [u32],
    /// The definitions that its role refers to
    #[doc(hidden)]
    pub links: &'static [Link],
    /// The fields of its hash, where a role of the schema reads or writes some of them itself
    #[doc(hidden)]
    pub fields: &'static [FieldInfo],
    /// Its parameters, without those of the prefix
    pub params: &'static [Param],
    #[doc(hidden)]
    pub number: u32,
    /// What follows the prefix: `{0}` is the first parameter, and `\` precedes a brace or a `\` that is literal
    template: &'static str,
    /// Whether a key may be too long or belong to a more specific definition although each of its values is good
    #[doc(hidden)]
    pub shadowed: bool,
}

impl Definition {
    #[doc(hidden)]
    pub const fn new(
        number: u32,
        [name, pattern, glob, template]: [&'static str; 4],
        params: &'static [Param],
        key_type: Option<&'static str>,
        lifecycle: Lifecycle,
        ttl: Ttl,
    ) -> Self {
        Definition {
            name,
            pattern,
            glob,
            key_type,
            lifecycle,
            ttl,
            behaviour: Behaviour::NONE,
            cluster: false,
            former: &[],
            links: &[],
            fields: &[],
            params,
            number,
            template,
            shadowed: false,
        }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn behaving(mut self, behaviour: Behaviour) -> Self {
        self.behaviour = behaviour;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn clustered(mut self) -> Self {
        self.cluster = true;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn formerly(mut self, former: &'static [u32]) -> Self {
        self.former = former;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn linked(mut self, links: &'static [Link]) -> Self {
        self.links = links;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn having(mut self, fields: &'static [FieldInfo]) -> Self {
        self.fields = fields;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn shadowed(mut self) -> Self {
        self.shadowed = true;
        self
    }

    /// What its keys consist of, without the prefix.
    pub(crate) fn parts(&self) -> impl Iterator<Item = KeyPart> {
        let mut rest = self.template.chars();
        std::iter::from_fn(move || match rest.next()? {
            '\\' => rest.next().map(KeyPart::Literal),
            '{' => {
                let digits = rest.by_ref().map_while(|char| char.to_digit(10));
                Some(KeyPart::Param(digits.fold(0, |number, digit| number * 10 + digit as usize)))
            }
            char => Some(KeyPart::Literal(char)),
        })
    }
}

/// What a store does beyond reading and writing a key. Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the schema, on or off")]
pub struct Behaviour {
    /// By how many thousandths a TTL may be shortened
    pub jitter: u16,
    /// Whether a write leaves a TTL that is running alone
    pub keep_ttl: bool,
    /// Whether a read restarts the TTL
    pub sliding: bool,
    /// The bound on a collection's length
    pub max_len: Option<u64>,
    /// Whether a write to a full collection is refused; otherwise it is trimmed
    pub refuse_when_full: bool,
    /// Which end of an ordered collection stays when it is trimmed; `None` where the schema does not say
    pub keep: Option<Keep>,
    /// The bound on a value's size
    pub max_bytes: Option<u64>,
    /// Where events find its keys by an index: the parameters that events bind, for each way in which
    /// they do
    pub indexes: &'static [&'static [usize]],
    /// How old a copy in the process may be
    pub l1_ms: Option<u64>,
    /// Whether it is refreshed before it expires
    pub early_refresh: bool,
    /// How long it is served past its end when the loader fails
    pub stale_ms: Option<u64>,
    /// How long loading may take until the value that is past its end is served meanwhile
    pub slow_ms: Option<u64>,
    /// Whether an event marks it as due to be loaded again
    pub refreshed: bool,
    /// How long "there is none" is remembered
    pub negative_ms: Option<u64>,
    /// How long one process may load while the others wait
    pub load_lock_ms: Option<u64>,
    /// The bound of a quota or a rate limit; `None` if the caller gives it
    pub limit: Option<u64>,
    /// The time in which a limit counts, or after which a quota restarts
    pub window_ms: Option<u64>,
    /// How a rate limit counts
    pub algorithm: Algorithm,
    /// Whether a limit refuses while the server is unreachable
    pub closed_on_outage: bool,
    /// Whether a counter may fall below zero
    pub negative: bool,
    /// Whether a flag is on if nothing is stored
    pub on_by_default: bool,
    /// Who ranks higher of those with the same score; `None` where the server's order does
    pub ties: Option<Ties>,
    /// What a session does
    pub session: Option<SessionOptions>,
    /// How long a refresh token that was used is answered with its successor
    pub reuse_grace_ms: Option<u64>,
    /// What an index and its reverse hold
    pub index: Option<IndexOptions>,
    /// The field that a session or a refresh token sets to the time when it is used
    pub touched: Option<(&'static str, Stamp)>,
    /// Whether a lock goes to whoever has waited longest
    pub fair: bool,
    /// How many may hold a lock at once, if more than one
    pub holders: Option<u64>,
    /// How many replicas must confirm a lock
    pub replicas: Option<u64>,
    /// How long a job of a queue is a worker's without a heartbeat; every queue has it
    pub lease_ms: Option<u64>,
    /// How long a job may take
    pub timeout_ms: Option<u64>,
    /// How often a job is tried before it is dead
    pub max_attempts: Option<u64>,
    /// How often the worker of a job may be lost before the job is dead
    pub max_crashes: Option<u64>,
    /// The pause after the first failure of a job, which doubles with each
    pub backoff_ms: Option<u64>,
    /// The longest pause between two attempts
    pub max_backoff_ms: Option<u64>,
    /// How long a job that has ended is remembered with its result
    pub retain_ms: Option<u64>,
    /// How many jobs of a group run at once
    pub per_group: Option<u64>,
    /// The parameter of a queue's `status` that is the id of a job
    pub job_id: Option<&'static str>,
    /// Whether dead letters are the values of the queue, and not objects that tell why a job failed
    pub dead_as_is: bool,
}

impl Behaviour {
    /// Nothing special.
    pub const NONE: Behaviour = Behaviour {
        jitter: 0,
        keep_ttl: false,
        sliding: false,
        max_len: None,
        refuse_when_full: false,
        keep: None,
        max_bytes: None,
        indexes: &[],
        l1_ms: None,
        early_refresh: false,
        stale_ms: None,
        slow_ms: None,
        refreshed: false,
        negative_ms: None,
        load_lock_ms: None,
        limit: None,
        window_ms: None,
        algorithm: Algorithm::FixedWindow,
        closed_on_outage: false,
        negative: false,
        on_by_default: false,
        ties: None,
        session: None,
        index: None,
        reuse_grace_ms: None,
        touched: None,
        fair: false,
        holders: None,
        replicas: None,
        lease_ms: None,
        timeout_ms: None,
        max_attempts: None,
        max_crashes: None,
        backoff_ms: None,
        max_backoff_ms: None,
        retain_ms: None,
        per_group: None,
        job_id: None,
        dead_as_is: false,
    };
}

/// Each option as a method, so that generated code does not break when another is added.
macro_rules! options {
    (
        on: $($switch:ident)*;
        some: $($bound:ident: $inner:ty),*;
        is: $($value:ident: $ty:ty),*;
    ) => {
        #[doc(hidden)]
        impl Behaviour {
            $(
                #[must_use]
                pub const fn $switch(mut self) -> Self {
                    self.$switch = true;
                    self
                }
            )*
            $(
                #[must_use]
                pub const fn $bound(mut self, value: $inner) -> Self {
                    self.$bound = Some(value);
                    self
                }
            )*
            $(
                #[must_use]
                pub const fn $value(mut self, value: $ty) -> Self {
                    self.$value = value;
                    self
                }
            )*
        }
    };
}

options! {
    on: keep_ttl sliding refuse_when_full early_refresh refreshed closed_on_outage negative on_by_default fair
        dead_as_is;
    some: max_len: u64, keep: Keep, ties: Ties, max_bytes: u64, l1_ms: u64, stale_ms: u64, slow_ms: u64,
        negative_ms: u64,
        load_lock_ms: u64, limit: u64, window_ms: u64, holders: u64, replicas: u64, lease_ms: u64, timeout_ms: u64,
        max_attempts: u64, max_crashes: u64, backoff_ms: u64, max_backoff_ms: u64, retain_ms: u64, per_group: u64,
        job_id: &'static str,
        session: SessionOptions, index: IndexOptions, reuse_grace_ms: u64, touched: (&'static str, Stamp);
    is: jitter: u16, indexes: &'static [&'static [usize]], algorithm: Algorithm;
}

/// What a session does beyond being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Which parameter is its id
    pub id: usize,
    /// When it ends however often it is used, in milliseconds; without it, its TTL does not start again
    pub max_age_ms: Option<u64>,
    /// What a revocation holds, where the schema has a definition for them
    pub revoked: Option<Stamp>,
    /// Whether the index holds whole keys; otherwise it holds ids
    pub listed_as_key: bool,
    /// The unit of the index's scores in milliseconds, where it is a sorted set
    pub score_ms: Option<u64>,
}

#[doc(hidden)]
impl SessionOptions {
    #[must_use]
    pub const fn new(id: usize) -> Self {
        SessionOptions { id, max_age_ms: None, revoked: None, listed_as_key: false, score_ms: None }
    }

    #[must_use]
    pub const fn max_age_ms(mut self, max_age_ms: u64) -> Self {
        self.max_age_ms = Some(max_age_ms);
        self
    }

    #[must_use]
    pub const fn revoked(mut self, stamp: Stamp) -> Self {
        self.revoked = Some(stamp);
        self
    }

    #[must_use]
    pub const fn listed_as_key(mut self) -> Self {
        self.listed_as_key = true;
        self
    }

    #[must_use]
    pub const fn score_ms(mut self, unit: u64) -> Self {
        self.score_ms = Some(unit);
        self
    }
}

/// What an index and its reverse hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct IndexOptions {
    /// Whether members are whole keys; otherwise they are values of a parameter
    pub holds_keys: bool,
    /// Whether the reverse holds whole keys of the index; otherwise it holds values of its parameter
    pub reverse_holds_keys: bool,
}

#[doc(hidden)]
impl IndexOptions {
    #[must_use]
    pub const fn new() -> Self {
        IndexOptions { holds_keys: false, reverse_holds_keys: false }
    }

    #[must_use]
    pub const fn holds_keys(mut self) -> Self {
        self.holds_keys = true;
        self
    }

    #[must_use]
    pub const fn reverse_holds_keys(mut self) -> Self {
        self.reverse_holds_keys = true;
        self
    }
}

/// What a role writes to say that something happens now, by the server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stamp {
    /// The moment, as RFC 3339 writes it
    Timestamp,
    /// The day
    Date,
    /// Seconds since 1970
    Unix,
    /// Milliseconds since 1970
    UnixMs,
    /// Always this word
    Word(&'static str),
}

/// Which end of an ordered collection stays when it is trimmed to its `max_len`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Keep {
    /// The first entries of a list; the lowest scores of a sorted set
    First,
    /// The last entries of a list or a stream; the highest scores of a sorted set
    Last,
}

/// Who ranks higher of those with the same score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ties {
    /// Who reached it first
    First,
    /// Who reached it last
    Last,
}

/// How a rate limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// A window begins with its first request
    FixedWindow,
    /// The window moves with the time
    SlidingWindow,
    /// Requests are spread evenly, with bursts up to the limit
    Gcra,
}

/// An old name of a key, and how far its migration is.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Former {
    pub migration: &'static str,
    pub phase: Phase,
    /// The number of the definition whose keys had this name
    pub definition: u32,
    /// The database of the old keys, if it is not the keyspace's own
    pub db: Option<u64>,
    pub parts: &'static [FormerPart],
}

#[doc(hidden)]
impl Former {
    pub const fn new(
        migration: &'static str,
        phase: Phase,
        definition: u32,
        parts: &'static [FormerPart],
    ) -> Self {
        Former { migration, phase, definition, db: None, parts }
    }

    #[must_use]
    pub const fn in_db(mut self, db: u64) -> Self {
        self.db = Some(db);
        self
    }
}

/// How far a migration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// The old name counts, both are written
    DualWrite,
    /// The new name counts, both are written, and reads fall back to the old one
    ReadFallback,
    /// Only the new name is used
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

/// A piece of an old name: absolute, with values of the prefix and of the definition.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormerPart {
    Literal(&'static str),
    /// The value of this parameter, those of the prefix first, spelled by its old type and in its old case; `None` if
    /// the definition has no such parameter
    Value(Option<usize>, Language, Option<Recase>),
}

/// Another definition that a role refers to: `queue = { dead_letter = "failed" }`.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The option that names it
    pub what: &'static str,
    /// The number of the definition
    pub number: u32,
}

impl Link {
    pub const fn new(what: &'static str, number: u32) -> Self {
        Link { what, number }
    }
}

/// A field of a hash, as far as a role must know it.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldInfo {
    pub name: &'static str,
    /// What it holds, in the words of a schema: `timestamp`, `unix`, `enum`, …
    pub kind: &'static str,
    pub optional: bool,
}

impl FieldInfo {
    pub const fn new(name: &'static str, kind: &'static str, optional: bool) -> Self {
        FieldInfo { name, kind, optional }
    }
}

/// A parameter of a definition, a prefix or an event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Param {
    /// Its name
    pub name: &'static str,
    /// Its type in the words of a schema
    pub ty: &'static str,
    #[doc(hidden)]
    pub language: Language,
}

/// What a parameter's values are checked by.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// By this language of the tables
    Of(u32),
    /// They are keys of these definitions
    Keys(&'static [u32]),
    /// By their own type
    Own,
}

impl Param {
    #[doc(hidden)]
    pub const fn new(name: &'static str, ty: &'static str, language: Language) -> Self {
        Param { name, ty, language }
    }
}

/// A character of a key's pattern, or a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyPart {
    Literal(char),
    Param(usize),
}

/// What may become of a key before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lifecycle {
    /// Never expires, never evicted
    Protected,
    /// Not evicted before its TTL
    Retained,
    /// Early loss logs a person out
    Session,
    /// May vanish at any time
    Cache,
    /// Gone within an hour
    Temporary,
}

/// How long a key lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ttl {
    /// The schema does not say
    Undeclared,
    /// For ever
    None,
    /// So long
    Fixed(Duration),
    /// Something in between, chosen by whoever writes
    Range {
        /// The shortest
        min: Duration,
        /// The longest
        max: Duration,
    },
    /// As long as the word of a parameter says
    By {
        /// The parameter
        param: &'static str,
        /// The TTL for each of its words
        words: &'static [(&'static str, Duration)],
    },
    /// As long as whoever writes says
    Caller {
        /// The longest
        max: Option<Duration>,
    },
}

impl Ttl {
    /// The shortest that a write sets; `None` if there is none.
    pub fn shortest(self) -> Option<Duration> {
        match self {
            Ttl::Fixed(ttl) | Ttl::Range { min: ttl, .. } => Some(ttl),
            Ttl::By { words, .. } => words.iter().map(|(_, ttl)| *ttl).min(),
            Ttl::Undeclared | Ttl::None | Ttl::Caller { .. } => None,
        }
    }

    /// The longest that a write sets; `None` if there is none.
    pub fn longest(self) -> Option<Duration> {
        match self {
            Ttl::Fixed(ttl) | Ttl::Range { max: ttl, .. } => Some(ttl),
            Ttl::By { words, .. } => words.iter().map(|(_, ttl)| *ttl).max(),
            Ttl::Caller { max } => max,
            Ttl::Undeclared | Ttl::None => None,
        }
    }

    /// The TTL for a word of the parameter that decides.
    pub fn of_word(self, word: &str) -> Option<Duration> {
        let Ttl::By { words, .. } = self else { return None };
        words.iter().find(|(known, _)| *known == word).map(|(_, ttl)| *ttl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_holds_parameters_and_literal_braces() {
        let words = [r"a\{{12}\}\\é{0}"; 4];
        let definition = Definition::new(0, words, &[], None, Lifecycle::Cache, Ttl::Undeclared);
        let parts: Vec<KeyPart> = definition.parts().collect();
        let literal = KeyPart::Literal;
        assert_eq!(
            parts,
            [
                literal('a'),
                literal('{'),
                KeyPart::Param(12),
                literal('}'),
                literal('\\'),
                literal('é'),
                KeyPart::Param(0),
            ]
        );
    }
}
