//! What is asked of every key, none of which makes the key look used: TYPE, PTTL, MEMORY USAGE,
//! OBJECT.

use std::ops::RangeInclusive;

use keyward_fact::{Encoding, KeyType};

use super::connection::{Connection, Head, write_arg};
use super::error::{Error, Fault};

/// Keys' names, as one reply to SCAN gave them.
#[derive(Debug, Default)]
pub(super) struct Batch {
    names: Vec<u8>,
    ends: Vec<usize>,
    /// Which keys are done with: the observer was told of them, or they are not wanted
    done: Vec<bool>,
    /// How many are not
    left: usize,
    /// The first key that was not asked for
    next: usize,
    /// The cursor that it was asked for with
    pub(super) from: u64,
    /// The cursor of the reply
    pub(super) cursor: u64,
    /// Names in the reply
    pub(super) keys: u64,
    /// Names that are too long to be looked up
    pub(super) long_names: u64,
}

/// Longer names are counted, but not looked up.
const LONGEST_NAME: usize = 1024 * 1024;

/// More than any server answers to the largest COUNT that is sent.
const MOST_KEYS: u64 = 1_000_000;
const MOST_BYTES: usize = 256 * 1024 * 1024;

impl Batch {
    /// Reads a reply to SCAN.
    pub(super) fn receive(from: u64, connection: &mut Connection) -> Result<Self, Fault> {
        let garbage =
            |connection: &Connection| connection.odd("SCAN", "what is not a cursor and keys");
        match connection.head()? {
            Head::Array(Some(2)) => {}
            Head::Error => return Err(refused(connection, "SCAN")),
            _ => return Err(garbage(connection)),
        }
        let mut cursor = Vec::new();
        let Head::Bulk(Some(length)) = connection.inner()? else { return Err(garbage(connection)) };
        connection.bulk(length, 20, &mut cursor)?;
        let cursor = std::str::from_utf8(&cursor).ok().and_then(|cursor| cursor.parse().ok());
        let cursor = cursor.ok_or_else(|| garbage(connection))?;
        let Head::Array(Some(keys)) = connection.inner()? else { return Err(garbage(connection)) };
        if keys > MOST_KEYS {
            return Err(garbage(connection));
        }
        let mut batch = Batch { from, cursor, keys, ..Batch::default() };
        for _ in 0..keys {
            let Head::Bulk(Some(length)) = connection.inner()? else {
                return Err(garbage(connection));
            };
            let start = batch.names.len();
            if start > MOST_BYTES {
                return Err(garbage(connection));
            }
            connection.bulk(length, LONGEST_NAME + 1, &mut batch.names)?;
            if batch.names.len() - start > LONGEST_NAME {
                batch.long_names += 1;
                batch.names.truncate(start);
            } else {
                batch.ends.push(batch.names.len());
            }
        }
        batch.left = batch.ends.len();
        batch.done = vec![false; batch.left];
        Ok(batch)
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn name(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.names[start..self.ends[at]]
    }

    /// Up to so many keys that are neither done with nor asked for.
    pub(super) fn take(&mut self, most: usize) -> Vec<usize> {
        let mut taken = Vec::new();
        while self.next < self.len() && taken.len() < most {
            if !self.done[self.next] {
                taken.push(self.next);
            }
            self.next += 1;
        }
        taken
    }

    /// Forgets what was asked for, after the connection broke.
    pub(super) fn ask_again(&mut self) {
        self.next = 0;
    }

    pub(super) fn finish(&mut self, at: usize) {
        if !std::mem::replace(&mut self.done[at], true) {
            self.left -= 1;
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.left == 0
    }

    /// The keys that are done with.
    pub(super) fn finished(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|at| self.done[*at])
    }
}

/// What is asked, and how.
///
/// Every command costs the server about as much as the lookup itself, so the encoding is asked first:
/// mostly it also tells the type, and that MEMORY USAGE needs no samples to be exact. What it leaves
/// open is asked in a second round. (A million mixed keys: 3.3 commands a key instead of 4.)
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Questions {
    /// MEMORY USAGE, with so many samples
    pub(super) memory: Option<u32>,
    pub(super) encoding: bool,
    pub(super) usage: Option<Usage>,
    /// Whether there may be values of modules, which are `raw` as strings are
    pub(super) modules: bool,
    /// Whether a key may be at another server by now; otherwise the reading must begin again
    pub(super) moves: bool,
}

/// How the server remembers when a key was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    Idle,
    Freq,
}

impl Questions {
    /// Commands a key, in the first round.
    pub(super) fn count(self) -> u64 {
        2 + u64::from(self.memory.is_some()) + u64::from(self.usage.is_some())
    }

    /// Writes the commands of the first round for some keys of a batch.
    pub(super) fn write(self, batch: &Batch, keys: &[usize], out: &mut Vec<u8>) {
        self.write_for(keys.iter().map(|at| batch.name(*at)), out);
    }

    /// The same for keys with these names.
    pub(super) fn write_for<'n>(self, names: impl Iterator<Item = &'n [u8]>, out: &mut Vec<u8>) {
        let (samples, mut arg) = (self.samples(), Vec::new());
        for name in names {
            arg.clear();
            write_arg(&mut arg, name);
            self.write_one(&arg, &samples, out);
        }
    }

    fn write_one(self, arg: &[u8], samples: &[u8], out: &mut Vec<u8>) {
        let mut ask = |command: &[u8], rest: &[u8]| {
            out.extend_from_slice(command);
            out.extend_from_slice(arg);
            out.extend_from_slice(rest);
        };
        if self.encoding {
            ask(ENCODING, b"");
        } else {
            ask(TYPE, b"");
        }
        ask(b"*2\r\n$4\r\nPTTL\r\n", b"");
        match self.memory {
            Some(_) if self.encoding => ask(MEMORY, b""),
            Some(_) => ask(MEMORY_SAMPLES, samples),
            None => {}
        }
        match self.usage {
            Some(Usage::Idle) => ask(b"*3\r\n$6\r\nOBJECT\r\n$8\r\nIDLETIME\r\n", b""),
            Some(Usage::Freq) => ask(b"*3\r\n$6\r\nOBJECT\r\n$4\r\nFREQ\r\n", b""),
            None => {}
        }
    }

    /// Reads the replies of the first round for one key.
    pub(super) fn read(self, connection: &mut Connection) -> Result<Row, Fault> {
        let mut row = Row::default();
        if self.encoding {
            row.read_encoding(connection, self.modules)?;
        } else if self.moves {
            row.read_type_of_any(connection)?;
        } else {
            row.read_type(connection)?;
        }
        // -1: never; -2: the key is gone.
        let ttl = match integer(connection, "PTTL", -2..=i64::MAX) {
            Err(Fault::Changed(_)) if self.moves => {
                row.state = State::Elsewhere;
                None
            }
            ttl => ttl?,
        };
        row.ttl = ttl.filter(|ttl| *ttl != -1).map(|ttl| u64::try_from(ttl).unwrap_or(0));
        if ttl == Some(-2) && row.state == State::There {
            row.state = State::Gone;
        }
        if self.memory.is_some() {
            row.read_bytes(connection)?;
        }
        let usage = match self.usage {
            Some(Usage::Idle) => integer(connection, "OBJECT IDLETIME", 0..=i64::MAX)?,
            Some(Usage::Freq) => integer(connection, "OBJECT FREQ", 0..=255)?,
            None => None,
        };
        let usage = usage.and_then(|number| u64::try_from(number).ok());
        match self.usage {
            Some(Usage::Idle) => row.idle = usage,
            _ => row.freq = usage.and_then(|freq| u8::try_from(freq).ok()),
        }
        Ok(row)
    }

    /// Writes the commands of the second round for one key, and says how many.
    pub(super) fn write_again(self, name: &[u8], row: &Row, out: &mut Vec<u8>) -> u64 {
        let (ask_type, samples) = self.second(row);
        if ask_type {
            out.extend_from_slice(TYPE);
            write_arg(out, name);
        }
        if samples {
            out.extend_from_slice(MEMORY_SAMPLES);
            write_arg(out, name);
            out.extend_from_slice(&self.samples());
        }
        u64::from(ask_type) + u64::from(samples)
    }

    /// Reads the replies of the second round for one key.
    pub(super) fn read_again(
        self,
        connection: &mut Connection,
        row: &mut Row,
    ) -> Result<(), Fault> {
        let (ask_type, samples) = self.second(row);
        if ask_type {
            row.read_type(connection)?;
        }
        if samples {
            row.read_bytes(connection)?;
        }
        Ok(())
    }

    /// Whether the type, and the bytes, are asked for in the second round.
    fn second(self, row: &Row) -> (bool, bool) {
        if row.state != State::There || !self.encoding {
            return (false, false);
        }
        let exact = matches!(
            row.encoding,
            Some(
                Encoding::Int
                    | Encoding::Embstr
                    | Encoding::Listpack
                    | Encoding::Ziplist
                    | Encoding::Intset
            )
        ) || row.encoding == Some(Encoding::Raw) && !self.modules;
        (row.key_type.is_none(), self.memory.is_some() && !exact)
    }

    /// The end of a MEMORY USAGE.
    fn samples(self) -> Vec<u8> {
        let count = self.memory.unwrap_or(0).to_string();
        format!("$7\r\nSAMPLES\r\n${}\r\n{count}\r\n", count.len()).into_bytes()
    }
}

const TYPE: &[u8] = b"*2\r\n$4\r\nTYPE\r\n";
const ENCODING: &[u8] = b"*3\r\n$6\r\nOBJECT\r\n$8\r\nENCODING\r\n";
const MEMORY: &[u8] = b"*3\r\n$6\r\nMEMORY\r\n$5\r\nUSAGE\r\n";
const MEMORY_SAMPLES: &[u8] = b"*5\r\n$6\r\nMEMORY\r\n$5\r\nUSAGE\r\n";

/// What was answered for one key.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) state: State,
    pub(super) key_type: Option<KeyType>,
    /// Milliseconds left
    pub(super) ttl: Option<u64>,
    pub(super) bytes: Option<u64>,
    pub(super) encoding: Option<Encoding>,
    pub(super) idle: Option<u64>,
    pub(super) freq: Option<u8>,
}

/// Whether a key can be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum State {
    #[default]
    There,
    Gone,
    Denied,
    /// Another server may have it by now, or this one cannot tell at the moment
    Elsewhere,
}

impl Row {
    /// The type of a key that another server may have by now.
    fn read_type_of_any(&mut self, connection: &mut Connection) -> Result<(), Fault> {
        match self.read_type(connection) {
            Err(Fault::Changed(_)) => self.state = State::Elsewhere,
            read => return read,
        }
        Ok(())
    }

    fn read_type(&mut self, connection: &mut Connection) -> Result<(), Fault> {
        match connection.head()? {
            Head::Status => {
                self.key_type = key_type(connection.text());
                if self.key_type.is_none() {
                    self.state = State::Gone;
                }
            }
            Head::Error if connection.text().starts_with(b"NOPERM") => self.state = State::Denied,
            Head::Error => return Err(refused(connection, "TYPE")),
            other => return Err(connection.odd("TYPE", &other.kind())),
        }
        Ok(())
    }

    fn read_encoding(&mut self, connection: &mut Connection, modules: bool) -> Result<(), Fault> {
        match connection.head()? {
            Head::Bulk(Some(length)) => {
                let mut name = Vec::new();
                connection.bulk(length, 32, &mut name)?;
                self.encoding = std::str::from_utf8(&name).ok().and_then(|name| name.parse().ok());
                self.key_type = self.encoding.and_then(|encoding| implied(encoding, modules));
            }
            Head::Error if connection.text().starts_with(b"NOPERM") => self.state = State::Denied,
            Head::Error if is_about_the_key(connection.text()) => self.state = State::Gone,
            Head::Error => return Err(refused(connection, "OBJECT ENCODING")),
            Head::Bulk(None) => self.state = State::Gone,
            other => return Err(connection.odd("OBJECT ENCODING", &other.kind())),
        }
        Ok(())
    }

    fn read_bytes(&mut self, connection: &mut Connection) -> Result<(), Fault> {
        let bytes = integer(connection, "MEMORY USAGE", 0..=MOST_MEMORY)?;
        self.bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
        Ok(())
    }
}

/// The type that only one encoding belongs to.
fn implied(encoding: Encoding, modules: bool) -> Option<KeyType> {
    match encoding {
        Encoding::Int | Encoding::Embstr => Some(KeyType::String),
        Encoding::Raw if !modules => Some(KeyType::String),
        Encoding::Quicklist | Encoding::Linkedlist => Some(KeyType::List),
        Encoding::Skiplist => Some(KeyType::Zset),
        Encoding::Intset => Some(KeyType::Set),
        Encoding::Stream => Some(KeyType::Stream),
        _ => None,
    }
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

/// No machine has more bytes of memory: 1 PiB.
const MOST_MEMORY: i64 = 1 << 50;

/// A number that the command can answer, or nothing for a key that is gone or denied.
fn integer(
    connection: &mut Connection,
    command: &'static str,
    possible: RangeInclusive<i64>,
) -> Result<Option<i64>, Fault> {
    match connection.head()? {
        Head::Integer(number) if possible.contains(&number) => Ok(Some(number)),
        Head::Error if is_about_the_key(connection.text()) => Ok(None),
        Head::Error => Err(refused(connection, command)),
        Head::Bulk(None) if command != "PTTL" => Ok(None),
        other => Err(connection.odd(command, &other.kind())),
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
        "LOADING" => changed("the server is loading its data again"),
        "MASTERDOWN" => changed("the replica lost its primary"),
        _ => Error::Reply { address: connection.address().to_owned(), command, reply }.into(),
    }
}
