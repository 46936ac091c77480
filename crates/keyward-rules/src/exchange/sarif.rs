//! `sarif`: SARIF 2.1.0, which code scanning reads.

use super::{Location, Reported};
use crate::{Rule, SCHEMA};
use keyward_fact::visible_json;
use keyward_schema::model::Severity;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A SARIF document of one run; `successful` says whether everything was looked at that was to be.
pub fn sarif(findings: &[Reported], successful: bool) -> String {
    let mut names: Vec<&str> = findings.iter().map(|finding| finding.rule.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let results: Vec<Value> = findings
        .iter()
        .map(|finding| result(finding, names.iter().position(|name| *name == finding.rule)))
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
            "invocations": [{ "executionSuccessful": successful }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    visible_json(format!("{document:#}\n"))
}

/// What there is to know about a rule.
fn descriptor(name: &str) -> Value {
    let Some(rule) = Rule::parse(name) else {
        // A report may name a rule of another version.
        if name != SCHEMA {
            return json!({ "id": name });
        }
        let text = "The schema cannot be used as it is.";
        return json!({
            "id": SCHEMA,
            "shortDescription": { "text": text },
            "defaultConfiguration": { "level": "error" },
        });
    };
    json!({
        "id": rule,
        "shortDescription": { "text": rule.summary() },
        "help": {
            "text": format!("keyward explain {name}"),
            "markdown": rule.documentation(),
        },
        "defaultConfiguration": { "level": level(rule.severity()) },
        "properties": { "category": rule.category().name(), "set": rule.set_name() },
    })
}

fn result(finding: &Reported, rule_index: Option<usize>) -> Value {
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
    if let Some((first, others)) = finding.locations.split_first() {
        result["locations"] = json!([location(first)]);
        if !others.is_empty() {
            result["relatedLocations"] = others.iter().map(location).collect();
        }
    }
    if let Some(state) = finding.baseline_state {
        result["baselineState"] = state.into();
        // Not every reader knows `baselineState`: what fails nothing is not an error, and what is gone has passed.
        match state {
            "unchanged" => result["level"] = "note".into(),
            "absent" => {
                result["kind"] = "pass".into();
                result["level"] = "none".into();
            }
            _ => {}
        }
    }
    if !finding.properties.is_empty() {
        result["properties"] = Value::Object(finding.properties.clone());
    }
    result
}

fn location(location: &Location) -> Value {
    let mut object = json!({
        "physicalLocation": { "artifactLocation": { "uri": uri(&location.file) } },
    });
    if let Some(region) = location.region {
        object["physicalLocation"]["region"] = json!({
            "startLine": region.line,
            "startColumn": region.column,
            "endLine": region.end_line,
            "endColumn": region.end_column,
        });
    }
    if !location.text.is_empty() {
        object["message"] = json!({ "text": location.text });
    }
    object
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Off => "none",
        severity => severity.label(),
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
