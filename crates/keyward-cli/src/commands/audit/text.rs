//! A report as text, in short: what it amounts to, where the memory is, what is wrong.

use crate::output::{BOLD, CODE, DIM, ERROR, GOOD, HELP, WARNING, printable};
use crate::report::counted;
use keyward_audit::report::{BytesKind, ChangeVerdict, Facts, Finding, Severity};
use keyward_audit::{Difference, Report};
use keyward_fact::{Size, thousands};
use keyward_schema::Style;
use std::fmt::Write as _;

/// How many rows of a table are shown.
const ROWS: usize = 15;

/// Everything for people.
pub(super) fn full(report: &Report, style: &Style, all: bool) -> String {
    let mut text = String::new();
    let shown = if all { usize::MAX } else { ROWS };
    head(report, &mut text);
    let definitions = report.definitions.iter().map(|it| (it.name.clone(), &it.facts));
    table("definition", definitions.collect(), shown, style, &mut text);
    let groups = report.groups.iter().map(|it| (it.pattern.clone(), &it.facts));
    table("pattern", groups.collect(), shown, style, &mut text);
    let unknown = report.unknown.iter().map(|it| (it.pattern.clone(), &it.facts));
    table("unknown", unknown.collect(), shown, style, &mut text);
    for finding in report.findings.iter().take(shown) {
        write_finding(finding, &mut text);
    }
    cut(report.findings.len(), shown, "findings", &mut text);
    for note in &report.source.notes {
        let _ = writeln!(text, "{}: {}", DIM.on("note"), printable(note));
    }
    if report.schemas.is_empty() {
        let _ =
            writeln!(text, "{}: declare these keys: {}", HELP.on("help"), CODE.on("keyward init"));
    }
    text
}

fn head(report: &Report, text: &mut String) {
    let summary = &report.summary;
    let how = match report.source.bytes {
        BytesKind::MemoryUsage => "as MEMORY USAGE counts",
        BytesKind::Estimated if report.source.checked => "estimated",
        BytesKind::Estimated => "estimated, not checked for this version of the server",
        BytesKind::Serialized => "in the file",
    };
    let _ = writeln!(
        text,
        "{}  {} keys, {} ({how})",
        BOLD.on(printable(&report.source.name)),
        thousands(summary.keys),
        Size::from_bytes(summary.bytes).human(),
    );
    if let Some(compliance) = summary.compliance {
        let _ = writeln!(text, "as declared  {:.1} %", compliance * 100.0);
    }
    for (name, keys) in [
        ("unknown", summary.unknown.keys),
        ("foreign", summary.foreign.keys),
        ("expired", summary.expired),
    ] {
        if keys > 0 {
            let _ = writeln!(text, "{name}  {} keys", thousands(keys));
        }
    }
    text.push('\n');
}

fn table(
    title: &str,
    mut rows: Vec<(String, &Facts)>,
    shown: usize,
    style: &Style,
    text: &mut String,
) {
    if rows.is_empty() {
        return;
    }
    rows.sort_by_key(|(_, facts)| std::cmp::Reverse(facts.bytes));
    let cells = |(name, facts): &(String, &Facts)| {
        [
            printable(name),
            thousands(facts.keys),
            Size::from_bytes(facts.bytes).human(),
            format!("{:.1} %", facts.share * 100.0),
            thousands(facts.ttl.none),
            facts.types.keys().cloned().collect::<Vec<_>>().join(" "),
        ]
    };
    let head = [title, "keys", "bytes", "share", "no TTL", "types"].map(str::to_owned);
    let lines: Vec<[String; 6]> =
        std::iter::once(head).chain(rows.iter().take(shown).map(cells)).collect();
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let first = width(0).min(style.width.saturating_sub(50).max(20));
    for (number, line) in lines.iter().enumerate() {
        let name: String = line[0].chars().take(first).collect();
        let mut row = format!("{name:<first$}");
        for (column, cell) in line.iter().enumerate().skip(1).take(4) {
            let _ = write!(row, "  {cell:>0$}", width(column));
        }
        let _ = write!(row, "  {}", line[5]);
        let row = row.trim_end();
        let _ = writeln!(text, "{}", if number == 0 { DIM.on(row) } else { row.to_owned() });
    }
    cut(rows.len(), shown, "rows", text);
    text.push('\n');
}

fn cut(all: usize, shown: usize, what: &str, text: &mut String) {
    if all > shown {
        let _ = writeln!(text, "{}", DIM.on(format_args!("and {} more {what}", all - shown)));
    }
}

fn write_finding(finding: &Finding, text: &mut String) {
    let look = if finding.severity == Severity::Error { ERROR } else { WARNING };
    let name = look.on(format_args!("{}[{}]", finding.severity.name(), finding.rule));
    let change = match finding.change.as_ref().map(|change| change.verdict) {
        Some(ChangeVerdict::New) => " (new)",
        Some(ChangeVerdict::Worse) => " (worse)",
        Some(ChangeVerdict::Better) => " (better)",
        Some(ChangeVerdict::Same) => " (as before)",
        None => "",
    };
    let _ = writeln!(text, "{name}: {}{change}", printable(&finding.message));
    for example in &finding.examples {
        let detail = example.detail.as_ref().map_or_else(String::new, |it| format!("  {it}"));
        let _ = writeln!(text, "    {}{}", printable(&example.key), DIM.on(printable(&detail)));
    }
    for help in &finding.help {
        let _ = writeln!(text, "    {}: {}", HELP.on("help"), printable(help));
    }
    text.push('\n');
}

/// One line a finding.
pub(super) fn concise(report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let _ = writeln!(
            text,
            "{}: {}[{}]: {}",
            printable(&report.source.name),
            finding.severity.name(),
            finding.rule,
            printable(&finding.message)
        );
    }
    text
}

/// Everything in one line.
pub(super) fn summary(report: &Report) -> String {
    if let Some(baseline) = &report.baseline {
        let worse = usize::try_from(baseline.worse).unwrap_or(usize::MAX);
        return match worse {
            0 => format!("{} than {}", GOOD.on("nothing is worse"), baseline.name),
            worse => format!(
                "{} than {}",
                ERROR.on(format_args!("{} worse", counted(worse, "finding"))),
                baseline.name
            ),
        };
    }
    let of = |severity| report.findings.iter().filter(|it| it.severity == severity).count();
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    let keys = thousands(report.summary.keys);
    match (errors + warnings, report.schemas.is_empty()) {
        (0, true) => format!("{keys} keys in {}", counted(report.groups.len(), "pattern")),
        (0, false) => format!("{keys} keys, {}", GOOD.on("all as declared")),
        (all, _) => format!(
            "{}: {}, {}",
            counted(all, "finding"),
            ERROR.on(counted(errors, "error")),
            WARNING.on(counted(warnings, "warning"))
        ),
    }
}

/// What changed between two reports.
pub(crate) fn difference(difference: &Difference) -> String {
    let mut text = String::new();
    let [before, after] = difference.keys;
    let [small, large] = difference.bytes.map(|bytes| Size::from_bytes(bytes).human());
    let _ = writeln!(text, "keys   {} → {}", thousands(before), thousands(after));
    let _ = writeln!(text, "bytes  {small} → {large}");
    if let [Some(before), Some(after)] = difference.compliance {
        let _ = writeln!(text, "as declared  {:.1} % → {:.1} %", before * 100.0, after * 100.0);
    }
    text.push('\n');
    for part in difference.parts.iter().take(ROWS) {
        let [small, large] = part.bytes.map(|bytes| Size::from_bytes(bytes).human());
        let [before, after] = part.keys.map(thousands);
        let name = printable(&part.name);
        let _ = writeln!(text, "{}  {before} → {after} keys, {small} → {large}", BOLD.on(name));
    }
    cut(difference.parts.len(), ROWS, "changes", &mut text);
    if !difference.findings.is_empty() {
        text.push('\n');
    }
    for finding in &difference.findings {
        let verdict = match finding.verdict {
            Some(ChangeVerdict::New) => ERROR.on("new"),
            Some(ChangeVerdict::Worse) => ERROR.on("worse"),
            Some(ChangeVerdict::Better) => GOOD.on("better"),
            Some(ChangeVerdict::Same) => DIM.on("as before"),
            None => GOOD.on("gone"),
        };
        let [before, after] = finding.count.map(thousands);
        let what = printable(&finding.what);
        let _ = writeln!(text, "{verdict}  [{}] {what}: {before} → {after}", finding.rule);
    }
    text
}
