//! What a report of an audit tells about the definitions of a schema.

use keyward_audit::Report;
use keyward_audit::report::{Bar, Definition, Finding};
use keyward_rules::{Measured, MeasuredDefinition, OldAmount};
use keyward_schema::Schema;

/// The numbers for one keyspace, whichever version of it was audited.
pub(super) fn measured(report: &Report, new: &Schema, old: &Schema) -> Measured {
    let names = [&new.keyspace.name.value, &old.keyspace.name.value];
    let own = report.definitions.iter().filter(|definition| names.contains(&&definition.schema));
    let definitions = own.map(|definition| (definition.name.clone(), numbers(report, definition)));
    Measured {
        definitions: definitions.collect(),
        sampled: report.source.sample.map(|sample| sample.percent),
        complete: report.source.complete && report.source.narrowed.is_none(),
    }
}

fn numbers(report: &Report, definition: &Definition) -> MeasuredDefinition {
    let own = |finding: &&Finding| {
        finding.schema.as_ref() == Some(&definition.schema)
            && finding.definition.as_ref() == Some(&definition.name)
    };
    let keys = |finding: &Finding| finding.in_keys.map_or(finding.count, |keys| keys.count);
    let breaking = report.findings.iter().filter(own).map(|finding| {
        let rule = finding.rule.name().to_owned();
        ((rule, finding.subject.clone()), (keys(finding), finding.bytes))
    });
    let bars = |bars: &[Bar]| bars.iter().map(|bar| (bar.from, bar.to, bar.count)).collect();
    let facts = &definition.facts;
    MeasuredDefinition {
        pattern: definition.pattern.clone(),
        params: definition.params.iter().map(|it| (it.name.clone(), it.ty.clone())).collect(),
        keys: facts.keys,
        bytes: facts.bytes,
        expiring: facts.ttl.expiring,
        lengths: bars(&facts.lengths.histogram),
        sizes: facts.sizes.as_ref().map_or(Vec::new(), |sizes| bars(&sizes.histogram)),
        breaking: breaking.collect(),
        old_names: definition
            .old_names
            .iter()
            .map(|old| OldAmount {
                migration: old.migration.clone(),
                keys: old.keys,
                bytes: old.bytes,
            })
            .collect(),
        derived: (definition.derived.keys, definition.derived.bytes),
    }
}
