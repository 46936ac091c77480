//! Why a key belongs to no definition, in words.

use crate::output::{ERROR, HELP, printable};
use keyward_pattern::Keyspace;
use keyward_rules::judge;
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
    judge::unknown_key(at, parting, |found| shown(found.as_bytes()))
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
