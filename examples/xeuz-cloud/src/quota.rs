//! How much users store: counted in Redis, known for sure by the database.

use crate::database::Database;
use crate::problem::Problem;
use crate::xeuz_cloud::keys;
use keyward::{Promise, Store, Uuid};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The counters of all users. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Quotas {
    store: Store,
    database: Database,
    /// Whose counter has missed something, and must be set from the database before it is believed
    wrong: Arc<Mutex<HashSet<Uuid>>>,
}

impl Quotas {
    pub fn new(store: Store, database: Database) -> Self {
        Quotas { store, database, wrong: Arc::default() }
    }

    // ANCHOR: count
    /// Counts an upload, or with a negative number a deletion, that the database has.
    pub async fn count(&self, user_id: Uuid, bytes: i64) {
        let counted = self.store.at(keys::QuotaUsed { user_id }).add(bytes).await;
        // Refused below zero, or not heard of: either way the counter is wrong from here on.
        if !counted.is_ok_and(|it| it.counted) {
            self.wrong().insert(user_id);
        }
    }
    // ANCHOR_END: count

    // ANCHOR: used
    /// How many bytes a user stores.
    pub async fn used(&self, user_id: Uuid) -> sqlx::Result<i64> {
        if self.wrong().contains(&user_id) {
            return self.recount(user_id).await;
        }
        match self.store.at(keys::QuotaUsed { user_id }).get().await {
            Ok(used) => Ok(used),
            Err(_) => self.database.used(user_id).await,
        }
    }
    // ANCHOR_END: used

    /// Sets a counter from the database. An upload that ends meanwhile may be missed, until the
    /// next night.
    async fn recount(&self, user_id: Uuid) -> sqlx::Result<i64> {
        self.wrong().remove(&user_id);
        let used = self.database.used(user_id).await;
        let set = match &used {
            Ok(used) => self.store.at(keys::QuotaUsed { user_id }).set(*used).await.is_ok(),
            Err(_) => false,
        };
        if !set {
            self.wrong().insert(user_id);
        }
        used
    }

    // ANCHOR: rebuild
    /// Sets all counters from the database, as is done every night; how many there are.
    pub async fn rebuild(&self) -> Result<usize, Problem> {
        let all = self.database.used_by_all().await?;
        for some in all.chunks(1000) {
            let mut batch = self.store.pipeline();
            let set =
                |&(user_id, used)| batch.add(self.store.at(keys::QuotaUsed { user_id }).set(used));
            let written: Vec<_> = some.iter().map(set).collect();
            batch.run().await?;
            written.into_iter().try_for_each(Promise::take)?;
        }
        Ok(all.len())
    }
    // ANCHOR_END: rebuild

    fn wrong(&self) -> MutexGuard<'_, HashSet<Uuid>> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
