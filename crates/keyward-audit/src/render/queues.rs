//! Queues, for people.

use super::ink::{Ink, Look, visible};
use super::table::{Cell, Side, Table};
use super::words;
use crate::mask::Masked;
use crate::queues::{DeadLetter, QueueStats, QueuedJob};
use keyward_fact::{Duration, thousands};
use keyward_schema::Style;

/// How many jobs each queue has.
pub fn queue_stats(queues: &[QueueStats], style: &Style) -> String {
    let mut table = Table::default().column("queue", Side::Left);
    for title in ["waiting", "due", "running", "ended", "dead"] {
        table = table.column(title, Side::Right);
    }
    table = table.column("", Side::Left);
    for it in queues {
        let number = |count: Option<u64>| Cell::new(count.map_or("-".to_owned(), thousands));
        let dead_look = if it.dead > Some(0) { Look::Warning } else { Look::Plain };
        let names: Vec<String> = it.wrong_type.iter().map(|name| format!("`{name}`")).collect();
        let remark = match (&names[..], it.paused) {
            ([], true) => Cell::new("paused").look(Look::Warning),
            ([], false) => Cell::new(""),
            ([one], _) => Cell::new(format!("{one} holds another type")).look(Look::Error),
            _ => Cell::new(format!("{} hold another type", names.join(", "))).look(Look::Error),
        };
        table.row(vec![
            Cell::new(visible(it.queue.as_str())).look(Look::Code),
            number(it.waiting),
            number(it.due),
            number(it.running),
            number(it.ended),
            number(it.dead).look(dead_look),
            remark,
        ]);
    }
    write(&table, style)
}

/// Jobs of a queue; times are counted from now, in milliseconds since 1970.
pub fn queued_jobs(jobs: &[QueuedJob], now: u64, style: &Style) -> String {
    if jobs.is_empty() {
        return "no job has a record; `keyward queue stats` counts those that wait\n".to_owned();
    }
    let mut table = Table::default().column("id", Side::Left).column("state", Side::Left);
    for title in ["attempts", "crashes", "priority", "age", "left"] {
        table = table.column(title, Side::Right);
    }
    table = table.column("group", Side::Left);
    for job in jobs {
        let look = if job.crashes > 0 { Look::Warning } else { Look::Plain };
        let left = job.until.map(|until| span(until.saturating_sub(now)));
        table.row(vec![
            Cell::new(shown(job.id.as_ref())).look(Look::Code),
            Cell::new(job.state),
            Cell::new(thousands(job.attempts)),
            Cell::new(thousands(job.crashes)).look(look),
            Cell::new(job.priority.to_string()),
            Cell::new(span(now.saturating_sub(job.created))),
            Cell::new(left.unwrap_or_else(|| "-".to_owned())),
            Cell::new(job.group.as_ref().map_or(String::new(), |it| visible(it.as_str()))),
        ]);
    }
    write(&table, style)
}

/// Dead letters of a queue.
pub fn dead_letters(letters: &[DeadLetter], style: &Style) -> String {
    if letters.is_empty() {
        return "no dead letters\n".to_owned();
    }
    let mut table = Table::default()
        .column("error", Side::Left)
        .column("id", Side::Left)
        .column("attempts", Side::Right)
        .column("bytes", Side::Right)
        .column("failed", Side::Left);
    for letter in letters {
        let failed = letter.failed_at.as_deref().map(words::moment);
        table.row(vec![
            Cell::new(shown(letter.error.as_ref())),
            Cell::new(shown(letter.id.as_ref())).look(Look::Code),
            Cell::new(letter.attempts.map_or("-".to_owned(), thousands)),
            Cell::new(words::size(letter.bytes)),
            Cell::new(failed.unwrap_or_else(|| "-".to_owned())),
        ]);
    }
    write(&table, style)
}

fn write(table: &Table, style: &Style) -> String {
    table.write(Ink { color: style.color }, style.width)
}

fn shown(text: Option<&Masked>) -> String {
    text.map_or("-".to_owned(), |text| visible(text.as_str()))
}

/// A time in whole seconds.
fn span(millis: u64) -> String {
    Duration::from_millis(millis / 1000 * 1000).human()
}
