//! Sorted sets: ranks, scores and the best of them.

use super::error::Error;
use super::handle::{Handle, malformed, understand};
use super::list::trimmed_to;
use super::ranking::{reached, room};
use super::request::Request;
use super::whole::{ARGS, in_turn};
use super::write::{Command, Mode, about};
use crate::codec::NOT_OF_ITS_TYPE;
use crate::definition::{Keep, Ties};
use crate::kind::{Declared, SortedSet};
use crate::{Codec, Definition, Key, Unix, UnixMs};
use redis::{Cmd, Value};
use std::ops::{Bound, RangeBounds};

/// What a sorted set can be ordered by: `f64`, `i64`, `u64`, [`Unix`] and [`UnixMs`].
pub trait Score: sealed::Sealed + Clone + Send + Sync + 'static {
    /// As the server keeps it.
    fn to_score(&self) -> f64;

    /// From what the server keeps; `None` if it is none of these.
    fn from_score(score: f64) -> Option<Self>;
}

mod sealed {
    use crate::{Unix, UnixMs};

    pub trait Sealed {}

    impl Sealed for f64 {}
    impl Sealed for i64 {}
    impl Sealed for u64 {}
    impl Sealed for Unix {}
    impl Sealed for UnixMs {}
}

impl Score for f64 {
    fn to_score(&self) -> f64 {
        *self
    }

    fn from_score(score: f64) -> Option<Self> {
        Some(score)
    }
}

/// Whole numbers, exact up to 2^53, as far as the server keeps them.
macro_rules! whole_scores {
    ($($ty:ty, $get:expr, $make:expr;)*) => {$(
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss,
            reason = "the server itself keeps scores as f64; what does not fit is refused")]
        impl Score for $ty {
            fn to_score(&self) -> f64 {
                ($get)(self) as f64
            }

            fn from_score(score: f64) -> Option<Self> {
                let exact = score.fract() == 0.0 && score.abs() <= 9_007_199_254_740_992.0;
                if exact { ($make)(score) } else { None }
            }
        }
    )*};
}

whole_scores! {
    i64, |it: &i64| *it, |score: f64| Some(score as i64);
    u64, |it: &u64| *it, |score: f64| (score >= 0.0).then_some(score as u64);
    Unix, |it: &Unix| it.get(), |score: f64| (score >= 0.0).then_some(score as u64).and_then(|it| Unix::new(it).ok());
    UnixMs, |it: &UnixMs| it.get(), |score: f64| (score >= 0.0).then_some(score as u64).and_then(|it| UnixMs::new(it).ok());
}

/// What keeps a sorted set within its bound: the lowest go, unless the schema keeps those.
pub(crate) fn trim(definition: &'static Definition) -> Option<Command> {
    let max = trimmed_to(definition)?;
    let command = Command::new("ZREMRANGEBYRANK");
    Some(match definition.behaviour.keep {
        Some(Keep::First) => command.arg(max).arg(-1),
        _ => command.arg(0).arg(-max - 1),
    })
}

/// What sets the scores of members.
pub(crate) fn setting<'m, M: 'm, C: Codec<M>, S: Score>(
    definition: &'static Definition,
    members: impl IntoIterator<Item = (&'m M, S)>,
) -> Result<Vec<Command>, Error> {
    let malformed = |why| Error::Malformed { definition: definition.name, field: None, why };
    let mut args = Vec::new();
    for (member, score) in members {
        let score = room(definition, score.to_score())?;
        args.push(score.to_string().into_bytes());
        args.push(C::encode(member).map_err(malformed)?);
    }
    Ok(match definition.behaviour.ties {
        None => in_turn("ZADD", &args),
        Some(ties) => args.chunks(ARGS).map(|some| reaching(ties, "set").arg(some)).collect(),
    })
}

/// A command of `write.lua`: scores whose fraction says when they were reached.
fn reaching(ties: Ties, how: &str) -> Command {
    let word = match ties {
        Ties::First => "first",
        Ties::Last => "last",
    };
    Command::new("ZREACH").arg(word).arg(how)
}

/// Members with their scores, in the server's order.
pub(crate) fn pairs<M, C: Codec<M>, S: Score>(
    definition: &'static Definition,
    answer: Value,
) -> Result<Vec<(M, S)>, Error> {
    let malformed =
        |why: String| Error::Malformed { definition: definition.name, field: None, why };
    let pairs: Vec<(Vec<u8>, f64)> =
        redis::from_redis_value(answer).map_err(|_| malformed(NOT_OF_ITS_TYPE.to_owned()))?;
    let pair = |(member, score): (Vec<u8>, f64)| {
        let member = C::decode(&member).map_err(malformed)?;
        let score = S::from_score(reached(definition, score))
            .ok_or_else(|| malformed("a score is not a value of its type".to_owned()))?;
        Ok((member, score))
    };
    pairs.into_iter().map(pair).collect()
}

impl<'s, K: Key, M: Send + 's, C: Codec<M>, S: Score, L> Handle<'s, K, SortedSet<M, C, S>, L> {
    /// Members and scores from one rank to another, both included, the lowest score first; negative
    /// ranks count from the end: `0, -1` is all of them.
    pub fn range(&self, first: i64, last: i64) -> Request<'s, Vec<(M, S)>> {
        self.pairs(|cmd| _ = cmd.arg(first).arg(last))
    }

    /// The members with the highest scores, the highest first.
    pub fn top(&self, count: u32) -> Request<'s, Vec<(M, S)>> {
        if count == 0 {
            return Request::known(self.core, K::NAME, Ok(Vec::new()));
        }
        self.pairs(|cmd| _ = cmd.arg(0).arg(count - 1).arg("REV"))
    }

    /// Members and scores within these scores, the lowest first: `0.5..`, `..=10.0`.
    pub fn by_score(&self, scores: impl RangeBounds<S>) -> Request<'s, Vec<(M, S)>> {
        // A score with a fraction lies between its own and the next.
        let next = if K::DEFINITION.behaviour.ties.is_some() { 1.0 } else { 0.0 };
        let low = match scores.start_bound() {
            Bound::Included(score) => score.to_score().to_string(),
            Bound::Excluded(score) if next > 0.0 => (score.to_score() + next).to_string(),
            Bound::Excluded(score) => format!("({}", score.to_score()),
            Bound::Unbounded => "-inf".to_owned(),
        };
        let high = match scores.end_bound() {
            Bound::Included(score) if next > 0.0 => format!("({}", score.to_score() + next),
            Bound::Included(score) => score.to_score().to_string(),
            Bound::Excluded(score) => format!("({}", score.to_score()),
            Bound::Unbounded => "+inf".to_owned(),
        };
        self.pairs(|cmd| _ = cmd.arg(&low).arg(&high).arg("BYSCORE"))
    }

    /// The rank of a member, from 0 for the lowest score.
    pub fn rank(&self, member: &M) -> Request<'s, Option<u64>> {
        self.of_member("ZRANK", member)
    }

    /// The rank of a member, from 0 for the highest score.
    pub fn rank_from_top(&self, member: &M) -> Request<'s, Option<u64>> {
        self.of_member("ZREVRANK", member)
    }

    /// The score of a member.
    pub fn score(&self, member: &M) -> Request<'s, Option<S>> {
        self.of_member::<Option<f64>>("ZSCORE", member)
            .map(|score| Ok(score.and_then(|score| S::from_score(reached(K::DEFINITION, score)))))
    }

    /// How many members there are.
    pub fn len(&self) -> Request<'s, u64> {
        self.read("ZCARD", |_| {})
    }

    fn of_member<R: redis::FromRedisValue + Send + 's>(
        &self,
        command: &str,
        member: &M,
    ) -> Request<'s, R> {
        match C::encode(member) {
            Ok(member) => self.read(command, |cmd| _ = cmd.arg(&member)),
            Err(why) => Request::known(self.core, K::NAME, Err(malformed::<K>(why))),
        }
    }

    fn pairs(&self, args: impl Fn(&mut Cmd)) -> Request<'s, Vec<(M, S)>> {
        let ask = |name: &str| {
            let mut cmd = about("ZRANGE", name);
            args(&mut cmd);
            cmd.arg("WITHSCORES");
            cmd
        };
        self.read_renewing(ask, |answer| pairs::<M, C, S>(K::DEFINITION, answer))
    }
}

impl<'s, K: Key, M: Send + 's, C: Codec<M>, S: Score> Handle<'s, K, SortedSet<M, C, S>, Declared> {
    /// Sets the scores of members; how many were not there before. Where the set is full, the lowest go
    /// (with `keep = "first"` the highest), or the write is refused.
    pub fn add<'m>(&self, members: impl IntoIterator<Item = (&'m M, S)>) -> Request<'s, u64>
    where
        M: 'm,
    {
        match setting::<M, C, S>(K::DEFINITION, members) {
            Ok(commands) => self.change(Mode::Part, commands, trim(K::DEFINITION)),
            Err(error) => Request::known(self.core, K::NAME, Err(error)),
        }
    }

    /// Adds to the score of a member, which counts as zero where it is missing; the new score.
    pub fn increment(&self, member: &M, by: f64) -> Request<'s, f64> {
        let member = match C::encode(member) {
            Ok(member) => member,
            Err(why) => return Request::known(self.core, K::NAME, Err(malformed::<K>(why))),
        };
        let command = match K::DEFINITION.behaviour.ties {
            None => Command::new("ZINCRBY").arg(by).arg(member),
            Some(_) if by.fract() != 0.0 => {
                let why = "a score whose ties are decided is a whole number";
                return Request::known(self.core, K::NAME, Err(malformed::<K>(why)));
            }
            Some(ties) => reaching(ties, "add").arg(by).arg(member),
        };
        let commands = std::iter::once(command).chain(trim(K::DEFINITION)).collect();
        self.write(Mode::Part, commands).map(|answers| {
            let score = answers.and_then(|answers| answers.into_iter().next());
            match score.unwrap_or(Value::Nil) {
                Value::Nil => room(K::DEFINITION, f64::INFINITY),
                score => understand::<_, K>(score),
            }
        })
    }

    /// Removes members; how many were there.
    pub fn remove<'m>(&self, members: impl IntoIterator<Item = &'m M>) -> Request<'s, u64>
    where
        M: 'm,
    {
        let members: Result<Vec<Vec<u8>>, String> = members.into_iter().map(C::encode).collect();
        match members {
            Ok(members) => self.change(Mode::Present, in_turn("ZREM", &members), None),
            Err(why) => Request::known(self.core, K::NAME, Err(malformed::<K>(why))),
        }
    }

    /// Writes, and tidies up behind that; the sum of what the writes have answered.
    fn change(
        &self,
        mode: Mode,
        mut commands: Vec<Command>,
        behind: Option<Command>,
    ) -> Request<'s, u64> {
        if commands.is_empty() {
            return Request::known(self.core, K::NAME, Ok(0));
        }
        let counted = commands.len();
        commands.extend(behind);
        self.write(mode, commands).map(move |answers| {
            let counts = answers.unwrap_or_default().into_iter().take(counted);
            counts.map(understand::<u64, K>).sum()
        })
    }
}
