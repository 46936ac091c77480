//! Chapter 1: who asks.

use crate::app::App;
use crate::problem::Problem;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use keyward::Uuid;

/// The user who is signed in.
#[derive(Debug, Clone, Copy)]
pub struct User(pub Uuid);

/// Finds out who asks, before anything else: limits count by user.
pub async fn identify(State(_): State<App>, mut request: Request, next: Next) -> Response {
    let header = request.headers().get("x-user").and_then(|value| value.to_str().ok());
    if let Some(user_id) = header.and_then(|text| text.parse().ok()) {
        request.extensions_mut().insert(User(user_id));
    }
    next.run(request).await
}

impl<S: Sync> FromRequestParts<S> for User {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get().copied().ok_or(Problem::NotSignedIn)
    }
}
