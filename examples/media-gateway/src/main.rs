//! Media Gateway: a streaming guide over several platforms, with one file for each chapter of its convention.
//!
//! The convention is `keyward.toml`; how to run it is in `README.md`. What stands behind the caches is
//! [`catalogue`] and [`people`], made up and in memory.

#![allow(unreachable_pub, reason = "a program has no outside")]

mod app;
mod catalogue;
mod content;
mod flags;
mod hash;
mod jobs;
mod limits;
mod metrics;
mod model;
mod people;
mod problem;
mod recommendations;
mod router;
mod sessions;
mod sync;
mod tokens;
mod users;

keyward::keyspace!("keyward.toml", values = crate::model);

/// `media-gateway [URL]`: without a URL it starts a server of its own.
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    app::run(std::env::args().nth(1)).await
}
