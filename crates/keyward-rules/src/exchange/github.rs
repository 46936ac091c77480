//! `github`: workflow commands, which GitHub Actions shows as annotations on the changed lines.

use super::Reported;
use keyward_schema::model::Severity;
use std::fmt::Write as _;

/// A workflow command for each finding.
pub fn annotations<'a>(findings: impl IntoIterator<Item = &'a Reported>) -> String {
    let mut text = String::new();
    for finding in findings {
        let properties: Vec<String> = properties(finding)
            .iter()
            .map(|(name, value)| format!("{name}={}", escape_property(value)))
            .collect();
        let mut message = finding.message.clone();
        for help in &finding.help {
            let _ = write!(message, "\nhelp: {help}");
        }
        for note in &finding.notes {
            let _ = write!(message, "\nnote: {note}");
        }
        let command = match finding.severity {
            Severity::Off => "notice",
            severity => severity.label(),
        };
        let properties = properties.join(",");
        let _ = writeln!(text, "::{command} {properties}::{}", escape_data(&message));
    }
    text
}

fn properties(finding: &Reported) -> Vec<(&'static str, String)> {
    let mut properties = Vec::new();
    if let Some(location) = finding.locations.first() {
        properties.push(("file", location.file.clone()));
        if let Some(region) = location.region {
            properties.push(("line", region.line.to_string()));
            properties.push(("endLine", region.end_line.to_string()));
            // GitHub refuses columns of an annotation that spans lines.
            if region.line == region.end_line {
                properties.push(("col", region.column.to_string()));
                properties.push(("endColumn", region.end_column.to_string()));
            }
        }
    }
    properties.push(("title", finding.rule.clone()));
    properties
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_finding_can_end_its_annotation() {
        assert_eq!(escape_data("100 %\r\n::error::x"), "100 %25%0D%0A::error::x");
        assert_eq!(escape_property("a,b:c%\n"), "a%2Cb%3Ac%25%0A");
    }
}
