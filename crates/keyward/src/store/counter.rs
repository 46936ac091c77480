//! Counters and quotas: checked and counted in one step.

use super::error::Error;
use super::handle::Handle;
use super::lua::{Lua, lua};
use crate::Key;
use crate::kind::{Counter, Declared, Quota};

static COUNT: Lua = lua!("lua/count.lua");

/// What became of a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Whether it was counted; otherwise it would have left its bounds, and nothing has changed
    pub counted: bool,
    /// The number, as it is now
    pub value: i64,
}

impl<K: Key> Handle<'_, K, Counter, Declared> {
    /// The number; zero if there is none yet.
    pub async fn get(&self) -> Result<i64, Error> {
        Ok(self.ask::<Option<i64>>("GET", |_| {}).await?.unwrap_or(0))
    }

    /// Adds to the number, or takes from it. Unless the schema allows it, it does not fall below zero.
    pub async fn add(&self, by: i64) -> Result<Counted, Error> {
        let lowest = (!K::DEFINITION.behaviour.negative).then_some(0);
        self.count(by, lowest, None, self.ttl(), false).await
    }

    /// Sets the number, as a rebuild from the database does.
    pub async fn set(&self, value: i64) -> Result<(), Error> {
        let ttl = self.ttl();
        self.ask("SET", |cmd| {
            cmd.arg(value);
            if let Some(ttl) = ttl {
                cmd.arg("PX").arg(ttl);
            }
        })
        .await
    }
}

impl<K: Key> Handle<'_, K, Quota, Declared> {
    /// What has been used; zero if nothing has.
    pub async fn used(&self) -> Result<i64, Error> {
        Ok(self.ask::<Option<i64>>("GET", |_| {}).await?.unwrap_or(0))
    }

    /// Uses some of the quota, if there is enough of it: `limit` where the schema leaves it to the
    /// caller, otherwise the schema's.
    pub async fn take(&self, amount: u64, limit: Option<u64>) -> Result<Counted, Error> {
        let limit = K::DEFINITION.behaviour.limit.or(limit).unwrap_or(0);
        let highest = i64::try_from(limit).unwrap_or(i64::MAX);
        let amount = i64::try_from(amount).unwrap_or(i64::MAX);
        self.count(amount, Some(0), Some(highest), self.window(), false).await
    }

    /// Gives some of it back; it does not fall below zero.
    pub async fn refund(&self, amount: u64) -> Result<Counted, Error> {
        let amount = i64::try_from(amount).unwrap_or(i64::MAX);
        self.count(-amount, Some(0), None, self.window(), false).await
    }

    /// How long until the quota starts anew, for a key that is not there yet.
    fn window(&self) -> Option<u64> {
        K::DEFINITION.behaviour.window_ms.or_else(|| self.ttl())
    }
}

impl<K: Key, T> Handle<'_, K, T, Declared> {
    async fn count(
        &self,
        by: i64,
        lowest: Option<i64>,
        highest: Option<i64>,
        ttl: Option<u64>,
        anew: bool,
    ) -> Result<Counted, Error> {
        let bound = |bound: Option<i64>| bound.map(|bound| bound.to_string()).unwrap_or_default();
        let (lowest, highest) = (bound(lowest), bound(highest));
        let args = |cmd: &mut redis::Cmd| {
            cmd.arg(by).arg(&lowest).arg(&highest).arg(ttl.unwrap_or(0)).arg(u8::from(anew));
        };
        let answer = self.core.run(&COUNT, &[&self.name], args).await;
        let answer = answer.map_err(|error| error.about(K::DEFINITION.name))?;
        let (counted, value): (bool, String) = self.understand(answer)?;
        let value = value.parse().map_err(|_| self.malformed("it holds no number"))?;
        Ok(Counted { counted, value })
    }
}
