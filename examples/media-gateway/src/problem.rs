//! Why a request was not answered as it wished.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use keyward::LoadError;
use serde_json::json;
use std::convert::Infallible;

/// Why not.
#[derive(Debug)]
pub enum Problem {
    /// Nobody is signed in, or not any more
    NotSignedIn,
    /// There is none
    NotFound,
    /// What is asked for makes no sense
    Senseless(String),
    /// It is under way already
    Busy(&'static str),
    /// Redis could not be asked, or refused
    Redis(keyward::Error),
}

impl From<keyward::Error> for Problem {
    fn from(error: keyward::Error) -> Self {
        Problem::Redis(error)
    }
}

/// A TTL that the schema does not allow.
impl From<keyward::Lifespan> for Problem {
    fn from(error: keyward::Lifespan) -> Self {
        Problem::Senseless(error.to_string())
    }
}

/// A parameter that the schema does not allow: it never reaches the server.
impl From<keyward::ValueError> for Problem {
    fn from(error: keyward::ValueError) -> Self {
        Problem::Senseless(error.to_string())
    }
}

/// Our catalogue is in memory and cannot fail. A database can.
impl From<LoadError<Infallible>> for Problem {
    fn from(error: LoadError<Infallible>) -> Self {
        match *error.into_shared() {}
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, why) = match self {
            Problem::NotSignedIn => (StatusCode::UNAUTHORIZED, "sign in first".to_owned()),
            Problem::NotFound => (StatusCode::NOT_FOUND, "there is none".to_owned()),
            Problem::Senseless(why) => (StatusCode::UNPROCESSABLE_ENTITY, why),
            Problem::Busy(why) => (StatusCode::CONFLICT, why.to_owned()),
            Problem::Redis(error) => {
                tracing::warn!(%error, "a request failed");
                let why = "sessions, limits and jobs cannot be reached; try again later";
                (StatusCode::SERVICE_UNAVAILABLE, why.to_owned())
            }
        };
        (status, Json(json!({ "error": why }))).into_response()
    }
}
