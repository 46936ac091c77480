//! What a key holds.

use super::{OnWrite, Ttl};
use crate::span::Spanned;

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
    /// A key of one of these definitions: `{ key = "entity" }`, `{ key = ["chapter", "chunk"] }`
    Key(Vec<String>),
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
    /// Whether it may be missing: `"text?"`, `optional = true`, or its own TTL
    pub optional: bool,
    /// Its own TTL (Redis 7.4, Valkey 9)
    pub ttl: Option<Spanned<Ttl>>,
    /// What writing only this field does to the key's running TTL; the definition's
    /// `on_write` unless given
    pub on_write: Option<Spanned<OnWrite>>,
    /// What it means
    pub doc: Option<Spanned<String>>,
}
