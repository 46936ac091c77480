//! Several limits in one check: all allow, or nothing is counted.

use super::Allowance;
use super::ask::{self, Asked};
use crate::kind::{Declared, Known, Limit};
use crate::store::core::Core;
use crate::store::error::Error;
use crate::store::{Handle, Prefixed, Store};
use crate::{Key, Prefix};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Limits that are asked together, as [`Store::limits`] begins them.
#[derive(Clone)]
#[must_use = "nothing is asked until `check` or `peek` is awaited"]
pub struct Limits {
    core: Arc<Core>,
    asked: Vec<Asked>,
}

/// What several limits say to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allowances {
    /// Whether all allow it. A check that was allowed has been counted in each of them, any other in none
    pub allowed: bool,
    /// After which time all would allow one like it; zero if they did. `None` if one of them never will
    pub retry_after: Option<Duration>,
    /// What each says, in the order in which they were added. Where this process knows that some refuse, the
    /// others are not asked, and are not listed
    pub each: Vec<Allowance>,
}

impl Store {
    /// Begins a check of several limits at once.
    pub fn limits(&self) -> Limits {
        Limits { core: self.core.clone(), asked: Vec::new() }
    }
}

impl<P: Prefix> Prefixed<P> {
    /// See [`Store::limits`].
    pub fn limits(&self) -> Limits {
        self.store.limits()
    }
}

impl Limits {
    /// Adds a limit, which counts one.
    pub fn and<K: Key, B: Known>(self, limit: &Handle<'_, K, Limit<B>, Declared>) -> Self {
        self.and_cost(limit, 1)
    }

    /// Adds a limit, which counts several.
    pub fn and_cost<K: Key, B: Known>(
        mut self,
        limit: &Handle<'_, K, Limit<B>, Declared>,
        cost: u64,
    ) -> Self {
        self.asked.push(limit.asked(cost));
        self
    }

    /// Asks all of them, and counts the request in all or in none.
    ///
    /// On one server, and for keys of one slot, this is one step and one round trip. On a cluster, limits in
    /// several slots are first looked at, then counted if all allow: two round trips. If others come in between
    /// and one refuses after all, the rest keep their count. No limit ever allows more than it should.
    ///
    /// # Errors
    /// If a key holds something else, or if one key was added twice. In an outage each limit answers by its own
    /// `on_outage`.
    pub async fn check(&self) -> Result<Allowances, Error> {
        ask::all(&self.core, &self.asked, true).await.map(Allowances::new)
    }

    /// What [`check`](Limits::check) would say. Nothing is counted or written.
    ///
    /// # Errors
    /// See [`check`](Limits::check).
    pub async fn peek(&self) -> Result<Allowances, Error> {
        ask::all(&self.core, &self.asked, false).await.map(Allowances::new)
    }

    /// Whether one of them refuses while the server is unreachable.
    #[cfg(feature = "tower")]
    pub(super) fn is_closed(&self) -> bool {
        self.asked.iter().any(|it| it.definition.behaviour.closed_on_outage)
    }
}

impl Allowances {
    fn new(each: Vec<Allowance>) -> Self {
        let allowed = each.iter().all(|it| it.allowed);
        let waits: Option<Vec<Duration>> = each.iter().map(|it| it.retry_after).collect();
        let retry_after = waits.map(|waits| waits.into_iter().max().unwrap_or_default());
        Allowances { allowed, retry_after, each }
    }
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.asked.iter().map(|it| it.definition.name);
        f.debug_tuple("Limits").field(&names.collect::<Vec<_>>()).finish()
    }
}
