//! `/s/{server}/reference`: the generated documentation of a schema.

use super::frame::{Visit, answer, encoded};
use axum::extract::{Path, Query};
use axum::response::Response;
use minijinja::{Value, context};
use serde::{Deserialize, Serialize};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    /// The keyspace's name; the first where nothing is said
    schema: String,
}

#[derive(Debug, Serialize)]
struct Choice {
    name: String,
    href: String,
    here: bool,
}

pub(super) async fn page(
    visit: Visit,
    Path(server): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    answer(visit, server, move |at| {
        let documents = at.known.documents(at);
        let number = documents.each.iter().position(|it| it.name == asked.schema).unwrap_or(0);
        let choice = |(own, it): (usize, &super::known::Document)| Choice {
            name: it.name.clone(),
            href: format!("{}/reference?schema={}", at.base, encoded(&it.name)),
            here: own == number,
        };
        let several: Vec<Choice> = match documents.each.len() {
            0 | 1 => Vec::new(),
            _ => documents.each.iter().enumerate().map(choice).collect(),
        };
        let content = documents.each.get(number);
        let content = content.map(|it| Value::from_safe_string(it.content.clone()));
        at.page("reference.html", "/reference", "Reference", context! { several, content })
    })
    .await
}
