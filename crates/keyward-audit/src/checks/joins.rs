//! Former names that are compared with new ones, by samples of the entities under both.

use super::Audit;
use crate::outline::OutlinedJoin;

/// Finds the former names that can be compared.
pub(super) fn plan(audit: &mut Audit) {
    for space in 0..audit.spaces.len() {
        for rename in 0..audit.spaces[space].renames.len() {
            let old = &audit.spaces[space].renames[rename];
            let (Some(number), Some(severity)) = (old.definition, old.both) else { continue };
            let planned = &audit.definitions[number];
            // Only names that say the same can be compared.
            let same = planned.params.len() == old.names.len()
                && planned.params.iter().all(|param| old.names.contains(&param.name));
            if !same || !planned.selected {
                continue;
            }
            let subject = audit.outline.schemas[space].old_names[rename].pattern.clone();
            let at = audit.outline.joins.len();
            audit.outline.joins.push(OutlinedJoin { severity, definition: number, subject });
            audit.spaces[space].renames[rename].join = Some(at);
            audit.definitions[number].renamed.push(at);
        }
    }
}
