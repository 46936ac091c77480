//! What a source observes about one key.

use crate::{Encoding, KeyType};

/// What a source observed about one key: all that it could see of it, whatever the source is.
///
/// A source that reads in order knows the value last: until then `encoding`, `length` and `bytes` are `None`, as they
/// are where a source cannot see them at all. What is inside the value is shown element by element.
///
/// ```
/// use keyward_fact::{Fact, KeyType};
///
/// let fact = Fact { expires_at: Some(1_800_000_000_000), ..Fact::new(0, b"session:7", &KeyType::Hash) };
/// assert_eq!((fact.bytes, fact.whole), (None, false));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact<'a> {
    /// The number of its database
    pub db: u64,
    /// Its name, or the beginning of a very long one
    pub key: &'a [u8],
    /// The type, as the server's TYPE answers
    pub key_type: &'a KeyType,
    /// When it expires, in milliseconds since 1970; `None` if it does not
    pub expires_at: Option<u64>,
    /// For how many seconds it had not been used, where the server's policy is LRU
    pub idle: Option<u64>,
    /// How often it had been used, on the server's logarithmic scale, where its policy is LFU
    pub freq: Option<u8>,
    /// How the server keeps it
    pub encoding: Option<Encoding>,
    /// Bytes of a string, elements of a collection, entries of a stream
    pub length: Option<u64>,
    /// Bytes of key and value in the server's memory, or in the file
    pub bytes: Option<u64>,
    /// Whether all elements that were asked for were shown
    pub whole: bool,
}

impl<'a> Fact<'a> {
    /// A key of which no more is known yet.
    pub fn new(db: u64, key: &'a [u8], key_type: &'a KeyType) -> Self {
        Fact {
            db,
            key,
            key_type,
            expires_at: None,
            idle: None,
            freq: None,
            encoding: None,
            length: None,
            bytes: None,
            whole: false,
        }
    }
}

/// How much of a value an observer wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Show {
    limit: Option<usize>,
    field_ttls: bool,
}

impl Show {
    /// No element.
    pub const NOTHING: Show = Show { limit: None, field_ttls: false };

    /// Every element, each up to this many bytes of its name and of its value.
    pub const fn up_to(bytes: usize) -> Show {
        Show { limit: Some(bytes), field_ttls: false }
    }

    /// The same, and the TTLs of a hash's fields, where a source has to ask for them.
    #[must_use]
    pub const fn with_field_ttls(self) -> Show {
        Show { field_ttls: true, ..self }
    }

    /// Whether the TTLs of a hash's fields are wanted even if a source has to ask for them.
    pub const fn field_ttls(self) -> bool {
        self.field_ttls
    }

    /// The most bytes of a name or of a value that are wanted; `None` where no element is.
    #[inline]
    pub const fn limit(self) -> Option<usize> {
        self.limit
    }
}

/// The first bytes of a name or of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excerpt<'a> {
    /// The bytes, as many as were asked for
    pub bytes: &'a [u8],
    /// How many there are in all
    pub len: u64,
}

impl<'a> Excerpt<'a> {
    /// The first bytes of a text of this length.
    pub fn new(bytes: &'a [u8], len: u64) -> Self {
        Excerpt { bytes, len }
    }

    /// The first of these bytes, at most this many.
    pub fn up_to(limit: usize, bytes: &'a [u8]) -> Self {
        Excerpt { bytes: &bytes[..limit.min(bytes.len())], len: bytes.len() as u64 }
    }

    /// Whether nothing was left out.
    pub fn is_whole(self) -> bool {
        self.bytes.len() as u64 == self.len
    }
}

/// When a hash's field expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// The source did not see it
    Unseen,
    /// It has no TTL
    Never,
    /// At this time, in milliseconds since 1970
    At(u64),
}

impl From<Option<u64>> for Expiry {
    fn from(at: Option<u64>) -> Self {
        at.map_or(Expiry::Never, Expiry::At)
    }
}

/// A part of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Element<'a> {
    /// A string's content
    Text(Excerpt<'a>),
    /// An entry of a stream begins: its fields follow
    Entry,
    /// A field of a hash or of a stream's entry
    Field {
        /// Its name
        name: Excerpt<'a>,
        /// Its value
        value: Excerpt<'a>,
        /// When the field itself expires
        expiry: Expiry,
    },
    /// A list's or an array's element
    Item(Excerpt<'a>),
    /// A set's member
    Member(Excerpt<'a>),
    /// A sorted set's member
    Scored {
        /// The member
        member: Excerpt<'a>,
        /// Its score
        score: f64,
    },
}
