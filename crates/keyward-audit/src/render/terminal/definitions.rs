//! Where the memory is: definitions, or inferred groups, by bytes.

use super::Sheet;
use crate::render::ink::{Look, visible};
use crate::render::subject::Subject;
use crate::render::table::{Cell, Side, Table};
use crate::render::{spark, words};
use crate::report::{Facts, Report, Severity};
use keyward_fact::thousands;

/// How many rows a person reads.
const TOP: usize = 40;

/// The columns from which on more is shown.
const WIDE: usize = 110;

/// The columns from which on the lengths of names are shown.
const WIDEST: usize = 136;

pub(super) fn write(report: &Report, subjects: &[Subject<'_>], sheet: &mut Sheet) {
    let (with, without): (Vec<_>, Vec<_>) = subjects.iter().partition(|it| it.keys() > 0);
    if subjects.is_empty() {
        return;
    }
    let schemas: Vec<String> = report.schemas.iter().map(|schema| visible(&schema.name)).collect();
    let known = report.source.bytes.is_known();
    let by = if known { "by bytes" } else { "by keys" };
    if schemas.is_empty() {
        sheet.heading("groups", &format!("inferred from the keys, {by}"));
    } else {
        let below = subjects.iter().any(|it| it.keys() > it.facts.keys);
        let below = if below { ", with derived keys and old names" } else { "" };
        let more = format!("of {}, {by}{below}", schemas.join(", "));
        sheet.heading("definitions", &more);
    }
    let several = schemas.len() > 1;
    let wide = sheet.columns >= WIDE;
    let mut table = Table::default()
        .column(if schemas.is_empty() { "pattern" } else { "definition" }, Side::Left)
        .column("keys", Side::Right);
    if known {
        table =
            table.column("bytes", Side::Right).column("share", Side::Right).column("", Side::Left);
    }
    table = table.column("TTL left│no", Side::Left);
    if wide {
        table = table.column("half within", Side::Right);
    }
    let widest = sheet.columns >= WIDEST;
    if widest {
        table = table.column("name avg/max", Side::Right);
    }
    if wide && !schemas.is_empty() {
        table = table.column("declared", Side::Left);
    }
    if wide || schemas.is_empty() {
        table = table.column("type", Side::Left);
    }
    if !schemas.is_empty() {
        table = table.column("findings", Side::Left);
    }
    let (rows, left_out) = sheet.top(&with, TOP);
    let most = with.iter().filter_map(|it| it.bytes()).max().unwrap_or(0);
    for subject in rows {
        let mut cells = cells(report, subject, most, if wide { 8 } else { 6 }, several);
        let ttl = &subject.facts.ttl;
        if wide {
            let half = (ttl.expiring > 0).then(|| words::seconds(ttl.remaining.p50));
            cells.push(Cell::new(half.unwrap_or_default()));
        }
        if widest {
            let lengths = subject.facts.key_lengths;
            let lengths = lengths.map(|it| format!("{:.0}/{}", it.average, thousands(it.longest)));
            cells.push(Cell::new(lengths.unwrap_or_default()));
        }
        if wide && !schemas.is_empty() {
            cells.push(Cell::new(visible(ttl.declared.as_deref().unwrap_or_default())));
        }
        if wide || schemas.is_empty() {
            cells.push(Cell::new(kinds(subject.facts)));
        }
        if !schemas.is_empty() {
            cells.push(findings(subject, wide));
        }
        table.row(cells);
    }
    let columns = sheet.columns;
    let table = table.write(sheet.ink, columns);
    sheet.text.push_str(&table);
    if left_out > 0 {
        let rest = &with[rows.len()..];
        let rest = if known {
            words::size_if_known(rest.iter().map(|it| it.bytes()).sum())
        } else {
            words::counted(rest.iter().map(|it| it.keys()).sum(), "key")
        };
        sheet.line(&format!("and {} more with {rest}", thousands(left_out as u64)));
    }
    if with.iter().any(|it| it.facts.ttl.expiring > 0) {
        let bounds: Vec<String> = with[0].facts.ttl.buckets.iter().map(words::bound).collect();
        let legend = format!("TTL left: up to {} │ none", bounds.join(", "));
        sheet.paragraph(("", "  "), Look::Dim, &legend);
    }
    empty(&without, several, sheet);
    if schemas.is_empty() {
        let text = "no schema: declare these patterns in a keyward.toml, and the next audit reports which \
                    keys differ; `keyward infer` drafts one";
        sheet.paragraph(("", "  "), Look::Dim, text);
    }
}

fn cells(
    report: &Report,
    subject: &Subject<'_>,
    most: u64,
    bar: usize,
    several: bool,
) -> Vec<Cell> {
    let mut cells = vec![
        Cell::new(name(subject, several)).look(Look::Code),
        Cell::new(thousands(subject.keys())),
    ];
    if report.source.bytes.is_known() {
        let (bytes, all) = (subject.bytes().unwrap_or(0), report.summary.bytes.unwrap_or(0));
        cells.extend([
            Cell::new(words::size_if_known(subject.bytes())),
            Cell::new(words::percent(words::share(bytes, all))),
            Cell::new(spark::bar(words::share(bytes, most), bar)),
        ]);
    }
    cells.push(Cell::new(spark::ttl(&subject.facts.ttl)));
    cells
}

/// The types, those of the most keys first.
pub(super) fn kinds(facts: &Facts) -> String {
    let mut types: Vec<(&String, u64)> =
        facts.types.iter().map(|(name, count)| (name, *count)).filter(|it| it.1 > 0).collect();
    types.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let names: Vec<String> = types.iter().map(|(name, _)| visible(name)).collect();
    names.join(", ")
}

fn findings(subject: &Subject<'_>, wide: bool) -> Cell {
    let (errors, warnings) = (subject.count(Severity::Error), subject.count(Severity::Warning));
    let look = if errors > 0 { Look::Error } else { Look::Warning };
    let text = match (errors, warnings) {
        (0, 0) => String::new(),
        (0, warnings) if wide => words::counted(warnings, "warning"),
        (errors, 0) if wide => words::counted(errors, "error"),
        (errors, warnings) if wide => {
            format!("{}, {}", words::counted(errors, "error"), words::counted(warnings, "warning"))
        }
        (0, warnings) => format!("! {warnings}"),
        (errors, warnings) => format!("✗ {}", errors + warnings),
    };
    Cell::new(text).look(look)
}

/// The definitions without keys, in a line.
fn empty(without: &[&Subject<'_>], several: bool, sheet: &mut Sheet) {
    if without.is_empty() {
        return;
    }
    let (shown, left_out) = sheet.top(without, 12);
    let mut names: Vec<String> = shown.iter().map(|it| name(it, several)).collect();
    if left_out > 0 {
        names.push(format!("and {} more", thousands(left_out as u64)));
    }
    sheet.paragraph(("", "  "), Look::Dim, &format!("no keys: {}", names.join(", ")));
}

fn name(subject: &Subject<'_>, several: bool) -> String {
    match subject.definition {
        Some(definition) if several => {
            format!("{}/{}", visible(&definition.schema), visible(subject.name))
        }
        _ => visible(subject.name),
    }
}
