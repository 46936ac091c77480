//! `github`: workflow commands, which GitHub Actions shows as annotations on the changed lines.

use super::{Report, severity_name};
use std::fmt::Write as _;

pub(super) fn annotations(report: &Report<'_>) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let mut properties = Vec::new();
        if let Some(place) = finding.labels.first().map(|label| report.place(label)) {
            properties.push(("file", place.file));
            properties.push(("line", place.line.to_string()));
            properties.push(("endLine", place.end_line.to_string()));
            // GitHub refuses columns of an annotation that spans lines.
            if place.line == place.end_line {
                properties.push(("col", place.column.to_string()));
                properties.push(("endColumn", place.end_column.to_string()));
            }
        }
        properties.push(("title", finding.rule.to_owned()));
        let properties: Vec<String> = properties
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
        let _ = writeln!(
            text,
            "::{} {}::{}",
            severity_name(finding.severity).replace("note", "notice"),
            properties.join(","),
            escape_data(&message)
        );
    }
    text
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
