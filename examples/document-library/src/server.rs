//! The server that a library is on.

use crate::document_library::values::SourceId;
use keyward::Store;
use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, FromRedisValue, IntoConnectionInfo as _, Pipeline, Script,
    ScriptInvocation, Value,
};
use std::time::Duration;
use thiserror::Error;

/// How long an answer may take. A batch takes milliseconds; a server that saves or swaps takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A library: all documents on one server. Cloning is cheap.
#[derive(Clone)]
pub struct Library {
    /// Typed keys
    pub store: Store,
    /// The library's own scripts, and large reads
    connection: MultiplexedConnection,
}

/// Why a server was not asked, or did not do as it was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServerError {
    /// It cannot be reached
    #[error(
        "no server at {url}: {why}\nstart one, or name another with --server or LIBRARY_SERVER"
    )]
    Unreachable {
        /// Its address, without a password
        url: String,
        /// What the client says
        why: String,
    },
    /// Not a single server
    #[error("a library needs a single server, since its relations lead from slot to slot: {0}")]
    Cluster(&'static str),
    /// A set may not grow any more
    #[error("`{0}` is full: the schema bounds it with `max_len`")]
    Full(String),
    /// The server has no memory left
    #[error("the server is full: raise its `maxmemory`, then run this again")]
    OutOfMemory,
    /// Somebody else has the document's lock now
    #[error("another process took over this document: nothing is lost, add it again")]
    Fenced,
    /// The store
    #[error(transparent)]
    Store(keyward::Error),
    /// The client
    #[error("the server did not do it: {0}")]
    Client(redis::RedisError),
    /// A key that holds something else
    #[error("`{key}` holds what the library did not write: {why}")]
    Strange {
        /// The key
        key: String,
        /// What is wrong
        why: String,
    },
}

impl From<keyward::Error> for ServerError {
    fn from(error: keyward::Error) -> Self {
        if error.to_string().contains("OOM ") {
            ServerError::OutOfMemory
        } else {
            ServerError::Store(error)
        }
    }
}

impl From<redis::RedisError> for ServerError {
    fn from(error: redis::RedisError) -> Self {
        match (error.code(), error.detail()) {
            (Some("FENCED"), _) => ServerError::Fenced,
            (Some("FULL"), Some(key)) => ServerError::Full(key.to_owned()),
            (Some("OOM"), _) => ServerError::OutOfMemory,
            _ => ServerError::Client(error),
        }
    }
}

impl Library {
    /// Connects to a server: `redis://`, `rediss://` or `redis+unix://`.
    ///
    /// # Errors
    /// If it cannot be reached, or is a cluster.
    pub async fn connect(url: &str) -> Result<Library, ServerError> {
        for (scheme, what) in [
            ("redis+cluster", "this is the address of a cluster"),
            ("rediss+cluster", "this is the address of a cluster"),
            ("redis+sentinel", "give the address of the primary itself"),
            ("rediss+sentinel", "give the address of the primary itself"),
        ] {
            if url.starts_with(&format!("{scheme}://")) {
                return Err(ServerError::Cluster(what));
            }
        }
        let unreachable =
            |why: String| ServerError::Unreachable { url: without_password(url), why };
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
        let connect = async || {
            // Each batch waits for its answer: none may wait for more to send.
            let tcp = TcpSettings::default().set_nodelay(true);
            let client = redis::Client::open(url.into_connection_info()?.set_tcp_settings(tcp))?;
            client.get_multiplexed_async_connection_with_config(&config).await
        };
        let connection = connect().await.map_err(|error| unreachable(error.to_string()))?;
        let mut info = redis::cmd("INFO");
        let info: String = info.arg("cluster").query_async(&mut connection.clone()).await?;
        if info.lines().any(|line| line.trim() == "cluster_enabled:1") {
            return Err(ServerError::Cluster("this one belongs to a cluster"));
        }
        let store = Store::builder(url).response_timeout(PATIENCE).connect().await;
        let store = store.map_err(|error| unreachable(error.to_string()))?;
        Ok(Library { store, connection })
    }

    /// Sends one command.
    pub(crate) async fn ask<T: FromRedisValue>(&self, cmd: &redis::Cmd) -> Result<T, ServerError> {
        Ok(cmd.query_async(&mut self.connection.clone()).await?)
    }

    /// Sends several commands in one round trip.
    pub(crate) async fn ask_all<T: FromRedisValue>(
        &self,
        all: &Pipeline,
    ) -> Result<T, ServerError> {
        Ok(all.query_async(&mut self.connection.clone()).await?)
    }

    pub(crate) async fn run(&self, script: &ScriptInvocation<'_>) -> Result<Value, ServerError> {
        Ok(script.invoke_async(&mut self.connection.clone()).await?)
    }
}

fn without_password(url: &str) -> String {
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => {
            format!("{}{}", &url[..scheme + 3], &url[at + 1..])
        }
        _ => url.to_owned(),
    }
}

/// The names of what belongs to the file of a document.
pub(crate) struct SourceKeys {
    pub(crate) document: String,
    pub(crate) elements: String,
    pub(crate) fence: String,
}

impl SourceKeys {
    pub(crate) fn new(source_id: &SourceId) -> Self {
        use crate::document_library::keys;
        let source_id = || source_id.clone();
        SourceKeys {
            document: keys::SourceDocument { source_id: source_id() }.key(),
            elements: keys::SourceElements { source_id: source_id() }.key(),
            fence: keys::SourceFence { source_id: source_id() }.key(),
        }
    }
}

/// A script that checks the fence first. A full server runs none of it.
pub(crate) fn fenced(body: &str) -> Script {
    Script::new(&["#!lua\n", include_str!("import/fence.lua"), body].concat())
}
