//! What everything in the store goes through: the breaker, the connection, and the counting of both.

use super::breaker::{Breaker, BreakerState, Permit, Turn};
use super::clock::Clock;
use super::error::Error;
use super::failures::Failures;
use super::flight::Flights;
use super::l1::L1;
use super::limit::Refusals;
use super::link::{Link, Primary};
use super::lua::{Lua, is_unknown};
use super::measure;
use super::missed::Missed;
use super::pace::Pace;
use super::queue::gather::Gather;
use super::request::{Answers, Call, Calls, Group, is_nothing};
use crate::Definition;
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use redis::{Cmd, Value};
use std::sync::{Arc, Weak};
use std::time::Instant;
use tokio::sync::Semaphore;

/// The way to the server.
pub(crate) struct Core {
    pub(crate) link: Link,
    breaker: Breaker,
    /// What loads are timed by
    pub(crate) clock: Clock,
    /// Loads that are under way
    pub(crate) flights: Flights,
    /// How long loads take
    pub(crate) pace: Pace,
    /// What is kept in this process
    pub(crate) l1: L1,
    /// Invalidations that could not be sent
    pub(crate) missed: Missed,
    /// Pushes that are about to be sent
    pub(crate) gather: Gather,
    /// What limits have refused a moment ago
    pub(crate) refusals: Refusals,
    /// Turns at the database while the cache is away
    pub(crate) fallback: Semaphore,
    /// Errors, counted and logged
    pub(crate) failures: Arc<Failures>,
    me: Weak<Core>,
}

impl Core {
    pub(crate) fn new(
        link: Link,
        breaker: Breaker,
        l1: L1,
        fallback: usize,
        clock: Clock,
    ) -> Arc<Self> {
        Arc::new_cyclic(|me| Core {
            link,
            breaker,
            failures: Arc::new(Failures::new(clock.clone())),
            clock,
            flights: Flights::default(),
            pace: Pace::default(),
            l1,
            missed: Missed::default(),
            gather: Gather::default(),
            refusals: Refusals::default(),
            fallback: Semaphore::new(fallback),
            me: me.clone(),
        })
    }

    /// For what goes on when nobody waits for it.
    pub(crate) fn me(&self) -> &Weak<Core> {
        &self.me
    }

    pub(crate) fn breaker_state(&self) -> BreakerState {
        self.breaker.state()
    }

    pub(crate) fn is_cluster(&self) -> bool {
        self.link.is_cluster()
    }

    /// Whether keys of this definition may be kept here: on a cluster, only if the schema says so, since the
    /// rules about slots hold only then; and not the other way round.
    pub(crate) fn suits(&self, definition: &Definition) -> Result<(), Error> {
        if definition.cluster == self.is_cluster() {
            return Ok(());
        }
        let name = definition.name;
        Err(Error::Settings(if definition.cluster {
            format!(
                "the schema of `{name}` says `cluster = true`, and the store is at a single server: \
                 connect with `redis+cluster://`, or remove `cluster` from `[keyspace]`"
            )
        } else {
            format!(
                "the store is at a cluster, and the schema of `{name}` does not say so: write \
                 `cluster = true` in `[keyspace]`, so that `keyward check` looks at slots"
            )
        }))
    }

    /// All that one request sends; the answers to its main part, or to another name's.
    pub(crate) async fn do_calls(
        &self,
        calls: Calls,
        definition: &'static str,
    ) -> Result<Answers, Error> {
        let began = Instant::now();
        let answers = self.do_in_order(calls, definition).await;
        measure::time("keyward_request_seconds", began.elapsed(), definition);
        answers
    }

    /// The same for several requests, each of which has its own time.
    pub(crate) async fn do_in_order(
        &self,
        mut calls: Calls,
        definition: &'static str,
    ) -> Result<Answers, Error> {
        let changes = calls.changes.take();
        if !self.missed.is_empty() {
            self.settle_for(definition).boxed().await?;
        }
        let simple = calls.before.is_empty()
            && calls.main.rest.is_empty()
            && calls.otherwise.is_empty()
            && calls.after.is_empty()
            && calls.uses.is_none();
        // Rare things in boxes of their own: they would make every request as large as they are.
        let answers = if simple {
            let first = self.send(&calls.main.first).await;
            first.map(|first| Answers { first, rest: Vec::new() })
        } else {
            self.sequence(calls).boxed().await
        };
        // Whatever the answer is: one that was lost may have been written.
        if let Some(name) = changes {
            self.l1.remove(&name);
        }
        answers.map_err(|error| error.about(definition))
    }

    async fn sequence(&self, calls: Calls) -> Result<Answers, Error> {
        let Calls { before, floors, mut main, otherwise, after, uses, .. } = calls;
        let before: Result<Vec<Value>, Error> = self.send_each(before).await?.into_iter().collect();
        main.exceed(&before?[..floors]);
        let (mut answers, mut at) = (self.send_group(main).await?, 0);
        for group in otherwise {
            if !is_nothing(&answers.first) {
                break;
            }
            (answers, at) = (self.send_group(group).await?, at + 1);
        }
        if let Some(uses) = uses {
            uses.count(at, &answers);
        }
        for round in after {
            let calls = round.into_iter().filter_map(|follow| follow.after(&answers)).collect();
            for answer in self.send_each(calls).await.map_err(Error::after_a_change)? {
                answer.map_err(Error::after_a_change)?;
            }
        }
        Ok(answers)
    }

    /// Sends a group in one round trip, all of which must succeed.
    async fn send_group(&self, group: Group) -> Result<Answers, Error> {
        let changing = !group.first.repeatable;
        let mut calls = vec![group.first];
        calls.extend(group.rest);
        let answers = self.send_each(calls).await?;
        // Where one name of a key was changed and another could not be, half of it has happened.
        let halfway = changing && answers.iter().any(Result::is_ok);
        let mut answers = answers.into_iter().map(|answer| {
            answer.map_err(|error| if halfway { error.after_a_change() } else { error })
        });
        let first = answers.next().unwrap_or(Ok(Value::Nil))?;
        Ok(Answers { first, rest: answers.collect::<Result<_, _>>()? })
    }

    /// Sends one command that only reads.
    pub(crate) async fn ask(&self, cmd: &Cmd) -> Result<Value, Error> {
        self.query(cmd, true).await
    }

    async fn query(&self, cmd: &Cmd, repeatable: bool) -> Result<Value, Error> {
        let permit = self.breaker.permit().ok_or(Error::BreakerOpen)?;
        let answer = self.link.query(cmd, repeatable).await;
        tell(permit, answer.as_ref().err());
        answer
    }

    /// Sends one call.
    pub(crate) async fn send(&self, call: &Call) -> Result<Value, Error> {
        match (self.query(&call.cmd, call.repeatable).await, call.lua) {
            (Err(error), Some(lua)) if is_unknown(&error) => {
                self.query(&lua.whole(&call.cmd), call.repeatable).await
            }
            (answer, _) => answer,
        }
    }

    /// Sends several calls in one round trip, wherever their keys are; each has its own answer.
    pub(crate) async fn send_each(
        &self,
        calls: Vec<Call>,
    ) -> Result<Vec<Result<Value, Error>>, Error> {
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        if self.is_cluster() {
            // The library sends a pipeline to one node only; calls that are sent at once share the
            // connection to their node.
            return Ok(join_all(calls.iter().map(|call| self.send(call))).await);
        }
        let repeatable = calls.iter().all(|call| call.repeatable);
        let mut pipeline = redis::Pipeline::with_capacity(calls.len());
        let mut known: Vec<&Lua> = Vec::new();
        for call in calls {
            // A script that the server did not know would have to be sent again, behind what comes
            // after it: the first one of its kind is sent whole.
            match call.lua {
                Some(lua) if !known.iter().any(|it| std::ptr::eq(*it, lua)) => {
                    known.push(lua);
                    pipeline.add_command(lua.whole(&call.cmd));
                }
                _ => _ = pipeline.add_command(call.cmd),
            }
        }
        let permit = self.breaker.permit().ok_or(Error::BreakerOpen)?;
        let answers = self.link.pipeline(&pipeline, repeatable).await;
        tell(permit, answers.as_ref().err());
        let each = answers?
            .into_iter()
            .map(|answer| answer.extract_error().map_err(|error| Error::from_redis(&error)));
        Ok(each.collect())
    }

    /// Sends a command to one of the primaries.
    pub(crate) async fn ask_primary(&self, primary: &Primary, cmd: &Cmd) -> Result<Value, Error> {
        let permit = self.breaker.permit().ok_or(Error::BreakerOpen)?;
        let answer = self.link.query_at(primary, cmd).await;
        tell(permit, answer.as_ref().err());
        answer
    }

    /// The servers that keys are written to.
    pub(crate) async fn primaries(&self) -> Result<Vec<Primary>, Error> {
        self.link.primaries().await
    }
}

/// Tells the breaker how a command ended, and the log what the breaker makes of it.
fn tell(permit: Permit<'_>, error: Option<&Error>) {
    let lost = matches!(error, Some(Error::Unavailable(_) | Error::Unknown(_)));
    let turn = if lost { permit.bad() } else { permit.good() };
    match turn {
        Some(Turn::Opened) => {
            let why = error.map(ToString::to_string).unwrap_or_default();
            tracing::warn!(target: "keyward", why, "the breaker is open: the server is not asked for a while");
        }
        Some(Turn::Closed) => {
            tracing::info!(target: "keyward", "the breaker is closed: the server answers again");
        }
        None => return,
    }
    let open = if turn == Some(Turn::Opened) { 1.0 } else { 0.0 };
    measure::gauge("keyward_breaker_open", open);
}
