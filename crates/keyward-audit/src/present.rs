//! What follows from the numbers of a report: shares, groups, findings, and their order.

mod joins;

use crate::leaves::show;
use crate::report::{Count, Finding, Group, Leaf, Report, Severity, State};
use keyward_fact::thousands;
use keyward_rules::{Case, word};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The most groups that are listed.
const MOST_GROUPS: usize = 200;
/// The most unknown patterns with a finding of their own.
const MOST_UNKNOWN: usize = 20;

/// Says again what follows from the numbers.
pub(crate) fn present(report: &mut Report) {
    let State { leaves, top, revealed, .. } = &report.state;
    let mut shown = show(leaves, *top, *revealed);
    summarise(report, &mut shown);
    group(report, &shown);
    report.findings.retain(|finding| {
        !matches!(finding.rule.as_str(), "unknown-key" | "both-names" | "dangling-reference")
    });
    let joined = joins::compare(report);
    report.findings.extend(joined);
    unknown_keys(report, &shown);
    count(report);
    report.findings.sort_by(|left, right| {
        let rank = |finding: &Finding| {
            (finding.severity, !finding.is_about_server(), Reverse(finding.count))
        };
        let name = |finding: &Finding| {
            let Finding { rule, schema, definition, subject, what, .. } = finding.clone();
            (rule, schema, definition, subject, what)
        };
        rank(left).cmp(&rank(right)).then_with(|| name(left).cmp(&name(right)))
    });
}

fn summarise(report: &mut Report, shown: &mut [Leaf]) {
    let leaves = report.state.leaves.iter();
    let ungrouped = leaves.fold(Count::default(), |all, leaf| Count {
        keys: all.keys + leaf.facts.keys,
        bytes: all.bytes + leaf.facts.bytes,
    });
    let foreign = report.foreign.iter().fold(Count::default(), |all, foreign| Count {
        keys: all.keys + foreign.keys,
        bytes: all.bytes + foreign.bytes,
    });
    let summary = &mut report.summary;
    summary.foreign = foreign;
    summary.unknown = if report.schemas.is_empty() { Count::default() } else { ungrouped };
    summary.keys = summary.defined.keys + foreign.keys + ungrouped.keys;
    summary.bytes = summary.defined.bytes + foreign.bytes + ungrouped.bytes;
    let judged = summary.judged > 0 && !report.schemas.is_empty();
    summary.compliance = judged.then(|| share(summary.compliant, summary.judged));
    let bytes = summary.bytes;
    for definition in &mut report.definitions {
        definition.facts.share = share(definition.facts.bytes, bytes);
    }
    for leaf in shown.iter_mut().chain(&mut report.state.leaves) {
        leaf.facts.share = share(leaf.facts.bytes, bytes);
    }
}

/// Lists the groups, those with the most bytes first.
fn group(report: &mut Report, shown: &[Leaf]) {
    let mut groups: Vec<Group> = shown
        .iter()
        .map(|leaf| Group {
            pattern: leaf.pattern(),
            facts: leaf.facts.clone(),
            examples: leaf.examples.iter().map(|example| example.key.clone()).collect(),
            nearest: leaf.nearest.clone(),
        })
        .collect();
    groups.sort_by(|left, right| {
        let rank = |group: &Group| (Reverse(group.facts.bytes), Reverse(group.facts.keys));
        rank(left).cmp(&rank(right)).then_with(|| left.pattern.cmp(&right.pattern))
    });
    groups.truncate(MOST_GROUPS);
    let with_schema = !report.schemas.is_empty();
    (report.unknown, report.groups) =
        if with_schema { (groups, Vec::new()) } else { (Vec::new(), groups) };
    if report.state.approximate {
        report.source.note(
            "there are too many patterns of undeclared keys to keep them apart: some were put together, \
             and which ones depends on the order of the keys",
        );
    }
}

/// Findings about the unknown keys that are no definition's with a wrong parameter.
fn unknown_keys(report: &mut Report, shown: &[Leaf]) {
    let Some(severity) = report.state.unknown_key else { return };
    let mut leaves: Vec<&Leaf> = shown.iter().filter(|leaf| leaf.strangers().keys > 0).collect();
    leaves.sort_by_key(|leaf| (Reverse(leaf.strangers().keys), leaf.segments.clone()));
    let (named, others) = leaves.split_at(leaves.len().min(MOST_UNKNOWN));
    let mut findings: Vec<Finding> = named.iter().map(|leaf| unknown(leaf, severity)).collect();
    if !others.is_empty() {
        let mut rest = unknown(others[0], severity);
        rest.subject = None;
        rest.what = format!("no definition has {} more patterns", thousands(others.len() as u64));
        rest.help = vec!["`--format json` lists them under `unknown`".to_owned()];
        rest.examples.clear();
        rest.count = others.iter().map(|leaf| leaf.strangers().keys).sum();
        rest.bytes = others.iter().map(|leaf| leaf.strangers().bytes).sum();
        findings.push(rest);
    }
    report.findings.extend(findings);
}

fn unknown(leaf: &Leaf, severity: Severity) -> Finding {
    let pattern = leaf.pattern();
    let near = leaf.nearest.as_ref();
    let wording = word(
        "unknown-key",
        &Case {
            subject: Some(&pattern),
            near: near.map(|near| near.pattern.as_str()),
            detail: near.map(|near| near.why.as_str()),
            definition: None,
        },
    );
    Finding {
        rule: "unknown-key".to_owned(),
        severity,
        schema: None,
        definition: None,
        subject: Some(pattern.clone()),
        count: leaf.strangers().keys,
        of: 0,
        share: 0.0,
        bytes: leaf.strangers().bytes,
        message: String::new(),
        help: wording.help,
        examples: leaf.examples.clone(),
        sampled: false,
        change: None,
        what: wording.what,
    }
}

/// Says of how many keys each finding is, and what its message is.
fn count(report: &mut Report) {
    let mut keys: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for definition in &report.definitions {
        let old = definition.old_names.iter().map(|old| old.keys).sum();
        keys.insert((&definition.schema, &definition.name), (definition.facts.keys, old));
    }
    let mut misfits: BTreeMap<(Option<&str>, Option<&str>), u64> = BTreeMap::new();
    for finding in report.findings.iter().filter(|finding| finding.rule == "invalid-param") {
        *misfits.entry((finding.schema.as_deref(), finding.definition.as_deref())).or_default() +=
            finding.count;
    }
    let mut numbers = Vec::with_capacity(report.findings.len());
    for finding in &report.findings {
        let name = (finding.schema.as_deref(), finding.definition.as_deref());
        let known = match name {
            (Some(schema), Some(definition)) => keys.get(&(schema, definition)).copied(),
            _ => None,
        };
        let (own, old) = known.unwrap_or_default();
        numbers.push(match finding.rule.as_str() {
            "unknown-key" => report.summary.judged,
            "server-setting" | "memory-high" => 1,
            "both-names" | "dangling-reference" => finding.of,
            "invalid-param" => own + misfits.get(&name).copied().unwrap_or_default(),
            "old-name" => own + old,
            _ => own,
        });
    }
    for (finding, of) in report.findings.iter_mut().zip(numbers) {
        finding.of = of;
        // Of the server's memory, it is the share that is used.
        if finding.rule != "memory-high" {
            finding.share = share(finding.count, of);
        }
        finding.message = finding.worded();
    }
}

impl Finding {
    fn worded(&self) -> String {
        if self.is_about_server() {
            return self.what.clone();
        }
        let (count, of) = (thousands(self.count), thousands(self.of));
        format!("{}: {count} of {of} ({})", self.what, percent(self.share))
    }
}

/// `0.2 %`, and more digits where it is less.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        percent if percent >= 99.95 && share < 1.0 => "> 99.9 %".to_owned(),
        percent if percent >= 99.95 => "100 %".to_owned(),
        percent if percent >= 0.05 => format!("{percent:.1} %"),
        percent if percent >= 0.001 => format!("{percent:.3} %"),
        _ => "< 0.001 %".to_owned(),
    }
}

impl Leaf {
    /// Keys that are near no definition's parameters.
    pub(crate) fn strangers(&self) -> Count {
        Count {
            keys: self.facts.keys.saturating_sub(self.misfits.keys),
            bytes: self.facts.bytes.saturating_sub(self.misfits.bytes),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a share for people and charts")]
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
