//! Everything there is to know about a key, for people.

use super::near;
use crate::output::{BOLD, DIM, printable};
use keyward_audit::lookup::{self, Description, Known, Lookup};
use keyward_pattern::Keyspace;
use keyward_schema::Schema;
use std::borrow::Cow;
use std::fmt::Write as _;

/// What is known about a key of one schema.
pub(in crate::commands) fn describe_key(key: &[u8], schema: &Schema) -> String {
    let keyspaces = std::slice::from_ref(&schema.compiled);
    let schemas = std::slice::from_ref(schema);
    let mut values = Vec::new();
    match Lookup::new(schemas, keyspaces).find(key, &mut values) {
        Some(known) => describe(key, &known, &values, schemas, keyspaces),
        None => near::describe(key, schemas, keyspaces),
    }
}

/// What there is to say about a known key.
pub(super) fn describe(
    key: &[u8],
    known: &Known<'_>,
    values: &[Cow<'_, str>],
    schemas: &[Schema],
    keyspaces: &[Keyspace],
) -> String {
    let Description { name, what, keyspace, mut rows } =
        lookup::describe(key, known, values, schemas, keyspaces);
    if let [_, _, ..] = schemas {
        rows.insert(0, ("keyspace".into(), keyspace));
    }
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = match what {
        Some(what) => format!("{}  {}\n", BOLD.on(&name), DIM.on(what)),
        None => format!("{}\n", BOLD.on(&name)),
    };
    for (name, value) in rows {
        let _ = writeln!(text, "  {name:<width$}  {}", printable(&value));
    }
    text
}
