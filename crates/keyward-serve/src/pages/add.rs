//! `/s/{server}/add`: names that the schema accepts, and names that it does not, with the reason.
//!
//! Wrong names are made from right ones by the slips that people make, and only those are shown that really belong to
//! no definition.

use super::frame::{At, answer};
use super::known::Known;
use crate::state::Shared;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use keyward_fact::visible;
use keyward_page::{Span, prose};
use keyward_pattern::Keyspace;
use keyward_rules::judge;
use keyward_schema::{Neighbours, NothingNear, Schema};
use minijinja::context;
use serde::Serialize;
use std::sync::Arc;

/// Definitions of a group that are shown; the reference has all.
const MOST: usize = 8;

#[derive(Debug, Serialize)]
struct Shown {
    name: String,
    shape: Option<String>,
    groups: Vec<Group>,
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

pub(super) async fn page(
    State(shared): State<Shared>,
    Extension(known): Extension<Arc<Known>>,
    Path(server): Path<String>,
) -> Response {
    answer(shared, known, server, move |at| {
        let documents = at.known.documents(at);
        let schemas = &at.current.schemas.each;
        let keyspaces: Vec<Keyspace> = schemas.iter().map(|it| it.compiled.clone()).collect();
        let mut neighbours = Neighbours::new(schemas, &keyspaces);
        let shown: Vec<Shown> = (schemas.iter().zip(&documents.each))
            .map(|(schema, document)| Shown {
                name: schema.keyspace.name.value.clone(),
                shape: document.shape.clone(),
                groups: groups(at, schema, document, &mut neighbours),
            })
            .collect();
        at.page("add.html", "/add", "Add a key", context! { schemas => shown })
    })
    .await
}

fn groups(
    at: &At<'_>,
    schema: &Schema,
    document: &super::known::Document,
    neighbours: &mut Neighbours<'_>,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (name, group, examples) in &document.examples {
        let place = groups.iter().position(|it| it.name == *group);
        let place = place.unwrap_or_else(|| {
            groups.push(Group { name: group.clone(), rows: Vec::new() });
            groups.len() - 1
        });
        if groups[place].rows.len() >= MOST {
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
