//! Lengths and elements of values, which makes keys look used unless the server is told otherwise.

use keyward_fact::KeyType;
use keyward_fact::{Element, Fact, Piece};

use super::connection::{Connection, Reply, write_command};
use super::error::Fault;
use super::lookup::{Row, is_about_the_key, refused};
use crate::observe::Observer;

/// The most bytes of memory that a value may take for its elements to be read in one go.
pub(super) const READ: u64 = 1024 * 1024;

/// What is wanted of one value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    /// Bytes of each element
    limit: Option<usize>,
    /// Elements, at most
    elements: usize,
    /// Whether elements can be asked for before the length is known
    at_once: bool,
}

impl Wish {
    pub(super) fn new(row: &Row, limit: Option<usize>, elements: usize) -> Self {
        let at_once = match row.key_type {
            // As many bytes as were asked for, however long it is.
            Some(KeyType::String) => true,
            _ => row.bytes.is_some_and(|bytes| bytes <= READ),
        };
        Wish { limit, elements, at_once }
    }

    /// Writes the commands, and says how many.
    pub(super) fn write(self, name: &[u8], row: &Row, out: &mut Vec<u8>) -> u64 {
        let Some(length) = length_command(row) else { return 0 };
        write_command(out, &[length, name]);
        1 + u64::from(self.at_once && self.write_elements(name, row, out))
    }

    /// Writes the command for the elements, if there is one and it is wanted.
    fn write_elements(self, name: &[u8], row: &Row, out: &mut Vec<u8>) -> bool {
        let Some(limit) = self.limit else { return false };
        let last = |count: usize| count.saturating_sub(1).to_string().into_bytes();
        let count = self.elements.to_string();
        let count = count.as_bytes();
        match row.key_type {
            Some(KeyType::String) if limit > 0 => {
                write_command(out, &[b"GETRANGE", name, b"0", &last(limit)]);
            }
            Some(KeyType::Hash) => write_command(out, &[b"HSCAN", name, b"0", b"COUNT", count]),
            Some(KeyType::Set) => write_command(out, &[b"SSCAN", name, b"0", b"COUNT", count]),
            Some(KeyType::List) => {
                write_command(out, &[b"LRANGE", name, b"0", &last(self.elements)]);
            }
            Some(KeyType::Zset) => {
                write_command(out, &[b"ZRANGE", name, b"0", &last(self.elements), b"WITHSCORES"]);
            }
            _ => return false,
        }
        true
    }

    /// Reads the replies.
    pub(super) fn read(self, connection: &mut Connection, row: &Row) -> Result<Found, Fault> {
        let mut found = Found::default();
        if length_command(row).is_none() {
            return Ok(found);
        }
        if let Reply::Integer(length) = answer(connection, &mut found)? {
            found.length = u64::try_from(length).ok();
        }
        if self.at_once && self.write_elements(b"", row, &mut Vec::new()) {
            found.elements = answer(connection, &mut found)?;
        }
        Ok(found)
    }

    /// Writes the command for a few of a large collection's elements, once its length is known, unless each
    /// of them may be large. Says whether there is one.
    pub(super) fn write_rest(
        mut self,
        name: &[u8],
        row: &Row,
        found: &Found,
        out: &mut Vec<u8>,
    ) -> bool {
        let (false, Some(bytes), Some(length @ 1..)) = (self.at_once, row.bytes, found.length)
        else {
            return false;
        };
        let fit = READ / (bytes / length).max(1);
        self.elements = self.elements.min(usize::try_from(fit).unwrap_or(usize::MAX));
        self.elements > 0 && self.write_elements(name, row, out)
    }

    /// Reads the reply to that.
    pub(super) fn read_rest(connection: &mut Connection, found: &mut Found) -> Result<(), Fault> {
        found.elements = answer(connection, found)?;
        Ok(())
    }

    /// Whether elements were wanted.
    pub(super) fn is_for_elements(self) -> bool {
        self.limit.is_some()
    }

    /// Tells an observer of the elements, and says whether these are all.
    pub(super) fn tell(self, found: &Found, row: &Row, observer: &mut impl Observer) -> bool {
        let Some(limit) = self.limit else { return true };
        match (&row.key_type, &found.elements) {
            (Some(KeyType::String), Reply::Bytes(text)) => {
                let len = found.length.unwrap_or(text.len() as u64).max(text.len() as u64);
                observer.element(&Element::Text(Piece::new(text, len)));
                true
            }
            (Some(KeyType::Hash | KeyType::Set), Reply::Array(reply)) => {
                let [Reply::Bytes(cursor), Reply::Array(elements)] = &reply[..] else {
                    return false;
                };
                tell_all(row, elements, limit, observer);
                cursor == b"0"
            }
            (Some(_), Reply::Array(elements)) => {
                let shown = tell_all(row, elements, limit, observer);
                found.length.is_some_and(|length| shown >= length)
            }
            _ => false,
        }
    }
}

/// What was answered for one value.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) length: Option<u64>,
    elements: Reply,
    /// The first refusal that was not about this one key
    pub(super) refused: Option<String>,
    /// Whether elements were asked for once the length was known
    pub(super) asked: bool,
}

impl Default for Found {
    fn default() -> Self {
        Found { length: None, elements: Reply::Nil, refused: None, asked: false }
    }
}

fn length_command(row: &Row) -> Option<&'static [u8]> {
    Some(match row.key_type.as_ref()? {
        KeyType::String => b"STRLEN",
        KeyType::Hash => b"HLEN",
        KeyType::List => b"LLEN",
        KeyType::Set => b"SCARD",
        KeyType::Zset => b"ZCARD",
        KeyType::Stream => b"XLEN",
        _ => return None,
    })
}

/// A reply, or nothing where the server refuses.
fn answer(connection: &mut Connection, found: &mut Found) -> Result<Reply, Fault> {
    match connection.reply()? {
        Reply::Error(reply) => {
            if reply.starts_with("NOPERM") || reply.starts_with("ERR unknown") {
                found.refused.get_or_insert(reply);
            } else if !is_about_the_key(reply.as_bytes()) {
                return Err(refused(connection, "a command for a value"));
            }
            Ok(Reply::Nil)
        }
        reply => Ok(reply),
    }
}

/// Tells of each element, and says how many there were.
fn tell_all(row: &Row, elements: &[Reply], limit: usize, observer: &mut impl Observer) -> u64 {
    let piece = |reply: &'_ Reply| match reply {
        Reply::Bytes(bytes) => Some(bytes.clone()),
        _ => None,
    };
    let mut told = 0;
    match row.key_type {
        Some(KeyType::Hash | KeyType::Zset) => {
            for pair in elements.chunks_exact(2) {
                let [Reply::Bytes(name), Reply::Bytes(value)] = pair else { continue };
                if let Some(KeyType::Hash) = row.key_type {
                    let (name, value) = (Piece::up_to(limit, name), Piece::up_to(limit, value));
                    observer.element(&Element::Field { name, value, expires_at: None });
                } else {
                    let score =
                        std::str::from_utf8(value).ok().and_then(|score| score.parse().ok());
                    let member = Piece::up_to(limit, name);
                    observer.element(&Element::Scored { member, score: score.unwrap_or(f64::NAN) });
                }
                told += 1;
            }
        }
        _ => {
            for element in elements.iter().filter_map(piece) {
                let piece = Piece::up_to(limit, &element);
                observer.element(&match row.key_type {
                    Some(KeyType::Set) => Element::Member(piece),
                    _ => Element::Item(piece),
                });
                told += 1;
            }
        }
    }
    told
}

/// A key as observers know it, before its elements were read.
pub(super) fn fact<'a>(
    db: u64,
    key: &'a [u8],
    row: &Row,
    key_type: &'a KeyType,
    clock: u64,
) -> Fact<'a> {
    Fact {
        expires_at: row.ttl.map(|ttl| clock.saturating_add(ttl)),
        idle: row.idle,
        freq: row.freq,
        encoding: row.encoding,
        bytes: row.bytes,
        ..Fact::new(db, key, key_type)
    }
}
