//! What is known of a server besides its keys.

use super::{Answer, current};
use crate::http::Problem;
use crate::info::ServerInfo;
use crate::state::{Auditing, Current, Health, MigrationState, Shared, Tick, Watching};
use axum::Json;
use axum::extract::{Path, State};
use keyward_audit::queues::QueueStats;
use serde::Serialize;
use utoipa::ToSchema;

/// What a server says about itself, and what is done with it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ServerState {
    health: Health,
    auditing: Auditing,
    /// `null` where it has not answered yet
    info: Option<ServerInfo>,
    /// `null` unless it is watched
    watching: Option<Watching>,
}

/// What a server says about itself, and what is done with it
#[utoipa::path(get, path = "/api/v1/servers/{server}/server", params(("server" = String, Path)),
    responses((status = 200, body = ServerState), (status = 404, body = Problem)))]
pub(super) async fn server(
    State(shared): State<Shared>,
    Path(server): Path<String>,
) -> Answer<ServerState> {
    let current = current(&shared, &server)?;
    Ok(Json(ServerState {
        health: current.health.clone(),
        auditing: current.auditing.clone(),
        info: current.info.as_deref().cloned(),
        watching: current.watching.clone(),
    }))
}

/// The team's check-list, ticked by the schema's rules and the last audit
#[utoipa::path(get, path = "/api/v1/servers/{server}/checklist", params(("server" = String, Path)),
    responses((status = 200, body = Vec<Tick>), (status = 404, body = Problem)))]
pub(super) async fn checklist(
    State(shared): State<Shared>,
    Path(server): Path<String>,
) -> Answer<Vec<Tick>> {
    Ok(Json(current(&shared, &server)?.checklist.to_vec()))
}

/// Migrations, with the keys that the last audit counted
#[utoipa::path(get, path = "/api/v1/servers/{server}/migrations", params(("server" = String, Path)),
    responses((status = 200, body = Vec<MigrationState>), (status = 404, body = Problem)))]
pub(super) async fn migrations(
    State(shared): State<Shared>,
    Path(server): Path<String>,
) -> Answer<Vec<MigrationState>> {
    Ok(Json(current(&shared, &server)?.migrations.to_vec()))
}

/// The queues of a server.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct QueueList {
    /// When they were counted: after the last audit; 0 where there are none
    at: u64,
    /// Why they could not be counted
    error: Option<String>,
    /// Each queue: waiting, due, running, ended, dead
    #[schema(value_type = Vec<Object>)]
    queues: Vec<QueueStats>,
}

/// Queues, as they were after the last audit
#[utoipa::path(get, path = "/api/v1/servers/{server}/queues", params(("server" = String, Path)),
    responses((status = 200, body = QueueList), (status = 404, body = Problem)))]
pub(super) async fn queues(
    State(shared): State<Shared>,
    Path(server): Path<String>,
) -> Answer<QueueList> {
    Ok(Json(QueueList::of(&*current(&shared, &server)?)))
}

impl QueueList {
    pub(super) fn of(current: &Current) -> Self {
        let queues = &current.queues;
        QueueList { at: queues.at, error: queues.error.clone(), queues: queues.each.clone() }
    }
}
