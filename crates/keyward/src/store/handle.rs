//! A key at a store.

use super::core::Core;
use super::error::Error;
use super::ttl::{Lifespan, pick};
use crate::kind::{ByCaller, Declared};
use crate::{Definition, Key, Keyspace, Prefix as _};
use redis::{Cmd, FromRedisValue, Value};
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// A key at a store: what can be done to it depends on its kind `T`, and writing on whether its
/// lifetime `L` is known.
pub struct Handle<'s, K, T, L> {
    pub(crate) core: &'s Core,
    pub(crate) key: K,
    /// The key, whole
    pub(crate) name: String,
    /// How many bytes of it are the prefix
    prefix: usize,
    /// What the caller said, where the schema leaves it to the caller
    living: Option<Duration>,
    kind: PhantomData<fn() -> (T, L)>,
}

impl<'s, K: Key, T, L> Handle<'s, K, T, L> {
    pub(crate) fn new(core: &'s Core, key: K, prefix: &<K::Keyspace as Keyspace>::Prefix) -> Self {
        let mut name = String::with_capacity(prefix.len() + key.bare_len());
        prefix.write(&mut name);
        let prefix = name.len();
        key.write_bare(&mut name);
        Handle { core, key, name, prefix, living: None, kind: PhantomData }
    }

    /// A key beside this one that Keyward keeps for itself.
    pub(crate) fn derived(&self, word: &str) -> Option<String> {
        keyward_pattern::derived(&self.name[..self.prefix], &self.name, word)
    }

    /// What the schema says about the key.
    pub fn definition(&self) -> &'static Definition {
        K::DEFINITION
    }

    /// The key as the server sees it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether there is such a key.
    pub async fn exists(&self) -> Result<bool, Error> {
        self.ask("EXISTS", |_| {}).await
    }

    /// How long it will still live; `None` if it is not there, or never expires.
    pub async fn remaining(&self) -> Result<Option<Duration>, Error> {
        let left: i64 = self.ask("PTTL", |_| {}).await?;
        Ok(u64::try_from(left).ok().map(Duration::from_millis))
    }

    /// Removes it; whether it was there.
    pub async fn delete(&self) -> Result<bool, Error> {
        self.ask("UNLINK", |_| {}).await
    }

    /// Sends a command whose first argument is the key.
    pub(crate) async fn ask<R: FromRedisValue>(
        &self,
        command: &str,
        args: impl FnOnce(&mut Cmd),
    ) -> Result<R, Error> {
        let mut cmd = redis::cmd(command);
        cmd.arg(&self.name);
        args(&mut cmd);
        let answer = self.core.ask(&cmd).await.map_err(|error| error.about(K::DEFINITION.name))?;
        self.understand(answer)
    }

    /// Reads an answer, which is of the type that the command promises.
    pub(crate) fn understand<R: FromRedisValue>(&self, answer: Value) -> Result<R, Error> {
        R::from_redis_value(answer).map_err(|error| self.malformed(error.to_string()))
    }

    pub(crate) fn malformed(&self, why: impl Into<String>) -> Error {
        Error::Malformed { definition: K::DEFINITION.name, field: None, why: why.into() }
    }
}

impl<K: Key, T, L> Handle<'_, K, T, L> {
    /// The TTL that a read starts anew, in milliseconds, if it does.
    pub(crate) fn sliding(&self) -> Option<u64> {
        let sliding = K::DEFINITION.behaviour.sliding;
        sliding.then(|| pick(self.key.ttl(), K::DEFINITION.behaviour.jitter)).flatten()
    }
}

impl<K: Key, T> Handle<'_, K, T, Declared> {
    /// The TTL for a write, in milliseconds; `None` if the key never expires.
    pub(crate) fn ttl(&self) -> Option<u64> {
        match self.living {
            Some(living) => Some(u64::try_from(living.as_millis()).unwrap_or(u64::MAX).max(1)),
            None => pick(self.key.ttl(), K::DEFINITION.behaviour.jitter),
        }
    }
}

impl<'s, K: Key, T> Handle<'s, K, T, ByCaller> {
    /// The same key, to be written with this TTL: the application knows how long a token is valid.
    ///
    /// # Errors
    /// If it is zero, or longer than the schema allows.
    pub fn living(self, ttl: Duration) -> Result<Handle<'s, K, T, Declared>, Lifespan> {
        Lifespan::check(K::DEFINITION, ttl)?;
        let Handle { core, key, name, prefix, .. } = self;
        Ok(Handle { core, key, name, prefix, living: Some(ttl), kind: PhantomData })
    }
}

impl<K: Key, T, L> fmt::Debug for Handle<'_, K, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handle").field(&self.key).finish()
    }
}
