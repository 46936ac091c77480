//! Locks: so many holders at a time as the schema says, and a fence that what is protected can check.
//!
//! The lock's own key holds the holder's name, as conventions document it, or a sorted set of names where
//! several may hold it. `~fence` keeps the last fence and the attempt that got it: renewing and releasing
//! compare the attempt, since a job that is delivered again has the same name.

mod belief;
mod claim;
mod guard;
mod replicas;

pub use guard::Guard;

use super::error::Error;
use super::handle::{Handle, understand};
use super::lua::{Lua, lua};
use super::random::secret;
use super::request::Request;
use crate::Key;
use crate::kind::{Declared, Lock};
use claim::{Claim, Taken};
use std::future::Future;
use std::time::Duration;
use tokio::time::{Instant, sleep};

static HOLDERS: Lua = lua!("holders.lua");

/// The first pause between two attempts; each is longer than the one before, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// The longest pause between two attempts. Releasing a lock wakes nobody: a script cannot block, and a
/// lock that expires sends no message.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// How long a waiter keeps its turn without asking again.
const PATIENCE: Duration = Duration::from_secs(5);

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The name that the holder gave, or a random one
    pub name: String,
    /// How long until the lock expires, unless it is renewed; `None` if it never does, since something
    /// other than Keyward set it
    pub remaining: Option<Duration>,
}

impl<'s, K: Key> Handle<'s, K, Lock, Declared> {
    /// Takes the lock, if it is free.
    ///
    /// # Errors
    /// If the server cannot be asked, or the key holds another type. [`Error::Unreplicated`] if the schema
    /// asks for more replicas than have confirmed it.
    pub async fn try_acquire(&self) -> Result<Option<Guard>, Error> {
        self.try_acquire_as(&secret()?).await
    }

    /// Takes the lock, if it is free, under a name: what [`holders`](Handle::holders) shows others.
    ///
    /// # Errors
    /// See [`try_acquire`](Handle::try_acquire); also if the name has more than 512 bytes.
    pub async fn try_acquire_as(&self, name: &str) -> Result<Option<Guard>, Error> {
        let claim = self.claim(name)?;
        let waiting = claim.waiting();
        let taken = claim.take(Duration::ZERO).await?;
        waiting.done();
        Ok(match taken {
            Taken::Yes(held) => Some(Guard::new(claim, held)),
            Taken::No { .. } => None,
        })
    }

    /// Waits for the lock, however long that takes.
    ///
    /// # Errors
    /// See [`try_acquire`](Handle::try_acquire).
    pub async fn acquire(&self) -> Result<Guard, Error> {
        self.acquire_as(&secret()?).await
    }

    /// Waits for the lock, under a name.
    ///
    /// # Errors
    /// See [`try_acquire_as`](Handle::try_acquire_as).
    pub async fn acquire_as(&self, name: &str) -> Result<Guard, Error> {
        loop {
            // A wait without an end is a long one, again and again: adding a longer time to the present
            // could overflow.
            if let Some(guard) = self.acquire_within_as(name, Duration::from_hours(24)).await? {
                return Ok(guard);
            }
        }
    }

    /// Waits for the lock for some time; `None` if it was not free in that time.
    ///
    /// # Errors
    /// See [`try_acquire`](Handle::try_acquire).
    pub async fn acquire_within(&self, patience: Duration) -> Result<Option<Guard>, Error> {
        self.acquire_within_as(&secret()?, patience).await
    }

    /// Waits for the lock for some time, under a name.
    ///
    /// # Errors
    /// See [`try_acquire_as`](Handle::try_acquire_as).
    pub async fn acquire_within_as(
        &self,
        name: &str,
        patience: Duration,
    ) -> Result<Option<Guard>, Error> {
        let claim = self.claim(name)?;
        let is_fair = K::DEFINITION.behaviour.fair;
        let waiting = claim.waiting();
        let began = Instant::now();
        let mut backoff = FIRST_PAUSE;
        loop {
            let before = match claim.take(PATIENCE).await? {
                Taken::Yes(held) => {
                    waiting.done();
                    return Ok(Some(Guard::new(claim, held)));
                }
                Taken::No { before } => before,
            };
            let left = patience.saturating_sub(began.elapsed());
            if left.is_zero() {
                if !is_fair {
                    waiting.done();
                }
                return Ok(None);
            }
            // Whoever is next in line asks often: nobody else can take the lock.
            let turn = if is_fair { FIRST_PAUSE * before.saturating_add(2) } else { LONGEST_PAUSE };
            let pause = backoff.min(turn);
            let pause = pause + pause.mul_f64(fastrand::f64() / 2.0);
            sleep(pause.min(left)).await;
            backoff = (backoff * 3 / 2).min(LONGEST_PAUSE);
        }
    }

    /// Waits for the lock, does the work while it is held, and releases it. The work is cancelled at its
    /// next `.await` once the lock is lost, and gets the fence to pass on.
    ///
    /// # Errors
    /// [`Error::Lost`] if the lock was lost before the work was done; otherwise see
    /// [`try_acquire`](Handle::try_acquire).
    pub async fn run<R, F>(&self, work: impl FnOnce(u64) -> F) -> Result<R, Error>
    where
        F: Future<Output = R>,
    {
        self.run_as(&secret()?, work).await
    }

    /// Does work under the lock, under a name.
    ///
    /// # Errors
    /// See [`run`](Handle::run) and [`try_acquire_as`](Handle::try_acquire_as).
    pub async fn run_as<R, F>(&self, name: &str, work: impl FnOnce(u64) -> F) -> Result<R, Error>
    where
        F: Future<Output = R>,
    {
        let guard = self.acquire_as(name).await?;
        let done = tokio::select! {
            done = work(guard.fence()) => Some(done),
            () = guard.lost() => None,
        };
        let done = done.filter(|_| guard.is_held());
        // What was done is done. A release that fails is noted, and the lock is free after its TTL.
        _ = guard.release().await;
        done.ok_or(Error::Lost { definition: K::NAME })
    }

    /// Who holds the lock, and for how long.
    pub fn holders(&self) -> Request<'s, Vec<Holder>> {
        let places = K::DEFINITION.behaviour.holders.unwrap_or(1);
        let ask = |name: &str| {
            let by_hash = HOLDERS.call(&[name], |cmd| _ = cmd.arg(places));
            (HOLDERS.whole(&by_hash.cmd), Vec::new())
        };
        self.ask(ask, move |answers| {
            let holders: Option<Vec<(String, i64)>> = understand::<_, K>(answers.first)?;
            let holder = |(name, left): (String, i64)| {
                let given =
                    if places > 1 { name.rsplit_once(' ').map(|(name, _)| name) } else { None };
                Holder {
                    name: given.unwrap_or(&name).to_owned(),
                    remaining: u64::try_from(left).ok().map(Duration::from_millis),
                }
            };
            Ok(holders.unwrap_or_default().into_iter().map(holder).collect())
        })
    }

    /// Releases the lock, whoever holds it; whether anybody did. For operators: a holder learns of it when
    /// it next renews the lock, and until then only the fence keeps it apart from the next.
    pub fn force_release(&self) -> Request<'s, bool> {
        self.delete()
    }

    fn claim(&self, name: &str) -> Result<Claim, Error> {
        self.core.suits(K::DEFINITION)?;
        let ttl = self.ttl().ok_or_else(|| {
            Error::Settings(format!("the lock `{}` never expires: give it a `ttl`", K::NAME))
        })?;
        Claim::new::<K>(self.core, &self.names, name, Duration::from_millis(ttl))
    }
}
