//! The pages. Each is made of what is known now ([`crate::state::Current`]) and of the history; none asks a server.
//!
//! To add a page, write `pages/NAME.rs` with a handler, and add one line to [`routes`]:
//!
//! ```ignore
//! pub(super) async fn page(State(shared): State<Shared>, Path(server): Path<String>) -> Response { … }
//! ```
//!
//! A page of one server is at `/s/{server}/…`. Under the policy of `http`, styles and scripts come from files of
//! this server: no inline script, no `style` attribute. Everything from a server is escaped with
//! [`keyward_fact::escape_html`] or by the template engine.

mod overview;

use crate::state::Shared;
use axum::Router;
use axum::routing::get;

/// All pages.
pub(crate) fn routes() -> Router<Shared> {
    Router::new().route("/", get(overview::page))
}
