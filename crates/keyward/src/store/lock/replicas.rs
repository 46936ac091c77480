//! Replicas that confirm a lock, so that a failover does not lose it.

use super::super::core::Core;
use super::super::error::Error;
use super::super::request::Call;
use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::{Pipeline, Value, from_redis_value};
use std::time::Duration;
use tokio::sync::Mutex;

/// How many replicas confirm one lock, and the way to ask them.
pub(super) struct Replicas {
    wanted: u64,
    /// A connection of its own: `WAIT` lets everything wait behind it, and counts only what was written on its
    /// own connection
    connection: Mutex<Option<MultiplexedConnection>>,
}

/// What came of a call that replicas were to confirm.
pub(super) struct Confirmed {
    pub(super) answer: Value,
    /// How many were wanted and how many confirmed it, where those were fewer
    pub(super) replicas: Result<(), (u64, u64)>,
}

impl Replicas {
    pub(super) fn new(wanted: u64) -> Self {
        Replicas { wanted, connection: Mutex::default() }
    }

    /// Makes a call that changes this key, and waits until enough replicas have it.
    pub(super) async fn confirm(
        &self,
        core: &Core,
        key: &str,
        call: &Call,
        patience: Duration,
    ) -> Result<Confirmed, Error> {
        let mut kept = self.connection.lock().await;
        let mut connection = match kept.take() {
            Some(connection) => connection,
            None => core.link.own(&core.link.primary_of(key).await?, patience).await?,
        };
        let mut pipeline = Pipeline::with_capacity(2);
        // The script is sent whole: one that the server did not know would let `WAIT` confirm nothing.
        pipeline.add_command(match call.lua {
            Some(lua) => lua.whole(&call.cmd),
            None => call.cmd.clone(),
        });
        let patience = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX).max(1);
        pipeline.cmd("WAIT").arg(self.wanted).arg(patience);
        let lost = |error: &redis::RedisError| Error::from_redis(error);
        let answers = connection.req_packed_commands(&pipeline, 0, 2).await;
        let [answer, confirmed] = <[Value; 2]>::try_from(answers.map_err(|error| lost(&error))?)
            .map_err(|_| Error::Unavailable("WAIT was not answered".into()))?;
        let answer = answer.extract_error().map_err(|error| lost(&error))?;
        let confirmed = confirmed.extract_error().map_err(|error| lost(&error))?;
        let confirmed: u64 = from_redis_value(confirmed)
            .map_err(|_| Error::Unavailable("the answer to WAIT is not a number".into()))?;
        // Kept only after it has worked: one that fails may lead to a server that is not the primary any more.
        *kept = Some(connection);
        let replicas = if confirmed < self.wanted { Err((self.wanted, confirmed)) } else { Ok(()) };
        Ok(Confirmed { answer, replicas })
    }
}
