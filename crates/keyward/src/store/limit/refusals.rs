//! What limits have refused a moment ago: who keeps asking is refused without a round trip.
//!
//! A refusal holds for as much or more, since what is counted only grows until `retry_after`. It is kept for a
//! second at most, so that a limit that somebody else resets is free again everywhere a second later.

use super::Allowance;
use super::ask::Asked;
use std::time::Duration;

/// How many are kept.
const MOST: u64 = 10_000;
/// How long one is kept at most.
const KEPT_MS: u64 = 1_000;

/// The refusals that this process has heard lately.
pub(crate) struct Refusals(moka::sync::Cache<String, Refusal>);

/// A refusal, by the store's clock.
#[derive(Debug, Clone, Copy)]
struct Refusal {
    limit: u64,
    cost: u64,
    remaining: u64,
    /// When it is not believed any more
    until: u64,
    retry: u64,
    reset: u64,
}

impl Default for Refusals {
    fn default() -> Self {
        Refusals(moka::sync::Cache::new(MOST))
    }
}

impl Refusals {
    /// Remembers an answer to what was sent at this time.
    pub(super) fn remember(&self, asked: &Asked, refused: &Allowance, sent: u64) {
        let at = |wait: Duration| {
            sent.saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
        };
        let (retry, reset) = (refused.retry_after.map_or(u64::MAX, at), at(refused.reset));
        let refusal = Refusal {
            limit: asked.limit,
            cost: asked.cost,
            remaining: refused.remaining,
            until: retry.min(sent.saturating_add(KEPT_MS)),
            retry,
            reset,
        };
        self.0.insert(asked.name.clone(), refusal);
    }

    /// The refusal that still holds.
    pub(super) fn find(&self, asked: &Asked, now: u64) -> Option<Allowance> {
        let it = self.0.get(&asked.name)?;
        let holds = now < it.until && asked.cost >= it.cost && asked.limit <= it.limit;
        let wait = |at: u64| Duration::from_millis(at.saturating_sub(now));
        holds.then(|| asked.answer(false, it.remaining, wait(it.retry), wait(it.reset), false))
    }

    /// Forgets it: the limit was reset.
    pub(super) fn forget(&self, name: &str) {
        self.0.invalidate(name);
    }
}
