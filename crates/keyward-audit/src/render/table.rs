//! Lined-up columns. Own code, since a table here has no borders, one column that gives way, and cells
//! whose look must not count as width.

use super::ink::{Ink, Look, width};

/// The space between columns.
const GAP: usize = 2;

/// How far the column that gives way can give way.
const LEAST: usize = 12;

/// A table for a terminal. Its first column gives way where the terminal is narrow: a name that does not
/// fit stands on a line of its own, whole, above its row.
#[derive(Debug, Default)]
pub(super) struct Table {
    titles: Vec<(String, Side)>,
    rows: Vec<Row>,
}

#[derive(Debug)]
enum Row {
    Cells(Vec<Cell>),
    /// A line of its own below a row, which takes no part in the columns
    Below(String),
}

/// Where a column's cells stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// A text and its look.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    text: String,
    look: Look,
}

impl Cell {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Cell { text: text.into(), look: Look::Plain }
    }

    pub(super) fn look(self, look: Look) -> Self {
        Cell { look, ..self }
    }
}

impl Table {
    /// Adds a column.
    pub(super) fn column(mut self, title: &str, side: Side) -> Self {
        self.titles.push((title.to_owned(), side));
        self
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(Row::Cells(cells));
    }

    /// Adds a line below the last row, which is written as it is.
    pub(super) fn below(&mut self, line: String) {
        self.rows.push(Row::Below(line));
    }

    /// All lines, each ended.
    pub(super) fn write(&self, ink: Ink, columns: usize) -> String {
        let widths = self.widths(columns);
        let mut text = String::new();
        let titles = self.titles.iter().map(|(title, _)| Cell::new(title).look(Look::Dim));
        if self.titles.iter().any(|(title, _)| !title.is_empty()) {
            self.line(&titles.collect::<Vec<_>>(), &widths, ink, &mut text);
        }
        for row in &self.rows {
            match row {
                Row::Cells(cells) => self.line(cells, &widths, ink, &mut text),
                Row::Below(line) => {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        text
    }

    fn line(&self, cells: &[Cell], widths: &[usize], ink: Ink, text: &mut String) {
        // Blanks before the next text: none follow the last one.
        let mut blanks = 0;
        for ((cell, columns), (_, side)) in cells.iter().zip(widths).zip(&self.titles) {
            let mut shown = cell.text.as_str();
            if width(shown) > *columns {
                text.push_str(&ink.on(cell.look, shown));
                text.push('\n');
                shown = "";
            }
            let rest = columns.saturating_sub(width(shown));
            if *side == Side::Right {
                blanks += rest;
            }
            if !shown.is_empty() {
                text.extend(std::iter::repeat_n(' ', blanks));
                text.push_str(&ink.on(cell.look, shown));
                blanks = 0;
            }
            if *side == Side::Left {
                blanks += rest;
            }
            blanks += GAP;
        }
        text.push('\n');
    }

    fn widths(&self, columns: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.titles.iter().map(|(title, _)| width(title)).collect();
        for row in &self.rows {
            let Row::Cells(cells) = row else { continue };
            for (widest, cell) in widths.iter_mut().zip(cells) {
                *widest = width(&cell.text).max(*widest);
            }
        }
        let all = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        if let Some(first) = widths.first_mut() {
            let given = all.saturating_sub(columns);
            *first = first.saturating_sub(given).max(LEAST.min(*first));
        }
        widths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_does_not_fit_has_its_own_line() {
        let mut table = Table::default()
            .column("pattern", Side::Left)
            .column("keys", Side::Right)
            .column("", Side::Left);
        table.row(vec![Cell::new("session:active:<text>"), Cell::new("1,204"), Cell::new("")]);
        table.row(vec![Cell::new("京:*"), Cell::new("7"), Cell::new("x")]);
        let ink = Ink { color: false };
        assert!(table.write(ink, 40).contains("session:active:<text>  1,204\n"));
        assert_eq!(
            table.write(ink, 24),
            "pattern          keys\nsession:active:<text>\n                1,204\n京:*                7  x\n"
        );
    }
}
