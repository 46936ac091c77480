//! What is answered, and to whom: routes, limits, headers.

mod connections;

pub(crate) use connections::serve;

use crate::pages;
use crate::state::Shared;
use axum::Router;

/// Everything that is answered.
pub(crate) fn router(state: Shared) -> Router {
    Router::new().merge(pages::routes()).with_state(state)
}
