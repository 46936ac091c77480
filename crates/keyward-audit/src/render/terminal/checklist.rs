//! A team's check-list, ticked.

use super::Sheet;
use crate::render::ink::{Look, visible};
use crate::report::{ChecklistItem, Level, Report, Ticked};

pub(super) fn write(report: &Report, sheet: &mut Sheet) {
    for (level, title) in [(Level::Must, "must"), (Level::Should, "should")] {
        let items: Vec<_> = report.checklist.iter().filter(|item| item.level == level).collect();
        if !items.is_empty() {
            sheet.heading("check-list", &format!("what {title} hold"));
        }
        for item in items {
            line(item, report.schemas.len() > 1, sheet);
        }
    }
}

fn line(item: &ChecklistItem, several: bool, sheet: &mut Sheet) {
    let (mark, look) = match (item.state, item.level) {
        (Ticked::Holds, _) => ("✓", Look::Good),
        (Ticked::Broken, Level::Must) => ("✗", Look::Error),
        (Ticked::Broken, Level::Should) => ("✗", Look::Warning),
        (Ticked::NotJudged | Ticked::Off, _) => ("?", Look::Warning),
        (Ticked::ByReview, _) => ("·", Look::Dim),
    };
    let of = if several { format!("{}: ", visible(&item.schema)) } else { String::new() };
    let remark = item.remark();
    let remark = if remark.is_empty() { remark } else { format!(": {remark}") };
    let mark = format!("{} ", sheet.ink.on(look, mark));
    sheet.paragraph((&mark, "  "), Look::Plain, &format!("{of}{}{remark}", item.text));
}
