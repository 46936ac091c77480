//! Cache-aside: the value, or what the loader says.
//!
//! A miss takes a lease beside the key before it loads. The fill is written only if the lease still
//! holds, and an invalidation removes the lease with the key: a fill that began before an
//! invalidation never lands after it. Nor does it replace what was written since the lease was taken.
//! Nothing that goes wrong with the cache reaches the caller; the loader's own error is the only one.

use super::core::Core;
use super::error::Error;
use super::handle::{Handle, written};
use super::load_error::LoadError;
use super::lua::{Lua, lua};
use super::measure;
use super::random::secret;
use super::request::Call;
use super::whole::Whole;
use super::write::{Mode, Write, about};
use crate::Key;
use crate::kind::Declared;
use redis::Value;
use std::future::Future;
use std::sync::Weak;
use std::time::{Duration, Instant};

static TAKE: Lua = lua!("lua/lease.lua");
static GIVE_BACK: Lua = lua!("lua/unlease.lua");

/// How long a load may take until its fill is dropped, where the schema gives no `load_lock`.
const LEASE_MS: u64 = 10_000;
/// The longest pause between two looks for what another process is loading.
const PATIENCE: Duration = Duration::from_millis(100);

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

/// What a load may do with what it loads.
enum Lease<V> {
    /// Write it, if the token still holds
    Taken(Token),
    /// Nothing: somebody else is about to write
    Busy,
    /// Nothing: the server cannot be asked
    Impossible,
    /// Throw it away before it begins: somebody else has written
    Filled(V),
}

/// What the caller gets: a value, or a value if there is one.
struct Wish<V, R> {
    some: fn(V) -> R,
    /// What "there is none" is, where that is an answer
    none: Option<fn() -> R>,
    value: fn(&R) -> Option<&V>,
}

impl<K: Key, T: Whole> Handle<'_, K, T, Declared> {
    /// The value from the cache, or else from the loader, which then fills the cache.
    ///
    /// However many callers of this process miss at once, one loads, and the others get what it got.
    /// If the caller that loads is cancelled, one that waits loads in its place. What else the
    /// schema may ask for: `l1`, `early_refresh`, `stale_if_error`, `load_lock`.
    ///
    /// An empty collection is not cached: the server cannot hold one.
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
        if let Some(value) = self.core.l1.get(&self.names.name) {
            tick::<K>("keyward_l1_hits_total");
            return Ok((wish.some)(value));
        }
        let looked = self.look_up(wish.none.is_some()).await;
        let still_good = match looked {
            Looked::Found(value, due) => {
                tick::<K>("keyward_cache_hits_total");
                if !due || self.core.flights.is_open(&self.names.name) {
                    return Ok((wish.some)(value));
                }
                tick::<K>("keyward_early_refreshes_total");
                let refreshed = self.load(&wish, Looked::Found(value.clone(), true), load).await;
                return refreshed.or_else(|_| Ok((wish.some)(value)));
            }
            Looked::NoneKnown => {
                tick::<K>("keyward_cache_hits_total");
                if let Some(none) = wish.none {
                    return Ok(none());
                }
                Looked::Nothing
            }
            Looked::Nothing => Looked::Nothing,
            Looked::Malformed => Looked::Malformed,
            Looked::Unknown => Looked::Unknown,
        };
        tick::<K>("keyward_cache_misses_total");
        self.load(&wish, still_good, load).await
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
        let join =
            self.core.flights.join::<Result<R, LoadError<E>>, _>(&self.names.name, || async {
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
                let began = self.core.clock.elapsed();
                let loaded = load().await;
                let took = self.core.clock.elapsed().saturating_sub(began);
                self.core.pace.note(K::NAME, took);
                measure::time("keyward_load_seconds", took, K::NAME);
                match loaded {
                    Ok(loaded) => {
                        if let Some(token) = token {
                            self.fill((wish.value)(&loaded), token).await;
                        }
                        Ok(loaded)
                    }
                    Err(error) => {
                        tick::<K>("keyward_load_errors_total");
                        // Whoever waits for this load in another process may try.
                        drop(token);
                        let stale = if away { None } else { self.stale().await };
                        stale.map(wish.some).ok_or_else(|| LoadError::new(error))
                    }
                }
            });
        join.await.0
    }

    async fn look_up(&self, none_matters: bool) -> Looked<T::Value> {
        let behaviour = &K::DEFINITION.behaviour;
        let reading = self.l1_reading();
        let none = if none_matters && behaviour.negative_ms.is_some() {
            self.names.derived("none")
        } else {
            None
        };
        let with_ttl = behaviour.early_refresh || reading.is_some();
        // Most definitions ask for nothing but the value.
        let seen = match none {
            None => self.look(with_ttl).await.map(|seen| (seen, false)),
            Some(none) => {
                let mut batch = super::pipeline::Pipeline::new(self.core);
                let seen = batch.add(self.look(with_ttl));
                let mark = batch.add(self.ask(
                    |_| (about("EXISTS", &none), Vec::new()),
                    |answers| Ok(answers.first == Value::Int(1)),
                ));
                batch
                    .run()
                    .await
                    .and_then(|mut results| Ok((results.take(seen)?, results.take(mark)?)))
            }
        };
        match seen {
            Ok((seen, none_known)) => match seen.value {
                Some(value) => {
                    if let Some(reading) = reading {
                        reading.keep(&value, seen.left);
                    }
                    let due = behaviour.early_refresh
                        && seen.left.is_some_and(|left| {
                            self.core.pace.is_due(K::NAME, left, fastrand::f64())
                        });
                    Looked::Found(value, due)
                }
                None if none_known => Looked::NoneKnown,
                None => Looked::Nothing,
            },
            Err(error) if error.is_unavailable() => Looked::Unknown,
            Err(Error::Refused { .. } | Error::Settings(_)) => Looked::Unknown,
            Err(_) => {
                tick::<K>("keyward_cache_malformed_total");
                Looked::Malformed
            }
        }
    }

    /// A lease to fill the key. Where the schema has a `load_lock`, waits for another process that is
    /// loading, unless there is a value that is good meanwhile.
    async fn lease(&self, looked: &Looked<T::Value>) -> Lease<T::Value> {
        let behaviour = &K::DEFINITION.behaviour;
        if matches!(looked, Looked::Unknown) {
            return Lease::Impossible;
        }
        let replace = matches!(looked, Looked::Malformed | Looked::Found(..));
        let patient = behaviour.load_lock_ms.filter(|_| !matches!(looked, Looked::Found(..)));
        let deadline = patient.map(|ms| Instant::now() + Duration::from_millis(ms));
        let mut pause = Duration::from_millis(5);
        loop {
            let lease = self.try_lease(replace).await;
            let Lease::Busy = lease else { return lease };
            let now = Instant::now();
            let Some(left) = deadline.and_then(|deadline| deadline.checked_duration_since(now))
            else {
                return Lease::Busy;
            };
            tokio::time::sleep(pause.min(left)).await;
            pause = (pause * 2).min(PATIENCE);
        }
    }

    async fn try_lease(&self, replace: bool) -> Lease<T::Value> {
        let Some(lease) = self.names.derived("lease") else { return Lease::Impossible };
        let Ok(token) = secret() else { return Lease::Impossible };
        let time = K::DEFINITION.behaviour.load_lock_ms.unwrap_or(LEASE_MS).max(1);
        let cluster = self.core.is_cluster();
        if cluster && !self.indexes.is_empty() {
            let noted = super::write::note_in_indexes(&self.indexes, self.names.own(), time);
            let answers = self.core.send_each(noted).await;
            if !answers.is_ok_and(|answers| answers.iter().all(Result::is_ok)) {
                return Lease::Impossible;
            }
        }
        let mut keys = vec![self.names.name.as_str(), &lease];
        if !cluster {
            keys.extend(self.indexes.iter().map(String::as_str));
        }
        let call = TAKE.call(&keys, |cmd| {
            cmd.arg(&token).arg(time).arg(u8::from(replace)).arg(self.names.own());
            cmd.arg(u8::from(K::DEFINITION.behaviour.sliding));
        });
        let answer = self.core.send(&call).await;
        if let Err(error) = &answer {
            self.core.failures.note(K::NAME, error);
        }
        // A lease whose answer was lost may have been taken: dropped unspent, it is given back.
        let spent = !matches!(answer, Ok(Value::Int(1)) | Err(Error::Unknown(_)));
        let token = Token { core: self.core.me().clone(), lease, secret: token, spent };
        match answer {
            Ok(Value::Int(1)) => Lease::Taken(token),
            Ok(Value::Int(2)) => match self.look(false).await {
                Ok(seen) => seen.value.map_or(Lease::Busy, Lease::Filled),
                Err(_) => Lease::Impossible,
            },
            Ok(_) => Lease::Busy,
            Err(_) => Lease::Impossible,
        }
    }

    async fn fill(&self, value: Option<&T::Value>, mut token: Token) {
        let negative = K::DEFINITION.behaviour.negative_ms;
        let commands = match value.map(|value| T::encode(K::DEFINITION, value)).transpose() {
            Ok(commands) => commands.unwrap_or_default(),
            Err(error) => return self.core.failures.note(K::NAME, &error),
        };
        let (mode, ttl) = match (commands.is_empty(), negative) {
            (false, _) => (Mode::Whole, self.ttl()),
            (true, Some(_)) => (Mode::None, negative),
            (true, None) => return,
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
        let filled = self.core.do_calls(calls, K::NAME).await;
        token.spent = true;
        match filled.and_then(|answers| written::<K>(answers.first)) {
            Ok(Some(_)) => {}
            Ok(None) => tick::<K>("keyward_fills_dropped_total"),
            Err(error) => self.core.failures.note(K::NAME, &error),
        }
    }

    /// The copy that outlives its key, for when the loader fails.
    async fn stale(&self) -> Option<T::Value> {
        K::DEFINITION.behaviour.stale_ms?;
        let name = self.names.derived("stale")?;
        let call = Call::reading(T::asking(&name));
        let answer = self.core.send(&call).await;
        let value = answer.and_then(|answer| T::decode(K::DEFINITION, answer));
        let value = value.inspect_err(|error| self.core.failures.note(K::NAME, error)).ok()??;
        tick::<K>("keyward_stale_served_total");
        tracing::warn!(
            target: "keyward", definition = K::NAME,
            "the loader failed, and a value that is past its end was served"
        );
        Some(value)
    }
}

fn tick<K: Key>(what: &'static str) {
    measure::count(what, 1, &[("definition", K::NAME)]);
}

/// A lease that was taken. Given back when it is dropped unspent, as a cancelled caller does.
struct Token {
    core: Weak<Core>,
    lease: String,
    secret: String,
    spent: bool,
}

impl Drop for Token {
    fn drop(&mut self) {
        let (Some(core), false) = (self.core.upgrade(), self.spent) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let call = GIVE_BACK.call(&[&self.lease], |cmd| _ = cmd.arg(&self.secret)).repeatable();
        runtime.spawn(async move {
            // If it cannot be given back, it runs out.
            _ = core.send(&call).await;
        });
    }
}
