//! Files.

use super::user::User;
use crate::app::App;
use crate::model::{File, Mime, Name};
use crate::problem::Problem;
use crate::upload_limit;
use crate::xeuz_cloud::events;
use crate::xeuz_cloud::stored::Permission;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use keyward::Uuid;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
pub struct Upload {
    folder_id: Uuid,
    name: Name,
    size: u64,
    mime: Mime,
}

#[derive(Debug, Deserialize)]
pub struct Rename {
    name: Name,
}

#[derive(Debug, Deserialize)]
pub struct Move {
    folder_id: Uuid,
}

#[derive(Debug, Serialize)]
pub struct Meta {
    name: String,
    size: u64,
    mime: String,
    owner: Uuid,
}

/// What is known about a file.
pub async fn show(
    State(app): State<App>,
    User(user_id): User,
    Path(file_id): Path<Uuid>,
) -> Result<Json<Meta>, Problem> {
    let meta = app.file_meta(file_id).await?;
    // Whoever uploaded it may see it: it takes their storage. For the others the folder decides,
    // which the cached fields do not name.
    if meta.owner != user_id {
        let folder_id = app.database.file(file_id).await?.folder_id;
        app.require(Permission::Viewer, user_id, folder_id).await?;
    }
    Ok(Json(Meta { name: meta.name, size: meta.size, mime: meta.mime, owner: meta.owner }))
}

// ANCHOR: upload
/// A new file, whose bytes are left out of this example.
pub async fn upload(
    State(app): State<App>,
    User(user_id): User,
    Path(file_id): Path<Uuid>,
    Json(Upload { folder_id, name, size, mime }): Json<Upload>,
) -> Result<(StatusCode, HeaderMap), Problem> {
    app.require(Permission::Editor, user_id, folder_id).await?;
    let headers = upload_limit::check(&app.store, user_id).await?;
    let used = app.quotas.used(user_id).await?.unsigned_abs();
    if used.saturating_add(size) > app.database.storage(user_id).await? {
        return Err(Problem::StorageFull);
    }
    let (name, mime) = (name.into(), mime.into());
    let file = File { id: file_id, folder_id, owner_id: user_id, name, size, mime };
    app.database.add_file(&file).await?;
    app.quotas.count(user_id, size.cast_signed()).await;
    app.tell(events::FileUploaded { parent_id: folder_id }).await;
    Ok((StatusCode::CREATED, headers))
}
// ANCHOR_END: upload

/// Another name for a file.
pub async fn rename(
    State(app): State<App>,
    User(user_id): User,
    Path(file_id): Path<Uuid>,
    Json(Rename { name }): Json<Rename>,
) -> Result<StatusCode, Problem> {
    let file = app.file_to_change(user_id, file_id).await?;
    app.database.rename_file(file_id, name.as_str()).await?;
    app.tell(events::FileRenamed { file_id, parent_id: file.folder_id }).await;
    Ok(StatusCode::NO_CONTENT)
}

/// Another folder for a file.
pub async fn r#move(
    State(app): State<App>,
    User(user_id): User,
    Path(file_id): Path<Uuid>,
    Json(Move { folder_id: to_id }): Json<Move>,
) -> Result<StatusCode, Problem> {
    let file = app.file_to_change(user_id, file_id).await?;
    app.require(Permission::Editor, user_id, to_id).await?;
    app.database.move_file(file_id, to_id).await?;
    app.tell(events::FileMoved { file_id, from_id: file.folder_id, to_id }).await;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a file, and gives its owner the storage back.
pub async fn delete(
    State(app): State<App>,
    User(user_id): User,
    Path(file_id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let file = app.file_to_change(user_id, file_id).await?;
    if !app.database.delete_file(file_id).await? {
        return Err(Problem::NotFound);
    }
    app.quotas.count(file.owner_id, -file.size.cast_signed()).await;
    app.tell(events::FileDeleted { file_id, parent_id: file.folder_id }).await;
    Ok(StatusCode::NO_CONTENT)
}

impl App {
    /// A file, if the user may change it. The database is about to be asked anyway.
    async fn file_to_change(&self, user_id: Uuid, file_id: Uuid) -> Result<File, Problem> {
        let file = self.database.file(file_id).await?;
        self.require(Permission::Editor, user_id, file.folder_id).await?;
        Ok(file)
    }
}
