//! What a snapshot says about a key, and who is told.

use std::ops::ControlFlow;

pub use keyward_fact::{Element, Excerpt, Expiry, Show};
use keyward_fact::{Encoding, Fact, KeyType};

/// Receives what a snapshot contains, in the order of the file.
///
/// For every key: [`key`](Visitor::key), then [`element`](Visitor::element) for what the answer asked
/// to see, then [`value`](Visitor::value). All that is borrowed is lent for the one call.
///
/// What was received before an error is not the whole snapshot, and the checksum comes last: a result is
/// good only when [`Reader::read`](crate::Reader::read) has returned `Ok`.
pub trait Visitor {
    /// A key begins. The answer says how much of its value to show.
    fn key(&mut self, key: &Key<'_>) -> Show {
        let _ = key;
        Show::NOTHING
    }

    /// A part of the value that was asked for.
    fn element(&mut self, element: &Element<'_>) {
        let _ = element;
    }

    /// The key's value was read to its end.
    fn value(&mut self, key: &Key<'_>, value: &Value) {
        let _ = (key, value);
    }

    /// Something that is not a key.
    fn extra(&mut self, extra: &Extra<'_>) {
        let _ = extra;
    }

    /// Called every few thousand records with the bytes read so far: to draw progress, or to stop,
    /// which makes reading end with [`ErrorKind::Stopped`](crate::ErrorKind::Stopped).
    fn progress(&mut self, offset: u64) -> ControlFlow<()> {
        let _ = offset;
        ControlFlow::Continue(())
    }
}

/// Only the summary is wanted.
impl Visitor for () {}

/// A key, as known before its value is read.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Key<'a> {
    /// The number of its database
    pub db: u64,
    /// Its name, or the beginning of a name longer than [`Options::max_key`](crate::Options::max_key)
    pub name: &'a [u8],
    /// How many bytes the name has
    pub name_len: u64,
    /// The type, as the server's TYPE answers
    pub key_type: &'a KeyType,
    /// When it expires, in milliseconds since 1970
    pub expires_at: Option<u64>,
    /// For how many seconds it had not been used, where the server's policy is LRU
    pub idle: Option<u64>,
    /// How often it had been used, on the server's logarithmic scale, where its policy is LFU
    pub freq: Option<u8>,
    /// Where its record begins in the file
    pub offset: u64,
}

impl<'a> Key<'a> {
    /// What is known of it: before its value was read, and afterwards.
    #[inline]
    pub fn fact(&self, value: Option<&Value>) -> Fact<'a> {
        let is_module = matches!(self.key_type, KeyType::Module(_));
        Fact {
            expires_at: self.expires_at,
            idle: self.idle,
            freq: self.freq,
            encoding: value.map(|value| value.encoding),
            length: value.filter(|_| !is_module).map(|value| value.length),
            bytes: value.map(|value| value.memory),
            whole: value.is_some(),
            ..Fact::new(self.db, self.name, self.key_type)
        }
    }
}

/// A value, as known after it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Value {
    /// How the server keeps it, as OBJECT ENCODING answers.
    ///
    /// A short string that was built by APPEND or SETRANGE is `raw` in the server and `embstr` here:
    /// the file does not tell them apart.
    pub encoding: Encoding,
    /// Bytes of a string, elements of a collection, entries of a stream; 0 for a module's value
    pub length: u64,
    /// Bytes of the whole record in the file: key, value and what stands before them
    pub serialized: u64,
    /// Bytes that key and value take in the server's memory, as MEMORY USAGE with SAMPLES 0 counts
    /// them; an estimate, see [`Summary::memory_checked`](crate::Summary::memory_checked). For a
    /// module's value it counts the serialized bytes.
    pub memory: u64,
    /// What is known of a hash's fields that have TTLs of their own; `None` where there are none
    pub field_ttls: Option<FieldTtls>,
    /// What is known of a stream
    pub stream: Option<Box<StreamInfo>>,
}

/// The fields of one hash that expire by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldTtls {
    /// How many there are
    pub count: u64,
    /// When the first of them expires, in milliseconds since 1970
    pub earliest: u64,
    /// When the last of them expires
    pub latest: u64,
}

/// The identifier of a stream's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StreamId {
    /// Milliseconds since 1970, usually
    pub ms: u64,
    /// Sequence number within the millisecond
    pub seq: u64,
}

/// What is known of one stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct StreamInfo {
    /// The last identifier that was given out
    pub last_id: StreamId,
    /// Entries ever added; `None` before Redis 7.0
    pub entries_added: Option<u64>,
    /// Listpacks that hold the entries
    pub nodes: u64,
    /// Consumer groups
    pub groups: u64,
    /// Consumers of all groups
    pub consumers: u64,
    /// Entries delivered and not acknowledged, in all groups
    pub pending: u64,
}

/// What a snapshot contains beside keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extra<'a> {
    /// A note of the server about itself
    Aux {
        /// Its name: `redis-ver`
        name: Excerpt<'a>,
        /// Its value: `7.0.15`
        value: Excerpt<'a>,
    },
    /// A library of functions
    Function {
        /// Its source
        code: Excerpt<'a>,
    },
    /// Data of a module beside the keys
    ModuleAux {
        /// The module's type name
        module: &'a str,
    },
    /// How many keys a database has, as the server thought
    Size {
        /// The database
        db: u64,
        /// Its keys
        keys: u64,
        /// Those that expire
        expiring: u64,
    },
    /// How many keys a cluster's slot has
    Slot {
        /// The slot
        slot: u64,
        /// Its keys
        keys: u64,
        /// Those that expire
        expiring: u64,
    },
    /// A slot migration of Valkey that was under way
    SlotImport {
        /// The name of the job
        job: Excerpt<'a>,
    },
}
