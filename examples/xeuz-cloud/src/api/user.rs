//! Who asks.

use crate::problem::Problem;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use keyward::Uuid;

/// Whoever the header `X-User` names. A real application would want a proof.
#[derive(Debug, Clone, Copy)]
pub struct User(pub Uuid);

impl<S: Sync> FromRequestParts<S> for User {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let header = parts.headers.get("x-user").and_then(|value| value.to_str().ok());
        header.and_then(|text| text.parse().ok()).map(User).ok_or(Problem::NoUser)
    }
}
