//! Rate limits: one round trip, by the server's time.

use super::error::Error;
use super::handle::{Handle, understand};
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
    ///
    /// # Errors
    /// See [`check`](Handle::check).
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
            return Ok(Allowance::without_asking(false, window, false));
        }
        // Until a migration ends, a limit counts under its old name alone: two would allow twice as much.
        let name = self.names.others.last().filter(|_| self.names.own() == self.names.name);
        let name = name.unwrap_or(&self.names.name);
        let call = script.call(&[name], |cmd| _ = cmd.arg(limit).arg(window).arg(cost));
        let answer = match self.core.send(&call).await {
            Ok(answer) => answer,
            Err(error) if error.is_unavailable() => {
                let allowed = !behaviour.closed_on_outage;
                let wait = if allowed { Duration::ZERO } else { Duration::from_secs(1) };
                return Ok(Allowance::without_asking(allowed, wait, true));
            }
            Err(error) => return Err(error.about(K::NAME)),
        };
        let (allowed, remaining, retry, reset): (bool, u64, u64, u64) = understand::<_, K>(answer)?;
        let outcome = if allowed { "allowed" } else { "refused" };
        metrics::counter!("keyward_limit_checks_total", "definition" => K::NAME, "outcome" => outcome)
            .increment(1);
        Ok(Allowance {
            allowed,
            remaining,
            retry_after: Duration::from_millis(retry),
            reset: Duration::from_millis(reset),
            outage: false,
        })
    }
}

impl Allowance {
    fn without_asking(allowed: bool, wait: Duration, outage: bool) -> Self {
        Allowance { allowed, remaining: 0, retry_after: wait, reset: wait, outage }
    }
}
