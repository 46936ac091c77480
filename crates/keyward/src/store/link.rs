//! The one connection that all commands share, made again when it is lost.

use super::address::Address;
use super::error::Error;
use super::resend::{Redirect, Resending};
use redis::aio::{ConnectionLike as _, MultiplexedConnection, SendError};
use redis::cluster::{ClusterClient, ClusterClientBuilder};
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{RoutingInfo, SingleNodeRoutingInfo};
use redis::sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, Pipeline, PushInfo,
    PushKind, RedisError, RetryMethod, TlsCertificates, Value,
};
use std::collections::HashMap;
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
    /// The nodes of a cluster that were given
    seeds: Vec<ConnectionInfo>,
    root_certificate: Option<Vec<u8>>,
    live: RwLock<Option<Live>>,
    /// Held while connecting, so that one caller connects for all
    connecting: Mutex<()>,
    /// Connections to nodes of a cluster that others have named
    side: Mutex<HashMap<(String, u16), MultiplexedConnection>>,
}

enum Target {
    Single(Client),
    Cluster(ClusterClient),
    Sentinel(Mutex<SentinelClient>),
}

/// A connection and its number, so that only the one that failed is dropped.
#[derive(Clone)]
struct Live {
    number: u64,
    connection: Connection,
    /// Whether the server has closed it
    gone: Arc<AtomicBool>,
}

#[derive(Clone)]
enum Connection {
    Single(MultiplexedConnection),
    Cluster(ClusterConnection),
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
        let settings = |error: RedisError| Error::Settings(error.to_string());
        let mut seeds = Vec::new();
        let target = match address {
            Address::Single(info) => {
                Target::Single(open(info, root_certificate.as_deref()).map_err(settings)?)
            }
            Address::Cluster(nodes) => {
                choose_cryptography();
                seeds.clone_from(&nodes);
                let mut builder = ClusterClientBuilder::new(nodes);
                if let Some(root) = &root_certificate {
                    builder = builder.certs(certificates(root));
                }
                let builder = builder
                    .use_protocol(redis::ProtocolVersion::RESP3)
                    .tcp_settings(redis::io::tcp::TcpSettings::default().set_nodelay(true))
                    .connection_timeout(timeouts.connect)
                    .response_timeout(timeouts.response)
                    // See `resend.rs`.
                    .retries(0);
                Target::Cluster(builder.build().map_err(settings)?)
            }
            Address::Sentinel { sentinels, service, server } => {
                choose_cryptography();
                let node = SentinelNodeConnectionInfo::default()
                    .set_redis_connection_info(server.redis_settings().clone())
                    .set_tcp_settings(server.tcp_settings().clone());
                let node = match server.addr() {
                    redis::ConnectionAddr::TcpTls { .. } => {
                        node.set_tls_mode(redis::TlsMode::Secure)
                    }
                    _ => node,
                };
                if root_certificate.is_some() {
                    return Err(Error::Settings(
                        "a root certificate cannot be given together with a sentinel: let the \
                         system know it"
                            .to_owned(),
                    ));
                }
                let kind = SentinelServerType::Master;
                let client = SentinelClient::build(sentinels, service, Some(node), kind);
                Target::Sentinel(Mutex::new(client.map_err(settings)?))
            }
        };
        Ok(Link {
            target,
            timeouts,
            seeds,
            root_certificate,
            live: RwLock::new(None),
            connecting: Mutex::new(()),
            side: Mutex::default(),
        })
    }

    pub(crate) fn is_cluster(&self) -> bool {
        matches!(self.target, Target::Cluster(_))
    }

    /// Sends one command.
    pub(crate) async fn query(&self, cmd: &Cmd, repeatable: bool) -> Result<Value, Error> {
        let mut resending = Resending::new(repeatable);
        let mut redirect = None;
        loop {
            let mut live = self.live().await?;
            let answer = match (&mut live.connection, redirect.take()) {
                (Connection::Single(connection), _) => connection.req_packed_command(cmd).await,
                (Connection::Cluster(connection), None) => connection.req_packed_command(cmd).await,
                (Connection::Cluster(_), Some(to)) => Box::pin(self.follow(&to, cmd)).await,
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

    /// Sends several commands in one round trip; an error of one is in its place. Not for a cluster, whose
    /// nodes each have some of the keys.
    pub(crate) async fn pipeline(
        &self,
        pipeline: &Pipeline,
        repeatable: bool,
    ) -> Result<Vec<Value>, Error> {
        let mut resending = Resending::new(repeatable);
        let count = pipeline.len();
        loop {
            let mut live = self.live().await?;
            let answers = match &mut live.connection {
                Connection::Single(connection) => {
                    connection.req_packed_commands(pipeline, 0, count).await
                }
                Connection::Cluster(connection) => {
                    connection.req_packed_commands(pipeline, 0, count).await
                }
            };
            match answers {
                Ok(answers) => return Ok(answers),
                Err(error) => {
                    self.failed(live.number, &error);
                    Box::pin(resending.after(&error)).await?;
                }
            }
        }
    }

    /// Sends a command that only reads to one of the servers of a cluster.
    pub(crate) async fn query_at(&self, primary: &Primary, cmd: &Cmd) -> Result<Value, Error> {
        let Primary::At(host, port) = primary else { return self.query(cmd, true).await };
        let mut resending = Resending::new(true);
        loop {
            let Live { number, connection, .. } = self.live().await?;
            let Connection::Cluster(mut connection) = connection else {
                return self.query(cmd, true).await;
            };
            let address = SingleNodeRoutingInfo::ByAddress { host: host.clone(), port: *port };
            let answer =
                connection.route_command(cmd.clone(), RoutingInfo::SingleNode(address)).await;
            match answer.and_then(Value::extract_error) {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    self.failed(number, &error);
                    Box::pin(resending.after(&error)).await?;
                }
            }
        }
    }

    /// Sends a command to the node that another one has named.
    async fn follow(&self, to: &Redirect, cmd: &Cmd) -> Result<Value, RedisError> {
        let at = (to.host.clone(), to.port);
        let mut connection = self.side_connection(&at).await.map_err(|error| {
            let why = error.to_string();
            RedisError::from((redis::ErrorKind::ClusterConnectionNotFound, "no connection", why))
        })?;
        let answer = if to.asking {
            // Both in one write: the permission is good for the next command on the connection.
            let mut both = Pipeline::with_capacity(2);
            both.cmd("ASKING").add_command(cmd.clone());
            let answers = connection.req_packed_commands(&both, 1, 1).await;
            answers.map(|mut answers| answers.pop().unwrap_or(Value::Nil))
        } else {
            connection.req_packed_command(cmd).await
        };
        if answer.as_ref().is_err_and(RedisError::is_unrecoverable_error) {
            self.side.lock().await.remove(&at);
        }
        answer
    }

    /// A connection to a node that the cluster's slots may not name yet.
    async fn side_connection(
        &self,
        at: &(String, u16),
    ) -> Result<MultiplexedConnection, RedisError> {
        let mut side = self.side.lock().await;
        if let Some(connection) = side.get(at) {
            return Ok(connection.clone());
        }
        let (client, config) = (self.node(&at.0, at.1)?, self.config());
        let connection = client.get_multiplexed_async_connection_with_config(&config).await?;
        side.insert(at.clone(), connection.clone());
        Ok(connection)
    }

    /// A connection of its own to a primary, which passes on what the server tells unasked.
    pub(crate) async fn listening(
        &self,
        primary: &Primary,
        heard: UnboundedSender<PushInfo>,
    ) -> Result<MultiplexedConnection, Error> {
        let config = self.config().set_push_sender(heard);
        let connecting = async {
            match (&self.target, primary) {
                (Target::Single(client), _) => {
                    client.get_multiplexed_async_connection_with_config(&config).await
                }
                (Target::Sentinel(client), _) => {
                    client.lock().await.get_async_connection_with_config(&config).await
                }
                (Target::Cluster(_), Primary::At(host, port)) => {
                    let client = self.node(host, *port)?;
                    client.get_multiplexed_async_connection_with_config(&config).await
                }
                (Target::Cluster(_), Primary::Only) => {
                    Err((redis::ErrorKind::InvalidClientConfig, "a cluster has several").into())
                }
            }
        };
        match tokio::time::timeout(self.timeouts.connect, connecting).await {
            Ok(connected) => connected.map_err(|error| Error::from_redis(&error)),
            Err(_) => Err(Error::Unavailable("connecting took too long".to_owned())),
        }
    }

    /// A client for one node of a cluster, with the credentials of the others.
    fn node(&self, host: &str, port: u16) -> Result<Client, RedisError> {
        let Some(seed) = self.seeds.first() else {
            return Err((redis::ErrorKind::InvalidClientConfig, "a cluster without nodes").into());
        };
        let (host, address) = (host.to_owned(), seed.addr().clone());
        let address = match address {
            ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
                ConnectionAddr::TcpTls { host, port, insecure, tls_params }
            }
            _ => ConnectionAddr::Tcp(host, port),
        };
        open(seed.clone().set_addr(address), self.root_certificate.as_deref())
    }

    fn config(&self) -> AsyncConnectionConfig {
        AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.timeouts.connect))
            .set_response_timeout(Some(self.timeouts.response))
    }

    /// The servers that keys are written to.
    pub(crate) async fn primaries(&self) -> Result<Vec<Primary>, Error> {
        if !self.is_cluster() {
            return Ok(vec![Primary::Only]);
        }
        let mut slots = redis::cmd("CLUSTER");
        slots.arg("SLOTS");
        let answer = self.query(&slots, true).await?;
        in_slots(answer)
            .ok_or_else(|| Error::Unavailable("CLUSTER SLOTS cannot be understood".to_owned()))
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
        match self.current() {
            Some(live) => Ok(live),
            // In a box: it would make every command as large as connecting is.
            None => Box::pin(self.reconnect()).await,
        }
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
            Ok(connected) => connected.map_err(|error| Error::from_redis(&error))?,
            Err(_) => return Err(Error::Unavailable("connecting took too long".to_owned())),
        };
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(live.insert(Live { number, connection, gone }).clone())
    }

    /// A connection, which says when it is gone: what is sent on one that is known to be gone would be
    /// lost, and nobody could say whether it had arrived.
    async fn connect(&self, gone: Arc<AtomicBool>) -> Result<Connection, RedisError> {
        let config = self.config().set_push_sender(move |push: PushInfo| {
            if push.kind == PushKind::Disconnection {
                gone.store(true, Ordering::Release);
            }
            Ok::<_, SendError>(())
        });
        Ok(match &self.target {
            Target::Single(client) => Connection::Single(
                client.get_multiplexed_async_connection_with_config(&config).await?,
            ),
            Target::Cluster(client) => Connection::Cluster(client.get_async_connection().await?),
            Target::Sentinel(client) => {
                let mut client = client.lock().await;
                Connection::Single(client.get_async_connection_with_config(&config).await?)
            }
        })
    }
}

fn open(info: ConnectionInfo, root: Option<&[u8]>) -> Result<Client, RedisError> {
    if matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
        choose_cryptography();
    }
    match (root, info.addr()) {
        (Some(root), ConnectionAddr::TcpTls { .. }) => {
            Client::build_with_tls(info, certificates(root))
        }
        _ => Client::open(info),
    }
}

/// TLS needs an implementation of its cryptography, chosen once a process. If the application has
/// chosen one, that stays.
fn choose_cryptography() {
    _ = rustls::crypto::ring::default_provider().install_default();
}

fn certificates(root: &[u8]) -> TlsCertificates {
    TlsCertificates { client_tls: None, root_cert: Some(root.to_vec()) }
}

static NEXT: AtomicU64 = AtomicU64::new(0);

/// The primaries in an answer to `CLUSTER SLOTS`, which is a list of ranges: first slot, last slot, the
/// primary as host and port, its replicas.
fn in_slots(answer: Value) -> Option<Vec<Primary>> {
    let Value::Array(ranges) = answer else { return None };
    let mut primaries = Vec::new();
    for range in ranges {
        let Value::Array(parts) = range else { return None };
        let Some(Value::Array(node)) = parts.into_iter().nth(2) else { return None };
        let mut node = node.into_iter();
        let host = redis::from_redis_value(node.next()?).ok()?;
        let port = redis::from_redis_value(node.next()?).ok()?;
        let primary = Primary::At(host, port);
        if !primaries.contains(&primary) {
            primaries.push(primary);
        }
    }
    Some(primaries)
}
