//! `lock:{resource}`: one change at a time of an entity, or of the tree.

use crate::app::App;
use crate::problem::Problem;
use crate::reed_cms::{keys, values};
use std::time::Duration;

/// How long a request waits for somebody else's change.
const PATIENCE: Duration = Duration::from_secs(2);

impl App {
    /// Does something while nobody else does anything to the resource. If the lock is lost, so is the work: somebody
    /// else may have begun.
    pub async fn alone<R>(
        &self,
        lock: keys::Lock,
        work: impl Future<Output = Result<R, Problem>>,
    ) -> Result<R, Problem> {
        let waited = self.site.at(lock).acquire_within(PATIENCE).await?;
        let guard = waited.ok_or(Problem::Busy("somebody else is changing it"))?;
        let done = tokio::select! {
            done = work => done,
            () = guard.lost() => Err(Problem::Busy("somebody else may have changed it meanwhile")),
        };
        // If it fails, the lock is free after its TTL.
        if let Err(error) = guard.release().await {
            tracing::warn!(%error, "a lock was not released");
        }
        done
    }
}

/// The lock of an entity: `lock:snippet:550e8400-…`.
pub fn of_entity(entity: &keys::Entity) -> Result<keys::Lock, Problem> {
    named(&format!("{}:{}", entity.type_, entity.id))
}

/// A lock by its name.
pub fn named(resource: &str) -> Result<keys::Lock, Problem> {
    Ok(keys::Lock::new(values::Resource::new(resource)?)?)
}
