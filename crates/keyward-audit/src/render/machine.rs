//! Findings for GitHub Actions and for code scanning, written as those of `check` are.

use super::ink::visible;
use super::subject::examples;
use crate::report::{ChangeVerdict, Finding, Report};
use keyward_rules::exchange::{self, Location, Reported};
use serde_json::{Map, Value};

/// How many examples go into an annotation.
const EXAMPLES: usize = 3;

/// A workflow command for each finding, which GitHub Actions shows as an annotation; with a baseline, for each that
/// is new or worse.
///
/// `location` says where a finding belongs: the definition's lines in the schema, where the schema is at
/// hand. Where it knows nothing, the schema's file is named.
pub fn github(report: &Report, location: &dyn Fn(&Finding) -> Option<Location>) -> String {
    exchange::annotations(&reported(report, report.failing(), location))
}

/// The findings as a SARIF 2.1.0 document; with a baseline, each says how it compares. `location` is that of [`github`].
pub fn sarif(report: &Report, location: &dyn Fn(&Finding) -> Option<Location>) -> String {
    let mut all = reported(report, report.findings.iter(), location);
    let gone = report.baseline.iter().flat_map(|baseline| &baseline.gone);
    all.extend(
        reported(report, gone, location)
            .into_iter()
            .map(|gone| Reported { baseline_state: Some("absent"), ..gone }),
    );
    exchange::sarif(&all, report.source.complete)
}

fn reported<'r>(
    report: &'r Report,
    findings: impl Iterator<Item = &'r Finding>,
    location: &dyn Fn(&Finding) -> Option<Location>,
) -> Vec<Reported> {
    let one = |finding: &Finding| Reported {
        rule: finding.rule.name().to_owned(),
        severity: finding.severity.into(),
        message: visible(&finding.message),
        help: finding.help.iter().map(|help| visible(help)).collect(),
        notes: notes(report, finding),
        locations: location(finding).or_else(|| file(report, finding)).into_iter().collect(),
        properties: properties(report, finding),
        baseline_state: finding.change.as_ref().map(|change| match change.verdict {
            ChangeVerdict::New => "new",
            ChangeVerdict::Worse => "updated",
            ChangeVerdict::Same | ChangeVerdict::Better => "unchanged",
        }),
    };
    findings.map(one).collect()
}

fn notes(report: &Report, finding: &Finding) -> Vec<String> {
    let mut notes = vec![format!("found in {}", visible(&report.source.name))];
    if finding.sampled {
        notes.push("counted in a sample of the keys".to_owned());
    }
    notes.extend(finding.details.iter().map(|text| visible(text)));
    notes.extend(finding.written_by().map(|text| visible(&text)));
    let examples: Vec<String> = examples(finding)
        .iter()
        .take(EXAMPLES)
        .map(|example| format!("`{}`", visible(example.key.as_str())))
        .collect();
    if !examples.is_empty() {
        notes.push(format!("for example {}", examples.join(", ")));
    }
    notes
}

/// The file of the schema that a finding is about, or of the first one: code scanning shows nothing
/// that has no location.
fn file(report: &Report, finding: &Finding) -> Option<Location> {
    let of = |name: &String| report.schemas.iter().find(|schema| schema.name == *name);
    let schema = finding.schema.as_ref().and_then(of).or_else(|| report.schemas.first())?;
    let file = schema.path.clone()?;
    Some(Location { file, region: None, text: String::new() })
}

fn properties(report: &Report, finding: &Finding) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut insert = |name: &str, value: Value| properties.insert(name.to_owned(), value);
    if let Some(definition) = &finding.definition {
        insert("definition", definition.clone().into());
    }
    if let Some(schema) = &finding.schema {
        insert("schema", schema.clone().into());
    }
    if let Some(subject) = &finding.subject {
        insert("subject", subject.clone().into());
    }
    if let Some(owner) = &finding.owner {
        insert("owner", owner.clone().into());
    }
    if let Some(contact) = &finding.contact {
        insert("contact", contact.clone().into());
    }
    insert("source", report.source.name.clone().into());
    insert("count", finding.count.into());
    insert("unit", finding.unit.name().into());
    insert("of", finding.of.into());
    insert("sampled", finding.sampled.into());
    if let Some(unresolved) = finding.unresolved {
        let counts = [
            ("not_a_key", unresolved.not_a_key),
            ("elsewhere", unresolved.elsewhere),
            ("missing", unresolved.missing),
        ];
        insert(
            "unresolved",
            counts.into_iter().map(|(name, it)| (name, Value::from(it))).collect(),
        );
    }
    properties
}
