//! Everything that a reader says of a snapshot, as text.
#![allow(dead_code, reason = "every test uses a part of it")]

use std::fmt::Write;
use std::path::PathBuf;

use keyward_rdb::writer::{Attributes, Content, Writer};
use keyward_rdb::{
    Element, Error, Excerpt, Expiry, Extra, Key, Reader, Show, Summary, Value, Version, Visitor,
};

pub(crate) fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

pub(crate) const FILES: [&str; 5] = [
    "redis-7.0.rdb",
    "redis-7.0-nocompress-lfu.rdb",
    "redis-8.0-dev.rdb",
    "valkey-8.1-dev.rdb",
    "valkey-9.1.rdb",
];

/// Writes down all that it is told.
pub(crate) struct Transcript {
    pub(crate) text: String,
    pub(crate) show: Show,
}

impl Default for Transcript {
    fn default() -> Self {
        Transcript { text: String::new(), show: Show::up_to(24) }
    }
}

fn excerpt(excerpt: Excerpt<'_>) -> String {
    let more = if excerpt.is_whole() { String::new() } else { format!("… ({})", excerpt.len) };
    format!("{}{more}", excerpt.bytes.escape_ascii())
}

impl Visitor for Transcript {
    fn key(&mut self, key: &Key<'_>) -> Show {
        let _ = write!(self.text, "{}/{} {}", key.db, key.name.escape_ascii(), key.key_type);
        if let Some(at) = key.expires_at {
            let _ = write!(self.text, " expires {at}");
        }
        if let Some(idle) = key.idle {
            let _ = write!(self.text, " idle {idle}");
        }
        if let Some(freq) = key.freq {
            let _ = write!(self.text, " freq {freq}");
        }
        self.text.push('\n');
        self.show
    }

    fn element(&mut self, element: &Element<'_>) {
        let _ = match *element {
            Element::Text(text) => writeln!(self.text, "  {}", excerpt(text)),
            Element::Field { name, value, expiry: Expiry::At(at) } => {
                writeln!(self.text, "  {} = {} expires {at}", excerpt(name), excerpt(value))
            }
            Element::Field { name, value, .. } => {
                writeln!(self.text, "  {} = {}", excerpt(name), excerpt(value))
            }
            Element::Entry => writeln!(self.text, "  entry"),
            Element::Item(item) => writeln!(self.text, "  - {}", excerpt(item)),
            Element::Member(member) => writeln!(self.text, "  * {}", excerpt(member)),
            Element::Scored { member, score } => {
                writeln!(self.text, "  * {} at {score}", excerpt(member))
            }
            _ => writeln!(self.text, "  {element:?}"),
        };
    }

    fn value(&mut self, _: &Key<'_>, value: &Value) {
        let Value { encoding, length, serialized, memory, .. } = value;
        let _ = write!(
            self.text,
            "  {encoding}, length {length}, {serialized} B in the file, {memory} B in memory"
        );
        if let Some(ttls) = value.field_ttls {
            let _ = write!(self.text, ", {ttls:?}");
        }
        if let Some(stream) = &value.stream {
            let _ = write!(self.text, ", {stream:?}");
        }
        self.text.push('\n');
    }

    fn extra(&mut self, extra: &Extra<'_>) {
        let _ = match *extra {
            Extra::Aux { name, value } => {
                writeln!(self.text, "aux {} = {}", excerpt(name), excerpt(value))
            }
            Extra::Function { code } => writeln!(self.text, "function {}", excerpt(code)),
            _ => writeln!(self.text, "{extra:?}"),
        };
    }
}

/// Reads bytes at once.
pub(crate) fn read(bytes: &[u8]) -> Result<(Summary, String), Error> {
    let mut transcript = Transcript::default();
    let summary = Reader::from_slice(bytes).read(&mut transcript)?;
    Ok((summary, transcript.text))
}

/// Writes one key of this type and these bytes, and reads it.
#[track_caller]
pub(crate) fn one(version: Version, code: u8, bytes: &[u8]) -> String {
    read(&snapshot(version, code, bytes)).unwrap().1
}

pub(crate) fn snapshot(version: Version, code: u8, bytes: &[u8]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), version).unwrap();
    writer.key(b"k", &Attributes::default(), &Content::Raw(code, bytes)).unwrap();
    writer.finish().unwrap()
}
