//! `/s/{server}`: how the keyspace is, at a glance.

use super::charts::{self, Asked};
use super::frame::{At, Visit, answer};
use super::words::{Moment, Number, UNKNOWN, counted, number_if_known, size, size_if_known};
use crate::forecast;
use crate::state::LiveFinding;
use axum::extract::{Path, Query};
use axum::response::Response;
use keyward_audit::Report;
use keyward_audit::report::{Definition, Facts, Severity};
use keyward_fact::thousands;
use keyward_page::{Span, per_cent, percent, prose, share};
use minijinja::context;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use std::collections::BTreeMap;

/// Findings that are shown here; the page of findings has all.
const WORST: usize = 6;
/// Rows of a table of totals.
const TOTALS: usize = 12;

pub(super) async fn page(
    visit: Visit,
    Path(server): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    answer(visit, server, move |at| {
        let words = at.known.words(at);
        let report = at.current.audit.as_ref().map(|it| &it.report);
        let findings = report.map_or(&[][..], |it| &it.findings);
        let worst: Vec<Worst> = (findings.iter().enumerate().take(WORST))
            .map(|(number, it)| Worst {
                number: number + 1,
                severity: it.severity.name(),
                message: prose(&it.message),
            })
            .collect();
        let more = findings.len().saturating_sub(WORST);
        let page = context! {
            keyspaces => keyspaces(at),
            facts => facts(at),
            numbers => numbers(at, report),
            page => words.as_ref().map(|it| it.page.clone()),
            worst => worst,
            more_findings => (more > 0).then(|| thousands(more as u64)),
            live => live(&at.current.found, None),
            totals => report.map(|it| totals(at, it)).unwrap_or_default(),
            charts => charts::overview(at, &asked),
            ranges => asked.ranges(&at.base),
            changes => !charts::marks(at, asked.between(at)).is_empty(),
        };
        at.page("overview.html", "", "Overview", page)
    })
    .await
}

#[derive(Debug, Serialize)]
struct Worst {
    number: usize,
    severity: &'static str,
    message: Vec<Span>,
}

/// Something that was seen while watching.
#[derive(Debug, Serialize)]
pub(super) struct Live {
    iso: String,
    time: String,
    severity: &'static str,
    message: Vec<Span>,
}

/// The latest that were seen while watching, of one definition or of all.
pub(super) fn live(found: &[LiveFinding], of: Option<(&str, &str)>) -> Vec<Live> {
    let wanted = |it: &&LiveFinding| {
        let finding = &it.finding;
        of.is_none_or(|(schema, name)| {
            finding.schema.as_deref() == Some(schema) && finding.definition.as_deref() == Some(name)
        })
    };
    let row = |it: &LiveFinding| {
        let Moment { iso, text } = Moment::new(it.at);
        let (severity, message) = (it.finding.severity.name(), prose(&it.finding.message));
        Live { iso, time: text, severity, message }
    };
    found.iter().filter(wanted).take(20).map(row).collect()
}

fn keyspaces(at: &At<'_>) -> String {
    let names = at.current.schemas.each.iter().map(|it| it.keyspace.name.as_str());
    names.collect::<Vec<_>>().join(", ")
}

fn facts(at: &At<'_>) -> Vec<String> {
    let node = at.current.info.as_ref().and_then(|it| it.nodes.first().cloned());
    let mut facts = Vec::new();
    if let Some(node) = node {
        let family = match node.family.as_deref() {
            Some("valkey") => "Valkey",
            _ => "Redis",
        };
        facts.extend(node.version.map(|version| format!("{family} {version}")));
        facts.extend(node.maxmemory_policy);
    }
    facts
}

fn numbers(at: &At<'_>, report: Option<&Report>) -> Vec<Number> {
    let mut numbers = Vec::new();
    if let Some(report) = report {
        numbers.extend(of_report(at, report));
    }
    numbers.extend(memory(at));
    if let Some(ops) = at.current.info.as_ref().and_then(|it| it.ops()) {
        let href = format!("{}/server", at.base);
        let more = "commands a second".to_owned();
        numbers.push(Number {
            label: "Load",
            value: thousands(ops),
            more,
            href,
            ..Number::default()
        });
    }
    numbers
}

fn of_report(at: &At<'_>, report: &Report) -> Vec<Number> {
    let summary = &report.summary;
    let href = |path: &str| format!("{}{path}", at.base);
    let mut numbers = Vec::new();
    if let Some(compliance) = summary.compliance {
        let tone = match compliance {
            all if all >= 1.0 => "good",
            most if most >= 0.95 => "",
            _ => "mild",
        };
        let judged = counted(summary.judged, "key");
        numbers.push(Number {
            label: "As declared",
            value: percent(compliance),
            more: format!("{} of {judged}", thousands(summary.compliant)),
            tone,
            href: href("/findings"),
            bar: Some(per_cent(compliance)),
        });
    }
    let count =
        |severity| report.findings.iter().filter(|it| it.severity == severity).count() as u64;
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if !report.schemas.is_empty() {
        numbers.push(Number {
            label: "Findings",
            value: thousands(errors + warnings),
            more: format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
            tone: match (errors, warnings) {
                (0, 0) => "good",
                (0, _) => "mild",
                _ => "bad",
            },
            href: href("/findings"),
            bar: None,
        });
    }
    numbers.push(Number {
        label: "Keys",
        value: thousands(summary.keys),
        more: match summary.unknown.keys {
            0 => String::new(),
            unknown => format!("{} unknown", thousands(unknown)),
        },
        href: href("/definitions"),
        ..Number::default()
    });
    let facts = || {
        let groups = report.groups.iter().chain(&report.unknown).map(|it| &it.facts);
        report.definitions.iter().map(|it| &it.facts).chain(groups)
    };
    let none = forecast::without_ttl(report);
    let meant = |it: &&Facts| it.ttl.declared.as_deref() == Some("none");
    let meant: u64 = facts().filter(meant).map(|it| it.ttl.none).sum();
    numbers.push(Number {
        label: "Without a TTL",
        value: thousands(none),
        more: format!("{} as declared", thousands(meant)),
        href: href("/definitions"),
        ..Number::default()
    });
    let soon = forecast::expiries(report).keys;
    numbers.push(Number {
        label: "Expire in 24 hours",
        value: thousands(soon),
        more: format!("{} of all keys", percent(share(soon, summary.keys))),
        href: href("/definitions"),
        ..Number::default()
    });
    numbers
}

/// The server's memory against its bound.
fn memory(at: &At<'_>) -> Option<Number> {
    let info = at.current.info.as_ref()?;
    let used = info.used_memory()?;
    let bound = info.maxmemory();
    let part = bound.map(|bound| share(used, bound));
    Some(Number {
        label: "Memory",
        value: size(used),
        more: match (bound, part) {
            (Some(bound), Some(part)) => format!("{} of {}", percent(part), size(bound)),
            _ => "no bound is set".to_owned(),
        },
        tone: match part {
            Some(part) if part >= 0.9 => "bad",
            Some(part) if part >= 0.75 => "mild",
            _ => "",
        },
        href: format!("{}/server", at.base),
        bar: part.map(per_cent),
    })
}

/// A table of totals.
#[derive(Debug, Serialize)]
struct Totals {
    id: &'static str,
    title: &'static str,
    head: &'static str,
    rows: Vec<Total>,
}

#[derive(Debug, Serialize)]
struct Total {
    name: String,
    href: Option<String>,
    definitions: String,
    keys: String,
    bytes: String,
    share: String,
    bar: f64,
}

#[derive(Debug, Default)]
struct Sum {
    definitions: u64,
    keys: u64,
    bytes: Option<u64>,
}

fn totals(at: &At<'_>, report: &Report) -> Vec<Totals> {
    let group = |it: &Definition| it.group.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    let link = |param: &str, name: &str| {
        let name = utf8_percent_encode(name, NON_ALPHANUMERIC);
        Some(format!("{}/definitions?{param}={name}", at.base))
    };
    let grouped = report.definitions.iter().any(|it| it.group.is_some());
    let by_group = grouped.then(|| Totals {
        id: "groups",
        title: "By group",
        head: "Group",
        rows: sums(report, group, |name| if name == UNKNOWN { None } else { link("group", name) }),
    });
    let by_prefix = (!report.definitions.is_empty()).then(|| Totals {
        id: "prefixes",
        title: "By prefix",
        head: "Prefix",
        rows: sums(report, |it| prefix(&it.pattern), |name| link("q", name)),
    });
    by_group.into_iter().chain(by_prefix).collect()
}

fn sums(
    report: &Report,
    key: impl Fn(&Definition) -> String,
    link: impl Fn(&str) -> Option<String>,
) -> Vec<Total> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for definition in &report.definitions {
        let sum = sums.entry(key(definition)).or_default();
        sum.definitions += 1;
        sum.keys += definition.facts.keys;
        sum.bytes = match (sum.bytes, definition.facts.bytes) {
            (Some(sum), Some(bytes)) => Some(sum + bytes),
            (sum, bytes) => sum.or(bytes),
        };
    }
    let mut sums: Vec<(String, Sum)> = sums.into_iter().filter(|it| it.1.keys > 0).collect();
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse((sum.bytes, sum.keys)));
    let all = report.summary.bytes.unwrap_or(0);
    let most = sums.first().and_then(|(_, sum)| sum.bytes).unwrap_or(0);
    let row = |(name, sum): (String, Sum)| {
        let bytes = sum.bytes.unwrap_or(0);
        Total {
            href: link(&name),
            name,
            definitions: thousands(sum.definitions),
            keys: number_if_known(Some(sum.keys)),
            bytes: size_if_known(sum.bytes),
            share: percent(share(bytes, all)),
            bar: per_cent(share(bytes, most)),
        }
    };
    sums.into_iter().take(TOTALS).map(row).collect()
}

/// What a pattern begins with: at most two segments, and no parameter.
fn prefix(pattern: &str) -> String {
    let fixed = &pattern[..pattern.find('{').unwrap_or(pattern.len())];
    let ends: Vec<usize> = fixed.match_indices(':').map(|(at, _)| at + 1).take(2).collect();
    match ends.last() {
        Some(end) => fixed[..*end].to_owned(),
        None => fixed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_has_no_parameter() {
        assert_eq!(prefix("bo:auth:token:cache:{token}"), "bo:auth:");
        assert_eq!(prefix("cart:{id}:items"), "cart:");
        assert_eq!(prefix("{tenant}:cart"), "");
        assert_eq!(prefix("queue"), "queue");
    }
}
