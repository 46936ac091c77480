//! The server that a library is on.

use crate::document_library::values::SourceId;
use crate::numbers::Numbers;
use keyward::Store;
use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Cmd, ErrorKind, FromRedisValue, IntoConnectionInfo as _, Pipeline,
    Script, ServerErrorKind, ToRedisArgs, Value,
};
use std::time::Duration;
use thiserror::Error;
use tokio::task::JoinHandle;

/// How long an answer may take. A batch takes milliseconds; a server that saves or swaps takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A library: all documents on one server. Cloning is cheap.
#[derive(Clone)]
pub struct Library {
    /// Typed keys
    pub store: Store,
    /// The library's own scripts, and large reads
    connection: MultiplexedConnection,
    pub(crate) limits: Limits,
    pub(crate) numbers: Numbers,
}

/// How much a script is given to do. One that does more would keep the server from its other clients.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Elements that are written
    pub(crate) elements: usize,
    /// Arguments of everything else, roughly: what takes longer counts more
    pub(crate) work: usize,
    /// Bytes, roughly; one element may have more
    pub(crate) bytes: usize,
    /// Members of one command: Lua takes 8,000 arguments at most
    pub(crate) members: usize,
    /// Elements in reading order that steps refer to by their places
    pub(crate) names: usize,
}

impl Limits {
    const USUAL: Limits =
        Limits { elements: 500, work: 10_000, bytes: 1 << 20, members: 1000, names: 4000 };
    const SMALL: Limits = Limits { elements: 2, work: 8, bytes: 1 << 20, members: 2, names: 4 };
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
    #[error("the server is full: remove documents or raise its `maxmemory`, then run this again")]
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
    /// A script found a key that holds something else
    #[error(
        "a key of this document holds something that the library did not write: `library verify` names it"
    )]
    OfAnotherType,
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
            (Some("WRONGTYPE"), _) => ServerError::OfAnotherType,
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
        Ok(Library { store, connection, limits: Limits::USUAL, numbers: Numbers::default() })
    }

    /// The same library, written in many small steps: for tests of what happens between two of them.
    #[doc(hidden)]
    #[must_use]
    pub fn in_small_steps(mut self) -> Library {
        self.limits = Limits::SMALL;
        self
    }

    /// Sends one command.
    pub(crate) async fn ask<T: FromRedisValue>(&self, cmd: &Cmd) -> Result<T, ServerError> {
        let answer = cmd.query_async(&mut self.connection.clone()).await;
        answer.map_err(|error| of_another_type(&error, &[cmd]).unwrap_or_else(|| error.into()))
    }

    /// Sends several commands in one round trip.
    pub(crate) async fn ask_all<T: FromRedisValue>(
        &self,
        all: &Pipeline,
    ) -> Result<T, ServerError> {
        let answer = all.query_async(&mut self.connection.clone()).await;
        answer.map_err(|error| {
            let cmds: Vec<&Cmd> = all.cmd_iter().collect();
            of_another_type(&error, &cmds).unwrap_or_else(|| error.into())
        })
    }

    /// Runs a script.
    pub(crate) async fn run(&self, call: &Call) -> Result<Value, ServerError> {
        Ok(call.run(&mut self.connection.clone()).await?)
    }

    /// Runs a script beside whatever else is done.
    pub(crate) fn start(&self, call: Call) -> JoinHandle<Result<Value, ServerError>> {
        let mut connection = self.connection.clone();
        tokio::spawn(async move { Ok(call.run(&mut connection).await?) })
    }
}

/// Whether a command failed since its key holds something else.
fn of_another_type(error: &redis::RedisError, cmds: &[&Cmd]) -> Option<ServerError> {
    let errors = error.clone().into_server_errors()?;
    let (at, _) = errors.iter().find(|(_, error)| error.code() == "WRONGTYPE")?;
    let Some(redis::Arg::Simple(key)) = cmds.get(*at)?.args_iter().nth(1) else { return None };
    let key = String::from_utf8_lossy(key).into_owned();
    let why = "its type is another one. Rename or delete it".to_owned();
    Some(ServerError::Strange { key, why })
}

/// A script with its keys and arguments, as one command: they are many, and copied once.
pub(crate) struct Call {
    script: &'static Script,
    cmd: Cmd,
}

impl Call {
    pub(crate) fn new(script: &'static Script, keys: &[&str]) -> Self {
        let mut cmd = redis::cmd("EVALSHA");
        cmd.arg(script.get_hash()).arg(keys.len()).arg(keys);
        Call { script, cmd }
    }

    pub(crate) fn arg(&mut self, arg: impl ToRedisArgs) -> &mut Self {
        self.cmd.arg(arg);
        self
    }

    async fn run(&self, connection: &mut MultiplexedConnection) -> redis::RedisResult<Value> {
        match self.cmd.query_async(connection).await {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                self.script.load_async(connection).await?;
                self.cmd.query_async(connection).await
            }
            done => done,
        }
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
    Script::new(&["#!lua\n", FENCE, body].concat())
}

/// The same, for what frees memory: a full server runs it too.
pub(crate) fn fenced_when_full(body: &str) -> Script {
    Script::new(&["#!lua flags=allow-oom\n", FENCE, body].concat())
}

const FENCE: &str = include_str!("import/fence.lua");
