//! Folders.

use super::user::User;
use crate::app::App;
use crate::model::{FolderListing, Name};
use crate::problem::Problem;
use crate::xeuz_cloud::events;
use crate::xeuz_cloud::stored::Permission;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use keyward::Uuid;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
pub struct Add {
    parent_id: Uuid,
    name: Name,
}

#[derive(Debug, Deserialize)]
pub struct Rename {
    name: Name,
}

/// What is in a folder.
pub async fn browse(
    State(app): State<App>,
    User(user_id): User,
    Path(folder_id): Path<Uuid>,
) -> Result<Json<FolderListing>, Problem> {
    app.require(Permission::Viewer, user_id, folder_id).await?;
    Ok(Json(app.listing(folder_id).await?))
}

/// A new folder in another one.
pub async fn add(
    State(app): State<App>,
    User(user_id): User,
    Path(folder_id): Path<Uuid>,
    Json(Add { parent_id, name }): Json<Add>,
) -> Result<StatusCode, Problem> {
    app.require(Permission::Editor, user_id, parent_id).await?;
    app.database.add_folder(folder_id, parent_id, name.as_str()).await?;
    app.tell(events::SubfolderCreated { parent_id }).await;
    // Whoever asked for it before was told that there is none, which is remembered for a while.
    app.tell(events::ShareUpdated { folder_id }).await;
    Ok(StatusCode::CREATED)
}

/// Another name for a folder.
pub async fn rename(
    State(app): State<App>,
    User(user_id): User,
    Path(folder_id): Path<Uuid>,
    Json(Rename { name }): Json<Rename>,
) -> Result<StatusCode, Problem> {
    app.require(Permission::Editor, user_id, folder_id).await?;
    let parent_id = app.parent_of(folder_id).await?;
    app.database.rename_folder(folder_id, name.as_str()).await?;
    app.tell(events::FolderRenamed { parent_id }).await;
    Ok(StatusCode::NO_CONTENT)
}

// ANCHOR: delete
/// Deletes a folder with everything in it: an event for each folder and each file.
pub async fn delete(
    State(app): State<App>,
    User(user_id): User,
    Path(folder_id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    app.require(Permission::Owner, user_id, folder_id).await?;
    let above = app.parent_of(folder_id).await?;
    let (folders, files) = app.database.delete_folder(folder_id).await?;
    let mut freed: BTreeMap<Uuid, i64> = BTreeMap::new();
    for file in files {
        *freed.entry(file.owner_id).or_default() += file.size.cast_signed();
        app.tell(events::FileDeleted { file_id: file.id, parent_id: file.folder_id }).await;
    }
    for folder in folders {
        let parent_id = folder.parent_id.unwrap_or(above);
        app.tell(events::FolderDeleted { folder_id: folder.id, parent_id }).await;
    }
    for (owner_id, bytes) in freed {
        app.quotas.count(owner_id, -bytes).await;
    }
    Ok(StatusCode::NO_CONTENT)
}
// ANCHOR_END: delete

impl App {
    /// The folder that a folder is in. What would change a user's own is refused.
    async fn parent_of(&self, folder_id: Uuid) -> Result<Uuid, Problem> {
        let folder = self.database.folder(folder_id).await?;
        folder.parent_id.ok_or(Problem::Senseless("a user's own folder stays as it is"))
    }
}
