//! An index made again from what the application knows.

use super::super::error::Error;
use super::super::handle::{malformed, understand};
use super::super::scan::Scan;
use super::super::write::about;
use super::{Indexes, Only, Place, Reverse};
use crate::generated::glob_of;
use crate::kind::Index;
use crate::{Codec, Key};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// What a rebuild has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Rebuilt {
    /// How many members were put where they belong
    pub assigned: u64,
    /// How many members were removed from a set in which they do not belong
    pub removed: u64,
    /// How many members were left alone, because somebody changed them meanwhile
    pub skipped: u64,
}

impl<K, M, C, R> Indexes<'_, K>
where
    K: Key<Kind = Index<M, C, R>>,
    M: Send,
    C: Codec<M>,
    R: Key<Keyspace = K::Keyspace>,
{
    /// Begins to make the index again. Read the truth after this, and give it to [`Rebuild::from`]: what is changed from now
    /// on is left alone, since the truth may have been read before.
    ///
    /// # Errors
    /// If the server cannot be asked for its time.
    pub async fn rebuild(&self) -> Result<Rebuild<'_, K>, Error> {
        let began = self.core.noting(K::DEFINITION, self.time()).await?;
        Ok(Rebuild { index: self, began })
    }
}

/// A rebuild of an index that has begun: see [`Indexes::rebuild`].
#[must_use = "nothing is made again until it is given the truth"]
pub struct Rebuild<'i, K: Key> {
    index: &'i Indexes<'i, K>,
    /// By the server's clock, in microseconds since 1970. Clocks of a cluster's nodes differ a little
    began: u64,
}

impl<K, M, C, R> Rebuild<'_, K>
where
    K: Key<Kind = Index<M, C, R>>,
    M: Send,
    C: Codec<M>,
    R: Key<Keyspace = K::Keyspace>,
{
    /// Makes the index again from the truth: each member with all its sets. Members that the truth does not name are removed,
    /// and what was changed since the rebuild began is left alone. Looks at all keys of the server: for maintenance. Keeps eight
    /// bytes for each member in memory.
    ///
    /// # Errors
    /// If the server cannot be asked, or a set is full: what was done until then stays.
    pub async fn from(
        self,
        truth: impl IntoIterator<Item = (M, Vec<K>)>,
    ) -> Result<Rebuilt, Error> {
        let Rebuild { index, began } = self;
        index.core.noting(K::DEFINITION, index.rebuild_now::<M, C, R>(began, truth)).await
    }
}

impl<K: Key> std::fmt::Debug for Rebuild<'_, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rebuild").field("definition", &K::NAME).finish_non_exhaustive()
    }
}

impl<K: Key> Indexes<'_, K> {
    /// The server's time in microseconds.
    async fn time(&self) -> Result<u64, Error> {
        let (seconds, micros): (u64, u64) =
            understand::<_, K>(self.core.ask(&redis::cmd("TIME")).await?)?;
        Ok(seconds * 1_000_000 + micros)
    }

    async fn rebuild_now<M, C: Codec<M>, R: Key<Keyspace = K::Keyspace>>(
        &self,
        began: u64,
        truth: impl IntoIterator<Item = (M, Vec<K>)>,
    ) -> Result<Rebuilt, Error> {
        let mut done = Rebuilt::default();
        let mut known = HashSet::new();
        for (member, sets) in truth {
            let bytes = C::encode(&member).map_err(malformed::<K>)?;
            let Some(reverse) = self.reverse(&bytes)? else { break };
            known.insert(hash(&reverse.name));
            if self.changed_since(&reverse, began).await? {
                done.skipped += 1;
                continue;
            }
            self.assign_now::<M, C>(&member, sets).await?;
            done.assigned += 1;
        }
        self.sweep_sets(&known, began, &mut done).await?;
        self.sweep_reverses::<R>(&known, began).await?;
        Ok(done)
    }

    /// Removes members that are in a set that their reverse does not name, or that the truth does not know.
    async fn sweep_sets(
        &self,
        known: &HashSet<u64>,
        began: u64,
        done: &mut Rebuilt,
    ) -> Result<(), Error> {
        let free = vec![None; K::DEFINITION.params.len()];
        let mut scan = Scan::new(self.core, glob_of(K::DEFINITION, &self.prefix, &free));
        while let Some(names) = scan.next().await? {
            let sets = names.iter().filter_map(|name| K::parse_with_prefix(name));
            for (_, set) in sets.filter(|(prefix, _)| *prefix == self.prefix).collect::<Vec<_>>() {
                self.sweep_set(&self.place(&set)?, known, began, done).await?;
            }
        }
        Ok(())
    }

    async fn sweep_set(
        &self,
        set: &Place,
        known: &HashSet<u64>,
        began: u64,
        done: &mut Rebuilt,
    ) -> Result<(), Error> {
        let mut cursor = 0u64;
        loop {
            let mut cmd = about("SSCAN", &set.name);
            cmd.arg(cursor).arg("COUNT").arg(1000);
            let (next, members): (u64, Vec<Vec<u8>>) =
                understand::<_, K>(self.core.ask(&cmd).await?)?;
            for member in members {
                self.sweep_member(set, member, known, began, done).await?;
            }
            cursor = next;
            if cursor == 0 {
                return Ok(());
            }
        }
    }

    async fn sweep_member(
        &self,
        set: &Place,
        member: Vec<u8>,
        known: &HashSet<u64>,
        began: u64,
        done: &mut Rebuilt,
    ) -> Result<(), Error> {
        // What is not a member at all has no reverse, and goes.
        let reverse = self.reverse(&member).ok().flatten();
        let mut only = Only::Always;
        if let Some(reverse) = &reverse {
            let mut cmd = about("SISMEMBER", &reverse.name);
            cmd.arg(&set.word);
            let named: bool = understand::<_, K>(self.core.ask(&cmd).await?)?;
            if named && known.contains(&hash(&reverse.name)) {
                return Ok(());
            }
            if named && self.changed_since(reverse, began).await? {
                done.skipped += 1;
                return Ok(());
            }
            if named {
                // From all its sets at once: after the first it would look like one that somebody else has changed.
                let sets = self.core.ask(&about("SCARD", &reverse.name)).await?;
                self.assign_bytes(member, reverse.clone(), &[]).await?;
                done.removed += understand::<u64, K>(sets)?;
                return Ok(());
            }
            only = Only::Unnamed;
        }
        let change = super::Change {
            core: self.core,
            index: K::DEFINITION,
            member,
            reverse,
            gaining: Vec::new(),
            losing: vec![set.clone()],
            strays: Vec::new(),
        };
        change.run(only).await?;
        done.removed += 1;
        Ok(())
    }

    /// Removes reverses of members that the truth does not know.
    async fn sweep_reverses<R: Key<Keyspace = K::Keyspace>>(
        &self,
        known: &HashSet<u64>,
        began: u64,
    ) -> Result<(), Error> {
        let free = vec![None; R::DEFINITION.params.len()];
        let mut scan = Scan::new(self.core, glob_of(R::DEFINITION, &self.prefix, &free));
        while let Some(names) = scan.next().await? {
            let reverses = names.iter().filter_map(|name| R::parse_with_prefix(name));
            for (_, key) in
                reverses.filter(|(prefix, _)| *prefix == self.prefix).collect::<Vec<_>>()
            {
                let names = super::Names::new(&key, &self.prefix);
                let Some(versions) = names.derived("versions") else { continue };
                let reverse = Reverse { definition: R::DEFINITION, name: names.name, versions };
                if known.contains(&hash(&reverse.name))
                    || self.changed_since(&reverse, began).await?
                {
                    continue;
                }
                self.core.ask(&about("UNLINK", &reverse.name)).await?;
            }
        }
        Ok(())
    }

    /// Whether somebody else has changed a member since.
    async fn changed_since(&self, reverse: &Reverse, began: u64) -> Result<bool, Error> {
        let mut cmd = about("HGET", &reverse.versions);
        cmd.arg("last");
        let last: Option<u64> = understand::<_, K>(self.core.ask(&cmd).await?)?;
        Ok(last.is_some_and(|last| last > began))
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}
