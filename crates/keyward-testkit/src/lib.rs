//! Throw-away servers for tests, and a fixture that runs the `keyward` program.
//!
//! A server in a test is real: a mock of Redis proves nothing about SCAN, expiry, slots or scripts.
//! Every server here runs in its own temporary folder on its own loopback port, is ready when the
//! call that starts it returns, and is gone when its value is dropped, also when the test panics
//! (then the end of its log is printed beside the panic).
//!
//! ```
//! use keyward_testkit::{Flavor, Server};
//!
//! for server in Server::all() {
//!     server.command(&["SET", "greeting", "hello"]);
//!     assert_eq!(server.command(&["GET", "greeting"]).text(), "hello");
//! }
//!
//! let full = Flavor::Redis.server().memory("2mb", "noeviction").password("secret").start();
//! assert!(full.url().starts_with("redis://:secret@127.0.0.1:"));
//! ```
//!
//! [`Cluster`], [`Sentinel`] and [`MariaDb`] start what their names say. [`Proxy`] puts a bad network before a
//! server, and [`Peer`] answers as no server would. [`Cli`] runs the program in a temporary
//! folder and gives back all that a person sees, ready for a snapshot. [`transcript`] runs the
//! commands that the documentation shows, [`snippet`] compares the code that it shows with its source, and
//! [`book`] finds broken links in it. [`browser`] looks at pages. With the feature `http`, `App` runs an application and
//! `stage` the commands that the documentation shows of it.
//!
//! # Where the servers come from
//!
//! `./test` installs them. Redis is `redis-server` on the `PATH`, or what `KEYWARD_REDIS_SERVER`
//! names. Valkey is `target/tools/valkey-server` of this repository, or what
//! `KEYWARD_VALKEY_SERVER` names. MariaDB is `mariadbd` and `mariadb-install-db`, where Debian puts
//! them. A missing server is a panic, never a skipped test.

#![allow(clippy::missing_panics_doc, reason = "in a test, a panic is how everything fails")]

#[cfg(feature = "http")]
mod app;
pub mod book;
pub mod browser;
mod cli;
mod clock;
mod cluster;
mod flavor;
mod mariadb;
mod markdown;
mod options;
mod peer;
mod port;
mod proxy;
mod resp;
mod sentinel;
mod server;
pub mod snippet;
#[cfg(feature = "http")]
pub mod stage;
mod tls;
pub mod transcript;
mod wait;

#[cfg(feature = "http")]
pub use app::{Answer, App};
pub use cli::{Cli, Output, Run, Running};
pub use cluster::{Cluster, Migration};
pub use flavor::Flavor;
pub use mariadb::MariaDb;
pub use options::ServerOptions;
pub use peer::Peer;
pub use proxy::{Harm, Proxy};
pub use resp::{Connection, Reply};
pub use sentinel::Sentinel;
pub use server::Server;
pub use tls::Certificates;
pub use wait::{PATIENCE, wait_until};

use std::path::Path;

/// The root of this repository, where `examples/` and `docs/` are.
pub fn repository() -> &'static Path {
    let testkit = Path::new(env!("CARGO_MANIFEST_DIR"));
    testkit.ancestors().nth(2).expect("the testkit lives in `crates/keyward-testkit`")
}
