//! XeuzCloud: folders and files of many users, with a Redis that may go away.
//!
//! The convention it follows is `keyward.toml`; how to run it stands in `README.md`.

#![allow(unreachable_pub, reason = "a program has no outside")]

mod api;
mod app;
mod cache;
mod database;
mod model;
mod problem;
mod quota;
mod settings;
mod upload_limit;

// ANCHOR: keyspace
keyward::keyspace!("keyward.toml", values = crate::model);
// ANCHOR_END: keyspace

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    app::run(settings::Settings::from_environment()?).await
}
