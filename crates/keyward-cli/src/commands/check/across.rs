//! Keys that two schemas claim: servers are shared, and so is the promise that no key has two
//! meanings.

use crate::schemas::{Opened, Schemas};
use keyward_pattern::prove::{Claim, Overlap, overlaps_between};
use keyward_schema::Diagnostic;
use keyward_schema::model::{Allow, Definition, Schema, Severity};

/// The rule that speaks about it.
const RULE: &str = "overlapping-patterns";
/// The rule that must not complain about what is used here.
const UNUSED: &str = "unused-allow";

/// Adds a finding for each pair of definitions, of two schemas, that have a key in common.
pub(super) fn add(schemas: &Schemas, findings: &mut Vec<Diagnostic>) {
    let each: Vec<_> = schemas.readable().collect();
    for (number, left) in each.iter().enumerate() {
        for right in &each[number + 1..] {
            compare(*left, *right, findings);
        }
    }
}

type Side<'a> = (&'a Opened, &'a Schema);

fn compare(left: Side<'_>, right: Side<'_>, findings: &mut Vec<Diagnostic>) {
    let severity = severity(left.1).max(severity(right.1));
    if severity == Severity::Off || in_different_databases(left.1, right.1) {
        return;
    }
    let found = overlaps_between(&left.1.compiled, &right.1.compiled);
    for overlap in &found.overlaps {
        let sides = [(left, &overlap.first), (right, &overlap.second)];
        let [first, second] = sides.map(|(side, claim)| (side.0, definition(side.1, *claim)));
        let allows = sides.into_iter().filter_map(|(side, claim)| {
            let own = &definition(side.1, *claim).allow;
            let allow = own.iter().chain(&side.1.allow).find(|allow| *allow.rule == RULE)?;
            Some((side.0, allow))
        });
        let allows: Vec<_> = allows.collect();
        if allows.is_empty() {
            findings.push(finding(first, second, overlap, severity));
        }
        for (opened, allow) in allows {
            forget_unused(opened, allow, findings);
        }
    }
    if !found.complete {
        let (left_name, right_name) = (&left.1.keyspace.name, &right.1.keyspace.name);
        findings.push(
            Diagnostic::new(
                RULE,
                severity,
                format!(
                    "not every pattern of `{}` could be compared with those of `{}`",
                    right_name.value, left_name.value
                ),
            )
            .at(
                right.0.span(&right_name.span),
                "too many patterns meet, or their types are too large",
            )
            .at(left.0.span(&left_name.span), "")
            .help("mend the overlaps that are reported, and check again"),
        );
    }
}

fn finding(
    (first_file, first): (&Opened, &Definition),
    (second_file, second): (&Opened, &Definition),
    overlap: &Overlap,
    severity: Severity,
) -> Diagnostic {
    let message = format!(
        "the key `{}` belongs to `{}` of `{}` and to `{}` of `{}`",
        overlap.witness,
        second.name.value,
        second_file.path.display(),
        first.name.value,
        first_file.path.display(),
    );
    Diagnostic::new(RULE, severity, message)
        .about(&second.name.value)
        .at(second_file.span(&second.pattern.span), "")
        .at(first_file.span(&first.pattern.span), "")
        .help("give each keyspace a prefix of its own, or the patterns different words")
}

fn definition(schema: &Schema, claim: Claim) -> &Definition {
    match claim {
        Claim::Definition(id) | Claim::Derived(id) => &schema.keys[id.index()],
    }
}

/// How serious a schema takes it.
fn severity(schema: &Schema) -> Severity {
    let setting = schema.rules.rules.iter().find(|(name, _)| name.value == RULE);
    let default = keyward_rules::find(RULE).map_or(Severity::Error, |rule| rule.severity);
    setting.and_then(|(_, setting)| setting.severity).unwrap_or(default)
}

/// Keys of two databases never meet.
fn in_different_databases(left: &Schema, right: &Schema) -> bool {
    match (&left.keyspace.db, &right.keyspace.db) {
        (Some(left), Some(right)) => left.value != right.value,
        _ => false,
    }
}

/// An `allow` that accepts an overlap with another schema is used after all.
fn forget_unused(opened: &Opened, allow: &Allow, findings: &mut Vec<Diagnostic>) {
    let span = opened.span(&allow.span);
    findings.retain(|finding| {
        finding.rule != UNUSED || finding.labels.first().is_none_or(|label| label.span != span)
    });
}
