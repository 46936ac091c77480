//! `plan migrate`: what the phase of a migration says.

use super::{Work, beside, prefix_of};
use crate::change::{Change, How, Relocation};
use crate::document::Row;
use crate::error::Error;
use keyward_pattern::derived;
use keyward_schema::model::{Convert, Definition, Derived, Migration, Phase, Rename, Role};
use keyward_schema::{OldNames, Schema};
use std::collections::BTreeMap;

/// Renames in progress.
pub(super) struct Migrate<'s> {
    schema: &'s Schema,
    names: OldNames<'s>,
    values: BTreeMap<String, String>,
    remove_lone: bool,
    /// For each rename: its row; none if it belongs to another migration
    rows: Vec<Option<usize>>,
    phases: BTreeMap<String, String>,
}

impl<'s> Migrate<'s> {
    pub(super) fn new(
        schema: &'s Schema,
        migrations: &BTreeMap<String, String>,
        values: &BTreeMap<String, String>,
        remove_lone: bool,
    ) -> Result<Self, Error> {
        for (name, phase) in migrations {
            let Some(known) = schema.migrations.iter().find(|it| *it.name == *name) else {
                return Err(Error::refused(
                    format!("the schema has no migration `{name}`"),
                    "use the schema that the plan was made with",
                ));
            };
            if known.phase.name() != phase {
                return Err(Error::refused(
                    format!(
                        "the plan is for the phase `{phase}` of `{name}`, and the schema is in `{}`",
                        known.phase.name()
                    ),
                    "make a plan for each phase",
                ));
            }
        }
        let names = schema.old_names().ok_or_else(|| {
            Error::refused(
                "the schema has no migration whose old names can be told apart",
                "declare `[migrations.<id>]`, and run `keyward check`",
            )
        })?;
        let mut next = 0..;
        let is_wanted = |migration: &Migration| migrations.contains_key(&migration.name.value);
        let rows = names.renames.iter();
        let rows = rows.map(|(it, _)| if is_wanted(it) { next.next() } else { None }).collect();
        let (values, phases) = (values.clone(), migrations.clone());
        Ok(Migrate { schema, names, values, remove_lone, rows, phases })
    }

    fn definition(&self, rename: &Rename) -> Option<&'s Definition> {
        self.schema.keys.iter().find(|it| *it.name == *rename.definition)
    }

    fn row(&self, migration: &Migration, rename: &Rename) -> Row {
        let phase = migration.phase.value;
        let action = match phase {
            Phase::DualWrite | Phase::ReadFallback => "copy",
            Phase::Cleanup if migration.old_ttl.is_some() => "shorten",
            Phase::Cleanup => "remove",
        };
        let to = self.definition(rename).map(|it| it.pattern.as_str());
        Row {
            to: to.filter(|_| phase != Phase::Cleanup).map(str::to_owned),
            destructive: action != "copy",
            lossy: action == "copy" && rename.convert.as_ref().is_some_and(|it| is_lossy(it.value)),
            ..Row::new(action, &rename.definition, rename.from.as_str())
        }
    }
}

impl Work for Migrate<'_> {
    fn rows(&self) -> Vec<Row> {
        let all = self.names.renames.iter().zip(&self.rows);
        let wanted = all.filter(|(_, row)| row.is_some());
        wanted.map(|((migration, rename), _)| self.row(migration, rename)).collect()
    }

    fn pick(&self, db: Option<u64>, key: &[u8]) -> Option<(usize, Change)> {
        let given: Vec<(&str, &str)> =
            self.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let found = self.names.new_name(key, &given)?;
        let row = (*self.rows.get(found.number)?)?;
        if db != found.rename.database() {
            return None;
        }
        let from = std::str::from_utf8(key).ok()?;
        let definition = self.definition(found.rename)?;
        let Ok(to) = found.key else { return Some((row, Change::Nowhere)) };
        let change = match (found.migration.phase.value, &found.migration.old_ttl) {
            (Phase::Cleanup, Some(ttl)) => {
                Change::Shorten { ttl: ttl.as_millis(), only_endless: false }
            }
            (Phase::Cleanup, None) => Change::Remove {
                beside: beside(self.schema, definition, &to, from),
                unless_lone: Some(to).filter(|_| !self.remove_lone),
            },
            (phase, _) => {
                let is_lock = matches!(definition.role.as_deref(), Some(Role::Lock(_)));
                let prefix = prefix_of(self.schema, &to);
                let fence = |name: &str| derived(&prefix, name, Derived::Fence.word());
                let fences = if is_lock { fence(from).zip(fence(&to)) } else { None };
                let how = if phase == Phase::DualWrite { How::Over } else { How::Absent };
                let kind = definition.key_type.as_ref().map(|it| it.stored().to_owned());
                let lease = derived(&prefix, &to, Derived::Lease.word());
                let convert = found.rename.convert.as_ref().map(|it| it.value);
                Change::Relocate(Relocation { to, how, kind, fences, convert, lease })
            }
        };
        Some((row, change))
    }

    fn is_new_name(&self, key: &[u8]) -> Vec<usize> {
        let Some(id) = self.schema.compiled.classify(key) else { return Vec::new() };
        let Some(definition) = self.schema.keys.get(id.index()) else { return Vec::new() };
        let all = self.names.renames.iter().zip(&self.rows);
        let own = all.filter(|((_, rename), _)| *rename.definition == *definition.name);
        own.filter_map(|(_, row)| *row).collect()
    }

    fn asks_idle(&self) -> bool {
        true
    }

    fn databases(&self, home: u64) -> Vec<u64> {
        let wanted = self.names.renames.iter().zip(&self.rows).filter(|(_, row)| row.is_some());
        let mut all: Vec<u64> =
            wanted.map(|((_, rename), _)| rename.database().unwrap_or(home)).collect();
        all.push(home);
        all.sort_unstable();
        all.dedup();
        all
    }

    fn fleet(&self) -> Vec<(String, String)> {
        self.phases.clone().into_iter().collect()
    }
}

/// Whether a value says less afterwards: a `null` is no field, and a number becomes text.
fn is_lossy(convert: Convert) -> bool {
    matches!(convert, Convert::LowerCase | Convert::JsonToHash)
}
