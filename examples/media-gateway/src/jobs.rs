//! Chapter 8: jobs. Requests push them, workers of this process handle them.

use crate::app::App;
use crate::media_gateway::values::{ContentId, JobId, JobType};
use crate::media_gateway::{fields, keys};
use crate::model::JobPayload;
use crate::problem::Problem;
use crate::sessions::User;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use keyward::queue::{Failure, Job, Push, terminated};
use keyward::{Error, Timestamp, random_id};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// What there are workers for. Nothing else can be pushed.
const TYPES: [&str; 2] = ["thumbnail", "transcode"];

#[derive(Debug, Deserialize)]
pub struct Paused {
    paused: bool,
}

// ANCHOR: workers
/// Starts a worker for each type. They end when the process is told to, after the jobs that they have begun.
pub fn workers(app: &App) -> Result<Vec<JoinHandle<Result<(), Error>>>, keyward::ValueError> {
    let start = |job_type| {
        let (app, job_type) = (app.clone(), JobType::new(job_type)?);
        Ok(tokio::spawn(async move {
            let queue = app.store.at(keys::JobQueue { job_type: job_type.clone() });
            let worker = queue.worker().concurrency(4).until(terminated());
            worker.run(async |job: Job<JobPayload>| app.work(&job_type, &job).await).await
        }))
    };
    TYPES.into_iter().map(start).collect()
}

impl App {
    /// One attempt. An error is tried again, up to `max_attempts`, and then among the dead letters.
    async fn work(&self, job_type: &JobType, job: &Job<JobPayload>) -> Result<(), Failure> {
        if job_type.as_str() == "transcode" {
            return Err("this example has no transcoder".into());
        }
        let JobPayload { content_id, width } = &job.value;
        let Some(meta) = self.catalogue.title(&ContentId::new(content_id)?).await? else {
            return Err(Failure::fatal("there is no such title")); // and never will be
        };
        tracing::info!(title = meta.title, width, "a thumbnail was made");
        Ok(())
    }
}
// ANCHOR_END: workers

/// Pushes a job.
pub async fn push(
    State(app): State<App>,
    User(_): User,
    Path(job_type): Path<String>,
    Json(payload): Json<JobPayload>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let job_id: JobId = random_id()?;
    let push = Push::new().id(job_id.as_str());
    app.store.at(known(job_type)?).push_with(&payload, push).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "job_id": job_id.as_str() }))))
}

/// How a job stands. The queue writes it at every step.
pub async fn status(
    State(app): State<App>,
    User(_): User,
    Path((_, id)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let status = app.store.at(keys::JobStatus { job_id: JobId::new(id)? }).get().await?;
    let fields::JobStatus { status, created_at, started_at, completed_at, error } =
        status.ok_or(Problem::NotFound)?;
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
    Ok(Json(json!({
        "status": status.as_str(),
        "created_at": created_at.as_str(),
        "started_at": time(started_at),
        "completed_at": time(completed_at),
        "error": error,
    })))
}

/// How many jobs there are, and those that failed for good.
pub async fn queue(
    State(app): State<App>,
    User(_): User,
    Path(job_type): Path<String>,
) -> Result<Json<Value>, Problem> {
    let queue = app.store.at(known(job_type)?);
    let stats = queue.stats().await?;
    let dead = queue.dead(0, 9).await?;
    let dead = dead
        .iter()
        .map(|dead| json!({ "id": dead.id, "error": dead.error, "attempts": dead.attempts }));
    Ok(Json(json!({
        "waiting": stats.listed + stats.ready + stats.due,
        "running": stats.leased,
        "paused": stats.paused,
        "dead": dead.collect::<Value>(),
    })))
}

/// Lets workers take no jobs, or take them again.
pub async fn pause(
    State(app): State<App>,
    User(_): User,
    Path(job_type): Path<String>,
    Json(Paused { paused }): Json<Paused>,
) -> Result<StatusCode, Problem> {
    let queue = app.store.at(known(job_type)?);
    if paused {
        queue.pause().await?;
    } else {
        queue.resume().await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Tries all dead letters again.
pub async fn requeue(
    State(app): State<App>,
    User(_): User,
    Path(job_type): Path<String>,
) -> Result<Json<Value>, Problem> {
    let requeued = app.store.at(known(job_type)?).requeue_all().await?;
    Ok(Json(json!({ "requeued": requeued })))
}

fn known(job_type: String) -> Result<keys::JobQueue, Problem> {
    let known = TYPES.contains(&job_type.as_str());
    if known {
        Ok(keys::JobQueue { job_type: JobType::new(job_type)? })
    } else {
        Err(Problem::NotFound)
    }
}
