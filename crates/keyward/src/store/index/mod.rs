//! Indexes: sets whose members are found by what the sets are named after, and a reverse that knows the sets of a member.
//!
//! Where one script reaches them, sets and reverse change in one step. Otherwise the reverse goes first and leads: it holds
//! every set that *may* hold the member, so that the next change or a rebuild removes what a crash left. Each change has a
//! version, the later one wins in every set, and sets gain the member before others lose it: a search may show a member too
//! many, and misses none.

mod change;
mod rebuild;
mod search;

pub use rebuild::{Rebuild, Rebuilt};

use super::core::Core;
use super::error::Error;
use super::handle::{Handle, malformed, understand};
use super::names::Names;
use super::request::Request;
use super::ttl::pick;
use super::write::about;
use super::{Prefixed, Store};
use crate::definition::IndexOptions;
use crate::generated::{build_one, read_bare};
use crate::kind::{Declared, Index};
use crate::{Codec, Definition, Fixed, Key, Keyspace, ParamValue as _, Prefix};
use change::{Change, Only};
use std::fmt;
use std::marker::PhantomData;

/// All sets of an index: [`Store::index`].
pub struct Indexes<'s, K: Key> {
    core: &'s Core,
    prefix: <K::Keyspace as Keyspace>::Prefix,
    of: PhantomData<fn() -> K>,
}

impl Store {
    /// All sets of an index.
    pub fn index<K>(&self) -> Indexes<'_, K>
    where
        K: Key<Keyspace: Keyspace<Prefix: Fixed>>,
    {
        Indexes { core: &self.core, prefix: Default::default(), of: PhantomData }
    }
}

impl<P: Prefix> Prefixed<P> {
    /// See [`Store::index`].
    pub fn index<K>(&self) -> Indexes<'_, K>
    where
        K: Key<Keyspace: Keyspace<Prefix = P>>,
    {
        Indexes { core: &self.store.core, prefix: self.prefix.clone(), of: PhantomData }
    }
}

impl<'s, K: Key, M: Send + 's, C: Codec<M>, R, L> Handle<'s, K, Index<M, C, R>, L> {
    /// All members of the set.
    pub fn get(&self) -> Request<'s, Vec<M>> {
        self.read::<Vec<Vec<u8>>>("SMEMBERS", |_| {}).map(|members| decode_all::<K, M, C>(members))
    }

    /// Whether it has this member.
    pub fn contains(&self, member: &M) -> Request<'s, bool> {
        match C::encode(member) {
            Ok(member) => self.read("SISMEMBER", |cmd| _ = cmd.arg(&member)),
            Err(why) => Request::known(self.core, K::NAME, Err(malformed::<K>(why))),
        }
    }

    /// How many members there are.
    pub fn len(&self) -> Request<'s, u64> {
        self.read("SCARD", |_| {})
    }
}

impl<K: Key, M: Send, C: Codec<M>, R> Handle<'_, K, Index<M, C, R>, Declared> {
    /// Puts a member into the set, and the set into the member's reverse.
    ///
    /// # Errors
    /// [`Error::Full`] if there is no room. After [`Error::Unknown`] call it again: it happens once.
    pub async fn put(&self, member: &M) -> Result<(), Error> {
        self.all().change::<M, C>(member, vec![self.key.clone()], Vec::new()).await
    }

    /// Removes a member from the set, and the set from the member's reverse.
    pub async fn remove(&self, member: &M) -> Result<(), Error> {
        self.all().change::<M, C>(member, Vec::new(), vec![self.key.clone()]).await
    }

    /// Moves a member to another set. A search finds it in one of them at any time, or in both.
    ///
    /// # Errors
    /// As [`put`](Handle::put).
    pub async fn move_to(&self, member: &M, to: &K) -> Result<(), Error> {
        if *to == self.key {
            return self.put(member).await;
        }
        self.all().change::<M, C>(member, vec![to.clone()], vec![self.key.clone()]).await
    }

    fn all(&self) -> Indexes<'_, K> {
        Indexes { core: self.core, prefix: self.prefix.clone(), of: PhantomData }
    }
}

impl<K, M, C, R> Indexes<'_, K>
where
    K: Key<Kind = Index<M, C, R>>,
    M: Send,
    C: Codec<M>,
    R: Key<Keyspace = K::Keyspace>,
{
    /// Puts a member into these sets, and removes it from all others that its reverse names.
    ///
    /// # Errors
    /// [`Error::Full`] if there is no room. After [`Error::Unknown`] call it again: it happens once.
    pub async fn assign(&self, member: &M, sets: impl IntoIterator<Item = K>) -> Result<(), Error> {
        let sets = sets.into_iter().collect();
        self.core.noting(K::DEFINITION, self.assign_now::<M, C>(member, sets)).await
    }
}

impl<K: Key> Indexes<'_, K> {
    async fn change<M, C: Codec<M>>(
        &self,
        member: &M,
        gaining: Vec<K>,
        losing: Vec<K>,
    ) -> Result<(), Error> {
        let changing = async {
            let member = C::encode(member).map_err(malformed::<K>)?;
            let reverse = self.reverse(&member)?;
            let (gaining, losing) = (self.places(&gaining)?, self.places(&losing)?);
            Change {
                core: self.core,
                index: K::DEFINITION,
                member,
                reverse,
                gaining,
                losing,
                strays: Vec::new(),
            }
            .run(Only::Always)
            .await
        };
        self.core.noting(K::DEFINITION, changing).await
    }

    async fn assign_now<M, C: Codec<M>>(&self, member: &M, sets: Vec<K>) -> Result<(), Error> {
        let member = C::encode(member).map_err(malformed::<K>)?;
        let reverse = self
            .reverse(&member)?
            .ok_or_else(|| Error::Settings(format!("the index `{}` has no reverse", K::NAME)))?;
        self.assign_bytes(member, reverse, &sets).await
    }

    /// Makes these sets the only ones of a member.
    async fn assign_bytes(
        &self,
        member: Vec<u8>,
        reverse: Reverse,
        sets: &[K],
    ) -> Result<(), Error> {
        let mut gaining = self.places(sets)?;
        gaining.sort_by(|a, b| a.word.cmp(&b.word));
        gaining.dedup_by(|a, b| a.word == b.word);
        let change = Change {
            core: self.core,
            index: K::DEFINITION,
            member,
            reverse: Some(reverse),
            gaining,
            losing: Vec::new(),
            strays: Vec::new(),
        };
        change.assign(|word| self.place(&Self::set_of(word)?).ok()).await
    }

    /// The set that a reverse means.
    fn set_of(word: &str) -> Option<K> {
        if options::<K>().reverse_holds_keys {
            return K::from_normal(word);
        }
        let [param] = K::DEFINITION.params else { return None };
        build_one(&[(param.name, word)]).ok()
    }

    fn places(&self, keys: &[K]) -> Result<Vec<Place>, Error> {
        keys.iter().map(|key| self.place(key)).collect()
    }

    fn place(&self, key: &K) -> Result<Place, Error> {
        let names = Names::new(key, &self.prefix);
        let changes = names.derived("changes").ok_or_else(|| beside(K::NAME))?;
        let word = if options::<K>().reverse_holds_keys {
            let mut bare = String::with_capacity(key.bare_len());
            key.write_bare(&mut bare);
            bare
        } else {
            key.values().into_iter().next().unwrap_or_default()
        };
        Ok(Place { name: names.name, changes, word })
    }

    /// The reverse of a member, if the index has one.
    fn reverse(&self, member: &[u8]) -> Result<Option<Reverse>, Error> {
        let link = K::DEFINITION.links.iter().find(|link| link.what == "reverse");
        let definitions = <K::Keyspace as Keyspace>::DEFINITIONS;
        let Some(definition) = link.and_then(|link| definitions.get(link.number as usize)) else {
            return Ok(None);
        };
        let text = std::str::from_utf8(member)
            .map_err(|_| malformed::<K>("a member that is not text has no reverse"))?;
        let mut given: Vec<(String, String)> = Vec::new();
        if options::<K>().holds_keys {
            let key = read_bare::<K::Keyspace>(text)
                .ok_or_else(|| malformed::<K>("a member is not a key of this schema"))?;
            for (param, value) in key.definition().params.iter().zip(key.values()) {
                given.push((format!("{}_{}", key.definition().name, param.name), value.clone()));
                given.push((param.name.to_owned(), value));
            }
        } else if let [param] = definition.params {
            given.push((param.name.to_owned(), text.to_owned()));
        }
        let value = |param: &crate::Param| given.iter().find(|(name, _)| *name == param.name);
        let values: Vec<(&str, &str)> = definition
            .params
            .iter()
            .filter_map(|param| Some((param.name, value(param)?.1.as_str())))
            .collect();
        let key =
            crate::generated::build::<K::Keyspace>(definition.name, &values).map_err(|error| {
                Error::Settings(format!(
                    "`{}` needs a key of `{}`: {error}",
                    K::NAME,
                    definition.name
                ))
            })?;
        let names = Names::of(&key, &self.prefix);
        let versions = names.derived("versions").ok_or_else(|| beside(definition.name))?;
        Ok(Some(Reverse { definition, name: names.name, versions }))
    }
}

/// A set that gains or loses a member.
#[derive(Debug, Clone)]
struct Place {
    name: String,
    /// The key beside it that holds its last changes
    changes: String,
    /// What a reverse holds of it
    word: String,
}

/// The reverse of a member.
#[derive(Debug, Clone)]
struct Reverse {
    definition: &'static Definition,
    name: String,
    /// The key beside it that holds the versions of its last changes
    versions: String,
}

/// The bound, the TTL and whether a TTL that runs is kept, as scripts read them.
fn bounds(definition: &'static Definition) -> [u64; 3] {
    let behaviour = &definition.behaviour;
    [
        behaviour.max_len.unwrap_or(0),
        pick(definition.ttl, behaviour.jitter).unwrap_or(0),
        u64::from(behaviour.keep_ttl),
    ]
}

fn options<K: Key>() -> IndexOptions {
    K::DEFINITION.behaviour.index.unwrap_or(IndexOptions::new())
}

fn beside(definition: &str) -> Error {
    Error::Settings(format!("no key can stand beside one of `{definition}` in its slot"))
}

fn decode_all<K: Key, M, C: Codec<M>>(members: Vec<Vec<u8>>) -> Result<Vec<M>, Error> {
    members.into_iter().map(|bytes| C::decode_owned(bytes).map_err(malformed::<K>)).collect()
}

/// The members of a set, as bytes.
async fn members<K: Key>(core: &Core, name: &str) -> Result<Vec<Vec<u8>>, Error> {
    let answer = core.ask(&about("SMEMBERS", name)).await?;
    understand::<_, K>(answer)
}

impl<K: Key> fmt::Debug for Indexes<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexes").field("definition", &K::NAME).finish_non_exhaustive()
    }
}
