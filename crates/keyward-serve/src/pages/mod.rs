//! The pages. Each is made of what is known now ([`crate::state::Current`]) and of the history; none asks a server,
//! except the one that a key is pasted into.
//!
//! To add a page, write `pages/NAME.rs` with a handler and `templates/NAME.html.j2` with what it shows, and add one
//! line to [`routes`], to `frame::TEMPLATES`, and to `frame::PAGES` if it belongs into the menu.
//!
//! A page of one server is at `/s/{server}/…`, and everything that it depends on is in its address, without any key.
//! It is whole without a script. What changes with an event has an `id` and `data-live="EVENT…"`: the script asks for
//! the page again and replaces those parts. Under the policy of `http`, styles and scripts come from files of this
//! server: no inline script, no `style` attribute. Templates escape everything ([`keyward_page::environment`]).

mod add;
mod assets;
mod charts;
mod checklist;
mod compare;
mod definition;
mod definitions;
mod findings;
mod fleet;
mod frame;
mod key;
mod known;
mod migrations;
mod overview;
mod queues;
mod reference;
mod server;
mod unknown;
mod words;

pub(crate) use frame::sign_in;

use crate::state::Shared;
use axum::routing::get;
use axum::{Extension, Router};
use known::Known;
use std::sync::Arc;

/// All pages.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
        .route("/", get(fleet::first))
        .route("/fleet", get(fleet::page))
        .route("/s/{server}", get(overview::page))
        .route("/s/{server}/definitions", get(definitions::page))
        .route("/s/{server}/definitions/{schema}/{name}", get(definition::page))
        .route("/s/{server}/findings", get(findings::page))
        .route("/s/{server}/unknown", get(unknown::page))
        .route("/s/{server}/server", get(server::page))
        .route("/s/{server}/migrations", get(migrations::page))
        .route("/s/{server}/queues", get(queues::page))
        .route("/s/{server}/compare", get(compare::page))
        .route("/s/{server}/key", get(key::page).post(key::answered))
        .route("/s/{server}/reference", get(reference::page))
        .route("/s/{server}/add", get(add::page))
        .route("/s/{server}/checklist", get(checklist::page))
        .route("/assets/{version}/{file}", get(assets::file))
        .layer(Extension(Arc::<Known>::default()))
}
