//! Rate limits: one round trip, by the server's time.

use super::error::Error;
use super::handle::{Handle, understand};
use super::lua::{Lua, lua};
use super::measure;
use crate::Key;
use crate::definition::Algorithm;
use crate::kind::{ByCaller, Declared, Known, Limit};
use std::time::Duration;

static FIXED: Lua = lua!("lua/limit_fixed.lua");
static SLIDING: Lua = lua!("lua/limit_sliding.lua");
static GCRA: Lua = lua!("lua/limit_gcra.lua");

/// What a limit says to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allowance {
    /// Whether it may go on; if so, it has been counted
    pub allowed: bool,
    /// How many more may
    pub remaining: u64,
    /// After which time one like it would be allowed; zero if it was
    pub retry_after: Duration,
    /// After which time nothing of what was counted counts any more
    pub reset: Duration,
    /// Whether the server could not be asked, or its answer was lost, and `on_outage` answered in its
    /// place. A request whose answer was lost may have been counted, once
    pub outage: bool,
}

impl<'s, K: Key, L> Handle<'s, K, Limit<ByCaller>, L> {
    /// The same limit with a number: the schema leaves it to the caller.
    pub fn limited_to(self, limit: u64) -> Handle<'s, K, Limit<Declared>, L> {
        self.bounded(limit)
    }
}

impl<K: Key, B> Handle<'_, K, Limit<B>, Declared> {
    /// Asks for one request.
    ///
    /// # Errors
    /// If the key holds something else. While the server is unreachable, or when its answer is lost, the
    /// schema's `on_outage` answers: that is not an error.
    pub async fn check(&self) -> Result<Allowance, Error>
    where
        B: Known,
    {
        self.check_cost(1).await
    }

    /// Asks for a request that counts as several.
    ///
    /// # Errors
    /// See [`check`](Handle::check).
    pub async fn check_cost(&self, cost: u64) -> Result<Allowance, Error>
    where
        B: Known,
    {
        self.core.suits(K::DEFINITION)?;
        let behaviour = &K::DEFINITION.behaviour;
        let limit = self.limit();
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
                self.core.failures.note(K::NAME, &error);
                let allowed = !behaviour.closed_on_outage;
                let wait = if allowed { Duration::ZERO } else { Duration::from_secs(1) };
                return Ok(Allowance::without_asking(allowed, wait, true));
            }
            Err(error) => {
                let error = error.about(K::NAME);
                self.core.failures.note(K::NAME, &error);
                return Err(error);
            }
        };
        let (allowed, remaining, retry, reset): (bool, u64, u64, u64) = understand::<_, K>(answer)?;
        let outcome = if allowed { "allowed" } else { "refused" };
        let labels = [("definition", K::NAME), ("outcome", outcome)];
        measure::count("keyward_limit_checks_total", 1, &labels);
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
