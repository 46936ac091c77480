//! What there is to say about a key in one line, written fast: `key parse -` answers for millions.
//!
//! Everything that does not depend on the key is put together before the first one comes.

use super::elsewhere::Elsewhere;
use keyward_audit::lookup::{Known, Lookup};
use keyward_fact::{visible, visible_json};
use keyward_pattern::{Keyspace, slot};
use keyward_schema::Schema;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Answers for the keys of one or several keyspaces.
#[derive(Debug)]
pub(super) struct Answerer {
    lookup: Lookup,
    /// Of each keyspace, by the numbers of its definitions
    definitions: Vec<Vec<Words>>,
    elsewhere: Elsewhere,
    form: Form,
}

/// What an answer looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The definition and `param=value`, separated by tabs; `old:definition` for an old name,
    /// `foreign:name` for other software's key, `-` for an unknown one
    Text,
    /// A JSON object
    Json,
}

/// What an answer says in any case.
#[derive(Debug)]
pub(super) struct Words {
    opening: Box<[u8]>,
    params: Vec<Box<[u8]>>,
    closing: Box<[u8]>,
}

impl Answerer {
    /// Prepares answers; the keyspaces are those of the schemas.
    pub(super) fn new(schemas: &[Schema], keyspaces: &[Keyspace], form: Form) -> Self {
        let several = keyspaces.len() > 1;
        let names = schemas.iter().map(|schema| schema.keyspace.name.as_str());
        let definitions = keyspaces.iter().zip(names).map(|(keyspace, name)| {
            let words = keyspace.definitions().map(|definition| {
                let params = definition.params().iter().map(|(param, _)| param.as_str());
                match form {
                    Form::Text if several => {
                        Words::text(&format!("{name}/{}", definition.name()), params)
                    }
                    Form::Text => Words::text(definition.name(), params),
                    Form::Json => Words::json(name, definition.name(), params),
                }
            });
            words.collect()
        });
        Answerer {
            lookup: Lookup::new(schemas, keyspaces),
            definitions: definitions.collect(),
            elsewhere: Elsewhere::new(schemas, form),
            form,
        }
    }

    /// Finds what a key is, and the values of its parameters.
    pub(super) fn look<'k>(
        &self,
        key: &'k [u8],
        values: &mut Vec<Cow<'k, str>>,
    ) -> Option<Known<'k>> {
        self.lookup.find(key, values)
    }

    /// Writes the answer for a key, and says whether it is known.
    pub(super) fn answer<'k>(
        &self,
        key: &'k [u8],
        values: &mut Vec<Cow<'k, str>>,
        out: &mut Vec<u8>,
    ) -> bool {
        let known = self.look(key, values);
        self.write(key, known.as_ref(), values, out);
        known.is_some()
    }

    /// The same for a line, which Windows ends with a carriage return: where the key is unknown with
    /// it and known without, it is not part of the key.
    pub(super) fn answer_line<'k>(
        &self,
        line: &'k [u8],
        values: &mut Vec<Cow<'k, str>>,
        out: &mut Vec<u8>,
    ) -> bool {
        let mut key = line;
        let mut known = self.look(line, values);
        if known.is_none()
            && let Some(without) = line.strip_suffix(b"\r")
        {
            known = self.look(without, values);
            key = if known.is_some() { without } else { line };
        }
        self.write(key, known.as_ref(), values, out);
        known.is_some()
    }

    fn write(
        &self,
        key: &[u8],
        known: Option<&Known<'_>>,
        values: &[Cow<'_, str>],
        out: &mut Vec<u8>,
    ) {
        let words = known.map(|known| match known {
            Known::Defined(found) => &self.definitions[found.keyspace][found.definition.index()],
            Known::Elsewhere(mention) => self.elsewhere.words(*mention),
        });
        let derived = known.and_then(|known| match known {
            Known::Defined(found) => found.derived,
            Known::Elsewhere(_) => None,
        });
        match self.form {
            Form::Text => text(words, derived, values, out),
            Form::Json => json(key, words, derived, values, out),
        }
        out.push(b'\n');
    }
}

fn text(
    words: Option<&Words>,
    derived: Option<(&str, &str)>,
    values: &[Cow<'_, str>],
    out: &mut Vec<u8>,
) {
    let Some(words) = words else { return out.push(b'-') };
    out.extend_from_slice(&words.opening);
    if let Some((_, word)) = derived {
        out.push(b'~');
        out.extend_from_slice(word.as_bytes());
    }
    for (param, value) in words.params.iter().zip(values) {
        out.extend_from_slice(param);
        escape_text(value, out);
    }
}

fn json(
    key: &[u8],
    words: Option<&Words>,
    derived: Option<(&str, &str)>,
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
    if let Some(words) = words {
        out.extend_from_slice(&words.opening);
        for (param, value) in words.params.iter().zip(values) {
            out.extend_from_slice(param);
            escape_json(value, out);
            out.push(b'"');
        }
        out.extend_from_slice(&words.closing);
    } else {
        out.extend_from_slice(b"\",\"keyspace\":null,\"definition\":null,\"params\":null");
    }
    if let Some((owner, word)) = derived {
        out.extend_from_slice(b",\"derived\":{\"word\":\"");
        escape_json(word, out);
        out.extend_from_slice(b"\",\"owner\":\"");
        escape_json(owner, out);
        out.extend_from_slice(b"\"}");
    }
    out.extend_from_slice(b",\"slot\":");
    decimal(slot(key), out);
    out.push(b'}');
}

impl Words {
    pub(super) fn text<'a>(name: &str, params: impl Iterator<Item = &'a str>) -> Self {
        Words {
            opening: name.as_bytes().into(),
            params: params.map(|param| format!("\t{param}=").into_bytes().into()).collect(),
            closing: Box::default(),
        }
    }

    fn json<'a>(keyspace: &str, definition: &str, params: impl Iterator<Item = &'a str>) -> Self {
        Words::object(keyspace, Some(definition), params, "")
    }

    pub(super) fn json_old<'a>(
        keyspace: &str,
        definition: &str,
        migration: &str,
        params: impl Iterator<Item = &'a str>,
    ) -> Self {
        let old = json!({ "definition": definition, "migration": migration });
        Words::object(keyspace, None, params, &format!(",\"old\":{old}"))
    }

    pub(super) fn json_foreign(keyspace: &str, name: &str) -> Self {
        let keyspace = json!(keyspace);
        let opening = format!("\",\"keyspace\":{keyspace},\"definition\":null,\"params\":null");
        Words {
            opening: opening.into_bytes().into(),
            params: Vec::new(),
            closing: format!(",\"foreign\":{}", json!(name)).into_bytes().into(),
        }
    }

    fn object<'a>(
        keyspace: &str,
        definition: Option<&str>,
        params: impl Iterator<Item = &'a str>,
        more: &str,
    ) -> Self {
        let (keyspace, definition) = (json!(keyspace), json!(definition));
        let opening =
            format!("\",\"keyspace\":{keyspace},\"definition\":{definition},\"params\":{{");
        let param = |(number, param): (usize, &str)| {
            let comma = if number == 0 { "" } else { "," };
            format!("{comma}{}:\"", json!(param)).into_bytes().into()
        };
        Words {
            opening: opening.into_bytes().into(),
            params: params.enumerate().map(param).collect(),
            closing: format!("}}{more}").into_bytes().into(),
        }
    }
}

/// Writes a value so that it stays in its column: backslashes and what cannot be seen are escaped.
fn escape_text(value: &str, out: &mut Vec<u8>) {
    if all(value, |byte| matches!(byte, b' '..=b'~') && byte != b'\\') {
        return out.extend_from_slice(value.as_bytes());
    }
    out.extend_from_slice(visible(&value.replace('\\', "\\\\")).as_bytes());
}

/// Writes the inside of a JSON string.
fn escape_json(value: &str, out: &mut Vec<u8>) {
    if all(value, |byte| matches!(byte, b' '..=b'~') && byte != b'\\' && byte != b'"') {
        return out.extend_from_slice(value.as_bytes());
    }
    let quoted = visible_json(Value::from(value).to_string());
    out.extend_from_slice(&quoted.as_bytes()[1..quoted.len() - 1]);
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
