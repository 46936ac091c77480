//! Everything there is to know about a key, for people.

use super::answer::{Answerer, Form, Found, Known};
use super::elsewhere::Mention;
use super::near;
use crate::output::{BOLD, DIM, printable};
use keyward_pattern::{Keyspace, Param, slot};
use keyward_schema::{OldNames, Schema};
use std::borrow::Cow;
use std::fmt::Write as _;

/// What is known about a key of one schema.
pub(in crate::commands) fn describe_key(key: &[u8], schema: &Schema) -> String {
    let keyspaces = std::slice::from_ref(&schema.compiled);
    let schemas = std::slice::from_ref(schema);
    let answerer = Answerer::new(schemas, keyspaces, Form::Text);
    let mut values = Vec::new();
    match answerer.look(key, &mut values) {
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
    let (number, title, mut rows) = match *known {
        Known::Defined(ref found) => {
            let title = BOLD.on(keyspaces[found.keyspace].definition(found.definition).name());
            (found.keyspace, title, defined(found, values, schemas, keyspaces))
        }
        Known::Elsewhere(Mention::Old { schema, names, rename }) => {
            let names = schemas[schema].old_names_by_db().swap_remove(names);
            let title = titled(names.renames[rename].1.definition.as_str(), "an old name");
            (schema, title, old(key, &names, rename, values, &schemas[schema]))
        }
        Known::Elsewhere(Mention::Foreign { schema, number }) => {
            let foreign = &schemas[schema].foreign[number];
            let mut rows = vec![("glob".into(), foreign.glob.value.clone())];
            rows.extend(foreign.doc.iter().map(|doc| ("doc".into(), one_line(doc))));
            (schema, titled(&foreign.name, "foreign, other software's"), rows)
        }
    };
    if let [_, _, ..] = schemas {
        rows.insert(0, ("keyspace".into(), schemas[number].keyspace.name.value.clone()));
    }
    // Prose comes last.
    let at = rows.iter().position(|(name, _)| *name == "doc").unwrap_or(rows.len());
    rows.insert(at, ("slot".into(), slot(key).to_string()));
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{title}\n");
    for (name, value) in rows {
        let _ = writeln!(text, "  {name:<width$}  {}", printable(&value));
    }
    text
}

/// What stands beside what.
type Rows = Vec<(Cow<'static, str>, String)>;

fn of_params(params: &[(String, Param)], values: &[Cow<'_, str>]) -> Rows {
    let row = |((name, param), value): (&(String, Param), &Cow<'_, str>)| {
        (Cow::Owned(name.clone()), format!("{value}  ({})", param.ty))
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
    rows.push(("pattern".into(), near::pattern(declared, &schemas[found.keyspace])));
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
        rows.push(("pattern".into(), near::pattern(declared, schema)));
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

fn titled(name: &str, what: &str) -> String {
    format!("{}  {}", BOLD.on(name), DIM.on(what))
}

fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
