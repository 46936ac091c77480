//! `json`: one document, versioned. `jsonl`: its findings, one a line.

use super::{Report, Ticked};
use keyward_fact::visible_json;
use keyward_rules::Rule;
use keyward_rules::exchange::{Location, Region};
use keyward_schema::model::Severity;
use keyward_schema::{Diagnostic, Touched};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The version of the document. It rises when something that was there changes or goes.
const VERSION: u32 = 1;

pub(super) fn document(report: &Report<'_>) -> String {
    let findings: Vec<Value> =
        report.findings.iter().map(|finding| object(report, finding)).collect();
    let mut document = json!({
        "version": VERSION,
        "findings": findings,
        "checklist": report.checklist.iter().map(Ticked::object).collect::<Vec<_>>(),
        "summary": {
            "schemas": report.subject.schemas,
            "definitions": report.subject.definitions,
            "events": report.subject.events,
            "findings": report.findings.len(),
            "left_out": report.left_out,
            "errors": report.count(Severity::Error),
            "warnings": report.count(Severity::Warn),
        },
    });
    if let Some(compared) = &report.compared {
        let summary = &mut document["summary"];
        summary["against"] = compared.against.clone().into();
        summary["accepted"] = compared.accepted.into();
        summary["unstable"] = compared.unstable.into();
    }
    visible_json(format!("{document:#}\n"))
}

pub(super) fn lines(report: &Report<'_>) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let _ = writeln!(text, "{}", visible_json(object(report, finding).to_string()));
    }
    text
}

fn object(report: &Report<'_>, finding: &Diagnostic) -> Value {
    let mut object = Map::new();
    object.insert("rule".to_owned(), finding.rule.into());
    object.insert("severity".to_owned(), finding.severity.label().into());
    object.insert("definition".to_owned(), finding.definition.clone().into());
    object.insert("message".to_owned(), finding.message.clone().into());
    for (name, value) in change(finding) {
        object.insert(name, value);
    }
    location(&mut object, finding.labels.first().map(|label| report.location(label)).as_ref());
    object.insert("help".to_owned(), finding.help.clone().into());
    object.insert("notes".to_owned(), finding.notes.clone().into());
    let labels = finding.labels.iter().map(|label| {
        let mut object = Map::new();
        location(&mut object, Some(&report.location(label)));
        object.insert("text".to_owned(), label.text.clone().into());
        Value::Object(object)
    });
    object.insert("labels".to_owned(), labels.collect());
    Value::Object(object)
}

/// What else programs may want to know of a finding.
pub(super) fn properties(finding: &Diagnostic) -> Map<String, Value> {
    let definition = finding.definition.iter();
    let definition = definition.map(|it| ("definition".to_owned(), it.clone().into()));
    definition.chain(change(finding)).collect()
}

/// What only findings about changes have: what breaks, what changes, and how many keys that touches.
fn change(finding: &Diagnostic) -> Vec<(String, Value)> {
    let tier = Rule::parse(finding.rule).and_then(Rule::tier);
    let tier = tier.map(|tier| ("tier".to_owned(), tier.name().into()));
    let subject = finding.subject.as_ref().map(|it| ("subject".to_owned(), it.clone().into()));
    let touched = finding.touched.map(|touched| {
        let Touched { keys, bytes, how } = touched;
        let touched = json!({ "keys": keys, "bytes": bytes, "how": how.name() });
        ("touched".to_owned(), touched)
    });
    [tier, subject, touched].into_iter().flatten().collect()
}

/// Adds a location; a finding without one has `null` for each part.
fn location(object: &mut Map<String, Value>, location: Option<&Location>) {
    let region = location.and_then(|location| location.region);
    let mut insert = |name: &str, value: Option<Value>| {
        object.insert(name.to_owned(), value.unwrap_or(Value::Null));
    };
    insert("file", location.map(|location| location.file.clone().into()));
    insert("line", region.map(|Region { line, .. }| line.into()));
    insert("column", region.map(|Region { column, .. }| column.into()));
    insert("end_line", region.map(|Region { end_line, .. }| end_line.into()));
    insert("end_column", region.map(|Region { end_column, .. }| end_column.into()));
}
