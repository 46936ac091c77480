//! Why a request was not answered as it wished. The cache is never a reason.

use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use keyward::LoadError;
use serde_json::json;
use std::sync::Arc;

/// Why not.
#[derive(Debug)]
pub enum Problem {
    /// There is none, or none that this user may know of
    NotFound,
    /// The user may see it, but not do this to it
    Forbidden,
    /// Nobody said who they are
    NoUser,
    /// What is asked for makes no sense
    Senseless(&'static str),
    /// The user uploads too often; the headers say when to come back
    TooManyUploads(HeaderMap),
    /// It would take more storage than the user has
    StorageFull,
    /// A job that is all about Redis, and Redis is away
    NoRedis(keyward::Error),
    /// The database failed
    Database(Arc<sqlx::Error>),
}

impl From<keyward::Error> for Problem {
    fn from(error: keyward::Error) -> Self {
        Problem::NoRedis(error)
    }
}

impl From<Arc<sqlx::Error>> for Problem {
    fn from(error: Arc<sqlx::Error>) -> Self {
        match &*error {
            sqlx::Error::RowNotFound => Problem::NotFound,
            _ => Problem::Database(error),
        }
    }
}

impl From<sqlx::Error> for Problem {
    fn from(error: sqlx::Error) -> Self {
        Arc::new(error).into()
    }
}

/// All who waited for the same load share its error.
impl From<LoadError<sqlx::Error>> for Problem {
    fn from(error: LoadError<sqlx::Error>) -> Self {
        error.into_shared().into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, why) = match &self {
            Problem::NotFound => (StatusCode::NOT_FOUND, "there is none, or none of yours"),
            Problem::Forbidden => (StatusCode::FORBIDDEN, "you may look, but not touch"),
            Problem::NoUser => (StatusCode::UNAUTHORIZED, "`X-User` must be a user's UUID"),
            Problem::Senseless(why) => (StatusCode::UNPROCESSABLE_ENTITY, *why),
            Problem::TooManyUploads(_) => (StatusCode::TOO_MANY_REQUESTS, "too many uploads"),
            Problem::StorageFull => (StatusCode::INSUFFICIENT_STORAGE, "your storage is full"),
            Problem::NoRedis(error) => {
                tracing::warn!(%error, "a job needs Redis");
                (StatusCode::SERVICE_UNAVAILABLE, "Redis is away; try again later")
            }
            Problem::Database(error) => of_database(error),
        };
        let body = Json(json!({ "error": why }));
        match self {
            Problem::TooManyUploads(headers) => (status, headers, body).into_response(),
            _ => (status, body).into_response(),
        }
    }
}

fn of_database(error: &sqlx::Error) -> (StatusCode, &'static str) {
    let refused = error.as_database_error();
    if refused.is_some_and(|it| it.is_unique_violation() || it.is_foreign_key_violation()) {
        return (StatusCode::CONFLICT, "it is there already, or what it belongs to is gone");
    }
    tracing::error!(%error, "the database failed");
    (StatusCode::INTERNAL_SERVER_ERROR, "the database failed")
}
