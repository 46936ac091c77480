//! Rate limits: one round trip, by the server's time.

mod ask;
mod refusals;
mod several;
#[cfg(feature = "tower")]
mod tower;

pub(crate) use refusals::Refusals;
pub use several::{Allowances, Limits};
#[cfg(feature = "tower")]
pub use tower::{LimitLayer, LimitService};

use super::error::Error;
use super::handle::Handle;
use super::request::Request;
use crate::Key;
use crate::kind::{ByCaller, Declared, Known, Limit};
use ask::Asked;
use std::time::Duration;

/// What a limit says to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allowance {
    /// The limit's definition
    pub definition: &'static str,
    /// How many requests it allows within its window
    pub limit: u64,
    /// Its window
    pub window: Duration,
    /// Whether the request may go on. A check that was allowed has been counted
    pub allowed: bool,
    /// How many more may
    pub remaining: u64,
    /// After which time one like it would be allowed; zero if it was. `None` if none ever will: it costs more than the limit
    pub retry_after: Option<Duration>,
    /// After which time nothing of what was counted counts any more
    pub reset: Duration,
    /// Whether the server could not be asked, or its answer was lost, and `on_outage` answered in its
    /// place. A request whose answer was lost may have been counted, once
    pub outage: bool,
}

impl Allowance {
    /// The item for the header `RateLimit-Policy` of the IETF draft `httpapi-ratelimit-headers`:
    /// `"login";q=5;w=900`.
    pub fn policy_item(&self) -> String {
        format!("\"{}\";q={};w={}", self.definition, self.limit, seconds(self.window))
    }

    /// The item for the header `RateLimit` of the same draft: `"login";r=4;t=900`. `None` in an outage, since
    /// nobody knows how many remain.
    pub fn limit_item(&self) -> Option<String> {
        let Allowance { definition, remaining, .. } = self;
        let item = || format!("\"{definition}\";r={remaining};t={}", seconds(self.reset));
        (!self.outage).then(item)
    }
}

/// Whole seconds, rounded up: who waits for so long has waited long enough.
fn seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

impl<'s, K: Key, L> Handle<'s, K, Limit<ByCaller>, L> {
    /// The same limit with a number: the schema leaves it to the caller.
    pub fn limited_to(self, limit: u64) -> Handle<'s, K, Limit<Declared>, L> {
        self.bounded(limit)
    }
}

impl<'s, K: Key, B> Handle<'s, K, Limit<B>, Declared> {
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
    /// A refusal is remembered in this process until its `retry_after`, and for a second at most: a client that
    /// keeps asking for as much or more is refused without a round trip.
    ///
    /// # Errors
    /// See [`check`](Handle::check).
    pub async fn check_cost(&self, cost: u64) -> Result<Allowance, Error>
    where
        B: Known,
    {
        ask::one(self.core, self.asked(cost), true).await
    }

    /// What [`check`](Handle::check) would say. Nothing is counted or written.
    ///
    /// # Errors
    /// See [`check`](Handle::check).
    pub async fn peek(&self) -> Result<Allowance, Error>
    where
        B: Known,
    {
        self.peek_cost(1).await
    }

    /// What [`check_cost`](Handle::check_cost) would say. Nothing is counted or written.
    ///
    /// # Errors
    /// See [`check`](Handle::check).
    pub async fn peek_cost(&self, cost: u64) -> Result<Allowance, Error>
    where
        B: Known,
    {
        ask::one(self.core, self.asked(cost), false).await
    }

    /// Forgets what was counted; whether there was anything. Other processes may refuse for a second longer.
    pub fn reset(&self) -> Request<'s, bool> {
        let (refusals, name) = (&self.core.refusals, self.names.counted().to_owned());
        self.delete().map(move |there| {
            refusals.forget(&name);
            Ok(there)
        })
    }

    fn asked(&self, cost: u64) -> Asked
    where
        B: Known,
    {
        Asked::new(K::DEFINITION, self.names.counted().to_owned(), self.limit(), cost)
    }
}
