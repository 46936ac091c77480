//! How much a user stores.

use super::user::User;
use crate::app::App;
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

/// How many bytes the user stores, and may store.
pub async fn show(State(app): State<App>, User(user_id): User) -> Result<Json<Value>, Problem> {
    let limit = app.database.storage(user_id).await?;
    let used = app.quotas.used(user_id).await?;
    Ok(Json(json!({ "used": used, "limit": limit })))
}

/// The nightly job: all counters from the database.
pub async fn rebuild(State(app): State<App>, User(user_id): User) -> Result<Json<Value>, Problem> {
    app.require_admin(user_id).await?;
    let rebuilt = app.quotas.rebuild().await?;
    Ok(Json(json!({ "rebuilt": rebuilt })))
}
