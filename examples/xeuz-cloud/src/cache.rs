//! What is read often: from Redis if it is there, otherwise from the database.

use crate::app::App;
use crate::model::FolderListing;
use crate::problem::Problem;
use crate::xeuz_cloud::stored::Permission;
use crate::xeuz_cloud::{self, fields, keys};
use keyward::Uuid;

impl App {
    // ANCHOR: listing
    /// What is in a folder.
    pub async fn listing(&self, folder_id: Uuid) -> Result<FolderListing, Problem> {
        let listing = self.store.at(keys::FolderListing { folder_id });
        Ok(listing.get_or_load(|| self.database.listing(folder_id)).await?)
    }
    // ANCHOR_END: listing

    // ANCHOR: file_meta
    /// What is known about a file.
    pub async fn file_meta(&self, file_id: Uuid) -> Result<fields::FileMeta, Problem> {
        let meta = self.store.at(keys::FileMeta { file_id });
        let found = meta.find_or_load(|| self.database.file_meta(file_id)).await?;
        found.ok_or(Problem::NotFound)
    }
    // ANCHOR_END: file_meta

    // ANCHOR: permission
    /// What a user may do in a folder.
    pub async fn permission(&self, user_id: Uuid, folder_id: Uuid) -> Result<Permission, Problem> {
        let permission = self.store.at(keys::Permission { folder_id, user_id });
        let found =
            permission.find_or_load(|| self.database.permission(folder_id, user_id)).await?;
        // Whoever may not see a folder is not told that there is one.
        found.ok_or(Problem::NotFound)
    }
    // ANCHOR_END: permission

    /// Lets a request go on if the user may do at least this much in the folder.
    pub async fn require(
        &self,
        least: Permission,
        user_id: Uuid,
        folder_id: Uuid,
    ) -> Result<(), Problem> {
        // The schema's words are in order: an owner comes before an editor.
        let enough = self.permission(user_id, folder_id).await? <= least;
        if enough { Ok(()) } else { Err(Problem::Forbidden) }
    }

    // ANCHOR: tell
    /// Says what has happened, after the database knows it: what it makes invalid is removed.
    pub async fn tell<E>(&self, event: E)
    where
        E: keyward::Event<Keyspace = xeuz_cloud::Key>,
    {
        // While Redis is away, Keyward remembers and makes up for it. What is left are servers that
        // refuse, which the user can do nothing about: old values live until their TTL ends.
        if let Err(error) = self.store.emit(event).await {
            tracing::warn!(event = E::NAME, %error, "old values may be served for a while");
        }
    }
    // ANCHOR_END: tell
}
