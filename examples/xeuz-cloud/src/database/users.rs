//! Users, and how much they store.

use super::{Database, id, size, word};
use crate::model::Role;
use keyward::Uuid;
use sqlx::Row as _;

/// What a subscription allows until somebody sells bigger ones: 5 GB.
const STORAGE: i64 = 5_000_000_000;

impl Database {
    /// Adds a user, with a folder of the same id. The first one is the admin.
    pub async fn add_user(&self, user_id: Uuid, name: &str) -> sqlx::Result<Role> {
        let user_id = user_id.to_string();
        let mut transaction = self.pool.begin().await?;
        let others = sqlx::query("SELECT id FROM users LIMIT 1");
        let is_first = others.fetch_optional(&mut *transaction).await?.is_none();
        let role = if is_first { Role::Admin } else { Role::Member };
        sqlx::query("INSERT INTO users (id, name, role, storage) VALUES (?, ?, ?, ?)")
            .bind(&user_id)
            .bind(name)
            .bind(role.as_str())
            .bind(STORAGE)
            .execute(&mut *transaction)
            .await?;
        sqlx::query("INSERT INTO folders (id, owner_id, name) VALUES (?, ?, ?)")
            .bind(&user_id)
            .bind(&user_id)
            .bind(name)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(role)
    }

    /// A user's role; `None` if there is no such user.
    pub async fn role(&self, user_id: Uuid) -> sqlx::Result<Option<Role>> {
        let role = sqlx::query("SELECT role FROM users WHERE id = ?").bind(user_id.to_string());
        role.fetch_optional(&self.pool).await?.map(|row| word(&row, "role")).transpose()
    }

    /// Changes a user's role.
    pub async fn set_role(&self, user_id: Uuid, role: Role) -> sqlx::Result<()> {
        self.role(user_id).await?.ok_or(sqlx::Error::RowNotFound)?;
        let change = sqlx::query("UPDATE users SET role = ? WHERE id = ?");
        change.bind(role.as_str()).bind(user_id.to_string()).execute(&self.pool).await?;
        Ok(())
    }

    /// How many bytes a user may store.
    pub async fn storage(&self, user_id: Uuid) -> sqlx::Result<u64> {
        let storage = sqlx::query("SELECT storage FROM users WHERE id = ?");
        size(&storage.bind(user_id.to_string()).fetch_one(&self.pool).await?, "storage")
    }

    /// How many bytes a user does store.
    pub async fn used(&self, user_id: Uuid) -> sqlx::Result<i64> {
        let used = sqlx::query(
            "SELECT CAST(COALESCE(SUM(size), 0) AS SIGNED INTEGER) AS used
             FROM files WHERE owner_id = ?",
        );
        used.bind(user_id.to_string()).fetch_one(&self.pool).await?.try_get("used")
    }

    /// The same for all users.
    pub async fn used_by_all(&self) -> sqlx::Result<Vec<(Uuid, i64)>> {
        let all = sqlx::query(
            "SELECT users.id, CAST(COALESCE(SUM(files.size), 0) AS SIGNED INTEGER) AS used
             FROM users LEFT JOIN files ON files.owner_id = users.id
             GROUP BY users.id ORDER BY users.id",
        );
        let rows = all.fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((id(row, "id")?, row.try_get("used")?))).collect()
    }
}
