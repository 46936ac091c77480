//! Keys that no definition matches, as patterns.

use super::Sheet;
use super::definitions::kinds;
use crate::mask::Masked;
use crate::render::ink::{Look, visible};
use crate::render::table::{Cell, Side, Table};
use crate::render::{spark, words};
use crate::report::{Group, Report};
use keyward_fact::thousands;

/// How many patterns a person reads.
const TOP: usize = 12;

pub(super) fn write(report: &Report, sheet: &mut Sheet) {
    if report.unknown.is_empty() {
        return;
    }
    let unknown = report.summary.unknown;
    let share = words::percent(words::share(unknown.keys, report.summary.keys));
    let keys = words::counted(unknown.keys, "key");
    let known = report.source.bytes.is_known();
    let size = unknown.bytes.map(|bytes| format!("; {}", words::size(bytes))).unwrap_or_default();
    let more = format!("{keys} that no definition matches, {share}{size}");
    sheet.heading("unknown", &more);
    let mut table = Table::default().column("pattern", Side::Left).column("keys", Side::Right);
    if known {
        table = table.column("bytes", Side::Right);
    }
    table = table.column("TTL left│no", Side::Left).column("type", Side::Left);
    let (rows, left_out) = sheet.top(&report.unknown, TOP);
    for group in rows {
        let mut cells = vec![
            Cell::new(visible(group.pattern.as_str())).look(Look::Code),
            Cell::new(thousands(group.facts.keys)),
            Cell::new(spark::ttl(&group.facts.ttl)),
            Cell::new(kinds(&group.facts)),
        ];
        if known {
            cells.insert(2, Cell::new(words::size_if_known(group.facts.bytes)));
        }
        table.row(cells);
        for line in below(group, sheet) {
            table.below(line);
        }
    }
    let table = table.write(sheet.ink, sheet.columns);
    sheet.text.push_str(&table);
    if left_out > 0 {
        let keys: u64 = report.unknown[rows.len()..].iter().map(|group| group.facts.keys).sum();
        let patterns = words::counted(left_out as u64, "more pattern");
        sheet.line(&format!("and {patterns} with {}", words::counted(keys, "key")));
    }
    if report.counts.counts.leaves.is_approximate() {
        let text = "too many different names to keep apart: these patterns are coarse";
        sheet.paragraph(("", "  "), Look::Dim, text);
    }
}

/// What was perhaps meant; else an example.
fn below(group: &Group, sheet: &Sheet) -> Vec<String> {
    let ink = sheet.ink;
    if let Some(nearest) = &group.nearest {
        let (name, pattern) = (visible(&nearest.definition), visible(&nearest.pattern));
        let meant = ink.on(Look::Help, "did you mean");
        return vec![
            format!("  {meant} {}, {pattern}?", ink.on(Look::Code, &name)),
            format!("  {}", ink.on(Look::Dim, &visible(&nearest.why))),
        ];
    }
    let example = group.examples.first().filter(|example| **example != group.pattern);
    let line = |example: &Masked| {
        let example = format!("such as {}", visible(example.as_str()));
        format!("  {}", ink.on(Look::Dim, &example))
    };
    example.map(line).into_iter().collect()
}
