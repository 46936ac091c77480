//! The truth about users, folders, files and shares: SQLite, or MariaDB and MySQL.

mod files;
mod folders;
mod users;

use keyward::Uuid;
use sqlx::any::{AnyPoolOptions, AnyRow};
use sqlx::{AnyPool, Row as _};
use std::str::FromStr;

/// A database with our tables. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Database {
    pool: AnyPool,
}

impl Database {
    /// Connects, and makes the tables where there are none.
    pub async fn connect(url: &str) -> sqlx::Result<Self> {
        sqlx::any::install_default_drivers();
        // SQLite writes one at a time anyway; in memory, every connection would be a database.
        let connections = if url.starts_with("sqlite:") { 1 } else { 16 };
        let pool = AnyPoolOptions::new().max_connections(connections).connect(url).await?;
        for table in include_str!("tables.sql").split_inclusive(';') {
            if !table.trim().is_empty() {
                sqlx::query(table).execute(&pool).await?;
            }
        }
        Ok(Database { pool })
    }

    /// Whether it answers.
    pub async fn is_up(&self) -> bool {
        sqlx::query("SELECT 1").execute(&self.pool).await.is_ok()
    }
}

/// An id as it stands in a column: both databases have text, one of them has UUIDs.
fn id(row: &AnyRow, column: &str) -> sqlx::Result<Uuid> {
    word(row, column)
}

/// A text that is one of a few words.
fn word<W>(row: &AnyRow, column: &str) -> sqlx::Result<W>
where
    W: FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>,
{
    let text: &str = row.try_get(column)?;
    text.parse().map_err(|error: W::Err| sqlx::Error::Decode(error.into()))
}

/// A number that is never negative.
fn size(row: &AnyRow, column: &str) -> sqlx::Result<u64> {
    let size: i64 = row.try_get(column)?;
    size.try_into().map_err(|error| sqlx::Error::Decode(Box::new(error)))
}
