//! `/healthz` and `/readyz`: for whoever starts and watches this program. They say nothing about keys.

use crate::state::Shared;
use axum::extract::State;
use axum::http::StatusCode;

/// It runs.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// Each server was audited at least once, now or before a restart.
pub(super) async fn ready(State(shared): State<Shared>) -> (StatusCode, &'static str) {
    if shared.servers.iter().all(|server| server.current().audit.is_some()) {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "a server was not audited yet\n")
    }
}
