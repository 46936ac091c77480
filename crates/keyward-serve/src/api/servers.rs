//! What is known of all servers: `/api/v1/servers`, `/fleet`, `/migrations`, `/queues`.

use super::server::QueueList;
use crate::fleet::{Fleet, ServerSummary};
use crate::state::{MigrationState, Notice, Shared};
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

/// All servers, and what does not work here.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Servers {
    servers: Vec<ServerSummary>,
    notices: Vec<Notice>,
}

/// All servers
#[utoipa::path(get, path = "/api/v1/servers", responses((status = 200, body = Servers)))]
pub(super) async fn servers(State(shared): State<Shared>) -> Json<Servers> {
    let each = shared.servers.iter().map(|it| ServerSummary::new(it, &it.current()));
    Json(Servers { servers: each.collect(), notices: shared.notices() })
}

/// All servers, what needs somebody, and how the webhooks do
#[utoipa::path(get, path = "/api/v1/fleet", responses((status = 200, body = Fleet)))]
pub(super) async fn fleet(State(shared): State<Shared>) -> Json<Fleet> {
    Json(Fleet::of(&shared))
}

/// A migration of a server.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ServerMigration {
    /// The server's name
    server: String,
    #[serde(flatten)]
    migration: MigrationState,
}

/// Migrations of all servers, with the keys that the last audits counted
#[utoipa::path(get, path = "/api/v1/migrations", responses((status = 200, body = Vec<ServerMigration>)))]
pub(super) async fn migrations(State(shared): State<Shared>) -> Json<Vec<ServerMigration>> {
    let mut all = Vec::new();
    for server in &shared.servers {
        let each = server.current().migrations.clone();
        let name = || server.name.clone();
        all.extend(each.iter().map(|it| ServerMigration { server: name(), migration: it.clone() }));
    }
    Json(all)
}

/// The queues of a server.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ServerQueues {
    /// The server's name
    server: String,
    #[serde(flatten)]
    queues: QueueList,
}

/// Queues of all servers, as they were after the last audits
#[utoipa::path(get, path = "/api/v1/queues", responses((status = 200, body = Vec<ServerQueues>)))]
pub(super) async fn queues(State(shared): State<Shared>) -> Json<Vec<ServerQueues>> {
    let of = |server: &crate::state::Server| ServerQueues {
        server: server.name.clone(),
        queues: QueueList::of(&server.current()),
    };
    Json(shared.servers.iter().map(of).collect())
}
