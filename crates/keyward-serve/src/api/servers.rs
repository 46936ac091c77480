//! `/api/v1/servers`

use crate::state::{Auditing, Health, Notice, Shared};
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

/// A server in a few numbers.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ServerSummary {
    /// Its name in URLs
    name: String,
    /// Where it is, without credentials
    url: String,
    health: Health,
    auditing: Auditing,
    /// When its last audit ended
    audited_at: Option<u64>,
    /// Keys
    keys: Option<u64>,
    /// Their bytes
    bytes: Option<u64>,
    /// The share of judged keys that are as declared, from 0 to 1
    compliance: Option<f64>,
    /// Findings
    findings: Option<u64>,
    /// Why its schemas could not be read again
    schema_error: Option<String>,
}

/// All servers
#[utoipa::path(get, path = "/api/v1/servers", responses((status = 200, body = Servers)))]
pub(super) async fn servers(State(shared): State<Shared>) -> Json<Servers> {
    let each = shared.servers.iter().map(|server| {
        let current = server.current();
        let report = current.report();
        ServerSummary {
            name: server.name.clone(),
            url: server.url.clone(),
            health: current.health.clone(),
            auditing: current.auditing.clone(),
            audited_at: current.audit.as_ref().map(|audit| audit.at),
            keys: report.map(|it| it.summary.keys),
            bytes: report.and_then(|it| it.summary.bytes),
            compliance: report.and_then(|it| it.summary.compliance),
            findings: report.map(|it| it.findings.len() as u64),
            schema_error: current.schema_error.clone(),
        }
    });
    Json(Servers { servers: each.collect(), notices: shared.notices() })
}
