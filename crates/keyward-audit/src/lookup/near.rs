//! Why a key belongs to no definition.

use keyward_fact::visible;
use keyward_pattern::Keyspace;
use keyward_rules::judge;
use keyward_schema::model::Definition;
use keyward_schema::{Neighbour, Neighbours, NothingNear, Parting, Schema};

/// The definition that was perhaps meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// The keyspace's name
    pub keyspace: String,
    /// The definition
    pub definition: String,
    /// Its whole pattern, prefix included
    pub pattern: String,
    /// The first segment that does not fit
    pub segment: usize,
    /// Where they part, in words that may hold parts of the key
    pub reason: String,
}

/// The definition that is nearest to an unknown key.
///
/// # Errors
/// If none is near: why, in a sentence without a full stop.
pub fn nearest(key: &[u8], schemas: &[Schema], keyspaces: &[Keyspace]) -> Result<Near, String> {
    match Neighbours::new(schemas, keyspaces).nearest(key) {
        Ok(near) => Ok(Near {
            keyspace: near.schema.keyspace.name.value.clone(),
            definition: near.definition.name.value.clone(),
            pattern: pattern(near.definition, near.schema),
            segment: near.segment,
            reason: reason(&near),
        }),
        Err(NothingNear::Prefix(prefix)) => {
            Err(format!("every key of this keyspace starts with `{prefix}`"))
        }
        Err(NothingNear::Word(word)) => {
            Err(format!("no pattern has the word `{}` at this position", shown(word.as_bytes())))
        }
        Err(_) => Err("the schema declares no keys yet".to_owned()),
    }
}

/// A definition's whole pattern, prefix included.
pub(super) fn pattern(definition: &Definition, schema: &Schema) -> String {
    let prefix = schema.keyspace.prefix.as_ref().map_or("", |prefix| prefix.as_str());
    format!("{prefix}{}", definition.pattern.as_str())
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
pub fn shown(bytes: &[u8]) -> String {
    const SHOWN: usize = 80;
    let text = String::from_utf8_lossy(bytes);
    let mut start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    visible(&start).into_owned()
}
