//! The application, on real servers, over real HTTP.

mod audit;
mod content;
mod documents;
mod harness;
mod jobs;
mod pages;
mod search;
mod sessions;
mod tree;

// What tests know of Redis they know from the same schema.
keyward::keyspace!("keyward.toml");
