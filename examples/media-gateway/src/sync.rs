//! Chapter 7: reading a platform again. One run at a time, with progress that everybody can see.

use crate::app::App;
use crate::media_gateway::fields::SyncProgress;
use crate::media_gateway::values::{Platform, SyncJobId};
use crate::media_gateway::{events, keys};
use crate::problem::Problem;
use crate::sessions::User;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use keyward::{Error, Guard, Timestamp, random_id};
use serde_json::{Value, json};
use std::time::Duration;

/// How long a platform takes to answer for one title.
const ANSWER: Duration = Duration::from_millis(10);

/// A run of one platform.
struct Run {
    app: App,
    platform: Platform,
    sync_job_id: SyncJobId,
}

// ANCHOR: start
/// Starts a run, unless one is under way.
pub async fn start(
    State(app): State<App>,
    User(_): User,
    Path(platform): Path<String>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let platform = Platform::new(platform)?;
    let sync_job_id: SyncJobId = random_id()?;
    let lock = app.store.at(keys::SyncLock { platform: platform.clone() });
    let Some(guard) = lock.try_acquire_as(sync_job_id.as_str()).await? else {
        return Err(Problem::Busy("a run of this platform is under way"));
    };
    let body = json!({ "sync_job_id": sync_job_id.as_str() });
    tokio::spawn(Run { app, platform, sync_job_id }.under(guard));
    Ok((StatusCode::ACCEPTED, Json(body)))
}

impl Run {
    /// The guard renews the lock while the run works. If the lock is lost, so is the run: another may have begun.
    async fn under(self, guard: Guard) {
        let read = tokio::select! {
            read = self.read(guard.fence()) => read,
            () = guard.lost() => Ok(false),
        };
        match read {
            Ok(true) => self.app.tell(events::PlatformSynced { platform: self.platform }).await,
            Ok(false) => tracing::warn!(run = %self.sync_job_id, "another run has begun since"),
            Err(error) => tracing::warn!(run = %self.sync_job_id, %error, "a run failed"),
        }
        // If it fails, the lock is free after its TTL.
        if let Err(error) = guard.release().await {
            tracing::warn!(%error, "a lock was not released");
        }
    }
    // ANCHOR_END: start

    /// Reads all titles of the platform; `false` if a later run has written since.
    async fn read(&self, fence: u64) -> Result<bool, Error> {
        let Ok(titles) = self.app.catalogue.on_platform(&self.platform).await;
        let progress =
            self.app.store.at(keys::SyncProgress { sync_job_id: self.sync_job_id.clone() });
        let total_items = i64::try_from(titles.len()).unwrap_or(i64::MAX);
        let now = Timestamp::now();
        let fields = SyncProgress {
            total_items,
            processed_items: 0,
            failed_items: 0,
            started_at: now.clone(),
            updated_at: now,
        };
        progress.set(&fields).await?;
        for (processed, id) in (1..).zip(&titles) {
            tokio::time::sleep(ANSWER).await;
            let Ok(written) = self.app.catalogue.watched(&self.platform, fence, id, 1.0).await;
            if !written {
                return Ok(false);
            }
            let changes = [
                SyncProgress::PROCESSED_ITEMS.to(&processed),
                SyncProgress::UPDATED_AT.to(&Timestamp::now()),
            ];
            progress.update(changes).await?;
        }
        let last = self.app.store.at(keys::LastSync { platform: self.platform.clone() });
        last.set(&Timestamp::now()).await?;
        Ok(true)
    }
}

/// How far a run is.
pub async fn progress(
    State(app): State<App>,
    User(_): User,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let progress = app.store.at(keys::SyncProgress { sync_job_id: SyncJobId::new(id)? });
    let it = progress.get().await?.ok_or(Problem::NotFound)?;
    Ok(Json(json!({
        "total_items": it.total_items,
        "processed_items": it.processed_items,
        "failed_items": it.failed_items,
        "started_at": it.started_at.as_str(),
        "updated_at": it.updated_at.as_str(),
    })))
}

/// When a platform was read last, and by which run it is read now.
pub async fn platform(
    State(app): State<App>,
    User(_): User,
    Path(platform): Path<String>,
) -> Result<Json<Value>, Problem> {
    let platform = Platform::new(platform)?;
    let last = app.store.at(keys::LastSync { platform: platform.clone() }).get().await?;
    let holders = app.store.at(keys::SyncLock { platform }).holders().await?;
    Ok(Json(json!({
        "last_sync": last.map(|time| time.to_string()),
        "running": holders.first().map(|holder| &holder.name),
    })))
}
