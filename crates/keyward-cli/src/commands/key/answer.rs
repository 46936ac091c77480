//! What there is to say about a key in one line, written fast: `key parse -` answers for millions.
//!
//! Everything that does not depend on the key is put together before the first one comes.

use keyward_pattern::{DefinitionId, Keyspace, Template, owner_of, slot};
use memchr::memchr;
use std::borrow::Cow;

/// How many places of a key are tried as the beginning of a derived key. More than one occurs only
/// where a prefix has parameters that contain `~`.
const MAX_TRIES: usize = 8;

/// Answers for the keys of one or several keyspaces.
#[derive(Debug)]
pub(super) struct Answerer {
    keyspaces: Vec<Prepared>,
    form: Form,
}

/// What an answer looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The definition and `param=value`, separated by tabs; `-` for an unknown key
    Text,
    /// A JSON object
    Json,
}

#[derive(Debug)]
struct Prepared {
    keyspace: Keyspace,
    prefix: Prefix,
    definitions: Vec<Words>,
}

/// What every key starts with.
#[derive(Debug)]
enum Prefix {
    Fixed(String),
    /// With parameters that are not bound, as a keyspace of its own
    Open(Box<Keyspace>),
}

/// What an answer says in any case.
#[derive(Debug)]
struct Words {
    opening: Box<[u8]>,
    params: Vec<Box<[u8]>>,
}

/// A key that belongs to a definition, itself or through its owner.
pub(super) struct Found<'k> {
    /// Which of the keyspaces
    pub(super) keyspace: usize,
    pub(super) definition: DefinitionId,
    /// The owner's key and the word, if this one is derived
    pub(super) derived: Option<(&'k str, &'k str)>,
}

impl Answerer {
    /// Prepares answers; `names` are those of the keyspaces.
    pub(super) fn new(keyspaces: &[Keyspace], names: &[&str], form: Form) -> Self {
        let several = keyspaces.len() > 1;
        let prepared = keyspaces.iter().zip(names).map(|(keyspace, name)| Prepared {
            keyspace: keyspace.clone(),
            prefix: Prefix::of(keyspace),
            definitions: keyspace
                .definitions()
                .map(|definition| {
                    let params = definition.params().iter().map(|(param, _)| param.as_str());
                    match form {
                        Form::Text => {
                            Words::text(several.then_some(name), definition.name(), params)
                        }
                        Form::Json => Words::json(name, definition.name(), params),
                    }
                })
                .collect(),
        });
        Answerer { keyspaces: prepared.collect(), form }
    }

    /// Finds the definition of a key, and the values of its parameters.
    pub(super) fn find<'k>(
        &self,
        key: &'k [u8],
        values: &mut Vec<Cow<'k, str>>,
    ) -> Option<Found<'k>> {
        for (number, prepared) in self.keyspaces.iter().enumerate() {
            if let Some(definition) = prepared.keyspace.parse_into(key, values) {
                return Some(Found { keyspace: number, definition, derived: None });
            }
        }
        memchr(b'~', key)?;
        let key = str::from_utf8(key).ok()?;
        for (number, prepared) in self.keyspaces.iter().enumerate() {
            if let Some((owner, word)) = prepared.prefix.owner_of(key)
                && let Some(definition) = prepared.keyspace.parse_into(owner.as_bytes(), values)
            {
                return Some(Found { keyspace: number, definition, derived: Some((owner, word)) });
            }
        }
        None
    }

    /// Writes the answer for a key, and says whether it is known.
    pub(super) fn answer<'k>(
        &self,
        key: &'k [u8],
        values: &mut Vec<Cow<'k, str>>,
        out: &mut Vec<u8>,
    ) -> bool {
        let found = self.find(key, values);
        match self.form {
            Form::Text => self.text(found.as_ref(), values, out),
            Form::Json => self.json(key, found.as_ref(), values, out),
        }
        out.push(b'\n');
        found.is_some()
    }

    fn words(&self, found: &Found<'_>) -> &Words {
        &self.keyspaces[found.keyspace].definitions[found.definition.index()]
    }

    fn text(&self, found: Option<&Found<'_>>, values: &[Cow<'_, str>], out: &mut Vec<u8>) {
        let Some(found) = found else { return out.push(b'-') };
        let words = self.words(found);
        out.extend_from_slice(&words.opening);
        if let Some((_, word)) = found.derived {
            out.push(b'~');
            out.extend_from_slice(word.as_bytes());
        }
        for (param, value) in words.params.iter().zip(values) {
            out.extend_from_slice(param);
            escape_text(value, out);
        }
    }

    fn json(
        &self,
        key: &[u8],
        found: Option<&Found<'_>>,
        values: &[Cow<'_, str>],
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(b"{\"key\":\"");
        if let Ok(text) = str::from_utf8(key) {
            escape_json(text, out);
        } else {
            escape_json(&String::from_utf8_lossy(key), out);
            out.extend_from_slice(b"\",\"key_hex\":\"");
            out.extend(key.iter().flat_map(|byte| [hex(byte >> 4), hex(byte & 15)]));
        }
        if let Some(found) = found {
            let words = self.words(found);
            out.extend_from_slice(&words.opening);
            for (param, value) in words.params.iter().zip(values) {
                out.extend_from_slice(param);
                escape_json(value, out);
                out.push(b'"');
            }
            out.push(b'}');
            if let Some((owner, word)) = found.derived {
                out.extend_from_slice(b",\"derived\":{\"word\":\"");
                escape_json(word, out);
                out.extend_from_slice(b"\",\"owner\":\"");
                escape_json(owner, out);
                out.extend_from_slice(b"\"}");
            }
        } else {
            out.extend_from_slice(b"\",\"keyspace\":null,\"definition\":null,\"params\":null");
        }
        out.extend_from_slice(b",\"slot\":");
        decimal(slot(key), out);
        out.push(b'}');
    }
}

impl Words {
    fn text<'a>(
        keyspace: Option<&&str>,
        definition: &str,
        params: impl Iterator<Item = &'a str>,
    ) -> Self {
        let opening = match keyspace {
            Some(keyspace) => format!("{keyspace}/{definition}"),
            None => definition.to_owned(),
        };
        Words {
            opening: opening.into_bytes().into(),
            params: params.map(|param| format!("\t{param}=").into_bytes().into()).collect(),
        }
    }

    fn json<'a>(keyspace: &str, definition: &str, params: impl Iterator<Item = &'a str>) -> Self {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let opening = format!(
            "\",\"keyspace\":{},\"definition\":{},\"params\":{{",
            quoted(keyspace),
            quoted(definition)
        );
        let param = |(number, param): (usize, &str)| {
            let comma = if number == 0 { "" } else { "," };
            format!("{comma}{}:\"", quoted(param)).into_bytes().into()
        };
        Words {
            opening: opening.into_bytes().into(),
            params: params.enumerate().map(param).collect(),
        }
    }
}

impl Prefix {
    fn of(keyspace: &Keyspace) -> Self {
        let Some(template) = keyspace.prefix() else { return Prefix::Fixed(String::new()) };
        match template.parts() {
            [] => Prefix::Fixed(String::new()),
            [keyward_pattern::Part::Literal(text)] => Prefix::Fixed(text.clone()),
            _ => Prefix::alone(keyspace, template).map_or_else(
                || Prefix::Fixed(String::new()),
                |alone| Prefix::Open(Box::new(alone)),
            ),
        }
    }

    fn alone(keyspace: &Keyspace, template: &Template) -> Option<Keyspace> {
        let params = keyspace.definitions().next()?.params();
        let mut builder = Keyspace::builder(keyspace.separator().into()).ok()?;
        builder.define("prefix", template, |name| {
            params.iter().find(|(param, _)| param == name).map(|(_, param)| param.clone())
        });
        builder.finish().ok()
    }

    /// The owner's key and the word of a derived key.
    fn owner_of<'k>(&self, key: &'k str) -> Option<(&'k str, &'k str)> {
        match self {
            Prefix::Fixed(prefix) => owner_of(prefix, key),
            Prefix::Open(alone) => {
                let starts = memchr::memchr_iter(b'~', key.as_bytes()).take(MAX_TRIES);
                let mut prefixes = starts.map(|at| &key[..at]);
                prefixes.find_map(|prefix| {
                    let (owner, word) = owner_of(prefix, key)?;
                    // The key with a tag of its own has no prefix before the `~`.
                    let bound = alone.classify(prefix.as_bytes()).is_some();
                    (owner.starts_with(prefix) && (bound || owner == prefix))
                        .then_some((owner, word))
                })
            }
        }
    }
}

/// Writes a value so that it stays in its column: control characters and backslashes escaped.
fn escape_text(value: &str, out: &mut Vec<u8>) {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'\\' && byte != 0x7f;
    if all(value, is_plain) {
        return out.extend_from_slice(value.as_bytes());
    }
    for byte in value.bytes() {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            byte if is_plain(byte) => out.push(byte),
            byte => out.extend_from_slice(&[b'\\', b'x', hex(byte >> 4), hex(byte & 15)]),
        }
    }
}

/// Writes the inside of a JSON string.
fn escape_json(value: &str, out: &mut Vec<u8>) {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'\\' && byte != b'"';
    if all(value, is_plain) {
        return out.extend_from_slice(value.as_bytes());
    }
    for byte in value.bytes() {
        match byte {
            b'\\' | b'"' => out.extend_from_slice(&[b'\\', byte]),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            byte if is_plain(byte) => out.push(byte),
            byte => {
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]);
            }
        }
    }
}

/// Like `Iterator::all`, but looks at every byte, many at a time.
fn all(text: &str, is_good: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(true, |good, byte| good & is_good(byte))
}

fn hex(digit: u8) -> u8 {
    b"0123456789abcdef"[usize::from(digit)]
}

fn decimal(number: u16, out: &mut Vec<u8>) {
    let mut digits = [0; 5];
    let (mut at, mut left) = (digits.len(), number);
    loop {
        at -= 1;
        digits[at] = b"0123456789"[usize::from(left % 10)];
        left /= 10;
        if left == 0 {
            return out.extend_from_slice(&digits[at..]);
        }
    }
}
