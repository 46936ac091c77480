//! Why a key belongs to no definition, in words.

use crate::output::{ERROR, HELP, printable};
use keyward_fact::thousands;
use keyward_pattern::Keyspace;
use keyward_schema::model::Definition;
use keyward_schema::{Neighbour, Neighbours, NothingNear, Parting, Schema};
use serde_json::{Value, json};

/// The message about an unknown key.
pub(super) fn describe(key: &[u8], schemas: &[Schema], keyspaces: &[Keyspace]) -> String {
    let help = match Neighbours::new(schemas, keyspaces).nearest(key) {
        Ok(near) => {
            let (name, pattern) = (&near.definition.name.value, pattern_of(&near));
            format!("the nearest definition is `{name}`, `{pattern}`: {}", reason(&near))
        }
        Err(NothingNear::Prefix(prefix)) => {
            format!("every key of this keyspace starts with `{prefix}`")
        }
        Err(NothingNear::Word(word)) => {
            format!("no pattern has the word `{}` at this position", shown(word.as_bytes()))
        }
        Err(_) => "the schema declares no keys yet".to_owned(),
    };
    let (error, key) = (ERROR.on("error"), shown(key));
    format!("{error}: no definition matches the key `{key}`\n{}: {help}\n", HELP.on("help"))
}

/// The same for programs; `null` where no definition is near.
pub(super) fn object(key: &[u8], schemas: &[Schema], keyspaces: &[Keyspace]) -> Value {
    match Neighbours::new(schemas, keyspaces).nearest(key) {
        Ok(near) => json!({
            "definition": near.definition.name.value,
            "pattern": pattern_of(&near),
            "segment": near.segment,
            "reason": reason(&near),
        }),
        Err(_) => Value::Null,
    }
}

/// A definition's whole pattern, prefix included.
pub(super) fn pattern(definition: &Definition, schema: &Schema) -> String {
    let prefix = schema.keyspace.prefix.as_ref().map_or("", |prefix| prefix.as_str());
    format!("{prefix}{}", definition.pattern.as_str())
}

fn pattern_of(near: &Neighbour<'_>) -> String {
    pattern(near.definition, near.schema)
}

/// What is wrong at each segment that does not fit.
fn reason(near: &Neighbour<'_>) -> String {
    let others = near.also.iter().map(|(at, parting)| reason_at(*at, parting));
    let all: Vec<String> =
        std::iter::once(reason_at(near.segment, &near.parting)).chain(others).collect();
    all.join(", and ")
}

fn reason_at(at: usize, parting: &Parting) -> String {
    match parting {
        Parting::Word { found, expected } => {
            format!("segment {at} is `{}`, not `{expected}`", shown(found.as_bytes()))
        }
        Parting::RawAddress { address } => {
            let digits = address.to_bits();
            format!("`{address}` is a raw IPv6 address: in a key, write `{digits:032x}`")
        }
        Parting::Braces { tagged } => {
            let tagged = shown(tagged.as_bytes());
            format!("the braces of the hash tag are missing: write `{tagged}`")
        }
        Parting::Value { why: Some(why), .. } => why.clone(),
        Parting::Value { expected, found, .. } => {
            format!("segment {at}, `{}`, does not fit `{expected}`", shown(found.as_bytes()))
        }
        Parting::Short { expected } => format!("it ends where `{expected}` is expected"),
        Parting::Long { found } => {
            format!("segment {at}, `{}`, is one too many", shown(found.as_bytes()))
        }
        Parting::TooLong { len, max } => {
            format!(
                "it has {} bytes, but `max_key_len` allows {}",
                thousands(*len as u64),
                thousands(*max)
            )
        }
        _ => "every segment fits, but not all of them together".to_owned(),
    }
}

/// Bytes of a key as they are shown in a message.
fn shown(bytes: &[u8]) -> String {
    const SHOWN: usize = 80;
    let text = String::from_utf8_lossy(bytes);
    let mut start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    printable(&start)
}
