//! All sessions of a definition: with an id of the store's choice, and those of one user.

use super::super::core::Core;
use super::super::error::Error;
use super::super::handle::{Handle, understand};
use super::super::lua::{Lua, lua};
use super::super::names::Names;
use super::super::random::fitting;
use super::super::whole::Whole;
use super::super::{Prefixed, Store};
use super::keys::{Listing, Revocations, named, session_of, with_id};
use super::{longest, options};
use crate::kind::{Declared, Session};
use crate::{Fixed, Key, Keyspace, Prefix};
use futures_util::future::{join_all, try_join_all};
use std::fmt;
use std::marker::PhantomData;

static MEMBERS: Lua = lua!("full.lua", "now.lua", "members.lua");

/// How many sessions are asked for in one go.
const AT_ONCE: usize = 256;
/// How often the sessions of a user are looked for before it is given up: more come than are revoked.
const PASSES: usize = 1000;

/// The sessions of one definition: [`Store::sessions`].
pub struct Sessions<'s, K: Key> {
    core: &'s Core,
    prefix: <K::Keyspace as Keyspace>::Prefix,
    of: PhantomData<fn() -> K>,
}

impl Store {
    /// The sessions of a definition.
    pub fn sessions<K>(&self) -> Sessions<'_, K>
    where
        K: Key<Keyspace: Keyspace<Prefix: Fixed>>,
    {
        Sessions { core: &self.core, prefix: Default::default(), of: PhantomData }
    }
}

impl<P: Prefix> Prefixed<P> {
    /// See [`Store::sessions`].
    pub fn sessions<K>(&self) -> Sessions<'_, K>
    where
        K: Key<Keyspace: Keyspace<Prefix = P>>,
    {
        Sessions { core: &self.store.core, prefix: self.prefix.clone(), of: PhantomData }
    }
}

impl<'s, K, T, I> Sessions<'s, K>
where
    K: Key<Kind = Session<T, I>>,
    T: Whole,
{
    /// Makes a session with a random id of 256 bits, and lists it in the index of its user. Its key holds the id.
    ///
    /// # Errors
    /// If no random id fits the type of the parameter, or the key has other parameters: then give the id, with
    /// [`create`](Handle::create) of the key and [`random_id`](crate::random_id). [`Error::Full`] if the index has
    /// no room. [`Error::Revoked`] if all sessions of the user are being revoked.
    pub async fn create(&self, value: &T::Value) -> Result<K, Error>
    where
        K: Key<Lifetime = Declared>,
    {
        let key: K = fitting(|id| with_id(id, &[]))?;
        let handle = self.at::<Declared>(key);
        self.core.noting(K::DEFINITION, handle.make(value, true)).await?;
        Ok(handle.key)
    }

    fn at<L>(&self, key: K) -> Handle<'s, K, Session<T, I>, L> {
        Handle::new(self.core, key, &self.prefix)
    }
}

impl<K, T, I> Sessions<'_, K>
where
    K: Key<Kind = Session<T, I>>,
    T: Whole,
    I: Key<Keyspace = K::Keyspace>,
{
    /// The live sessions that an index lists, in no order. One that cannot be read is left out, and is logged and counted as an
    /// error: [`list_each`](Sessions::list_each) names it.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn list(&self, of: &I) -> Result<Vec<(K, T::Value)>, Error> {
        let each = self.list_each(of).await?;
        Ok(each.into_iter().filter_map(|(key, it)| Some((key, it.ok()?))).collect())
    }

    /// The same with the sessions that cannot be read, each with the reason: a key of another type, or a value that is not
    /// what the schema declares. They can be revoked as any other.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub async fn list_each(&self, of: &I) -> Result<Vec<(K, Result<T::Value, Error>)>, Error> {
        self.core.noting(K::DEFINITION, self.list_now(of)).await
    }

    async fn list_now(&self, of: &I) -> Result<Vec<(K, Result<T::Value, Error>)>, Error> {
        let (_, members) = self.members(of).await?;
        let known = named(of);
        let keys = members.iter().filter_map(|member| session_of::<K>(member, &known));
        let mut found = Vec::new();
        for keys in keys.collect::<Vec<_>>().chunks(AT_ONCE) {
            let asked =
                keys.iter().map(|key| self.at::<K::Lifetime>(key.clone()).get().into_future());
            for (key, value) in keys.iter().zip(join_all(asked).await) {
                let value = match value {
                    Err(error @ (Error::Malformed { .. } | Error::WrongType { .. })) => Err(error),
                    value => match value? {
                        Some(value) => Ok(value),
                        None => continue,
                    },
                };
                found.push((key.clone(), value));
            }
        }
        Ok(found)
    }

    /// Revokes all sessions that an index lists, and those that are made or rotated meanwhile: looks again until
    /// none is left. How many were live. Works on a full server.
    ///
    /// # Errors
    /// If the server cannot be asked: some of them may be revoked then. Call it again.
    pub async fn revoke_all(&self, of: &I) -> Result<u64, Error> {
        self.core.noting(K::DEFINITION, self.revoke_all_now(of)).await
    }

    async fn revoke_all_now(&self, of: &I) -> Result<u64, Error> {
        let known = named(of);
        let mut revoked = 0;
        for _ in 0..PASSES {
            let (listing, members) = self.members(of).await?;
            if members.is_empty() {
                return Ok(revoked);
            }
            for members in members.chunks(AT_ONCE) {
                revoked += self.revoke_each(members, &known).await?;
                let members: Vec<&str> = members.iter().map(String::as_str).collect();
                self.core.send(&listing.unlist(&members)).await.map_err(Error::after_a_change)?;
            }
        }
        Err(Error::Unavailable("sessions are made faster than they are revoked".into()))
    }

    /// Revokes these sessions; how many were live. What is not the id of a session is passed over.
    async fn revoke_each(
        &self,
        members: &[String],
        known: &[(&str, String)],
    ) -> Result<u64, Error> {
        let keys = members.iter().filter_map(|member| session_of::<K>(member, known));
        let handles: Vec<_> = keys.map(|key| self.at::<K::Lifetime>(key)).collect();
        let revocations =
            handles.iter().map(Handle::revocations).collect::<Result<Vec<Revocations>, _>>()?;
        let calls =
            handles.iter().zip(&revocations).map(|(it, revocations)| it.revoking(revocations, &[]));
        let mut live = 0;
        for answer in self.core.send_each(calls.collect::<Result<_, _>>()?).await? {
            let (was_live,): (u64,) = understand::<_, K>(answer?)?;
            live += was_live;
        }
        let marks = handles.iter().zip(&revocations).map(|(it, revocations)| it.mark(revocations));
        try_join_all(marks).await.map_err(Error::after_a_change)?;
        Ok(live)
    }

    /// The sessions that an index lists.
    async fn members(&self, of: &I) -> Result<(Listing, Vec<String>), Error> {
        let names = Names::new(of, &self.prefix);
        let listing = Listing::new(I::DEFINITION, &names, options::<K>().score_ms)?;
        let call = MEMBERS.call(&[&listing.index, &listing.ends], |cmd| {
            cmd.arg(longest::<K>()).arg(listing.unit);
        });
        let answer =
            self.core.send(&call.repeatable()).await.map_err(|error| error.about(I::NAME))?;
        Ok((listing, understand::<_, I>(answer)?))
    }
}

impl<K: Key> fmt::Debug for Sessions<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("definition", &K::NAME).finish_non_exhaustive()
    }
}
