//! How much users store: counted in Redis, known for sure by the database.

use crate::database::Database;
use crate::problem::Problem;
use crate::xeuz_cloud::keys;
use keyward::{Store, Uuid};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The counters of all users. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Quotas {
    store: Store,
    database: Database,
    /// Whose counters have missed something, and how often: they are set from the database before
    /// they are believed
    wrong: Arc<Mutex<HashMap<Uuid, u64>>>,
}

impl Quotas {
    pub fn new(store: Store, database: Database) -> Self {
        Quotas { store, database, wrong: Arc::default() }
    }

    // ANCHOR: count
    /// Counts an upload, or with a negative number a deletion, that the database has.
    pub async fn count(&self, user_id: Uuid, bytes: i64) {
        let counted = self.store.at(keys::QuotaUsed { user_id }).add(bytes).await;
        // Refused below zero, or not heard of: either way the counter is wrong from here on. One that began
        // with this upload may have been lost before.
        if !counted.is_ok_and(|it| it.counted && it.value != bytes) {
            *self.wrong().entry(user_id).or_default() += 1;
        }
    }
    // ANCHOR_END: count

    // ANCHOR: used
    /// How many bytes a user stores.
    pub async fn used(&self, user_id: Uuid) -> sqlx::Result<i64> {
        let missed = self.wrong().get(&user_id).copied();
        if let Some(missed) = missed {
            return self.recount(user_id, missed).await;
        }
        match self.store.at(keys::QuotaUsed { user_id }).find().await {
            Ok(Some(used)) => Ok(used),
            // Lost, or never written: zero would give away the whole storage again.
            Ok(None) => self.recount(user_id, 0).await,
            Err(_) => self.database.used(user_id).await,
        }
    }
    // ANCHOR_END: used

    /// Sets a counter that has missed so much from the database. An upload that ends meanwhile may
    /// be missed too, until the next night.
    async fn recount(&self, user_id: Uuid, missed: u64) -> sqlx::Result<i64> {
        let used = self.database.used(user_id).await?;
        let set = self.store.at(keys::QuotaUsed { user_id }).set(used).await;
        let mut wrong = self.wrong();
        if set.is_ok() && wrong.get(&user_id) == Some(&missed) {
            wrong.remove(&user_id);
        }
        Ok(used)
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
            let mut results = batch.run().await?;
            written.into_iter().try_for_each(|set| results.take(set))?;
        }
        Ok(all.len())
    }
    // ANCHOR_END: rebuild

    fn wrong(&self) -> MutexGuard<'_, HashMap<Uuid, u64>> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
