//! What can be asked over HTTP.

use crate::app::App;
use crate::{
    content, flags, jobs, limits, metrics, recommendations, sessions, sync, tokens, users,
};
use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post, put};

/// All paths. A request is identified first, then counted by its limits, then handled.
pub fn router(app: App) -> Router {
    Router::new()
        .route("/login", post(tokens::begin_login))
        .route("/login/callback", post(tokens::finish_login))
        .route("/refresh", post(tokens::refresh))
        .route("/logout", post(tokens::log_out))
        .route("/sessions", get(sessions::list).delete(sessions::revoke_all))
        .route("/sessions/{id}", delete(sessions::revoke))
        .route("/titles/{id}", get(content::show))
        .route("/titles/{id}/title", put(content::rename))
        .route("/titles/{id}/offers/{platform}/{region}", get(content::offer))
        .route("/search", get(content::search))
        .route("/popular/{region}/{content_type}", get(content::popular))
        .route("/profile", get(users::profile).put(users::set_profile))
        .route("/preferences", get(users::preferences).put(users::set_preferences))
        .route("/watchlist", get(users::watchlist))
        .route("/watchlist/{id}", put(users::add_to_watchlist).delete(users::take_off_watchlist))
        .route("/progress/{id}", get(users::progress).put(users::save_progress))
        .route("/recommendations", get(recommendations::for_user))
        .route("/titles/{id}/similar", get(recommendations::similar))
        .route("/trending/{region}/{timeframe}", get(recommendations::trending))
        .route("/platforms/{platform}", get(sync::platform))
        .route("/platforms/{platform}/sync", post(sync::start))
        .route("/syncs/{id}", get(sync::progress))
        .route("/jobs/{job_type}", get(jobs::queue).post(jobs::push))
        .route("/jobs/{job_type}/paused", put(jobs::pause))
        .route("/jobs/{job_type}/requeue", post(jobs::requeue))
        .route("/jobs/{job_type}/{id}", get(jobs::status))
        .route("/flags/{name}", get(flags::show).put(flags::set))
        .route("/flags/{name}/mine", put(flags::set_own).delete(flags::clear_own))
        .route("/counters/{name}", get(metrics::counters))
        .route("/activity", get(metrics::activity))
        .layer(limits::layer(&app.store))
        .layer(from_fn_with_state(app.clone(), sessions::identify))
        .route("/metrics", get(metrics::prometheus))
        .layer(from_fn(to_the_end))
        .with_state(app)
}

/// A client that hangs up must not stop a change between the truth and Redis.
async fn to_the_end(request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    let answer = tokio::spawn(next.run(request)).await;
    answer.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}
