//! What is answered, and to whom: routes, limits, headers.

mod connections;
mod events;
mod guard;
mod health;
mod login;
mod problem;

pub(crate) use connections::serve;
pub(crate) use guard::Guard;
pub(crate) use problem::not_found as nothing;
pub(crate) use problem::{Problem, in_json};

use crate::state::Shared;
use crate::{api, metrics, pages};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use std::sync::Arc;

/// The largest body of a request: a pasted key, or a token.
const BODY: usize = 64 * 1024;
/// What is said about a larger one.
pub(crate) const TOO_LONG: &str =
    "the request is longer than 64 KiB, which is the most that is read";

/// Everything that is answered.
pub(crate) fn router(state: Shared, guard: Arc<Guard>) -> Router {
    let login = Router::new()
        .route("/login", get(login::form).post(login::enter))
        .with_state(guard.clone());
    Router::new()
        .merge(pages::routes())
        .merge(api::routes())
        .route("/metrics", get(metrics::answer))
        .route("/events", get(events::stream))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .with_state(state)
        .merge(login)
        .fallback(problem::not_found)
        .layer(DefaultBodyLimit::max(BODY))
        .layer(from_fn_with_state(guard, guard::protect))
}
