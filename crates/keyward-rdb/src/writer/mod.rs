//! Writes small snapshots, for demonstrations, generators and tests.
//!
//! ```
//! use keyward_rdb::{Reader, Version};
//! use keyward_rdb::writer::{Attributes, Content, Writer};
//!
//! let mut writer = Writer::new(Vec::new(), Version::redis(10))?;
//! writer.aux(b"redis-ver", b"7.0.15")?;
//! writer.select(0)?;
//! let session = Attributes { expires_at: Some(4_102_444_800_000), ..Attributes::default() };
//! writer.key(b"session:1", &session, &Content::Hash(&[(b"user", b"42"), (b"ip", b"10.0.0.1")]))?;
//! writer.key(b"greeting", &Attributes::default(), &Content::String(b"hello"))?;
//! let bytes = writer.finish()?;
//!
//! assert_eq!(Reader::from_slice(&bytes).read(&mut ())?.keys, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Small collections are packed as the server packs them with its default settings. Nothing is
//! compressed.

mod listpack;

use std::io::{self, Write};

use crate::crc64;
use crate::number;
use crate::version::{Family, Version};

pub use listpack::listpack;

/// Writes a snapshot.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    crc: u64,
    version: Version,
    checksum: bool,
}

/// What stands before a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attributes {
    /// When the key expires, in milliseconds since 1970
    pub expires_at: Option<u64>,
    /// For how many seconds it had not been used
    pub idle: Option<u64>,
    /// How often it had been used, on the server's logarithmic scale
    pub freq: Option<u8>,
}

/// What stands under a key.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Content<'a> {
    /// A string
    String(&'a [u8]),
    /// A list's items
    List(&'a [&'a [u8]]),
    /// A set's members
    Set(&'a [&'a [u8]]),
    /// A hash's fields and values
    Hash(&'a [(&'a [u8], &'a [u8])]),
    /// A sorted set's members and scores
    Zset(&'a [(&'a [u8], f64)]),
    /// A type's code and its bytes, as they are
    Raw(u8, &'a [u8]),
}

impl<W: Write> Writer<W> {
    /// Begins a snapshot of this version.
    pub fn new(out: W, version: Version) -> io::Result<Self> {
        let checksum = version.number >= Version::CHECKSUM;
        let mut writer = Writer { out, crc: 0, version, checksum };
        writer.bytes(version.to_string().as_bytes())?;
        Ok(writer)
    }

    /// Writes zeros instead of the checksum, as a server does with `rdbchecksum no`.
    #[must_use]
    pub fn without_checksum(mut self) -> Self {
        self.checksum = false;
        self
    }

    /// Writes a note.
    pub fn aux(&mut self, name: &[u8], value: &[u8]) -> io::Result<()> {
        self.bytes(&[250])?;
        self.string(name)?;
        self.string(value)
    }

    /// Says to which database the keys that follow belong.
    pub fn select(&mut self, db: u64) -> io::Result<()> {
        self.bytes(&[254])?;
        self.length(db)
    }

    /// Says how many keys the database has.
    pub fn size(&mut self, keys: u64, expiring: u64) -> io::Result<()> {
        self.bytes(&[251])?;
        self.length(keys)?;
        self.length(expiring)
    }

    /// Writes a library of functions.
    pub fn function(&mut self, code: &[u8]) -> io::Result<()> {
        self.bytes(&[245])?;
        self.string(code)
    }

    /// Writes a key.
    pub fn key(
        &mut self,
        name: &[u8],
        attributes: &Attributes,
        content: &Content<'_>,
    ) -> io::Result<()> {
        if let Some(expires_at) = attributes.expires_at {
            self.bytes(&[252])?;
            self.bytes(&expires_at.to_le_bytes())?;
        }
        if let Some(idle) = attributes.idle {
            self.bytes(&[248])?;
            self.length(idle)?;
        }
        if let Some(freq) = attributes.freq {
            self.bytes(&[249, freq])?;
        }
        match *content {
            Content::String(text) => {
                self.begin(0, name)?;
                self.string(text)
            }
            Content::List(items) => self.list(name, items),
            Content::Set(members) => self.set(name, members),
            Content::Hash(fields) => self.hash(name, fields),
            Content::Zset(members) => self.zset(name, members),
            Content::Raw(code, bytes) => {
                self.begin(code, name)?;
                self.bytes(bytes)
            }
        }
    }

    /// Ends the snapshot, and gives back where it was written.
    pub fn finish(mut self) -> io::Result<W> {
        self.bytes(&[255])?;
        if self.version.number >= Version::CHECKSUM {
            let crc = if self.checksum { self.crc } else { 0 };
            self.out.write_all(&crc.to_le_bytes())?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    fn begin(&mut self, code: u8, name: &[u8]) -> io::Result<()> {
        self.bytes(&[code])?;
        self.string(name)
    }

    /// One node of a quicklist for every eight kilobytes.
    fn list(&mut self, name: &[u8], items: &[&[u8]]) -> io::Result<()> {
        const NODE: usize = 8 * 1024;
        const PACKED: u64 = 2;
        if !self.version.has_listpacks() {
            self.begin(1, name)?;
            self.length(items.len() as u64)?;
            return items.iter().try_for_each(|item| self.string(item));
        }
        let mut nodes: Vec<Vec<&[u8]>> = Vec::new();
        let mut room = 0;
        for item in items {
            let size = item.len() + 11;
            match nodes.last_mut() {
                Some(node) if size <= room => node.push(item),
                _ => {
                    nodes.push(vec![item]);
                    room = NODE;
                }
            }
            room = room.saturating_sub(size);
        }
        self.begin(18, name)?;
        self.length(nodes.len() as u64)?;
        for node in nodes {
            self.length(PACKED)?;
            self.text(&listpack(node))?;
        }
        Ok(())
    }

    fn set(&mut self, name: &[u8], members: &[&[u8]]) -> io::Result<()> {
        const NUMBERS: usize = 512;
        let numbers: Option<Vec<i64>> = members
            .iter()
            .map(|member| {
                number::is_int(member).then(|| std::str::from_utf8(member).ok()?.parse().ok())?
            })
            .collect();
        if let Some(numbers) = numbers.filter(|numbers| numbers.len() <= NUMBERS) {
            self.begin(11, name)?;
            return self.text(&intset(numbers));
        }
        if self.version.has_listpack_lists() && is_small(members.len(), members.iter().copied()) {
            self.begin(20, name)?;
            return self.text(&listpack(members.iter().copied()));
        }
        self.begin(2, name)?;
        self.length(members.len() as u64)?;
        members.iter().try_for_each(|member| self.string(member))
    }

    fn hash(&mut self, name: &[u8], fields: &[(&[u8], &[u8])]) -> io::Result<()> {
        let parts = || fields.iter().flat_map(|(field, value)| [*field, *value]);
        if self.version.has_listpacks() && is_small(fields.len(), parts()) {
            self.begin(16, name)?;
            return self.text(&listpack(parts()));
        }
        self.begin(4, name)?;
        self.length(fields.len() as u64)?;
        parts().try_for_each(|part| self.string(part))
    }

    fn zset(&mut self, name: &[u8], members: &[(&[u8], f64)]) -> io::Result<()> {
        let names = || members.iter().map(|(member, _)| *member);
        if self.version.has_listpacks() && is_small(members.len(), names()) {
            let mut sorted = members.to_vec();
            sorted.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(b.0)));
            let scores: Vec<String> = sorted.iter().map(|(_, score)| score_text(*score)).collect();
            let parts = sorted
                .iter()
                .zip(&scores)
                .flat_map(|((member, _), score)| [*member, score.as_bytes()]);
            self.begin(17, name)?;
            return self.text(&listpack(parts));
        }
        self.begin(5, name)?;
        self.length(members.len() as u64)?;
        for (member, score) in members {
            self.string(member)?;
            self.bytes(&score.to_le_bytes())?;
        }
        Ok(())
    }

    /// Writes a string, as a number if it is a short one.
    fn string(&mut self, text: &[u8]) -> io::Result<()> {
        let number = (text.len() <= 11 && number::is_int(text))
            .then(|| std::str::from_utf8(text).ok()?.parse::<i32>().ok())
            .flatten();
        let Some(number) = number else { return self.text(text) };
        if let Ok(number) = i8::try_from(number) {
            self.bytes(&[0xc0])?;
            self.bytes(&number.to_le_bytes())
        } else if let Ok(number) = i16::try_from(number) {
            self.bytes(&[0xc1])?;
            self.bytes(&number.to_le_bytes())
        } else {
            self.bytes(&[0xc2])?;
            self.bytes(&number.to_le_bytes())
        }
    }

    fn text(&mut self, text: &[u8]) -> io::Result<()> {
        self.length(text.len() as u64)?;
        self.bytes(text)
    }

    fn length(&mut self, length: u64) -> io::Result<()> {
        let mut bytes = Vec::new();
        write_length(length, &mut bytes);
        self.bytes(&bytes)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.crc = crc64::update(self.crc, bytes);
        self.out.write_all(bytes)
    }
}

impl Version {
    /// A version of Redis, and of Valkey before 9.0.
    pub const fn redis(number: u16) -> Version {
        Version { family: Family::Redis, number }
    }

    /// A version of Valkey from 9.0.
    pub const fn valkey(number: u16) -> Version {
        Version { family: Family::Valkey, number }
    }
}

/// Appends a length as the format writes it: for the bytes of [`Content::Raw`].
pub fn write_length(length: u64, out: &mut Vec<u8>) {
    if let Ok(short @ ..64) = u8::try_from(length) {
        out.push(short);
    } else if let Ok(medium @ ..16_384) = u16::try_from(length) {
        out.extend((medium | 0x4000).to_be_bytes());
    } else if let Ok(long) = u32::try_from(length) {
        out.push(0x80);
        out.extend(long.to_be_bytes());
    } else {
        out.push(0x81);
        out.extend(length.to_be_bytes());
    }
}

/// Appends a string with its length: for the bytes of [`Content::Raw`].
pub fn write_string(text: &[u8], out: &mut Vec<u8>) {
    write_length(text.len() as u64, out);
    out.extend_from_slice(text);
}

/// Whether the server packs a collection, with its default settings.
fn is_small<'a>(count: usize, mut parts: impl Iterator<Item = &'a [u8]>) -> bool {
    const ENTRIES: usize = 128;
    const BYTES: usize = 64;
    count <= ENTRIES && parts.all(|part| part.len() <= BYTES)
}

/// At most as long as servers write scores.
fn score_text(score: f64) -> String {
    let text = score.to_string();
    if text.len() <= 17 { text } else { format!("{score:e}") }
}

fn intset(mut numbers: Vec<i64>) -> Vec<u8> {
    numbers.sort_unstable();
    numbers.dedup();
    let fits = |least: i64, most: i64| numbers.iter().all(|n| (least..=most).contains(n));
    let width: usize = if fits(i16::MIN.into(), i16::MAX.into()) {
        2
    } else if fits(i32::MIN.into(), i32::MAX.into()) {
        4
    } else {
        8
    };
    let mut bytes = u32::try_from(width).unwrap_or(8).to_le_bytes().to_vec();
    bytes.extend(u32::try_from(numbers.len()).unwrap_or(u32::MAX).to_le_bytes());
    for number in numbers {
        bytes.extend(&number.to_le_bytes()[..width]);
    }
    bytes
}
