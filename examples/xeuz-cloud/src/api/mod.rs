//! What can be asked over HTTP.

mod files;
mod folders;
mod operations;
mod quota;
mod shares;
mod user;
mod users;

use crate::app::App;
use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post, put};

/// All paths. Ids are UUIDs that clients choose, so that a request can be repeated.
pub fn router(app: App) -> Router {
    Router::new()
        .route("/users/{id}", put(users::add))
        .route("/users/{id}/role", put(users::set_role))
        .route("/folders/{id}", get(folders::browse).put(folders::add).delete(folders::delete))
        .route("/folders/{id}/name", put(folders::rename))
        .route("/folders/{id}/permission", get(shares::permission))
        .route("/folders/{id}/shares/{user}", put(shares::grant).delete(shares::revoke))
        .route("/files/{id}", get(files::show).put(files::upload).delete(files::delete))
        .route("/files/{id}/name", put(files::rename))
        .route("/files/{id}/folder", put(files::r#move))
        .route("/quota", get(quota::show))
        .route("/quotas/rebuild", post(quota::rebuild))
        .route("/health", get(operations::health))
        .route("/metrics", get(operations::metrics))
        .layer(from_fn(to_the_end))
        .with_state(app)
}

/// A client that hangs up must not stop a change between the database and Redis.
async fn to_the_end(request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    let answer = tokio::spawn(next.run(request)).await;
    answer.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}
