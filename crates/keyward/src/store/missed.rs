//! Invalidations that could not be sent: nothing is read from the server until they have been.
//!
//! Otherwise a process would read, after an outage, what it knows to be old.

use super::core::Core;
use super::error::Error;
use super::names::Names;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many are remembered. Beyond that an event is an error: whoever emits it must know.
const MOST: usize = 10_000;

/// An invalidation that could not be sent.
#[derive(Clone)]
pub(crate) struct Outstanding {
    /// The key, or the glob that finds the keys
    pub(crate) id: String,
    pub(crate) what: What,
}

#[derive(Clone)]
pub(crate) enum What {
    Key(Names),
    Search(Arc<Sending>),
}

type Sending = dyn for<'c> Fn(&'c Core) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'c>>
    + Send
    + Sync;

#[derive(Default)]
pub(crate) struct Missed {
    any: AtomicBool,
    list: Mutex<BTreeMap<String, Outstanding>>,
    /// Held by whoever is sending them
    pub(crate) sending: tokio::sync::Mutex<()>,
}

impl Missed {
    /// Remembers them, if there is room for all.
    pub(crate) fn add(&self, missed: Vec<Outstanding>) -> bool {
        let mut list = self.lock();
        let room = list.len() + missed.len() <= MOST;
        if room {
            list.extend(missed.into_iter().map(|it| (it.id.clone(), it)));
            self.any.store(!list.is_empty(), Ordering::Release);
        }
        room
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Acquire)
    }

    pub(crate) fn all(&self) -> Vec<Outstanding> {
        self.lock().values().cloned().collect()
    }

    /// Forgets one that has been sent.
    pub(crate) fn done(&self, id: &str) {
        let mut list = self.lock();
        list.remove(id);
        self.any.store(!list.is_empty(), Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Outstanding>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
