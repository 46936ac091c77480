//! A team's check-list, ticked.

use crate::report::{ChecklistItem, Level, Report, Ticked};
use keyward_page::{Span, prose};
use serde::Serialize;

/// An item.
#[derive(Debug, Serialize)]
pub(super) struct ChecklistRow {
    text: String,
    /// Where there are several schemas: of which it is
    schema: Option<String>,
    level: &'static str,
    rules: Vec<String>,
    /// `ok`, `bad`, `warning`, `unseen` or nothing
    verdict: &'static str,
    state: &'static str,
    remark: Vec<Span>,
}

impl ChecklistRow {
    /// What must hold, then what should.
    pub(super) fn all(report: &Report) -> Vec<Self> {
        let several = report.schemas.len() > 1;
        let mut items: Vec<&ChecklistItem> = report.checklist.iter().collect();
        items.sort_by_key(|item| item.level == Level::Should);
        items.into_iter().map(|item| ChecklistRow::new(item, several)).collect()
    }

    fn new(item: &ChecklistItem, several: bool) -> Self {
        let (verdict, state) = match (item.state, item.level) {
            (Ticked::Holds, _) => ("ok", "holds"),
            (Ticked::Broken, Level::Must) => ("bad", "does not hold"),
            (Ticked::Broken, Level::Should) => ("warning", "does not hold"),
            (Ticked::NotJudged | Ticked::Off, _) => ("unseen", "not decided"),
            (Ticked::ByReview, _) => ("", "by people"),
        };
        ChecklistRow {
            text: item.text.clone(),
            schema: several.then(|| item.schema.clone()),
            level: if item.level == Level::Must { "must" } else { "should" },
            rules: item.rules.clone(),
            verdict,
            state,
            remark: prose(&item.remark()),
        }
    }
}
