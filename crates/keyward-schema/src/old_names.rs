//! The names that keys had before a migration.

use crate::model::{Migration, ParamDeclaration, Rename, Schema};
use keyward_pattern::{Keyspace, Param, Type};
use std::collections::HashSet;

/// All old names of a schema's migrations, compiled together.
#[derive(Debug)]
pub struct OldNames<'s> {
    /// The old patterns; definition n is `renames[n]`. Definitions that their `key` parameters
    /// refer to follow them.
    pub keyspace: Keyspace,
    /// The renames, in the order of the file
    pub renames: Vec<(&'s Migration, &'s Rename)>,
}

impl<'s> OldNames<'s> {
    /// The rename whose old pattern the key has.
    pub fn find(&self, key: &[u8]) -> Option<(&'s Migration, &'s Rename)> {
        self.renames.get(self.keyspace.classify(key)?.index()).copied()
    }
}

impl Schema {
    /// The old names, if there are any and they can be compiled together.
    pub fn old_names(&self) -> Option<OldNames<'_>> {
        let migrations = self.migrations.iter();
        let renames: Vec<_> = migrations
            .flat_map(|migration| migration.renames.iter().map(move |rename| (migration, rename)))
            .collect();
        if renames.is_empty() {
            return None;
        }
        let mut builder = Keyspace::builder(*self.keyspace.separator).ok()?;
        let mut needed = Vec::new();
        for (number, (_, rename)) in renames.iter().enumerate() {
            let name = format!("#{number}");
            builder.define_absolute(&name, &rename.from, |name| declared(&rename.params, name));
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
        Some(OldNames { keyspace: builder.finish().ok()?, renames })
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
