//! Why a request was not answered as it wished.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use keyward::{LoadError, Reserved, ValueError};
use serde_json::json;
use std::fmt;

/// Why not. All who wait for one page share the problem of its one render, so that it can be cloned.
#[derive(Debug, Clone)]
pub enum Problem {
    /// Nobody is signed in, or not any more
    NotSignedIn,
    /// A form that was not made for this session, is too old, or was submitted already
    SpentForm,
    /// There is none
    NotFound,
    /// What is asked for makes no sense
    Senseless(String),
    /// Something else is in the way
    Busy(&'static str),
    /// Redis could not be asked, or refused
    Redis(keyward::Error),
}

impl From<keyward::Error> for Problem {
    fn from(error: keyward::Error) -> Self {
        Problem::Redis(error)
    }
}

/// A parameter that the schema does not allow: it never reaches the server.
impl From<ValueError> for Problem {
    fn from(error: ValueError) -> Self {
        Problem::Senseless(error.to_string())
    }
}

/// A key that would be too long.
impl From<Reserved> for Problem {
    fn from(error: Reserved) -> Self {
        Problem::Senseless(error.to_string())
    }
}

impl From<LoadError<Problem>> for Problem {
    fn from(error: LoadError<Problem>) -> Self {
        error.into_inner()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NotSignedIn => write!(f, "sign in with a name and its password"),
            Problem::SpentForm => write!(f, "ask for a new form: this one cannot be submitted"),
            Problem::NotFound => write!(f, "there is none"),
            Problem::Senseless(why) => write!(f, "{why}"),
            Problem::Busy(why) => write!(f, "{why}"),
            Problem::Redis(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Problem {}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut why = self.to_string();
        let status = match self {
            Problem::NotSignedIn => StatusCode::UNAUTHORIZED,
            Problem::SpentForm => StatusCode::FORBIDDEN,
            Problem::NotFound => StatusCode::NOT_FOUND,
            Problem::Senseless(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Problem::Busy(_) => StatusCode::CONFLICT,
            Problem::Redis(keyward::Error::Full { .. }) => StatusCode::INSUFFICIENT_STORAGE,
            Problem::Redis(error) => {
                tracing::warn!(%error, "a request failed");
                "the content cannot be reached; try again later".clone_into(&mut why);
                StatusCode::SERVICE_UNAVAILABLE
            }
        };
        (status, Json(json!({ "error": why }))).into_response()
    }
}
