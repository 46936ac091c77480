//! What follows from the schemas and the last audit: migrations, the check-list, queues.

use super::Context;
use crate::repairs::Repairs;
use crate::state::{MigrationState, OldNameState, Queues, Schemas, Tick};
use jiff::civil;
use keyward_audit::{Report, now, queues};
use keyward_rules::{Options, Rule, State, checklist as ticks};
use keyward_schema::Schema;
use keyward_schema::model::{Date, Definition, Level, Migration, Role};
use std::sync::Arc;

/// The migrations, with the keys that an audit counted.
pub(super) fn migrations(
    schemas: &Schemas,
    report: Option<&Report>,
    today: Date,
) -> Arc<[MigrationState]> {
    let of = |schema: &Schema| {
        let each = schema.migrations.iter();
        each.map(|it| migration(schema, it, report, today)).collect::<Vec<_>>()
    };
    schemas.each.iter().flat_map(of).collect()
}

fn migration(
    schema: &Schema,
    migration: &Migration,
    report: Option<&Report>,
    today: Date,
) -> MigrationState {
    let keyspace = &schema.keyspace.name.value;
    let old_names = migration.renames.iter().map(|rename| {
        let definition = &rename.definition.value;
        let counted = report.and_then(|report| {
            let mut all = report.definitions.iter();
            let own = all.find(|it| it.schema == *keyspace && it.name == *definition)?;
            let pattern = rename.from.as_str();
            own.old_names
                .iter()
                .find(|it| it.migration == migration.name.value && it.pattern == pattern)
        });
        OldNameState {
            definition: definition.clone(),
            pattern: rename.from.as_str().to_owned(),
            keys: counted.map(|it| it.keys),
            bytes: counted.and_then(|it| it.bytes),
        }
    });
    let old_names: Vec<OldNameState> = old_names.collect();
    let keys = old_names.iter().map(|it| it.keys);
    let keys_left = keys.sum::<Option<u64>>().filter(|_| report.is_some());
    let remove_after = migration.remove_after.as_ref().map(|it| it.value);
    MigrationState {
        schema: keyspace.clone(),
        name: migration.name.value.clone(),
        phase: migration.phase.name().to_owned(),
        started: migration.started.as_ref().map(|it| it.value.to_string()),
        remove_after: remove_after.map(|it| it.to_string()),
        days_left: remove_after.and_then(|it| days(today, it)),
        keys_left,
        doc: migration.doc.as_ref().map(|it| it.value.clone()),
        old_names,
    }
}

fn days(from: Date, to: Date) -> Option<i64> {
    let day = |date: Date| {
        let (month, day) = (i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?);
        civil::Date::new(i16::try_from(date.year).ok()?, month, day).ok()
    };
    Some(day(to)?.duration_since(day(from)?).as_hours() / 24)
}

/// The check-list: rules about the schema decide now, rules about keys by the last audit.
pub(super) fn checklist(schemas: &Schemas, report: Option<&Report>, today: Date) -> Arc<[Tick]> {
    let of = |schema: &Schema| {
        let keyspace = schema.keyspace.name.value.clone();
        let all = ticks(schema, &Options { today });
        let each = all.into_iter().map(|tick| {
            let rules: Vec<String> = tick.item.rules.iter().map(|it| it.value.clone()).collect();
            let (state, findings) = match tick.state {
                State::Holds => ("holds", 0),
                State::Broken(findings) => ("broken", findings),
                State::ByReview => ("by-review", 0),
                State::Off(_) => ("off", 0),
                State::ByAudit => by_audit(&rules, &keyspace, report),
            };
            let (text, must) = (tick.item.text.value.clone(), tick.item.level == Level::Must);
            Tick { schema: keyspace.clone(), text, must, rules, state, findings }
        });
        each.collect::<Vec<_>>()
    };
    schemas.each.iter().flat_map(of).collect()
}

fn by_audit(rules: &[String], keyspace: &str, report: Option<&Report>) -> (&'static str, u64) {
    let Some(report) = report else { return ("by-audit", 0) };
    let rules: Vec<Rule> = rules.iter().filter_map(|name| Rule::parse(name)).collect();
    let is_own = |schema: &Option<String>| schema.as_deref().is_none_or(|it| it == keyspace);
    let broken =
        report.findings.iter().filter(|it| rules.contains(&it.rule) && is_own(&it.schema)).count();
    // What was not seen does not hold.
    match broken {
        0 if !report.source.complete => ("by-audit", 0),
        0 => ("holds", 0),
        broken => ("broken", broken as u64),
    }
}

/// What `plan fix` repairs of what an audit found.
pub(super) fn repairs(schemas: &Schemas, report: Option<&Report>, today: Date) -> Arc<Repairs> {
    Arc::new(report.map(|it| Repairs::new(&schemas.each, it, today)).unwrap_or_default())
}

/// Counts the jobs of all queues.
pub(super) fn queues(context: &Context, schemas: &Schemas) -> Queues {
    let definitions = schemas.each.iter().flat_map(|schema| &schema.keys);
    let names: Vec<&str> =
        definitions.filter(|it| is_queue(it)).map(|it| it.name.as_str()).collect();
    if names.is_empty() {
        return Queues::default();
    }
    let counted = || -> Result<_, keyward_audit::live::Error> {
        let (url, options) = (&context.source.url, context.options());
        let mut queues =
            queues::Queues::open(url, &options, &schemas.each, context.folder.salt, false)?;
        let mut each = Vec::new();
        for name in names {
            for queue in queues.named(name)?.unwrap_or_default() {
                each.push(queues.stats(&queue)?);
            }
        }
        Ok(each)
    };
    match counted() {
        Ok(each) => Queues { at: now(), each, error: None },
        Err(error) => Queues { at: now(), each: Vec::new(), error: Some(error.to_string()) },
    }
}

fn is_queue(definition: &Definition) -> bool {
    matches!(definition.role.as_deref(), Some(Role::Queue(_)))
}
