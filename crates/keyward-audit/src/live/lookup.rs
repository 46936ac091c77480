//! What is asked of every key, none of which makes the key look used: TYPE, PTTL, MEMORY USAGE,
//! OBJECT.

use std::io::Write as _;

use keyward_fact::{Encoding, KeyType};

use super::connection::{Connection, Head, write_arg};
use super::error::{Error, Fault};

/// Keys' names, as SCAN gave them.
#[derive(Debug, Default)]
pub(super) struct Batch {
    names: Vec<u8>,
    ends: Vec<usize>,
    /// How many the observer was told of
    pub(super) done: usize,
}

/// Longer names are counted, but not looked up.
const LONGEST_NAME: usize = 1024 * 1024;

/// What a reply to SCAN says beside the names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scanned {
    pub(super) cursor: u64,
    pub(super) keys: u64,
    pub(super) long_names: u64,
}

impl Batch {
    /// Reads a reply to SCAN, and keeps the names that are to be looked up.
    pub(super) fn receive(
        &mut self,
        connection: &mut Connection,
        chosen: impl Fn(&[u8]) -> bool,
    ) -> Result<Scanned, Fault> {
        let garbage = |connection: &Connection| {
            let got = connection.text().escape_ascii().to_string();
            Fault::Fatal(Error::Garbage { address: connection.address().to_owned(), got })
        };
        match connection.head()? {
            Head::Array(Some(2)) => {}
            Head::Error => return Err(refused(connection, "SCAN")),
            _ => return Err(garbage(connection)),
        }
        let mut cursor = Vec::new();
        let Head::Bulk(Some(length)) = connection.head()? else { return Err(garbage(connection)) };
        connection.bulk(length, 20, &mut cursor)?;
        let cursor = std::str::from_utf8(&cursor).ok().and_then(|cursor| cursor.parse().ok());
        let cursor = cursor.ok_or_else(|| garbage(connection))?;
        let Head::Array(Some(keys)) = connection.head()? else { return Err(garbage(connection)) };
        let mut scanned = Scanned { cursor, keys, long_names: 0 };
        for _ in 0..keys {
            let Head::Bulk(Some(length)) = connection.head()? else {
                return Err(garbage(connection));
            };
            let start = self.names.len();
            connection.bulk(length, LONGEST_NAME + 1, &mut self.names)?;
            let name = &self.names[start..];
            if name.len() > LONGEST_NAME {
                scanned.long_names += 1;
                self.names.truncate(start);
            } else if chosen(name) {
                self.ends.push(self.names.len());
            } else {
                self.names.truncate(start);
            }
        }
        Ok(scanned)
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn name(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.names[start..self.ends[at]]
    }
}

/// What is asked beside TYPE and PTTL.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Questions {
    /// MEMORY USAGE, with so many samples
    pub(super) memory: Option<u32>,
    pub(super) encoding: bool,
    pub(super) usage: Option<Usage>,
}

/// How the server remembers when a key was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    Idle,
    Freq,
}

impl Questions {
    /// Commands a key.
    pub(super) fn count(self) -> u64 {
        2 + u64::from(self.memory.is_some())
            + u64::from(self.encoding)
            + u64::from(self.usage.is_some())
    }

    /// Writes the commands for the keys of a batch that are not done.
    pub(super) fn write(self, batch: &Batch, out: &mut Vec<u8>) {
        let mut samples = Vec::new();
        if let Some(count) = self.memory {
            let count = count.to_string();
            // Writing to a vector cannot fail.
            let _ = write!(samples, "$7\r\nSAMPLES\r\n${}\r\n{count}\r\n", count.len());
        }
        let mut arg = Vec::new();
        for at in batch.done..batch.len() {
            arg.clear();
            write_arg(&mut arg, batch.name(at));
            let mut ask = |command: &[u8], rest: &[u8]| {
                out.extend_from_slice(command);
                out.extend_from_slice(&arg);
                out.extend_from_slice(rest);
            };
            ask(b"*2\r\n$4\r\nTYPE\r\n", b"");
            ask(b"*2\r\n$4\r\nPTTL\r\n", b"");
            if self.memory.is_some() {
                ask(b"*5\r\n$6\r\nMEMORY\r\n$5\r\nUSAGE\r\n", &samples);
            }
            if self.encoding {
                ask(b"*3\r\n$6\r\nOBJECT\r\n$8\r\nENCODING\r\n", b"");
            }
            match self.usage {
                Some(Usage::Idle) => ask(b"*3\r\n$6\r\nOBJECT\r\n$8\r\nIDLETIME\r\n", b""),
                Some(Usage::Freq) => ask(b"*3\r\n$6\r\nOBJECT\r\n$4\r\nFREQ\r\n", b""),
                None => {}
            }
        }
    }

    /// Reads the replies for one key.
    pub(super) fn read(self, connection: &mut Connection) -> Result<Row, Fault> {
        let mut row = Row::default();
        match connection.head()? {
            Head::Status => row.key_type = key_type(connection.text()),
            Head::Error if connection.text().starts_with(b"NOPERM") => row.denied = true,
            Head::Error => return Err(refused(connection, "TYPE")),
            _ => {}
        }
        // -1: never; -2: the key is gone. A replica may also tell that the time is over.
        let ttl = integer(connection, "PTTL")?;
        let gone = ttl == Some(-2);
        row.ttl = ttl.filter(|ttl| *ttl != -1 && !gone).map(|ttl| u64::try_from(ttl).unwrap_or(0));
        if self.memory.is_some() {
            let bytes = integer(connection, "MEMORY USAGE")?;
            row.bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
        }
        if self.encoding {
            row.encoding = encoding(connection)?;
        }
        let usage = match self.usage {
            Some(_) => integer(connection, "OBJECT")?.and_then(|number| u64::try_from(number).ok()),
            None => None,
        };
        match self.usage {
            Some(Usage::Idle) => row.idle = usage,
            _ => row.freq = usage.and_then(|freq| u8::try_from(freq).ok()),
        }
        if gone {
            row.key_type = None;
        }
        Ok(row)
    }
}

/// What was answered for one key.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// `None` for a key that is gone
    pub(super) key_type: Option<KeyType>,
    pub(super) denied: bool,
    /// Milliseconds left
    pub(super) ttl: Option<u64>,
    pub(super) bytes: Option<u64>,
    pub(super) encoding: Option<Encoding>,
    pub(super) idle: Option<u64>,
    pub(super) freq: Option<u8>,
}

fn key_type(text: &[u8]) -> Option<KeyType> {
    Some(match text {
        b"none" => return None,
        b"string" => KeyType::String,
        b"hash" => KeyType::Hash,
        b"list" => KeyType::List,
        b"set" => KeyType::Set,
        b"zset" => KeyType::Zset,
        b"stream" => KeyType::Stream,
        other => KeyType::Module(String::from_utf8_lossy(other).into_owned()),
    })
}

/// A number, or nothing for a key that is gone or denied.
fn integer(connection: &mut Connection, command: &'static str) -> Result<Option<i64>, Fault> {
    match connection.head()? {
        Head::Integer(number) => Ok(Some(number)),
        Head::Error if is_about_the_key(connection.text()) => Ok(None),
        Head::Error => Err(refused(connection, command)),
        Head::Bulk(Some(length)) => {
            connection.bulk(length, 0, &mut Vec::new())?;
            Ok(None)
        }
        _ => Ok(None),
    }
}

fn encoding(connection: &mut Connection) -> Result<Option<Encoding>, Fault> {
    match connection.head()? {
        Head::Bulk(Some(length)) => {
            let mut name = Vec::new();
            connection.bulk(length, 32, &mut name)?;
            Ok(std::str::from_utf8(&name).ok().and_then(|name| name.parse().ok()))
        }
        Head::Error if is_about_the_key(connection.text()) => Ok(None),
        Head::Error => Err(refused(connection, "OBJECT ENCODING")),
        _ => Ok(None),
    }
}

/// Whether an error says nothing about the server: the key is denied, gone, or of another type by
/// now, or the policy does not keep what was asked for.
pub(super) fn is_about_the_key(text: &[u8]) -> bool {
    const KNOWN: [&[u8]; 4] = [b"NOPERM", b"WRONGTYPE", b"ERR no such key", b"ERR An L"];
    KNOWN.iter().any(|start| text.starts_with(start))
}

/// What an error in the midst of a scan means.
pub(super) fn refused(connection: &Connection, command: &'static str) -> Fault {
    let reply = connection.message();
    let changed = |why: &str| Fault::Changed(why.to_owned());
    match reply.split(' ').next().unwrap_or_default() {
        "MOVED" | "ASK" | "TRYAGAIN" => changed("slots were moved meanwhile"),
        "CLUSTERDOWN" => changed("the cluster went down meanwhile"),
        "LOADING" => changed("the server began to load its data anew"),
        "MASTERDOWN" => changed("the replica lost its primary"),
        _ => Error::Reply { address: connection.address().to_owned(), command, reply }.into(),
    }
}
