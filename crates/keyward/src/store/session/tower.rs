//! Sessions of [tower-sessions](https://docs.rs/tower-sessions) as sessions of a definition.

use super::super::error::Error;
use super::super::handle::{Handle, malformed, understand};
use super::super::hash::field_ttls;
use super::super::ttl::pick;
use super::super::whole::sealed::Stored as _;
use super::super::write::Command;
use super::super::{Prefixed, Store};
use super::keys::with_id;
use crate::generated::JsonValue;
use crate::kind::{Declared, Hash, Json, Session};
use crate::{Field, FieldError, FieldErrorKind, Fields, Fixed, Key, Keyspace, Prefix, Uuid};
use redis::Value;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime};
use tower_sessions_core::SessionStore;
use tower_sessions_core::session::{Id, Record};
use tower_sessions_core::session_store::{Error as StoreError, Result as StoreResult};

/// Sessions of a definition for the `SessionManagerLayer` of the crate `tower-sessions`: [`Store::tower_sessions`].
///
/// One field of the hash holds all data of a session, as JSON. Every other field is filled from the datum of the same
/// name: with `session.insert("user", 7)`, the index of user 7 lists the session. Such a field must be there when the
/// session is created, unless it is optional.
///
/// A session ends with the schema's TTL or with its `expiry_date`, whichever comes first. Loading does not restart the TTL;
/// saving does, where the schema has a `max_age`.
pub struct TowerSessions<K: Key> {
    store: Store,
    prefix: <K::Keyspace as Keyspace>::Prefix,
    /// The field that holds the data
    data: Field<(), JsonValue, Json>,
}

impl Store {
    /// Sessions of a definition for `tower-sessions`; `data` is the field that holds their data.
    ///
    /// # Errors
    /// If an id of `tower-sessions` does not fit: 128 bits as base64url, hex digits or a UUID.
    pub fn tower_sessions<K, F, I>(
        &self,
        data: Field<F, JsonValue, Json>,
    ) -> Result<TowerSessions<K>, Error>
    where
        K: Key<Kind = Session<Hash<F>, I>, Keyspace: Keyspace<Prefix: Fixed>>,
    {
        TowerSessions::new(self.clone(), Default::default(), data.name())
    }
}

impl<P: Prefix> Prefixed<P> {
    /// See [`Store::tower_sessions`].
    ///
    /// # Errors
    /// As there.
    pub fn tower_sessions<K, F, I>(
        &self,
        data: Field<F, JsonValue, Json>,
    ) -> Result<TowerSessions<K>, Error>
    where
        K: Key<Kind = Session<Hash<F>, I>, Keyspace: Keyspace<Prefix = P>>,
    {
        TowerSessions::new(self.store.clone(), self.prefix.clone(), data.name())
    }
}

/// A session with fields.
type Of<F, I> = Session<Hash<F>, I>;

impl<K: Key> TowerSessions<K> {
    fn new(
        store: Store,
        prefix: <K::Keyspace as Keyspace>::Prefix,
        data: &'static str,
    ) -> Result<Self, Error> {
        // Whatever the id is, it has the same length and the same letters.
        key::<K>(Id(0x0123_4567_89ab_cdef_fedc_ba98_7654_3210))?;
        Ok(TowerSessions { store, prefix, data: Field::new(data) })
    }
}

impl<K, F, I> TowerSessions<K>
where
    K: Key<Kind = Session<Hash<F>, I>, Lifetime = Declared>,
    F: Fields + Clone + Send + Sync + 'static,
{
    fn at(&self, id: Id) -> Result<Handle<'_, K, Of<F, I>, Declared>, Error> {
        Ok(Handle::new(&self.store.core, key(id)?, &self.prefix))
    }

    async fn create_now(&self, record: &mut Record) -> Result<(), Error> {
        loop {
            let session = self.at(record.id)?;
            let living = Some(left::<K>(&session, record));
            let parts = (session.key, session.prefix, living);
            let session = Handle::<K, Of<F, I>, Declared>::again(&self.store.core, parts);
            if session.create(&self.fields(record)?).await? {
                return Ok(());
            }
            record.id = Id::default();
        }
    }

    async fn save_now(&self, record: &Record) -> Result<(), Error> {
        let (session, fields) = (self.at(record.id)?, self.fields(record)?);
        let pairs = fields.to_pairs()?;
        let decided: Vec<&str> = Handle::<K, Of<F, I>, Declared>::deciding_fields();
        let touched = K::DEFINITION.behaviour.touched;
        let kept = |name: &str| decided.contains(&name) || touched.is_some_and(|it| it.0 == name);
        let (mut set, mut removed) = (Command::new("HSET"), Command::new("HDEL"));
        for (name, value) in &pairs {
            if !std::str::from_utf8(name).is_ok_and(kept) {
                set = set.arg(name).arg(value);
            }
        }
        let is_written = |name: &str| pairs.iter().any(|(it, _)| *it == name.as_bytes());
        for name in F::FIELDS.iter().filter(|name| !kept(name) && !is_written(name)) {
            removed = removed.arg(*name);
        }
        let ttls = field_ttls::<F>(pairs.iter().map(|(name, _)| name.as_slice()));
        let commands = [set, removed].into_iter().filter(|command| command.0.len() > 1);
        let commands: Vec<Command> = commands.chain(ttls).collect();
        self.stays_listed(&session, &decided, &pairs).await?;
        let left = left::<K>(&session, record).as_millis();
        let renewed = session.renewal_by_touch().map(|_| u64::try_from(left).unwrap_or(u64::MAX));
        match session.live(renewed, touched, &commands).await? {
            Some(_) => Ok(()),
            None => Err(Error::Revoked { definition: K::NAME }),
        }
    }

    /// Refuses another value for a field that decides which index lists the session.
    async fn stays_listed(
        &self,
        session: &Handle<'_, K, Of<F, I>, Declared>,
        decided: &[&str],
        pairs: &[(Vec<u8>, Vec<u8>)],
    ) -> Result<(), Error> {
        if decided.is_empty() {
            return Ok(());
        }
        let ask = Command::new("HMGET").arg(decided);
        let Some(answers) = session.live(None, None, &[ask]).await? else {
            return Err(Error::Revoked { definition: K::NAME });
        };
        let stored: Vec<Option<Vec<u8>>> =
            understand::<_, K>(answers.into_iter().next().unwrap_or(Value::Nil))?;
        for (name, stored) in decided.iter().zip(stored) {
            let new = pairs.iter().find(|(it, _)| it == name.as_bytes()).map(|(_, value)| value);
            if new != stored.as_ref() {
                return Err(Error::Malformed {
                    definition: K::NAME,
                    field: Some((*name).to_owned()),
                    why:
                        "it decides which index lists the session: call `cycle_id` with the change"
                            .to_owned(),
                });
            }
        }
        Ok(())
    }

    async fn load_now(&self, id: Id) -> Result<Option<Record>, Error> {
        let session = self.at(id)?;
        let commands = [Command::new("HGETALL"), Command::new("PTTL")];
        let Some(mut answers) = session.live(None, None, &commands).await? else { return Ok(None) };
        let left: i64 = understand::<_, K>(answers.pop().unwrap_or(Value::Nil))?;
        let fields = Hash::<F>::decode(K::DEFINITION, answers.pop().unwrap_or(Value::Nil))?;
        let Some(fields) = fields else { return Ok(None) };
        let pairs = fields.to_pairs()?;
        let data = pairs.iter().find(|(name, _)| name == self.data.name().as_bytes());
        let data = data.map_or(Ok(HashMap::new()), |(_, json)| serde_json::from_slice(json));
        let data = data.map_err(|_| {
            let kind = FieldErrorKind::Malformed;
            Error::from(FieldError::new(K::NAME, self.data.name(), kind))
        })?;
        let end = SystemTime::now() + Duration::from_millis(u64::try_from(left).unwrap_or(0));
        Ok(Some(Record { id, data, expiry_date: end.into() }))
    }

    /// What a hash holds of a session.
    fn fields(&self, record: &Record) -> Result<F, Error> {
        let text = |value: &JsonValue| match value {
            JsonValue::Null => None,
            JsonValue::String(text) => Some(text.clone().into_bytes()),
            other => Some(other.to_string().into_bytes()),
        };
        let others = F::FIELDS.iter().filter(|name| **name != self.data.name());
        let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = others
            .filter_map(|name| Some((name.as_bytes().to_vec(), text(record.data.get(*name)?)?)))
            .collect();
        let data =
            serde_json::to_vec(&record.data).map_err(|error| malformed::<K>(error.to_string()))?;
        pairs.push((self.data.name().as_bytes().to_vec(), data));
        Ok(F::from_owned_pairs(pairs)?)
    }
}

/// How long a session may live from now on: by the schema, and by its own date.
fn left<K: Key>(session: &Handle<'_, K, impl Sized, Declared>, record: &Record) -> Duration {
    let ttl = pick(session.key.ttl(), K::DEFINITION.behaviour.jitter);
    let ttl = ttl.map_or(Duration::MAX, Duration::from_millis);
    let own = SystemTime::from(record.expiry_date).duration_since(SystemTime::now());
    own.unwrap_or(Duration::ZERO).clamp(Duration::from_millis(1), ttl)
}

/// The key of a session.
fn key<K: Key>(id: Id) -> Result<K, Error> {
    let bytes = id.0.to_le_bytes();
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    let texts = [id.to_string(), hex, Uuid::from_bytes(bytes).to_string()];
    texts.iter().find_map(|text| with_id(text, &[])).ok_or_else(|| {
        Error::Settings(format!(
            "`{}` cannot hold sessions of tower-sessions: its key must have one parameter, which takes 22 characters of \
             base64url, 32 hex digits or a UUID",
            K::NAME
        ))
    })
}

type Answer<'a, T> = Pin<Box<dyn Future<Output = StoreResult<T>> + Send + 'a>>;

impl<K, F, I> SessionStore for TowerSessions<K>
where
    K: Key<Kind = Session<Hash<F>, I>, Lifetime = Declared>,
    F: Fields + Clone + Send + Sync + 'static,
    I: 'static,
{
    fn create<'a: 'f, 'r: 'f, 'f>(&'a self, record: &'r mut Record) -> Answer<'f, ()> {
        Box::pin(async { self.create_now(record).await.map_err(told) })
    }

    fn save<'a: 'f, 'r: 'f, 'f>(&'a self, record: &'r Record) -> Answer<'f, ()> {
        Box::pin(async { self.save_now(record).await.map_err(told) })
    }

    fn load<'a: 'f, 'r: 'f, 'f>(&'a self, id: &'r Id) -> Answer<'f, Option<Record>> {
        Box::pin(async { self.load_now(*id).await.map_err(told) })
    }

    /// Revokes it: nobody makes it again.
    fn delete<'a: 'f, 'r: 'f, 'f>(&'a self, id: &'r Id) -> Answer<'f, ()> {
        Box::pin(async { self.at(*id).map_err(told)?.revoke().await.map(|_| ()).map_err(told) })
    }
}

fn told(error: Error) -> StoreError {
    match error {
        Error::Malformed { .. } | Error::WrongType { .. } => StoreError::Decode(error.to_string()),
        error => StoreError::Backend(error.to_string()),
    }
}

impl<K: Key> Clone for TowerSessions<K> {
    fn clone(&self) -> Self {
        TowerSessions { store: self.store.clone(), prefix: self.prefix.clone(), data: self.data }
    }
}

impl<K: Key> fmt::Debug for TowerSessions<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TowerSessions").field("definition", &K::NAME).finish_non_exhaustive()
    }
}
