//! A key at a store.

use super::core::Core;
use super::emit;
use super::error::Error;
use super::lua::{Lua, lua};
use super::names::Names;
use super::names::course;
use super::queue;
use super::request::{Answers, Call, Calls, Follow, Group, Request};
use super::ttl::{Lifespan, pick};
use super::write::{Command, Mode, Write, about, note_in_indexes};
use crate::codec::NOT_OF_ITS_TYPE;
use crate::kind::{ByCaller, Declared};
use crate::{Definition, Key, Keyspace};
use keyward_pattern::slot;
use redis::{FromRedisValue, Value};
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

static RENEW: Lua = lua!("names/renew.lua");

type PrefixOf<K> = <<K as Key>::Keyspace as Keyspace>::Prefix;

/// A key at a store: what can be done to it depends on its kind `T`, and writing on whether its
/// lifetime `L` is known.
///
/// Most methods give a [`Request`]: `.await` it, or put it into a [`Pipeline`](crate::Pipeline).
pub struct Handle<'s, K: Key, T, L> {
    pub(crate) core: &'s Core,
    pub(crate) key: K,
    pub(crate) names: Names,
    pub(crate) prefix: PrefixOf<K>,
    /// The indexes that must know of it
    pub(crate) indexes: Vec<String>,
    /// What the caller said, where the schema leaves it to the caller
    living: Option<Duration>,
    limit: Option<u64>,
    kind: PhantomData<fn() -> (T, L)>,
}

impl<'s, K: Key, T, L> Handle<'s, K, T, L> {
    pub(crate) fn new(core: &'s Core, key: K, prefix: &PrefixOf<K>) -> Self {
        core.link.announced.learn(K::Keyspace::ANNOUNCEMENT);
        let names = Names::new(&key, prefix);
        let indexes = emit::indexes_of(&key, prefix, &names);
        let prefix = prefix.clone();
        Handle { core, key, names, prefix, indexes, living: None, limit: None, kind: PhantomData }
    }

    /// What it is made of, for a task that outlives it.
    pub(crate) fn parts(&self) -> (K, PrefixOf<K>, Option<Duration>) {
        (self.key.clone(), self.prefix.clone(), self.living)
    }

    /// The same key, from its parts.
    pub(crate) fn again(
        core: &'s Core,
        (key, prefix, living): (K, PrefixOf<K>, Option<Duration>),
    ) -> Self {
        Handle { living, ..Handle::new(core, key, &prefix) }
    }

    /// The same key, as one that can do something else.
    fn retyped<T2, L2>(self) -> Handle<'s, K, T2, L2> {
        let Handle { core, key, names, prefix, indexes, living, limit, .. } = self;
        Handle { core, key, names, prefix, indexes, living, limit, kind: PhantomData }
    }

    /// The same key with the caller's limit.
    pub(crate) fn bounded<T2>(self, limit: u64) -> Handle<'s, K, T2, L> {
        Handle { limit: Some(limit), ..self.retyped() }
    }

    /// The limit: the caller's where the schema leaves it to the caller, otherwise the schema's.
    pub(crate) fn limit(&self) -> u64 {
        self.limit.or(K::DEFINITION.behaviour.limit).unwrap_or(0)
    }

    /// What the schema says about the key.
    pub fn definition(&self) -> &'static Definition {
        K::DEFINITION
    }

    /// The key as the server sees it; while a migration lasts, the name that counts.
    pub fn name(&self) -> &str {
        &self.names.name
    }

    /// Whether there is such a key.
    pub fn exists(&self) -> Request<'s, bool> {
        self.read("EXISTS", |_| {})
    }

    /// How long it will still live; `None` if it is not there, or never expires.
    pub fn remaining(&self) -> Request<'s, Option<Duration>> {
        self.read::<i64>("PTTL", |_| {})
            .map(|left| Ok(u64::try_from(left).ok().map(Duration::from_millis)))
    }

    /// Removes it, with all that Keyward has derived from it; whether it was there. A load that has
    /// begun does not put it back.
    pub fn delete(&self) -> Request<'s, bool> {
        let more = queue::words(K::DEFINITION);
        let names = self.names_with_left();
        let calls = course::forget(&names, more, &self.indexes, self.core.is_cluster());
        let calls = Calls { changes: self.changes(), ..calls };
        Request::new(self.core, K::DEFINITION, calls, |answers| Ok(emit::was_there(&answers)))
    }

    /// Its names, with those that are left of migrations which are over.
    pub(crate) fn names_with_left(&self) -> Names {
        let names = self.names.clone();
        names.leaving::<K::Keyspace>(K::DEFINITION, &self.prefix, || self.key.values())
    }

    /// Drops what the process keeps of the key; its name, where that is to be done again when the server
    /// has answered.
    pub(crate) fn changes(&self) -> Option<String> {
        K::DEFINITION.behaviour.l1_ms?;
        self.core.l1.remove(&self.names.name);
        Some(self.names.name.clone())
    }

    /// Asks something about the key, under each of its names until one has an answer.
    pub(crate) fn read<R: FromRedisValue + Send + 's>(
        &self,
        command: &str,
        args: impl Fn(&mut redis::Cmd),
    ) -> Request<'s, R> {
        let ask = |name: &str| {
            let mut cmd = about(command, name);
            args(&mut cmd);
            (cmd, Vec::new())
        };
        self.ask(ask, |answers| understand::<R, K>(answers.first))
    }

    /// The same with several commands.
    pub(crate) fn ask<R: Send + 's>(
        &self,
        ask: impl Fn(&str) -> (redis::Cmd, Vec<Call>),
        read: impl FnOnce(Answers) -> Result<R, Error> + Send + 's,
    ) -> Request<'s, R> {
        if self.names.fallbacks().is_empty() {
            let (first, rest) = ask(&self.names.name);
            let mut calls = Calls::group(Call::reading(first), rest);
            calls.uses = self.names.read_by(K::NAME);
            return Request::new(self.core, K::DEFINITION, calls, read);
        }
        // Whether the key is there decides, not what is asked about it: a member that is not in it, or
        // is the first in it, says nothing about other names.
        let ask = |name: &str| {
            let (first, mut rest) = ask(name);
            rest.insert(0, Call::reading(first));
            Group { first: Call::reading(about("EXISTS", name)), rest }
        };
        let Group { mut first, rest } = ask(&self.names.name);
        // What was removed is gone, even if another slot does not know it yet.
        if !self.names.far_fallbacks(self.core.is_cluster()).is_empty() {
            first.cmd.arg(self.names.derived("version"));
        }
        let mut calls = Calls::group(first, rest);
        calls.otherwise = self.names.fallbacks().iter().map(|name| ask(name)).collect();
        calls.uses = self.names.read_by(K::NAME);
        Request::new(self.core, K::DEFINITION, calls, |mut answers| {
            let first = answers.rest.remove(0);
            read(Answers { first, rest: answers.rest })
        })
    }

    /// A read that starts a sliding TTL again.
    pub(crate) fn read_renewing<R: Send + 's>(
        &self,
        ask: impl Fn(&str) -> redis::Cmd,
        read: impl FnOnce(Value) -> Result<R, Error> + Send + 's,
    ) -> Request<'s, R> {
        let ask = |name: &str| (ask(name), self.renewal(name));
        self.ask(ask, |answers| read(answers.first)).then(self.far_renewals())
    }

    /// The TTL that a read starts again, in milliseconds, if it does.
    pub(crate) fn sliding(&self) -> Option<u64> {
        let sliding = K::DEFINITION.behaviour.sliding;
        sliding.then(|| pick(self.key.ttl(), K::DEFINITION.behaviour.jitter)).flatten()
    }

    /// What starts the TTL again, behind a read, and lets indexes know how long the key may be there. All names in the
    /// slot of the one that was read expire together.
    pub(crate) fn renewal(&self, name: &str) -> Vec<Call> {
        let Some(ttl) = self.sliding() else { return Vec::new() };
        let stale = K::DEFINITION.behaviour.stale_ms.unwrap_or(0);
        // On a cluster an index is on another node.
        let cluster = self.core.is_cluster();
        let (mut calls, indexes) = if cluster {
            let live = ttl.saturating_add(stale);
            (note_in_indexes(&self.indexes, self.names.own(), live), &[][..])
        } else {
            (Vec::new(), self.indexes.as_slice())
        };
        if self.names.others.is_empty() && indexes.is_empty() {
            let mut cmd = about("PEXPIRE", name);
            cmd.arg(ttl);
            calls.push(Call::changing(cmd).repeatable());
            return calls;
        }
        let mut keys = vec![name];
        let near = |other: &&str| {
            *other != name && (!cluster || slot(other.as_bytes()) == slot(name.as_bytes()))
        };
        keys.extend(self.names.all().filter(near));
        let names = keys.len();
        keys.extend(indexes.iter().map(String::as_str));
        let args = |cmd: &mut redis::Cmd| {
            cmd.arg(names).arg(ttl).arg(self.names.own()).arg(stale);
        };
        calls.push(RENEW.call(&keys, args).repeatable());
        calls
    }

    /// What starts the TTL again in other slots, behind a read.
    pub(crate) fn far_renewals(&self) -> Vec<Follow> {
        let cluster = self.core.is_cluster();
        if !K::DEFINITION.behaviour.sliding || !self.names.is_split(cluster) {
            return Vec::new();
        }
        let renew = |name| Follow::renewed(Call::changing(about("PEXPIREAT", name)).repeatable());
        self.names.all().map(renew).collect()
    }

    /// Whether all names of the key can be changed in one step.
    ///
    /// # Errors
    /// If they cannot, and a change that depends on what is there would lose another one.
    pub(crate) fn in_one_slot(&self) -> Result<(), Error> {
        if self.names.is_split(self.core.is_cluster()) {
            return Err(Error::CrossesSlots { definition: K::NAME });
        }
        Ok(())
    }

    /// The same for a change that does not depend on what is there: only its version must be kept.
    pub(crate) fn in_step(&self) -> Result<(), Error> {
        if self.names.is_split(self.core.is_cluster()) && self.names.is_lonely() {
            return Err(Error::CrossesSlots { definition: K::NAME });
        }
        Ok(())
    }
}

impl<'s, K: Key, T> Handle<'s, K, T, Declared> {
    /// The TTL for a write, in milliseconds; `None` if the key never expires.
    pub(crate) fn ttl(&self) -> Option<u64> {
        match self.living {
            Some(living) => Some(u64::try_from(living.as_millis()).unwrap_or(u64::MAX).max(1)),
            None => pick(self.key.ttl(), K::DEFINITION.behaviour.jitter),
        }
    }

    /// A write by the script; the answers of its commands, or `None` if nothing was written.
    pub(crate) fn write(
        &self,
        mode: Mode,
        commands: Vec<Command>,
    ) -> Request<'s, Option<Vec<Value>>> {
        let behaviour = &K::DEFINITION.behaviour;
        self.write_with(mode, commands, behaviour.keep_ttl, behaviour.refuse_when_full)
    }

    /// The same, with what becomes of a TTL that is running and of what does not fit.
    pub(crate) fn write_with(
        &self,
        mode: Mode,
        commands: Vec<Command>,
        keep_ttl: bool,
        refuse: bool,
    ) -> Request<'s, Option<Vec<Value>>> {
        let fits = if mode == Mode::Whole { self.in_step() } else { self.in_one_slot() };
        if let Err(error) = fits {
            return Request::known(self.core, K::NAME, Err(error));
        }
        let write = Write {
            definition: K::DEFINITION,
            names: &self.names,
            indexes: &self.indexes,
            mode,
            commands,
            ttl: self.ttl(),
            token: None,
            keep_ttl,
            refuse,
        };
        let calls = Calls { changes: self.changes(), ..write.calls(self.core) };
        let read = |answers: Answers| written::<K>(answers.first);
        Request::new(self.core, K::DEFINITION, calls, read)
    }
}

impl<'s, K: Key, T> Handle<'s, K, T, ByCaller> {
    /// The same key, to be written with this TTL: the application knows how long a token is valid.
    ///
    /// # Errors
    /// If it is zero, or longer than the schema allows.
    pub fn living(self, ttl: Duration) -> Result<Handle<'s, K, T, Declared>, Lifespan> {
        Lifespan::check(K::DEFINITION, ttl)?;
        Ok(Handle { living: Some(ttl), ..self.retyped() })
    }
}

/// Reads an answer, which is of the type that the command promises.
pub(crate) fn understand<R: FromRedisValue, K: Key>(answer: Value) -> Result<R, Error> {
    R::from_redis_value(answer).map_err(|_| malformed::<K>(NOT_OF_ITS_TYPE))
}

pub(crate) fn malformed<K: Key>(why: impl Into<String>) -> Error {
    Error::Malformed { definition: K::DEFINITION.name, field: None, why: why.into() }
}

/// What the script that writes has answered.
pub(crate) fn written<K: Key>(answer: Value) -> Result<Option<Vec<Value>>, Error> {
    let Value::Array(mut parts) = answer else {
        return Err(malformed::<K>("the server's answer to a write is not a list"));
    };
    match (parts.first(), parts.len()) {
        (Some(Value::Int(1)), 2..) => match parts.swap_remove(1) {
            Value::Array(answers) => Ok(Some(answers)),
            other => Ok(Some(vec![other])),
        },
        (Some(Value::Int(-1)), _) => Err(Error::Full {
            definition: K::DEFINITION.name,
            max_len: K::DEFINITION.behaviour.max_len.unwrap_or(0),
        }),
        _ => Ok(None),
    }
}

impl<K: Key, T, L> fmt::Debug for Handle<'_, K, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handle").field(&self.key).finish()
    }
}
