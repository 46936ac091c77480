//! Counters and quotas: checked and counted in one step.

use super::handle::{Handle, malformed, understand};
use super::lua::{Lua, lua};
use super::names::Names;
use super::request::{Call, Calls, Request};
use super::write::{Command, Mode, note_in_indexes};
use crate::Key;
use crate::kind::{ByCaller, Counter, Declared, Known, Quota};

static COUNT: Lua = lua!("lua/count.lua");

/// What became of a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counted {
    /// Whether it was counted; otherwise it would have left its bounds, and nothing has changed
    pub counted: bool,
    /// The number, as it is now
    pub value: i64,
}

impl<'s, K: Key> Handle<'s, K, Counter, Declared> {
    /// The number; zero if there is none yet.
    pub fn get(&self) -> Request<'s, i64> {
        self.number()
    }

    /// The number, or `None` if there is none: where a database knows better, a counter that was lost is
    /// not zero.
    pub fn find(&self) -> Request<'s, Option<i64>> {
        self.read("GET", |_| {})
    }

    /// Adds to the number, or takes from it. Unless the schema allows it, it does not fall below zero.
    pub fn add(&self, by: i64) -> Request<'s, Counted> {
        let lowest = (!K::DEFINITION.behaviour.negative).then_some(0);
        self.count(by, lowest, None, self.ttl())
    }

    /// Sets the number, as a rebuild from the database does.
    pub fn set(&self, value: i64) -> Request<'s, ()> {
        self.write(Mode::Whole, vec![Command::new("SET").arg(value)]).map(|_| Ok(()))
    }
}

impl<'s, K: Key, L> Handle<'s, K, Quota<ByCaller>, L> {
    /// The same quota with a bound: the schema leaves it to the caller.
    pub fn limited_to(self, limit: u64) -> Handle<'s, K, Quota<Declared>, L> {
        self.bounded(limit)
    }
}

impl<'s, K: Key, B> Handle<'s, K, Quota<B>, Declared> {
    /// What has been used; zero if nothing has.
    pub fn used(&self) -> Request<'s, i64> {
        self.number()
    }

    /// Uses some of the quota, if there is enough of it.
    pub fn take(&self, amount: u64) -> Request<'s, Counted>
    where
        B: Known,
    {
        let highest = i64::try_from(self.limit()).unwrap_or(i64::MAX);
        let amount = i64::try_from(amount).unwrap_or(i64::MAX);
        self.count(amount, Some(0), Some(highest), self.window())
    }

    /// Gives some of it back; it does not fall below zero.
    pub fn refund(&self, amount: u64) -> Request<'s, Counted> {
        let amount = i64::try_from(amount).unwrap_or(i64::MAX);
        self.count(-amount, Some(0), None, self.window())
    }

    /// How long until the quota restarts, for a key that does not exist yet.
    fn window(&self) -> Option<u64> {
        K::DEFINITION.behaviour.window_ms.or_else(|| self.ttl())
    }
}

impl<'s, K: Key, T> Handle<'s, K, T, Declared> {
    fn number(&self) -> Request<'s, i64> {
        self.read::<Option<i64>>("GET", |_| {}).map(|number| Ok(number.unwrap_or(0)))
    }

    fn count(
        &self,
        by: i64,
        lowest: Option<i64>,
        highest: Option<i64>,
        ttl: Option<u64>,
    ) -> Request<'s, Counted> {
        if let Err(error) = self.in_one_slot() {
            return Request::known(self.core, K::NAME, Err(error));
        }
        let restart = K::DEFINITION.behaviour.sliding;
        // On a cluster an index is on another node, and is told before.
        let (before, indexes) = if self.core.is_cluster() {
            let live = ttl.unwrap_or(0);
            (note_in_indexes(&self.indexes, self.names.own(), live), &[][..])
        } else {
            (Vec::new(), self.indexes.as_slice())
        };
        let call = counting(&self.names, indexes, by, [lowest, highest], ttl, restart);
        let uses = self.names.written_by(K::NAME);
        let calls = Calls { before, uses, ..Calls::one(call) };
        Request::new(self.core, K::DEFINITION, calls, |answers| {
            let (counted, value): (bool, String) = understand::<_, K>(answers.first)?;
            let value = value.parse().map_err(|_| malformed::<K>("it holds no number"))?;
            Ok(Counted { counted, value })
        })
    }
}

/// What counts under all names, which are in one slot.
pub(crate) fn counting(
    names: &Names,
    indexes: &[String],
    by: i64,
    [lowest, highest]: [Option<i64>; 2],
    ttl: Option<u64>,
    restart: bool,
) -> Call {
    let bound = |bound: Option<i64>| bound.map(|bound| bound.to_string()).unwrap_or_default();
    let copies = names.all().filter(|name| names.is_copy(name)).count();
    let mut keys: Vec<&str> = names.all().collect();
    keys.extend(indexes.iter().map(String::as_str));
    COUNT.call(&keys, |cmd| {
        cmd.arg(by).arg(bound(lowest)).arg(bound(highest)).arg(ttl.unwrap_or(0));
        cmd.arg(u8::from(restart)).arg(copies).arg(indexes.len()).arg(names.own());
    })
}
