//! Why a request is not answered.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// Why a request is not answered, as JSON.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Problem {
    #[serde(skip)]
    status: u16,
    /// What is wrong, in a sentence without a full stop
    error: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Problem { status: status.as_u16(), error: error.into() }
    }

    pub(crate) fn not_found(error: impl Into<String>) -> Self {
        Problem::new(StatusCode::NOT_FOUND, error)
    }

    pub(crate) fn bad(error: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(self)).into_response()
    }
}

impl From<crate::history::Error> for Problem {
    fn from(error: crate::history::Error) -> Self {
        let text = format!("the history cannot be read: {error}");
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }
}

pub(super) async fn not_found() -> Problem {
    Problem::not_found("there is nothing here")
}
