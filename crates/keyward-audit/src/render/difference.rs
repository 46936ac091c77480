//! What has changed between two reports: first what it amounts to, then the memory, then the findings.

use super::ink::{Look, visible};
use super::table::{Cell, Side, Table};
use super::terminal::{Sheet, Shown};
use super::words;
use crate::report::ChangeVerdict;
use crate::{Difference, FindingChange, PartChange};
use keyward_fact::thousands;
use keyward_schema::Style;

/// How many rows of each table a person reads.
const TOP: usize = 15;

/// What has changed, as text of so many columns.
pub fn difference(difference: &Difference, style: &Style, shown: Shown) -> String {
    let mut sheet = Sheet::new(style, shown);
    headline(difference, &mut sheet);
    for warning in &difference.warnings {
        sheet.paragraph(("! ", "  "), Look::Warning, warning);
    }
    let parts = || difference.parts.iter();
    let several = parts().any(|part| part.schema.is_some());
    let known = difference.bytes.iter().all(Option::is_some);
    for (title, more, belongs) in KINDS {
        let more = if known { more.to_owned() } else { more.replace("bytes", "keys") };
        let rows: Vec<&PartChange> = parts().filter(|part| belongs(part)).collect();
        table(title, &more, &rows, several, &mut sheet);
    }
    findings(&difference.findings, &mut sheet);
    sheet.text
}

/// Title, what it means, and what belongs there.
type Kind = (&'static str, &'static str, fn(&PartChange) -> bool);

const KINDS: [Kind; 4] = [
    ("grew", "by bytes", |part| part.keys[0] > 0 && part.keys[1] > 0 && rises(part)),
    ("shrank", "by bytes", |part| part.keys[0] > 0 && part.keys[1] > 0 && !rises(part)),
    ("appeared", "had no keys before", |part| part.keys[0] == 0 && part.keys[1] > 0),
    ("gone", "had keys before", |part| part.keys[0] > 0 && part.keys[1] == 0),
];

fn rises(part: &PartChange) -> bool {
    let [before, after] = part.both_bytes().unwrap_or_default();
    (after, part.keys[1]) > (before, part.keys[0])
}

fn headline(difference: &Difference, sheet: &mut Sheet) {
    let [before, after] = [0, 1].map(|at| visible(&words::moment(&difference.created_at[at])));
    let title = sheet.ink.on(Look::Bold, &format!("{before} → {after}"));
    sheet.line(&title);
    sheet.line("");
    let mut table = Table::default()
        .column("", Side::Left)
        .column("", Side::Right)
        .column("", Side::Left)
        .column("", Side::Left);
    let mut row = |name: &str, [before, after]: [String; 2], change: String| {
        table.row(vec![
            Cell::new(format!("  {name}")).look(Look::Dim),
            Cell::new(before),
            Cell::new(format!("→ {after}")),
            Cell::new(change).look(Look::Dim),
        ]);
    };
    let Difference { keys, bytes, compliance, .. } = difference;
    row("keys", keys.map(thousands), change(*keys, thousands));
    row("bytes", bytes.map(words::size_if_known), change_of_bytes(*bytes));
    if let [Some(before), Some(after)] = difference.key_lengths {
        let averages = [before, after].map(|it| format!("{:.1} bytes", it.average));
        let by = after.average - before.average;
        let change_of_average = match format!("{:.1}", by.abs()).as_str() {
            "0.0" => "the same".to_owned(),
            bytes => format!("{} {bytes}", if by > 0.0 { "+" } else { "−" }),
        };
        row("names", averages, change_of_average);
        let longest = [before.longest, after.longest];
        row("longest", longest.map(|it| words::counted(it, "byte")), change(longest, thousands));
    }
    if let [Some(before), Some(after)] = *compliance {
        let points = (after - before) * 100.0;
        let rounded = format!("{:.1}", points.abs());
        let change = match rounded.as_str() {
            "0.0" => "the same".to_owned(),
            _ => format!("{} {rounded} points", if points > 0.0 { "+" } else { "−" }),
        };
        row("declared", [before, after].map(words::percent), change);
    }
    let table = table.write(sheet.ink, sheet.columns);
    sheet.text.push_str(&table);
}

/// The same as for other numbers; nothing where one of them is not known.
fn change_of_bytes(bytes: [Option<u64>; 2]) -> String {
    match bytes {
        [Some(before), Some(after)] => change([before, after], words::size),
        _ => String::new(),
    }
}

/// `+ 68,379 (+ 4.4 %)`
fn change([before, after]: [u64; 2], write: fn(u64) -> String) -> String {
    if before == after {
        return "the same".to_owned();
    }
    let sign = sign(before, after);
    let by = write(before.abs_diff(after));
    match before {
        0 => format!("{sign} {by}"),
        _ => format!("{sign} {by} ({sign} {})", relative(before, after)),
    }
}

fn sign(before: u64, after: u64) -> &'static str {
    if after >= before { "+" } else { "−" }
}

/// By what share of it a number has changed; from a threefold on, that is a factor.
fn relative(before: u64, after: u64) -> String {
    let factor = words::share(after, before);
    if factor >= 3.0 {
        format!("{factor:.0} times")
    } else if factor > 1.0 {
        // More than everything is no share, and is not cut to one.
        format!("{:.1} %", (factor - 1.0) * 100.0)
    } else {
        words::percent(1.0 - factor)
    }
}

fn table(title: &str, more: &str, rows: &[&PartChange], several: bool, sheet: &mut Sheet) {
    if rows.is_empty() {
        return;
    }
    sheet.heading(title, more);
    let (shown, left_out) = sheet.top(rows, TOP);
    // What is gone says what it was.
    let side = usize::from(shown[0].keys[1] > 0);
    let both = shown[0].keys[0] > 0 && shown[0].keys[1] > 0;
    let mut table = Table::default().column("", Side::Left).column("keys", Side::Right);
    if both {
        table = table.column("", Side::Right);
    }
    table = table.column("bytes", Side::Right);
    if both {
        table = table.column("", Side::Left);
    }
    table = table.column("", Side::Left);
    for part in shown {
        let mut cells = vec![
            Cell::new(visible(&part.name)).look(Look::Code),
            Cell::new(thousands(part.keys[side])),
            Cell::new(words::size_if_known(part.bytes[side])),
        ];
        if both {
            let [before, after] = part.keys;
            let keys = format!("{} {}", sign(before, after), relative(before, after));
            let keys = if before == after { String::new() } else { keys };
            cells.insert(2, Cell::new(keys).look(Look::Dim));
            cells.push(Cell::new(change_of_bytes(part.bytes)));
        }
        let undeclared = several && part.schema.is_none();
        cells.push(Cell::new(if undeclared { "undeclared" } else { "" }).look(Look::Warning));
        table.row(cells);
    }
    let table = table.write(sheet.ink, sheet.columns);
    sheet.text.push_str(&table);
    if left_out > 0 {
        sheet.line(&format!("and {} more", thousands(left_out as u64)));
    }
}

/// What got worse, what is new, what is gone, what is better; the rest is only counted.
fn findings(findings: &[FindingChange], sheet: &mut Sheet) {
    if findings.is_empty() {
        return;
    }
    let order = [
        (Some(ChangeVerdict::New), "new", Look::Error),
        (Some(ChangeVerdict::Worse), "worse", Look::Error),
        (Some(ChangeVerdict::Better), "better", Look::Good),
        (None, "gone", Look::Good),
    ];
    let of = |verdict| findings.iter().filter(move |it| it.verdict == verdict);
    let same = of(Some(ChangeVerdict::Same)).count() as u64;
    let more = if same > 0 { format!("{} about the same", thousands(same)) } else { String::new() };
    sheet.heading("findings", &more);
    for (verdict, name, look) in order {
        for finding in of(verdict) {
            let label = sheet.ink.on(look, &format!("{name:<6}"));
            let count = match verdict {
                None => String::new(),
                Some(ChangeVerdict::New) => format!(": {}", rate(finding, 1)),
                Some(_) => format!(": {} → {}", rate(finding, 0), rate(finding, 1)),
            };
            let text = format!("[{}] {}{count}", finding.rule, finding.what);
            sheet.paragraph((&format!("{label}  "), "        "), Look::Plain, &text);
        }
    }
}

/// `12,404 (14.1 %)`
fn rate(finding: &FindingChange, side: usize) -> String {
    format!("{} ({})", thousands(finding.count[side]), words::percent(finding.share[side]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_says_how_much_and_by_what_share() {
        for (numbers, text) in [
            ([100, 104], "+ 4 (+ 4.0 %)"),
            ([100, 250], "+ 150 (+ 150.0 %)"),
            ([100, 1_200], "+ 1,100 (+ 12 times)"),
            ([100, 39], "− 61 (− 61.0 %)"),
            ([100, 0], "− 100 (− 100 %)"),
            ([0, 7], "+ 7"),
            ([7, 7], "the same"),
        ] {
            assert_eq!(change(numbers, thousands), text);
        }
    }
}
