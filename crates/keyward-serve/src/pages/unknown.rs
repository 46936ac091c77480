//! `/s/{server}/unknown`: keys that no definition matches, and those of other software.

use super::frame::answer;
use super::known::Known;
use crate::state::Shared;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use minijinja::context;
use std::sync::Arc;

pub(super) async fn page(
    State(shared): State<Shared>,
    Extension(known): Extension<Arc<Known>>,
    Path(server): Path<String>,
) -> Response {
    answer(shared, known, server, move |at| {
        let Some(words) = at.known.words(at) else {
            return at.not_yet("/unknown", "Unknown keys");
        };
        at.page("unknown.html", "/unknown", "Unknown keys", context! { page => words.page })
    })
    .await
}
