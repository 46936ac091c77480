//! Many keys of one definition: read at once, or found one after the other.

use super::core::Core;
use super::error::Error;
use super::pipeline::Pipeline;
use super::request::Call;
use super::scan::Scan;
use super::whole::Whole;
use super::{Handle, Prefixed, Store};
use crate::codec::NOT_OF_ITS_TYPE;
use crate::{Fixed, Key, Keyspace, Prefix};
use futures_util::stream::{self, Stream, TryStreamExt as _};
use keyward_pattern::slot;
use std::collections::BTreeMap;

type PrefixOf<K> = <<K as Key>::Keyspace as Keyspace>::Prefix;

impl Store {
    /// The values of many keys in one round trip, in their order. On a cluster, keys of one slot are
    /// asked for together.
    ///
    /// # Errors
    /// If the server cannot be asked, or if one of the values is not what was declared.
    pub async fn get_many<K, T>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<Option<T::Value>>, Error>
    where
        K: Key<Kind = T, Keyspace: Keyspace<Prefix: Fixed>>,
        T: Whole,
    {
        get_many(&self.core, keys, &Default::default()).await
    }

    /// The keys of a definition, found by looking at all keys of the server: for maintenance, not for
    /// requests. A key may come twice, and one that comes or goes meanwhile may be missed.
    pub fn scan<K>(&self) -> impl Stream<Item = Result<K, Error>> + Send + '_
    where
        K: Key<Keyspace: Keyspace<Prefix: Fixed>>,
    {
        scan(&self.core, Default::default())
    }
}

impl<P: Prefix> Prefixed<P> {
    /// See [`Store::get_many`].
    ///
    /// # Errors
    /// If the server cannot be asked, or if one of the values is not what was declared.
    pub async fn get_many<K, T>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<Option<T::Value>>, Error>
    where
        K: Key<Kind = T, Keyspace: Keyspace<Prefix = P>>,
        T: Whole,
    {
        get_many(&self.store.core, keys, &self.prefix).await
    }

    /// See [`Store::scan`].
    pub fn scan<K>(&self) -> impl Stream<Item = Result<K, Error>> + Send + '_
    where
        K: Key<Keyspace: Keyspace<Prefix = P>>,
    {
        scan(&self.store.core, self.prefix.clone())
    }
}

async fn get_many<K, T>(
    core: &Core,
    keys: impl IntoIterator<Item = K>,
    prefix: &PrefixOf<K>,
) -> Result<Vec<Option<T::Value>>, Error>
where
    K: Key<Kind = T>,
    T: Whole,
{
    let handles: Vec<Handle<'_, K, T, K::Lifetime>> =
        keys.into_iter().map(|key| Handle::new(core, key, prefix)).collect();
    let behaviour = &K::DEFINITION.behaviour;
    let plain = T::AT_ONCE
        && !behaviour.sliding
        && behaviour.l1_ms.is_none()
        && K::DEFINITION.former.is_empty();
    if !plain {
        let mut batch = Pipeline::new(core);
        let promises: Vec<_> = handles.iter().map(|handle| batch.add(handle.get())).collect();
        let mut results = batch.run().await?;
        return promises.into_iter().map(|promise| results.take(promise)).collect();
    }
    let got = get_at_once(core, &handles).await;
    got.inspect_err(|error| core.failures.note(K::NAME, error))
}

/// Values that one command reads many of.
async fn get_at_once<K: Key, T: Whole, L>(
    core: &Core,
    handles: &[Handle<'_, K, T, L>],
) -> Result<Vec<Option<T::Value>>, Error> {
    core.suits(K::DEFINITION)?;
    Box::pin(core.settle_for(K::NAME)).await?;
    let mut groups: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for (at, handle) in handles.iter().enumerate() {
        let slot = if core.is_cluster() { slot(handle.names.name.as_bytes()) } else { 0 };
        groups.entry(slot).or_default().push(at);
    }
    let calls: Vec<_> = groups
        .values()
        .map(|group| {
            let mut cmd = redis::cmd("MGET");
            for at in group {
                cmd.arg(&handles[*at].names.name);
            }
            Call::reading(cmd)
        })
        .collect();
    let mut values: Vec<Option<T::Value>> = handles.iter().map(|_| None).collect();
    for (group, answer) in groups.values().zip(core.send_each(calls).await?) {
        let answer = answer.map_err(|error| error.about(K::NAME))?;
        let answers: Vec<redis::Value> = redis::from_redis_value(answer)
            .map_err(|_| super::handle::malformed::<K>(NOT_OF_ITS_TYPE))?;
        for (at, answer) in group.iter().zip(answers) {
            values[*at] = T::decode(K::DEFINITION, answer)?;
        }
    }
    Ok(values)
}

fn scan<K: Key>(
    core: &Core,
    prefix: PrefixOf<K>,
) -> impl Stream<Item = Result<K, Error>> + Send + '_ {
    core.link.announced.learn(K::Keyspace::ANNOUNCEMENT);
    let free = vec![None; K::DEFINITION.params.len()];
    let glob = crate::generated::glob_of(K::DEFINITION, &prefix, &free);
    let steps = stream::try_unfold(Scan::new(core, glob), move |mut scan| async move {
        let keys = scan.next().await.inspect_err(|error| core.failures.note(K::NAME, error))?;
        Ok::<_, Error>(keys.map(|keys| (keys, scan)))
    });
    steps
        .map_ok(move |keys| {
            let ours = keys.iter().filter_map(|key| K::parse_with_prefix(key));
            let ours = ours.filter(|(behind, _)| *behind == prefix).map(|(_, key)| Ok(key));
            stream::iter(ours.collect::<Vec<_>>())
        })
        .try_flatten()
}
