//! What is wrong, and what to do.

use super::Sheet;
use crate::render::ink::{Look, visible, wrap};
use crate::render::subject::{count, examples};
use crate::render::words;
use crate::report::{Finding, Report, Severity};

/// How many findings a person reads.
const TOP: usize = 15;

/// How many examples of a finding a person looks at.
const EXAMPLES: usize = 3;

pub(super) fn write(report: &Report, sheet: &mut Sheet) {
    if report.findings.is_empty() {
        return;
    }
    let (shown, left_out) = sheet.top(&report.findings, TOP);
    sheet
        .heading("findings", "errors first, then by lifecycle; `keyward explain RULE` explains it");
    for finding in shown {
        sheet.line("");
        write_one(finding, sheet);
    }
    if left_out > 0 {
        let rest = &report.findings[shown.len()..];
        let errors = count(rest, Severity::Error);
        let of_them = if errors > 0 {
            format!(", of them {}", words::counted(errors, "error"))
        } else {
            String::new()
        };
        sheet.line("");
        let more = words::counted(left_out as u64, "more finding");
        sheet.line(&format!("and {more}{of_them}; `--all` shows them"));
    }
}

fn write_one(finding: &Finding, sheet: &mut Sheet) {
    let look = match finding.severity {
        Severity::Error => Look::Error,
        Severity::Warning => Look::Warning,
    };
    let ink = sheet.ink;
    let head = format!("{}[{}]:", finding.severity.name(), finding.rule);
    let sampled = if finding.sampled { " of a sample" } else { "" };
    let whole = format!("{head} {}{sampled}{}", visible(&finding.message), words::change(finding));
    for (number, line) in wrap(&whole, sheet.columns.saturating_sub(2)).iter().enumerate() {
        match line.strip_prefix(&head) {
            Some(rest) if number == 0 => {
                sheet.line(&format!("{}{}", ink.on(look, &head), ink.on(Look::Bold, rest)));
            }
            _ => sheet.line(&format!("  {}", ink.on(Look::Bold, line))),
        }
    }
    let examples = examples(finding);
    let (examples, left_out) = sheet.top(&examples, EXAMPLES);
    let details = finding.details.iter();
    let mut lines: Vec<(String, Look, String)> =
        details.map(|text| (String::new(), Look::Plain, visible(text))).collect();
    for example in examples {
        let detail = match &example.detail {
            Some(detail) => format!("  {}", visible(detail)),
            None => String::new(),
        };
        lines.push((
            String::new(),
            Look::Plain,
            format!("{}{detail}", visible(example.key.as_str())),
        ));
    }
    let more = finding.keys().unwrap_or(0).saturating_sub(examples.len() as u64);
    if left_out > 0 && more > 0 {
        let more = words::counted(more, "more key");
        lines.push((String::new(), Look::Dim, format!("and {more}")));
    }
    if let Some(written_by) = finding.written_by() {
        lines.push((String::new(), Look::Dim, visible(&written_by)));
    }
    for help in &finding.help {
        lines.push(("help: ".to_owned(), Look::Help, help.clone()));
    }
    let last = lines.len().saturating_sub(1);
    for (number, (label, look, text)) in lines.iter().enumerate() {
        let branch = match (number == last, label.is_empty()) {
            (true, _) => "╰",
            (false, false) => "├",
            (false, true) => "│",
        };
        let indent = format!("  {branch} ");
        if label.is_empty() {
            sheet.line(&format!("{indent}{}", ink.on(*look, text)));
        } else {
            let others = if number == last { "          " } else { "  │       " };
            let first = format!("{indent}{}", ink.on(*look, label));
            hanging(sheet, &first, others, text);
        }
    }
}

/// A text after a label that has a look of its own.
fn hanging(sheet: &mut Sheet, first: &str, others: &str, text: &str) {
    let columns = sheet.columns.saturating_sub(others.len());
    for (number, line) in wrap(&visible(text), columns).iter().enumerate() {
        let before = if number == 0 { first } else { others };
        sheet.line(&format!("{before}{line}"));
    }
}
