//! What the template is filled with. Every text is made already; the template says where it stands.

use super::areas::{areas, colors};
use super::chart::{Scale, legend};
use super::checklist::ChecklistRow;
use super::finding::{FindingRow, SettingRow, UnknownRow};
use super::links::Links;
use super::row::{Row, flag};
use crate::render::subject::{Subject, count};
use crate::render::words;
use crate::report::{Count, Facts, Report, Severity};
use keyward_fact::thousands;
use keyward_page::{Span, Treemap, per_cent, prose};
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything that a page about a report says, in words. It is for templates: its fields are those of the
/// built-in one, and may change with it.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each shows or hides something of its own")]
pub struct Page {
    name: String,
    keyspaces: String,
    has_schema: bool,
    several: bool,
    keyward: String,
    created_at: String,
    facts: Vec<String>,
    /// What must be known before any number is read
    warnings: Vec<String>,
    lead: Vec<Vec<Span>>,
    numbers: Vec<Number>,
    wide: Treemap,
    narrow: Treemap,
    /// The colours of the treemap: class and label
    colors: Vec<(&'static str, &'static str)>,
    rows: Vec<Row>,
    empty: Vec<Row>,
    ttl_legend: Vec<(String, String)>,
    size_marks: Vec<(f64, String)>,
    bytes_kind: String,
    bytes_known: bool,
    findings: Vec<FindingRow>,
    errors: u64,
    warning_count: u64,
    /// The rules that found something, with how many findings each
    rules: Vec<(String, usize)>,
    unknown: Vec<UnknownRow>,
    unknown_total: String,
    foreign: Vec<(String, String, String, String)>,
    settings: Vec<SettingRow>,
    checklist: Vec<ChecklistRow>,
    shards: Vec<(String, String, String)>,
    notes: Vec<Vec<Span>>,
    masked: bool,
}

/// A number of the headline.
#[derive(Debug, Serialize)]
struct Number {
    label: &'static str,
    value: String,
    more: String,
    /// `good`, `mild`, `bad` or nothing
    tone: &'static str,
    href: &'static str,
    bar: Option<f64>,
}

impl Page {
    /// Says everything; definitions are where `links` says.
    pub fn new(report: &Report, links: &Links) -> Self {
        let subjects = Subject::all(report);
        let most = subjects.iter().filter_map(Subject::bytes).max().unwrap_or(0);
        let with_sizes = subjects.iter().filter_map(|it| it.facts.sizes.as_ref());
        let scale = Scale::over(with_sizes.filter(|it| !it.histogram.is_empty()));
        let row = |it: &Subject<'_>| Row::new(report, it, links, most, scale);
        let (full, empty): (Vec<_>, Vec<_>) = subjects.iter().partition(|it| it.keys() > 0);
        let areas = areas(report, &subjects, links);
        let names: Vec<&str> = report.schemas.iter().map(|it| it.name.as_str()).collect();
        let lead = lead(report, &full);
        let ttl = full.first().map(|it| &it.facts.ttl);
        let ttl = ttl.or(report.unknown.first().map(|it| &it.facts.ttl));
        let rows: Vec<Row> = full.iter().map(|it| row(it)).collect();
        let unknown = report.unknown.iter().map(|it| UnknownRow::new(report, it, links));
        let unknown: Vec<UnknownRow> = unknown.collect();
        let strips = rows.iter().map(Row::strip).chain(unknown.iter().map(UnknownRow::strip));
        Page {
            name: report.source.name.clone(),
            keyspaces: names.join(", "),
            has_schema: !report.schemas.is_empty(),
            several: report.schemas.len() > 1,
            keyward: report.keyward.clone(),
            created_at: words::moment(&report.created_at),
            facts: words::server(report)
                .into_iter()
                .chain([words::kind(report).to_owned(), words::moment(&report.source.clock)])
                .collect(),
            warnings: warnings(report),
            lead,
            numbers: numbers(report, &subjects),
            wide: Treemap::new(&areas, 960.0, 420.0),
            narrow: Treemap::new(&areas, 340.0, 440.0),
            colors: colors(report, &areas),
            ttl_legend: ttl.map(|it| legend(it, strips)).unwrap_or_default(),
            rows,
            empty: empty.into_iter().map(row).collect(),
            size_marks: scale.marks(),
            bytes_kind: words::bytes_kind(report),
            bytes_known: report.source.bytes.is_known(),
            findings: (report.findings.iter().enumerate())
                .map(|(number, it)| FindingRow::new(number, it, links))
                .collect(),
            errors: count(&report.findings, Severity::Error),
            warning_count: count(&report.findings, Severity::Warning),
            rules: rules(report),
            unknown,
            unknown_total: counted(report.summary.unknown),
            foreign: (report.foreign.iter())
                .map(|it| {
                    let (keys, bytes) = (thousands(it.keys), words::size_if_known(it.bytes));
                    (it.name.clone(), it.glob.clone(), keys, bytes)
                })
                .collect(),
            settings: report.settings.iter().map(SettingRow::new).collect(),
            checklist: ChecklistRow::all(report),
            shards: (report.source.shards.iter())
                .map(|it| {
                    let dbsize = it.dbsize.map(thousands).unwrap_or_default();
                    (it.name.clone(), thousands(it.keys_seen), dbsize)
                })
                .collect(),
            notes: report.source.notes.iter().map(|note| prose(note)).collect(),
            masked: !report.counts.outline.revealed,
        }
    }
}

/// `7 keys, 1.2 KiB`
pub(super) fn counted(count: Count) -> String {
    let keys = words::counted(count.keys, "key");
    match count.bytes {
        Some(bytes) => format!("{keys}, {}", words::size(bytes)),
        None => keys,
    }
}

fn warnings(report: &Report) -> Vec<String> {
    let partial = || format!("This audit is {}.", words::incomplete(report));
    let partial = (!report.source.complete).then(partial);
    let sampled = words::sampled(report).map(|text| format!("This is {text}."));
    partial.into_iter().chain(sampled).collect()
}

/// The report in a few sentences.
fn lead(report: &Report, full: &[&Subject<'_>]) -> Vec<Vec<Span>> {
    let mut sentences = Vec::new();
    let largest = full.first().and_then(|largest| Some((largest, largest.bytes()?)));
    if let (Some((largest, bytes)), Some(all)) = (largest, report.summary.bytes) {
        let (share, size) = (words::percent(words::share(bytes, all)), words::size(bytes));
        let rest = prose(&format!(" takes the most memory: {size}, {share} of all bytes."));
        sentences.push([vec![Span::code(largest.name)], rest].concat());
    }
    let (wrong, keys) = (full.iter())
        .filter(|it| it.facts.ttl.declared.as_deref().is_some_and(|ttl| ttl != "none"))
        .filter(|it| it.facts.ttl.none > 0)
        .fold((0, 0), |(wrong, keys), it| (wrong + 1, keys + it.facts.ttl.none));
    if wrong > 0 {
        let keys = words::counted(keys, "key");
        let of = words::counted(wrong, "definition");
        sentences.push(prose(&format!("{keys} of {of} should expire but never will.")));
    }
    if report.summary.unknown.keys > 0 {
        let keys = words::counted(report.summary.unknown.keys, "key");
        sentences.push(prose(&format!("No definition matches {keys}.")));
    }
    sentences
}

fn numbers(report: &Report, subjects: &[Subject<'_>]) -> Vec<Number> {
    let summary = &report.summary;
    let expired = match summary.expired {
        0 => String::new(),
        expired => format!("{} expired, not counted", thousands(expired)),
    };
    let number =
        |label, value, more, href| Number { label, value, more, tone: "", href, bar: None };
    let mut numbers = vec![
        number("Keys", thousands(summary.keys), expired, "#definitions"),
        number(
            "Bytes",
            words::size_if_known(summary.bytes),
            words::bytes_kind(report),
            if report.source.bytes.is_known() { "#memory" } else { "#numbers" },
        ),
    ];
    if let Some(lengths) = summary.key_lengths {
        let average = format!("{:.1} bytes", lengths.average);
        let longest = format!("on average, {}", words::longest(lengths));
        numbers.push(number("Key names", average, longest, "#details"));
    }
    if let Some(compliance) = summary.compliance {
        let tone = if compliance >= 1.0 {
            "good"
        } else if compliance >= 0.95 {
            ""
        } else {
            "mild"
        };
        let judged = words::counted(summary.judged, "key");
        let of = format!("{} of {judged}", thousands(summary.compliant));
        let bar = Some(per_cent(compliance));
        let number = number("As declared", words::percent(compliance), of, "#findings");
        numbers.push(Number { tone, bar, ..number });
    }
    if !report.schemas.is_empty() {
        let errors = count(&report.findings, Severity::Error);
        let warnings = count(&report.findings, Severity::Warning);
        let tone = match (errors, warnings) {
            (0, 0) => "good",
            (0, _) => "mild",
            _ => "bad",
        };
        let more = match &report.baseline {
            Some(baseline) => format!("{} new or worse", thousands(baseline.worse)),
            None => flag(errors, warnings),
        };
        let value = thousands(errors + warnings);
        numbers.push(Number { tone, ..number("Findings", value, more, "#findings") });
    }
    let facts =
        || subjects.iter().map(|it| it.facts).chain(report.unknown.iter().map(|it| &it.facts));
    let none: u64 = facts().map(|it| it.ttl.none).sum();
    let share = words::share(none, facts().map(|it| it.keys).sum());
    let meant = |it: &&Facts| it.ttl.declared.as_deref() == Some("none");
    let meant: u64 = facts().filter(meant).map(|it| it.ttl.none).sum();
    let more = match meant {
        0 => words::percent(share),
        meant => format!("{}; {} as declared", words::percent(share), thousands(meant)),
    };
    numbers.push(number("Without a TTL", thousands(none), more, "#ttl"));
    numbers
}

fn rules(report: &Report) -> Vec<(String, usize)> {
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &report.findings {
        *rules.entry(finding.rule.name()).or_default() += 1;
    }
    rules.into_iter().map(|(rule, count)| (rule.to_owned(), count)).collect()
}
