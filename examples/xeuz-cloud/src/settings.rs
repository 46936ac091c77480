//! What the environment says.

use anyhow::Context as _;
use std::env;
use std::time::Duration;

/// Where everything is.
#[derive(Debug)]
pub struct Settings {
    /// `DATABASE_URL`: `sqlite://…` or `mysql://…`
    pub database: String,
    /// `REDIS_URL`: anything that [`keyward::Store::builder`] takes
    pub redis: String,
    /// `REDIS_TIMEOUT_MS`: how long Redis may take to answer before the database is asked
    pub redis_timeout: Duration,
    /// `LISTEN`: where HTTP is spoken; port 0 is any free one
    pub listen: String,
}

impl Settings {
    /// A file beside the program, a Redis on this machine, port 3000: nothing needs to be set.
    pub fn from_environment() -> anyhow::Result<Self> {
        let set = |name, default: &str| env::var(name).unwrap_or_else(|_| default.to_owned());
        let timeout = set("REDIS_TIMEOUT_MS", "500").parse();
        let timeout = timeout.context("`REDIS_TIMEOUT_MS` must be a number")?;
        Ok(Settings {
            database: set("DATABASE_URL", "sqlite://xeuz-cloud.db?mode=rwc"),
            redis: set("REDIS_URL", "redis://127.0.0.1:6379"),
            redis_timeout: Duration::from_millis(timeout),
            listen: set("LISTEN", "127.0.0.1:3000"),
        })
    }
}
