//! Keys under old names, and the names that a key has as long as a migration lasts.

use super::candidates::Text;
use super::{DAMAGED, Maker, Values, damaged, object, pairs, with};
use keyward_pattern::Definition;
use keyward_schema::OldNames;
use keyward_schema::model::{Phase, Rename};
use serde_json::{Value, json};

impl<'s> Maker<'s> {
    pub(super) fn former(&mut self) -> Vec<Value> {
        let old_names: Vec<OldNames<'s>> = self.schema.old_names_by_db();
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for names in &old_names {
            for definition in names.keyspace.definitions().take(names.renames.len()) {
                let built = self.old_keys(definition);
                let step = built.len().div_ceil(DAMAGED).max(1);
                keys.extend(built.iter().step_by(step).flat_map(|key| damaged(key)));
                keys.extend(built.into_iter().map(String::into_bytes));
            }
        }
        if !old_names.is_empty() {
            let current = self.built.iter().flat_map(|built| built.iter().take(2));
            keys.extend(current.map(|key| key.clone().into_bytes()));
        }
        keys.sort();
        keys.dedup();
        keys.iter().map(|key| self.formerly(&old_names, key)).collect()
    }

    /// Keys under an old name: an ordinary one, and with each value worth trying.
    fn old_keys(&mut self, definition: Definition<'_>) -> Vec<String> {
        let params = definition.params();
        let ordinary: Values = (0..params.len())
            .filter_map(|at| {
                Some((params[at].0.clone(), self.candidates.ordinary(definition, at)?))
            })
            .collect();
        let mut keys: Vec<String> = definition.build_named(&pairs(&ordinary)).into_iter().collect();
        for (at, (name, _)) in params.iter().enumerate() {
            for text in self.candidates.of(definition, at) {
                let Some(value) = text.string() else { continue };
                keys.extend(definition.build_named(&pairs(&with(&ordinary, name, value))));
            }
        }
        keys
    }

    fn formerly(&mut self, old_names: &[OldNames<'_>], key: &[u8]) -> Value {
        let mut vector = json!({ "key": Text::from_bytes(key).json() });
        let found = old_names.iter().find_map(|names| {
            let parsed = names.keyspace.parse(key)?;
            let (migration, rename) = names.renames.get(parsed.definition.index())?;
            let params = names.keyspace.definition(parsed.definition).params().iter();
            let values: Values = params
                .zip(parsed.values)
                .map(|((name, _), value)| (name.clone(), new_value(rename, name, &value)))
                .collect();
            Some((migration, rename, values))
        });
        let Some((migration, rename, values)) = found else {
            vector["definition"] = Value::Null;
            return vector;
        };
        let compiled = &self.schema.compiled;
        let id = compiled.find(&rename.definition).expect("a definition of the schema");
        let definition = compiled.definition(id);
        let ordinary = self.ordinary(definition);
        let of_prefix = |name: &str| self.prefix.iter().any(|(known, _)| known == name);
        let (prefix, own): (Values, Values) =
            values.into_iter().partition(|(name, _)| of_prefix(name));
        let read = |prefix: &Values, own: &Values| {
            let all: Values = prefix.iter().chain(own).cloned().collect();
            let key = definition.build_named(&pairs(&all)).ok()?;
            let values = definition.parse(key.as_bytes())?.into_iter().map(String::from);
            let names = definition.params().iter().map(|(name, _)| name.clone());
            let mut values: Values = names.zip(values).collect();
            let own = values.split_off(definition.prefix_params());
            Some((values, own))
        };
        vector["definition"] = definition.name().into();
        vector["migration"] = migration.name.value.clone().into();
        vector["phase"] = migration.phase.name().into();
        if let Some(db) = rename.database() {
            vector["db"] = db.into();
        }
        if !self.prefix.is_empty() {
            vector["prefix"] =
                read(&prefix, &ordinary).map_or(Value::Null, |(prefix, _)| object(&prefix));
        }
        vector["params"] = read(&self.prefix, &own).map_or(Value::Null, |(_, own)| object(&own));
        vector
    }

    pub(super) fn names(&mut self) -> Vec<Value> {
        let old_names: Vec<OldNames<'s>> = self.schema.old_names_by_db();
        let mut vectors = Vec::new();
        for definition in self.schema.compiled.definitions() {
            let ordinary = self.ordinary(definition);
            vectors.extend(self.named(&old_names, definition, &ordinary));
            let renames = old_names.iter().flat_map(|names| &names.renames);
            if !renames.into_iter().any(|(_, it)| *it.definition == *definition.name()) {
                continue;
            }
            for at in definition.prefix_params()..definition.params().len() {
                for text in self.candidates.of(definition, at) {
                    let Some(value) = text.string() else { continue };
                    let values = with(&ordinary, &definition.params()[at].0, value);
                    vectors.extend(self.named(&old_names, definition, &values));
                }
            }
        }
        vectors
    }

    fn named(
        &self,
        old_names: &[OldNames<'_>],
        definition: Definition<'_>,
        values: &Values,
    ) -> Option<Value> {
        let all: Values = self.prefix.iter().chain(values).cloned().collect();
        let key = definition.build_named(&pairs(&all)).ok()?;
        let (read, write) = names_of(old_names, definition, key);
        let (definition, params) = (definition.name(), object(values));
        Some(json!({ "definition": definition, "params": params, "read": read, "write": write }))
    }

    /// The globs of a definition's old names with these values, those of the prefix among them.
    pub(super) fn old_globs(
        &mut self,
        old_names: &[OldNames<'_>],
        definition: Definition<'s>,
        values: &Values,
    ) -> Vec<String> {
        let mut whole: Values = self.prefix.clone();
        whole.extend(self.ordinary(definition));
        for (name, value) in values {
            whole = with(&whole, name, value);
        }
        // A key is read back with values as its types normalise them.
        let key = definition.build_named(&pairs(&whole)).unwrap_or_default();
        let read = definition.parse(key.as_bytes()).unwrap_or_default();
        let names = definition.params().iter().map(|(name, _)| name);
        let normal: Vec<(&String, String)> =
            names.zip(read.into_iter().map(String::from)).collect();
        let glob = |(names, number, _): (&OldNames<'_>, usize, Phase)| {
            let rename = names.renames[number].1;
            let old = names.keyspace.definitions().nth(number)?;
            let known = |name: &str| old.params().iter().any(|(it, _)| it == name);
            let values: Values = values
                .iter()
                .filter(|(name, _)| known(name))
                .map(|(name, value)| {
                    let normal = normal.iter().find(|(it, _)| *it == name);
                    let value = normal.map_or(value, |(_, normal)| normal);
                    (name.clone(), old_value(rename, name, value))
                })
                .collect();
            old.glob_named(&pairs(&values)).ok()
        };
        used(old_names, definition).filter_map(glob).collect()
    }
}

/// The names of a key to read and to write.
pub(super) fn names_of(
    old_names: &[OldNames<'_>],
    definition: Definition<'_>,
    key: String,
) -> (Vec<String>, Vec<String>) {
    let (mut old, mut new) = (Vec::new(), vec![key.clone()]);
    for (names, number, phase) in used(old_names, definition) {
        let Ok(name) = names.old_name(number, key.as_bytes()) else { continue };
        let counts = phase == Phase::DualWrite && old.is_empty();
        if counts { old.push(name) } else { new.push(name) }
    }
    let write: Vec<String> = old.iter().chain(&new).cloned().collect();
    let copy = old.first().map(|_| key);
    let read = write.iter().filter(|name| Some(*name) != copy.as_ref()).cloned().collect();
    (read, write)
}

/// The old names of a definition that programs know, with the phase of their migration.
fn used<'n, 's>(
    old_names: &'n [OldNames<'s>],
    definition: Definition<'n>,
) -> impl Iterator<Item = (&'n OldNames<'s>, usize, Phase)> {
    old_names.iter().flat_map(move |names| {
        let renames = names.renames.iter().enumerate();
        renames.filter_map(move |(number, (migration, rename))| {
            let used = *migration.phase != Phase::Cleanup
                && rename.is_known_to_stores()
                && *rename.definition == *definition.name();
            used.then_some((names, number, *migration.phase))
        })
    })
}

fn old_value(rename: &Rename, param: &str, new: &str) -> String {
    rename.recase(param).map_or_else(|| new.to_owned(), |recase| recase.old_value(new))
}

fn new_value(rename: &Rename, param: &str, old: &str) -> String {
    rename.recase(param).map_or_else(|| old.to_owned(), |recase| recase.new_value(old))
}
