//! What can be asked over HTTP: the site for visitors, and `/api` for editors.

use crate::app::App;
use crate::{
    assets, entities, exports, forms, jobs, limits, names, pages, places, search, sessions,
    templates, tree,
};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post, put};

/// All paths. A request is identified first, then counted by its limit, then its form is checked, then it is handled.
pub fn router(app: App) -> Router {
    Router::new()
        .route("/api/login", post(sessions::log_in).delete(sessions::log_out))
        .route("/api/sessions", delete(sessions::end_all))
        .route("/api/form", get(forms::form))
        .route("/api/entities/{type}", get(entities::of_type).post(entities::create))
        .route(
            "/api/entities/{type}/{id}",
            get(entities::show).put(entities::save).delete(entities::remove),
        )
        .route("/api/entities/{type}/{id}/status", put(entities::set_status))
        .route("/api/entities/{type}/{id}/children", get(tree::children))
        .route(
            "/api/entities/{type}/{id}/parent",
            get(tree::parent).put(tree::attach).delete(tree::detach),
        )
        .route("/api/status/{status}", get(entities::of_status))
        .route("/api/names/{type}/{name}", get(names::show).put(names::give).delete(names::take))
        .route("/api/places/{path}", get(places::show).put(places::put).delete(places::clear))
        .route("/api/templates/{theme}/{name}", put(templates::deploy))
        .route("/api/assets/{theme}/{type}", put(assets::deploy))
        .route("/api/search", get(search::search))
        .route("/api/reindex", post(jobs::reindex))
        .route("/api/exports/of/{type}", post(exports::start))
        .route("/api/exports/{id}", get(exports::show))
        .route("/api/queues/{name}", get(jobs::show))
        .route("/api/queues/{name}/paused", put(jobs::pause))
        .route("/api/queues/{name}/requeue", post(jobs::requeue))
        .layer(from_fn_with_state(app.clone(), forms::check))
        .layer(limits::layer(&app))
        .layer(from_fn_with_state(app.clone(), sessions::identify))
        .route("/metrics", get(metrics))
        .route("/assets/{type}/{hash}", get(assets::show))
        .route("/", get(pages::show))
        .route("/{*path}", get(pages::show))
        .layer(from_fn(to_the_end))
        .with_state(app)
}

/// What the store has counted: hits, misses, refusals, failures.
async fn metrics(State(app): State<App>) -> String {
    app.counted.render()
}

/// A browser that hangs up must not stop a change between the graph and its indexes.
async fn to_the_end(request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    let answer = tokio::spawn(next.run(request)).await;
    answer.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}
