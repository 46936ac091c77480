//! What is known of the keys of a definition, and of those that nobody declared.

use super::Count;
use crate::mask::Masked;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A definition, and the keys that it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The keyspace's name
    pub schema: String,
    /// The definition's name
    pub name: String,
    /// Its whole pattern, prefix included
    pub pattern: String,
    /// Its group
    pub group: Option<String>,
    /// Who answers for it
    pub owner: Option<String>,
    /// `protected`, `retained`, `session`, `cache` or `temporary`
    pub lifecycle: String,
    /// What kind of value it declares
    pub declared_type: Option<String>,
    /// Keys under its own pattern, and what they are
    #[serde(flatten)]
    pub facts: Facts,
    /// Values of which only some elements were read, because they are large
    #[serde(default)]
    pub read_in_part: u64,
    /// The distinct values of each parameter, about
    pub params: Vec<Param>,
    /// Keys that still have a former name
    #[serde(default)]
    pub old_names: Vec<OldName>,
    /// Keys that a role or a strategy added beside the definition's own
    pub derived: Count,
}

/// What is known of some keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Keys, without expired ones
    pub keys: u64,
    /// Their bytes; `null` where they are not known
    pub bytes: Option<u64>,
    /// The share of all bytes, from 0 to 1; `null` where they are not known
    pub share: Option<f64>,
    /// How many keys of each type, as TYPE answers
    pub types: BTreeMap<String, u64>,
    /// How many keys of each encoding, as OBJECT ENCODING answers
    pub encodings: BTreeMap<String, u64>,
    /// How long they will live
    pub ttl: Ttl,
    /// Bytes of key and value; `null` where they are not known
    pub sizes: Option<Distribution>,
    /// Bytes of a string, elements of a collection, entries of a stream
    pub lengths: Distribution,
    /// How long their names are; `null` without keys
    #[serde(default)]
    pub key_lengths: Option<KeyLengths>,
    /// Seconds for which they had not been used, where the server's policy is LRU
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Distribution>,
    /// How often they had been used, on the server's logarithmic scale, where its policy is LFU
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freq: Option<Distribution>,
    /// The biggest, at most as many as were asked for
    pub biggest: Vec<Big>,
}

/// How long the names of keys are, prefix included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KeyLengths {
    /// Bytes on average, to a tenth
    pub average: f64,
    /// Bytes of the longest, exactly
    pub longest: u64,
}

/// How long keys will live.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ttl {
    /// What the schema says: `7d`, `1m..5m`, `none`
    pub declared: Option<String>,
    /// Keys without a TTL
    pub none: u64,
    /// Keys with a TTL that has not ended
    pub expiring: u64,
    /// Keys whose TTL had ended; they are in no other number
    pub expired: u64,
    /// Keys that live longer than declared
    pub too_long: u64,
    /// Keys with a TTL, by what is left of it; the same bounds in every report
    pub buckets: Vec<TtlBucket>,
    /// What is left, in seconds
    pub remaining: Distribution,
}

/// How long all keys of a report will live, whatever they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lifetimes {
    /// Keys without a TTL
    pub none: u64,
    /// Keys with a TTL, by what is left of it
    pub buckets: Vec<TtlBucket>,
}

/// Keys whose TTL ends within a bound, and not within the bound before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TtlBucket {
    /// The bound in seconds; `null` for everything beyond
    pub up_to: Option<u64>,
    /// Keys
    pub keys: u64,
}

/// How some number is distributed.
///
/// Quantiles are at most an eighth too high: they are the upper ends of the bars they fall into.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution {
    /// Half are at most this
    pub p50: u64,
    /// 90 % are at most this
    pub p90: u64,
    /// 99 % are at most this
    pub p99: u64,
    /// The greatest, exactly
    pub max: u64,
    /// The bars that are not empty, in order
    pub histogram: Vec<Bar>,
}

/// How many numbers lie in a range. The ranges are the same in every report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bar {
    /// The least
    pub from: u64,
    /// The greatest
    pub to: u64,
    /// How many
    pub count: u64,
}

/// A big key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Big {
    /// Its name, masked
    pub key: Masked,
    /// Its bytes
    pub bytes: u64,
    /// Its length
    pub length: Option<u64>,
    /// The database it is in
    pub db: u64,
}

/// A parameter, and how many values it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// Its name
    pub name: String,
    /// Its type, as it is declared
    #[serde(rename = "type")]
    pub ty: String,
    /// Distinct values, estimated
    pub distinct: u64,
    /// By what share of it the estimate may be off (one standard error)
    pub error: f64,
}

/// A former name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OldName {
    /// The migration
    pub migration: String,
    /// The old pattern
    pub pattern: String,
    /// Keys that still have it
    pub keys: u64,
    /// Their bytes; `null` where they are not known
    pub bytes: Option<u64>,
}

/// Keys that look alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What they look like: `sess:<uuid>:data` beside a schema, `sess:{sess_id:uuid}:data` without one
    pub pattern: Masked,
    /// A definition of them, to be copied into a schema; it contains no parameter's value
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toml: Option<String>,
    /// What they are
    #[serde(flatten)]
    pub facts: Facts,
    /// Some of them, masked
    pub examples: Vec<Masked>,
    /// The definition that was perhaps meant
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
}

/// The definition that was perhaps meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Nearest {
    /// The keyspace's name
    pub schema: String,
    /// The definition
    pub definition: String,
    /// Its whole pattern
    pub pattern: String,
    /// Where they part: segment 2 is `foldr`, not `folder`
    pub why: String,
}

/// Keys of other software.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreign {
    /// The keyspace's name
    pub schema: String,
    /// Its id in the schema
    pub name: String,
    /// The glob that finds them
    pub glob: String,
    /// Keys
    pub keys: u64,
    /// Bytes; `null` where they are not known
    pub bytes: Option<u64>,
}
