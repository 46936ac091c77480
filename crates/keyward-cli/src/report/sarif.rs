//! `sarif`: SARIF 2.1.0, which code scanning reads.

use super::{Place, Report};
use crate::verdict::Verdict;
use keyward_rules::{Rule, SCHEMA};
use keyward_schema::Diagnostic;
use keyward_schema::model::Severity;
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) fn document(report: &Report<'_>) -> String {
    let mut names: Vec<&str> = report.findings.iter().map(|finding| finding.rule).collect();
    names.sort_unstable();
    names.dedup();
    let results: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| result(report, finding, names.iter().position(|name| *name == finding.rule)))
        .collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "keyward",
                    "informationUri": env!("CARGO_PKG_REPOSITORY"),
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": names.iter().map(|name| descriptor(name)).collect::<Vec<_>>(),
                },
            },
            "invocations": [{ "executionSuccessful": report.verdict() != Verdict::Unusable }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{document:#}\n")
}

/// What there is to know about a rule.
fn descriptor(name: &str) -> Value {
    let Some(rule) = keyward_rules::find(name) else {
        let text = "The schema cannot be used as it is.";
        return json!({
            "id": SCHEMA,
            "shortDescription": { "text": text },
            "defaultConfiguration": { "level": "error" },
        });
    };
    let Rule { category, severity, set, .. } = rule;
    json!({
        "id": rule.name,
        "shortDescription": { "text": rule.summary() },
        "help": {
            "text": format!("keyward explain {name}"),
            "markdown": rule.documentation(),
        },
        "defaultConfiguration": { "level": level(*severity) },
        "properties": { "category": category.name(), "set": format!("{set:?}").to_lowercase() },
    })
}

fn result(report: &Report<'_>, finding: &Diagnostic, rule_index: Option<usize>) -> Value {
    let mut message = finding.message.clone();
    for text in finding.help.iter().chain(&finding.notes) {
        let _ = write!(message, "\n{text}");
    }
    let mut result = json!({
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": level(finding.severity),
        "message": { "text": message },
    });
    if let Some((first, others)) = finding.labels.split_first() {
        result["locations"] = json!([location(&report.place(first), &first.text)]);
        if !others.is_empty() {
            let others = others.iter().map(|label| location(&report.place(label), &label.text));
            result["relatedLocations"] = others.collect();
        }
    }
    if let Some(definition) = &finding.definition {
        result["properties"] = json!({ "definition": definition });
    }
    result
}

fn location(place: &Place, text: &str) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&place.file) },
            "region": {
                "startLine": place.line,
                "startColumn": place.column,
                "endLine": place.end_line,
                "endColumn": place.end_column,
            },
        },
    });
    if !text.is_empty() {
        location["message"] = json!({ "text": text });
    }
    location
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warn => "warning",
        Severity::Off => "none",
    }
}

/// A path as a URI reference: relative as it is, absolute with its scheme.
fn uri(path: &str) -> String {
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
            uri.push(byte.into());
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_uri() {
        assert_eq!(uri("../a b/ä.toml"), "../a%20b/%C3%A4.toml");
        assert_eq!(uri("/srv/keyward.toml"), "file:///srv/keyward.toml");
    }
}
