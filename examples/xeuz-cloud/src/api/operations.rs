//! For those who run it.

use crate::app::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use keyward::BreakerState;
use serde_json::{Value, json};

/// Whether it works: it does without Redis, and does not without its database.
pub async fn health(State(app): State<App>) -> (StatusCode, Json<Value>) {
    let database = app.database.is_up().await;
    let redis = match app.store.breaker() {
        BreakerState::Closed => "closed",
        BreakerState::Open => "open",
        BreakerState::HalfOpen => "half-open",
        _ => "unknown",
    };
    let status = if database { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let database = if database { "up" } else { "down" };
    (status, Json(json!({ "database": database, "breaker": redis })))
}

/// What was counted, for Prometheus.
pub async fn metrics(State(app): State<App>) -> String {
    app.metrics.render()
}
