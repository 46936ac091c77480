//! Why a request is not answered.

use axum::Json;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// The longest text of an error that is repeated.
const MOST: usize = 4096;

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

/// What a framework answers by itself, as JSON like everything else.
pub(crate) async fn in_json(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_json = kind.is_some_and(|it| it.as_bytes().starts_with(b"application/json"));
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let text = to_bytes(body, MOST).await.ok();
    let text = text.and_then(|text| String::from_utf8(text.to_vec()).ok());
    let text = text.filter(|it| !it.is_empty()).unwrap_or_else(|| match status {
        StatusCode::METHOD_NOT_ALLOWED => "this method does not work here".to_owned(),
        _ => status.canonical_reason().unwrap_or("it failed").to_lowercase(),
    });
    let mut response = Problem::new(status, text).into_response();
    if let Some(allowed) = parts.headers.get(header::ALLOW) {
        response.headers_mut().insert(header::ALLOW, allowed.clone());
    }
    response
}

/// What is answered below `/api/` where there is nothing.
pub(crate) async fn not_found() -> Problem {
    Problem::not_found("there is nothing here")
}
