//! Where a value may name somebody.

use super::Way;
use crate::change::Place;
use crate::work::prefix_of;
use keyward_fact::KeyType;
use keyward_schema::Schema;
use keyward_schema::model::{Definition, Role, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A place in the values of a definition, and what is looked for there.
pub(super) struct Spot {
    pub(super) place: Place,
    pub(super) whose: Whose,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Whose {
    /// Their own id
    Person,
    /// Ids of what is theirs: the values of a definition's only parameter
    Param(usize, usize),
    /// Keys of these definitions that are theirs, without the prefix
    Keys(Vec<usize>),
}

impl Spot {
    pub(super) fn is_person(&self) -> bool {
        self.whose == Whose::Person
    }
}

impl Whose {
    /// Whether there can be any, if only keys of some definitions are theirs.
    pub(super) fn is_possible(&self, goes: &[bool]) -> bool {
        match self {
            Whose::Person => true,
            Whose::Param(at, _) => goes[*at],
            Whose::Keys(all) => all.iter().any(|at| goes[*at]),
        }
    }

    /// The values, given which keys are theirs.
    pub(super) fn values(
        &self,
        schema: &Schema,
        value: &str,
        ways: &[Way],
        found: &BTreeMap<usize, BTreeSet<String>>,
    ) -> Vec<Vec<u8>> {
        let of = |at: &usize| found.get(at).into_iter().flatten();
        let texts: BTreeSet<String> = match self {
            Whose::Person => {
                let spelled = ways.iter().flat_map(|way| &way.params).flatten().cloned();
                spelled.chain([value.to_owned()]).collect()
            }
            Whose::Param(at, param) => {
                let of_key = |key: &String| {
                    let parsed = schema.compiled.parse(key.as_bytes())?;
                    parsed.values.get(*param).map(|it| it.to_string())
                };
                of(at).filter_map(of_key).collect()
            }
            Whose::Keys(all) => {
                let bare = |key: &String| {
                    let prefix = prefix_of(schema, key);
                    key.strip_prefix(prefix.as_str()).map(str::to_owned)
                };
                all.iter().flat_map(of).filter_map(bare).collect()
            }
        };
        texts.into_iter().map(String::into_bytes).collect()
    }
}

/// The places of a definition's values that may name somebody. `is_meant` says whether a definition's parameter is theirs.
pub(super) fn spots(
    schema: &Schema,
    definition: &Definition,
    is_meant: &dyn Fn(&str, &str) -> bool,
) -> Vec<Spot> {
    let whose = |value: &Value| match value {
        Value::Ref { definition, param } if is_meant(definition, param) => Some(Whose::Person),
        Value::Ref { definition, param } => only_param(schema, definition, Some(param)),
        Value::Key(names) => {
            let find = |name: &String| schema.keys.iter().position(|it| *it.name == *name);
            Some(Whose::Keys(names.iter().filter_map(find).collect()))
        }
        _ => None,
    };
    let mut spots = Vec::new();
    for field in &definition.fields {
        let is_named = is_meant(&definition.name, &field.name) && is_id(&field.value);
        let found = if is_named { Some(Whose::Person) } else { whose(&field.value) };
        let name = field.name.value.clone();
        match found {
            Some(whose) if field.optional => {
                spots.push(Spot { place: Place::Optional(name), whose });
            }
            // A hash that must refer to something of theirs is not theirs.
            Some(Whose::Person) => {
                spots.push(Spot { place: Place::Field(name), whose: Whose::Person });
            }
            _ => {}
        }
    }
    if definition.key_type.as_deref() != Some(&KeyType::Hash) {
        spots.clear();
    }
    let (place, held) = match definition.key_type.as_deref() {
        Some(KeyType::String) => (Place::Text, definition.value.as_ref()),
        Some(KeyType::List) => (Place::List, definition.value.as_ref()),
        Some(KeyType::Set) => (Place::Set, definition.member.as_ref()),
        Some(KeyType::Zset) => (Place::Sorted, definition.member.as_ref()),
        _ => return spots,
    };
    let found = match held {
        Some(value) => whose(value),
        None => listed(schema, definition),
    };
    spots.extend(found.map(|whose| Spot { place, whose }));
    spots
}

/// What an index lists whose members are not declared.
fn listed(schema: &Schema, definition: &Definition) -> Option<Whose> {
    if let Some(Role::Index(index)) = definition.role.as_deref() {
        return only_param(schema, &index.of, None);
    }
    let lists = |it: &&Definition| match it.role.as_deref() {
        Some(Role::Session(it)) => it.index.as_ref().is_some_and(|it| **it == *definition.name),
        _ => false,
    };
    only_param(schema, &schema.keys.iter().find(lists)?.name, None)
}

/// The parameter of a definition that has no other, those of the prefix apart: its value alone says which key is meant.
fn only_param(schema: &Schema, definition: &str, param: Option<&str>) -> Option<Whose> {
    let id = schema.compiled.find(definition)?;
    let compiled = schema.compiled.definition(id);
    let at = compiled.prefix_params();
    let (name, _) = compiled.params().get(at)?;
    let is_only = compiled.params().len() == at + 1;
    (is_only && param.is_none_or(|it| it == name)).then(|| Whose::Param(id.index(), at))
}

/// Whether a value of this type may be an id.
fn is_id(value: &Value) -> bool {
    matches!(
        value,
        Value::Text | Value::Int | Value::Uint | Value::Uuid | Value::Ref { .. } | Value::Enum(_)
    )
}
