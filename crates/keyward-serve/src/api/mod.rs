//! `/api/v1`: everything that pages show, as JSON, with its `OpenAPI` description.

mod audit;
mod history;
mod key;
mod server;
mod servers;

pub(crate) use key::{KeyAnswer, answer as look_up};

use crate::http::{Problem, in_json, nothing};
use crate::state::{Audited, Current, Server, Shared};
use axum::middleware::from_fn;
use axum::routing::{get, post};
use axum::{Json, Router};
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Description;

/// All resources.
pub(crate) fn routes() -> Router<Shared> {
    let one = Router::new()
        .route("/overview", get(audit::overview))
        .route("/definitions", get(audit::definitions))
        .route("/definitions/{schema}/{definition}", get(audit::definition))
        .route("/unknown", get(audit::unknown))
        .route("/findings", get(audit::findings))
        .route("/report", get(audit::report))
        .route("/server", get(server::server))
        .route("/checklist", get(server::checklist))
        .route("/migrations", get(server::migrations))
        .route("/queues", get(server::queues))
        .route("/history", get(history::history))
        .route("/history/{schema}/{definition}", get(history::definition))
        .route("/compare", get(history::compare))
        .route("/forecast", get(history::forecast))
        .route("/key", post(key::look_up));
    let all = Router::new()
        .route("/openapi.json", get(openapi))
        .route("/servers", get(servers::servers))
        .route("/fleet", get(servers::fleet))
        .route("/migrations", get(servers::migrations))
        .route("/queues", get(servers::queues))
        .nest("/servers/{server}", one)
        .fallback(nothing)
        .layer(from_fn(in_json));
    Router::new().nest("/api/v1", all)
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Keyward",
        description = "What keyward serve knows of servers. Times are in milliseconds since 1970 unless it says \
                       otherwise; keys are masked."
    ),
    paths(
        servers::servers,
        servers::fleet,
        servers::migrations,
        servers::queues,
        audit::overview,
        audit::definitions,
        audit::definition,
        audit::unknown,
        audit::findings,
        audit::report,
        server::server,
        server::checklist,
        server::migrations,
        server::queues,
        history::history,
        history::definition,
        history::compare,
        history::forecast,
        key::look_up
    )
)]
struct Api;

async fn openapi() -> Json<Description> {
    Json(Api::openapi())
}

/// What an answer is.
type Answer<T> = Result<Json<T>, Problem>;

/// The server of a name.
fn named<'s>(shared: &'s Shared, name: &str) -> Result<&'s Server, Problem> {
    shared.server(name).ok_or_else(|| Problem::not_found(format!("there is no server `{name}`")))
}

/// What is known of the server of a name.
fn current(shared: &Shared, name: &str) -> Result<Arc<Current>, Problem> {
    named(shared, name).map(Server::current)
}

/// The last audit of the server of a name.
fn audited(shared: &Shared, name: &str) -> Result<Arc<Audited>, Problem> {
    let audit = current(shared, name)?.audit.clone();
    audit.ok_or_else(|| Problem::not_found(format!("`{name}` was not audited yet")))
}

/// Runs what reads files, where no other request waits for it.
async fn blocking<T: Send + 'static>(
    run: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(run).await {
        Ok(done) => done,
        Err(_) => Err(Problem::new(
            axum::http::StatusCode::INTERNAL_SERVER_ERROR,
            "this could not be answered",
        )),
    }
}
