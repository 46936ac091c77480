//! What a store connects to: one server, a cluster, or whatever a sentinel names; and connections to it.

use super::address::info;
use super::error::Error;
use super::link::{Primary, Timeouts};
use super::resend::Redirect;
use keyward_fact::address::Address;
use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionInfo, ErrorKind, Pipeline, RedisError,
    RedisResult, Value,
};
use tokio::sync::Mutex;

#[cfg(feature = "cluster")]
use redis::cluster_routing::{RoutingInfo, SingleNodeRoutingInfo};

pub(super) enum Target {
    Single(Client),
    #[cfg(feature = "cluster")]
    Cluster(Box<Cluster>),
    Sentinel(Mutex<SentinelClient>),
}

#[derive(Clone)]
pub(super) enum Connection {
    Single(MultiplexedConnection),
    #[cfg(feature = "cluster")]
    Cluster(redis::cluster_async::ClusterConnection),
}

impl Target {
    #[cfg_attr(
        not(feature = "cluster"),
        expect(unused_variables, reason = "a cluster has timeouts")
    )]
    pub(super) fn new(
        address: Address,
        timeouts: Timeouts,
        root: Option<Vec<u8>>,
    ) -> Result<Self, Error> {
        let settings = |error: RedisError| Error::Settings(error.to_string());
        match address {
            Address::Single(server) => {
                Ok(Target::Single(open(info(server)?, root.as_deref()).map_err(settings)?))
            }
            #[cfg(feature = "cluster")]
            Address::Cluster(nodes) => {
                let nodes = nodes.into_iter().map(info).collect::<Result<_, _>>()?;
                let cluster = Cluster::new(nodes, timeouts, root).map_err(settings)?;
                Ok(Target::Cluster(Box::new(cluster)))
            }
            #[cfg(not(feature = "cluster"))]
            Address::Cluster(_) => Err(super::address::missing("cluster", "redis+cluster://")),
            Address::Sentinel { sentinels, service, server } => {
                if root.is_some() {
                    return Err(Error::Settings(
                        "a root certificate cannot be given together with a sentinel: let the \
                         system know it"
                            .to_owned(),
                    ));
                }
                let server = info(server)?;
                let sentinels =
                    sentinels.into_iter().map(info).collect::<Result<Vec<_>, Error>>()?;
                let node = SentinelNodeConnectionInfo::default()
                    .set_redis_connection_info(server.redis_settings().clone())
                    .set_tcp_settings(server.tcp_settings().clone());
                #[cfg(feature = "tls")]
                let node = match server.addr() {
                    redis::ConnectionAddr::TcpTls { .. } => {
                        tls::choose_cryptography();
                        node.set_tls_mode(redis::TlsMode::Secure)
                    }
                    _ => node,
                };
                let kind = SentinelServerType::Master;
                let client = SentinelClient::build(sentinels, service, Some(node), kind);
                Ok(Target::Sentinel(Mutex::new(client.map_err(settings)?)))
            }
        }
    }

    pub(super) fn is_cluster(&self) -> bool {
        match self {
            #[cfg(feature = "cluster")]
            Target::Cluster(_) => true,
            Target::Single(_) | Target::Sentinel(_) => false,
        }
    }

    /// The connection that all commands share.
    pub(super) async fn connect(&self, config: &AsyncConnectionConfig) -> RedisResult<Connection> {
        match self {
            #[cfg(feature = "cluster")]
            Target::Cluster(cluster) => {
                cluster.client.get_async_connection().await.map(Connection::Cluster)
            }
            _ => self.connect_to(&Primary::Only, config).await.map(Connection::Single),
        }
    }

    /// A connection of its own to a primary.
    pub(super) async fn connect_to(
        &self,
        primary: &Primary,
        config: &AsyncConnectionConfig,
    ) -> RedisResult<MultiplexedConnection> {
        match (self, primary) {
            (Target::Single(client), _) => {
                client.get_multiplexed_async_connection_with_config(config).await
            }
            (Target::Sentinel(client), _) => {
                client.lock().await.get_async_connection_with_config(config).await
            }
            #[cfg(feature = "cluster")]
            (Target::Cluster(cluster), Primary::At(host, port)) => {
                let client = cluster.node(host, *port)?;
                client.get_multiplexed_async_connection_with_config(config).await
            }
            #[cfg(feature = "cluster")]
            (Target::Cluster(_), Primary::Only) => {
                Err((ErrorKind::InvalidClientConfig, "a cluster has several").into())
            }
        }
    }

    /// Sends a command to the node of a cluster that another one has named. A new connection to it gets a name.
    #[cfg_attr(not(feature = "cluster"), expect(unused_variables, reason = "a cluster redirects"))]
    pub(super) async fn follow(
        &self,
        to: &Redirect,
        cmd: &Cmd,
        config: &AsyncConnectionConfig,
        name: Option<Cmd>,
    ) -> RedisResult<Value> {
        match self {
            #[cfg(feature = "cluster")]
            Target::Cluster(cluster) => cluster.follow(to, cmd, config, name).await,
            _ => Err((ErrorKind::InvalidClientConfig, "not a cluster", to.host.clone()).into()),
        }
    }
}

impl Connection {
    pub(super) async fn query(&mut self, cmd: &Cmd) -> RedisResult<Value> {
        match self {
            Connection::Single(connection) => connection.req_packed_command(cmd).await,
            #[cfg(feature = "cluster")]
            Connection::Cluster(connection) => connection.req_packed_command(cmd).await,
        }
    }

    /// Several commands in one round trip. Not for a cluster, whose nodes each have some of the keys.
    pub(super) async fn pipeline(&mut self, pipeline: &Pipeline) -> RedisResult<Vec<Value>> {
        let count = pipeline.len();
        match self {
            Connection::Single(connection) => {
                connection.req_packed_commands(pipeline, 0, count).await
            }
            #[cfg(feature = "cluster")]
            Connection::Cluster(connection) => {
                connection.req_packed_commands(pipeline, 0, count).await
            }
        }
    }

    pub(super) async fn query_at(&mut self, primary: &Primary, cmd: &Cmd) -> RedisResult<Value> {
        match (self, primary) {
            #[cfg(feature = "cluster")]
            (Connection::Cluster(connection), Primary::At(host, port)) => {
                let address = SingleNodeRoutingInfo::ByAddress { host: host.clone(), port: *port };
                connection.route_command(cmd.clone(), RoutingInfo::SingleNode(address)).await
            }
            (connection, _) => connection.query(cmd).await,
        }
    }
}

fn open(info: ConnectionInfo, root: Option<&[u8]>) -> RedisResult<Client> {
    #[cfg(feature = "tls")]
    if matches!(info.addr(), redis::ConnectionAddr::TcpTls { .. }) {
        tls::choose_cryptography();
        if let Some(root) = root {
            return Client::build_with_tls(info, tls::certificates(root));
        }
    }
    #[cfg(not(feature = "tls"))]
    let _ = root;
    Client::open(info)
}

#[cfg(feature = "tls")]
mod tls {
    use redis::TlsCertificates;

    /// TLS needs an implementation of its cryptography, chosen once a process. If the application has
    /// chosen one, that stays.
    pub(super) fn choose_cryptography() {
        _ = rustls::crypto::ring::default_provider().install_default();
    }

    pub(super) fn certificates(root: &[u8]) -> TlsCertificates {
        TlsCertificates { client_tls: None, root_cert: Some(root.to_vec()) }
    }
}

#[cfg(feature = "cluster")]
pub(super) use cluster::Cluster;

#[cfg(feature = "cluster")]
mod cluster {
    use super::super::announce::tell;
    use super::super::link::Timeouts;
    use super::super::resend::Redirect;
    use super::open;
    use redis::aio::{ConnectionLike as _, MultiplexedConnection};
    use redis::cluster::{ClusterClient, ClusterClientBuilder};
    use redis::{
        AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, Pipeline,
        RedisError, RedisResult, Value,
    };
    use std::collections::HashMap;
    use tokio::sync::Mutex;

    /// A cluster by some of its nodes.
    pub(crate) struct Cluster {
        pub(super) client: ClusterClient,
        seed: ConnectionInfo,
        root: Option<Vec<u8>>,
        /// Connections to nodes that others have named, and that the slots may not name yet
        named: Mutex<HashMap<(String, u16), MultiplexedConnection>>,
    }

    impl Cluster {
        pub(super) fn new(
            nodes: Vec<ConnectionInfo>,
            timeouts: Timeouts,
            root: Option<Vec<u8>>,
        ) -> RedisResult<Self> {
            let Some(seed) = nodes.first().cloned() else {
                return Err((ErrorKind::InvalidClientConfig, "a cluster without nodes").into());
            };
            let builder = ClusterClientBuilder::new(nodes)
                .use_protocol(redis::ProtocolVersion::RESP3)
                .tcp_settings(redis::io::tcp::TcpSettings::default().set_nodelay(true))
                .connection_timeout(timeouts.connect)
                .response_timeout(timeouts.response)
                // See `resend.rs`.
                .retries(0);
            #[cfg(feature = "tls")]
            let builder = {
                super::tls::choose_cryptography();
                match &root {
                    Some(root) => builder.certs(super::tls::certificates(root)),
                    None => builder,
                }
            };
            let named = Mutex::default();
            Ok(Cluster { client: builder.build()?, seed, root, named })
        }

        /// A client for one node, with the credentials of the others.
        pub(super) fn node(&self, host: &str, port: u16) -> RedisResult<Client> {
            let host = host.to_owned();
            let address = match self.seed.addr().clone() {
                ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
                    ConnectionAddr::TcpTls { host, port, insecure, tls_params }
                }
                _ => ConnectionAddr::Tcp(host, port),
            };
            open(self.seed.clone().set_addr(address), self.root.as_deref())
        }

        pub(super) async fn follow(
            &self,
            to: &Redirect,
            cmd: &Cmd,
            config: &AsyncConnectionConfig,
            name: Option<Cmd>,
        ) -> RedisResult<Value> {
            let at = (to.host.clone(), to.port);
            let mut connection = self.named(&at, config, name).await.map_err(|error| {
                let why = error.to_string();
                RedisError::from((ErrorKind::ClusterConnectionNotFound, "no connection", why))
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
                self.named.lock().await.remove(&at);
            }
            answer
        }

        async fn named(
            &self,
            at: &(String, u16),
            config: &AsyncConnectionConfig,
            name: Option<Cmd>,
        ) -> RedisResult<MultiplexedConnection> {
            let mut named = self.named.lock().await;
            if let Some(connection) = named.get(at) {
                return Ok(connection.clone());
            }
            let client = self.node(&at.0, at.1)?;
            let mut connection =
                client.get_multiplexed_async_connection_with_config(config).await?;
            if let Some(name) = name {
                tell(&connection.req_packed_command(&name).await);
            }
            named.insert(at.clone(), connection.clone());
            Ok(connection)
        }
    }
}
