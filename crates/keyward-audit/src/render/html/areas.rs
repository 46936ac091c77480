//! What takes the memory: definitions, or groups without a schema; unknown patterns; other software's keys.

use super::links::Links;
use super::row::flag;
use crate::render::subject::Subject;
use crate::render::words;
use crate::report::{Count, Report, Severity};
use keyward_fact::thousands;
use keyward_page::Area;
use std::cmp::Reverse;

/// How many areas a treemap has, at most; what is left makes one more.
const MOST: usize = 80;

/// The colours and their labels, in the order of the legend.
const COLORS: [(&str, &str); 8] = [
    ("protected", "protected"),
    ("retained", "retained"),
    ("session", "session"),
    ("cache", "cache"),
    ("temporary", "temporary"),
    ("unknown", "unknown: no definition matches"),
    ("foreign", "other software"),
    ("group", "other"),
];

/// The areas, those with the most bytes first.
pub(super) fn areas(report: &Report, subjects: &[Subject<'_>], links: &Links) -> Vec<Area> {
    let all = report.summary.bytes.unwrap_or(0);
    let mut areas: Vec<Area> = (subjects.iter())
        .map(|it| {
            let (errors, warnings) = (it.count(Severity::Error), it.count(Severity::Warning));
            let href = links.of(it);
            let count = Count { keys: it.keys(), bytes: it.bytes() };
            let area = Area { flag: flag(errors, warnings), ..area(it.name, href, count) };
            Area { class: class(it.lifecycle()).to_owned(), serious: errors > 0, ..area }
        })
        .collect();
    let other = |name: &str, class: &str, count: Count| {
        let href = if class == "foreign" { &links.foreign } else { &links.unknown };
        Area { class: class.to_owned(), ..area(name, href.clone(), count) }
    };
    let listed = report.unknown.iter().map(|it| {
        let count = Count { keys: it.facts.keys, bytes: it.facts.bytes };
        other(it.pattern.as_str(), "unknown", count)
    });
    areas.extend(listed);
    areas.push(other("more unknown keys", "unknown", unlisted(report)));
    areas.push(other("other software", "foreign", report.summary.foreign));
    areas.retain(|area| area.bytes > 0);
    areas.sort_by_key(|area| Reverse(area.bytes));
    if areas.len() > MOST + 1 {
        // Too small to be seen, and too many to be drawn twice.
        let rest = areas.split_off(MOST);
        let bytes = Some(rest.iter().map(|it| it.bytes).sum());
        let keys = rest.iter().map(|it| it.keys).sum();
        let name = format!("{} more", thousands(rest.len() as u64));
        areas.push(area(&name, links.rest.clone(), Count { keys, bytes }));
        areas.sort_by_key(|area| Reverse(area.bytes));
    }
    for area in &mut areas {
        area.share = words::percent(words::share(area.bytes, all));
        let keys = words::counted(area.keys, "key");
        area.tip = format!("{}: {}, {}, {keys}", area.name, area.size, area.share);
        if !area.flag.is_empty() {
            area.tip = format!("{}, {}", area.tip, area.flag);
        }
    }
    areas
}

fn area(name: &str, href: String, Count { keys, bytes }: Count) -> Area {
    let (name, class, bytes) = (name.to_owned(), "group".to_owned(), bytes.unwrap_or(0));
    Area { name, href, class, keys, bytes, size: words::size(bytes), ..Area::default() }
}

/// The unknown keys of patterns that the report does not list.
fn unlisted(report: &Report) -> Count {
    let unknown = report.summary.unknown;
    let keys: u64 = report.unknown.iter().map(|it| it.facts.keys).sum();
    let bytes: Option<u64> = report.unknown.iter().map(|it| it.facts.bytes).sum();
    Count {
        keys: unknown.keys.saturating_sub(keys),
        bytes: unknown.bytes.zip(bytes).map(|(all, listed)| all.saturating_sub(listed)),
    }
}

/// A lifecycle as a class; a report may say anything.
pub(super) fn class(lifecycle: &str) -> &'static str {
    let known = COLORS[..5].iter().find(|(known, _)| *known == lifecycle);
    known.map_or("group", |(known, _)| known)
}

/// The colours that occur, and what each means.
pub(super) fn colors(report: &Report, areas: &[Area]) -> Vec<(&'static str, &'static str)> {
    let used = |class: &str| areas.iter().any(|area| area.class == class);
    let label = |(class, label)| match class {
        "group" if report.schemas.is_empty() => (class, "inferred pattern"),
        _ => (class, label),
    };
    COLORS.into_iter().filter(|(class, _)| used(class)).map(label).collect()
}
