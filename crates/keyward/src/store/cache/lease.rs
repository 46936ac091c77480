//! Leases: who may fill a key with what it loads.

use super::Looked;
use crate::Key;
use crate::kind::Declared;
use crate::store::core::Core;
use crate::store::error::Error;
use crate::store::handle::Handle;
use crate::store::lua::{Lua, lua};
use crate::store::random::secret;
use crate::store::request::Call;
use crate::store::whole::Whole;
use crate::store::write::note_in_indexes;
use redis::Value;
use std::sync::Weak;
use std::time::{Duration, Instant};

static TAKE: Lua = lua!("../lua/lease.lua");
static GIVE_BACK: Lua = lua!("../lua/unlease.lua");

/// How long a load may take until its fill is dropped, where the schema gives no `load_lock`.
const LEASE_MS: u64 = 10_000;
/// The longest pause between two looks for what another process is loading.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a load may do with what it loads.
pub(super) enum Lease<V> {
    /// Write it, if the token still holds
    Taken(Token),
    /// Nothing: somebody else is about to write
    Busy,
    /// Nothing: the server cannot be asked
    Impossible,
    /// Throw it away before it begins: somebody else has written
    Filled(V),
}

/// What the server says to whoever wants a lease.
pub(super) enum Offer {
    Taken(Token),
    Busy,
    Impossible,
    /// There is a value by now
    Filled,
}

impl<K: Key, T: Whole> Handle<'_, K, T, Declared> {
    /// A lease to fill the key. Where the schema has a `load_lock`, waits for another process that is
    /// loading, unless there is a value that is good meanwhile.
    pub(super) async fn lease(&self, looked: &Looked<T::Value>) -> Lease<T::Value> {
        let behaviour = &K::DEFINITION.behaviour;
        if matches!(looked, Looked::Unknown) {
            return Lease::Impossible;
        }
        let replace = matches!(looked, Looked::Malformed | Looked::Found(..));
        let patient = behaviour.load_lock_ms.filter(|_| !matches!(looked, Looked::Found(..)));
        let deadline = patient.map(|ms| Instant::now() + Duration::from_millis(ms));
        let mut pause = Duration::from_millis(5);
        loop {
            let lease = self.try_lease(replace).await;
            let Lease::Busy = lease else { return lease };
            let now = Instant::now();
            let Some(left) = deadline.and_then(|deadline| deadline.checked_duration_since(now))
            else {
                return Lease::Busy;
            };
            tokio::time::sleep(pause.min(left)).await;
            pause = (pause * 2).min(PATIENCE);
        }
    }

    async fn try_lease(&self, replace: bool) -> Lease<T::Value> {
        let Some((mut calls, lease)) = self.wanting(replace) else { return Lease::Impossible };
        let Some(take) = calls.pop() else { return Lease::Impossible };
        if !calls.is_empty() {
            let answers = self.core.send_each(calls).await;
            if !answers.is_ok_and(|answers| answers.iter().all(Result::is_ok)) {
                return Lease::Impossible;
            }
        }
        match self.offered(&self.core.send(&take).await, lease) {
            Offer::Taken(token) => Lease::Taken(token),
            Offer::Filled => match self.look(false).await {
                Ok(seen) => seen.value.map_or(Lease::Busy, Lease::Filled),
                Err(_) => Lease::Impossible,
            },
            Offer::Busy => Lease::Busy,
            Offer::Impossible => Lease::Impossible,
        }
    }

    /// What takes a lease: the last call, which must be sent when those before it have succeeded. On a cluster an
    /// index is on another node, and must know of the key first.
    pub(super) fn wanting(&self, replace: bool) -> Option<(Vec<Call>, (String, String))> {
        let lease = self.names.derived("lease")?;
        let secret = secret().ok()?;
        let time = K::DEFINITION.behaviour.load_lock_ms.unwrap_or(LEASE_MS).max(1);
        let cluster = self.core.is_cluster();
        let mut calls = if cluster {
            note_in_indexes(&self.indexes, self.names.own(), time)
        } else {
            Vec::new()
        };
        let mut keys = vec![self.names.name.as_str(), &lease];
        if !cluster {
            keys.extend(self.indexes.iter().map(String::as_str));
        }
        calls.push(TAKE.call(&keys, |cmd| {
            cmd.arg(&secret).arg(time).arg(u8::from(replace)).arg(self.names.own());
            cmd.arg(u8::from(K::DEFINITION.behaviour.sliding));
        }));
        Some((calls, (lease, secret)))
    }

    /// What came of it.
    pub(super) fn offered(
        &self,
        answer: &Result<Value, Error>,
        (lease, secret): (String, String),
    ) -> Offer {
        if let Err(error) = answer {
            self.core.failures.note(K::NAME, error);
        }
        // A lease whose answer was lost may have been taken: dropped unspent, it is given back.
        let spent = !matches!(answer, Ok(Value::Int(1)) | Err(Error::Unknown(_)));
        let token = Token { core: self.core.me().clone(), lease, secret, spent };
        match answer {
            Ok(Value::Int(1)) => Offer::Taken(token),
            Ok(Value::Int(2)) => Offer::Filled,
            Ok(_) => Offer::Busy,
            Err(_) => Offer::Impossible,
        }
    }
}

/// A lease that was taken. Given back when it is dropped unspent, as a cancelled caller does.
pub(super) struct Token {
    core: Weak<Core>,
    lease: String,
    pub(super) secret: String,
    pub(super) spent: bool,
}

impl Drop for Token {
    fn drop(&mut self) {
        let (Some(core), false) = (self.core.upgrade(), self.spent) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let call = GIVE_BACK.call(&[&self.lease], |cmd| _ = cmd.arg(&self.secret)).repeatable();
        runtime.spawn(async move {
            // If it cannot be given back, it runs out.
            _ = core.send(&call).await;
        });
    }
}
