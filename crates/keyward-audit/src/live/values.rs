//! Lengths and elements of values, which makes keys look used unless the server is told otherwise.

use std::collections::HashSet;

use keyward_fact::{Element, Excerpt, Expiry, Fact, KeyType, Show};

use super::connection::{Connection, Reply, write_command};
use super::error::Fault;
use super::lookup::{Row, is_about_the_key, refused};
use super::seen::Refused;
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

    /// Writes what is asked once the length is known: some elements of a large collection, unless each of them
    /// may be large, or the TTLs of fields that were read. Gives the commands.
    pub(super) fn write_rest(
        mut self,
        name: &[u8],
        row: &Row,
        found: &Found,
        out: &mut Vec<u8>,
    ) -> Vec<&'static str> {
        let (Some(_), Some(length @ 1..)) = (self.limit, found.length) else { return Vec::new() };
        if !self.at_once {
            let Some(bytes) = row.bytes else { return Vec::new() };
            let fit = READ / (bytes / length).max(1);
            self.elements = self.elements.min(usize::try_from(fit).unwrap_or(usize::MAX));
        }
        let is_large = length > self.elements as u64;
        match row.key_type {
            _ if self.elements == 0 => Vec::new(),
            Some(KeyType::Hash) if self.at_once => {
                self.write_ttls(name, found, out).then_some("HPTTL").into_iter().collect()
            }
            Some(KeyType::List | KeyType::Zset) if is_large => {
                let command = elements_command(row);
                let ranges = self.ranges(length);
                for (first, last) in &ranges {
                    let (first, last) = (first.to_string(), last.to_string());
                    let mut args =
                        vec![command.as_bytes(), name, first.as_bytes(), last.as_bytes()];
                    args.extend((command == "ZRANGE").then_some(&b"WITHSCORES"[..]));
                    write_command(out, &args);
                }
                vec![command; ranges.len()]
            }
            Some(KeyType::Stream) if is_large => self.write_stream(name, length, found, out),
            _ if self.at_once => Vec::new(),
            _ if self.write_elements(name, row, out) => vec![elements_command(row)],
            _ => Vec::new(),
        }
    }

    /// The first and the last place of what is read of a large list or sorted set: its first elements, if they
    /// were not read yet, some of its middle, and its last.
    fn ranges(self, length: u64) -> Vec<(u64, u64)> {
        let most = self.elements as u64;
        let (read, piece) = if self.at_once { (most, most / 2) } else { (0, most.div_ceil(3)) };
        let head = if self.at_once { 0..0 } else { 0..piece.min(length) };
        let start = (length / 2).saturating_sub(piece / 2).max(read).max(head.end);
        let middle = start..(start + piece).min(length);
        let tail = length.saturating_sub(piece).max(middle.end)..length;
        let some = [head, middle, tail].into_iter().filter(|range| !range.is_empty());
        some.map(|range| (range.start, range.end - 1)).collect()
    }

    /// The same for a stream, whose middle is guessed by the times of the entries that were read.
    fn write_stream(
        self,
        name: &[u8],
        length: u64,
        found: &Found,
        out: &mut Vec<u8>,
    ) -> Vec<&'static str> {
        let count = (self.elements / 2).max(1).to_string();
        let count = count.as_bytes();
        let start = match &found.elements {
            Reply::Array(entries) => middle(entries, length).into_bytes(),
            _ => b"-".to_vec(),
        };
        write_command(out, &[b"XRANGE", name, &start, b"+", b"COUNT", count]);
        write_command(out, &[b"XREVRANGE", name, b"+", b"-", b"COUNT", count]);
        vec!["XRANGE", "XREVRANGE"]
    }

    /// Reads the replies to that.
    pub(super) fn read_rest(connection: &mut Connection, found: &mut Found) -> Result<(), Fault> {
        for command in std::mem::take(&mut found.asked) {
            if command == "HPTTL" {
                Wish::read_ttls(connection, found)?;
                continue;
            }
            let more = answer(connection, found, command)?;
            match (&mut found.elements, more) {
                (Reply::Array(elements), Reply::Array(more)) => elements.extend(more),
                (Reply::Nil, more) => found.elements = more,
                _ => {}
            }
        }
        Ok(())
    }

    fn read_ttls(connection: &mut Connection, found: &mut Found) -> Result<(), Fault> {
        found.ttls = match connection.reply()? {
            // Before Redis 7.4 and Valkey 9, no field has a TTL.
            Reply::Error(reply) if reply.starts_with("ERR unknown") => FieldTtls::None,
            Reply::Error(reply) => {
                if reply.starts_with("NOPERM") {
                    found.refused.denied.insert("HPTTL".to_owned());
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

    /// Tells an observer of the elements, and says how many there were and whether these are all.
    pub(super) fn tell(
        self,
        found: &Found,
        row: &Row,
        clock: u64,
        observer: &mut impl Observer,
    ) -> (u64, bool) {
        let Some(limit) = self.limit else { return (0, true) };
        let is_all = |told: u64| (told, found.length.is_some_and(|length| told >= length));
        match (&row.key_type, &found.elements) {
            (Some(KeyType::String), Reply::Bytes(text)) => {
                let len = found.length.unwrap_or(text.len() as u64).max(text.len() as u64);
                observer.element(&Element::Text(Excerpt::new(text, len)));
                (1, true)
            }
            (Some(KeyType::Hash | KeyType::Set), Reply::Array(reply)) => {
                let [Reply::Bytes(cursor), Reply::Array(elements)] = &reply[..] else {
                    return (0, false);
                };
                let expiry = |at| found.ttls.expiry(at, clock);
                (tell_all(row, elements, limit, expiry, observer), cursor == b"0")
            }
            (Some(KeyType::Stream), Reply::Array(entries)) => {
                is_all(tell_entries(entries, limit, observer))
            }
            (Some(_), Reply::Array(elements)) => {
                is_all(tell_all(row, elements, limit, |_| Expiry::Unseen, observer))
            }
            _ => (0, false),
        }
    }
}

/// What was answered for one value.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) length: Option<u64>,
    elements: Reply,
    ttls: FieldTtls,
    /// Commands that the server refused
    pub(super) refused: Refused,
    /// Whether the key has another type by now
    pub(super) is_gone: bool,
    /// What was asked for once the length was known
    pub(super) asked: Vec<&'static str>,
}

impl Default for Found {
    fn default() -> Self {
        Found {
            length: None,
            elements: Reply::Nil,
            ttls: FieldTtls::Unseen,
            refused: Refused::default(),
            is_gone: false,
            asked: Vec::new(),
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
                    Err(_) => Expiry::At(0),
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
            if reply.starts_with("NOPERM") {
                found.refused.denied.insert(command.to_owned());
            } else if reply.starts_with("ERR unknown") {
                found.refused.unknown.insert(command.to_owned());
            } else if reply.starts_with("WRONGTYPE") {
                found.is_gone = true;
            } else if !is_about_the_key(reply.as_bytes()) {
                return Err(refused(connection, "a command for a value"));
            }
            Ok(Reply::Nil)
        }
        reply => Ok(reply),
    }
}

fn bytes(reply: &Reply) -> Option<&[u8]> {
    match reply {
        Reply::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

/// About where the middle of a stream is, behind what was read of its beginning.
fn middle(entries: &[Reply], length: u64) -> String {
    fn id(entry: &Reply) -> Option<String> {
        let Reply::Array(entry) = entry else { return None };
        Some(String::from_utf8_lossy(bytes(entry.first()?)?).into_owned())
    }
    let time = |id: &str| id.split('-').next().and_then(|time| time.parse::<u64>().ok());
    let first = entries.first().and_then(id).and_then(|id| time(&id));
    let Some(last) = entries.last().and_then(id) else { return "-".to_owned() };
    let after = format!("({last}");
    let (Some(first), Some(until)) = (first, time(&last)) else { return after };
    let passed = u128::from(until.saturating_sub(first)) * u128::from(length / 2);
    let passed = passed / (entries.len() as u128).max(1);
    match first.checked_add(u64::try_from(passed).unwrap_or(u64::MAX)) {
        Some(time) if time > until => time.to_string(),
        _ => after,
    }
}

/// Tells of each entry of a stream, and says how many there were.
fn tell_entries(entries: &[Reply], limit: usize, observer: &mut impl Observer) -> u64 {
    let mut told = 0;
    let mut seen = HashSet::new();
    for entry in entries {
        let Reply::Array(entry) = entry else { continue };
        let [Reply::Bytes(id), Reply::Array(fields)] = &entry[..] else { continue };
        // What was read from both ends may overlap.
        if !seen.insert(id) {
            continue;
        }
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
