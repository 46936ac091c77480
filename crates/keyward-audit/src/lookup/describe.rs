//! Everything there is to know about a known key from its schema, as rows.

use super::near::pattern;
use super::{Found, Known, Mention};
use keyward_pattern::{Keyspace, Param, slot};
use keyward_schema::{OldNames, Schema};
use std::borrow::Cow;

/// What there is to say about a known key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The definition, or the foreign software
    pub name: String,
    /// What it is if not a definition's key: `an old name`, `foreign, other software's`
    pub what: Option<&'static str>,
    /// The keyspace's name
    pub keyspace: String,
    /// What stands beside what: parameters first, prose last
    pub rows: Vec<(Cow<'static, str>, String)>,
}

type Rows = Vec<(Cow<'static, str>, String)>;

/// Describes a known key.
pub fn describe(
    key: &[u8],
    known: &Known<'_>,
    values: &[Cow<'_, str>],
    schemas: &[Schema],
    keyspaces: &[Keyspace],
) -> Description {
    let (number, name, what, mut rows) = match *known {
        Known::Defined(ref found) => {
            let name = keyspaces[found.keyspace].definition(found.definition).name().to_owned();
            (found.keyspace, name, None, defined(found, values, schemas, keyspaces))
        }
        Known::Elsewhere(Mention::Old { schema, names, rename }) => {
            let names = schemas[schema].old_names_by_db().swap_remove(names);
            let name = names.renames[rename].1.definition.as_str().to_owned();
            let rows = old(key, &names, rename, values, &schemas[schema]);
            (schema, name, Some("an old name"), rows)
        }
        Known::Elsewhere(Mention::Foreign { schema, number }) => {
            let foreign = &schemas[schema].foreign[number];
            let mut rows = vec![("glob".into(), foreign.glob.value.clone())];
            rows.extend(foreign.doc.iter().map(|doc| ("doc".into(), one_line(doc))));
            (schema, foreign.name.value.clone(), Some("foreign, other software's"), rows)
        }
    };
    // Prose comes last.
    let at = rows.iter().position(|(name, _)| *name == "doc").unwrap_or(rows.len());
    rows.insert(at, ("slot".into(), slot(key).to_string()));
    Description { name, what, keyspace: schemas[number].keyspace.name.value.clone(), rows }
}

fn of_params(params: &[(String, Param)], values: &[Cow<'_, str>]) -> Rows {
    let row = |((name, param), value): (&(String, Param), &Cow<'_, str>)| {
        (Cow::Owned(name.clone()), format!("{value}  ({param})"))
    };
    params.iter().zip(values).map(row).collect()
}

fn defined(
    found: &Found<'_>,
    values: &[Cow<'_, str>],
    schemas: &[Schema],
    keyspaces: &[Keyspace],
) -> Rows {
    let declared = &schemas[found.keyspace].keys[found.definition.index()];
    let definition = keyspaces[found.keyspace].definition(found.definition);
    let mut rows = of_params(definition.params(), values);
    if let Some((owner, word)) = found.derived {
        rows.push(("derived".into(), format!("`{word}` of {owner}")));
    }
    rows.push(("pattern".into(), pattern(declared, &schemas[found.keyspace])));
    let role = declared.role.as_ref().map(|role| role.name());
    let kind: Vec<&str> = declared.key_type.iter().map(|kind| kind.name()).chain(role).collect();
    if !kind.is_empty() {
        rows.push(("type".into(), kind.join(", ")));
    }
    if let Some(ttl) = &declared.ttl {
        rows.push(("ttl".into(), ttl.to_string()));
    }
    rows.push(("lifecycle".into(), declared.lifecycle.name().to_owned()));
    rows.extend(declared.owner.iter().map(|owner| ("owner".into(), owner.value.clone())));
    rows.extend(declared.group.iter().map(|group| ("group".into(), group.value.clone())));
    rows.extend(declared.doc.iter().map(|doc| ("doc".into(), one_line(doc))));
    rows
}

fn old(
    key: &[u8],
    names: &OldNames<'_>,
    number: usize,
    values: &[Cow<'_, str>],
    schema: &Schema,
) -> Rows {
    let (migration, rename) = names.renames[number];
    let params = names.keyspace.definitions().nth(number).map_or(&[][..], |it| it.params());
    let mut rows = of_params(params, values);
    rows.push(("old".into(), rename.from.as_str().to_owned()));
    let name = rename.definition.as_str();
    if let Some(declared) = schema.keys.iter().find(|declared| *declared.name == name) {
        rows.push(("pattern".into(), pattern(declared, schema)));
    }
    rows.extend(names.new_name(key, &[]).map(|new| match new.key {
        Ok(key) => ("new".into(), key),
        Err(error) => ("new".into(), format!("cannot be built: {error}")),
    }));
    rows.extend(rename.db.iter().map(|db| ("database".into(), db.to_string())));
    rows.extend(rename.convert.iter().map(|it| ("convert".into(), it.name().to_owned())));
    rows.push(("migration".into(), migration.name.value.clone()));
    rows.push(("phase".into(), migration.phase.name().to_owned()));
    rows.extend(migration.doc.iter().map(|doc| ("doc".into(), one_line(doc))));
    rows
}

fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
