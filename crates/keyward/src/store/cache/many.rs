//! Many values of one definition: one read, and one load for all that are missing.

use super::lease::{Offer, Token};
use super::{Looked, Mark, tick};
use crate::kind::Declared;
use crate::store::core::Core;
use crate::store::error::Error;
use crate::store::handle::Handle;
use crate::store::load_error::LoadError;
use crate::store::pipeline::Pipeline;
use crate::store::request::Call;
use crate::store::whole::Whole;
use crate::store::{Prefixed, Store};
use crate::{Fixed, Key, Keyspace, Prefix};
use std::collections::HashMap;
use std::future::Future;

impl Store {
    /// The values of many keys in their order: from the cache in one round trip, and from one call of the loader
    /// for all that are missing, which then fill the cache. What the loader does not return there is none of, and
    /// that is remembered for the schema's `negative_ttl`, if it has one.
    ///
    /// Each missing key has a lease of its own, so that no fill lands after an invalidation. Callers do not wait
    /// for each other's loads.
    ///
    /// # Errors
    /// The loader's own error, unless `stale_if_error` has a copy of every value that is missing. Never one of the
    /// cache.
    pub async fn get_or_load_many<K, T, E, F, V>(
        &self,
        keys: impl IntoIterator<Item = K>,
        load: impl FnOnce(Vec<K>) -> F,
    ) -> Result<Vec<Option<T::Value>>, LoadError<E>>
    where
        K: Key<Kind = T, Lifetime = Declared, Keyspace: Keyspace<Prefix: Fixed>>,
        T: Whole,
        F: Future<Output = Result<V, E>>,
        V: IntoIterator<Item = (K, T::Value)>,
    {
        get_or_load_many(&self.core, keys, &Default::default(), load).await
    }
}

impl<P: Prefix> Prefixed<P> {
    /// See [`Store::get_or_load_many`].
    ///
    /// # Errors
    /// The loader's own error. Never one of the cache.
    pub async fn get_or_load_many<K, T, E, F, V>(
        &self,
        keys: impl IntoIterator<Item = K>,
        load: impl FnOnce(Vec<K>) -> F,
    ) -> Result<Vec<Option<T::Value>>, LoadError<E>>
    where
        K: Key<Kind = T, Lifetime = Declared, Keyspace: Keyspace<Prefix = P>>,
        T: Whole,
        F: Future<Output = Result<V, E>>,
        V: IntoIterator<Item = (K, T::Value)>,
    {
        get_or_load_many(&self.store.core, keys, &self.prefix, load).await
    }
}

/// One key, and what is known of it.
struct Entry<'s, K: Key, T: Whole> {
    handle: Handle<'s, K, T, Declared>,
    looked: Looked<T::Value>,
    token: Option<Token>,
}

async fn get_or_load_many<K, T, E, F, V>(
    core: &Core,
    keys: impl IntoIterator<Item = K>,
    prefix: &<K::Keyspace as Keyspace>::Prefix,
    load: impl FnOnce(Vec<K>) -> F,
) -> Result<Vec<Option<T::Value>>, LoadError<E>>
where
    K: Key<Kind = T>,
    T: Whole,
    F: Future<Output = Result<V, E>>,
    V: IntoIterator<Item = (K, T::Value)>,
{
    let keys: Vec<K> = keys.into_iter().collect();
    let mut known: HashMap<K, Option<T::Value>> = HashMap::new();
    let mut entries: Vec<Entry<'_, K, T>> = Vec::new();
    for key in &keys {
        if !known.contains_key(key) {
            known.insert(key.clone(), None);
            let handle = Handle::new(core, key.clone(), prefix);
            entries.push(Entry { handle, looked: Looked::Nothing, token: None });
        }
    }
    look_up(core, &mut entries).await;
    let missing = entries.into_iter().filter_map(|entry| match entry.looked {
        Looked::Found(value, false) => {
            known.insert(entry.handle.key.clone(), Some(value));
            None
        }
        Looked::NoneKnown => None,
        _ => Some(entry),
    });
    let mut missing: Vec<Entry<'_, K, T>> = missing.collect();
    let away = missing.iter().any(|entry| matches!(entry.looked, Looked::Unknown));
    lease(core, &mut missing).await;
    // What is still good, or was written meanwhile, needs no load.
    missing.retain_mut(|entry| match &entry.looked {
        Looked::Found(value, due) if !due || entry.token.is_none() => {
            known.insert(entry.handle.key.clone(), Some(value.clone()));
            false
        }
        _ => true,
    });
    if !missing.is_empty() {
        // A database that has lost its cache must not get everything at once.
        let _turn = if away { core.fallback.acquire().await.ok() } else { None };
        let wanted: Vec<K> = missing.iter().map(|entry| entry.handle.key.clone()).collect();
        match missing[0].handle.timed(load(wanted)).await {
            Ok(loaded) => {
                let mut loaded: HashMap<K, T::Value> = loaded.into_iter().collect();
                for entry in &missing {
                    let value = loaded.remove(&entry.handle.key);
                    known.insert(entry.handle.key.clone(), value);
                }
                fill(core, missing, &known).await;
            }
            Err(error) => match instead(&mut missing, away).await {
                Some(values) => known.extend(values),
                None => return Err(LoadError::new(error)),
            },
        }
    }
    Ok(keys.iter().map(|key| known.get(key).cloned().flatten()).collect())
}

/// Reads all values in one round trip, but for those that this process keeps.
async fn look_up<K: Key, T: Whole>(core: &Core, entries: &mut [Entry<'_, K, T>]) {
    let mut batch = Pipeline::new(core);
    let mut asked = Vec::new();
    for (at, entry) in entries.iter_mut().enumerate() {
        let handle = &entry.handle;
        if let Some(value) = core.l1.get(&handle.names.name) {
            tick::<K>("keyward_l1_hits_total");
            entry.looked = Looked::Found(value, false);
            continue;
        }
        let reading = handle.l1_reading();
        let with_ttl = K::DEFINITION.behaviour.early_refresh || reading.is_some();
        let marks: Vec<(Mark, String)> = handle.marks(true);
        asked.push((at, handle.ask_with(&mut batch, marks, with_ttl), reading));
    }
    if asked.is_empty() {
        return;
    }
    let mut results = batch.run().await;
    for (at, asked, reading) in asked {
        let found = match &mut results {
            Ok(results) => asked.take(results),
            Err(error) => Err(error.clone()),
        };
        let entry = &mut entries[at];
        entry.looked = entry.handle.judge(found, reading);
        tick::<K>(match entry.looked {
            Looked::Found(..) | Looked::NoneKnown => "keyward_cache_hits_total",
            _ => "keyward_cache_misses_total",
        });
    }
}

/// Takes a lease for each, in one round trip; what somebody else has written meanwhile is read.
async fn lease<K: Key, T: Whole>(core: &Core, missing: &mut [Entry<'_, K, T>]) {
    let (mut before, mut takes, mut whose): (Vec<Call>, Vec<Call>, Vec<_>) = Default::default();
    for (at, entry) in missing.iter().enumerate() {
        let replace = matches!(entry.looked, Looked::Malformed | Looked::Found(..));
        if let (false, Some((mut calls, lease))) =
            (matches!(entry.looked, Looked::Unknown), entry.handle.wanting(replace))
        {
            takes.extend(calls.pop());
            before.extend(calls);
            whose.push((at, lease));
        }
    }
    let noted = core.send_each(before).await;
    if !noted.is_ok_and(|answers| answers.iter().all(Result::is_ok)) {
        return;
    }
    let answers: Vec<Result<_, Error>> = match core.send_each(takes).await {
        Ok(answers) => answers,
        Err(error) => whose.iter().map(|_| Err(error.clone())).collect(),
    };
    let mut filled = Vec::new();
    for ((at, lease), answer) in whose.into_iter().zip(answers) {
        match missing[at].handle.offered(&answer, lease) {
            Offer::Taken(token) => missing[at].token = Some(token),
            Offer::Filled => filled.push(at),
            Offer::Busy | Offer::Impossible => {}
        }
    }
    let mut batch = Pipeline::new(core);
    let reads: Vec<_> =
        filled.into_iter().map(|at| (at, batch.add(missing[at].handle.look(false)))).collect();
    if reads.is_empty() {
        return;
    }
    let Ok(mut results) = batch.run().await else { return };
    for (at, read) in reads {
        if let Ok(Some(value)) = results.take(read).map(|seen| seen.value) {
            missing[at].looked = Looked::Found(value, false);
        }
    }
}

/// Writes what was loaded, each if its lease still holds, in one round trip.
async fn fill<K: Key, T: Whole>(
    core: &Core,
    missing: Vec<Entry<'_, K, T>>,
    loaded: &HashMap<K, Option<T::Value>>,
) {
    let mut batch = Pipeline::new(core);
    let mut fills = Vec::new();
    for Entry { handle, token, .. } in missing {
        let Some(mut token) = token else { continue };
        let value = loaded.get(&handle.key).and_then(Option::as_ref);
        let filling = handle.filling(value, &token);
        token.spent = true;
        match filling {
            Ok(filling) => fills.push((batch.add(filling), handle)),
            Err(error) => handle.filled(Err(error)),
        }
    }
    if fills.is_empty() {
        return;
    }
    let mut results = batch.run().await;
    for (fill, handle) in fills {
        let filled = match &mut results {
            Ok(results) => results.take(fill),
            Err(error) => Err(error.clone()),
        };
        handle.filled(filled);
    }
}

/// What is served because the loader failed; `None` if one of them is missing.
async fn instead<K: Key, T: Whole>(
    missing: &mut Vec<Entry<'_, K, T>>,
    away: bool,
) -> Option<Vec<(K, Option<T::Value>)>> {
    let mut values = Vec::with_capacity(missing.len());
    for entry in missing.drain(..) {
        let handle = entry.handle;
        let value = match entry.looked {
            Looked::Found(value, _) => Some(value),
            _ if away => handle.last_kept(),
            _ => handle.stale().await,
        };
        values.push((handle.key, Some(value?)));
    }
    Some(values)
}
