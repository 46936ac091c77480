//! A lock that is held, and renewed until it is released.

use super::super::error::Error;
use super::super::measure;
use super::belief::Sent;
use super::claim::{Claim, Held, release_later};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::sleep;

/// A lock that is held. It is renewed in the background, three times in its TTL, until it is released or
/// dropped.
///
/// A guard believes in its lock until a tenth of the TTL before the server lets it go, counted from when
/// the last confirmed renewal was sent. A process that was stopped (`SIGSTOP`, a paused virtual machine)
/// may act on a belief that it checked before: pass the [`fence`](Guard::fence) to whatever the lock
/// protects, and let it refuse a fence below one that it has seen.
///
/// Dropping a guard releases its lock in the background; [`release`](Guard::release) says whether it was
/// held until then.
#[must_use = "the lock is released when its guard is dropped"]
pub struct Guard {
    held: Arc<State>,
    renewing: AbortHandle,
    released: bool,
}

struct State {
    claim: Claim,
    fence: u64,
    /// When the last call was sent that the server has confirmed; `None` once the lock is lost
    confirmed: Mutex<Option<Sent>>,
    lost: watch::Sender<()>,
}

impl Guard {
    pub(super) fn new(claim: Claim, held: Held) -> Self {
        let held = Arc::new(State {
            claim,
            fence: held.fence,
            confirmed: Mutex::new(Some(held.sent)),
            lost: watch::Sender::new(()),
        });
        let renewing = tokio::spawn(renew(held.clone())).abort_handle();
        Guard { held, renewing, released: false }
    }

    /// The fence: a number that is larger for every grant of this lock, also across restarts and flushes of
    /// the server. It is the server's time in microseconds, or one more than the last.
    pub fn fence(&self) -> u64 {
        self.held.fence
    }

    /// Whether the lock is held as far as this process can know. Once it is lost, it stays lost.
    pub fn is_held(&self) -> bool {
        !self.held.left().is_zero()
    }

    /// Waits until the lock is lost: it could not be renewed in time, somebody else released it, or the
    /// server forgot it.
    pub async fn lost(&self) {
        let mut lost = self.held.lost.subscribe();
        loop {
            let left = self.held.left();
            if left.is_zero() {
                return;
            }
            tokio::select! {
                _ = lost.changed() => {}
                () = sleep(left) => {}
            }
        }
    }

    /// Releases the lock; whether it was held until now.
    ///
    /// # Errors
    /// If the server cannot be asked, or its answer is lost. Then it is asked once more in the background,
    /// and otherwise the lock is held until its TTL is over.
    pub async fn release(mut self) -> Result<bool, Error> {
        self.renewing.abort();
        let was_held = self.held.claim.release_once().await;
        self.released = was_held.is_ok();
        was_held
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.renewing.abort();
        if !self.released {
            release_later(self.held.claim.clone());
        }
    }
}

impl State {
    /// How long the lock is still believed in.
    fn left(&self) -> Duration {
        self.change(|_| {})
    }

    /// Changes what is believed, unless the lock is lost already: nobody who has seen that sees it held again.
    fn change(&self, change: impl FnOnce(&mut Option<Sent>)) -> Duration {
        let mut confirmed = self.confirmed.lock().unwrap_or_else(PoisonError::into_inner);
        let clock = &self.claim.core().clock;
        let left =
            |sent: Option<Sent>| sent.map_or(Duration::ZERO, |it| it.left(self.claim.ttl, clock));
        if confirmed.is_some() {
            if !left(*confirmed).is_zero() {
                change(&mut confirmed);
            }
            if left(*confirmed).is_zero() {
                *confirmed = None;
                self.lost.send_replace(());
                let definition = self.claim.definition();
                measure::count("keyward_locks_lost_total", 1, &[("definition", definition)]);
                tracing::warn!(target: "keyward", definition, fence = self.fence, "a lock was lost");
            }
        }
        left(*confirmed)
    }
}

/// Renews a lock until it is lost.
async fn renew(held: Arc<State>) {
    let ttl = held.claim.ttl;
    let mut pause = ttl / 3;
    loop {
        sleep(pause).await;
        if held.left().is_zero() {
            return;
        }
        pause = match held.claim.renew().await {
            Ok(sent) if held.change(|confirmed| *confirmed = sent).is_zero() => return,
            Ok(_) => ttl / 3,
            // The server may answer before the belief ends.
            Err(_) => (ttl / 20).max(Duration::from_millis(1)),
        };
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let definition = self.held.claim.definition();
        let mut shown = f.debug_struct("Guard");
        shown.field("definition", &definition).field("fence", &self.fence());
        shown.field("is_held", &self.is_held()).finish_non_exhaustive()
    }
}
