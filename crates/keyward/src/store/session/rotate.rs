//! Another id for a session: in one step where one script reaches everything, otherwise by moving it.

use super::super::error::Error;
use super::super::handle::{Handle, malformed, understand};
use super::super::lua::{Lua, lua};
use super::super::random::{fitting, random_id};
use super::super::whole::Whole;
use super::super::write::{Command, about};
use super::keys::{self, Keys, Listing, Revocations, is_near, member};
use super::{longest, texts};
use crate::Key;
use crate::kind::Session;
use redis::Value;

static ROTATE: Lua = lua!("now.lua", "enlist.lua", "rotate.lua");
static ARRIVE: Lua = lua!("arrive.lua");
static LEAVE: Lua = lua!("leave.lua");
static SETTLE: Lua = lua!("settle.lua");

/// How often a session is copied again because it was changed meanwhile.
const ATTEMPTS: usize = 16;

/// How an attempt ended.
enum Attempt {
    Done,
    /// There is no such session any more
    Gone,
    /// It was changed meanwhile
    Changed,
}

impl<K: Key, T: Whole, I, L> Handle<'_, K, Session<T, I>, L> {
    /// Gives the session another id: the same data, the same end. The old id is refused from then on. `None` if
    /// there is no such session, or if it was revoked.
    ///
    /// # Errors
    /// [`Error::Revoked`] if it was revoked meanwhile. If the answer is lost ([`Error::Unknown`]), the old id may
    /// not work any more: the user logs in again.
    pub async fn rotate(&self) -> Result<Option<K>, Error> {
        self.core.noting(K::DEFINITION, self.rotate_now()).await
    }

    async fn rotate_now(&self) -> Result<Option<K>, Error> {
        let known = keys::named(&self.key);
        let (own, revocations) = (self.keys()?, self.revocations()?);
        for _ in 0..ATTEMPTS {
            let Some(seen) = self.look().await? else { return Ok(None) };
            // Another id each time: whoever revokes all sessions may be about to drop the last one from the index.
            let new: K = fitting(|id| keys::with_id(id, &known))?;
            let new = Handle::<K, Session<T, I>, L>::new(self.core, new, &self.prefix);
            let next = new.keys()?;
            let listing = self.listing(&seen.fields)?;
            let index = listing.iter().map(|listing| &listing.index);
            let mut touched = [&next.name].into_iter().chain(index);
            let together = touched.all(|name| is_near(self.core, &own.name, name))
                && revocations.far(self.core, &own.name).next().is_none();
            let attempt = if together {
                self.in_one_step(&own, &new, &next, listing.as_ref(), &revocations, &seen).await?
            } else {
                self.step_by_step(&own, &new, &next, listing.as_ref(), &seen).await?
            };
            match attempt {
                Attempt::Done => return Ok(Some(new.key)),
                Attempt::Gone => return Ok(None),
                Attempt::Changed => {}
            }
        }
        Err(Error::Unavailable("the session is changed too often to be rotated".into()))
    }

    async fn in_one_step(
        &self,
        own: &Keys,
        new: &Self,
        next: &Keys,
        listing: Option<&Listing>,
        revocations: &Revocations,
        seen: &Seen,
    ) -> Result<Attempt, Error> {
        let revoking: Vec<&str> = revocations.near(self.core, &own.name).collect();
        let index = listing.map(|listing| [listing.index.as_str(), listing.ends.as_str()]);
        let mut keys = [own.all(), next.all()].concat();
        keys.extend(&revoking);
        keys.extend(index.into_iter().flatten());
        let call = ROTATE.call(&keys, |cmd| {
            cmd.arg(longest::<K>()).arg(member(&self.key)).arg(member(&new.key));
            let (ttl, unit) = listing.map_or((0, 1), |it| (it.ttl, it.unit));
            cmd.arg(ttl).arg(unit).arg(revoking.len());
            for (field, value) in &seen.fields {
                cmd.arg(field).arg(value);
            }
        });
        Ok(match understand::<i64, K>(self.core.send(&call).await?)? {
            1 => Attempt::Done,
            0 => Attempt::Gone,
            _ => Attempt::Changed,
        })
    }

    /// The session arrives under its new id with a tombstone, leaves its old id, and settles when the tombstone is
    /// taken away. The index names the new id before: whoever revokes all of a user's sessions finds one of the two,
    /// and each step respects its tombstone.
    async fn step_by_step(
        &self,
        own: &Keys,
        new: &Self,
        next: &Keys,
        listing: Option<&Listing>,
        seen: &Seen,
    ) -> Result<Attempt, Error> {
        let pending = format!("pending {}", random_id::<String>()?);
        let (old_member, new_member) = (member(&self.key), member(&new.key));
        if let Some(listing) = listing {
            let end = if seen.end.is_empty() { seen.left.to_string() } else { seen.end.clone() };
            // There is room for it as soon as the old one has gone.
            let listing = Listing {
                most: 0,
                index: listing.index.clone(),
                ends: listing.ends.clone(),
                ..*listing
            };
            self.core.send(&listing.list(&new_member, &end, !seen.end.is_empty())).await?;
        }
        let arrive = ARRIVE.call(&next.all(), |cmd| {
            cmd.arg(&pending).arg(&seen.dump).arg(seen.left).arg(&seen.end);
        });
        let arrived = self.core.send(&arrive).await?;
        if arrived != Value::Int(1) {
            return Err(Error::Revoked { definition: K::NAME });
        }
        let leave = LEAVE.call(&own.all(), |cmd| _ = cmd.arg(&seen.dump).arg(longest::<K>()));
        match understand::<i64, K>(self.core.send(&leave).await?)? {
            1 => {}
            ended => {
                new.discard(listing, &new_member).await?;
                return Ok(if ended == 0 { Attempt::Gone } else { Attempt::Changed });
            }
        }
        let settle = SETTLE.call(&[&next.tombstone], |cmd| _ = cmd.arg(&pending));
        let settled = self.core.send(&settle).await.map_err(Error::after_a_change)?;
        if let Some(listing) = listing {
            let unlist = listing.unlist(&[&old_member]);
            self.core.send(&unlist).await.map_err(Error::after_a_change)?;
        }
        if settled == Value::Int(1) {
            Ok(Attempt::Done)
        } else {
            Err(Error::Revoked { definition: K::NAME })
        }
    }

    /// Ends a copy that nobody has used.
    async fn discard(&self, listing: Option<&Listing>, member: &str) -> Result<(), Error> {
        self.core.send(&self.revoking(&Revocations::new(None, None), &[])?).await?;
        if let Some(listing) = listing {
            self.core.send(&listing.unlist(&[member])).await?;
        }
        Ok(())
    }

    /// A copy of the session, if it is live.
    async fn look(&self) -> Result<Option<Seen>, Error> {
        let fields = Self::deciding_fields();
        let mut commands = vec![Command::new("DUMP"), Command::new("PTTL")];
        if !fields.is_empty() {
            commands.push(Command::new("HMGET").arg(fields.as_slice()));
        }
        let Some(mut answers) = self.live(None, None, &commands).await? else { return Ok(None) };
        let end = self.core.ask(&about("GET", &self.keys()?.end)).await?;
        let values = match answers.drain(2.min(answers.len())..).next() {
            Some(Value::Array(values)) => values,
            None => Vec::new(),
            Some(_) => return Err(malformed::<K>(super::NOT_A_LIST)),
        };
        let left: i64 = understand::<_, K>(answers.remove(1))?;
        Ok(Some(Seen {
            dump: understand::<_, K>(answers.remove(0))?,
            left: u64::try_from(left).unwrap_or(longest::<K>()),
            end: understand::<Option<String>, K>(end)?.unwrap_or_default(),
            fields: texts::<K>(&fields, values)?,
        }))
    }
}

/// A session as it was copied.
struct Seen {
    dump: Vec<u8>,
    /// How long it will live, in milliseconds
    left: u64,
    /// When it ends, in milliseconds since 1970; empty if with its TTL
    end: String,
    fields: Vec<(String, String)>,
}
