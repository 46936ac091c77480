//! Chapter 9: feature flags. A user's own switch comes first, then the rule for all, then the schema's default.

use crate::app::App;
use crate::media_gateway::stored::UserFeatureFlag;
use crate::media_gateway::values::FlagName;
use crate::media_gateway::{events, keys};
use crate::model::FlagConfig;
use crate::problem::Problem;
use crate::sessions::User;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use keyward::Uuid;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
pub struct Switch {
    enabled: bool,
}

// ANCHOR: enabled
/// Whether the user has a feature. Both keys are read in one round trip.
pub async fn show(
    State(app): State<App>,
    User(user_id): User,
    Path(name): Path<String>,
) -> Result<Json<Value>, Problem> {
    let flag_name = FlagName::new(name)?;
    let flag = app.store.at(keys::FeatureFlag { flag_name: flag_name.clone() });
    let own = keys::UserFeatureFlag { user_id, flag_name };
    let enabled = flag.enabled_for_if(own, |config| includes(config, user_id)).await?;
    Ok(Json(json!({ "enabled": enabled })))
}
// ANCHOR_END: enabled

/// Another rule for all. What users have switched themselves ends with it.
pub async fn set(
    State(app): State<App>,
    User(_): User,
    Path(name): Path<String>,
    Json(config): Json<FlagConfig>,
) -> Result<StatusCode, Problem> {
    let flag_name = FlagName::new(name)?;
    app.store.at(keys::FeatureFlag { flag_name: flag_name.clone() }).set(&config).await?;
    app.tell(events::FeatureFlagChanged { flag_name }).await;
    Ok(StatusCode::NO_CONTENT)
}

/// The user tries a feature, or does without it, for an hour.
pub async fn set_own(
    State(app): State<App>,
    User(user_id): User,
    Path(name): Path<String>,
    Json(Switch { enabled }): Json<Switch>,
) -> Result<StatusCode, Problem> {
    let own = app.store.at(keys::UserFeatureFlag { user_id, flag_name: FlagName::new(name)? });
    let word = if enabled { UserFeatureFlag::Enabled } else { UserFeatureFlag::Disabled };
    own.set(&word).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The user goes back to the rule for all.
pub async fn clear_own(
    State(app): State<App>,
    User(user_id): User,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    app.store
        .at(keys::UserFeatureFlag { user_id, flag_name: FlagName::new(name)? })
        .delete()
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Whether a rule includes a user: the same users at every request, and more of them with a higher percentage.
fn includes(config: &FlagConfig, user_id: Uuid) -> bool {
    config.enabled && user_id.as_u128() % 100 < config.percent.into()
}
