//! Boards ordered by score: where a member stands, and several boards as one.
//!
//! Where the schema decides ties, a score has a fraction of 30 bits that says when it was reached, in seconds
//! since 2026. A double has 53 bits: whole scores up to 2^23 - 1 stay exact, and the seconds last until 2060.

use super::core::Core;
use super::error::Error;
use super::handle::{Handle, malformed, understand};
use super::lua::{Lua, lua};
use super::pipeline::Pipeline;
use super::request::{Calls, Group, Request};
use super::sorted_set::pairs;
use super::{Prefixed, Store};
use crate::codec::NOT_OF_ITS_TYPE;
use crate::kind::SortedSet;
use crate::{Codec, Definition, Fixed, Key, Keyspace, Prefix, Score};
use redis::Value;
use std::collections::HashMap;

static AROUND: Lua = lua!("lua/around.lua");

/// What a whole score must stay below, where its fraction decides ties.
const ROOM: f64 = 8_388_608.0;

/// The score without the fraction that decides ties.
pub(crate) fn reached(definition: &Definition, score: f64) -> f64 {
    if definition.behaviour.ties.is_some() { score.floor() } else { score }
}

/// The score, if it leaves room for the fraction that decides ties.
pub(crate) fn room(definition: &'static Definition, score: f64) -> Result<f64, Error> {
    if definition.behaviour.ties.is_none() || (score.fract() == 0.0 && score.abs() < ROOM) {
        return Ok(score);
    }
    let why = "a score whose ties are decided is a whole number of at most 8388607".to_owned();
    Err(Error::Malformed { definition: definition.name, field: None, why })
}

/// Where a member stands on a board.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Standing<M, S> {
    /// Its rank, from 0 for the highest score
    pub rank: u64,
    /// The rank of the first of `around`
    pub first: u64,
    /// The member itself and its neighbours with their scores, the highest first
    pub around: Vec<(M, S)>,
}

impl<'s, K: Key, M: Send + 's, C: Codec<M>, S: Score, L> Handle<'s, K, SortedSet<M, C, S>, L> {
    /// Where a member stands, with so many neighbours above and below; `None` if it is not there.
    pub fn around(&self, member: &M, neighbours: u32) -> Request<'s, Option<Standing<M, S>>> {
        let member = match C::encode(member) {
            Ok(member) => member,
            Err(why) => return Request::known(self.core, K::NAME, Err(malformed::<K>(why))),
        };
        // The first of its names that has the member.
        let cluster = self.core.is_cluster();
        let mut near = self.names.together(cluster);
        near.retain(|name| !self.names.is_copy(name));
        let ask = |keys: &[&str]| {
            AROUND.call(keys, |cmd| _ = cmd.arg(&member).arg(neighbours)).repeatable()
        };
        let mut calls = Calls::one(ask(&near));
        let far = self.names.far_fallbacks(cluster).into_iter();
        calls.otherwise = far.map(|name| Group { first: ask(&[name]), rest: Vec::new() }).collect();
        Request::new(self.core, K::DEFINITION, calls, |answers| {
            if answers.first == Value::Nil {
                return Ok(None);
            }
            let (rank, first, around): (u64, u64, Value) = understand::<_, K>(answers.first)?;
            let around = pairs::<M, C, S>(K::DEFINITION, around)?;
            Ok(Some(Standing { rank, first, around }))
        })
    }
}

impl Store {
    /// The members with the highest sums over several boards, the highest first: of the last seven days, where
    /// each day has a board of its own. All boards are read in one round trip, whole.
    ///
    /// # Errors
    /// If the server cannot be asked, or if one of the boards does not hold what was declared.
    pub async fn top_of_all<K, M, C, S>(
        &self,
        boards: impl IntoIterator<Item = K>,
        count: usize,
    ) -> Result<Vec<(M, S)>, Error>
    where
        K: Key<Kind = SortedSet<M, C, S>, Keyspace: Keyspace<Prefix: Fixed>>,
        M: Send,
        C: Codec<M>,
        S: Score,
    {
        top_of_all(&self.core, boards, &Default::default(), count).await
    }
}

impl<P: Prefix> Prefixed<P> {
    /// See [`Store::top_of_all`].
    ///
    /// # Errors
    /// If the server cannot be asked, or if one of the boards does not hold what was declared.
    pub async fn top_of_all<K, M, C, S>(
        &self,
        boards: impl IntoIterator<Item = K>,
        count: usize,
    ) -> Result<Vec<(M, S)>, Error>
    where
        K: Key<Kind = SortedSet<M, C, S>, Keyspace: Keyspace<Prefix = P>>,
        M: Send,
        C: Codec<M>,
        S: Score,
    {
        top_of_all(&self.store.core, boards, &self.prefix, count).await
    }
}

async fn top_of_all<K, M, C, S>(
    core: &Core,
    boards: impl IntoIterator<Item = K>,
    prefix: &<K::Keyspace as Keyspace>::Prefix,
    count: usize,
) -> Result<Vec<(M, S)>, Error>
where
    K: Key<Kind = SortedSet<M, C, S>>,
    M: Send,
    C: Codec<M>,
    S: Score,
{
    let mut batch = Pipeline::new(core);
    let mut promises = Vec::new();
    for board in boards {
        let board: Handle<'_, K, SortedSet<M, C, S>, K::Lifetime> =
            Handle::new(core, board, prefix);
        let all = board.read::<Value>("ZRANGE", |cmd| _ = cmd.arg(0).arg(-1).arg("WITHSCORES"));
        promises.push(batch.add(all));
    }
    let mut results = batch.run().await?;
    // What was scored, and with what decides ties: when it was reached.
    let mut sums: HashMap<Vec<u8>, (f64, f64)> = HashMap::new();
    for promise in promises {
        let members: Vec<(Vec<u8>, f64)> = redis::from_redis_value(results.take(promise)?)
            .map_err(|_| malformed::<K>(NOT_OF_ITS_TYPE))?;
        for (member, score) in members {
            let sum = sums.entry(member).or_default();
            *sum = (sum.0 + reached(K::DEFINITION, score), sum.1 + score);
        }
    }
    let mut sums: Vec<(Vec<u8>, (f64, f64))> = sums.into_iter().collect();
    // As the server orders: by score, then by the bytes of the member.
    sums.sort_by(|(one, (sum, tie)), (other, (other_sum, other_tie))| {
        let by_score = other_sum.total_cmp(sum).then_with(|| other_tie.total_cmp(tie));
        by_score.then_with(|| other.cmp(one))
    });
    sums.truncate(count);
    let pair = |(member, (score, _)): (Vec<u8>, (f64, f64))| {
        let member = C::decode(&member).map_err(malformed::<K>)?;
        let score = S::from_score(score)
            .ok_or_else(|| malformed::<K>("a score is not a value of its type"))?;
        Ok((member, score))
    };
    sums.into_iter().map(pair).collect()
}
