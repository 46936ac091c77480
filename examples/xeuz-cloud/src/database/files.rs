//! Files. Their bytes would be elsewhere; here is what is known about them.

use super::{Database, id, size};
use crate::model::File;
use crate::xeuz_cloud::fields;
use keyward::Uuid;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

impl Database {
    /// Adds a file to its folder.
    pub async fn add_file(&self, file: &File) -> sqlx::Result<()> {
        let size = i64::try_from(file.size);
        let size = size.map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
        sqlx::query(
            "INSERT INTO files (id, folder_id, owner_id, name, size, mime)
             VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(file.id.to_string())
        .bind(file.folder_id.to_string())
        .bind(file.owner_id.to_string())
        .bind(&file.name)
        .bind(size)
        .bind(&file.mime)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// A file.
    pub async fn file(&self, file_id: Uuid) -> sqlx::Result<File> {
        let file = sqlx::query("SELECT * FROM files WHERE id = ?").bind(file_id.to_string());
        read(&file.fetch_one(&self.pool).await?)
    }

    // ANCHOR: file_meta
    /// What the cache holds of a file; `None` if there is no such file.
    pub async fn file_meta(&self, file_id: Uuid) -> sqlx::Result<Option<fields::FileMeta>> {
        match self.file(file_id).await {
            Ok(File { name, size, mime, owner_id, .. }) => {
                Ok(Some(fields::FileMeta { name, size, mime, owner: owner_id }))
            }
            Err(sqlx::Error::RowNotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }
    // ANCHOR_END: file_meta

    /// Renames a file.
    pub async fn rename_file(&self, file_id: Uuid, name: &str) -> sqlx::Result<()> {
        let change = sqlx::query("UPDATE files SET name = ? WHERE id = ?");
        change.bind(name).bind(file_id.to_string()).execute(&self.pool).await?;
        Ok(())
    }

    /// Moves a file to another folder.
    pub async fn move_file(&self, file_id: Uuid, folder_id: Uuid) -> sqlx::Result<()> {
        let change = sqlx::query("UPDATE files SET folder_id = ? WHERE id = ?");
        let change = change.bind(folder_id.to_string()).bind(file_id.to_string());
        change.execute(&self.pool).await?;
        Ok(())
    }

    /// Deletes a file; whether it was there. Of two who delete it at once, one hears that it was.
    pub async fn delete_file(&self, file_id: Uuid) -> sqlx::Result<bool> {
        let delete = sqlx::query("DELETE FROM files WHERE id = ?").bind(file_id.to_string());
        Ok(delete.execute(&self.pool).await?.rows_affected() == 1)
    }
}

/// The files in one folder.
pub(super) async fn in_folder(
    connection: &mut AnyConnection,
    folder_id: Uuid,
) -> sqlx::Result<Vec<File>> {
    let files = sqlx::query("SELECT * FROM files WHERE folder_id = ?").bind(folder_id.to_string());
    files.fetch_all(connection).await?.iter().map(read).collect()
}

fn read(row: &AnyRow) -> sqlx::Result<File> {
    Ok(File {
        id: id(row, "id")?,
        folder_id: id(row, "folder_id")?,
        owner_id: id(row, "owner_id")?,
        name: row.try_get("name")?,
        size: size(row, "size")?,
        mime: row.try_get("mime")?,
    })
}
