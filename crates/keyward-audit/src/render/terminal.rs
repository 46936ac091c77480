//! What `keyward audit` prints: first what it amounts to, then where the memory is, then what is wrong.

mod checklist;
mod definitions;
mod findings;
mod headline;
mod rest;
mod unknown;

use super::ink::{Ink, Look, visible, width, wrap};
use super::subject::Subject;
use crate::report::Report;
use keyward_schema::Style;

pub use headline::summary;

/// How much of long lists is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Shown {
    /// As much as a person reads; how much is left out is said
    #[default]
    Top,
    /// Everything
    All,
}

impl Shown {
    fn limit(self, top: usize) -> usize {
        match self {
            Shown::Top => top,
            Shown::All => usize::MAX,
        }
    }
}

/// A report as text of so many columns.
///
/// Without colour it says the same. Where the terminal is very narrow, tables are wider than it.
pub fn terminal(report: &Report, style: &Style, shown: Shown) -> String {
    let mut sheet = Sheet::new(style, shown);
    let subjects = Subject::all(report);
    headline::write(report, &mut sheet);
    definitions::write(report, &subjects, &mut sheet);
    unknown::write(report, &mut sheet);
    rest::foreign(report, &mut sheet);
    findings::write(report, &mut sheet);
    rest::settings(report, &mut sheet);
    checklist::write(report, &mut sheet);
    rest::notes(report, &mut sheet);
    sheet.text
}

/// Text in the making.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) text: String,
    pub(super) ink: Ink,
    pub(super) columns: usize,
    shown: Shown,
}

impl Sheet {
    pub(super) fn new(style: &Style, shown: Shown) -> Self {
        let ink = Ink { color: style.color };
        Sheet { text: String::new(), ink, columns: style.width.max(40), shown }
    }

    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// A heading after an empty line, with what belongs to it.
    pub(super) fn heading(&mut self, title: &str, more: &str) {
        let title = self.ink.on(Look::Bold, title);
        let more = self.ink.on(Look::Dim, more);
        self.text.push('\n');
        self.line(&format!("{title}  {more}"));
    }

    /// A text that may need several lines; the first begins with `first`, which may have a look, and
    /// the others with as many blanks.
    pub(super) fn paragraph(&mut self, (first, others): (&str, &str), look: Look, text: &str) {
        let columns = self.columns.saturating_sub(width(others));
        for (number, line) in wrap(&visible(text), columns).iter().enumerate() {
            let before = if number == 0 { first } else { others };
            let line = self.ink.on(look, line);
            self.line(&format!("{before}{line}"));
        }
    }

    /// The rows to show of a long list, and how many are left out.
    pub(super) fn top<'a, T>(&self, list: &'a [T], top: usize) -> (&'a [T], usize) {
        let limit = self.shown.limit(top);
        // One more row is no longer than the line that would say so.
        let limit = if list.len() == limit.saturating_add(1) { list.len() } else { limit };
        let shown = &list[..limit.min(list.len())];
        (shown, list.len() - shown.len())
    }
}
