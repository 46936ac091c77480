//! The name that a store gives its connections, so that whoever migrates keys sees which phases the program knows:
//! see [`Keyspace::ANNOUNCEMENT`](crate::Keyspace::ANNOUNCEMENT).

use redis::{Cmd, RedisResult, Value};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

/// How often the connections of a cluster are named: the client library makes new ones unseen.
const AGAIN: Duration = Duration::from_secs(5);

/// What a store's connections are called: the schema of its first key says it.
#[derive(Debug, Default)]
pub(crate) struct Announced {
    name: OnceLock<&'static str>,
    warned: AtomicBool,
}

impl Announced {
    /// Takes the name of a schema whose keys are used.
    pub(crate) fn learn(&self, name: &'static str) {
        let first = *self.name.get_or_init(|| name);
        let is_other = !std::ptr::eq(first, name) && first != name;
        if is_other && !self.warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                target: "keyward", announced = first, other = name,
                "a store is used for two schemas, and its connections announce only the first: a migration of the \
                 second does not see this program; use a store for each schema"
            );
        }
    }

    /// The command that names a connection, as soon as there is a name.
    pub(crate) fn command(&self) -> Option<Cmd> {
        self.command_if(|| true)
    }

    /// The same, if there is a name and the connection is to be named.
    pub(crate) fn command_if(&self, is_due: impl FnOnce() -> bool) -> Option<Cmd> {
        let name = *self.name.get()?;
        is_due().then(|| {
            let mut cmd = redis::cmd("CLIENT");
            cmd.arg("SETNAME").arg(name);
            cmd
        })
    }
}

/// Notes that a connection has no name. It works all the same: who may not name it is seen as unnamed.
pub(crate) fn tell(named: &RedisResult<Value>) {
    if let Err(error) = named {
        tracing::debug!(target: "keyward", %error, "the server refuses CLIENT SETNAME");
    }
}

/// When a connection was named last, in milliseconds since the first one; 0 if it was not.
#[derive(Debug, Default)]
pub(crate) struct Named(AtomicU64);

impl Named {
    /// Whether it is to be named now, by whoever asks first.
    pub(crate) fn is_due(&self, again: bool) -> bool {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        let last = self.0.load(Ordering::Relaxed);
        if last != 0 && !again {
            return false;
        }
        let now = 1 + u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        let is_due = last == 0 || Duration::from_millis(now - last.min(now)) >= AGAIN;
        is_due && self.0.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
