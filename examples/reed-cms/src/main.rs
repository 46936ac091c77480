//! Reed CMS: a content management system whose only database is Redis, with one file for each kind of key of its convention.
//!
//! The convention is `keyward.toml`; how to run it is in `README.md`. Only templates and styles are elsewhere: [`themes`]
//! has them in memory.

#![allow(unreachable_pub, reason = "a program has no outside")]

mod app;
mod assets;
mod entities;
mod exports;
mod forms;
mod hash;
mod jobs;
mod limits;
mod locks;
mod model;
mod names;
mod pages;
mod places;
mod problem;
mod router;
mod search;
mod sessions;
mod templates;
mod themes;
mod tree;

keyward::keyspace!("keyward.toml", values = crate::model);

/// `reed-cms [URL]`: without a URL it starts a server of its own.
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    app::run(std::env::args().nth(1)).await
}
