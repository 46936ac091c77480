//! `keyward migrate`: where each migration stands, and the next safe step.

use super::connect;
use super::plan::{Watch, burden, expect_url, failed, schema, values};
use crate::args::{ListFormat, Migrate};
use crate::failure::{Failure, Result};
use crate::output::{BOLD, DIM, Output, WARNING};
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_audit::{Mask, Salt};
use keyward_fact::{Duration, thousands};
use keyward_plan::{Control, Fleet, MakeOptions, RenameStatus, Status};
use keyward_schema::model::Date;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

pub(crate) fn run(args: &Migrate, settings: &Settings, output: &Output) -> Result<Verdict> {
    expect_url(&args.source)?;
    let schema = schema(settings, output)?;
    if schema.migrations.is_empty() {
        return Err(Failure::new("the schema has no migration")
            .help("declare the old names in `[migrations.<id>]`"));
    }
    let live = burden(connect::options(&args.connect)?, &args.burden);
    let options = MakeOptions::new(live, settings.now);
    let mask = Mask::new(Salt::random(), false, std::slice::from_ref(&schema));
    let control = Arc::new(Control::default());
    let watch = Watch::new(&control, output);
    let values = values(&args.prefix.bindings);
    let found = keyward_plan::status(&args.source, &schema, &values, &options, &mask, &control);
    drop(watch);
    let (statuses, fleet) = found.map_err(|error| failed(&error))?;
    if args.format == ListFormat::Json {
        output.print(format_args!("{:#}\n", json(&statuses, &fleet, settings.today)))?;
    } else {
        let mut text = String::new();
        for status in &statuses {
            show(status, settings.today, &mut text);
        }
        clients(&fleet, &mut text);
        output.print(text)?;
    }
    let is_left = |status: &Status| {
        status.renames.iter().any(|it| it.left + it.conflicts > 0) || !status.obstacles.is_empty()
    };
    Ok(Verdict::of(statuses.iter().any(is_left)))
}

fn json(statuses: &[Status], fleet: &Fleet, today: Date) -> Value {
    let rename = |it: &RenameStatus| {
        json!({
            "definition": it.definition,
            "from": it.from,
            "old_keys": it.old,
            "unread": it.unread,
            "new_keys": it.new,
            "same": it.same,
            "to_do": it.left,
            "conflicts": it.conflicts,
            "queues_with_jobs": it.queues,
            "idle_seconds": it.idle_seconds,
            "unseen_use": it.unseen_use,
        })
    };
    let migration = |it: &Status| {
        json!({
            "name": it.name,
            "phase": it.phase,
            "started": it.started.map(|date| date.to_string()),
            "remove_after": it.remove_after.map(|date| date.to_string()),
            "days_left": it.remove_after.and_then(|end| days(end, today)),
            "renames": it.renames.iter().map(rename).collect::<Vec<_>>(),
            "obstacles": it.obstacles,
            "next": it.next,
        })
    };
    json!({
        "version": 1,
        "migrations": statuses.iter().map(migration).collect::<Vec<_>>(),
        "clients": {
            "announced": fleet.announced,
            "unnamed": fleet.unnamed,
            "not_listed_by": fleet.denied,
        },
    })
}

fn show(status: &Status, today: Date, text: &mut String) {
    let since = status.started.map(|it| format!(", since {it}")).unwrap_or_default();
    let until =
        status.remove_after.map(|end| format!(", {}", until(end, today))).unwrap_or_default();
    let _ =
        writeln!(text, "{}  phase {}{since}{until}", BOLD.on(&status.name), BOLD.on(status.phase));
    let widest = status.renames.iter().map(|it| it.from.chars().count()).max().unwrap_or(0).max(9);
    let _ = writeln!(
        text,
        "{}",
        DIM.on(format!(
            "  {:widest$}  {:>10}  {:>10}  {:>10}  {:>10}  {:>9}  not used for",
            "old name", "old keys", "new keys", "the same", "to do", "conflicts"
        ))
    );
    for it in &status.renames {
        let idle = match it.idle_seconds {
            _ if it.unseen_use > 0 => "not seen".to_owned(),
            Some(seconds) => Duration::from_millis(seconds.saturating_mul(1000)).human(),
            None => "-".to_owned(),
        };
        let _ = writeln!(
            text,
            "  {:widest$}  {:>10}  {:>10}  {:>10}  {:>10}  {:>9}  {idle}",
            it.from,
            thousands(it.old),
            thousands(it.new),
            thousands(it.same),
            thousands(it.left),
            thousands(it.conflicts)
        );
    }
    for it in status.renames.iter().filter(|it| it.unread > 0) {
        let _ = writeln!(
            text,
            "  {} {} like `{}`, and cannot be read as it",
            WARNING.on("note:"),
            if it.unread == 1 {
                "1 key looks".to_owned()
            } else {
                format!("{} keys look", thousands(it.unread))
            },
            it.from
        );
    }
    for obstacle in &status.obstacles {
        let _ = writeln!(text, "  {} {obstacle}", WARNING.on("not yet:"));
    }
    let _ = writeln!(text, "  next: {}\n", status.next);
}

/// How many days are left until a day; negative after it.
fn days(end: Date, today: Date) -> Option<i32> {
    let civil = |date: Date| {
        let year = i16::try_from(date.year).ok()?;
        let (month, day) = (i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?);
        jiff::civil::Date::new(year, month, day).ok()
    };
    Some((civil(end)? - civil(today)?).get_days())
}

/// `remove after 2026-12-31, in 45 days`
fn until(end: Date, today: Date) -> String {
    let Some(days) = days(end, today) else { return format!("remove after {end}") };
    match days {
        0 => format!("remove after {end}, which is today"),
        1 => format!("remove after {end}, in 1 day"),
        2.. => format!("remove after {end}, in {} days", thousands(days.unsigned_abs().into())),
        -1 => format!("remove after {end}, which was yesterday"),
        _ => format!("remove after {end}, {} days ago", thousands(days.unsigned_abs().into())),
    }
}

fn clients(fleet: &Fleet, text: &mut String) {
    let _ = writeln!(text, "{}", BOLD.on("connected clients"));
    for (name, count) in &fleet.announced {
        let _ = writeln!(text, "  {:>6}  announce {name}", thousands(*count));
    }
    for (name, count) in &fleet.unnamed {
        let _ = writeln!(text, "  {:>6}  {name}", thousands(*count));
    }
    for server in &fleet.denied {
        let _ = writeln!(text, "  {server} does not list its clients to this user");
    }
    if fleet.announced.is_empty() && fleet.unnamed.is_empty() && fleet.denied.is_empty() {
        let _ = writeln!(text, "  not seen");
    }
}
