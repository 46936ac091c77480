//! `/s/{server}/add`: names that the schema accepts, and names that it does not, with the reason.
//!
//! Wrong names are made from right ones by the slips that people make, and only those are shown that really belong to
//! no definition.

use super::frame::{At, Visit, answer};
use super::known::{Document, Documents};
use axum::extract::Path;
use axum::response::Response;
use keyward_fact::visible;
use keyward_page::{Span, prose};
use keyward_pattern::Keyspace;
use keyward_rules::judge;
use keyward_schema::{Neighbours, NothingNear, Schema};
use minijinja::{Value, context};
use serde::Serialize;
use std::collections::BTreeSet;

/// Definitions of a group, and of a schema, that are shown; the reference has all. To say why a name is wrong, it is
/// compared with all definitions.
const MOST: usize = 8;
const ALL: usize = 40;

#[derive(Debug, Serialize)]
struct Shown {
    name: String,
    shape: Option<String>,
    groups: Vec<Group>,
    /// How many definitions there are besides
    more: usize,
}

#[derive(Debug, Serialize)]
struct Group {
    name: Option<String>,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    href: String,
    right: Vec<String>,
    wrong: Vec<Wrong>,
}

#[derive(Debug, Serialize)]
struct Wrong {
    key: String,
    why: Vec<Span>,
}

pub(super) async fn page(visit: Visit, Path(server): Path<String>) -> Response {
    answer(visit, server, move |at| {
        let documents = at.known.documents(at);
        let schemas = documents.names.get_or_init(|| Value::from_serialize(shown(at, &documents)));
        at.page("add.html", "/add", "Add a key", context! { schemas })
    })
    .await
}

fn shown(at: &At<'_>, documents: &Documents) -> Vec<Shown> {
    let schemas = &at.current.schemas.each;
    let keyspaces: Vec<Keyspace> = schemas.iter().map(|it| it.compiled.clone()).collect();
    let mut neighbours = Neighbours::new(schemas, &keyspaces);
    let shown = |(schema, document): (&Schema, &Document)| {
        let groups = groups(at, schema, document, &mut neighbours);
        let rows: usize = groups.iter().map(|it| it.rows.len()).sum();
        Shown {
            name: schema.keyspace.name.value.clone(),
            shape: document.shape.clone(),
            groups,
            more: document.examples.len().saturating_sub(rows),
        }
    };
    schemas.iter().zip(&documents.each).map(shown).collect()
}

fn groups(
    at: &At<'_>,
    schema: &Schema,
    document: &Document,
    neighbours: &mut Neighbours<'_>,
) -> Vec<Group> {
    let names: BTreeSet<_> = document.examples.iter().map(|(_, group, _)| group).collect();
    let most = (ALL / names.len().max(1)).clamp(1, MOST);
    let mut groups: Vec<Group> = Vec::new();
    for (name, group, examples) in &document.examples {
        let place = groups.iter().position(|it| it.name == *group);
        if place.is_none() && groups.len() == ALL {
            continue;
        }
        let place = place.unwrap_or_else(|| {
            groups.push(Group { name: group.clone(), rows: Vec::new() });
            groups.len() - 1
        });
        if groups[place].rows.len() >= most {
            continue;
        }
        let right = examples.iter().take(2).cloned().collect();
        let wrong = examples.first().map(|it| wrong(it, schema, neighbours)).unwrap_or_default();
        let href = at.definition(&document.name, name);
        groups[place].rows.push(Row { name: name.clone(), href, right, wrong });
    }
    groups
}

/// What people write instead of a right name.
fn wrong(right: &str, schema: &Schema, neighbours: &mut Neighbours<'_>) -> Vec<Wrong> {
    let capital = |part: &str| {
        let mut chars = part.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>())
    };
    let parts: Vec<&str> = right.split(':').collect();
    let mut slips: Vec<String> = Vec::new();
    slips.push(right.replacen(':', "-", 1));
    slips.push(parts.iter().filter_map(|it| capital(it)).collect::<Vec<_>>().join(":"));
    slips.push(parts[..parts.len() - 1].join(":"));
    slips.push(format!("{right}:tmp"));
    let mut wrong: Vec<Wrong> = Vec::new();
    for key in slips {
        let new = key != right && !key.is_empty() && wrong.iter().all(|it| it.key != key);
        if !new || schema.compiled.classify(key.as_bytes()).is_some() {
            continue;
        }
        let why = match neighbours.nearest(key.as_bytes()) {
            Ok(near) => {
                judge::unknown_key(near.segment, &near.parting, |it| visible(it).into_owned())
            }
            Err(NothingNear::Prefix(prefix)) => format!("every key starts with `{prefix}`"),
            Err(NothingNear::Word(word)) => format!("no pattern has the word `{word}` there"),
            Err(_) => continue,
        };
        wrong.push(Wrong { key, why: prose(&why) });
        if wrong.len() == 2 {
            break;
        }
    }
    wrong
}
