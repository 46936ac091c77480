//! Many arguments of a command, without an allocation for each.

use redis::{RedisWrite, ToRedisArgs};
use std::io::Write as _;

/// Arguments, one after the other.
#[derive(Debug, Default)]
pub(super) struct Args {
    bytes: Vec<u8>,
    /// Where each of them ends
    ends: Vec<usize>,
}

impl Args {
    pub(super) fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(self.bytes.len());
    }

    pub(super) fn texts<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        texts.into_iter().for_each(|text| self.text(text));
    }

    pub(super) fn number(&mut self, number: u64) {
        // Writing to memory does not fail.
        _ = write!(self.bytes, "{number}");
        self.ends.push(self.bytes.len());
    }

    pub(super) fn place(&mut self, place: usize) {
        self.number(place as u64);
    }

    /// One argument that is these texts, without anything between them.
    pub(super) fn joined(&mut self, parts: &[&str]) {
        for part in parts {
            self.bytes.extend_from_slice(part.as_bytes());
        }
        self.ends.push(self.bytes.len());
    }

    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.bytes[begin..*end])
    }

    /// Those from one place to before another.
    pub(super) fn append(&mut self, other: &Args, from: usize, to: usize) {
        for arg in other.iter().skip(from).take(to - from) {
            self.bytes.extend_from_slice(arg);
            self.ends.push(self.bytes.len());
        }
    }
}

impl ToRedisArgs for Args {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        self.iter().for_each(|arg| out.write_arg(arg));
    }

    fn num_of_args(&self) -> usize {
        self.count()
    }
}
