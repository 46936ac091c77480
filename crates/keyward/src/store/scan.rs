//! Finding keys by looking at all of them: the last resort, gently.

use super::core::Core;
use super::error::Error;
use super::link::Primary;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many keys a step looks at.
const COUNT: usize = 1000;
/// The longest rest between two steps.
const REST: Duration = Duration::from_millis(5);
/// The shortest: timers count milliseconds, so that many short rests would take twice as long as they should.
const LEAST: Duration = Duration::from_millis(2);

/// A search among all keys of all primaries.
pub(crate) struct Scan<'c> {
    core: &'c Core,
    glob: String,
    /// Those that have not been searched yet; `None` before the first step
    primaries: Option<VecDeque<Primary>>,
    cursor: u64,
    /// How long steps took since the last rest
    owed: Duration,
}

impl<'c> Scan<'c> {
    pub(crate) fn new(core: &'c Core, glob: String) -> Self {
        Scan { core, glob, primaries: None, cursor: 0, owed: Duration::ZERO }
    }

    /// The keys that the next step finds, often none; `None` at the end. A key may come twice.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Vec<u8>>>, Error> {
        if self.primaries.is_none() {
            self.primaries = Some(self.core.primaries().await?.into());
        }
        let Some(primary) = self.primaries.as_ref().and_then(|all| all.front()) else {
            return Ok(None);
        };
        // As long as it works, it rests: others want to be served too.
        if self.owed >= LEAST {
            tokio::time::sleep(self.owed.min(REST)).await;
            self.owed = Duration::ZERO;
        }
        let mut cmd = redis::cmd("SCAN");
        cmd.arg(self.cursor).arg("MATCH").arg(&self.glob).arg("COUNT").arg(COUNT);
        let began = Instant::now();
        let answer = self.core.ask_primary(primary, &cmd).await?;
        self.owed += began.elapsed();
        let (next, keys): (u64, Vec<Vec<u8>>) = redis::from_redis_value(answer)
            .map_err(|_| Error::Unavailable("the answer to SCAN cannot be understood".into()))?;
        self.cursor = next;
        if next == 0 {
            self.owed = Duration::ZERO;
            self.primaries.as_mut().and_then(VecDeque::pop_front);
        }
        Ok(Some(keys))
    }
}
