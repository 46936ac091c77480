//! Folders, what is in them, and who may do what.

use super::{Database, files, id, size, word};
use crate::model::{File, FileEntry, Folder, FolderEntry, FolderListing};
use crate::xeuz_cloud::stored::Permission;
use keyward::Uuid;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

impl Database {
    /// Makes a folder in another one.
    pub async fn add_folder(&self, id: Uuid, parent_id: Uuid, name: &str) -> sqlx::Result<()> {
        let parent = self.folder(parent_id).await?;
        sqlx::query("INSERT INTO folders (id, parent_id, owner_id, name) VALUES (?, ?, ?, ?)")
            .bind(id.to_string())
            .bind(parent_id.to_string())
            .bind(parent.owner_id.to_string())
            .bind(name)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// A folder.
    pub async fn folder(&self, folder_id: Uuid) -> sqlx::Result<Folder> {
        let folder = sqlx::query("SELECT id, parent_id, owner_id FROM folders WHERE id = ?");
        read(&folder.bind(folder_id.to_string()).fetch_one(&self.pool).await?)
    }

    /// What is in a folder.
    pub async fn listing(&self, folder_id: Uuid) -> sqlx::Result<FolderListing> {
        let folders = sqlx::query("SELECT id, name FROM folders WHERE parent_id = ? ORDER BY name");
        let folders = folders.bind(folder_id.to_string()).fetch_all(&self.pool).await?;
        let files =
            sqlx::query("SELECT id, name, size, mime FROM files WHERE folder_id = ? ORDER BY name");
        let files = files.bind(folder_id.to_string()).fetch_all(&self.pool).await?;
        let folder = |row| Ok(FolderEntry { id: id(row, "id")?, name: row.try_get("name")? });
        let file = |row| {
            Ok(FileEntry {
                id: id(row, "id")?,
                name: row.try_get("name")?,
                size: size(row, "size")?,
                mime: row.try_get("mime")?,
            })
        };
        Ok(FolderListing {
            folders: folders.iter().map(folder).collect::<sqlx::Result<_>>()?,
            files: files.iter().map(file).collect::<sqlx::Result<_>>()?,
        })
    }

    /// What a user may do in a folder: what a share of it, or of one above it, grants, unless it is
    /// the user's own; as far as the user's role goes.
    pub async fn permission(
        &self,
        folder_id: Uuid,
        user_id: Uuid,
    ) -> sqlx::Result<Option<Permission>> {
        let Some(role) = self.role(user_id).await? else { return Ok(None) };
        let folder = match self.folder(folder_id).await {
            Err(sqlx::Error::RowNotFound) => return Ok(None),
            folder => folder?,
        };
        if folder.owner_id == user_id {
            return Ok(role.permits(Some(Permission::Owner)));
        }
        let shares = sqlx::query(
            "WITH RECURSIVE above (id, parent_id) AS (
                 SELECT id, parent_id FROM folders WHERE id = ?
                 UNION ALL
                 SELECT folders.id, folders.parent_id
                 FROM folders JOIN above ON folders.id = above.parent_id
             )
             SELECT shares.permission FROM shares JOIN above ON shares.folder_id = above.id
             WHERE shares.user_id = ?",
        );
        let shares = shares.bind(folder_id.to_string()).bind(user_id.to_string());
        let rows = shares.fetch_all(&self.pool).await?;
        let granted: Vec<Permission> =
            rows.iter().map(|row| word(row, "permission")).collect::<sqlx::Result<_>>()?;
        Ok(role.permits(granted.into_iter().min()))
    }

    /// Renames a folder.
    pub async fn rename_folder(&self, folder_id: Uuid, name: &str) -> sqlx::Result<()> {
        let change = sqlx::query("UPDATE folders SET name = ? WHERE id = ?");
        change.bind(name).bind(folder_id.to_string()).execute(&self.pool).await?;
        Ok(())
    }

    /// Grants somebody something in a folder and all below it, or with `None` nothing; the folders.
    pub async fn share(
        &self,
        folder_id: Uuid,
        user_id: Uuid,
        permission: Option<Permission>,
    ) -> sqlx::Result<Vec<Folder>> {
        let (folder, user) = (folder_id.to_string(), user_id.to_string());
        let mut transaction = self.pool.begin().await?;
        let revoke = sqlx::query("DELETE FROM shares WHERE folder_id = ? AND user_id = ?");
        revoke.bind(&folder).bind(&user).execute(&mut *transaction).await?;
        if let Some(permission) = permission {
            sqlx::query("INSERT INTO shares (folder_id, user_id, permission) VALUES (?, ?, ?)")
                .bind(&folder)
                .bind(&user)
                .bind(permission.as_str())
                .execute(&mut *transaction)
                .await?;
        }
        let folders = below(&mut transaction, folder_id).await?;
        transaction.commit().await?;
        Ok(folders)
    }

    /// Deletes a folder with everything below it; what that was, the folder itself first.
    pub async fn delete_folder(&self, folder_id: Uuid) -> sqlx::Result<(Vec<Folder>, Vec<File>)> {
        let mut transaction = self.pool.begin().await?;
        let folders = below(&mut transaction, folder_id).await?;
        let mut deleted = Vec::new();
        for folder in &folders {
            deleted.extend(files::in_folder(&mut transaction, folder.id).await?);
        }
        // The deepest first; files and shares go with their folder.
        for folder in folders.iter().rev() {
            let delete = sqlx::query("DELETE FROM folders WHERE id = ?");
            delete.bind(folder.id.to_string()).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok((folders, deleted))
    }
}

/// A folder and all below it, each behind the one that it is in.
async fn below(connection: &mut AnyConnection, folder_id: Uuid) -> sqlx::Result<Vec<Folder>> {
    let below = sqlx::query(
        "WITH RECURSIVE below (id, parent_id, owner_id, depth) AS (
             SELECT id, parent_id, owner_id, 0 FROM folders WHERE id = ?
             UNION ALL
             SELECT folders.id, folders.parent_id, folders.owner_id, below.depth + 1
             FROM folders JOIN below ON folders.parent_id = below.id
         )
         SELECT id, parent_id, owner_id FROM below ORDER BY depth",
    );
    let rows = below.bind(folder_id.to_string()).fetch_all(connection).await?;
    rows.iter().map(read).collect()
}

fn read(row: &AnyRow) -> sqlx::Result<Folder> {
    let parent_id: Option<&str> = row.try_get("parent_id")?;
    let parent_id = parent_id.is_some().then(|| id(row, "parent_id")).transpose()?;
    Ok(Folder { id: id(row, "id")?, parent_id, owner_id: id(row, "owner_id")? })
}
