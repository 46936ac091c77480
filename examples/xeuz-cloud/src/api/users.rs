//! Users and their roles.

use super::user::User;
use crate::app::App;
use crate::model::{Name, Role};
use crate::problem::Problem;
use crate::xeuz_cloud::events;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use keyward::Uuid;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
pub struct Add {
    name: Name,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct RoleBody {
    role: Role,
}

/// A new user, who gets a folder of the same id.
pub async fn add(
    State(app): State<App>,
    Path(user_id): Path<Uuid>,
    Json(add): Json<Add>,
) -> Result<(StatusCode, Json<RoleBody>), Problem> {
    let role = app.database.add_user(user_id, add.name.as_str()).await?;
    // Whoever asked for the folder before was told that there is none.
    app.tell(events::ShareUpdated { folder_id: user_id }).await;
    Ok((StatusCode::CREATED, Json(RoleBody { role })))
}

/// An admin changes what a user may do in all folders.
pub async fn set_role(
    State(app): State<App>,
    User(admin): User,
    Path(user_id): Path<Uuid>,
    Json(RoleBody { role }): Json<RoleBody>,
) -> Result<StatusCode, Problem> {
    app.require_admin(admin).await?;
    app.database.set_role(user_id, role).await?;
    app.tell(events::RoleUpdated { user_id }).await;
    Ok(StatusCode::NO_CONTENT)
}

impl App {
    /// Lets a request go on if an admin makes it. It is rare enough to ask the database.
    pub async fn require_admin(&self, user_id: Uuid) -> Result<(), Problem> {
        match self.database.role(user_id).await? {
            Some(Role::Admin) => Ok(()),
            _ => Err(Problem::Forbidden),
        }
    }
}
