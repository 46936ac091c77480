//! Cache-aside: the value, or what the loader says.
//!
//! A miss takes a lease beside the key before it loads. The fill is written only if the lease still
//! holds, and an invalidation removes the lease with the key: a fill that began before an
//! invalidation never lands after it. Nor does it replace what was written since the lease was taken.
//! Nothing that goes wrong with the cache reaches the caller; the loader's own error is the only one.

mod detached;
mod lease;
mod many;

use super::error::Error;
use super::handle::{Handle, written};
use super::l1::PendingRead;
use super::load_error::LoadError;
use super::measure;
use super::pipeline::{Pipeline, Promise, Results};
use super::request::{Call, Request};
use super::whole::{Seen, Whole};
use super::write::{Mode, Write, about};
use crate::Key;
use crate::kind::Declared;
use lease::{Lease, Token};
use redis::Value;
use std::future::Future;
use std::time::Duration;

/// What was found in the cache.
enum Looked<V> {
    /// A value, which is due to be loaded again or not
    Found(V, bool),
    /// It is known that there is none
    NoneKnown,
    /// There is nothing
    Nothing,
    /// There is something, which is no value
    Malformed,
    /// The server could not be asked
    Unknown,
}

/// What the caller gets: a value, or a value if there is one.
struct Wish<V, R> {
    some: fn(V) -> R,
    /// What "there is none" is, where that is an answer
    none: Option<fn() -> R>,
    value: fn(&R) -> Option<&V>,
}

impl<'s, K: Key, T: Whole> Handle<'s, K, T, Declared> {
    /// The value from the cache, or else from the loader, which then fills the cache.
    ///
    /// However many callers of this process miss at once, one loads, and the others get what it got.
    /// If the caller that loads is cancelled, one that waits loads in its place. What else the
    /// schema may ask for: `l1`, `early_refresh`, `stale_if_error`, `stale_if_slow`, `load_lock`.
    ///
    /// An empty collection is not cached: the server cannot hold one. What was loaded is returned as the loader gave it; a
    /// sorted set that is read again has the server's order, the lowest score first.
    ///
    /// # Errors
    /// The loader's own error, which all who waited for this load share. Never one of the cache.
    pub async fn get_or_load<E, F>(
        &self,
        load: impl FnOnce() -> F,
    ) -> Result<T::Value, LoadError<E>>
    where
        E: Send + Sync + 'static,
        F: Future<Output = Result<T::Value, E>>,
    {
        let wish = Wish { some: |value| value, none: None, value: |value| Some(value) };
        self.obtain(wish, load).await
    }

    /// The same where there may be none: what the loader does not find is remembered for the
    /// schema's `negative_ttl`, if it has one.
    ///
    /// # Errors
    /// The loader's own error. Never one of the cache.
    pub async fn find_or_load<E, F>(
        &self,
        load: impl FnOnce() -> F,
    ) -> Result<Option<T::Value>, LoadError<E>>
    where
        E: Send + Sync + 'static,
        F: Future<Output = Result<Option<T::Value>, E>>,
    {
        let wish = Wish { some: Some, none: Some(|| None), value: Option::as_ref };
        self.obtain(wish, load).await
    }

    async fn obtain<R, E, F>(
        &self,
        wish: Wish<T::Value, R>,
        load: impl FnOnce() -> F,
    ) -> Result<R, LoadError<E>>
    where
        R: Clone + Send + Sync + 'static,
        E: Send + Sync + 'static,
        F: Future<Output = Result<R, E>>,
    {
        match self.known(&wish).await {
            Ok(answer) => Ok(answer),
            Err(looked) => self.load(&wish, looked, load).await,
        }
    }

    /// What is known without a load; otherwise what was found.
    async fn known<R>(&self, wish: &Wish<T::Value, R>) -> Result<R, Looked<T::Value>> {
        if let Some(value) = self.core.l1.get(&self.names.name) {
            tick::<K>("keyward_l1_hits_total");
            return Ok((wish.some)(value));
        }
        match (self.look_up(wish.none.is_some()).await, wish.none) {
            (Looked::Found(value, due), _) => {
                tick::<K>("keyward_cache_hits_total");
                if !due || self.core.flights.is_open(&self.names.name) {
                    return Ok((wish.some)(value));
                }
                tick::<K>("keyward_early_refreshes_total");
                Err(Looked::Found(value, true))
            }
            (Looked::NoneKnown, Some(none)) => {
                tick::<K>("keyward_cache_hits_total");
                Ok(none())
            }
            (looked, _) => {
                tick::<K>("keyward_cache_misses_total");
                Err(looked)
            }
        }
    }

    /// Loads, once for all that ask at the same time.
    async fn load<R, E, F>(
        &self,
        wish: &Wish<T::Value, R>,
        looked: Looked<T::Value>,
        load: impl FnOnce() -> F,
    ) -> Result<R, LoadError<E>>
    where
        R: Clone + Send + Sync + 'static,
        E: Send + Sync + 'static,
        F: Future<Output = Result<R, E>>,
    {
        let old = if let Looked::Found(value, _) = &looked { Some(value.clone()) } else { None };
        let slow = K::DEFINITION.behaviour.slow_ms.map(Duration::from_millis);
        let instead = async { self.stale().await.map(|value| Ok((wish.some)(value))) };
        let load = || async {
            // A database that has lost its cache must not get everything at once.
            let away = matches!(looked, Looked::Unknown);
            let _turn = if away { self.core.fallback.acquire().await.ok() } else { None };
            let token = match self.lease(&looked).await {
                Lease::Filled(value) => return Ok((wish.some)(value)),
                Lease::Taken(token) => Some(token),
                Lease::Busy | Lease::Impossible => None,
            };
            // Who cannot refresh it early has a value that is still good.
            if let (None, Looked::Found(value, _)) = (&token, &looked) {
                return Ok((wish.some)(value.clone()));
            }
            match self.timed(load()).await {
                Ok(loaded) => {
                    if let Some(token) = token {
                        self.fill((wish.value)(&loaded), token).await;
                    }
                    Ok(loaded)
                }
                Err(error) => {
                    // Whoever waits for this load in another process may try.
                    drop(token);
                    let stale = if away { self.last_kept() } else { self.stale().await };
                    stale.map(wish.some).ok_or_else(|| LoadError::new(error))
                }
            }
        };
        let flights = &self.core.flights;
        let joined = flights.join::<Result<R, LoadError<E>>, _>(
            &self.names.name,
            slow.map(|slow| (slow, instead)),
            load,
        );
        match (joined.await.0, old) {
            (Err(_), Some(value)) => Ok((wish.some)(value)),
            (answer, _) => answer,
        }
    }

    /// Loads, and counts how long that took.
    async fn timed<R, E>(&self, load: impl Future<Output = Result<R, E>>) -> Result<R, E> {
        let began = self.core.clock.elapsed();
        let loaded = load.await;
        let took = self.core.clock.elapsed().saturating_sub(began);
        self.core.pace.note(K::NAME, took);
        measure::time("keyward_load_seconds", took, K::NAME);
        loaded.inspect_err(|_| tick::<K>("keyward_load_errors_total"))
    }

    async fn look_up(&self, none_matters: bool) -> Looked<T::Value> {
        let reading = self.l1_reading();
        let with_ttl = K::DEFINITION.behaviour.early_refresh || reading.is_some();
        // Most definitions ask for nothing but the value.
        let marks = self.marks(none_matters);
        let found = if marks.is_empty() {
            self.look(with_ttl).await.map(|seen| Found { seen, none: false, due: false })
        } else {
            let mut batch = Pipeline::new(self.core);
            let asked = self.ask_with(&mut batch, marks, with_ttl);
            match batch.run().await {
                Ok(mut results) => asked.take(&mut results),
                Err(error) => Err(error),
            }
        };
        self.judge(found, reading)
    }

    /// The marks beside the key that matter.
    fn marks(&self, none_matters: bool) -> Vec<(Mark, String)> {
        let behaviour = &K::DEFINITION.behaviour;
        let none = none_matters && behaviour.negative_ms.is_some();
        let wanted = [(none, Mark::None, "none"), (behaviour.refreshed, Mark::Due, "refresh")];
        let wanted = wanted.into_iter().filter(|(wanted, ..)| *wanted);
        wanted.filter_map(|(_, mark, word)| Some((mark, self.names.derived(word)?))).collect()
    }

    /// Asks for the value and for marks beside it.
    fn ask_with<'p>(
        &self,
        batch: &mut Pipeline<'p>,
        marks: Vec<(Mark, String)>,
        with_ttl: bool,
    ) -> Asked<'p, T::Value>
    where
        Self: 'p,
        's: 'p,
    {
        let seen = batch.add(self.look(with_ttl));
        let exists = |(mark, name): (Mark, String)| {
            let there: Request<'s, bool> = self.ask(
                |_| (about("EXISTS", &name), Vec::new()),
                |answers| Ok(answers.first == Value::Int(1)),
            );
            (mark, batch.add(there))
        };
        Asked { seen, marks: marks.into_iter().map(exists).collect() }
    }

    /// What was found, and whether it is due to be loaded again.
    fn judge(
        &self,
        found: Result<Found<T::Value>, Error>,
        reading: Option<PendingRead<'_>>,
    ) -> Looked<T::Value> {
        match found {
            Ok(Found { seen: Seen { value: Some(value), left }, due, .. }) => {
                let expires_soon = || {
                    K::DEFINITION.behaviour.early_refresh
                        && left.is_some_and(|left| {
                            self.core.pace.is_due(K::NAME, left, fastrand::f64())
                        })
                };
                if let Some(reading) = reading.filter(|_| !due) {
                    reading.keep(&value, left);
                }
                Looked::Found(value, due || expires_soon())
            }
            Ok(found) if found.none => Looked::NoneKnown,
            Ok(_) => Looked::Nothing,
            Err(error) if error.is_unavailable() => Looked::Unknown,
            Err(Error::Refused { .. } | Error::Settings(_)) => Looked::Unknown,
            Err(_) => {
                tick::<K>("keyward_cache_malformed_total");
                Looked::Malformed
            }
        }
    }

    async fn fill(&self, value: Option<&T::Value>, mut token: Token) {
        let filling = self.filling(value, &token);
        token.spent = true;
        let filled = match filling {
            Ok(filling) => filling.await,
            Err(error) => Err(error),
        };
        self.filled(filled);
    }

    /// What writes the value that was loaded, or remembers that there is none, if the lease still holds.
    fn filling(&self, value: Option<&T::Value>, token: &Token) -> Result<Filling<'s>, Error> {
        self.in_step()?;
        let negative = K::DEFINITION.behaviour.negative_ms;
        let commands = value.map(|value| T::encode(K::DEFINITION, value)).transpose()?;
        let commands = commands.unwrap_or_default();
        // What there is none of any more is not served either.
        let (mode, ttl) = match negative {
            Some(_) if commands.is_empty() => (Mode::None, negative),
            _ => (Mode::Whole, self.ttl()),
        };
        let write = Write {
            definition: K::DEFINITION,
            names: &self.names,
            indexes: &self.indexes,
            mode,
            commands,
            ttl,
            token: Some(&token.secret),
            keep_ttl: K::DEFINITION.behaviour.keep_ttl,
            refuse: K::DEFINITION.behaviour.refuse_when_full,
        };
        let calls = write.calls(self.core);
        Ok(Request::new(self.core, K::DEFINITION, calls, |answers| written::<K>(answers.first)))
    }

    /// Counts what became of a fill.
    fn filled(&self, filled: Result<Option<Vec<Value>>, Error>) {
        match filled {
            Ok(Some(_)) => {}
            Ok(None) => tick::<K>("keyward_fills_dropped_total"),
            Err(error) => self.core.failures.note(K::NAME, &error),
        }
    }

    /// The copy that outlives its key, for when the loader fails or is slow. From this process if the server
    /// cannot be asked.
    async fn stale(&self) -> Option<T::Value> {
        K::DEFINITION.behaviour.stale_ms?;
        let name = self.names.derived("stale")?;
        let call = Call::reading(T::asking(&name));
        let answer = self.core.send(&call).await;
        match answer.and_then(|answer| T::decode(K::DEFINITION, answer)) {
            Ok(value) => value.inspect(|_| Self::note_stale()),
            Err(error) => {
                self.core.failures.note(K::NAME, &error);
                if error.is_unavailable() { self.last_kept() } else { None }
            }
        }
    }

    /// What this process read last, for when neither the loader nor the server has an answer.
    fn last_kept(&self) -> Option<T::Value> {
        K::DEFINITION.behaviour.stale_ms?;
        self.core.l1.last(&self.names.name).inspect(|_| Self::note_stale())
    }

    fn note_stale() {
        tick::<K>("keyward_stale_served_total");
        tracing::warn!(
            target: "keyward", definition = K::NAME,
            "the loader failed or was slow, and a value that is past its end was served"
        );
    }
}

/// A mark beside a key.
#[derive(Clone, Copy)]
enum Mark {
    /// There is no value
    None,
    /// The value is to be loaded again
    Due,
}

/// A fill that is to be sent.
type Filling<'s> = Request<'s, Option<Vec<Value>>>;

/// A value that was asked for, with its marks.
struct Asked<'s, V> {
    seen: Promise<'s, Seen<V>>,
    marks: Vec<(Mark, Promise<'s, bool>)>,
}

/// A value and its marks as the server has them.
struct Found<V> {
    seen: Seen<V>,
    none: bool,
    due: bool,
}

impl<V> Asked<'_, V> {
    fn take(self, results: &mut Results) -> Result<Found<V>, Error> {
        let mut found = Found { seen: results.take(self.seen)?, none: false, due: false };
        for (mark, there) in self.marks {
            let there = results.take(there)?;
            match mark {
                Mark::None => found.none = there,
                Mark::Due => found.due = there,
            }
        }
        Ok(found)
    }
}

fn tick<K: Key>(what: &'static str) {
    measure::count(what, 1, &[("definition", K::NAME)]);
}
