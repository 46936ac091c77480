//! What was, what is somebody else's, and what was accepted: migrations, foreign keys, exceptions.

use super::context::{Context, date, doc, written};
use super::keys::accepted_for;
use super::page::{Accepted, Foreign, Migration, Rename};
use super::prose::Prose;

impl Context<'_> {
    /// The migrations of definitions that the page shows.
    pub(super) fn migrations(&self) -> Vec<Migration> {
        let mut found = Vec::new();
        for migration in &self.schema.migrations {
            let renames: Vec<Rename> = migration
                .renames
                .iter()
                .filter_map(|rename| {
                    let name = &rename.definition.value;
                    let definition = self.shown().find(|it| it.name.value == *name)?;
                    Some(Rename {
                        definition: self.definition(name),
                        from: rename.from.parts().iter().map(written).collect(),
                        to: self.pattern(definition),
                        doc: doc(definition.doc.as_ref()),
                    })
                })
                .collect();
            if renames.is_empty() {
                continue;
            }
            let (phase, meaning) = self.phase(migration.phase.value);
            found.push(Migration {
                name: migration.name.value.clone(),
                doc: doc(migration.doc.as_ref()),
                phase,
                meaning,
                started: migration.started.as_ref().map(date),
                remove_after: migration.remove_after.as_ref().map(date),
                renames,
            });
        }
        found
    }

    /// `[foreign]`
    pub(super) fn foreign(&self) -> Vec<Foreign> {
        let foreign = self.schema.foreign.iter().map(|foreign| Foreign {
            name: foreign.name.value.clone(),
            doc: doc(foreign.doc.as_ref()),
            glob: foreign.glob.value.clone(),
        });
        foreign.collect()
    }

    /// Every finding that was accepted, with its reason.
    pub(super) fn accepted(&self) -> Vec<Accepted> {
        let whole = Prose::text(self.words.whole_keyspace);
        let mut accepted = accepted_for(&whole, &self.schema.allow);
        for definition in self.shown() {
            let subject = self.definition(&definition.name);
            accepted.extend(accepted_for(&subject, &definition.allow));
        }
        for (number, target) in &self.anchors.events {
            let allow = &self.schema.events[*number].allow;
            accepted.extend(accepted_for(&Prose::link(target), allow));
        }
        for migration in self.migrations() {
            let same = self.schema.migrations.iter().find(|it| *it.name == migration.name);
            let allow = same.map(|it| it.allow.as_slice()).unwrap_or_default();
            accepted.extend(accepted_for(&Prose::code(&migration.name), allow));
        }
        accepted
    }
}
