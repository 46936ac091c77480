//! A report against an earlier one: only what got worse beyond a tolerance counts.

mod unknown;

use crate::report::{
    BaselineInfo, Change, ChangeVerdict, Finding, KeyLengths, Report, Sample, Source,
};
use keyward_rules::Rule;
use serde::Serialize;
use std::collections::BTreeMap;

/// By how many percentage points a share may rise, unless the caller says otherwise.
pub const DEFAULT_TOLERANCE: f64 = 0.5;
/// By how many percentage points the server's memory may fill at least: it breathes.
const MEMORY: f64 = 5.0;

/// Compares the findings of a report with those of an earlier one. Rates are compared, not counts, so
/// that traffic alone changes nothing.
pub fn compare(report: &mut Report, baseline: &Report, name: &str, tolerance: f64) {
    for warning in doubts([("the baseline", baseline), ("this report", report)]) {
        report.source.note(&warning);
    }
    let mut worse = 0;
    let changes = changes(baseline, report, tolerance);
    for (finding, change) in report.findings.iter_mut().zip(changes) {
        worse += u64::from(change.is_worse());
        finding.change = Some(change);
    }
    // What is new or worse fails, so it comes first.
    let is_worse = |finding: &Finding| finding.change.as_ref().is_some_and(Change::is_worse);
    report.findings.sort_by_key(|finding| !is_worse(finding));
    // Patterns of a baseline that reveals keys are not for a report that masks them.
    let hidden = baseline.counts.outline.revealed && !report.counts.outline.revealed;
    let gone = gone(baseline, report).filter(|known| !(hidden && known.is_about_unknown()));
    let gone = gone.map(|known| Finding { examples: Vec::new(), change: None, ..known.clone() });
    report.baseline = Some(BaselineInfo {
        name: name.to_owned(),
        created_at: baseline.created_at.clone(),
        tolerance,
        worse,
        gone: gone.collect(),
    });
}

/// How the findings of a report have changed, in their order.
fn changes(before: &Report, after: &Report, tolerance: f64) -> Vec<Change> {
    let mut unknown = unknown::changes(before, after, tolerance).into_iter();
    let change = |finding: &Finding| {
        let known = before.findings.iter().filter(|known| known.is_alike(finding));
        // Of several servers, each may say how much of its memory it uses.
        let known = known.max_by(|one, other| one.share.total_cmp(&other.share));
        Change {
            verdict: verdict(known, finding, tolerance),
            share: known.map_or(0.0, |known| known.share),
            count: known.map_or(0, |known| known.count),
        }
    };
    let each = after.findings.iter().map(|finding| {
        let unknown = finding.is_about_unknown().then(|| unknown.next()).flatten();
        unknown.unwrap_or_else(|| change(finding))
    });
    each.collect()
}

fn verdict(before: Option<&Finding>, after: &Finding, tolerance: f64) -> ChangeVerdict {
    let rise = (after.share - before.map_or(0.0, |known| known.share)) * 100.0;
    let tolerance = if after.rule == Rule::MemoryHigh { tolerance.max(MEMORY) } else { tolerance };
    match before {
        None if after.is_about_server() || rise > tolerance => ChangeVerdict::New,
        Some(_) if rise > tolerance => ChangeVerdict::Worse,
        Some(_) if rise < -tolerance => ChangeVerdict::Better,
        // Also a few keys of something that was not there: not worth a failed build.
        _ => ChangeVerdict::Same,
    }
}

impl Change {
    /// Whether it must not stay so.
    pub fn is_worse(&self) -> bool {
        matches!(self.verdict, ChangeVerdict::New | ChangeVerdict::Worse)
    }
}

impl Finding {
    /// Whether it is about the same in another audit, where words may have changed.
    fn is_alike(&self, other: &Finding) -> bool {
        (&self.rule, &self.schema, &self.definition, &self.subject)
            == (&other.rule, &other.schema, &other.definition, &other.subject)
    }
}

/// What changed between two reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Why the two cannot be compared, or not in all; in sentences without a full stop
    pub warnings: Vec<String>,
    /// When the two were written
    pub created_at: [String; 2],
    /// Keys
    pub keys: [u64; 2],
    /// Bytes; `null` where they are not known
    pub bytes: [Option<u64>; 2],
    /// How long the names of keys are; `null` without keys
    pub key_lengths: [Option<KeyLengths>; 2],
    /// The share of keys that are as declared
    pub compliance: [Option<f64>; 2],
    /// Definitions and unknown patterns that have changed, those whose bytes changed the most first
    pub parts: Vec<PartChange>,
    /// Findings of either report
    pub findings: Vec<FindingChange>,
}

/// How a definition or an unknown pattern has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartChange {
    /// The keyspace's name; `null` for undeclared keys
    pub schema: Option<String>,
    /// The definition, or the pattern
    pub name: String,
    /// Keys
    pub keys: [u64; 2],
    /// Bytes; `null` where they are not known
    pub bytes: [Option<u64>; 2],
}

/// How a finding has changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FindingChange {
    /// The rule
    pub rule: Rule,
    /// The definition
    pub definition: Option<String>,
    /// What is wrong
    pub what: String,
    /// What it amounts to; `null` for a finding that is gone
    pub verdict: Option<ChangeVerdict>,
    /// The counts
    pub count: [u64; 2],
    /// The shares
    pub share: [f64; 2],
}

/// What changed from one report to another.
pub fn difference(before: &Report, after: &Report, tolerance: f64) -> Difference {
    type Name = (Option<String>, String);
    let known = [before, after].map(|report| report.source.bytes);
    let mut parts: BTreeMap<Name, [(u64, Option<u64>); 2]> = BTreeMap::new();
    let none = || known.map(|known| (0, known.of(0)));
    for (side, report) in [before, after].into_iter().enumerate() {
        let defined = report.definitions.iter().map(|definition| {
            let name = (Some(definition.schema.clone()), definition.name.clone());
            (name, &definition.facts)
        });
        let groups = report.unknown.iter().chain(&report.groups);
        let undeclared = groups.map(|group| ((None, group.pattern.to_string()), &group.facts));
        for (name, facts) in defined.chain(undeclared) {
            parts.entry(name).or_insert_with(none)[side] = (facts.keys, facts.bytes);
        }
    }
    let mut parts: Vec<PartChange> = parts
        .into_iter()
        .filter(|(_, [before, after])| {
            before.0 != after.0
                || before.1.zip(after.1).is_some_and(|(before, after)| before != after)
        })
        .map(|((schema, name), [before, after])| PartChange {
            schema,
            name,
            keys: [before.0, after.0],
            bytes: [before.1, after.1],
        })
        .collect();
    parts.sort_by_key(|part| {
        let bytes = part.both_bytes().map(|[before, after]| before.abs_diff(after));
        std::cmp::Reverse((bytes, part.keys[0].abs_diff(part.keys[1])))
    });
    Difference {
        warnings: doubts([("the first report", before), ("the second report", after)]),
        created_at: [before.created_at.clone(), after.created_at.clone()],
        keys: [before.summary.keys, after.summary.keys],
        bytes: [before.summary.bytes, after.summary.bytes],
        key_lengths: [before.summary.key_lengths, after.summary.key_lengths],
        compliance: [before.summary.compliance, after.summary.compliance],
        parts,
        findings: finding_changes(before, after, tolerance),
    }
}

impl PartChange {
    /// Its bytes, where they are known of both.
    pub(crate) fn both_bytes(&self) -> Option<[u64; 2]> {
        Some([self.bytes[0]?, self.bytes[1]?])
    }
}

/// Why two reports cannot be compared, or not in all.
fn doubts(reports: [(&str, &Report); 2]) -> Vec<String> {
    let mut doubts = Vec::new();
    for (name, report) in reports {
        if !report.source.complete {
            doubts.push(format!("{name} is not complete: its numbers are of what was seen"));
        }
    }
    let [before, after] = reports.map(|(_, report)| &report.source);
    let percent = |source: &Source| source.sample.map(|sample| sample.percent);
    if percent(before) != percent(after) {
        for (name, report) in reports {
            if let Some(Sample { percent, error }) = report.source.sample {
                doubts.push(format!(
                    "{name} is of a sample of {percent} % of the keys: counts cannot be compared, and its \
                     shares may be off by ± {error:.1} points"
                ));
            }
        }
    }
    if before.bytes != after.bytes {
        for (name, _) in reports.iter().filter(|(_, it)| !it.source.bytes.is_known()) {
            doubts.push(format!("bytes are not known in {name}"));
        }
        if before.bytes.is_known() && after.bytes.is_known() {
            let [(one, _), (other, _)] = reports;
            let (was, is) = (before.bytes.name(), after.bytes.name());
            doubts.push(format!(
                "bytes cannot be compared: they are {was} in {one}, {is} in {other}"
            ));
        }
    }
    doubts
}

fn finding_changes(before: &Report, after: &Report, tolerance: f64) -> Vec<FindingChange> {
    let changes = changes(before, after, tolerance).into_iter();
    let changed = after.findings.iter().zip(changes).map(|(finding, change)| FindingChange {
        rule: finding.rule,
        definition: finding.definition.clone(),
        what: finding.what.clone(),
        verdict: Some(change.verdict),
        count: [change.count, finding.count],
        share: [change.share, finding.share],
    });
    let gone = gone(before, after).map(|known| FindingChange {
        rule: known.rule,
        definition: known.definition.clone(),
        what: known.what.clone(),
        verdict: None,
        count: [known.count, 0],
        share: [known.share, 0.0],
    });
    changed.chain(gone).collect()
}

/// The findings of a report that a later one does not have.
fn gone<'r>(before: &'r Report, after: &Report) -> impl Iterator<Item = &'r Finding> {
    before.findings.iter().filter(move |known| {
        if known.is_about_unknown() {
            unknown::is_gone(known, before, after)
        } else {
            !after.findings.iter().any(|finding| known.is_alike(finding))
        }
    })
}

/// Findings that a report has and the one before had not, however much they are of. An unknown pattern is not new
/// because it has a finding of its own now: only so many have one.
pub fn appeared<'r>(before: &Report, after: &'r Report) -> Vec<&'r Finding> {
    only_in(after, before, true)
}

/// Findings of a report of which nothing is left in a later one. An unknown pattern is not gone because it has no
/// finding of its own any more.
pub fn disappeared<'r>(before: &'r Report, after: &Report) -> Vec<&'r Finding> {
    only_in(before, after, false)
}

fn only_in<'r>(report: &'r Report, other: &Report, any: bool) -> Vec<&'r Finding> {
    let known = |finding: &Finding| other.findings.iter().any(|other| finding.is_alike(other));
    let unknown = unknown::only_in(report, other, any);
    let is_only_here = |finding: &&Finding| {
        if finding.is_about_unknown() {
            unknown.iter().any(|it| std::ptr::eq(*it, *finding))
        } else {
            !known(finding)
        }
    };
    report.findings.iter().filter(is_only_here).collect()
}

impl Difference {
    /// Whether something got worse.
    pub fn is_worse(&self) -> bool {
        let worse = [Some(ChangeVerdict::New), Some(ChangeVerdict::Worse)];
        self.findings.iter().any(|finding| worse.contains(&finding.verdict))
    }
}
