//! Chapter 1: sessions. An access token names one, and is worth nothing once the session is over.

use crate::app::App;
use crate::media_gateway::values::SessionId;
use crate::media_gateway::{fields, keys};
use crate::problem::Problem;
use crate::tokens::AccessToken;
use axum::Json;
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use keyward::{Timestamp, Uuid};
use serde_json::{Value, json};

/// The user who is signed in.
#[derive(Debug, Clone, Copy)]
pub struct User(pub Uuid);

/// The device from which a user signs in.
#[derive(Debug)]
pub struct Device {
    pub id: Uuid,
    pub ip_address: String,
    pub user_agent: String,
}

/// Finds out who asks, before anything else: limits count by user. Without a token it is nobody, which is fine for a login.
pub async fn identify(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let header = request.headers().get(header::AUTHORIZATION);
    let bearer = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let token = bearer.and_then(|text| AccessToken::verify(&app.secret, text));
    if let Some(token) = token {
        match app.is_live(&token).await {
            Ok(true) => {
                request.extensions_mut().insert(User(token.user_id));
                request.extensions_mut().insert(token);
            }
            Ok(false) => {}
            // Nobody knows whether it was revoked, so that it is refused.
            Err(error) => return Problem::Redis(error).into_response(),
        }
    }
    next.run(request).await
}

/// The user's sessions.
pub async fn list(
    State(app): State<App>,
    User(user_id): User,
    token: AccessToken,
) -> Result<Json<Value>, Problem> {
    let sessions = app.store.sessions::<keys::ActiveSession>();
    let mut listed = sessions.list(&keys::SessionIndex { user_id }).await?;
    listed.sort_by(|one, other| one.1.created_at.as_str().cmp(other.1.created_at.as_str()));
    let shown = listed.into_iter().map(|(key, it)| {
        json!({
            "id": key.session_id.as_str(),
            "device_id": it.device_id,
            "user_agent": it.user_agent,
            "ip_address": it.ip_address,
            "last_active": it.last_active.as_str(),
            "this_one": key.session_id == token.session_id,
        })
    });
    Ok(Json(shown.collect()))
}

/// Logs out one device.
pub async fn revoke(
    State(app): State<App>,
    User(user_id): User,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let session = app.store.at(keys::ActiveSession { session_id: SessionId::new(id)? });
    let owner = session.get().await?.map(|it| it.user_id);
    if owner != Some(user_id) {
        return Err(Problem::NotFound);
    }
    session.revoke().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Logs out everywhere.
pub async fn revoke_all(
    State(app): State<App>,
    User(user_id): User,
) -> Result<Json<Value>, Problem> {
    let sessions = app.store.sessions::<keys::ActiveSession>();
    let revoked = sessions.revoke_all(&keys::SessionIndex { user_id }).await?;
    Ok(Json(json!({ "revoked": revoked })))
}

impl App {
    // ANCHOR: create
    /// A new session. Its id has 256 random bits, and its user's index lists it.
    pub async fn begin_session(
        &self,
        user_id: Uuid,
        device: &Device,
    ) -> Result<SessionId, Problem> {
        let now = Timestamp::now();
        let fields = fields::ActiveSession {
            user_id,
            device_id: device.id,
            created_at: now.clone(),
            last_active: now,
            ip_address: device.ip_address.clone(),
            user_agent: device.user_agent.clone(),
        };
        let session = self.store.sessions::<keys::ActiveSession>().create(&fields).await?;
        Ok(session.session_id)
    }
    // ANCHOR_END: create

    // ANCHOR: live
    /// Whether a token can be used: it was not revoked, and its session goes on. One round trip, which also notes that the
    /// session is in use.
    async fn is_live(&self, token: &AccessToken) -> Result<bool, keyward::Error> {
        let (token_jti, session_id) = (token.jti.clone(), token.session_id.clone());
        let mut batch = self.store.pipeline();
        let revoked = batch.add(self.store.at(keys::TokenBlacklist { token_jti }).exists());
        let live = batch.add(self.store.at(keys::ActiveSession { session_id }).touch());
        let mut results = batch.run().await?;
        Ok(!results.take(revoked)? && results.take(live)?)
    }
    // ANCHOR_END: live
}

impl<S: Sync> FromRequestParts<S> for User {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get().copied().ok_or(Problem::NotSignedIn)
    }
}

impl<S: Sync> FromRequestParts<S> for AccessToken {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get().cloned().ok_or(Problem::NotSignedIn)
    }
}
