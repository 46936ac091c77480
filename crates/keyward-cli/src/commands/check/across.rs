//! Keys that two schemas claim: servers are shared, and so is the promise that no key has two
//! meanings.

use crate::schemas::{Opened, Schemas};
use keyward_fact::thousands;
use keyward_pattern::prove::{Claim, Overlap, overlaps_between};
use keyward_rules::{MAX_FINDINGS, Rule};
use keyward_schema::Diagnostic;
use keyward_schema::model::{Allow, Definition, Schema, Severity};

/// The rule that speaks about it.
const RULE: &str = Rule::OverlappingPatterns.name();
/// The rule that must not complain about what is used here.
const UNUSED: &str = Rule::UnusedAllow.name();

/// Adds a finding for each pair of definitions, of two schemas, that have a key in common.
pub(super) fn add(schemas: &Schemas, findings: &mut Vec<Diagnostic>) {
    let sides: Vec<_> =
        schemas.readable().map(|(opened, schema)| Side { opened, schema }).collect();
    for (number, left) in sides.iter().enumerate() {
        for right in &sides[number + 1..] {
            compare(left, right, findings);
        }
    }
}

struct Side<'a> {
    opened: &'a Opened,
    schema: &'a Schema,
}

fn compare(left: &Side<'_>, right: &Side<'_>, findings: &mut Vec<Diagnostic>) {
    let severity = left.severity().max(right.severity());
    if severity == Severity::Off || in_different_databases(left.schema, right.schema) {
        return;
    }
    let found = overlaps_between(&left.schema.compiled, &right.schema.compiled);
    let mut reported = 0;
    for overlap in &found.overlaps {
        let first = left.definition(overlap.first);
        let second = right.definition(overlap.second);
        let allows = [left.accepts(first), right.accepts(second)];
        if allows.iter().all(Option::is_none) {
            reported += 1;
            if reported <= MAX_FINDINGS {
                findings.push(finding((left, first), (right, second), overlap, severity));
            }
        }
        for (side, allow) in [left, right].into_iter().zip(allows) {
            forget_unused(side, allow, findings);
        }
    }
    if let (Some(last), more @ 1..) = (findings.last_mut(), reported.saturating_sub(MAX_FINDINGS)) {
        last.notes.push(format!("and {} more between these two schemas", thousands(more as u64)));
    }
    if !found.complete {
        findings.push(incomplete(left, right, severity));
    }
}

impl<'a> Side<'a> {
    fn definition(&self, claim: Claim) -> &'a Definition {
        match claim {
            Claim::Definition(id) | Claim::Derived(id) => &self.schema.keys[id.index()],
        }
    }

    /// How serious the schema takes it.
    fn severity(&self) -> Severity {
        let setting = self.schema.rules.rules.iter().find(|(name, _)| name.value == RULE);
        let default = Rule::OverlappingPatterns.severity();
        setting.and_then(|(_, setting)| setting.severity).unwrap_or(default)
    }

    /// What accepts an overlap of the definition, if something does.
    fn accepts(&self, definition: &'a Definition) -> Option<&'a Allow> {
        let mut allows = definition.allow.iter().chain(&self.schema.allow);
        allows.find(|allow| *allow.rule == RULE)
    }
}

/// Keys of two databases never meet.
fn in_different_databases(left: &Schema, right: &Schema) -> bool {
    match (&left.keyspace.db, &right.keyspace.db) {
        (Some(left), Some(right)) => left.value != right.value,
        _ => false,
    }
}

fn finding(
    (left, first): (&Side<'_>, &Definition),
    (right, second): (&Side<'_>, &Definition),
    overlap: &Overlap,
    severity: Severity,
) -> Diagnostic {
    let message = format!(
        "the key `{}` belongs to `{}` of `{}` and to `{}` of `{}`",
        overlap.witness,
        second.name.value,
        right.opened.path.display(),
        first.name.value,
        left.opened.path.display(),
    );
    Diagnostic::new(RULE, severity, message)
        .about(&second.name.value)
        .at(right.opened.span(&second.pattern.span), "")
        .at(left.opened.span(&first.pattern.span), "")
        .help("give each keyspace a prefix of its own, or the patterns different words")
}

fn incomplete(left: &Side<'_>, right: &Side<'_>, severity: Severity) -> Diagnostic {
    let names = [left, right].map(|side| &side.schema.keyspace.name);
    let message = format!(
        "not every pattern of `{}` could be compared with those of `{}`",
        names[1].value, names[0].value
    );
    Diagnostic::new(RULE, severity, message)
        .at(
            right.opened.span(&names[1].span),
            "too many patterns meet, or their types are too large",
        )
        .at(left.opened.span(&names[0].span), "")
        .help("mend the overlaps that are reported, and check again")
}

/// An `allow` that accepts an overlap with another schema is used after all.
fn forget_unused(side: &Side<'_>, allow: Option<&Allow>, findings: &mut Vec<Diagnostic>) {
    let Some(span) = allow.map(|allow| side.opened.span(&allow.span)) else { return };
    findings.retain(|finding| {
        finding.rule != UNUSED || finding.labels.first().is_none_or(|label| label.span != span)
    });
}
