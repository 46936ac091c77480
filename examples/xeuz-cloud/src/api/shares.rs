//! Who may do what in a folder.

use super::user::User;
use crate::app::App;
use crate::model::word;
use crate::problem::Problem;
use crate::xeuz_cloud::events;
use crate::xeuz_cloud::stored::Permission;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use keyward::Uuid;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
pub struct Share {
    #[serde(deserialize_with = "word")]
    permission: Permission,
}

/// What the user may do in a folder.
pub async fn permission(
    State(app): State<App>,
    User(user_id): User,
    Path(folder_id): Path<Uuid>,
) -> Result<Json<Value>, Problem> {
    let permission = app.permission(user_id, folder_id).await?;
    Ok(Json(json!({ "permission": permission.as_str() })))
}

/// An owner shares a folder with somebody, or changes what they may do.
pub async fn grant(
    State(app): State<App>,
    User(user_id): User,
    Path((folder_id, with)): Path<(Uuid, Uuid)>,
    Json(Share { permission }): Json<Share>,
) -> Result<StatusCode, Problem> {
    app.share(user_id, folder_id, with, Some(permission)).await
}

/// An owner takes that back.
pub async fn revoke(
    State(app): State<App>,
    User(user_id): User,
    Path((folder_id, with)): Path<(Uuid, Uuid)>,
) -> Result<StatusCode, Problem> {
    app.share(user_id, folder_id, with, None).await
}

impl App {
    // ANCHOR: share
    async fn share(
        &self,
        owner: Uuid,
        folder_id: Uuid,
        with: Uuid,
        permission: Option<Permission>,
    ) -> Result<StatusCode, Problem> {
        self.require(Permission::Owner, owner, folder_id).await?;
        // What is granted here is granted below, too.
        for folder in self.database.share(folder_id, with, permission).await? {
            self.tell(events::ShareUpdated { folder_id: folder.id }).await;
        }
        Ok(StatusCode::NO_CONTENT)
    }
    // ANCHOR_END: share
}
