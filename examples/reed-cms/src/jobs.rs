//! `queue:{queue_name}` and `queue:{queue_name}:dead`: requests push tasks, workers of this process do them.

use crate::app::App;
use crate::locks;
use crate::model::Task;
use crate::problem::Problem;
use crate::reed_cms::values::QueueName;
use crate::reed_cms::{events, keys};
use crate::sessions::Editor;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use futures_util::TryStreamExt as _;
use keyward::queue::{Failure, Job, terminated};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// What there are workers for.
const QUEUES: [&str; 2] = ["indexing", "export"];

#[derive(Debug, Deserialize)]
pub struct Paused {
    paused: bool,
}

/// Starts a worker for each queue. They end when the process is told to, after the tasks that they have begun.
pub fn workers(app: &App) -> anyhow::Result<Vec<JoinHandle<Result<(), keyward::Error>>>> {
    let start = |name| {
        let (app, queue_name) = (app.clone(), QueueName::new(name)?);
        Ok(tokio::spawn(async move {
            let queue = app.site.at(keys::Queue { queue_name });
            let worker = queue.worker().concurrency(4).until(terminated());
            worker.run(async |job: Job<Task>| app.work(&job.value).await).await
        }))
    };
    QUEUES.into_iter().map(start).collect()
}

impl App {
    /// One attempt. An error is tried again, up to `max_attempts`, and is then among the dead letters.
    async fn work(&self, task: &Task) -> Result<(), Failure> {
        match task {
            Task::Index(entity) => {
                let entity = entity.key().map_err(Failure::fatal)?;
                // It waits for whoever is writing the entity now, and reads what was written.
                let lock = self.site.at(locks::of_entity(&entity)?);
                lock.run(async |_| self.index(&entity).await).await??;
                self.tell(events::EntityChanged).await;
                Ok(())
            }
            Task::Rebuild => self.rebuild().await,
            Task::Export { of, id } => self.export(of, id).await,
        }
    }

    /// Pushes a task to its queue.
    pub async fn push(&self, task: &Task) -> Result<(), Problem> {
        let name = if let Task::Export { .. } = task { "export" } else { "indexing" };
        self.site.at(keys::Queue { queue_name: QueueName::new(name)? }).push(task).await?;
        Ok(())
    }

    /// Makes the word index again from all entities, and removes what belongs to none. What was changed after it was
    /// read here is indexed once more by its own task.
    async fn rebuild(&self) -> Result<(), Failure> {
        let index = self.site.index::<keys::WordIndex>();
        let rebuild = index.rebuild().await?;
        let entities: Vec<keys::Entity> = self.site.scan().try_collect().await?;
        let truth = self.indexed(&entities).await?;
        let done = rebuild.from(truth).await?;
        tracing::info!(done.assigned, done.removed, done.skipped, "the word index was made again");
        let tasks: Vec<Task> = entities.iter().map(|it| Task::Index(it.into())).collect();
        self.site
            .at(keys::Queue { queue_name: QueueName::new("indexing")? })
            .push_many(&tasks)
            .await?;
        Ok(())
    }
}

/// How many tasks there are, and those that failed for good.
pub async fn show(
    State(app): State<App>,
    _: Editor,
    Path(name): Path<String>,
) -> Result<Json<Value>, Problem> {
    let queue = app.site.at(known(&name)?);
    let stats = queue.stats().await?;
    let dead = queue.dead(0, 9).await?;
    let dead = dead.iter().map(|it| json!({ "error": it.error, "attempts": it.attempts }));
    Ok(Json(json!({
        "waiting": stats.listed + stats.ready + stats.due,
        "running": stats.leased,
        "paused": stats.paused,
        "dead": dead.collect::<Value>(),
    })))
}

/// Lets workers take no tasks, or take them again.
pub async fn pause(
    State(app): State<App>,
    _: Editor,
    Path(name): Path<String>,
    Json(Paused { paused }): Json<Paused>,
) -> Result<StatusCode, Problem> {
    let queue = app.site.at(known(&name)?);
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
    _: Editor,
    Path(name): Path<String>,
) -> Result<Json<Value>, Problem> {
    let requeued = app.site.at(known(&name)?).requeue_all().await?;
    Ok(Json(json!({ "requeued": requeued })))
}

/// Makes the word index again.
pub async fn reindex(State(app): State<App>, _: Editor) -> Result<StatusCode, Problem> {
    app.push(&Task::Rebuild).await?;
    Ok(StatusCode::ACCEPTED)
}

fn known(name: &str) -> Result<keys::Queue, Problem> {
    let name = QUEUES.into_iter().find(|known| *known == name).ok_or(Problem::NotFound)?;
    Ok(keys::Queue { queue_name: QueueName::new(name)? })
}
