//! `/s/{server}/key`: what a pasted key is. It is sent in the body and never stands in an address.

use super::frame::{At, Visit, answer};
use super::words::{UNKNOWN, seconds, size_if_known};
use crate::api::{KeyAnswer, look_up};
use crate::http::TOO_LONG;
use axum::Form;
use axum::extract::Path;
use axum::extract::rejection::FormRejection;
use axum::http::StatusCode;
use axum::response::Response;
use keyward_page::prose;
use minijinja::{Value, context};
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Pasted {
    key: String,
}

pub(super) async fn page(visit: Visit, Path(server): Path<String>) -> Response {
    answer(visit, server, |at| {
        let page = context! { key => "", answer => (), problem => () };
        at.page("key.html", "/key", "Paste a key", page)
    })
    .await
}

pub(super) async fn answered(
    visit: Visit,
    Path(server): Path<String>,
    pasted: Result<Form<Pasted>, FormRejection>,
) -> Response {
    let name = server.clone();
    let state = visit.shared.clone();
    answer(visit, server, move |at| {
        let is_long = pasted.as_ref().is_err_and(|it| it.status() == StatusCode::PAYLOAD_TOO_LARGE);
        let key = pasted.map(|Form(it)| it.key).unwrap_or_default();
        let found = if key.is_empty() { None } else { look_up(&state, &name, key.as_bytes()).ok() };
        let too_long = format!("Nothing was looked up: {TOO_LONG}.");
        let otherwise = if is_long { too_long.as_str() } else { "Paste a key first." };
        let problem = found.is_none().then_some(otherwise);
        let page = context! { key, problem, answer => found.as_ref().map(|it| said(at, it)) };
        let mut response = at.page("key.html", "/key", "Paste a key", page);
        if is_long {
            *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
        }
        response
    })
    .await
}

/// The answer in words.
fn said(at: &At<'_>, answer: &KeyAnswer) -> Value {
    let answer = Value::from_serialize(answer);
    let of = |value: &Value, name: &str| value.get_attr(name).unwrap_or_default();
    let text = |value: &Value, name: &str| of(value, name).as_str().map(str::to_owned);
    let number = |value: &Value, name: &str| u64::try_from(of(value, name)).ok();
    let own = of(&answer, "what").is_none();
    let place = text(&answer, "keyspace").zip(text(&answer, "name")).filter(|_| own);
    let live = of(&answer, "live");
    let exists = of(&live, "exists").is_true();
    let endless = if exists { "none" } else { UNKNOWN };
    let ttl = number(&live, "ttl").map_or_else(|| endless.to_owned(), |it| seconds(it / 1000));
    let nearest = of(&answer, "nearest");
    let near = text(&nearest, "keyspace").zip(text(&nearest, "definition"));
    context! {
        href => place.map(|(schema, name)| at.definition(&schema, &name)),
        why => text(&answer, "why").as_deref().map(prose),
        ttl => ttl,
        bytes => size_if_known(number(&live, "bytes")),
        near_href => near.map(|(schema, name)| at.definition(&schema, &name)),
        ..answer
    }
}
