//! Cache-aside: the value, or what the loader says.
//!
//! A miss takes a lease beside the key before it loads. The fill is written only if the lease still
//! holds, and an invalidation removes the lease with the key: a fill that began before an
//! invalidation never lands after it. Nothing that goes wrong with the cache reaches the caller; the
//! loader's own error is the only one.

use super::handle::Handle;
use super::lua::{Lua, lua};
use crate::kind::{Declared, Str};
use crate::{Codec, Key};
use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

static TAKE: Lua = lua!("lua/lease.lua");
static FILL: Lua = lua!("lua/fill.lua");

/// How long a load may take until its fill is dropped, where the schema gives no `load_lock`.
const LEASE_MS: u64 = 10_000;

/// What was found in the cache.
enum Looked<V> {
    /// A value
    Found(V),
    /// There is none
    Nothing,
    /// There is something, which is no value
    Malformed,
    /// The server could not be asked
    Unknown,
}

/// What a load may do with what it loads.
enum Lease<V> {
    /// Write it, if the token still holds
    Taken(String),
    /// Nothing: somebody else is about to write, or nobody can
    Not,
    /// Throw it away before it begins: somebody else has written
    Filled(V),
}

impl<K: Key, V, C: Codec<V>> Handle<'_, K, Str<V, C>, Declared>
where
    V: Clone + Send + Sync + 'static,
{
    /// The value from the cache, or else from the loader, which then fills the cache.
    ///
    /// However many callers of this process miss at once, one loads, and the others get what it got.
    /// If the caller that loads is cancelled, one that waits goes on in its place.
    ///
    /// # Errors
    /// The loader's own error, which all who waited for this load share. Never one of the cache.
    pub async fn get_or_load<E, F>(&self, load: impl FnOnce() -> F) -> Result<V, Arc<E>>
    where
        E: Send + Sync + 'static,
        F: Future<Output = Result<V, E>>,
    {
        let looked = self.look().await;
        if let Looked::Found(value) = looked {
            self.tick("keyward_cache_hits_total");
            return Ok(value);
        }
        self.tick("keyward_cache_misses_total");
        let flight = self.core.flights.join::<Result<V, Arc<E>>, _>(&self.name, || async {
            // A database that has lost its cache must not get everything at once.
            let away = matches!(looked, Looked::Unknown);
            let _turn = if away { self.core.fallback.acquire().await.ok() } else { None };
            let lease = match self.lease(&looked).await {
                Lease::Filled(value) => return Ok(value),
                Lease::Taken(token) => Some(token),
                Lease::Not => None,
            };
            let began = Instant::now();
            let loaded = load().await;
            metrics::histogram!("keyward_load_seconds", "definition" => K::DEFINITION.name)
                .record(began.elapsed());
            if let (Ok(value), Some(token)) = (&loaded, lease) {
                self.fill(value, &token).await;
            }
            loaded.map_err(Arc::new)
        });
        flight.await.0
    }

    async fn look(&self) -> Looked<V> {
        match self.get().await {
            Ok(Some(value)) => Looked::Found(value),
            Ok(None) => Looked::Nothing,
            Err(error) if error.is_unavailable() => Looked::Unknown,
            Err(error) => {
                self.tick("keyward_cache_malformed_total");
                tracing::warn!(
                    target: "keyward", definition = K::DEFINITION.name, %error,
                    "a cached value is not what was declared"
                );
                Looked::Malformed
            }
        }
    }

    async fn lease(&self, looked: &Looked<V>) -> Lease<V> {
        let Some(lease) = self.derived("lease") else { return Lease::Not };
        if matches!(looked, Looked::Unknown) {
            return Lease::Not;
        }
        let token = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let malformed = u8::from(matches!(looked, Looked::Malformed));
        let args = |cmd: &mut redis::Cmd| {
            cmd.arg(&token).arg(LEASE_MS).arg(malformed);
        };
        match self.core.run(&TAKE, &[&self.name, &lease], args).await {
            Ok(redis::Value::Int(1)) => Lease::Taken(token),
            Ok(redis::Value::BulkString(bytes)) => {
                self.decode(&bytes).map_or(Lease::Not, Lease::Filled)
            }
            _ => Lease::Not,
        }
    }

    async fn fill(&self, value: &V, token: &str) {
        let (Some(lease), Ok(bytes)) = (self.derived("lease"), self.encode(value)) else { return };
        let ttl = self.ttl().unwrap_or(0);
        let args = |cmd: &mut redis::Cmd| {
            cmd.arg(token).arg(&bytes).arg(ttl);
        };
        match self.core.run(&FILL, &[&self.name, &lease], args).await {
            Ok(redis::Value::Int(0)) => self.tick("keyward_fills_dropped_total"),
            Ok(_) => {}
            Err(error) => tracing::debug!(
                target: "keyward", definition = K::DEFINITION.name, %error,
                "a value could not be cached"
            ),
        }
    }

    fn tick(&self, what: &'static str) {
        metrics::counter!(what, "definition" => K::DEFINITION.name).increment(1);
    }
}
