//! Lengths and elements of values, which makes keys look used unless the server is told otherwise.

use keyward_fact::{Element, Excerpt, Expiry, Fact, KeyType, Show};

use super::connection::{Connection, Reply, write_command};
use super::error::Fault;
use super::lookup::{Row, is_about_the_key, refused};
use super::shape;
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
    /// Whether the TTLs of a hash's fields are wanted
    field_ttls: bool,
    /// Whether elements can be asked for before the length is known
    at_once: bool,
}

impl Wish {
    pub(super) fn new(row: &Row, show: Show, elements: usize) -> Self {
        let at_once = match row.key_type {
            // As many bytes as were asked for, however long it is.
            Some(KeyType::String) => true,
            _ => row.bytes.is_some_and(|bytes| bytes <= READ),
        };
        let field_ttls = show.field_ttls() && row.key_type == Some(KeyType::Hash);
        Wish { limit: show.limit(), elements, field_ttls, at_once }
    }

    /// Writes the commands, and says how many.
    pub(super) fn write(self, name: &[u8], row: &Row, out: &mut Vec<u8>) -> u64 {
        let Some(length) = length_command(row) else { return 0 };
        write_command(out, &[length.as_bytes(), name]);
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
            Some(KeyType::Stream) => {
                write_command(out, &[b"XRANGE", name, b"-", b"+", b"COUNT", count]);
            }
            _ => return false,
        }
        true
    }

    /// Writes the command for the TTLs of the fields that were read, if there are any.
    fn write_ttls(self, name: &[u8], found: &Found, out: &mut Vec<u8>) -> bool {
        let names: Vec<&[u8]> = match &found.elements {
            Reply::Array(reply) if self.field_ttls => match &reply[..] {
                [_, Reply::Array(pairs)] => pairs.iter().step_by(2).filter_map(bytes).collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        if names.is_empty() {
            return false;
        }
        let count = names.len().to_string();
        let command: [&[u8]; 4] = [b"HPTTL", name, b"FIELDS", count.as_bytes()];
        write_command(out, &[&command[..], &names[..]].concat());
        true
    }

    /// Reads the replies.
    pub(super) fn read(self, connection: &mut Connection, row: &Row) -> Result<Found, Fault> {
        let mut found = Found::default();
        let Some(length) = length_command(row) else { return Ok(found) };
        if let Reply::Integer(length) = answer(connection, &mut found, length)? {
            found.length = u64::try_from(length).ok();
        }
        if self.at_once && self.write_elements(b"", row, &mut Vec::new()) {
            found.elements = answer(connection, &mut found, elements_command(row))?;
        }
        Ok(found)
    }

    /// Writes the command for a few of a large collection's elements, once its length is known, unless each
    /// of them may be large; or for the TTLs of fields that were read. Says whether there is one.
    pub(super) fn write_rest(
        mut self,
        name: &[u8],
        row: &Row,
        found: &Found,
        out: &mut Vec<u8>,
    ) -> bool {
        if self.at_once {
            return self.write_ttls(name, found, out);
        }
        let Some(length @ 1..) = found.length else { return false };
        // Where the bytes are not known, a text that is too large is left out when it comes.
        if let Some(bytes) = row.bytes {
            let fit = READ / (bytes / length).max(1);
            self.elements = self.elements.min(usize::try_from(fit).unwrap_or(usize::MAX));
        }
        self.elements > 0 && self.write_elements(name, row, out)
    }

    /// Reads the reply to that.
    pub(super) fn read_rest(
        connection: &mut Connection,
        row: &Row,
        found: &mut Found,
    ) -> Result<(), Fault> {
        if matches!(found.elements, Reply::Nil) {
            found.elements = answer(connection, found, elements_command(row))?;
            return Ok(());
        }
        found.ttls = match connection.reply()? {
            // Before Redis 7.4 and Valkey 9, no field has a TTL.
            Reply::Error(reply) if reply.starts_with("ERR unknown") => FieldTtls::None,
            Reply::Error(reply) => {
                if reply.starts_with("NOPERM") {
                    found.refused.get_or_insert(reply);
                }
                FieldTtls::Unseen
            }
            Reply::Array(ttls) => FieldTtls::Each(ttls),
            _ => FieldTtls::Unseen,
        };
        Ok(())
    }

    /// Whether elements were wanted.
    pub(super) fn is_for_elements(self) -> bool {
        self.limit.is_some()
    }

    /// Tells an observer of the elements, and says whether these are all.
    pub(super) fn tell(
        self,
        found: &Found,
        row: &Row,
        clock: u64,
        observer: &mut impl Observer,
    ) -> bool {
        let Some(limit) = self.limit else { return true };
        match (&row.key_type, &found.elements) {
            (Some(KeyType::String), Reply::Bytes(text)) => {
                let len = found.length.unwrap_or(text.len() as u64).max(text.len() as u64);
                observer.element(&Element::Text(Excerpt::new(text, len)));
                true
            }
            (Some(KeyType::Hash | KeyType::Set), Reply::Array(reply)) => {
                let [Reply::Bytes(cursor), Reply::Array(elements)] = &reply[..] else {
                    return false;
                };
                let expiry = |at| found.ttls.expiry(at, clock);
                tell_all(row, elements, limit, expiry, observer);
                cursor == b"0" && !elements.contains(&Reply::Skipped)
            }
            (Some(KeyType::Stream), Reply::Array(entries)) => {
                let told = tell_entries(entries, limit, observer);
                found.length.is_some_and(|length| told >= length)
            }
            (Some(_), Reply::Array(elements)) => {
                let shown = tell_all(row, elements, limit, |_| Expiry::Unseen, observer);
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
    ttls: FieldTtls,
    /// Whether the key has another type by now
    pub(super) is_gone: bool,
    /// The first refusal that was not about this one key
    pub(super) refused: Option<String>,
    /// Whether elements were asked for once the length was known
    pub(super) asked: bool,
}

impl Found {
    /// Whether the server broke off before as many elements as were asked for. Its tables are a tenth full at
    /// the least, and it looks at ten times as many buckets as elements are asked for.
    pub(super) fn is_broken_off(&self, wish: Wish, row: &Row) -> bool {
        let Reply::Array(reply) = &self.elements else { return false };
        let [Reply::Bytes(cursor), Reply::Array(elements)] = &reply[..] else { return false };
        let each = if row.key_type == Some(KeyType::Hash) { 2 } else { 1 };
        let wanted = self.length.unwrap_or(u64::MAX).min(wish.elements as u64);
        let is_whole_wish = wish.at_once || row.bytes.is_none();
        cursor != b"0" && is_whole_wish && ((elements.len() / each) as u64) < wanted
    }
}

impl Default for Found {
    fn default() -> Self {
        Found {
            length: None,
            elements: Reply::Nil,
            ttls: FieldTtls::Unseen,
            is_gone: false,
            refused: None,
            asked: false,
        }
    }
}

/// The TTLs of the fields that were read, in their order.
#[derive(Debug)]
enum FieldTtls {
    Unseen,
    /// The server has none
    None,
    Each(Vec<Reply>),
}

impl FieldTtls {
    fn expiry(&self, at: usize, clock: u64) -> Expiry {
        match self {
            FieldTtls::Unseen => Expiry::Unseen,
            FieldTtls::None => Expiry::Never,
            FieldTtls::Each(ttls) => match ttls.get(at) {
                Some(Reply::Integer(-1)) => Expiry::Never,
                Some(Reply::Integer(ttl)) => match u64::try_from(*ttl) {
                    Ok(ttl) => Expiry::At(clock.saturating_add(ttl)),
                    // It went meanwhile.
                    Err(_) => Expiry::Unseen,
                },
                _ => Expiry::Unseen,
            },
        }
    }
}

fn length_command(row: &Row) -> Option<&'static str> {
    Some(match row.key_type.as_ref()? {
        KeyType::String => "STRLEN",
        KeyType::Hash => "HLEN",
        KeyType::List => "LLEN",
        KeyType::Set => "SCARD",
        KeyType::Zset => "ZCARD",
        KeyType::Stream => "XLEN",
        _ => return None,
    })
}

fn elements_command(row: &Row) -> &'static str {
    match row.key_type {
        Some(KeyType::Hash) => "HSCAN",
        Some(KeyType::Set) => "SSCAN",
        Some(KeyType::List) => "LRANGE",
        Some(KeyType::Zset) => "ZRANGE",
        Some(KeyType::Stream) => "XRANGE",
        _ => "GETRANGE",
    }
}

/// A reply, or nothing where the server refuses.
fn answer(connection: &mut Connection, found: &mut Found, command: &str) -> Result<Reply, Fault> {
    match connection.reply()? {
        Reply::Error(reply) => {
            if reply.starts_with("NOPERM") || reply.starts_with("ERR unknown") {
                found.refused.get_or_insert(reply);
            } else if reply.starts_with("WRONGTYPE") {
                found.is_gone = true;
            } else if !is_about_the_key(reply.as_bytes()) {
                return Err(refused(connection, "a command for a value"));
            }
            Ok(Reply::Nil)
        }
        reply if shape::is(command, &reply) => Ok(reply),
        other => Err(connection.odd(command, &other.kind())),
    }
}

fn bytes(reply: &Reply) -> Option<&[u8]> {
    match reply {
        Reply::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

/// Tells of each entry of a stream, and says how many there were.
fn tell_entries(entries: &[Reply], limit: usize, observer: &mut impl Observer) -> u64 {
    let mut told = 0;
    for entry in entries {
        let Reply::Array(entry) = entry else { continue };
        let [_, Reply::Array(fields)] = &entry[..] else { continue };
        observer.element(&Element::Entry);
        for pair in fields.chunks_exact(2) {
            let [Reply::Bytes(name), Reply::Bytes(value)] = pair else { continue };
            let (name, value) = (Excerpt::up_to(limit, name), Excerpt::up_to(limit, value));
            observer.element(&Element::Field { name, value, expiry: Expiry::Never });
        }
        told += 1;
    }
    told
}

/// Tells of each element, and says how many there were.
fn tell_all(
    row: &Row,
    elements: &[Reply],
    limit: usize,
    expiry: impl Fn(usize) -> Expiry,
    observer: &mut impl Observer,
) -> u64 {
    let mut told = 0;
    match row.key_type {
        Some(KeyType::Hash | KeyType::Zset) => {
            for (at, pair) in elements.chunks_exact(2).enumerate() {
                let [Reply::Bytes(name), Reply::Bytes(value)] = pair else { continue };
                if let Some(KeyType::Hash) = row.key_type {
                    let (name, value) = (Excerpt::up_to(limit, name), Excerpt::up_to(limit, value));
                    observer.element(&Element::Field { name, value, expiry: expiry(at) });
                } else {
                    let score =
                        std::str::from_utf8(value).ok().and_then(|score| score.parse().ok());
                    let member = Excerpt::up_to(limit, name);
                    observer.element(&Element::Scored { member, score: score.unwrap_or(f64::NAN) });
                }
                told += 1;
            }
        }
        _ => {
            for element in elements.iter().filter_map(bytes) {
                let excerpt = Excerpt::up_to(limit, element);
                observer.element(&match row.key_type {
                    Some(KeyType::Set) => Element::Member(excerpt),
                    _ => Element::Item(excerpt),
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
