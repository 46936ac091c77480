//! The one connection that all commands share, made again when it is lost.

use super::announce::{Announced, Named, tell};
use super::error::Error;
use super::resend::Resending;
use super::target::{Connection, Target};
use futures_util::FutureExt as _;
use keyward_fact::address::Address;
use keyward_pattern::slot;
use redis::aio::{ConnectionLike as _, MultiplexedConnection, SendError};
use redis::{
    AsyncConnectionConfig, Cmd, Pipeline, PushInfo, PushKind, RedisError, RetryMethod, Value,
};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::sync::mpsc::UnboundedSender;

/// How long the server may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    pub(crate) connect: Duration,
    pub(crate) response: Duration,
}

/// A way to a server, a cluster, or whatever a sentinel says is the primary.
pub(crate) struct Link {
    target: Target,
    timeouts: Timeouts,
    pub(crate) announced: Announced,
    live: RwLock<Option<Live>>,
    /// Held while connecting, so that one caller connects for all
    connecting: Mutex<()>,
}

/// A connection and its number, so that only the one that failed is dropped.
#[derive(Clone)]
struct Live {
    number: u64,
    connection: Connection,
    /// Whether the server has closed it
    gone: Arc<AtomicBool>,
    named: Arc<Named>,
}

/// A server that keys are written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Primary {
    /// The only one there is
    Only,
    /// One of a cluster
    At(String, u16),
}

impl Link {
    pub(crate) fn new(
        address: Address,
        timeouts: Timeouts,
        root_certificate: Option<Vec<u8>>,
    ) -> Result<Self, Error> {
        let target = Target::new(address, timeouts, root_certificate)?;
        let (live, connecting) = (RwLock::new(None), Mutex::new(()));
        Ok(Link { target, timeouts, announced: Announced::default(), live, connecting })
    }

    pub(crate) fn is_cluster(&self) -> bool {
        self.target.is_cluster()
    }

    /// Sends one command.
    pub(crate) async fn query(&self, cmd: &Cmd, repeatable: bool) -> Result<Value, Error> {
        let mut resending = Resending::new(repeatable);
        let mut redirect = None;
        loop {
            let mut live = self.live().await?;
            let answer = match redirect.take() {
                None => live.connection.query(cmd).await,
                Some(to) => {
                    let name = self.announced.command();
                    self.target.follow(&to, cmd, &self.config(), name).boxed().await
                }
            };
            match answer.and_then(Value::extract_error) {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    self.failed(live.number, &error);
                    redirect = Box::pin(resending.after(&error)).await?;
                }
            }
        }
    }

    /// Sends several commands in one round trip; an error of one is in its place. Not for a cluster.
    pub(crate) async fn pipeline(
        &self,
        pipeline: &Pipeline,
        repeatable: bool,
    ) -> Result<Vec<Value>, Error> {
        let mut resending = Resending::new(repeatable);
        loop {
            let mut live = self.live().await?;
            match live.connection.pipeline(pipeline).await {
                Ok(answers) => return Ok(answers),
                Err(error) => {
                    self.failed(live.number, &error);
                    Box::pin(resending.after(&error)).await?;
                }
            }
        }
    }

    /// Sends a command that only reads to one of the primaries.
    pub(crate) async fn query_at(&self, primary: &Primary, cmd: &Cmd) -> Result<Value, Error> {
        let mut resending = Resending::new(true);
        loop {
            let mut live = self.live().await?;
            let answer = live.connection.query_at(primary, cmd).await;
            match answer.and_then(Value::extract_error) {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    self.failed(live.number, &error);
                    Box::pin(resending.after(&error)).await?;
                }
            }
        }
    }

    /// A connection of its own to a primary, which passes on what the server tells unasked.
    pub(crate) async fn listening(
        &self,
        primary: &Primary,
        heard: UnboundedSender<PushInfo>,
    ) -> Result<MultiplexedConnection, Error> {
        self.connect_to(primary, &self.config().set_push_sender(heard)).await
    }

    /// A connection of its own to a primary, for a command that lets others wait behind it. An answer may
    /// take so much longer than usual.
    pub(crate) async fn own(
        &self,
        primary: &Primary,
        longer: Duration,
    ) -> Result<MultiplexedConnection, Error> {
        let config = self.config().set_response_timeout(Some(self.timeouts.response + longer));
        self.connect_to(primary, &config).await
    }

    /// The same to the primary that has a slot.
    pub(crate) async fn blocking(
        &self,
        slot: u16,
        most: Duration,
    ) -> Result<MultiplexedConnection, Error> {
        self.own(&self.primary_with(slot).await?, most).await
    }

    async fn connect_to(
        &self,
        primary: &Primary,
        config: &AsyncConnectionConfig,
    ) -> Result<MultiplexedConnection, Error> {
        let connecting = async {
            let mut connection = self.target.connect_to(primary, config).await?;
            if let Some(name) = self.announced.command() {
                tell(&connection.req_packed_command(&name).await);
            }
            Ok(connection)
        };
        match tokio::time::timeout(self.timeouts.connect, connecting).await {
            Ok(connected) => connected.map_err(|error: RedisError| Error::from_redis(&error)),
            Err(_) => Err(Error::Unavailable("connecting took too long".into())),
        }
    }

    /// How long an answer may take.
    pub(crate) fn response_timeout(&self) -> Duration {
        self.timeouts.response
    }

    fn config(&self) -> AsyncConnectionConfig {
        AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.timeouts.connect))
            .set_response_timeout(Some(self.timeouts.response))
    }

    /// The servers that keys are written to.
    pub(crate) async fn primaries(&self) -> Result<Vec<Primary>, Error> {
        let mut primaries = Vec::new();
        for (_, primary) in self.ranges().await? {
            if !primaries.contains(&primary) {
                primaries.push(primary);
            }
        }
        Ok(primaries)
    }

    /// The server that a key is written to.
    pub(crate) async fn primary_of(&self, key: &str) -> Result<Primary, Error> {
        self.primary_with(slot(key.as_bytes())).await
    }

    async fn primary_with(&self, slot: u16) -> Result<Primary, Error> {
        let ranges = self.ranges().await?;
        let range = ranges.into_iter().find(|(slots, _)| slots.contains(&slot));
        let (_, primary) =
            range.ok_or_else(|| Error::Unavailable("no server has the slot of the key".into()))?;
        Ok(primary)
    }

    /// The slots with their primaries.
    async fn ranges(&self) -> Result<Vec<(RangeInclusive<u16>, Primary)>, Error> {
        if !self.is_cluster() {
            return Ok(vec![(0..=u16::MAX, Primary::Only)]);
        }
        let mut slots = redis::cmd("CLUSTER");
        slots.arg("SLOTS");
        let answer = self.query(&slots, true).await?;
        in_slots(answer)
            .ok_or_else(|| Error::Unavailable("CLUSTER SLOTS cannot be understood".into()))
    }

    /// Drops a connection that is of no use any more.
    fn failed(&self, number: u64, error: &RedisError) {
        let useless = match error.retry_method() {
            RetryMethod::Reconnect | RetryMethod::ReconnectFromInitialConnections => true,
            // A primary that a sentinel has put aside answers so.
            _ => matches!(error.code(), Some("READONLY" | "MASTERDOWN")) && !self.is_cluster(),
        };
        if useless {
            let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
            if live.as_ref().is_some_and(|live| live.number == number) {
                *live = None;
            }
        }
    }

    /// Whether there is a connection that can be used.
    pub(crate) fn is_connected(&self) -> bool {
        self.current().is_some()
    }

    fn current(&self) -> Option<Live> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.as_ref().filter(|live| !live.gone.load(Ordering::Acquire)).cloned()
    }

    async fn live(&self) -> Result<Live, Error> {
        let live = match self.current() {
            Some(live) => live,
            // In a box: it would make every command as large as connecting is. Without its type, which would make
            // whoever calls from deep within a web framework run into the compiler's recursion limit.
            None => self.reconnect().boxed().await?,
        };
        self.name(&live);
        Ok(live)
    }

    /// Names a connection, if there is a name that it does not have. Nobody waits for it.
    fn name(&self, live: &Live) {
        let Some(name) = self.announced.command_if(|| live.named.is_due(self.is_cluster())) else {
            return;
        };
        let mut connection = live.connection.clone();
        tokio::spawn(async move { tell(&connection.query(&name).await) });
    }

    async fn reconnect(&self) -> Result<Live, Error> {
        let _connecting = self.connecting.lock().await;
        if let Some(live) = self.current() {
            return Ok(live);
        }
        // Connecting to a cluster can hang in the library, and so can a sentinel that is asked.
        let gone = Arc::new(AtomicBool::new(false));
        let connecting = tokio::time::timeout(self.timeouts.connect, self.connect(gone.clone()));
        let connection = match connecting.await {
            Ok(connected) => connected?,
            Err(_) => return Err(Error::Unavailable("connecting took too long".into())),
        };
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let named = Arc::default();
        Ok(live.insert(Live { number, connection, gone, named }).clone())
    }

    /// A connection, which says when it is gone: what is sent on one that is known to be gone would be
    /// lost, and nobody could say whether it had arrived.
    async fn connect(&self, gone: Arc<AtomicBool>) -> Result<Connection, Error> {
        let config = self.config().set_push_sender(move |push: PushInfo| {
            if push.kind == PushKind::Disconnection {
                gone.store(true, Ordering::Release);
            }
            Ok::<_, SendError>(())
        });
        let connected = self.target.connect(&config).await;
        let mut connection = connected.map_err(|error| match error.detail() {
            Some(why) if why.contains("cluster support disabled") => Error::Settings(
                "the server is not part of a cluster: write `redis://` instead of \
                 `redis+cluster://`"
                    .to_owned(),
            ),
            _ => Error::from_redis(&error),
        })?;
        if !self.is_cluster() {
            refuse_a_cluster(&mut connection).await?;
        }
        Ok(connection)
    }
}

/// A node of a cluster serves some of the keys only, and names others for the rest.
async fn refuse_a_cluster(connection: &mut Connection) -> Result<(), Error> {
    let answer = connection.query(&redis::cmd("HELLO")).await;
    // Who may not ask learns it from the first key of another node.
    let Ok(Value::Map(pairs)) = answer.and_then(Value::extract_error) else { return Ok(()) };
    let is = |value: &Value, text: &str| {
        matches!(value, Value::BulkString(bytes) if bytes == text.as_bytes())
            || matches!(value, Value::SimpleString(string) if string == text)
    };
    if pairs.iter().any(|(name, mode)| is(name, "mode") && is(mode, "cluster")) {
        return Err(Error::Settings(
            "the server is a node of a cluster: write `redis+cluster://` instead of `redis://`"
                .to_owned(),
        ));
    }
    Ok(())
}

static NEXT: AtomicU64 = AtomicU64::new(0);

/// The primaries in an answer to `CLUSTER SLOTS`, which is a list of ranges: first slot, last slot, the
/// primary as host and port, its replicas.
fn in_slots(answer: Value) -> Option<Vec<(RangeInclusive<u16>, Primary)>> {
    let Value::Array(ranges) = answer else { return None };
    let range = |range| {
        let Value::Array(parts) = range else { return None };
        let mut parts = parts.into_iter();
        let first = redis::from_redis_value(parts.next()?).ok()?;
        let last = redis::from_redis_value(parts.next()?).ok()?;
        let Value::Array(node) = parts.next()? else { return None };
        let mut node = node.into_iter();
        let host = redis::from_redis_value(node.next()?).ok()?;
        let port = redis::from_redis_value(node.next()?).ok()?;
        Some((first..=last, Primary::At(host, port)))
    };
    ranges.into_iter().map(range).collect()
}
