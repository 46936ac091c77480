//! One attempt at a lock: what it sends, and what the server answers.

use super::super::core::Core;
use super::super::error::Error;
use super::super::lua::{Lua, lua};
use super::super::names::Names;
use super::super::random::secret;
use super::super::request::Call;
use super::belief::Sent;
use super::replicas::{Confirmed, Replicas};
use crate::Key;
use redis::{FromRedisValue, Value, from_redis_value};
use std::sync::Arc;
use std::time::Duration;

// Without `allow-oom`, so that a full server runs none of it.
static TAKE: Lua = Lua::new(concat!("#!lua\n", include_str!("take.lua")));
static RENEW: Lua = lua!("renew.lua");
static RELEASE: Lua = lua!("release.lua");

/// The longest name of a holder, in bytes: it is stored, and compared with each renewal.
const LONGEST_NAME: usize = 512;

/// One attempt at a lock, by whoever waits for it and holds it then.
#[derive(Clone)]
pub(super) struct Claim {
    core: Arc<Core>,
    definition: &'static str,
    /// The names of the lock, by slot: old ones first, since programs that know only those take nothing else
    groups: Arc<[Group]>,
    holder: Arc<str>,
    attempt: Arc<str>,
    pub(super) ttl: Duration,
    /// How many may hold the lock at once
    places: u64,
    is_fair: bool,
    replicas: Option<Arc<Replicas>>,
}

/// Names of a lock that one script reaches, and what is kept beside them.
struct Group {
    /// Beside each of the names: programs that know one of them only look there
    fences: Vec<String>,
    /// Who waits, and until when each is believed in, where the lock is fair
    waiters: Option<[String; 2]>,
    names: Vec<String>,
}

/// What an attempt got.
pub(super) enum Taken {
    Yes(Held),
    /// How many wait before this one
    No {
        before: u32,
    },
}

/// A lock that was taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) fence: u64,
    pub(super) sent: Sent,
}

impl Claim {
    pub(super) fn new<K: Key>(
        core: &Core,
        names: &Names,
        holder: &str,
        ttl: Duration,
    ) -> Result<Self, Error> {
        let (definition, behaviour) = (K::NAME, &K::DEFINITION.behaviour);
        if holder.len() > LONGEST_NAME {
            let why = format!(
                "the name of a holder of `{definition}` has {} bytes: give it at most {LONGEST_NAME}",
                holder.len()
            );
            return Err(Error::Settings(why));
        }
        let core = core.me().upgrade();
        let core = core.ok_or_else(|| Error::Settings("the store was dropped".to_owned()))?;
        let own = names.own();
        let groups = names.locked(core.is_cluster());
        let groups = groups.iter().map(|group| {
            // What is kept beside a lock stays beside its own name, where that is in reach.
            let owner = if group.contains(&own) { own } else { group[0] };
            Group::new(definition, names, owner, group, behaviour.fair)
        });
        Ok(Claim {
            definition,
            groups: groups.collect::<Result<_, _>>()?,
            holder: holder.into(),
            attempt: secret()?.into(),
            ttl,
            places: behaviour.holders.unwrap_or(1),
            is_fair: behaviour.fair,
            replicas: behaviour.replicas.map(|wanted| Arc::new(Replicas::new(wanted))),
            core,
        })
    }

    pub(super) fn definition(&self) -> &'static str {
        self.definition
    }

    pub(super) fn core(&self) -> &Core {
        &self.core
    }

    /// Takes the lock, all its names or none. With patience, it has a turn for so long where waiters come
    /// first.
    pub(super) async fn take(&self, patience: Duration) -> Result<Taken, Error> {
        let sent = Sent::now(&self.core.clock);
        let mut fence = 0;
        // Whoever takes one slot only looks at its fence: all of them know the last one in the end.
        let (last, before) =
            self.groups.split_last().map_or((0, 0), |(_, it)| (it.len(), it.len()));
        let all = (0..=last).chain(0..before);
        for (number, at) in all.enumerate() {
            let is_raised = number > last;
            let lowest = if is_raised { fence } else { fence + 1 };
            match self.take_group(&self.groups[at], lowest, patience).await {
                Ok(Grant { fence: 1.., .. }) if is_raised => {}
                Ok(Grant { fence: got @ 1.., .. }) => fence = got,
                answer => {
                    let taken = if is_raised { last + 1 } else { at };
                    for taken in &self.groups[..taken] {
                        self.release_group(taken, true).await?;
                    }
                    return Ok(Taken::No { before: answer?.before });
                }
            }
        }
        if self.replicas.is_none() {
            return Ok(Taken::Yes(Held { fence, sent }));
        }
        let confirmed = self.renew().await;
        if let Ok(Some(sent)) = confirmed {
            return Ok(Taken::Yes(Held { fence, sent }));
        }
        // A release that fails is noted, and leaves the lock until its TTL.
        _ = self.release().await;
        confirmed.map(|_| Taken::No { before: 0 })
    }

    async fn take_group(
        &self,
        group: &Group,
        lowest: u64,
        patience: Duration,
    ) -> Result<Grant, Error> {
        let call = TAKE.call(&group.keys(), |cmd| {
            cmd.arg(&*self.holder).arg(&*self.attempt).arg(millis(self.ttl)).arg(lowest);
            cmd.arg(self.places).arg(u8::from(self.is_fair)).arg(millis(patience));
            cmd.arg(group.fences.len());
        });
        // The attempt's id makes it safe to ask twice.
        let Value::Array(items) = self.send(call.repeatable()).await? else {
            return Err(self.strange());
        };
        let mut items = items.into_iter();
        let fence = self.read(items.next())?;
        if fence > 0 {
            return Ok(Grant { fence, before: 0 });
        }
        Ok(Grant { fence, before: self.read(items.next())? })
    }

    /// Renews the lock, and lets replicas confirm that; `None` if it is not held any more.
    pub(super) async fn renew(&self) -> Result<Option<Sent>, Error> {
        let sent = Sent::now(&self.core.clock);
        for group in &*self.groups {
            let keys = group.fences.iter().chain(&group.names).map(String::as_str);
            let call = RENEW.call(&keys.collect::<Vec<_>>(), |cmd| {
                cmd.arg(&*self.holder).arg(&*self.attempt).arg(millis(self.ttl)).arg(self.places);
                cmd.arg(group.fences.len());
            });
            let is_held = match &self.replicas {
                None => self.send(call.repeatable()).await?,
                Some(replicas) => self.confirm(replicas, &group.names[0], &call).await?,
            };
            if is_held != Value::Int(1) {
                return Ok(None);
            }
        }
        Ok(Some(sent))
    }

    async fn confirm(&self, replicas: &Replicas, key: &str, call: &Call) -> Result<Value, Error> {
        // Replicas that do not answer leave time to try again.
        let patience = self.core.link.response_timeout().min(self.ttl / 4);
        let confirmed = replicas.confirm(&self.core, key, call, patience).await;
        let Confirmed { answer, replicas } = confirmed.map_err(|error| self.noted(error))?;
        match replicas {
            Ok(()) => Ok(answer),
            Err((wanted, confirmed)) => {
                let definition = self.definition;
                Err(self.noted(Error::Unreplicated { definition, wanted, confirmed }))
            }
        }
    }

    /// Releases the lock, or ends the waiting for it, however often that must be said.
    pub(super) async fn release(&self) -> Result<(), Error> {
        for group in self.groups.iter().rev() {
            self.release_group(group, true).await?;
        }
        Ok(())
    }

    /// Releases the lock; whether it was held until now. It is said once: a second answer would know nothing of
    /// what the first has done.
    pub(super) async fn release_once(&self) -> Result<bool, Error> {
        let mut was_held = true;
        for group in self.groups.iter().rev() {
            was_held &= self.release_group(group, false).await?;
        }
        Ok(was_held)
    }

    async fn release_group(&self, group: &Group, repeatable: bool) -> Result<bool, Error> {
        let call = RELEASE.call(&group.keys(), |cmd| {
            cmd.arg(&*self.holder).arg(&*self.attempt);
            cmd.arg(self.places).arg(u8::from(self.is_fair)).arg(group.fences.len());
        });
        Ok(self.send(Call { repeatable, ..call }).await? == Value::Int(1))
    }

    /// Ends the attempt when it is dropped: its answer may be on the way, and so may the lock.
    pub(super) fn waiting(&self) -> Waiting {
        Waiting { claim: Some(self.clone()) }
    }

    async fn send(&self, call: Call) -> Result<Value, Error> {
        self.core.send(&call).await.map_err(|error| self.noted(error))
    }

    fn noted(&self, error: Error) -> Error {
        let error = error.about(self.definition);
        self.core.failures.note(self.definition, &error);
        error
    }

    fn read<T: FromRedisValue>(&self, value: Option<Value>) -> Result<T, Error> {
        let value = value.ok_or_else(|| self.strange())?;
        from_redis_value(value).map_err(|_| self.strange())
    }

    fn strange(&self) -> Error {
        Error::Malformed {
            definition: self.definition,
            field: None,
            why: "the server's answer to a lock cannot be understood".to_owned(),
        }
    }
}

/// What the server says to an attempt at one group.
struct Grant {
    /// 0 if the lock is held, or others come first
    fence: u64,
    before: u32,
}

impl Group {
    fn new(
        definition: &str,
        names: &Names,
        owner: &str,
        group: &[&str],
        is_fair: bool,
    ) -> Result<Self, Error> {
        let beside = |word: &str| {
            names.derived_of(owner, word).ok_or_else(|| {
                Error::Settings(format!(
                    "a key of `{definition}` has a `}}` and no hash tag, so that nothing can be kept \
                     beside it: give the lock another pattern"
                ))
            })
        };
        let fences = group.iter().filter(|name| **name != owner);
        let fences = fences.filter_map(|name| names.derived_of(name, "fence"));
        Ok(Group {
            fences: [beside("fence")?].into_iter().chain(fences).collect(),
            waiters: if is_fair { Some([beside("waiters")?, beside("alive")?]) } else { None },
            names: group.iter().map(|name| (*name).to_owned()).collect(),
        })
    }

    fn keys(&self) -> Vec<&str> {
        let beside = self.fences.iter().chain(self.waiters.iter().flatten());
        beside.chain(&self.names).map(String::as_str).collect()
    }
}

/// An attempt that is under way.
pub(super) struct Waiting {
    claim: Option<Claim>,
}

impl Waiting {
    /// There is nothing to release any more, or somebody else does it.
    pub(super) fn done(mut self) {
        self.claim = None;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(claim) = self.claim.take() {
            release_later(claim);
        }
    }
}

/// Releases a lock that nobody waits for any more. Where there is no runtime, its TTL does.
pub(super) fn release_later(claim: Claim) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move { claim.release().await });
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
