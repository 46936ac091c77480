//! What an audit has to say: plain data, the same in memory and in JSON.
//!
//! The document is versioned: [`VERSION`] rises when something that was there changes or goes; new
//! members may come at any time. Everything that is needed to merge two reports exactly is in it:
//! histograms, sketches and samples stand beside the numbers that were got from them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of the document.
pub const VERSION: u32 = 1;

impl Report {
    /// Whether its numbers can be: a report is a file that anybody may have written.
    pub fn is_sound(&self) -> bool {
        crate::bounds::can_be_added([self])
    }

    /// The document. Where bytes are not known, it has `null` for them, in memory they are 0.
    pub fn to_json(&self) -> serde_json::Result<serde_json::Value> {
        let mut document = serde_json::to_value(self)?;
        if !self.source.bytes.is_known() {
            nullify(&mut document);
        }
        Ok(document)
    }

    /// Leaves no number of bytes, where they are not known of all keys.
    pub(crate) fn forget_bytes(&mut self) {
        let forget = |facts: &mut Facts| {
            (facts.bytes, facts.share) = (0, 0.0);
            facts.sizes = Distribution::default();
            facts.biggest.clear();
        };
        let summary = &mut self.summary;
        summary.bytes = 0;
        for count in [&mut summary.foreign, &mut summary.unknown, &mut summary.defined] {
            count.bytes = 0;
        }
        for definition in &mut self.definitions {
            forget(&mut definition.facts);
            definition.derived.bytes = 0;
            definition.old_names.iter_mut().for_each(|old| old.bytes = 0);
        }
        self.unknown.iter_mut().chain(&mut self.groups).for_each(|it| forget(&mut it.facts));
        for leaf in &mut self.state.leaves {
            forget(&mut leaf.facts);
            leaf.misfits.bytes = 0;
        }
        self.foreign.iter_mut().for_each(|foreign| foreign.bytes = 0);
        self.findings.iter_mut().for_each(|finding| finding.bytes = 0);
    }
}

/// Puts `null` in the place of all that is made from bytes; the share of a finding is one of keys.
fn nullify(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Array(values) => values.iter_mut().for_each(nullify),
        Value::Object(members) => {
            let of_keys = members.contains_key("rule") || members.contains_key("verdict");
            for (name, value) in members {
                match name.as_str() {
                    "bytes" if value.is_number() => *value = Value::Null,
                    "share" if !of_keys => *value = Value::Null,
                    "sizes" => *value = Value::Null,
                    "biggest" => *value = Value::Array(Vec::new()),
                    _ => nullify(value),
                }
            }
        }
        _ => {}
    }
}

/// `null`, which stands for what is not known, is nothing in memory.
fn or_nothing<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// One audit, or several that were merged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`VERSION`]
    pub version: u32,
    /// The version of Keyward that wrote it
    pub keyward: String,
    /// When it was written: RFC 3339, UTC
    pub created_at: String,
    /// What was looked at, and how
    pub source: Source,
    /// The schemas that the keys were held against; none where there was no schema
    #[serde(default)]
    pub schemas: Vec<SchemaInfo>,
    /// Everything in a few numbers
    pub summary: Summary,
    /// Every definition of every schema that was selected, in the order of the schemas; also those
    /// without keys
    #[serde(default)]
    pub definitions: Vec<Definition>,
    /// Keys that no definition has, as patterns, those with the most bytes first; empty without a schema
    #[serde(default)]
    pub unknown: Vec<Group>,
    /// All keys as patterns, those with the most bytes first; empty with a schema
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Keys of other software
    #[serde(default)]
    pub foreign: Vec<Foreign>,
    /// The server's settings against those that the schemas ask for
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// What is wrong: errors first, then those with the most keys
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What it was compared with, if it was
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineInfo>,
    /// What only merging needs
    #[serde(default)]
    pub state: State,
}

/// What was looked at, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// How the keys were read
    pub kind: SourceKind,
    /// The file's name, or the URL without credentials; several, separated by `, `, after a merge
    pub name: String,
    /// The server that holds or wrote the keys
    pub server: Server,
    /// What a number of bytes means
    pub bytes: BytesKind,
    /// Whether estimates of memory were checked against MEMORY USAGE for this version of the server
    pub checked: bool,
    /// The moment from which TTLs were counted: RFC 3339, UTC; of a snapshot, when it was taken
    pub clock: String,
    /// Whether everything was seen that was to be seen
    pub complete: bool,
    /// What was sampled, if not all keys were looked at
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// Files, or primaries of a cluster
    pub shards: Vec<Shard>,
    /// What could not be seen, and what else to know about the numbers; in sentences without a full stop
    #[serde(default)]
    pub notes: Vec<String>,
}

/// How keys were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// From an RDB file
    Rdb,
    /// By SCAN from a server
    Scan,
    /// As a replication snapshot from a server
    Snapshot,
}

impl SourceKind {
    /// The word in the document.
    pub fn name(self) -> &'static str {
        match self {
            SourceKind::Rdb => "rdb",
            SourceKind::Scan => "scan",
            SourceKind::Snapshot => "snapshot",
        }
    }
}

/// The server that holds or wrote the keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// `redis` or `valkey`, where that is known
    pub family: Option<String>,
    /// `7.0.15`, where that is known
    pub version: Option<String>,
}

/// What a number of bytes means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BytesKind {
    /// The server's memory, as MEMORY USAGE answered
    MemoryUsage,
    /// The server's memory, estimated from the snapshot
    Estimated,
    /// Bytes in the file or on the wire
    Serialized,
    /// Nothing: the server does not answer MEMORY USAGE, and what it does not say is not guessed
    Unknown,
}

impl BytesKind {
    /// Whether a number of bytes means anything.
    pub fn is_known(self) -> bool {
        self != BytesKind::Unknown
    }

    /// The word in the document.
    pub fn name(self) -> &'static str {
        match self {
            BytesKind::MemoryUsage => "memory-usage",
            BytesKind::Estimated => "estimated",
            BytesKind::Serialized => "serialized",
            BytesKind::Unknown => "unknown",
        }
    }
}

/// A sample of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// How much was looked at, in per cent; counts in the report are of what was looked at
    pub percent: f64,
    /// By how much a share of all keys may be off, in percentage points, with 95 % confidence
    pub error: f64,
}

/// A file, or a primary of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// Its file name or address
    pub name: String,
    /// Keys that were seen, expired ones included
    pub keys_seen: u64,
    /// Keys that the server or the file says there are
    pub dbsize: Option<u64>,
    /// The server's run id
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
}

/// A schema that keys were held against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaInfo {
    /// The keyspace's name
    pub name: String,
    /// The file
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How many definitions it has
    pub definitions: u64,
}

/// Everything in a few numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Keys, without expired ones
    pub keys: u64,
    /// Their bytes
    #[serde(default, deserialize_with = "or_nothing")]
    pub bytes: u64,
    /// The share of judged keys that are as declared, from 0 to 1: they belong to a definition and have
    /// no finding of severity error. `null` without a schema, or where nothing was judged
    pub compliance: Option<f64>,
    /// Keys that were judged: all but foreign and expired ones
    pub judged: u64,
    /// Of those, keys that are as declared
    pub compliant: u64,
    /// Keys that had expired and were not removed yet; in no other number
    pub expired: u64,
    /// Keys of other software
    pub foreign: Count,
    /// Keys that no definition has
    pub unknown: Count,
    /// Keys that belong to a definition, derived keys and old names included
    pub defined: Count,
}

/// How many, and how much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Keys
    pub keys: u64,
    /// Bytes
    #[serde(default, deserialize_with = "or_nothing")]
    pub bytes: u64,
}

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
    /// Their bytes
    #[serde(default, deserialize_with = "or_nothing")]
    pub bytes: u64,
    /// The share of all bytes, from 0 to 1
    #[serde(default, deserialize_with = "or_nothing")]
    pub share: f64,
    /// How many keys of each type, as TYPE answers
    pub types: BTreeMap<String, u64>,
    /// How many keys of each encoding, as OBJECT ENCODING answers
    pub encodings: BTreeMap<String, u64>,
    /// How long they will live
    pub ttl: Ttl,
    /// Bytes of key and value
    #[serde(default, deserialize_with = "or_nothing")]
    pub sizes: Distribution,
    /// Bytes of a string, elements of a collection, entries of a stream
    pub lengths: Distribution,
    /// Seconds for which they had not been used, where the server's policy is LRU
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Distribution>,
    /// How often they had been used, on the server's logarithmic scale, where its policy is LFU
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freq: Option<Distribution>,
    /// The biggest, at most as many as were asked for
    pub biggest: Vec<Big>,
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
    pub key: String,
    /// Its bytes
    #[serde(default, deserialize_with = "or_nothing")]
    pub bytes: u64,
    /// Its length
    pub length: Option<u64>,
    /// The database it is in
    pub db: u64,
    /// A hash of its name, which tells keys of the same size apart
    pub hash: String,
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
    /// The sketch behind the estimate: a `HyperLogLog`, in base64
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sketch: String,
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
    /// Their bytes
    #[serde(default, deserialize_with = "or_nothing")]
    pub bytes: u64,
}

/// Keys that look alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What they look like: `sess:<uuid>:data`
    pub pattern: String,
    /// What they are
    #[serde(flatten)]
    pub facts: Facts,
    /// Some of them, masked
    pub examples: Vec<String>,
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
    /// Bytes
    #[serde(default, deserialize_with = "or_nothing")]
    pub bytes: u64,
}

/// A setting of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The keyspace's name
    pub schema: String,
    /// The setting: `maxmemory-policy`
    pub name: String,
    /// What the schema asks for
    pub want: String,
    /// What the server says; `null` where it could not be seen
    pub got: Option<String>,
    /// Whether they agree; `null` where it could not be seen
    pub ok: Option<bool>,
    /// Why it matters, or why it could not be seen
    pub why: String,
}

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It must be mended
    Error,
    /// It should be looked at
    Warning,
}

impl Severity {
    /// The word in the document.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// Something that is wrong with some keys, or with the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule; `keyward explain RULE` explains it
    pub rule: String,
    /// How serious it is
    pub severity: Severity,
    /// The keyspace's name; `null` for a finding about all of them
    pub schema: Option<String>,
    /// The definition; `null` for unknown keys and settings
    pub definition: Option<String>,
    /// What in the definition it is about: a field, a parameter, a former name; what in the keyspace: an
    /// unknown pattern, a setting
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// How many keys
    pub count: u64,
    /// Of how many
    pub of: u64,
    /// `count` / `of`, from 0 to 1
    pub share: f64,
    /// The bytes of those keys; 0 where only a sample was looked at
    #[serde(default, deserialize_with = "or_nothing")]
    pub bytes: u64,
    /// What is wrong, in one line
    pub message: String,
    /// What to do next
    #[serde(default)]
    pub help: Vec<String>,
    /// Some of the keys, masked
    #[serde(default)]
    pub examples: Vec<Example>,
    /// Whether `count` and `of` are of a sample rather than of all keys
    pub sampled: bool,
    /// How it compares with the baseline
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// What is wrong, without the numbers: the message is this, a colon and `3 of 1,204 (0.2 %)`
    pub what: String,
}

/// A key that shows what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Example {
    /// A hash of its name, by which examples are chosen
    pub hash: String,
    /// Its name, masked
    pub key: String,
    /// What it has, where that says more: `list`, `TTL 9 d 4 h`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// What a report was compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineInfo {
    /// The file
    pub name: String,
    /// When it was written
    pub created_at: String,
    /// By how many percentage points a share may rise
    pub tolerance: f64,
    /// Findings that are new or worse
    pub worse: u64,
}

/// How a finding compares with the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What it amounts to
    pub verdict: ChangeVerdict,
    /// The share there, from 0 to 1
    pub share: f64,
    /// The count there
    pub count: u64,
}

/// What a comparison amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeVerdict {
    /// The baseline does not have it
    New,
    /// The share has risen by more than the tolerance
    Worse,
    /// About the same
    Same,
    /// The share has fallen by more than the tolerance
    Better,
}

/// What only merging needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Tells salts apart: keys that were masked with the same salt have the same marks
    #[serde(default)]
    pub salt: String,
    /// Whether keys are shown as they are
    #[serde(default)]
    pub revealed: bool,
    /// Whether the patterns of `unknown` or `groups` depend on the order of the keys, since there were
    /// too many to keep apart
    #[serde(default)]
    pub approximate: bool,
    /// How serious it is that no definition has a key; `null` where that is not judged
    #[serde(default)]
    pub unknown_key: Option<Severity>,
    /// How many biggest keys were asked for
    #[serde(default)]
    pub top: usize,
    /// The parts of what `unknown` or `groups` were made from
    #[serde(default)]
    pub leaves: Vec<Leaf>,
    /// Samples for rules that look at two definitions at once
    #[serde(default)]
    pub joins: Vec<Join>,
}

/// Keys that were kept apart when patterns were inferred.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leaf {
    /// The segments: words as they are, kinds in angle brackets
    pub segments: Vec<String>,
    /// What they are
    #[serde(flatten)]
    pub facts: Facts,
    /// Those that would belong to a definition if a parameter had a value of its type
    #[serde(default)]
    pub misfits: Count,
    /// Some of them, masked
    pub examples: Vec<Example>,
    /// The definition that was perhaps meant
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
}

/// The samples of a rule that looks at two definitions at once: of both sides, the least hashes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Join {
    /// The rule
    pub rule: String,
    /// How serious a finding of it is
    pub severity: Severity,
    /// The keyspace's name
    pub schema: String,
    /// The definition whose keys are judged
    pub definition: String,
    /// What of it, and what it is held against
    pub subject: String,
    /// What is wrong, without the numbers
    pub what: String,
    /// What to do next
    pub help: Vec<String>,
    /// Hashes of the left side in base64
    pub left: String,
    /// Hashes of the right side in base64
    pub right: String,
}
