//! What was read, and the totals.

use super::Sheet;
use crate::render::ink::{Ink, Look, visible};
use crate::render::spark::bar;
use crate::render::subject::count;
use crate::render::words;
use crate::report::{Report, Severity, SourceKind, Unread, WhyUnread};
use keyward_fact::thousands;
use keyward_schema::Style;

pub(super) fn write(report: &Report, sheet: &mut Sheet) {
    let name = sheet.ink.on(Look::Bold, &visible(&report.source.name));
    let server = words::server(report).map(|server| format!("{} · ", visible(&server)));
    let when = visible(&words::moment(&report.source.clock));
    let how = format!("{}{} · {when}", server.unwrap_or_default(), words::kind(report));
    let how = sheet.ink.on(Look::Dim, &how);
    sheet.line(&format!("{name}  {how}"));
    shards(report, sheet);
    sheet.line("");

    row(sheet, "keys", &thousands(report.summary.keys), &apart(report));
    let how = visible(&words::bytes_kind(report));
    row(sheet, "bytes", &words::size_if_known(report.summary.bytes), &how);
    if let Some(lengths) = report.summary.key_lengths {
        row(sheet, "names", &words::average_length(lengths), &words::longest(lengths));
    }
    declared(report, sheet);
    if !report.schemas.is_empty() {
        let (look, text) = found(report);
        let text = sheet.ink.on(look, &text);
        row(sheet, "findings", &text, &compared(report));
    }
    if let Some(sample) = words::sampled(report) {
        sheet.paragraph(("  sampled   ", "            "), Look::Warning, &sample);
    }
    if !report.source.complete {
        let text = format!("this audit is {}", words::incomplete(report));
        sheet.paragraph(("  partial   ", "            "), Look::Error, &text);
    }
}

/// `name   value  more`
fn row(sheet: &mut Sheet, name: &str, value: &str, more: &str) {
    let label = sheet.ink.on(Look::Dim, &format!("{name:<8}"));
    let more = if more.is_empty() { String::new() } else { format!("  ({more})") };
    let more = sheet.ink.on(Look::Dim, &more);
    sheet.line(&format!("  {label}  {value}{more}"));
}

/// Which keys are not checked, and which are not counted.
fn apart(report: &Report) -> String {
    let summary = &report.summary;
    let mut parts = Vec::new();
    if summary.unknown.keys > 0 {
        parts.push(format!("{} unknown", thousands(summary.unknown.keys)));
    }
    if summary.foreign.keys > 0 {
        parts.push(format!("{} foreign", thousands(summary.foreign.keys)));
    }
    if summary.expired > 0 {
        parts.push(format!("without {} expired", thousands(summary.expired)));
    }
    parts.join("; ")
}

fn declared(report: &Report, sheet: &mut Sheet) {
    let summary = &report.summary;
    let Some(compliance) = summary.compliance else {
        let why = if report.schemas.is_empty() { "no schema" } else { "no key to check" };
        return row(sheet, "declared", "–", why);
    };
    let look = match compliance {
        all if all >= 1.0 => Look::Good,
        most if most >= 0.95 => Look::Plain,
        _ => Look::Warning,
    };
    let percent = sheet.ink.on(look, &words::percent(compliance));
    let of = format!("{} of {} keys", thousands(summary.compliant), thousands(summary.judged));
    let picture = format!("{:░<20}", bar(compliance, 20).trim_end_matches(|c| c != '█'));
    row(sheet, "declared", &format!("{percent}  {}", sheet.ink.on(Look::Dim, &picture)), &of);
}

/// How many findings there are, in words.
fn found(report: &Report) -> (Look, String) {
    let errors = count(&report.findings, Severity::Error);
    let warnings = count(&report.findings, Severity::Warning);
    let text = match (errors, warnings) {
        (0, 0) => "none".to_owned(),
        (0, warnings) => words::counted(warnings, "warning"),
        (errors, 0) => words::counted(errors, "error"),
        (errors, warnings) => {
            format!("{}, {}", words::counted(errors, "error"), words::counted(warnings, "warning"))
        }
    };
    let look = match (errors, warnings) {
        (0, 0) => Look::Good,
        (0, _) => Look::Warning,
        _ => Look::Error,
    };
    (look, text)
}

fn compared(report: &Report) -> String {
    let Some(baseline) = &report.baseline else { return String::new() };
    let worse = match baseline.worse {
        0 => "nothing new or worse".to_owned(),
        worse => format!("{} new or worse", thousands(worse)),
    };
    format!(
        "{worse} than in {} of {}",
        visible(&baseline.name),
        words::moment(&baseline.created_at)
    )
}

/// The shards, if there are several, or if the keys read differ from DBSIZE.
fn shards(report: &Report, sheet: &mut Sheet) {
    let shards = &report.source.shards;
    let scan = report.source.kind == SourceKind::Scan;
    let differs = shards.iter().any(|shard| shard.dbsize.is_some_and(|all| all != shard.keys_seen));
    if shards.len() < 2 && !(scan && differs) {
        return;
    }
    let (shown, left_out) = sheet.top(shards, 6);
    let lines: Vec<String> = shown
        .iter()
        .map(|shard| {
            let seen = words::counted(shard.keys_seen, "key");
            let of = match shard.dbsize {
                Some(all) => format!(" read, DBSIZE {}", thousands(all)),
                None => " read".to_owned(),
            };
            format!("  {}  {seen}{of}", visible(&shard.name))
        })
        .collect();
    for line in lines {
        let line = sheet.ink.on(Look::Dim, &line);
        sheet.line(&line);
    }
    if left_out > 0 {
        sheet.line(&format!("  and {}", words::counted(left_out as u64, "more shard")));
    }
}

/// Everything in one line, to end with.
///
/// `1,948,201 keys, 312.4 MiB, 97.3 % as declared: 5 errors, 3 warnings`
pub fn summary(report: &Report, style: &Style) -> String {
    let ink = Ink { color: style.color };
    let keys = words::counted(report.summary.keys, "key");
    let size = report.summary.bytes.map(|bytes| format!(", {}", words::size(bytes)));
    let size = size.unwrap_or_default();
    let declared = match report.summary.compliance {
        Some(compliance) => format!(", {} as declared", words::percent(compliance)),
        None => String::new(),
    };
    let (look, found) = found(report);
    let found = match &report.baseline {
        Some(baseline) => {
            let look = if baseline.worse > 0 { Look::Error } else { Look::Good };
            ink.on(look, &visible(&compared(report)))
        }
        None if report.schemas.is_empty() => {
            format!("in {}", words::counted(report.groups.len() as u64, "pattern"))
        }
        None if report.findings.is_empty() => ink.on(look, "no findings"),
        None => ink.on(look, &found),
    };
    let colon = if report.schemas.is_empty() && report.baseline.is_none() { " " } else { ": " };
    let left_out = |unread: Unread| unread.why == WhyUnread::LeftOut;
    let rest = if !report.source.complete {
        format!("; this audit is {}", words::incomplete(report))
    } else if report.source.values_unread.is_some_and(left_out) {
        "; values were not read (--no-values)".to_owned()
    } else {
        String::new()
    };
    let in_part = match report.counts.counts.in_part() {
        0 => String::new(),
        1 => "; 1 large value was read in part".to_owned(),
        values => format!("; {} large values were read in part", thousands(values)),
    };
    format!("{keys}{size}{declared}{colon}{found}{in_part}{rest}")
}
