//! Whether a call that has failed is sent again.
//!
//! The client library would send everything again after a lost connection, counts and pushes too, which
//! may then happen twice. Its own retries are off. What changes something is sent again only where the
//! server said that it has not done it (MOVED, ASK, TRYAGAIN, CLUSTERDOWN), or where it was never sent.

use super::error::Error;
use redis::{ErrorKind, RedisError, RetryMethod};
use std::time::Duration;

/// How often a call is sent at most while a cluster moves its keys.
const MOST: u32 = 6;
/// How often a call is sent at most while connections are lost.
const LOST: u32 = 3;

/// The attempts at one call.
pub(crate) struct Resending {
    repeatable: bool,
    attempts: u32,
    pause: Duration,
}

/// The node of a cluster that a call belongs to.
#[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "a cluster redirects"))]
pub(crate) struct Redirect {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Whether the node must be told that it was asked for: it does not own the slot yet
    pub(crate) asking: bool,
}

impl Resending {
    /// For a call that may or may not be made twice.
    pub(crate) fn new(repeatable: bool) -> Self {
        Resending { repeatable, attempts: 0, pause: Duration::from_millis(5) }
    }

    /// Where the call is sent next, which is `None` for where it was sent before.
    ///
    /// # Errors
    /// If it is not sent again.
    pub(crate) async fn after(&mut self, error: &RedisError) -> Result<Option<Redirect>, Error> {
        self.attempts += 1;
        let never_sent = error.kind() == ErrorKind::ClusterConnectionNotFound;
        match error.retry_method() {
            RetryMethod::MovedRedirect | RetryMethod::AskRedirect if self.attempts < MOST => {
                if let Some(redirect) = Redirect::of(error) {
                    return Ok(Some(redirect));
                }
            }
            _ if matches!(error.code(), Some("TRYAGAIN" | "CLUSTERDOWN"))
                && self.attempts < MOST => {}
            _ if never_sent && self.attempts < LOST => {}
            RetryMethod::Reconnect if self.repeatable && self.attempts < LOST => {
                return Ok(None);
            }
            _ => return Err(self.given_up(error, never_sent)),
        }
        tokio::time::sleep(self.pause).await;
        self.pause *= 2;
        Ok(None)
    }

    fn given_up(&self, error: &RedisError, never_sent: bool) -> Error {
        let sent = !never_sent && !error.is_connection_refusal();
        match Error::from_redis(error) {
            Error::Unavailable(cause) if sent && !self.repeatable => Error::Unknown(cause),
            error => error,
        }
    }
}

impl Redirect {
    /// The node that an error names; `None` where it is the one that answered, under another port.
    fn of(error: &RedisError) -> Option<Self> {
        let (address, _slot) = error.redirect_node()?;
        let (host, port) = address.rsplit_once(':')?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let asking = matches!(error.retry_method(), RetryMethod::AskRedirect);
        Some(Redirect { port: port.parse().ok()?, asking, host }).filter(|to| !to.host.is_empty())
    }
}
