//! What is kept in this process: values that were read lately, until the server says that they have
//! changed.
//!
//! A value is read from here only while a connection that hears of every change is known to be alive,
//! never when it is older than the schema's `l1` or would have expired on the server. A value that
//! was being read while its key changed is not kept.

use super::clock::Clock;
use super::core::Core;
use super::handle::Handle;
use super::tracking;
use crate::definition::KeyPart;
use crate::{Definition, Key};
use std::any::Any;
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::Notify;

/// Changes are counted by a hash of the key in so many places. Two keys that share one can cost each
/// other an entry, never freshness.
const PLACES: usize = 1024;

pub(crate) struct L1 {
    values: Option<moka::sync::Cache<String, Kept>>,
    /// What was read last, of definitions with `stale_if_error`: for when nobody else has an answer
    last: Option<moka::sync::Cache<String, Kept>>,
    clock: Clock,
    /// How often keys that fall into a place have changed
    changes: Box<[AtomicU64]>,
    hasher: RandomState,
    /// Until when the connection that hears of changes is known to be alive
    alive_until: AtomicU64,
    /// Definitions that are watched, with the prefix they stand behind
    watched: RwLock<HashSet<(usize, String)>>,
    prefixes: RwLock<HashSet<String>>,
    pub(super) wanted: Notify,
    running: AtomicBool,
}

#[derive(Clone)]
struct Kept {
    value: Arc<dyn Any + Send + Sync>,
    until: u64,
}

impl L1 {
    pub(crate) fn new(entries: u64, clock: Clock) -> Self {
        let kept = || (entries > 0).then(|| moka::sync::Cache::new(entries));
        L1 {
            values: kept(),
            last: kept(),
            clock,
            changes: (0..PLACES).map(|_| AtomicU64::new(0)).collect(),
            hasher: RandomState::new(),
            alive_until: AtomicU64::new(0),
            watched: RwLock::default(),
            prefixes: RwLock::default(),
            wanted: Notify::new(),
            running: AtomicBool::new(false),
        }
    }

    /// The value of a key, if it is here and good.
    pub(crate) fn get<V: Clone + 'static>(&self, name: &str) -> Option<V> {
        self.good(name)?.value.downcast_ref::<V>().cloned()
    }

    /// What was read last, for as long as the schema's `stale_if_error` allows. Changes may have been missed.
    pub(crate) fn last<V: Clone + 'static>(&self, name: &str) -> Option<V> {
        let kept = self.last.as_ref()?.get(name)?;
        let good = self.clock.now() < kept.until;
        if good { kept.value.downcast_ref::<V>().cloned() } else { None }
    }

    fn holds(&self, name: &str) -> bool {
        self.good(name).is_some()
    }

    fn good(&self, name: &str) -> Option<Kept> {
        let until = self.alive_until.load(Ordering::Acquire);
        // Where no definition asks for it, this is all it costs.
        if until == 0 {
            return None;
        }
        let now = self.clock.now();
        let kept = self.values.as_ref()?.get(name)?;
        (now < until && now < kept.until).then_some(kept)
    }

    /// A key has changed.
    pub(crate) fn remove(&self, name: &str) {
        if self.values.is_none() {
            return;
        }
        self.place(name).fetch_add(1, Ordering::AcqRel);
        for values in self.values.iter().chain(&self.last) {
            values.invalidate(name);
        }
    }

    /// Keys may have changed.
    pub(crate) fn remove_if(&self, is_old: impl Fn(&str) -> bool) {
        if self.values.is_none() {
            return;
        }
        self.all_have_changed();
        for values in self.values.iter().chain(&self.last) {
            for (name, _) in values {
                if is_old(&name) {
                    values.invalidate(&*name);
                }
            }
        }
    }

    /// Changes may have been missed: nothing that is here is good.
    pub(crate) fn lost(&self) {
        self.alive_until.store(0, Ordering::Release);
        self.all_have_changed();
        if let Some(values) = &self.values {
            values.invalidate_all();
        }
    }

    /// The connection that hears of changes was alive at this time, and is asked again before that one.
    pub(crate) fn alive(&self, until: u64) {
        self.alive_until.store(until, Ordering::Release);
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// What keys begin with whose changes must be heard of, none of which begins with another: the
    /// server refuses prefixes that overlap.
    pub(crate) fn prefixes(&self) -> Vec<String> {
        let known = self.prefixes.read().unwrap_or_else(PoisonError::into_inner);
        let covered =
            |it: &&String| known.iter().any(|other| other != *it && it.starts_with(other.as_str()));
        let mut prefixes: Vec<String> = known.iter().filter(|it| !covered(it)).cloned().collect();
        prefixes.sort_unstable();
        prefixes
    }

    /// Makes sure that changes of a definition's keys are heard of.
    fn watch(&self, core: &Core, definition: &'static Definition, prefix: &str) {
        let id = std::ptr::from_ref(definition) as usize;
        let known = self.watched.read().unwrap_or_else(PoisonError::into_inner);
        if known.iter().any(|(watched, behind)| *watched == id && behind == prefix) {
            return;
        }
        drop(known);
        let start = definition.parts().map_while(|part| match part {
            KeyPart::Literal(char) => Some(char),
            KeyPart::Param(_) => None,
        });
        let mut prefixes = self.prefixes.write().unwrap_or_else(PoisonError::into_inner);
        let new = prefixes.insert(prefix.chars().chain(start).collect());
        drop(prefixes);
        if new {
            self.lost();
        }
        let mut watched = self.watched.write().unwrap_or_else(PoisonError::into_inner);
        watched.insert((id, prefix.to_owned()));
        drop(watched);
        if let Ok(runtime) = tokio::runtime::Handle::try_current()
            && !self.running.swap(true, Ordering::AcqRel)
        {
            runtime.spawn(tracking::run(core.me().clone()));
        }
        self.wanted.notify_one();
    }

    fn place(&self, name: &str) -> &AtomicU64 {
        let hash = self.hasher.hash_one(name);
        #[allow(clippy::cast_possible_truncation, reason = "any bits will do")]
        &self.changes[hash as usize % PLACES]
    }

    fn all_have_changed(&self) {
        for place in &self.changes {
            place.fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// A read that is under way, and what was known when it began.
pub(crate) struct PendingRead<'s> {
    l1: &'s L1,
    name: String,
    changes: u64,
    max_age: u64,
    stale: Option<u64>,
}

impl PendingRead<'_> {
    /// Keeps what was read, if its key has not changed meanwhile: for no longer than it lives on the
    /// server, nor than the schema says.
    pub(crate) fn keep<V: Clone + Send + Sync + 'static>(self, value: &V, left: Option<u64>) {
        let (Some(values), place) = (&self.l1.values, self.l1.place(&self.name)) else { return };
        if place.load(Ordering::Acquire) != self.changes {
            return;
        }
        let age = left.map_or(self.max_age, |left| left.min(self.max_age));
        let now = self.l1.clock.now();
        let kept = |until| Kept { value: Arc::new(value.clone()), until };
        values.insert(self.name.clone(), kept(now.saturating_add(age)));
        if let (Some(last), Some(stale)) = (&self.l1.last, self.stale) {
            let end = now.saturating_add(left.unwrap_or(self.max_age));
            last.insert(self.name.clone(), kept(end.saturating_add(stale)));
        }
        // It may have changed between the look and the insertion.
        if place.load(Ordering::Acquire) != self.changes {
            self.l1.remove(&self.name);
        }
    }
}

impl<'s, K: Key, T, L> Handle<'s, K, T, L> {
    /// Whether its value is kept in this process, so that reading it does not ask the server.
    pub fn is_kept(&self) -> bool {
        self.core.l1.holds(&self.names.name)
    }

    /// A read whose value may be kept in this process. Not where a read changes the key, nor where it
    /// has two names.
    pub(crate) fn l1_reading(&self) -> Option<PendingRead<'s>> {
        let behaviour = &K::DEFINITION.behaviour;
        let max_age = behaviour.l1_ms?;
        let l1 = &self.core.l1;
        if l1.values.is_none() || behaviour.sliding || !self.names.others.is_empty() {
            return None;
        }
        l1.watch(self.core, K::DEFINITION, self.names.prefix());
        if l1.clock.now() >= l1.alive_until.load(Ordering::Acquire) {
            return None;
        }
        let changes = l1.place(&self.names.name).load(Ordering::Acquire);
        let (name, stale) = (self.names.name.clone(), behaviour.stale_ms);
        Some(PendingRead { l1, name, changes, max_age, stale })
    }
}
