//! Definitions by what they have in common.

use crate::model::name::Names;
use crate::model::{Key, Name, Selection};
use keyward_schema::model::{Definition, Lifecycle, Named};
use keyward_schema::{Schema, Spanned};

pub(super) fn by_group(schema: &Schema, keys: &[Key]) -> Vec<Selection> {
    by_name(schema, keys, &schema.groups, |key| key.group.as_ref())
}

pub(super) fn by_owner(schema: &Schema, keys: &[Key]) -> Vec<Selection> {
    by_name(schema, keys, &schema.owners, |key| key.owner.as_ref())
}

/// Only the lifecycles that some definition has.
pub(super) fn by_lifecycle(schema: &Schema, keys: &[Key]) -> Vec<Selection> {
    let selections = Lifecycle::ALL.into_iter().map(|lifecycle| {
        let name = Name::new(lifecycle.name());
        select(schema, keys, name, None, |key| key.lifecycle == lifecycle)
    });
    selections.filter(|selection| !selection.keys.is_empty()).collect()
}

/// Selections whose names differ, the empty ones left out.
fn by_name(
    schema: &Schema,
    keys: &[Key],
    declared: &[Named],
    name_of: impl Fn(&Definition) -> Option<&Spanned<String>>,
) -> Vec<Selection> {
    let mut names = Names::default();
    let selections = named(schema, declared, &name_of).into_iter().map(|(name, doc)| {
        let has_it = |key: &Definition| name_of(key).is_some_and(|it| **it == name);
        select(schema, keys, names.add(&name), doc, has_it)
    });
    selections.filter(|selection| !selection.keys.is_empty()).collect()
}

/// The groups or owners of a schema: the declared ones, then those that are only used.
fn named(
    schema: &Schema,
    declared: &[Named],
    used: impl Fn(&Definition) -> Option<&Spanned<String>>,
) -> Vec<(String, Option<String>)> {
    let mut found: Vec<(String, Option<String>)> = declared
        .iter()
        .map(|named| (named.name.value.clone(), super::text(named.doc.as_ref())))
        .collect();
    for name in schema.keys.iter().filter_map(used) {
        if found.iter().all(|(known, _)| *known != **name) {
            found.push((name.value.clone(), None));
        }
    }
    found
}

fn select(
    schema: &Schema,
    keys: &[Key],
    name: Name,
    doc: Option<String>,
    belongs: impl Fn(&Definition) -> bool,
) -> Selection {
    let chosen: Vec<usize> = (0..keys.len()).filter(|&at| belongs(&schema.keys[at])).collect();
    let globs = chosen.iter().map(|&at| keys[at].glob.clone()).collect();
    Selection { name, doc, keys: chosen, globs }
}
