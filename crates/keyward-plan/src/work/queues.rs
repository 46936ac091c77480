//! Queues and dead letters under old names. A plan copies neither: workers take from both names, so that a job that stands
//! under both would run twice. It removes them when nothing is left there.

use super::prefix_of;
use crate::change::{Change, OldQueue};
use keyward::shared;
use keyward_pattern::derived;
use keyward_schema::model::{Definition, Derived, Migration, Phase, Rename, Role};
use keyward_schema::{OldNames, Schema};

/// Whether a definition is a queue, or the dead letters of one.
pub(crate) fn is_queue(schema: &Schema, definition: &Definition) -> bool {
    matches!(definition.role.as_deref(), Some(Role::Queue(_)))
        || holds_letters(schema, &definition.name)
}

/// Whether a definition is the dead letters of a queue.
pub(crate) fn holds_letters(schema: &Schema, definition: &str) -> bool {
    let takes = |it: &Definition| match it.role.as_deref() {
        Some(Role::Queue(queue)) => {
            queue.dead_letter.as_ref().is_some_and(|it| it.value == definition)
        }
        _ => false,
    };
    schema.keys.iter().any(takes)
}

/// What is done with a queue under an old name, one of whose keys was found. `to` is the new name.
pub(super) fn change(
    schema: &Schema,
    definition: &Definition,
    (migration, rename): (&Migration, &Rename),
    (from, to): (&str, &str),
    found: &str,
) -> Option<Change> {
    let letters = [Derived::Letters.word()];
    let words: &[&str] = match definition.role.as_deref() {
        Some(Role::Queue(_)) => &shared::WORDS,
        _ => &letters,
    };
    let prefix = prefix_of(schema, to);
    let beside = words.iter().map(|word| derived(&prefix, from, word));
    // Without a place beside it, there is nothing.
    let beside = beside.collect::<Option<Vec<String>>>().unwrap_or_default();
    let keys: Vec<String> = std::iter::once(from.to_owned()).chain(beside).collect();
    let is_over = *migration.phase == Phase::Cleanup;
    Some(Change::End(OldQueue {
        place: keys.iter().position(|it| it == found)?,
        keys,
        kind: definition.key_type.as_ref().map(|it| it.stored().to_owned()).unwrap_or_default(),
        is_over,
        is_served: !is_over && rename.is_known_to_stores(),
    }))
}

/// The same by a key that stands beside such a queue; with the number of its rename.
pub(super) fn beside(
    schema: &Schema,
    names: &OldNames<'_>,
    key: &str,
    given: &[(&str, &str)],
) -> Option<(usize, Change)> {
    let from = match key.split_once(":{").filter(|(before, _)| before.contains('~')) {
        Some((_, rest)) => rest.strip_suffix('}')?,
        None => key.rsplit_once("~{")?.0,
    };
    let new = names.new_name(from.as_bytes(), given)?;
    let to = new.key.ok()?;
    let definition = schema.keys.iter().find(|it| *it.name == *new.rename.definition)?;
    if !is_queue(schema, definition) {
        return None;
    }
    let change = change(schema, definition, (new.migration, new.rename), (from, &to), key)?;
    Some((new.number, change))
}
