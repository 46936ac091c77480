//! `POST /api/v1/servers/{server}/key`: what a pasted key is. It is in the body, since URLs are logged.

use super::{Answer, blocking, named};
use crate::asking::{Asked, LiveKey};
use crate::http::{Problem, TOO_LONG};
use crate::state::Shared;
use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use keyward_audit::lookup::{Known, Mention, describe, nearest};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A key.
#[derive(Deserialize, ToSchema)]
pub(super) struct Pasted {
    /// The key
    key: String,
}

/// What a key is, by its schema and on its server.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyAnswer {
    /// Its definition, or the foreign software; `null` where it fits nothing
    name: Option<String>,
    /// What it is if not a definition's key: `an old name`, `foreign, other software's`
    what: Option<&'static str>,
    /// The keyspace's name
    keyspace: Option<String>,
    /// Its parameters, and what the schema says about it
    rows: Vec<KeyRow>,
    /// The definition that was perhaps meant
    nearest: Option<NearAnswer>,
    /// Why it fits nothing
    why: Option<String>,
    /// What the server has under it; `null` where it could not be asked
    live: Option<LiveKey>,
    /// Why the server could not be asked
    live_error: Option<String>,
}

/// What stands beside what.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyRow {
    name: String,
    value: String,
}

/// The definition that was perhaps meant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NearAnswer {
    keyspace: String,
    definition: String,
    pattern: String,
    /// Where they part
    reason: String,
}

/// What a key is: definition, parameters, type, TTL and bytes, or why it fits nothing
#[utoipa::path(post, path = "/api/v1/servers/{server}/key", params(("server" = String, Path)), request_body = Pasted,
    responses((status = 200, body = KeyAnswer), (status = 404, body = Problem), (status = 413, body = Problem)))]
pub(super) async fn look_up(
    State(shared): State<Shared>,
    Path(server): Path<String>,
    pasted: Result<Json<Pasted>, JsonRejection>,
) -> Answer<KeyAnswer> {
    named(&shared, &server)?;
    // What a rejection says may repeat the key.
    let key = match pasted {
        Ok(Json(Pasted { key })) => key,
        Err(error) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, TOO_LONG));
        }
        Err(_) => return Err(Problem::bad("the body must be `{\"key\": \"…\"}`")),
    };
    blocking(move || answer(&shared, &server, key.as_bytes())).await.map(Json)
}

/// What a key is, by its schema and on its server.
pub(crate) fn answer(shared: &Shared, server: &str, key: &[u8]) -> Result<KeyAnswer, Problem> {
    let server = named(shared, server)?;
    let schemas = server.current().schemas.clone();
    let (lookup, keyspaces) = schemas.lookup();
    let mut values = Vec::new();
    let known = lookup.find(key, &mut values);
    let place = match known {
        Some(Known::Defined(found)) => Some(found.keyspace),
        Some(Known::Elsewhere(Mention::Old { schema, .. } | Mention::Foreign { schema, .. })) => {
            Some(schema)
        }
        None => None,
    };
    let db = place.and_then(|at| schemas.each[at].keyspace.db.as_ref()).map(|db| db.value.into());
    let (live, live_error) = match server.ask(key, db) {
        Asked::Answer(live) => (Some(live), None),
        Asked::Failed(why) => (None, Some(why)),
    };
    let mut answer = KeyAnswer {
        name: None,
        what: None,
        keyspace: None,
        rows: Vec::new(),
        nearest: None,
        why: None,
        live,
        live_error,
    };
    if let Some(known) = known {
        let described = describe(key, &known, &values, &schemas.each, keyspaces);
        answer.name = Some(described.name);
        answer.what = described.what;
        answer.keyspace = Some(described.keyspace);
        let row = |(name, value): (std::borrow::Cow<'_, str>, String)| KeyRow {
            name: name.into_owned(),
            value,
        };
        answer.rows = described.rows.into_iter().map(row).collect();
        return Ok(answer);
    }
    match nearest(key, &schemas.each, keyspaces) {
        Ok(near) => {
            answer.why = Some(near.reason.clone());
            answer.nearest = Some(NearAnswer {
                keyspace: near.keyspace,
                definition: near.definition,
                pattern: near.pattern,
                reason: near.reason,
            });
        }
        Err(why) => answer.why = Some(why),
    }
    Ok(answer)
}
