//! The names that keys had before a migration: found, and mapped to the new ones and back.

use crate::model::{Migration, ParamDeclaration, Rename, Schema};
use keyward_pattern::{
    BuildError, BuildErrorKind, Definition, DefinitionId, Keyspace, Param, Parsed, Type,
};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::fmt;

/// The old names of a schema's migrations in one database, compiled together.
#[derive(Debug)]
pub struct OldNames<'s> {
    /// The old patterns; definition n is `renames[n]`. Definitions that their `key` parameters
    /// refer to follow them.
    pub keyspace: Keyspace,
    /// The renames, in the order of the file
    pub renames: Vec<(&'s Migration, &'s Rename)>,
    /// The database, if it is not the keyspace's own
    pub db: Option<u64>,
    ids: Vec<DefinitionId>,
    schema: &'s Schema,
}

/// An old key, and where it belongs.
#[derive(Debug)]
#[non_exhaustive]
pub struct NewName<'s> {
    /// Which of [`OldNames::renames`] the old key belongs to
    pub number: usize,
    /// Its migration
    pub migration: &'s Migration,
    /// Its rename
    pub rename: &'s Rename,
    /// The new key, or why it cannot be built
    pub key: Result<String, RenameError>,
}

/// Why a key has no other name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenameError {
    /// The schema has no definition of this name
    NoDefinition(String),
    /// The key to find the old name of is not one of this definition
    NotAKeyOf(String),
    /// A value is missing or refused, or another definition takes the key
    Build(BuildError),
}

impl<'s> OldNames<'s> {
    /// The rename whose old pattern the key has.
    pub fn find(&self, key: &[u8]) -> Option<(&'s Migration, &'s Rename)> {
        self.renames.get(self.keyspace.classify(key)?.index()).copied()
    }

    /// The new name of an old key, built from its parameters; `None` if it is not an old name.
    ///
    /// `given` has the values of parameters that the old name lacks, such as those of the prefix.
    /// What the old name says itself wins.
    ///
    /// ```
    /// let loaded = keyward_schema::read(r#"
    /// version = 1
    /// [keyspace]
    /// name = "shop"
    /// prefix = "{tenant}:"
    /// [keys.market]
    /// pattern = "market:{quote}:{base}"
    /// [migrations.v2]
    /// phase = "dual-write"
    /// [migrations.v2.renames]
    /// market = "market:{base}-{quote}"
    /// "#);
    /// let schema = loaded.schema.unwrap();
    /// let names = schema.old_names().unwrap();
    /// let new = names.new_name(b"market:btc-eur", &[("tenant", "acme")]).unwrap();
    /// assert_eq!(new.key.unwrap(), "acme:market:eur:btc");
    /// assert_eq!(names.old_name(new.number, b"acme:market:eur:btc").unwrap(), "market:btc-eur");
    /// ```
    pub fn new_name(&self, key: &[u8], given: &[(&str, &str)]) -> Option<NewName<'s>> {
        let parsed = self.keyspace.parse(key)?;
        let number = parsed.definition.index();
        let &(migration, rename) = self.renames.get(number)?;
        let key = self.build_new(rename, parsed, given);
        Some(NewName { number, migration, rename, key })
    }

    fn build_new(
        &self,
        rename: &Rename,
        old: Parsed<'_>,
        given: &[(&str, &str)],
    ) -> Result<String, RenameError> {
        let new = self.definition(rename)?;
        let names = self.keyspace.definition(old.definition).params();
        let own: Vec<(&str, Cow<'_, str>)> = names
            .iter()
            .zip(old.values)
            .map(|((name, _), value)| match rename.recase(name) {
                Some(recase) => (name.as_str(), recase.new_value(&value).into()),
                None => (name.as_str(), value),
            })
            .collect();
        let lacking = given.iter().copied().filter(|(name, _)| own.iter().all(|it| it.0 != *name));
        let values: Vec<(&str, &str)> =
            own.iter().map(|(name, value)| (*name, &**value)).chain(lacking).collect();
        new.build_named(&values).map_err(RenameError::Build)
    }

    /// The old name of a new key by one of [`OldNames::renames`].
    ///
    /// Where a narrower old name takes that key, it is an error: the key is that one's.
    ///
    /// # Panics
    /// If there is no rename of this number.
    pub fn old_name(&self, number: usize, key: &[u8]) -> Result<String, RenameError> {
        let rename = self.renames[number].1;
        let new = self.definition(rename)?;
        let not_its_key = || RenameError::NotAKeyOf(rename.definition.value.clone());
        let values = new.parse(key).ok_or_else(not_its_key)?;
        let old = self.keyspace.definition(self.ids[number]);
        let values: Vec<(&str, Cow<'_, str>)> = new
            .params()
            .iter()
            .zip(values)
            .filter(|((name, _), _)| old.params().iter().any(|(known, _)| known == name))
            .map(|((name, _), value)| match rename.recase(name) {
                Some(recase) => (name.as_str(), recase.old_value(&value).into()),
                None => (name.as_str(), value),
            })
            .collect();
        let values: Vec<(&str, &str)> =
            values.iter().map(|(name, value)| (*name, &**value)).collect();
        old.build_named(&values).map_err(|error| RenameError::Build(self.by_pattern(error)))
    }

    /// A glob that all old names match which lead to a definition by one of [`OldNames::renames`]; `None` if there is
    /// no rename of this number.
    pub fn glob(&self, number: usize) -> Option<String> {
        self.keyspace.definition(*self.ids.get(number)?).glob_named(&[]).ok()
    }

    /// The error with old patterns in place of the names that they are compiled under.
    fn by_pattern(&self, mut error: BuildError) -> BuildError {
        let pattern = |name: &str| {
            let number = self.keyspace.find(name).map_or(usize::MAX, DefinitionId::index);
            self.renames.get(number).map(|(_, rename)| rename.from.as_str().to_owned())
        };
        error.definition = pattern(&error.definition).unwrap_or(error.definition);
        if let BuildErrorKind::Reserved { by } = &mut error.kind
            && let Some(pattern) = pattern(by)
        {
            *by = pattern;
        }
        error
    }

    /// The definition that a rename leads to.
    fn definition(&self, rename: &Rename) -> Result<Definition<'s>, RenameError> {
        let compiled = &self.schema.compiled;
        let found = compiled.find(&rename.definition).map(|id| compiled.definition(id));
        found.ok_or_else(|| RenameError::NoDefinition(rename.definition.value.clone()))
    }
}

impl fmt::Display for RenameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RenameError::NoDefinition(name) => write!(f, "there is no definition `{name}`"),
            RenameError::NotAKeyOf(name) => write!(f, "it is not a key of `{name}`"),
            RenameError::Build(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RenameError {}

impl Schema {
    /// The old names in the keyspace's own database, if there are any and they can be compiled
    /// together.
    pub fn old_names(&self) -> Option<OldNames<'_>> {
        self.old_names_in(None)
    }

    /// All old names, one entry for each database that has some, the keyspace's own first.
    pub fn old_names_by_db(&self) -> Vec<OldNames<'_>> {
        let renames = self.migrations.iter().flat_map(|migration| &migration.renames);
        let dbs: BTreeSet<Option<u64>> = renames.map(Rename::database).collect();
        dbs.into_iter().filter_map(|db| self.old_names_in(db)).collect()
    }

    fn old_names_in(&self, db: Option<u64>) -> Option<OldNames<'_>> {
        let migrations = self.migrations.iter();
        let renames: Vec<_> = migrations
            .flat_map(|migration| migration.renames.iter().map(move |rename| (migration, rename)))
            .filter(|(_, rename)| rename.database() == db)
            .collect();
        if renames.is_empty() {
            return None;
        }
        let mut builder = Keyspace::builder(*self.keyspace.separator).ok()?;
        let (mut ids, mut needed) = (Vec::new(), Vec::new());
        for (number, (_, rename)) in renames.iter().enumerate() {
            let name = format!("#{number}");
            let declared = |name: &str| declared(&rename.params, name);
            ids.push(builder.define_absolute(&name, &rename.from, declared));
            needed.extend(targets(&rename.params));
        }
        let mut added = HashSet::new();
        while let Some(name) = needed.pop() {
            let known = self.keys.iter().find(|definition| *definition.name == name);
            let Some(definition) = known.filter(|_| added.insert(name)) else { continue };
            let params = &definition.params;
            builder.define_absolute(name, &definition.pattern, |name| declared(params, name));
            needed.extend(targets(params));
        }
        Some(OldNames { keyspace: builder.finish().ok()?, renames, db, ids, schema: self })
    }
}

fn declared(params: &[ParamDeclaration], name: &str) -> Option<Param> {
    params.iter().find(|param| *param.name == name).map(|param| param.param.value.clone())
}

/// The definitions whose keys the parameters hold.
fn targets(params: &[ParamDeclaration]) -> impl Iterator<Item = &str> {
    let names = params.iter().filter_map(|param| match &param.param.ty {
        Type::Key(names) => Some(names),
        _ => None,
    });
    names.flatten().map(String::as_str)
}
