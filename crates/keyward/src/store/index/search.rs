//! Finding members that are in all of some sets, or in any of them.

use super::super::error::Error;
use super::super::handle::understand;
use super::super::names::Names;
use super::super::request::Call;
use super::super::session::is_near;
use super::super::write::about;
use super::{Indexes, decode_all, members};
use crate::kind::Index;
use crate::{Codec, Key};
use std::collections::HashSet;

/// How many members are asked about in one command.
const AT_ONCE: usize = 1000;

impl<K, M, C, R> Indexes<'_, K>
where
    K: Key<Kind = Index<M, C, R>>,
    M: Send,
    C: Codec<M>,
{
    /// The members that are in all of these sets, in no order. While a member is moved, it may be shown too often, but is
    /// never missed.
    pub async fn all_of(&self, sets: impl IntoIterator<Item = K>) -> Result<Vec<M>, Error> {
        let names = self.names(sets);
        let searching = async {
            if self.is_together(&names) {
                return self.ask("SINTER", &names).await;
            }
            let sizes = names.iter().map(|name| Call::reading(about("SCARD", name))).collect();
            let mut sizes = self.core.send_each(sizes).await?.into_iter().zip(&names);
            let mut sized: Vec<(u64, &String)> = Vec::with_capacity(names.len());
            for (size, name) in &mut sizes {
                sized.push((understand::<_, K>(size?)?, name));
            }
            // The members of the smallest are asked about in the others.
            sized.sort();
            let Some(((_, smallest), others)) = sized.split_first() else { return Ok(Vec::new()) };
            let mut found = members::<K>(self.core, smallest).await?;
            for (_, name) in others {
                let mut kept = Vec::with_capacity(found.len());
                for chunk in found.chunks(AT_ONCE) {
                    let mut cmd = about("SMISMEMBER", name);
                    cmd.arg(chunk);
                    let there: Vec<bool> = understand::<_, K>(self.core.ask(&cmd).await?)?;
                    let both = chunk.iter().zip(there).filter(|(_, there)| *there);
                    kept.extend(both.map(|(member, _)| member.clone()));
                }
                found = kept;
            }
            Ok(found)
        };
        self.core.noting(K::DEFINITION, searching).await.and_then(decode_all::<K, M, C>)
    }

    /// The members that are in any of these sets, in no order.
    pub async fn any_of(&self, sets: impl IntoIterator<Item = K>) -> Result<Vec<M>, Error> {
        let names = self.names(sets);
        let searching = async {
            if self.is_together(&names) {
                return self.ask("SUNION", &names).await;
            }
            let calls = names.iter().map(|name| Call::reading(about("SMEMBERS", name))).collect();
            let mut found = HashSet::new();
            for answer in self.core.send_each(calls).await? {
                found.extend(understand::<Vec<Vec<u8>>, K>(answer?)?);
            }
            Ok(found.into_iter().collect())
        };
        self.core.noting(K::DEFINITION, searching).await.and_then(decode_all::<K, M, C>)
    }

    fn names(&self, sets: impl IntoIterator<Item = K>) -> Vec<String> {
        sets.into_iter().map(|key| Names::new(&key, &self.prefix).name).collect()
    }

    fn is_together(&self, names: &[String]) -> bool {
        names.first().is_none_or(|first| names.iter().all(|name| is_near(self.core, first, name)))
    }

    async fn ask(&self, command: &str, names: &[String]) -> Result<Vec<Vec<u8>>, Error> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let mut cmd = redis::cmd(command);
        cmd.arg(names);
        understand::<_, K>(self.core.ask(&cmd).await?)
    }
}
