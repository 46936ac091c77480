//! Values that are read and written whole, of whatever type.

use super::error::Error;
use super::handle::{Handle, understand};
use super::lua::{Lua, lua};
use super::request::{Call, Calls, Request, is_nothing};
use super::write::{Command, Mode, about};
use crate::codec::NOT_OF_ITS_TYPE;
use crate::definition::Keep;
use crate::kind::{Declared, Flag, Hash, List, Set, SortedSet, Str};
use crate::{Codec, Definition, Fields, Key, Score};
use redis::{Cmd, Value};
use sealed::Stored;

static TAKE: Lua = lua!("names/take.lua");

/// How many arguments one command of a script gets; Lua takes some thousands.
pub(crate) const ARGS: usize = 1000;

/// A kind of key whose value can be read and written whole: `T::Value` is its type. Only the kinds of this
/// crate are.
pub trait Whole: sealed::Stored {}

impl<T: sealed::Stored> Whole for T {}

pub(crate) mod sealed {
    use super::{Cmd, Command, Definition, Error, Value};

    /// How a value is read and written.
    pub trait Stored {
        /// The value.
        type Value: Clone + Send + Sync + 'static;

        /// Whether one command reads several keys, as MGET does for strings.
        const AT_ONCE: bool = false;

        /// The command that reads it.
        fn asking(name: &str) -> Cmd;

        /// The value in an answer; `None` if there is none.
        fn decode(
            definition: &'static Definition,
            answer: Value,
        ) -> Result<Option<Self::Value>, Error>;

        /// The commands that write it; none if there is nothing to write, as for an empty list.
        fn encode(
            definition: &'static Definition,
            value: &Self::Value,
        ) -> Result<Vec<Command>, Error>;

        /// The command that writes it, TTL and all, where one can; only a string has it.
        fn at_once(_: &str, _: Option<u64>, _: &Command) -> Option<Cmd> {
            None
        }
    }
}

fn malformed(definition: &'static Definition, why: impl Into<String>) -> Error {
    Error::Malformed { definition: definition.name, field: None, why: why.into() }
}

fn parts<T: redis::FromRedisValue>(
    definition: &'static Definition,
    answer: Value,
) -> Result<T, Error> {
    redis::from_redis_value(answer).map_err(|_| malformed(definition, NOT_OF_ITS_TYPE))
}

fn read_all<V, C: Codec<V>>(
    definition: &'static Definition,
    answer: Value,
) -> Result<Option<Vec<V>>, Error> {
    let items: Vec<Vec<u8>> = parts(definition, answer)?;
    let items: Result<Vec<V>, String> = items.iter().map(|bytes| C::decode(bytes)).collect();
    let items = items.map_err(|why| malformed(definition, why))?;
    Ok((!items.is_empty()).then_some(items))
}

/// One command for every thousand arguments.
pub(crate) fn in_turn(name: &str, args: &[Vec<u8>]) -> Vec<Command> {
    let chunks = args.chunks(ARGS);
    chunks.map(|chunk| Command::new(name).arg(chunk)).collect()
}

impl<V: Clone + Send + Sync + 'static, C: Codec<V>> Stored for Str<V, C> {
    type Value = V;

    const AT_ONCE: bool = true;

    fn asking(name: &str) -> Cmd {
        about("GET", name)
    }

    fn decode(definition: &'static Definition, answer: Value) -> Result<Option<V>, Error> {
        match answer {
            Value::Nil => Ok(None),
            Value::BulkString(bytes) => {
                C::decode_owned(bytes).map(Some).map_err(|why| malformed(definition, why))
            }
            other => {
                let bytes: Vec<u8> = parts(definition, other)?;
                C::decode(&bytes).map(Some).map_err(|why| malformed(definition, why))
            }
        }
    }

    fn encode(definition: &'static Definition, value: &V) -> Result<Vec<Command>, Error> {
        let bytes = C::encode(value).map_err(|why| malformed(definition, why))?;
        if let Some(max) = definition.behaviour.max_bytes
            && bytes.len() as u64 > max
        {
            return Err(malformed(
                definition,
                format!("it has {} bytes, and {max} are the most", bytes.len()),
            ));
        }
        Ok(vec![Command(vec![b"SET".to_vec(), bytes])])
    }

    fn at_once(name: &str, ttl: Option<u64>, command: &Command) -> Option<Cmd> {
        let mut cmd = about("SET", name);
        cmd.arg(command.0.get(1)?.as_slice());
        if let Some(ttl) = ttl {
            cmd.arg("PX").arg(ttl);
        }
        Some(cmd)
    }
}

/// A flag is stored as a string is.
impl<V: Clone + Send + Sync + 'static, C: Codec<V>, O> Stored for Flag<V, C, O> {
    type Value = V;

    const AT_ONCE: bool = true;

    fn asking(name: &str) -> Cmd {
        <Str<V, C>>::asking(name)
    }

    fn decode(definition: &'static Definition, answer: Value) -> Result<Option<V>, Error> {
        <Str<V, C>>::decode(definition, answer)
    }

    fn encode(definition: &'static Definition, value: &V) -> Result<Vec<Command>, Error> {
        <Str<V, C>>::encode(definition, value)
    }

    fn at_once(name: &str, ttl: Option<u64>, command: &Command) -> Option<Cmd> {
        <Str<V, C>>::at_once(name, ttl, command)
    }
}

impl<F: Fields + Clone + Send + Sync + 'static> Stored for Hash<F> {
    type Value = F;

    fn asking(name: &str) -> Cmd {
        about("HGETALL", name)
    }

    fn decode(definition: &'static Definition, answer: Value) -> Result<Option<F>, Error> {
        let pairs: Vec<(Vec<u8>, Vec<u8>)> = parts(definition, answer)?;
        if pairs.is_empty() {
            return Ok(None);
        }
        F::from_owned_pairs(pairs).map(Some).map_err(Error::from)
    }

    fn encode(_: &'static Definition, value: &F) -> Result<Vec<Command>, Error> {
        let pairs = value.to_pairs()?;
        let mut commands = Vec::new();
        for chunk in pairs.chunks(ARGS / 2) {
            let mut command = Command::new("HSET");
            for (name, value) in chunk {
                command = command.arg(name.as_slice()).arg(value.as_slice());
            }
            commands.push(command);
        }
        let names = pairs.iter().map(|(name, _)| name.as_slice());
        commands.extend(super::hash::field_ttls::<F>(names));
        Ok(commands)
    }
}

impl<V: Clone + Send + Sync + 'static, C: Codec<V>> Stored for List<V, C> {
    type Value = Vec<V>;

    fn asking(name: &str) -> Cmd {
        let mut cmd = about("LRANGE", name);
        cmd.arg(0).arg(-1);
        cmd
    }

    fn decode(definition: &'static Definition, answer: Value) -> Result<Option<Vec<V>>, Error> {
        read_all::<V, C>(definition, answer)
    }

    fn encode(definition: &'static Definition, value: &Vec<V>) -> Result<Vec<Command>, Error> {
        let most = super::list::trimmed_to(definition).and_then(|max| usize::try_from(max).ok());
        let over = value.len().saturating_sub(most.unwrap_or(usize::MAX));
        let kept = match definition.behaviour.keep {
            Some(Keep::Last) => &value[over..],
            _ => &value[..value.len() - over],
        };
        let items: Result<Vec<Vec<u8>>, String> = kept.iter().map(C::encode).collect();
        Ok(in_turn("RPUSH", &items.map_err(|why| malformed(definition, why))?))
    }
}

impl<M: Clone + Send + Sync + 'static, C: Codec<M>> Stored for Set<M, C> {
    type Value = Vec<M>;

    fn asking(name: &str) -> Cmd {
        about("SMEMBERS", name)
    }

    fn decode(definition: &'static Definition, answer: Value) -> Result<Option<Vec<M>>, Error> {
        read_all::<M, C>(definition, answer)
    }

    fn encode(definition: &'static Definition, value: &Vec<M>) -> Result<Vec<Command>, Error> {
        let items: Result<Vec<Vec<u8>>, String> = value.iter().map(C::encode).collect();
        Ok(in_turn("SADD", &items.map_err(|why| malformed(definition, why))?))
    }
}

impl<M: Clone + Send + Sync + 'static, C: Codec<M>, S: Score> Stored for SortedSet<M, C, S> {
    type Value = Vec<(M, S)>;

    fn asking(name: &str) -> Cmd {
        let mut cmd = about("ZRANGE", name);
        cmd.arg(0).arg(-1).arg("WITHSCORES");
        cmd
    }

    fn decode(
        definition: &'static Definition,
        answer: Value,
    ) -> Result<Option<Vec<(M, S)>>, Error> {
        let pairs = super::sorted_set::pairs::<M, C, S>(definition, answer)?;
        Ok((!pairs.is_empty()).then_some(pairs))
    }

    fn encode(definition: &'static Definition, value: &Vec<(M, S)>) -> Result<Vec<Command>, Error> {
        let members = value.iter().map(|(member, score)| (member, score.clone()));
        let mut commands = super::sorted_set::setting::<M, C, S>(definition, members)?;
        if !commands.is_empty() {
            commands.extend(super::sorted_set::trim(definition));
        }
        Ok(commands)
    }
}

impl<'s, K: Key, T: Whole, L> Handle<'s, K, T, L> {
    /// The value, whole; `None` if there is none.
    ///
    /// # Errors
    /// If the server cannot be asked, or if what it holds is not what was declared.
    pub fn get(&self) -> Request<'s, Option<T::Value>> {
        if let Some(value) = self.core.l1.get(&self.names.name) {
            return Request::known(self.core, K::NAME, Ok(Some(value)));
        }
        // What is due to be loaded again is not kept, and this does not ask whether it is.
        let reading = self.l1_reading().filter(|_| !K::DEFINITION.behaviour.refreshed);
        match reading {
            None => self.read_renewing(T::asking, |answer| T::decode(K::DEFINITION, answer)),
            Some(reading) => self.look(true).map(move |seen| {
                if let Some(value) = &seen.value {
                    reading.keep(value, seen.left);
                }
                Ok(seen.value)
            }),
        }
    }

    /// The value, which is gone afterwards, with all that Keyward has derived from it: of all who ask at
    /// once, one gets it. A load that has begun does not put it back.
    ///
    /// # Errors
    /// If the server cannot be asked, or if what it held is not what was declared: it is gone then too. If
    /// the answer is lost ([`Error::Unknown`]), it may be gone without anybody having it.
    pub fn take(&self) -> Request<'s, Option<T::Value>> {
        if let Err(error) = self.in_one_slot() {
            return Request::known(self.core, K::NAME, Err(error));
        }
        let names = self.names_with_left();
        let names = names.to_remove();
        let (near, far) = names.by_slot(self.core.is_cluster());
        // All others are in one slot: these are what no store reads any more. They go first, so that no plan can bring back
        // what was taken.
        let far = far.iter().map(|name| Call::changing(about("UNLINK", name)).repeatable());
        let mut calls = Calls::one(self.taking(&near));
        calls.before.extend(far);
        calls.changes = self.changes();
        Request::new(self.core, K::DEFINITION, calls, |answers| match answers.first {
            answer if is_nothing(&answer) => Ok(None),
            answer => T::decode(K::DEFINITION, answer),
        })
    }

    /// What takes the value, and removes these names besides the one that counts.
    fn taking(&self, others: &[&str]) -> Call {
        let names = &self.names;
        let fallbacks = names.fallbacks();
        let asked =
            std::iter::once(names.name.as_str()).chain(fallbacks.iter().map(String::as_str));
        let copies = others.iter().copied().filter(|name| !fallbacks.iter().any(|it| it == name));
        let all = std::iter::once(names.name.as_str()).chain(others.iter().copied());
        let beside = |name| super::emit::BESIDE.map(|word| names.derived_of(name, word));
        let beside: Vec<String> = all.flat_map(beside).flatten().collect();
        // On a cluster an index is on another node, and keeps the name until its time is over.
        let indexes = if self.core.is_cluster() { &[][..] } else { &self.indexes };
        let mut keys: Vec<&str> = asked.chain(copies).collect();
        keys.extend(beside.iter().chain(indexes).map(String::as_str));
        let asking = Command::without_key(&T::asking(&names.name));
        TAKE.call(&keys, |cmd| {
            let asked = 1 + names.fallbacks().len();
            cmd.arg(asked).arg(indexes.len()).arg(names.own()).arg(asking.0);
        })
    }

    /// The value, and how long it will live if that is wanted.
    pub(crate) fn look(&self, with_ttl: bool) -> Request<'s, Seen<T::Value>> {
        let ask = |name: &str| {
            let left = with_ttl.then(|| Call::reading(about("PTTL", name)));
            (T::asking(name), left.into_iter().chain(self.renewal(name)).collect())
        };
        self.ask(ask, move |mut answers| {
            let left =
                if with_ttl { understand::<i64, K>(answers.rest.swap_remove(0))? } else { -1 };
            let value = T::decode(K::DEFINITION, answers.first)?;
            Ok(Seen { value, left: u64::try_from(left).ok() })
        })
        .then(self.far_renewals())
    }
}

/// A value as the server has it.
pub(crate) struct Seen<V> {
    pub(crate) value: Option<V>,
    /// How long it will live, in milliseconds, if that was asked and it ends
    pub(crate) left: Option<u64>,
}

impl<'s, K: Key, T: Whole> Handle<'s, K, T, Declared> {
    /// Writes the value with its TTL, in one step, in place of what was there.
    ///
    /// A server cannot store an empty collection: writing one removes the key. Of a list that is longer
    /// than the schema allows, the first items are kept, or with `keep = "last"` the last ones.
    pub fn set(&self, value: &T::Value) -> Request<'s, ()> {
        let commands = match T::encode(K::DEFINITION, value) {
            Ok(commands) => commands,
            Err(error) => return Request::known(self.core, K::NAME, Err(error)),
        };
        let behaviour = &K::DEFINITION.behaviour;
        let plain = self.names.others.is_empty()
            && self.indexes.is_empty()
            && !behaviour.keep_ttl
            && behaviour.stale_ms.is_none()
            && !behaviour.refreshed
            && behaviour.negative_ms.is_none();
        if plain
            && let [command] = commands.as_slice()
            && let Some(cmd) = T::at_once(&self.names.name, self.ttl(), command)
        {
            let calls = Calls { changes: self.changes(), ..Calls::one(Call::changing(cmd)) };
            return Request::new(self.core, K::DEFINITION, calls, |_| Ok(()));
        }
        self.write(Mode::Whole, commands).map(|_| Ok(()))
    }

    /// The same, unless there is a value already; whether it was written. An empty collection is never
    /// written: the answer is `false`.
    pub fn set_if_absent(&self, value: &T::Value) -> Request<'s, bool> {
        match T::encode(K::DEFINITION, value) {
            Ok(commands) if commands.is_empty() => Request::known(self.core, K::NAME, Ok(false)),
            Ok(commands) => self.write(Mode::Absent, commands).map(|answers| Ok(answers.is_some())),
            Err(error) => Request::known(self.core, K::NAME, Err(error)),
        }
    }
}
