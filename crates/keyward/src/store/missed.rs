//! Invalidations that could not be sent: what they concern is not read from the server until they have been.
//!
//! Otherwise a process would read, after an outage, what it knows to be old.

use super::core::Core;
use super::emit::forget_all;
use super::error::Error;
use super::names::Names;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many are remembered. Beyond that an event is an error: whoever emits it must know.
const MOST: usize = 10_000;

/// How many keys are removed in one round trip.
const AT_ONCE: usize = 500;

/// An invalidation that could not be sent.
pub(crate) struct Outstanding {
    /// Tells it from others
    pub(crate) id: String,
    pub(crate) what: What,
}

pub(crate) enum What {
    Key(Names),
    /// Keys that an index knows
    Index(Arc<Sending>),
    /// Keys of a definition that are looked for among all keys, which may take long
    Scan(&'static str, Arc<Sending>),
}

pub(crate) type Sending = dyn for<'c> Fn(&'c Core) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'c>>
    + Send
    + Sync;

#[derive(Default)]
pub(crate) struct Missed {
    any: AtomicBool,
    /// By their ids; one that is added again while it is being sent takes the other's place
    list: Mutex<BTreeMap<String, Arc<Outstanding>>>,
    /// Held by whoever is sending keys
    sending: tokio::sync::Mutex<()>,
    /// Whether a task looks for keys
    scanning: AtomicBool,
}

impl Missed {
    /// Remembers them, if there is room for all.
    pub(crate) fn add(&self, missed: Vec<Outstanding>) -> bool {
        let mut list = self.lock();
        let room = list.len() + missed.len() <= MOST;
        if room {
            list.extend(missed.into_iter().map(|it| (it.id.clone(), Arc::new(it))));
            self.any.store(!list.is_empty(), Ordering::Release);
        }
        room
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Acquire)
    }

    fn those(&self, wanted: impl Fn(&What) -> bool) -> Vec<Arc<Outstanding>> {
        self.lock().values().filter(|it| wanted(&it.what)).cloned().collect()
    }

    /// Whether keys of a definition are still being looked for.
    fn concerns(&self, definition: &str) -> bool {
        let is_about =
            |it: &Arc<Outstanding>| matches!(it.what, What::Scan(it, _) if it == definition);
        !self.is_empty() && self.lock().values().any(is_about)
    }

    /// Forgets one that has been sent.
    fn done(&self, sent: &Arc<Outstanding>) {
        let mut list = self.lock();
        if list.get(&sent.id).is_some_and(|it| Arc::ptr_eq(it, sent)) {
            list.remove(&sent.id);
        }
        self.any.store(!list.is_empty(), Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Outstanding>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    /// Sends what could not be sent before, so that nothing of this definition is read that is known to be
    /// old.
    ///
    /// # Errors
    /// If it could not be sent again; or if keys of the definition are still being looked for.
    pub(crate) async fn settle_for(&self, definition: &'static str) -> Result<(), Error> {
        self.settle().await?;
        if self.missed.concerns(definition) {
            let why = format!("an invalidation of `{definition}` is being made up for");
            return Err(Error::Unavailable(why.into()));
        }
        Ok(())
    }

    /// Sends what could not be sent before. What takes a scan is done by a task of its own, so that nobody
    /// waits for it and nobody who stops waiting ends it.
    pub(crate) async fn settle(&self) -> Result<(), Error> {
        if self.missed.is_empty() {
            return Ok(());
        }
        let _sending = self.missed.sending.lock().await;
        let quick = self.missed.those(|what| !matches!(what, What::Scan(..)));
        for some in quick.chunks(AT_ONCE) {
            let keys: Vec<Names> = some
                .iter()
                .filter_map(|it| match &it.what {
                    What::Key(names) => Some(names.clone()),
                    _ => None,
                })
                .collect();
            given_up(forget_all(self, &keys).await)?;
            for it in some {
                if let What::Index(search) = &it.what {
                    given_up(search(self).await)?;
                }
                self.missed.done(it);
            }
        }
        self.scan_for_missed();
        Ok(())
    }

    /// Sees to it that a task looks for the keys of what could not be sent.
    fn scan_for_missed(&self) {
        let Some(core) = self.me().upgrade() else { return };
        let scans = core.missed.those(|what| matches!(what, What::Scan(..)));
        if scans.is_empty() || core.missed.scanning.swap(true, Ordering::AcqRel) {
            return;
        }
        tokio::spawn(async move {
            let scanning = Scanning(core);
            let core = &scanning.0;
            for it in scans {
                if let What::Scan(_, search) = &it.what
                    && given_up(search(core).await).is_err()
                {
                    // Whoever comes next begins again.
                    break;
                }
                core.missed.done(&it);
            }
        });
    }
}

/// Says that nobody scans any more, however that ended.
struct Scanning(Arc<Core>);

impl Drop for Scanning {
    fn drop(&mut self) {
        self.0.missed.scanning.store(false, Ordering::Release);
    }
}

/// A server that refuses for good would be asked for ever: that is logged, and given up.
fn given_up(sent: Result<(), Error>) -> Result<(), Error> {
    match sent {
        Err(error) if !error.is_unavailable() => {
            tracing::error!(
                target: "keyward", %error,
                "a postponed invalidation is refused and given up: old values live until their TTL ends"
            );
            Ok(())
        }
        sent => sent,
    }
}
