//! `/s/{server}/definitions/{schema}/{name}`: everything about one definition.

use super::charts::{self, Asked};
use super::frame::{At, Visit, answer};
use super::overview::live;
use super::words::{UNKNOWN, seconds, size_if_known};
use crate::state::MigrationState;
use axum::extract::{Path, Query};
use axum::response::Response;
use minijinja::{Value, context};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

pub(super) async fn page(
    visit: Visit,
    Path((server, schema, name)): Path<(String, String, String)>,
    Query(asked): Query<Asked>,
) -> Response {
    answer(visit, server, move |at| {
        let Some(words) = at.known.words(at) else {
            return at.not_yet("/definitions", "Definition");
        };
        let is = |it: &super::known::Row| it.schema.as_ref() == Some(&schema) && it.name == name;
        let Some(number) = words.rows.iter().position(is) else {
            return at.not_found("There is no definition of this name in the last audit.");
        };
        let row = |list: &str, number: usize| {
            words.page.get_attr(list).and_then(|it| it.get_item(&Value::from(number))).ok()
        };
        let full = words.page.get_attr("rows").ok().and_then(|it| it.len()).unwrap_or(0);
        let it = if number < full { row("rows", number) } else { row("empty", number - full) };
        let documents = at.known.documents(at);
        let reference = format!("{}/reference", at.base);
        let document = documents.each.iter().find(|it| it.name == schema);
        let document = document.and_then(|it| it.card(&name, &reference));
        let document = document.map(|it| at.server.reach.scanning(&it));
        let findings_href = utf8_percent_encode(&name, NON_ALPHANUMERIC);
        let page = context! {
            page => words.page,
            it => it,
            findings_href => format!("{}/findings?definition={findings_href}", at.base),
            live => live(&at.current.found, Some((&schema, &name))),
            samples => samples(at, &schema, &name),
            migrations => migrations(at, &schema, &name),
            document => document.map(Value::from_safe_string),
            charts => charts::definition(at, &asked, (&schema, &name)),
            ranges => asked.ranges(&at.definition(&schema, &name)),
            changes => !charts::marks(at, asked.between(at)).is_empty(),
        };
        at.page("definition.html", "/definitions", &name, page)
    })
    .await
}

/// A key of the definition.
#[derive(Debug, Serialize)]
struct Shown {
    key: String,
    key_type: String,
    bytes: String,
    ttl: String,
}

fn samples(at: &At<'_>, schema: &str, name: &str) -> Vec<Shown> {
    let place = (schema.to_owned(), name.to_owned());
    let samples = at.current.audit.as_ref().and_then(|it| it.samples.get(&place));
    let row = |it: &crate::state::Sample| Shown {
        key: it.key.clone(),
        key_type: it.key_type.clone(),
        bytes: size_if_known(it.bytes),
        ttl: it.ttl.map_or_else(|| UNKNOWN.to_owned(), |it| seconds(it / 1000)),
    };
    samples.map(|it| it.iter().map(row).collect()).unwrap_or_default()
}

fn migrations(at: &At<'_>, schema: &str, name: &str) -> Vec<MigrationState> {
    let touches = |it: &&MigrationState| {
        it.schema == schema && it.old_names.iter().any(|old| old.definition == name)
    };
    at.current.migrations.iter().filter(touches).cloned().collect()
}
