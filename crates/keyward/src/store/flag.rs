//! Flags: a user's override, then the configuration for all, then the schema's default.

use super::error::Error;
use super::handle::Handle;
use super::pipeline::Pipeline;
use super::whole::Whole;
use crate::kind::Flag;
use crate::{Codec, Key, Switch};

impl<K: Key, V, C: Codec<V>, O, L> Handle<'_, K, Flag<V, C, O>, L>
where
    V: Clone + Send + Sync + 'static,
{
    /// Whether it is on for all: what is stored, or else the schema's `default`.
    ///
    /// # Errors
    /// If the server cannot be asked, or if what it holds is not what was declared.
    pub async fn enabled(&self) -> Result<bool, Error>
    where
        V: Switch,
    {
        self.enabled_if(V::is_on).await
    }

    /// The same where the application knows what the stored configuration means.
    ///
    /// # Errors
    /// See [`enabled`](Handle::enabled).
    pub async fn enabled_if(&self, means: impl FnOnce(&V) -> bool) -> Result<bool, Error> {
        let stored = self.get().await?;
        Ok(stored.map_or(K::DEFINITION.behaviour.on_by_default, |config| means(&config)))
    }

    /// Whether it is on for one user: what the override says, or else what is stored for all, or else the
    /// schema's `default`. Both are read in one round trip, and from this process where the schema has `l1`.
    ///
    /// # Errors
    /// If the server cannot be asked, if what decides is not what was declared, or if the override is one of
    /// another flag.
    pub async fn enabled_for<T>(&self, user: O) -> Result<bool, Error>
    where
        V: Switch,
        O: Key<Keyspace = K::Keyspace, Kind = T>,
        T: Whole<Value: Switch>,
    {
        self.enabled_for_if(user, V::is_on).await
    }

    /// The same where the application knows what the stored configuration means for this user.
    ///
    /// # Errors
    /// See [`enabled_for`](Handle::enabled_for).
    pub async fn enabled_for_if<T>(
        &self,
        user: O,
        means: impl FnOnce(&V) -> bool,
    ) -> Result<bool, Error>
    where
        O: Key<Keyspace = K::Keyspace, Kind = T>,
        T: Whole<Value: Switch>,
    {
        self.is_about(&user)?;
        let user: Handle<'_, O, T, O::Lifetime> = Handle::new(self.core, user, &self.prefix);
        let mut batch = Pipeline::new(self.core);
        let (own, global) = (batch.add(user.get()), batch.add(self.get()));
        let mut results = batch.run().await?;
        // Both are taken, so that both are kept in the process.
        let (own, stored) = (results.take(own), results.take(global));
        if let Some(own) = own? {
            return Ok(own.is_on());
        }
        Ok(stored?.map_or(K::DEFINITION.behaviour.on_by_default, |config| means(&config)))
    }

    /// Whether an override has the values of this flag, wherever both have a parameter.
    fn is_about<U: Key>(&self, user: &U) -> Result<(), Error> {
        let values = |definition: &'static crate::Definition, values: Vec<String>| {
            definition.params.iter().map(|param| param.name).zip(values)
        };
        let own: Vec<(&str, String)> = values(K::DEFINITION, self.key.values()).collect();
        let mut theirs = values(U::DEFINITION, user.values());
        let other =
            theirs.find(|(name, value)| own.iter().any(|it| it.0 == *name && it.1 != *value));
        match other {
            None => Ok(()),
            Some((name, _)) => Err(Error::Settings(format!(
                "the key of `{}` has another `{name}` than the flag `{}` that it overrides",
                U::NAME,
                K::NAME
            ))),
        }
    }
}
