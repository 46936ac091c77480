//! Refresh tokens: each is used once and replaced by its successor; one that is used again revokes what came after it.
//!
//! A key is the hash of a token, never the token. Beside it stands what became of it (`~token`): its successor and when it was
//! used, or that it was revoked. Tokens of one family point forwards, each to the next: whoever revokes a family follows them.

mod rotate;

use super::error::Error;
use super::handle::{Handle, malformed, understand};
use super::lua::{Lua, lua};
use super::request::{Call, Calls, Request};
use super::session::push;
use super::whole::sealed::Stored as _;
use crate::kind::{Declared, Hash, RefreshToken};
use crate::{Definition, Fields, Key, ParamValue};
use redis::Value;

static ISSUE: Lua = lua!("../session/run.lua", "issue.lua");
static LOOK: Lua = lua!("../session/now.lua", "look.lua");
static REVOKE: Lua = lua!("../session/full.lua", "revoke.lua");

/// What a refresh token was exchanged for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refreshed<K, F> {
    /// The token that is valid now
    pub successor: K,
    /// What it holds
    pub fields: F,
    /// Whether the exchange had happened before, and this is its answer once more. The successor is then the one that
    /// was given at that time
    pub repeated: bool,
}

/// What a token is.
enum State {
    Live { dump: Vec<u8>, left: i64, fields: Value },
    Repeated(String),
    Reused(String),
    Revoked,
    Gone,
}

impl<'s, K: Key, F, L> Handle<'s, K, RefreshToken<F>, L>
where
    F: Fields + Clone + Send + Sync + 'static,
{
    /// What a token holds that can still be used; `None` if there is none, or it was used or revoked.
    pub fn get(&self) -> Request<'s, Option<F>> {
        match self.looking() {
            Ok(call) => Request::new(self.core, K::DEFINITION, Calls::one(call), |answers| {
                match state::<K>(answers.first)? {
                    State::Live { fields, .. } => Hash::<F>::decode(K::DEFINITION, fields),
                    _ => Ok(None),
                }
            }),
            Err(error) => Request::known(self.core, K::NAME, Err(error)),
        }
    }

    /// Revokes the token and all that came after it, as a logout does. Works on a full server.
    ///
    /// # Errors
    /// If the server cannot be asked: some may be revoked then. Call it again: revoking twice is revoking.
    pub async fn revoke_family(&self) -> Result<(), Error> {
        self.core.noting(K::DEFINITION, self.revoke_onwards()).await
    }

    async fn revoke_onwards(&self) -> Result<(), Error> {
        let mut next = self.revoke_this().await?;
        while let Some(name) = next {
            next = self.another(&name)?.revoke_this().await.map_err(Error::after_a_change)?;
        }
        Ok(())
    }

    /// Revokes what came after the token, and then the token: as long as it is not, whoever uses it again revokes what
    /// may be left.
    async fn revoke_successors(&self, successor: &str) -> Result<(), Error> {
        self.another(successor)?.revoke_onwards().await?;
        self.revoke_this().await.map_err(Error::after_a_change).map(|_| ())
    }

    /// Revokes this token alone; its successor.
    async fn revoke_this(&self) -> Result<Option<String>, Error> {
        let keys = self.keys()?;
        let keys = [keys[0].as_str(), keys[1].as_str()];
        let call = REVOKE.call(&keys, |cmd| _ = cmd.arg(longest(K::DEFINITION))).repeatable();
        understand::<_, K>(self.core.send(&call).await?)
    }

    /// Another token of the family.
    fn another(&self, name: &str) -> Result<Self, Error> {
        let key = K::from_normal(name)
            .ok_or_else(|| malformed::<K>("its successor is not a key of this definition"))?;
        Ok(Handle::new(self.core, key, &self.prefix))
    }

    fn looking(&self) -> Result<Call, Error> {
        let grace = K::DEFINITION.behaviour.reuse_grace_ms.unwrap_or(0);
        let keys = self.keys()?;
        let keys = [keys[0].as_str(), keys[1].as_str()];
        Ok(LOOK.call(&keys, |cmd| _ = cmd.arg(grace)).repeatable())
    }

    /// The token, and what became of it.
    fn keys(&self) -> Result<[String; 2], Error> {
        let became = self.names.derived("token").ok_or_else(|| {
            Error::Settings(format!("no key can stand beside one of `{}` in its slot", K::NAME))
        })?;
        Ok([self.names.name.clone(), became])
    }
}

impl<K: Key, F> Handle<'_, K, RefreshToken<F>, Declared>
where
    F: Fields + Clone + Send + Sync + 'static,
{
    /// Makes the first token of a family; `false` if there is such a token already.
    pub async fn issue(&self, fields: &F) -> Result<bool, Error> {
        let issuing = async {
            let commands = Hash::<F>::encode(K::DEFINITION, fields)?;
            let keys = self.keys()?;
            let call = ISSUE.call(&[&keys[0], &keys[1]], |cmd| {
                cmd.arg(self.ttl().unwrap_or(longest(K::DEFINITION)));
                push(cmd, &commands);
            });
            understand::<bool, K>(self.core.send(&call).await?)
        };
        self.core.noting(K::DEFINITION, issuing).await
    }
}

/// How long a token may live, in milliseconds; what became of it is remembered as long.
fn longest(definition: &'static Definition) -> u64 {
    let ttl = definition.ttl.longest().and_then(|ttl| u64::try_from(ttl.as_millis()).ok());
    ttl.unwrap_or(u64::from(u32::MAX))
}

/// What `look.lua` or `refresh.lua` says.
fn state<K: Key>(answer: Value) -> Result<State, Error> {
    let wrong = || malformed::<K>("the server's answer about a token cannot be understood");
    let Value::Array(parts) = answer else { return Err(wrong()) };
    let mut parts = parts.into_iter();
    let state: String = understand::<_, K>(parts.next().ok_or_else(wrong)?)?;
    let mut next = || parts.next().ok_or_else(wrong);
    Ok(match state.as_str() {
        "live" => State::Live {
            dump: understand::<_, K>(next()?)?,
            left: understand::<_, K>(next()?)?,
            fields: next()?,
        },
        "repeated" => State::Repeated(understand::<_, K>(next()?)?),
        "reused" => State::Reused(understand::<_, K>(next()?)?),
        "revoked" => State::Revoked,
        _ => State::Gone,
    })
}
