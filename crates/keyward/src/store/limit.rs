//! Rate limits: one round trip, by the server's time.

use super::error::Error;
use super::handle::Handle;
use super::lua::{Lua, lua};
use crate::Key;
use crate::definition::Algorithm;
use crate::kind::{Declared, Limit};
use std::time::Duration;

static FIXED: Lua = lua!("lua/limit_fixed.lua");
static SLIDING: Lua = lua!("lua/limit_sliding.lua");
static GCRA: Lua = lua!("lua/limit_gcra.lua");

/// What a limit says to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Whether it may go on; if so, it has been counted
    pub allowed: bool,
    /// How many more may
    pub remaining: u64,
    /// After which time one like it would be allowed; zero if it was
    pub retry_after: Duration,
    /// After which time nothing of what was counted counts any more
    pub reset: Duration,
    /// Whether the server could not be asked, and `on_outage` answered in its place
    pub outage: bool,
}

impl<K: Key> Handle<'_, K, Limit, Declared> {
    /// Asks for one request, by the schema's limit.
    ///
    /// # Errors
    /// If something else stands under the key. While the server is away, the schema's `on_outage`
    /// answers: that is no error.
    pub async fn check(&self) -> Result<Allowance, Error> {
        self.check_with(1, None).await
    }

    /// Asks for a request that counts as several, and by a limit of the caller's where the schema
    /// leaves it to the caller.
    pub async fn check_with(&self, cost: u64, limit: Option<u64>) -> Result<Allowance, Error> {
        let behaviour = &K::DEFINITION.behaviour;
        let limit = behaviour.limit.or(limit).unwrap_or(0);
        let window = behaviour.window_ms.unwrap_or(1).max(1);
        let script = match behaviour.algorithm {
            Algorithm::FixedWindow => &FIXED,
            Algorithm::SlidingWindow => &SLIDING,
            Algorithm::Gcra => &GCRA,
        };
        if limit == 0 {
            let window = Duration::from_millis(window);
            let none = Allowance {
                allowed: false,
                remaining: 0,
                retry_after: window,
                reset: window,
                outage: false,
            };
            return Ok(none);
        }
        let args = |cmd: &mut redis::Cmd| {
            cmd.arg(limit).arg(window).arg(cost);
        };
        let answer = match self.core.run(script, &[&self.name], args).await {
            Ok(answer) => answer,
            Err(error) if error.is_unavailable() => {
                let allowed = !behaviour.closed_on_outage;
                let wait = if allowed { Duration::ZERO } else { Duration::from_secs(1) };
                return Ok(Allowance {
                    allowed,
                    remaining: 0,
                    retry_after: wait,
                    reset: wait,
                    outage: true,
                });
            }
            Err(error) => return Err(error.about(K::DEFINITION.name)),
        };
        let (allowed, remaining, retry, reset): (bool, u64, u64, u64) = self.understand(answer)?;
        Ok(Allowance {
            allowed,
            remaining,
            retry_after: Duration::from_millis(retry),
            reset: Duration::from_millis(reset),
            outage: false,
        })
    }
}
