//! The keys of other definitions that a role writes: the dead letters of a queue, the index of a session.

use super::error::Error;
use super::handle::Handle;
use super::names::Names;
use crate::{Definition, Key, Keyspace, generated};

/// A key of another definition.
#[derive(Debug, Clone)]
pub(crate) struct Linked {
    pub(crate) definition: &'static Definition,
    pub(crate) names: Names,
}

impl<K: Key, T, L> Handle<'_, K, T, L> {
    /// The definition that an option of the role names, if the schema has it.
    pub(crate) fn link(what: &str) -> Option<&'static Definition> {
        let link = K::DEFINITION.links.iter().find(|link| link.what == what)?;
        <K::Keyspace as Keyspace>::DEFINITIONS.get(link.number as usize)
    }

    /// The key of a definition that an option of the role names; `None` if the schema does not have it.
    ///
    /// Its parameters have the values that are given, or else those that this key's parameters of the same
    /// names have.
    ///
    /// # Errors
    /// If a value is missing, or does not fit its parameter.
    pub(crate) fn linked(
        &self,
        what: &str,
        given: &[(&str, &str)],
    ) -> Result<Option<Linked>, Error> {
        let Some(definition) = Self::link(what) else { return Ok(None) };
        let own = K::DEFINITION.params.iter().map(|param| param.name).zip(self.key.values());
        let own: Vec<(&str, String)> = own.collect();
        let mut values = Vec::with_capacity(definition.params.len());
        for param in definition.params {
            let of = |(name, _): &&(&str, &str)| *name == param.name;
            let value = given.iter().find(of).map(|(_, value)| *value).or_else(|| {
                own.iter().find(|(name, _)| *name == param.name).map(|(_, value)| value.as_str())
            });
            values.extend(value.map(|value| (param.name, value)));
        }
        let key = generated::build::<K::Keyspace>(definition.name, &values).map_err(|error| {
            Error::Settings(format!("`{}` needs a key of `{}`: {error}", K::NAME, definition.name))
        })?;
        Ok(Some(Linked { definition, names: Names::of(&key, &self.prefix) }))
    }
}
