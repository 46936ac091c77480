//! Sessions: an id, a sliding TTL with an end, and revocations that hold.
//!
//! Beside a session stand its tombstone (`~revoked`), which every call respects, and its end (`~until`), if it slides. Beside
//! the index of a user's sessions stand their ends (`~ends`), which prune it. Whatever makes a session lists it first: an
//! index may name a session that is not there, but none is there that its index does not name.

mod keys;
mod rotate;
#[cfg(feature = "tower-sessions")]
mod tower;
mod user;

pub(crate) use keys::is_near;
#[cfg(feature = "tower-sessions")]
pub use tower::TowerSessions;
pub use user::Sessions;

use super::core::Core;
use super::error::Error;
use super::handle::{Handle, malformed, understand};
use super::hash::changes_of;
use super::lua::{Lua, lua};
use super::request::{Call, Calls, Request};
use super::ttl::pick;
use super::whole::Whole;
use super::write::{Command, about};
use crate::definition::{SessionOptions, Stamp};
use crate::field::Change;
use crate::kind::{Declared, Hash, Session, Str};
use crate::{Codec, Definition, Field, Fields, Key};
use keys::{Keys, Listing, Revocations};
use redis::{Cmd, Value};

static LIVE: Lua = lua!("now.lua", "../lua/moment.lua", "stamp.lua", "run.lua", "live.lua");
static CREATE: Lua = lua!("now.lua", "run.lua", "enlist.lua", "create.lua");
static LIST: Lua = lua!("now.lua", "enlist.lua", "list.lua");
static UNLIST: Lua = lua!("full.lua", "unlist.lua");
static REVOKE: Lua = lua!("full.lua", "now.lua", "../lua/moment.lua", "stamp.lua", "revoke.lua");
static MARK: Lua = lua!("full.lua", "now.lua", "../lua/moment.lua", "stamp.lua", "mark.lua");

/// The options of a definition that is a session.
fn options<K: Key>() -> SessionOptions {
    K::DEFINITION.behaviour.session.unwrap_or(SessionOptions::new(0))
}

/// How long a session of this definition may live at most, in milliseconds.
fn longest<K: Key>() -> u64 {
    let ttl = K::DEFINITION.ttl.longest().and_then(|ttl| u64::try_from(ttl.as_millis()).ok());
    options::<K>().max_age_ms.max(ttl).unwrap_or(u64::from(u32::MAX))
}

impl<'s, K: Key, T: Whole, I, L> Handle<'s, K, Session<T, I>, L> {
    /// What the session holds; `None` if there is none, or if it was revoked. With `sliding = true` its TTL
    /// starts again, up to `max_age`.
    ///
    /// # Errors
    /// If the server cannot be asked whether it was revoked: then it must not be used. If it does not hold
    /// what was declared.
    pub fn get(&self) -> Request<'s, Option<T::Value>> {
        let renewed = self.sliding().filter(|_| options::<K>().max_age_ms.is_some());
        let asking = Command::without_key(&T::asking(""));
        self.live(renewed, None, &[asking]).map(|answers| match answers {
            None => Ok(None),
            Some(answers) => {
                T::decode(K::DEFINITION, answers.into_iter().next().unwrap_or(Value::Nil))
            }
        })
    }

    /// Notes that the session is in use: sets the field that `touched` names to the server's time, and starts
    /// the TTL again where the schema has a `max_age`, up to that. Whether there is such a session.
    pub fn touch(&self) -> Request<'s, bool> {
        self.live(self.renewal_by_touch(), K::DEFINITION.behaviour.touched, &[])
            .map(|answers| Ok(answers.is_some()))
    }

    /// Ends the session: when this returns, no process reads, touches, rotates or makes it again. Leaves a
    /// tombstone, and a key of the definition that `revoked` names. Works on a full server. Whether there was
    /// such a session; of a call that had to be repeated this is not known, and it says `false`.
    ///
    /// # Errors
    /// If the server cannot be asked. After [`Error::Unknown`] call it again: revoking twice is revoking.
    pub async fn revoke(&self) -> Result<bool, Error> {
        self.core.noting(K::DEFINITION, self.revoke_and_unlist()).await
    }

    async fn revoke_and_unlist(&self) -> Result<bool, Error> {
        let revocations = self.revocations()?;
        let fields = Self::deciding_fields();
        let answer = self.core.send(&self.revoking(&revocations, &fields)?).await?;
        self.mark(&revocations).await.map_err(Error::after_a_change)?;
        let Value::Array(mut parts) = answer else { return Err(malformed::<K>(NOT_A_LIST)) };
        let values = parts.split_off(1.min(parts.len()));
        let live = parts == [Value::Int(1)];
        if live && let Ok(Some(listing)) = self.listing(&texts::<K>(&fields, values)?) {
            // The index may name it for a while: it is pruned when its time is over.
            if let Err(error) = self.core.send(&listing.unlist(&[&keys::member(&self.key)])).await {
                self.core.failures.note(K::NAME, &error);
            }
        }
        Ok(live)
    }

    /// The call that revokes it, and says so in its slot.
    fn revoking(&self, revocations: &Revocations, fields: &[&str]) -> Result<Call, Error> {
        let own = self.keys()?;
        let near = revocations.near(self.core, &own.name);
        let (ttl, stamp) = revocations.content();
        let keys: Vec<&str> = own.all().into_iter().chain(near).collect();
        Ok(REVOKE
            .call(&keys, |cmd| _ = cmd.arg(longest::<K>()).arg(ttl).arg(stamp).arg(fields))
            .repeatable())
    }

    /// Says in other slots that it was revoked.
    async fn mark(&self, revocations: &Revocations) -> Result<(), Error> {
        let (ttl, stamp) = revocations.content();
        let far = revocations.far(self.core, &self.names.name);
        let marks =
            far.map(|name| MARK.call(&[name], |cmd| _ = cmd.arg(ttl).arg(&stamp)).repeatable());
        for answer in self.core.send_each(marks.collect()).await? {
            answer?;
        }
        Ok(())
    }

    /// Does something to the session if it is live; the answers, or `None` if it is not.
    fn live(
        &self,
        renewed: Option<u64>,
        touched: Option<(&'static str, Stamp)>,
        commands: &[Command],
    ) -> Request<'s, Option<Vec<Value>>> {
        let (own, revocations) = match self.keys().and_then(|own| Ok((own, self.revocations()?))) {
            Ok(found) => found,
            Err(error) => return Request::known(self.core, K::NAME, Err(error)),
        };
        let keys: Vec<&str> =
            own.all().into_iter().chain(revocations.near(self.core, &own.name)).collect();
        let (field, stamp) =
            touched.map_or(("", String::new()), |(field, stamp)| (field, word(stamp)));
        let call = LIVE.call(&keys, |cmd| {
            cmd.arg(renewed.unwrap_or(0)).arg(field).arg(stamp);
            push(cmd, commands);
        });
        let far = revocations.far(self.core, &own.name);
        let far = far.map(|name| Call::reading(about("EXISTS", name))).collect();
        // What is written here may be written twice: a time, and a TTL that starts again.
        let only_reads = commands.iter().all(|command| READS.contains(&command.0[0].as_slice()));
        let call = if only_reads { call.repeatable() } else { call };
        Request::new(self.core, K::DEFINITION, Calls::group(call, far), |answers| {
            if answers.rest.contains(&Value::Int(1)) {
                return Ok(None);
            }
            understand::<Option<Vec<Value>>, K>(answers.first)
        })
    }

    /// The TTL that starts again when the session is used, in milliseconds; `None` if none does.
    fn renewal_by_touch(&self) -> Option<u64> {
        options::<K>().max_age_ms?;
        pick(self.key.ttl(), K::DEFINITION.behaviour.jitter)
    }

    fn keys(&self) -> Result<Keys, Error> {
        Keys::of(&self.names, K::NAME)
    }

    fn revocations(&self) -> Result<Revocations, Error> {
        Ok(Revocations::new(self.linked("revoked", &[])?, options::<K>().revoked))
    }

    /// The index that lists it, if there is one. Takes the fields that decide which.
    fn listing(&self, fields: &[(String, String)]) -> Result<Option<Listing>, Error> {
        let given: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let Some(linked) = self.linked("index", &given)? else { return Ok(None) };
        Listing::new(linked.definition, &linked.names, options::<K>().score_ms).map(Some)
    }

    /// The fields that decide which index lists a session: parameters of the index that the session has not.
    fn deciding_fields() -> Vec<&'static str> {
        let own = |name: &str| K::DEFINITION.params.iter().any(|param| param.name == name);
        let params = Self::link("index").map_or(&[][..], |index| index.params);
        params.iter().map(|param| param.name).filter(|name| !own(name)).collect()
    }
}

impl<K: Key, T: Whole, I> Handle<'_, K, Session<T, I>, Declared> {
    /// Makes a session with this id; `false` if there is one already. [`Sessions::create`] chooses an id.
    ///
    /// # Errors
    /// [`Error::Revoked`] if the id was revoked, [`Error::Full`] if the index of the user's sessions has no
    /// room.
    pub async fn create(&self, value: &T::Value) -> Result<bool, Error> {
        self.core.noting(K::DEFINITION, self.make(value, false)).await
    }

    /// Makes it. A `fresh` id is nobody else's, so that the call may be repeated.
    pub(crate) async fn make(&self, value: &T::Value, fresh: bool) -> Result<bool, Error> {
        let (own, revocations) = (self.keys()?, self.revocations()?);
        let commands = T::encode(K::DEFINITION, value)?;
        let listing = self.listing(&written_fields(&commands))?;
        let ttl = self.ttl().unwrap_or(longest::<K>());
        let age = options::<K>().max_age_ms.unwrap_or(0);
        let (near, far): (Option<&Listing>, Option<&Listing>) = match &listing {
            Some(listing) if keys::is_near(self.core, &own.name, &listing.index) => {
                (Some(listing), None)
            }
            listing => (None, listing.as_ref()),
        };
        let member = keys::member(&self.key);
        let mut before: Vec<Call> = revocations
            .far(self.core, &own.name)
            .map(|name| Call::reading(about("EXISTS", name)))
            .collect();
        if let Some(listing) = far {
            // A session that is there may be listed elsewhere.
            if !fresh && self.exists().await? {
                return Ok(false);
            }
            before.push(listing.list(&member, &ttl.max(age).to_string(), false));
        }
        let mut answers =
            self.core.send_each(before).await?.into_iter().collect::<Result<Vec<_>, _>>()?;
        let listed = if far.is_some() { answers.pop() } else { None };
        let mut made = if answers.contains(&Value::Int(1)) { Some(REVOKED) } else { None };
        if listed == Some(Value::Int(0)) {
            made = Some(FULL);
        }
        let made = if let Some(refused) = made {
            refused
        } else {
            let revoking: Vec<&str> = revocations.near(self.core, &own.name).collect();
            let index = near.map(|listing| [listing.index.as_str(), listing.ends.as_str()]);
            let keys: Vec<&str> = own
                .all()
                .into_iter()
                .chain(revoking.iter().copied())
                .chain(index.into_iter().flatten())
                .collect();
            let call = CREATE.call(&keys, |cmd| {
                cmd.arg(ttl).arg(age).arg(&member);
                let (ttl, unit, most) = near.map_or((0, 1, 0), |it| (it.ttl, it.unit, it.most));
                cmd.arg(ttl).arg(unit).arg(most).arg(revoking.len());
                push(cmd, &commands);
            });
            let call = if fresh { call.repeatable() } else { call };
            understand::<i64, K>(self.core.send(&call).await?)?
        };
        match made {
            FULL => Err(Error::Full {
                definition: Self::link("index").map_or(K::NAME, |index| index.name),
                max_len: listing.map_or(0, |listing| listing.most),
            }),
            REVOKED => {
                if let Some(listing) = far {
                    self.core
                        .send(&listing.unlist(&[&member]))
                        .await
                        .map_err(Error::after_a_change)?;
                }
                Err(Error::Revoked { definition: K::NAME })
            }
            made => Ok(made == 1 || fresh),
        }
    }
}

/// What `create.lua` says if there is no session then.
const REVOKED: i64 = -1;
const FULL: i64 = -2;
const NOT_A_LIST: &str = "the server's answer is not a list";
/// The commands that only read.
const READS: [&[u8]; 5] = [b"GET", b"HGETALL", b"HMGET", b"DUMP", b"PTTL"];

impl<'s, K: Key, F: Fields + Clone + Send + Sync + 'static, I, L>
    Handle<'s, K, Session<Hash<F>, I>, L>
{
    /// One field; `None` if there is no session, or it does not have the field.
    pub fn get_field<V: Send + 's, C: Codec<V>>(
        &self,
        field: Field<F, V, C>,
    ) -> Request<'s, Option<V>> {
        let name = field.name();
        let renewed = self.sliding().filter(|_| options::<K>().max_age_ms.is_some());
        self.live(renewed, None, &[Command::new("HMGET").arg(name)]).map(move |answers| {
            let Some(answer) = answers.and_then(|answers| answers.into_iter().next()) else {
                return Ok(None);
            };
            let (bytes,): (Option<Vec<u8>>,) = understand::<_, K>(answer)?;
            let value = bytes.map(|bytes| C::decode(&bytes)).transpose();
            value.map_err(|_| {
                crate::FieldError::new(K::NAME, name, crate::FieldErrorKind::Malformed).into()
            })
        })
    }

    /// Sets several fields in one step, and leaves the others alone; whether there is such a session. Where the
    /// schema has a `max_age`, the TTL starts again, unless all of these fields have `on_write = "keep"`.
    ///
    /// # Errors
    /// If a field is among them that decides which index lists the session: make another session instead.
    pub fn update(&self, changes: impl IntoIterator<Item = Change<F>>) -> Request<'s, bool> {
        let changes = match changes_of::<K, F>(changes) {
            Ok(changes) => changes,
            Err(error) => return Request::known(self.core, K::NAME, Err(error)),
        };
        if let Some(field) =
            Self::deciding_fields().into_iter().find(|it| changes.names.contains(it))
        {
            let why = "it decides which index lists the session: make another session".to_owned();
            let error =
                Error::Malformed { definition: K::NAME, field: Some(field.to_owned()), why };
            return Request::known(self.core, K::NAME, Err(error));
        }
        let renewed = self.renewal_by_touch().filter(|_| !changes.keep_ttl);
        self.live(renewed, None, &changes.commands).map(|answers| Ok(answers.is_some()))
    }
}

impl<'s, K: Key, V, C: Codec<V>, I, L> Handle<'s, K, Session<Str<V, C>, I>, L>
where
    V: Clone + Send + Sync + 'static,
{
    /// Replaces what the session holds; whether there is such a session. Where the schema has a `max_age`, the
    /// TTL starts again.
    pub fn replace(&self, value: &V) -> Request<'s, bool> {
        use super::whole::sealed::Stored as _;
        let commands = match <Str<V, C>>::encode(K::DEFINITION, value) {
            Ok(commands) => commands.into_iter().map(|command| command.arg("KEEPTTL")),
            Err(error) => return Request::known(self.core, K::NAME, Err(error)),
        };
        self.live(self.renewal_by_touch(), None, &commands.collect::<Vec<_>>())
            .map(|answers| Ok(answers.is_some()))
    }
}

/// Appends commands as the scripts read them.
pub(crate) fn push(cmd: &mut Cmd, commands: &[Command]) {
    for command in commands {
        cmd.arg(command.0.len()).arg(&command.0);
    }
}

/// A stamp as the scripts read it.
pub(crate) fn word(stamp: Stamp) -> String {
    match stamp {
        Stamp::Timestamp => "timestamp".to_owned(),
        Stamp::Date => "date".to_owned(),
        Stamp::Unix => "unix".to_owned(),
        Stamp::UnixMs => "unix_ms".to_owned(),
        Stamp::Word(word) => format!("={word}"),
    }
}

/// The fields that commands write, as text.
fn written_fields(commands: &[Command]) -> Vec<(String, String)> {
    let pairs = commands.iter().filter(|it| it.0[0] == b"HSET").flat_map(|it| it.0[1..].chunks(2));
    let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).ok();
    pairs.filter_map(|pair| Some((text(pair.first()?)?, text(pair.get(1)?)?))).collect()
}

/// The values of fields, as text; those that are missing are left out.
fn texts<K: Key>(fields: &[&str], values: Vec<Value>) -> Result<Vec<(String, String)>, Error> {
    let mut texts = Vec::with_capacity(fields.len());
    for (field, value) in fields.iter().zip(values) {
        let value: Option<String> = understand::<_, K>(value)?;
        texts.extend(value.map(|value| ((*field).to_owned(), value)));
    }
    Ok(texts)
}

impl Core {
    /// Does something about a definition in as many steps as it takes, and counts it if it fails.
    pub(crate) async fn noting<R>(
        &self,
        definition: &'static Definition,
        work: impl Future<Output = Result<R, Error>>,
    ) -> Result<R, Error> {
        self.suits(definition)?;
        let done = work.await.map_err(|error| error.about(definition.name));
        done.inspect_err(|error| self.failures.note(definition.name, error))
    }
}
