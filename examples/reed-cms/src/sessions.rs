//! `session:{session_id}`: editors who are signed in.

use crate::app::App;
use crate::hash::sha256;
use crate::model::Session;
use crate::problem::Problem;
use crate::reed_cms::keys;
use crate::reed_cms::values::SessionId;
use axum::Json;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::TryStreamExt as _;
use serde::Deserialize;
use serde_json::{Value, json};

/// Who may sign in: name, id and password. A real one has hashes in a database.
const EDITORS: [(&str, u64, &str); 2] =
    [("ada", 123, "difference engine"), ("bob", 124, "correct horse")];

/// An editor who is signed in.
#[derive(Debug, Clone)]
pub struct Editor {
    pub id: u64,
    pub session: SessionId,
}

#[derive(Debug, Deserialize)]
pub struct Login {
    name: String,
    password: String,
}

/// Finds out who asks, before anything else: limits count by editor. Without a session it is a visitor.
pub async fn identify(State(app): State<App>, mut request: Request, next: Next) -> Response {
    if let Some(session) = cookie(request.headers()) {
        let found = app.site.at(keys::Session { session_id: session.clone() }).get().await;
        match found.map(|found| found.and_then(|found| found.user_id.parse().ok())) {
            Ok(Some(id)) => _ = request.extensions_mut().insert(Editor { id, session }),
            Ok(None) => {}
            // Nobody knows whether it was revoked, so that it is refused.
            Err(error) => return Problem::Redis(error).into_response(),
        }
    }
    next.run(request).await
}

/// Signs an editor in. The limit in front of it counts all attempts: whoever has an account could use it to guess at others.
pub async fn log_in(
    State(app): State<App>,
    Json(Login { name, password }): Json<Login>,
) -> Result<impl IntoResponse, Problem> {
    // Comparing hashes, so that the time it takes says nothing about the password.
    let known =
        |editor: &&(&str, u64, &str)| editor.0 == name && sha256(editor.2) == sha256(&password);
    let (_, id, _) = EDITORS.iter().find(known).ok_or(Problem::NotSignedIn)?;
    let sessions = app.site.sessions::<keys::Session>();
    let session = sessions.create(&Session { user_id: id.to_string() }).await?;
    let cookie = format!("session={}; HttpOnly; SameSite=Lax; Path=/", session.session_id);
    Ok((StatusCode::CREATED, [(header::SET_COOKIE, cookie)], Json(json!({ "user_id": id }))))
}

/// Signs this browser out.
pub async fn log_out(State(app): State<App>, editor: Editor) -> Result<StatusCode, Problem> {
    app.site.at(keys::Session { session_id: editor.session }).revoke().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Signs everybody out: for the day on which a password was lost. Looks at all keys of the server.
pub async fn end_all(State(app): State<App>, _: Editor) -> Result<Json<Value>, Problem> {
    let mut sessions = std::pin::pin!(app.site.scan::<keys::Session>());
    let mut ended = 0;
    while let Some(session) = sessions.try_next().await? {
        ended += u64::from(app.site.at(session).revoke().await?);
    }
    Ok(Json(json!({ "ended": ended })))
}

/// The session that a browser shows. What cannot be one is none, and never reaches the server.
fn cookie(headers: &HeaderMap) -> Option<SessionId> {
    let cookies = headers.get(header::COOKIE)?.to_str().ok()?;
    let mut pairs = cookies.split(';').filter_map(|cookie| cookie.trim().split_once('='));
    let (_, id) = pairs.find(|(name, _)| *name == "session")?;
    SessionId::new(id).ok()
}

impl<S: Sync> FromRequestParts<S> for Editor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get().cloned().ok_or(Problem::NotSignedIn)
    }
}
