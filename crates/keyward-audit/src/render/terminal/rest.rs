//! Other software's keys, the server's settings, and notes about the numbers.

use super::Sheet;
use crate::render::ink::{Look, visible};
use crate::render::table::{Cell, Side, Table};
use crate::render::words;
use crate::report::Report;
use keyward_fact::thousands;
use std::collections::BTreeMap;

pub(super) fn foreign(report: &Report, sheet: &mut Sheet) {
    if report.foreign.is_empty() {
        return;
    }
    sheet.heading("foreign", "keys of other software: counted, not checked");
    let mut table = Table::default().column("name", Side::Left).column("keys", Side::Right);
    let known = report.source.bytes.is_known();
    if known {
        table = table.column("bytes", Side::Right);
    }
    table = table.column("glob", Side::Left);
    for foreign in &report.foreign {
        let mut cells = vec![
            Cell::new(visible(&foreign.name)).look(Look::Code),
            Cell::new(thousands(foreign.keys)),
            Cell::new(visible(&foreign.glob)),
        ];
        if known {
            cells.insert(2, Cell::new(words::size_if_known(foreign.bytes)));
        }
        table.row(cells);
    }
    let table = table.write(sheet.ink, sheet.columns);
    sheet.text.push_str(&table);
}

pub(super) fn settings(report: &Report, sheet: &mut Sheet) {
    if report.settings.is_empty() {
        return;
    }
    sheet.heading("settings", "what the schema requires of the server");
    for setting in &report.settings {
        let (mark, look, verdict) = match setting.ok {
            Some(true) => ("✓", Look::Good, "as required".to_owned()),
            Some(false) => ("✗", Look::Error, format!("required: {}", quoted(&setting.want))),
            None => continue,
        };
        let mark = sheet.ink.on(look, mark);
        let got = quoted(setting.got.as_deref().unwrap_or_default());
        let name = sheet.ink.on(Look::Code, &visible(&setting.name));
        sheet.line(&format!("{mark} {name} {got}, {verdict}"));
        if setting.ok == Some(false) && !setting.why.is_empty() {
            sheet.paragraph(("  ", "  "), Look::Dim, &setting.why);
        }
    }
    unseen(report, sheet);
}

/// Settings that could not be read, by reason: an RDB file contains none.
fn unseen(report: &Report, sheet: &mut Sheet) {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for setting in report.settings.iter().filter(|setting| setting.ok.is_none()) {
        reasons.entry(&setting.why).or_default().push(&setting.name);
    }
    for (why, names) in reasons {
        let mark = format!("{} ", sheet.ink.on(Look::Warning, "?"));
        let text = format!("not read: {}; {why}", names.join(", "));
        sheet.paragraph((&mark, "  "), Look::Plain, &text);
    }
}

/// A setting's value; quotes make an empty one visible.
fn quoted(value: &str) -> String {
    if value.is_empty() { "\"\"".to_owned() } else { visible(value) }
}

pub(super) fn notes(report: &Report, sheet: &mut Sheet) {
    if report.source.notes.is_empty() {
        return;
    }
    sheet.heading("notes", "");
    for note in &report.source.notes {
        sheet.paragraph(("- ", "  "), Look::Plain, note);
    }
}
