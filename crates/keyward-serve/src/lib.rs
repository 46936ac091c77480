//! Audits servers in the background, remembers what it saw, and serves it: pages, a JSON API, metrics.
//!
//! [`serve`] runs until it is told to stop. Collectors (`collect`) are threads that ask servers within a load
//! budget and replace what is known of them ([`state`]); requests (`http`) read what is known and the
//! [`history`], and never ask a server, except for one pasted key.
//!
//! # Where things are
//!
//! | module | what it does |
//! |---|---|
//! | [`config`] | reads the configuration; a typo is refused where it stands |
//! | `collect` | one thread a server for audits, one for INFO and SLOWLOG, one for `watch` where that is asked for |
//! | [`history`] | what was seen, in SQLite: narrow rows for charts, whole reports for comparisons; bounded |
//! | [`state`], [`info`] | what is known now, as plain data |
//! | `fleet` | all servers in a few numbers, and what needs somebody |
//! | `http` | connections, limits, headers, tokens, routes |
//! | `api` | `/api/v1`, with its OpenAPI description |
//! | `metrics` | `/metrics` |
//! | `webhooks` | tells others what happened, with retries |
//! | `pages` | the pages; its top says how to add one |
#![deny(missing_docs)]

mod api;
mod asking;
mod collect;
mod commands;
mod compared;
pub mod config;
mod fleet;
mod folder;
pub mod forecast;
pub mod history;
mod http;
pub mod info;
mod metrics;
mod pages;
mod repairs;
mod run;
mod schemas;
pub mod state;
mod webhooks;

pub use config::{Config, HookEvent, Refused, Retention, Source, Webhook};
pub use run::{Error, serve};
