//! Chapter 2: OAuth logins, access tokens and refresh tokens.

use crate::app::App;
use crate::hash::{hmac, sha256};
use crate::media_gateway::fields::{OauthState, RefreshToken};
use crate::media_gateway::values::{SessionId, State as OauthId, TokenHash, TokenJti};
use crate::media_gateway::{keys, stored};
use crate::problem::Problem;
use crate::sessions::Device;
use axum::Json;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode, header};
use keyward::{Error, Timestamp, Unix, Uuid, random_id};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

/// How long an access token is valid, in seconds.
const VALID: u64 = 600;

/// What a request shows: a signed text that says for whom it is, and until when. A real one is a JWT.
#[derive(Debug, Clone)]
pub struct AccessToken {
    pub jti: TokenJti,
    pub user_id: Uuid,
    pub session_id: SessionId,
    pub expires: Unix,
}

#[derive(Debug, Deserialize)]
pub struct Begin {
    provider: String,
    redirect_uri: String,
}

#[derive(Debug, Deserialize)]
pub struct Callback {
    state: String,
    /// Our made-up provider knows users by their ids
    code: Uuid,
    device_id: Uuid,
}

#[derive(Debug, Deserialize)]
pub struct Refresh {
    refresh_token: String,
}

#[derive(Debug, Serialize)]
pub struct SignedIn {
    session_id: String,
    access_token: String,
    refresh_token: String,
}

// ANCHOR: once
/// Sends a user to a provider, with a state that the provider sends back.
pub async fn begin_login(
    State(app): State<App>,
    Json(Begin { provider, redirect_uri }): Json<Begin>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let state: OauthId = random_id()?;
    let login = OauthState { provider, redirect_uri, created_at: Timestamp::now() };
    app.store.at(keys::OauthState { state: state.clone() }).set(&login).await?;
    Ok((StatusCode::CREATED, Json(json!({ "state": state.as_str() }))))
}

/// The provider has sent the user back. A state works once: of all who bring it, one gets the login.
pub async fn finish_login(
    State(app): State<App>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Json(Callback { state, code: user_id, device_id }): Json<Callback>,
) -> Result<(StatusCode, Json<SignedIn>), Problem> {
    let login = app.store.at(keys::OauthState { state: OauthId::new(state)? }).take().await?;
    login.ok_or(Problem::NotSignedIn)?;
    // ANCHOR_END: once
    let Ok(Some(_)) = app.people.find(user_id).await else { return Err(Problem::NotSignedIn) };
    let device = device(device_id, address, &headers);
    let session_id = app.begin_session(user_id, &device).await?;
    let refresh_token: String = random_id()?;
    let fields = RefreshToken {
        user_id,
        device_id,
        session_id: session_id.to_string(),
        issued_at: Timestamp::now(),
        last_used: None,
    };
    app.store.at(key_of(&refresh_token)?).issue(&fields).await?;
    Ok((StatusCode::CREATED, Json(app.sign(user_id, session_id, refresh_token)?)))
}

// ANCHOR: refresh
/// A new access token and the next refresh token. A token that is used again ends its family: somebody else has it.
pub async fn refresh(
    State(app): State<App>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Json(Refresh { refresh_token: presented }): Json<Refresh>,
) -> Result<Json<SignedIn>, Problem> {
    let token = app.store.at(key_of(&presented)?);
    let mut changes = vec![RefreshToken::ISSUED_AT.to(&Timestamp::now())];
    // None if it was used before: then it gets the answer of that time once more, or an error.
    if let Some(fields) = token.get().await? {
        let device = device(fields.device_id, address, &headers);
        let session_id = app.continue_session(&fields, &device).await?;
        changes.push(RefreshToken::SESSION_ID.to(&session_id.to_string()));
    }
    // The same for the same token, so that a client whose answer was lost can ask again.
    let next = hmac(&app.secret, &presented);
    let successor = key_of(&next)?;
    match token.refresh(&successor, changes).await {
        Ok(Some(refreshed)) if refreshed.successor == successor => {
            let session_id = SessionId::new(&refreshed.fields.session_id)?;
            Ok(Json(app.sign(refreshed.fields.user_id, session_id, next)?))
        }
        Ok(_) | Err(Error::Revoked { .. } | Error::Reused { .. }) => Err(Problem::NotSignedIn),
        Err(error) => Err(error.into()),
    }
}
// ANCHOR_END: refresh

/// Logs out this device: its session, its access token, and the refresh token that could bring it back.
pub async fn log_out(
    State(app): State<App>,
    token: AccessToken,
    Json(Refresh { refresh_token }): Json<Refresh>,
) -> Result<StatusCode, Problem> {
    app.store.at(keys::ActiveSession { session_id: token.session_id.clone() }).revoke().await?;
    app.store.at(key_of(&refresh_token)?).revoke_family().await?;
    app.revoke(&token).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl App {
    /// The session of a refresh token, if it goes on, or the next one. If it was revoked, there is no next one.
    async fn continue_session(
        &self,
        token: &RefreshToken,
        device: &Device,
    ) -> Result<SessionId, Problem> {
        let session_id = SessionId::new(&token.session_id)?;
        if self.store.at(keys::ActiveSession { session_id: session_id.clone() }).touch().await? {
            return Ok(session_id);
        }
        let revoked = self.store.at(keys::SessionBlacklist { session_id });
        if revoked.exists().await? {
            return Err(Problem::NotSignedIn);
        }
        self.begin_session(token.user_id, device).await
    }

    // ANCHOR: blacklist
    /// Revokes an access token, for as long as it would have been valid.
    async fn revoke(&self, token: &AccessToken) -> Result<(), Problem> {
        let left = token.expires.get().saturating_sub(Unix::now().get());
        if left > 0 {
            let blacklist = self.store.at(keys::TokenBlacklist { token_jti: token.jti.clone() });
            let blacklist = blacklist.living(Duration::from_secs(left))?;
            blacklist.set(&stored::TokenBlacklist::Revoked).await?;
        }
        Ok(())
    }
    // ANCHOR_END: blacklist

    fn sign(
        &self,
        user_id: Uuid,
        session_id: SessionId,
        refresh_token: String,
    ) -> Result<SignedIn, Problem> {
        let expires = Unix::new(Unix::now().get() + VALID)?;
        let token = AccessToken { jti: random_id()?, user_id, session_id, expires };
        let access_token = token.sign(&self.secret);
        Ok(SignedIn { session_id: token.session_id.to_string(), access_token, refresh_token })
    }
}

/// Only the hash of a token is ever stored.
fn key_of(refresh_token: &str) -> Result<keys::RefreshToken, Problem> {
    Ok(keys::RefreshToken { token_hash: TokenHash::new(sha256(refresh_token))? })
}

impl AccessToken {
    fn sign(&self, secret: &str) -> String {
        let AccessToken { jti, user_id, session_id, expires } = self;
        let claims = format!("{jti}.{user_id}.{session_id}.{expires}");
        let signature = hmac(secret, &claims);
        format!("{claims}.{signature}")
    }

    /// What a token says, if it was signed here and is still valid.
    pub fn verify(secret: &str, text: &str) -> Option<Self> {
        let (claims, signature) = text.rsplit_once('.')?;
        // Comparing hashes, so that the time it takes says nothing about the signature.
        if sha256(&hmac(secret, claims)) != sha256(signature) {
            return None;
        }
        let mut claims = claims.split('.');
        let token = AccessToken {
            jti: claims.next()?.parse().ok()?,
            user_id: claims.next()?.parse().ok()?,
            session_id: claims.next()?.parse().ok()?,
            expires: Unix::new(claims.next()?.parse().ok()?).ok()?,
        };
        Some(token).filter(|token| token.expires > Unix::now())
    }
}

fn device(device_id: Uuid, address: SocketAddr, headers: &HeaderMap) -> Device {
    let user_agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    Device {
        id: device_id,
        ip_address: address.ip().to_string(),
        user_agent: user_agent.unwrap_or("unknown").to_owned(),
    }
}
