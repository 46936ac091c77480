//! The store: a connection, and keys at it.

mod address;
mod announce;
mod breaker;
mod cache;
mod clock;
mod core;
mod counter;
mod emit;
mod error;
mod failures;
mod flag;
mod flight;
mod handle;
mod hash;
mod index;
mod l1;
mod limit;
mod link;
mod linked;
mod list;
mod load_error;
mod lock;
mod lua;
mod many;
mod measure;
mod missed;
mod names;
mod others;
mod pace;
mod pipeline;
pub mod queue;
mod random;
mod ranking;
mod request;
mod resend;
mod scan;
mod session;
mod set;
mod sorted_set;
mod stream;
mod target;
mod token;
mod tracking;
mod ttl;
mod whole;
mod write;

pub use breaker::{BreakerSettings, BreakerState};
pub use clock::Clock;
pub use counter::Counted;
pub use emit::Invalidated;
pub use error::{Cause, Error};
pub use handle::Handle;
pub use index::{Indexes, Rebuild, Rebuilt};
pub use limit::{Allowance, Allowances, Limits};
#[cfg(feature = "tower")]
pub use limit::{LimitLayer, LimitService};
pub use load_error::LoadError;
pub use lock::{Guard, Holder};
pub use pipeline::{Pipeline, Promise, Results};
pub use random::random_id;
pub use ranking::Standing;
pub use request::Request;
pub use session::Sessions;
#[cfg(feature = "tower-sessions")]
pub use session::TowerSessions;
pub use sorted_set::Score;
pub use stream::{EntryId, EntryIdError};
pub use token::Refreshed;
pub use ttl::Lifespan;
pub use whole::Whole;

use crate::{Event, Fixed, Key, Keyspace};
use breaker::Breaker;
use core::Core;
use l1::L1;
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
#[derive(Clone)]
pub struct Builder {
    url: String,
    connect_timeout: Duration,
    response_timeout: Duration,
    breaker: BreakerSettings,
    fallback: usize,
    l1: u64,
    root_certificate: Option<Vec<u8>>,
    clock: Clock,
}

/// A store whose keys begin with a prefix that has parameters, bound once.
#[derive(Debug, Clone)]
pub struct Prefixed<P> {
    store: Store,
    prefix: P,
}

impl Store {
    /// Connects with the settings that suit most.
    pub async fn connect(url: impl AsRef<str>) -> Result<Store, Error> {
        Store::builder(url).connect().await
    }

    /// Begins with a URL: `redis://…`, `rediss://…`, `redis+unix://…`, `redis+cluster://…` or
    /// `redis+sentinel://…/service`.
    pub fn builder(url: impl AsRef<str>) -> Builder {
        Builder {
            url: url.as_ref().to_owned(),
            connect_timeout: Duration::from_secs(1),
            response_timeout: Duration::from_millis(500),
            breaker: BreakerSettings::default(),
            fallback: 64,
            l1: 10_000,
            root_certificate: None,
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

    /// The same store, for keys that begin with this prefix.
    pub fn with_prefix<P: crate::Prefix>(&self, prefix: P) -> Prefixed<P> {
        Prefixed { store: self.clone(), prefix }
    }

    /// Requests that are sent in one round trip.
    pub fn pipeline(&self) -> Pipeline<'_> {
        Pipeline::new(&self.core)
    }

    /// Whether there is a connection now. The next command makes one where there is none.
    pub fn is_connected(&self) -> bool {
        self.core.link.is_connected()
    }

    /// What the breaker is doing.
    pub fn breaker(&self) -> BreakerState {
        self.core.breaker_state()
    }
}

impl<P: crate::Prefix> Prefixed<P> {
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

    /// See [`Store::pipeline`].
    pub fn pipeline(&self) -> Pipeline<'_> {
        self.store.pipeline()
    }
}

impl Builder {
    /// How many loads may run at once while the cache is unreachable; 64 unless given.
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

    /// How many values are kept in this process, of definitions with `l1`; 10,000 unless given, none
    /// if 0.
    #[must_use]
    pub fn l1(mut self, values: u64) -> Self {
        self.l1 = values;
        self
    }

    /// The certificate, in PEM, that signs the server's, where the system does not know it.
    #[must_use]
    pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificate = Some(pem.into());
        self
    }

    /// Another clock, for tests.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The store, without asking the server: the first command connects. An application whose cache
    /// is unreachable can start.
    pub fn lazy(self) -> Result<Store, Error> {
        let timeouts = Timeouts { connect: self.connect_timeout, response: self.response_timeout };
        let link = Link::new(address::parse(&self.url)?, timeouts, self.root_certificate)?;
        let breaker = Breaker::new(self.breaker, self.clock.clone());
        let l1 = L1::new(self.l1, self.clock.clone());
        measure::gauge("keyward_breaker_open", 0.0);
        Ok(Store { core: Core::new(link, breaker, l1, self.fallback, self.clock) })
    }

    /// The store, once the server has answered.
    pub async fn connect(self) -> Result<Store, Error> {
        let store = self.lazy()?;
        store.core.ask(&redis::cmd("PING")).await?;
        Ok(store)
    }
}

/// Without credentials.
impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = keyward_fact::address::Address::shown(&self.url);
        f.debug_struct("Builder").field("url", &url).finish_non_exhaustive()
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("breaker", &self.breaker()).finish_non_exhaustive()
    }
}
