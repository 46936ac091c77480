//! What was, what is somebody else's, and what was accepted: migrations, foreign keys, exceptions.

use super::context::{Context, date, doc, written};
use super::keys::accepted_for;
use super::page::{Accepted, Foreign, Migration, Rename};
use super::prose::Prose;
use keyward_schema::model::{self, Convert, Recase, Score};

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
                        changes: self.changes(rename, true),
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
                notes: self.notes(migration),
                renames,
            });
        }
        found
    }

    /// How a migration goes on and ends.
    fn notes(&self, migration: &model::Migration) -> Vec<Prose> {
        let words = self.words;
        let quiet = migration.quiet.as_ref().map(|quiet| (words.quiet, quiet.value));
        let old_ttl = migration.old_ttl.as_ref().map(|ttl| (words.old_ttl, ttl.value));
        let notes = quiet.into_iter().chain(old_ttl);
        notes.map(|(phrase, time)| Prose::say(phrase, &[&words.duration(time)])).collect()
    }

    /// What a rename changes besides the name, and maybe that only a plan moves its keys.
    pub(super) fn changes(&self, rename: &model::Rename, with_plan: bool) -> Option<Prose> {
        let words = self.words;
        let mut changes = Vec::new();
        changes.extend(rename.recase.iter().map(|(param, recase)| {
            let phrase = match recase {
                Recase::Lower => words.recase_lower,
                Recase::Upper => words.recase_upper,
            };
            Prose::say(phrase, &[param.as_str()])
        }));
        changes.extend(rename.convert.as_ref().map(|convert| match convert.value {
            Convert::JsonToHash => Prose::text(words.json_to_hash),
            Convert::HashToJson => Prose::text(words.hash_to_json),
            Convert::LowerCase => Prose::text(words.lower_case),
            Convert::SetToSortedSet { score: Score::Now } => {
                Prose::text(words.set_to_sorted_set_now)
            }
            Convert::SetToSortedSet { score: Score::Fixed(score) } => {
                Prose::say(words.set_to_sorted_set, &[&score.to_string()])
            }
            _ => Prose::code(convert.value.name()),
        }));
        let db = rename.db.as_ref();
        changes.extend(db.map(|db| Prose::say(words.from_database, &[&db.to_string()])));
        if with_plan && !rename.is_known_to_stores() {
            changes.push(Prose::say(words.moved_by_plan, &[]));
        }
        (!changes.is_empty()).then(|| words.sentences(changes))
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
