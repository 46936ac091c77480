//! `/s/{server}/unknown`: keys that no definition matches, and those of other software.

use super::frame::{Visit, answer};
use axum::extract::Path;
use axum::response::Response;
use minijinja::context;

pub(super) async fn page(visit: Visit, Path(server): Path<String>) -> Response {
    answer(visit, server, move |at| {
        let Some(words) = at.known.words(at) else {
            return at.not_yet("/unknown", "Unknown keys");
        };
        at.page("unknown.html", "/unknown", "Unknown keys", context! { page => words.page })
    })
    .await
}
