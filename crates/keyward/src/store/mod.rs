//! The store: a connection, and keys at it.

mod address;
mod breaker;
mod cache;
mod clock;
mod core;
mod counter;
mod emit;
mod error;
mod flight;
mod handle;
mod limit;
mod link;
mod lua;
mod scan;
mod string;
mod ttl;

pub use breaker::{BreakerSettings, BreakerState};
pub use clock::Clock;
pub use counter::Counted;
pub use emit::Invalidated;
pub use error::Error;
pub use handle::Handle;
pub use limit::Allowance;
pub use ttl::Lifespan;

use crate::{Event, Fixed, Key, Keyspace};
use address::Address;
use breaker::Breaker;
use core::Core;
use link::{Link, Timeouts};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A server, and everything that is done to it. Cloning is cheap and shares the connection.
#[derive(Clone)]
pub struct Store {
    pub(crate) core: Arc<Core>,
}

/// What a store is made of.
#[derive(Debug, Clone)]
pub struct Builder {
    url: String,
    connect_timeout: Duration,
    response_timeout: Duration,
    breaker: BreakerSettings,
    fallback: usize,
    clock: Clock,
}

/// A store whose keys stand behind a prefix with parameters, bound once.
#[derive(Debug, Clone)]
pub struct Behind<P> {
    store: Store,
    prefix: P,
}

impl Store {
    /// Connects with the settings that suit most.
    pub async fn connect(url: &str) -> Result<Store, Error> {
        Store::builder(url).connect().await
    }

    /// Begins with a URL: `redis://…`, `rediss://…`, `redis+unix://…`, `redis+cluster://…` or
    /// `redis+sentinel://…/service`.
    pub fn builder(url: &str) -> Builder {
        Builder {
            url: url.to_owned(),
            connect_timeout: Duration::from_secs(1),
            response_timeout: Duration::from_millis(500),
            breaker: BreakerSettings::default(),
            fallback: 64,
            clock: Clock::system(),
        }
    }

    /// A key, and what can be done to it.
    pub fn at<K>(&self, key: K) -> Handle<'_, K, K::Kind, K::Lifetime>
    where
        K: Key<Keyspace: Keyspace<Prefix: Fixed>>,
    {
        Handle::new(&self.core, key, &Default::default())
    }

    /// Says that something has happened, and removes the keys that it makes invalid.
    ///
    /// When it returns, this process reads nothing that is older, and no load that began before can
    /// put it back. What other processes hold in their own memory lives as long as the schema's `l1`
    /// says. A failover may lose an invalidation, as Redis may lose any write.
    ///
    /// # Errors
    /// If the server cannot be asked: then nothing is known to be removed.
    pub async fn emit<E>(&self, event: E) -> Result<Invalidated, Error>
    where
        E: Event<Keyspace: Keyspace<Prefix: Fixed>>,
    {
        emit::emit(&self.core, &event, &Default::default()).await
    }

    /// The same store, with every key behind this prefix.
    pub fn behind<P: crate::Prefix>(&self, prefix: P) -> Behind<P> {
        Behind { store: self.clone(), prefix }
    }

    /// What the breaker is doing.
    pub fn breaker(&self) -> BreakerState {
        self.core.breaker_state()
    }
}

impl<P: crate::Prefix> Behind<P> {
    /// A key, and what can be done to it.
    pub fn at<K>(&self, key: K) -> Handle<'_, K, K::Kind, K::Lifetime>
    where
        K: Key<Keyspace: Keyspace<Prefix = P>>,
    {
        Handle::new(&self.store.core, key, &self.prefix)
    }

    /// See [`Store::emit`].
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn emit<E>(&self, event: E) -> Result<Invalidated, Error>
    where
        E: Event<Keyspace: Keyspace<Prefix = P>>,
    {
        emit::emit(&self.store.core, &event, &self.prefix).await
    }
}

impl Builder {
    /// How many loads may run at once while the cache is away; 64 unless given.
    #[must_use]
    pub fn fallback(mut self, loads: usize) -> Self {
        self.fallback = loads.max(1);
        self
    }

    /// How long connecting may take; a second unless given.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long an answer may take; half a second unless given.
    #[must_use]
    pub fn response_timeout(mut self, timeout: Duration) -> Self {
        self.response_timeout = timeout;
        self
    }

    /// When the breaker opens.
    #[must_use]
    pub fn breaker(mut self, settings: BreakerSettings) -> Self {
        self.breaker = settings;
        self
    }

    /// Another clock, for tests.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The store, without asking the server: the first command connects. An application whose cache
    /// is away can start.
    pub fn lazy(self) -> Result<Store, Error> {
        let timeouts = Timeouts { connect: self.connect_timeout, response: self.response_timeout };
        let link = Link::new(Address::parse(&self.url)?, timeouts)?;
        let breaker = Breaker::new(self.breaker, self.clock);
        Ok(Store { core: Arc::new(Core::new(link, breaker, self.fallback)) })
    }

    /// The store, once the server has answered.
    pub async fn connect(self) -> Result<Store, Error> {
        let store = self.lazy()?;
        store.core.ask(&redis::cmd("PING")).await?;
        Ok(store)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("breaker", &self.breaker()).finish_non_exhaustive()
    }
}
