//! One line a finding, for logs.

use super::ink::visible;
use crate::report::{Finding, Report};
use std::fmt::Write as _;

/// One line a finding: `source: schema/definition: severity[rule]: message`; with a baseline, of those that are new or
/// worse.
pub fn concise(report: &Report) -> String {
    let mut text = String::new();
    for finding in report.failing() {
        let _ = writeln!(
            text,
            "{}: {}{}[{}]: {}{}",
            visible(&report.source.name),
            place(finding),
            finding.severity.name(),
            finding.rule,
            visible(&finding.message),
            if finding.sampled { " of a sample" } else { "" },
        );
    }
    text
}

fn place(finding: &Finding) -> String {
    let parts: Vec<String> = [&finding.schema, &finding.definition]
        .into_iter()
        .flatten()
        .map(|it| visible(it))
        .collect();
    if parts.is_empty() { String::new() } else { format!("{}: ", parts.join("/")) }
}
