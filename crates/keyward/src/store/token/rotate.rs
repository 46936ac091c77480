//! A token for its successor: in one step where they share a slot, otherwise one after the other.

use super::super::error::Error;
use super::super::handle::{Handle, malformed, understand};
use super::super::hash::changes_of;
use super::super::lua::{Lua, lua};
use super::super::session::{is_near, push, word};
use super::super::whole::sealed::Stored as _;
use super::super::write::Command;
use super::{Refreshed, State, longest, state};
use crate::field::Change;
use crate::kind::{Declared, Hash, RefreshToken};
use crate::{Fields, Key};
use redis::{Cmd, Value};

static REFRESH: Lua = lua!(
    "../session/now.lua",
    "../lua/moment.lua",
    "../session/stamp.lua",
    "../session/run.lua",
    "refresh.lua"
);
static ARRIVE: Lua = lua!(
    "../session/now.lua",
    "../lua/moment.lua",
    "../session/stamp.lua",
    "../session/run.lua",
    "arrive.lua"
);
static LEAVE: Lua = lua!("../session/now.lua", "leave.lua");
static SETTLE: Lua = lua!("settle.lua");
static DISCARD: Lua = lua!("discard.lua");

/// How often a token is copied again because it was changed meanwhile.
const ATTEMPTS: usize = 16;

impl<K: Key, F> Handle<'_, K, RefreshToken<F>, Declared>
where
    F: Fields + Clone + Send + Sync + 'static,
{
    /// Exchanges the token for a successor, which holds the same with these changes and lives for the whole TTL. `None`
    /// if there is no such token.
    ///
    /// A client whose answer was lost asks again. Within `reuse_grace` it gets the successor of the first time: let the
    /// successor's token follow from the old one and a secret of the application (HMAC), so that the same one is proposed.
    /// If that successor has been used already, the answer is `None`.
    ///
    /// # Errors
    /// [`Error::Reused`] if the token is used again later: somebody else has it, and all that came after it was revoked.
    /// [`Error::Revoked`] if its family was revoked before. After [`Error::Unknown`] call it again with the same
    /// successor.
    pub async fn refresh(
        &self,
        successor: &K,
        changes: impl IntoIterator<Item = Change<F>>,
    ) -> Result<Option<Refreshed<K, F>>, Error> {
        let changes = changes_of::<K, F>(changes)?;
        let next =
            Handle::<K, RefreshToken<F>, Declared>::new(self.core, successor.clone(), &self.prefix);
        self.core.noting(K::DEFINITION, self.exchange(&next, &changes.commands)).await
    }

    async fn exchange(
        &self,
        next: &Self,
        changes: &[Command],
    ) -> Result<Option<Refreshed<K, F>>, Error> {
        let (own, new) = (self.keys()?, next.keys()?);
        let together = is_near(self.core, &own[0], &new[0]);
        for _ in 0..ATTEMPTS {
            let (state, arrived) = if together {
                self.in_one_step(next, changes).await?
            } else {
                (state::<K>(self.core.send(&self.looking()?).await?)?, None)
            };
            let fields = match state {
                State::Gone => return Ok(None),
                State::Revoked => return Err(Error::Revoked { definition: K::NAME }),
                State::Reused(successor) => {
                    self.revoke_successors(&successor).await?;
                    return Err(Error::Reused { definition: K::NAME });
                }
                State::Repeated(successor) => return self.repeat(&successor).await,
                State::Live { .. } if together => arrived,
                State::Live { dump, left, .. } => {
                    self.step_by_step(next, &dump, left, changes).await?
                }
            };
            if let Some(fields) = fields {
                let fields = Hash::<F>::decode(K::DEFINITION, fields)?
                    .ok_or_else(|| malformed::<K>("it has no fields"))?;
                return Ok(Some(Refreshed {
                    successor: next.key.clone(),
                    fields,
                    repeated: false,
                }));
            }
        }
        Err(Error::Unavailable("the token is changed too often to be exchanged".into()))
    }

    async fn in_one_step(
        &self,
        next: &Self,
        changes: &[Command],
    ) -> Result<(State, Option<Value>), Error> {
        let ([own, became], [new, new_became]) = (self.keys()?, next.keys()?);
        let grace = K::DEFINITION.behaviour.reuse_grace_ms.unwrap_or(0);
        let call = REFRESH.call(&[&own, &became, &new, &new_became], |cmd| {
            cmd.arg(grace).arg(next.bare()).arg(next.lifetime());
            touching::<K>(cmd);
            push(cmd, changes);
        });
        // Asked again, it says what it did: a successor is given once.
        let answer = self.core.send(&call.repeatable()).await?;
        if let Value::Array(parts) = &answer
            && let [first, fields] = parts.as_slice()
            && is_word(first, b"live")
        {
            let live = State::Live { dump: Vec::new(), left: 0, fields: Value::Nil };
            return Ok((live, Some(fields.clone())));
        }
        if matches!(&answer, Value::Array(parts) if parts.first().is_some_and(|it| is_word(it, b"taken")))
        {
            return Err(taken::<K>());
        }
        Ok((state::<K>(answer)?, None))
    }

    /// The successor arrives and cannot be used, the token ends and points to it, the successor is made usable. Its
    /// fields; `None` if the token has changed meanwhile.
    async fn step_by_step(
        &self,
        next: &Self,
        dump: &[u8],
        left: i64,
        changes: &[Command],
    ) -> Result<Option<Value>, Error> {
        let ([own, became], [new, new_became]) = (self.keys()?, next.keys()?);
        let arrive = ARRIVE.call(&[&new, &new_became], |cmd| {
            cmd.arg(self.bare()).arg(dump).arg(next.lifetime());
            touching::<K>(cmd);
            push(cmd, changes);
        });
        let fields = self.core.send(&arrive.repeatable()).await?;
        if fields == Value::Nil {
            // Another call may have made it, and this token may have ended by now.
            return match state::<K>(self.core.send(&self.looking()?).await?)? {
                State::Live { .. } => Err(taken::<K>()),
                _ => Ok(None),
            };
        }
        let left = u64::try_from(left).unwrap_or(longest(K::DEFINITION));
        let leave =
            LEAVE.call(&[&own, &became], |cmd| _ = cmd.arg(dump).arg(next.bare()).arg(left));
        let ended = self.core.send(&leave).await?;
        if ended != Value::Int(1) {
            let other = match state::<K>(self.core.send(&self.looking()?).await?)? {
                State::Repeated(successor) | State::Reused(successor) => successor != next.bare(),
                _ => true,
            };
            if other {
                let discard = DISCARD.call(&[&new, &new_became], |cmd| _ = cmd.arg(self.bare()));
                self.core.send(&discard.repeatable()).await?;
            }
            return Ok(None);
        }
        self.settle(next).await.map_err(Error::after_a_change)?;
        Ok(Some(fields))
    }

    /// Makes a successor usable.
    async fn settle(&self, next: &Self) -> Result<(), Error> {
        let [new, new_became] = next.keys()?;
        let settle = SETTLE.call(&[&new, &new_became], |cmd| _ = cmd.arg(self.bare()));
        let usable: bool = understand::<_, K>(self.core.send(&settle.repeatable()).await?)?;
        if usable { Ok(()) } else { Err(Error::Revoked { definition: K::NAME }) }
    }

    /// Answers once more with the successor that the token has.
    async fn repeat(&self, successor: &str) -> Result<Option<Refreshed<K, F>>, Error> {
        let next = self.another(successor)?;
        self.settle(&next).await?;
        let fields = next.get().await?;
        Ok(fields.map(|fields| Refreshed { successor: next.key, fields, repeated: true }))
    }

    fn bare(&self) -> String {
        let mut bare = String::with_capacity(self.key.bare_len());
        self.key.write_bare(&mut bare);
        bare
    }

    fn lifetime(&self) -> u64 {
        self.ttl().unwrap_or(longest(K::DEFINITION))
    }
}

/// The field that is set to the time, as the scripts read it.
fn touching<K: Key>(cmd: &mut Cmd) {
    let (field, stamp) = match K::DEFINITION.behaviour.touched {
        Some((field, stamp)) => (field, word(stamp)),
        None => ("", String::new()),
    };
    cmd.arg(field).arg(stamp);
}

fn is_word(value: &Value, word: &[u8]) -> bool {
    matches!(value, Value::BulkString(bytes) if bytes == word)
}

fn taken<K: Key>() -> Error {
    let name = K::NAME;
    Error::Settings(format!(
        "the successor of a `{name}` is there already: each needs a hash of its own"
    ))
}
