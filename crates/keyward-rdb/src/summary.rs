//! What is known of a snapshot when it was read to its end.

use std::collections::BTreeMap;

use crate::entry::Excerpt;
use crate::error::Error;
use crate::version::{Family, Version};

/// What a whole snapshot was.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The version of the format
    pub version: Version,
    /// The version of the server that wrote it, where the file says so
    pub server: Option<String>,
    /// When it was written, in seconds since 1970, where the file says so
    pub created_at: Option<u64>,
    /// The memory that the server used then, where the file says so
    pub used_memory: Option<u64>,
    /// Whether changes were meant to follow in an append-only file
    pub aof_base: bool,
    /// Keys
    pub keys: u64,
    /// Keys that expire
    pub expiring: u64,
    /// Keys of modules' types
    pub modules: Modules,
    /// Pieces of data of modules beside the keys
    pub module_aux: u64,
    /// Libraries of functions
    pub functions: u64,
    /// Slots that the file describes
    pub slots: u64,
    /// What is known of the file's integrity
    pub checksum: Checksum,
    /// Bytes up to and with the checksum
    pub bytes: u64,
    /// Bytes behind it, such as an append-only file's; `None` for some, but nobody counted
    pub trailing: Option<u64>,
}

/// Whether the bytes are those that were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Checksum {
    /// They are
    Verified,
    /// The server is set to write no checksum (`rdbchecksum no`)
    Disabled,
    /// Versions before 5 have none
    #[default]
    Absent,
}

impl Summary {
    /// Fails where something follows the end of the snapshot: another one, or commands of an append-only file.
    pub fn expect_end(&self) -> Result<(), Error> {
        if self.trailing == Some(0) {
            return Ok(());
        }
        Err(Error::corrupt(self.bytes, "something follows the end of the snapshot"))
    }

    /// Whether estimates of memory were checked against MEMORY USAGE for this kind of server, if its
    /// allocator is the one given in the options: so far, Redis 7.0.
    pub fn memory_checked(&self) -> bool {
        self.version.family == Family::Redis
            && self.server.as_deref().is_some_and(|server| server.starts_with("7.0."))
    }

    pub(crate) fn note(&mut self, name: Excerpt<'_>, value: Excerpt<'_>) {
        /// Enough for a version or a number.
        const LONGEST: usize = 64;
        let Ok(text) = std::str::from_utf8(value.bytes) else { return };
        if value.bytes.len() > LONGEST {
            return;
        }
        match name.bytes {
            b"redis-ver" | b"valkey-ver" => self.server = Some(text.to_owned()),
            b"ctime" => self.created_at = text.parse().ok(),
            b"used-mem" => self.used_memory = text.parse().ok(),
            b"aof-base" | b"aof-preamble" => self.aof_base = text != "0",
            _ => {}
        }
    }
}

impl Summary {
    /// Adds what was read of a part behind this one.
    pub(crate) fn absorb(&mut self, other: Summary) {
        self.server = other.server.or(self.server.take());
        self.created_at = other.created_at.or(self.created_at);
        self.used_memory = other.used_memory.or(self.used_memory);
        self.aof_base |= other.aof_base;
        self.keys += other.keys;
        self.expiring += other.expiring;
        for (name, count) in other.modules.iter() {
            self.modules.count(name, count);
        }
        self.modules.others += other.modules.others;
        self.module_aux += other.module_aux;
        self.functions += other.functions;
        self.slots += other.slots;
    }
}

impl Default for Summary {
    fn default() -> Self {
        Summary {
            version: Version { family: Family::Redis, number: 0 },
            server: None,
            created_at: None,
            used_memory: None,
            aof_base: false,
            keys: 0,
            expiring: 0,
            modules: Modules::default(),
            module_aux: 0,
            functions: 0,
            slots: 0,
            checksum: Checksum::default(),
            bytes: 0,
            trailing: None,
        }
    }
}

/// How many keys there are of each module's type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Modules {
    names: BTreeMap<String, u64>,
    others: u64,
}

impl Modules {
    /// The types by name, with their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.names.iter().map(|(name, count)| (name.as_str(), *count))
    }

    /// Keys of further types, which were too many to be named.
    pub fn others(&self) -> u64 {
        self.others
    }

    pub(crate) fn count(&mut self, name: &str, keys: u64) {
        /// No server loads as many modules, but a forged file may name them.
        const MOST: usize = 256;
        if let Some(known) = self.names.get_mut(name) {
            *known += keys;
        } else if self.names.len() < MOST {
            self.names.insert(name.to_owned(), keys);
        } else {
            self.others += keys;
        }
    }
}
