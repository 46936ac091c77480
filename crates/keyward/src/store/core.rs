//! What everything in the store goes through: the breaker, the connection, and the counting of both.

use super::breaker::{Breaker, BreakerState, Permit, Turn};
use super::error::Error;
use super::flight::Flights;
use super::link::{Link, Primary};
use super::lua::{Lua, is_unknown};
use futures_util::future::join_all;
use redis::{Cmd, Pipeline, Value};
use tokio::sync::Semaphore;

/// The way to the server.
pub(crate) struct Core {
    link: Link,
    breaker: Breaker,
    /// Loads that are under way
    pub(crate) flights: Flights,
    /// Turns at the database while the cache is away
    pub(crate) fallback: Semaphore,
}

impl Core {
    pub(crate) fn new(link: Link, breaker: Breaker, fallback: usize) -> Self {
        Core { link, breaker, flights: Flights::default(), fallback: Semaphore::new(fallback) }
    }

    pub(crate) fn breaker_state(&self) -> BreakerState {
        self.breaker.state()
    }

    pub(crate) fn is_cluster(&self) -> bool {
        self.link.is_cluster()
    }

    /// Sends one command.
    pub(crate) async fn ask(&self, cmd: &Cmd) -> Result<Value, Error> {
        let permit = self.breaker.permit().ok_or(Error::BreakerOpen)?;
        let answer = self.link.query(cmd).await;
        tell(permit, answer.as_ref().err());
        answer
    }

    /// Sends several commands in one round trip; an error of one stands in its place.
    pub(crate) async fn ask_all(&self, pipeline: &Pipeline) -> Result<Vec<Value>, Error> {
        if pipeline.is_empty() {
            return Ok(Vec::new());
        }
        let permit = self.breaker.permit().ok_or(Error::BreakerOpen)?;
        let answers = self.link.pipeline(pipeline).await;
        tell(permit, answers.as_ref().err());
        answers
    }

    /// Sends several commands at once, wherever their keys are; each has its own answer.
    pub(crate) async fn ask_each(
        &self,
        commands: &[Cmd],
    ) -> Result<Vec<Result<Value, Error>>, Error> {
        if self.is_cluster() {
            // The library sends a pipeline to one node only.
            return Ok(join_all(commands.iter().map(|cmd| self.ask(cmd))).await);
        }
        let mut pipeline = redis::pipe();
        for cmd in commands {
            pipeline.add_command(cmd.clone());
        }
        let answers = self.ask_all(&pipeline).await?;
        let each = answers
            .into_iter()
            .map(|answer| answer.extract_error().map_err(|error| Error::from_redis(&error)));
        Ok(each.collect())
    }

    /// Sends a command to every primary.
    pub(crate) async fn ask_primary(&self, primary: &Primary, cmd: &Cmd) -> Result<Value, Error> {
        let permit = self.breaker.permit().ok_or(Error::BreakerOpen)?;
        let answer = self.link.query_at(primary, cmd).await;
        tell(permit, answer.as_ref().err());
        answer
    }

    /// The servers that keys are written to.
    pub(crate) async fn primaries(&self) -> Result<Vec<Primary>, Error> {
        self.link.primaries().await
    }

    /// Runs a script.
    pub(crate) async fn run(
        &self,
        lua: &Lua,
        keys: &[&str],
        args: impl Fn(&mut Cmd),
    ) -> Result<Value, Error> {
        match self.ask(&lua.by_hash(keys, &args)).await {
            Err(error) if is_unknown(&error) => self.ask(&lua.whole(keys, &args)).await,
            answer => answer,
        }
    }
}

/// Tells the breaker how a command ended, and the log what the breaker makes of it.
fn tell(permit: Permit<'_>, error: Option<&Error>) {
    let lost = matches!(error, Some(Error::Unavailable(_)));
    let turn = if lost { permit.bad() } else { permit.good() };
    match turn {
        Some(Turn::Opened) => {
            let why = error.map(ToString::to_string).unwrap_or_default();
            tracing::warn!(target: "keyward", why, "the breaker is open: the server is not asked for a while");
        }
        Some(Turn::Closed) => {
            tracing::info!(target: "keyward", "the breaker is closed: the server answers again");
        }
        None => return,
    }
    let open = if turn == Some(Turn::Opened) { 1.0 } else { 0.0 };
    metrics::gauge!("keyward_breaker_open").set(open);
}
