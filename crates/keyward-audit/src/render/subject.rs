//! What a report is about, row by row: definitions, or groups where there is no schema.

use crate::report::{Definition, Example, Facts, Finding, Group, Report, Severity};
use std::collections::HashMap;

/// A definition, or a group that was inferred, with what was found in it.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) name: &'a str,
    pub(super) pattern: &'a str,
    pub(super) facts: &'a Facts,
    pub(super) definition: Option<&'a Definition>,
    pub(super) group: Option<&'a Group>,
    /// What was found in it, with the numbers in the report
    pub(super) findings: Vec<(usize, &'a Finding)>,
}

impl<'a> Subject<'a> {
    /// Those with the most bytes first.
    pub(super) fn all(report: &'a Report) -> Vec<Subject<'a>> {
        let found = by_name(report);
        let definitions = report.definitions.iter().map(|definition| Subject {
            name: &definition.name,
            pattern: &definition.pattern,
            facts: &definition.facts,
            definition: Some(definition),
            group: None,
            findings: findings_of(&found, definition),
        });
        let groups = report.groups.iter().map(|group| Subject {
            name: group.pattern.as_str(),
            pattern: group.pattern.as_str(),
            facts: &group.facts,
            definition: None,
            group: Some(group),
            findings: Vec::new(),
        });
        let mut all: Vec<Subject<'a>> = definitions.chain(groups).collect();
        all.sort_by(|a, b| b.bytes().cmp(&a.bytes()).then(b.keys().cmp(&a.keys())));
        all
    }

    /// Its keys, with those that stand under it: derived ones and former names.
    pub(super) fn keys(&self) -> u64 {
        let below = self.definition.map_or(0, |definition| {
            definition.derived.keys + definition.old_names.iter().map(|old| old.keys).sum::<u64>()
        });
        self.facts.keys + below
    }

    /// Their bytes.
    pub(super) fn bytes(&self) -> Option<u64> {
        let old = |definition: &Definition| {
            definition.old_names.iter().map(|old| old.bytes).sum::<Option<u64>>()
        };
        let below = match self.definition {
            Some(definition) => definition.derived.bytes? + old(definition)?,
            None => 0,
        };
        Some(self.facts.bytes? + below)
    }

    pub(super) fn lifecycle(&self) -> &'a str {
        self.definition.map_or("group", |definition| &definition.lifecycle)
    }

    pub(super) fn count(&self, severity: Severity) -> u64 {
        count(self.findings.iter().map(|(_, finding)| *finding), severity)
    }
}

/// How many findings are as serious as that.
pub(super) fn count<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    severity: Severity,
) -> u64 {
    findings.into_iter().filter(|finding| finding.severity == severity).count() as u64
}

/// The examples of a finding that say something: one that is masked until it is the pattern itself, or
/// until it is the same as another, does not.
pub(super) fn examples(finding: &Finding) -> Vec<&Example> {
    let mut telling: Vec<&Example> = Vec::new();
    for example in &finding.examples {
        let known = |it: &&Example| (&it.key, &it.detail) == (&example.key, &example.detail);
        if finding.subject.as_deref() != Some(example.key.as_str()) && !telling.iter().any(known) {
            telling.push(example);
        }
    }
    telling
}

/// The findings by the names of their definitions.
type Found<'a> = HashMap<&'a str, Vec<(usize, &'a Finding)>>;

fn by_name(report: &Report) -> Found<'_> {
    let mut found = Found::new();
    for (number, finding) in report.findings.iter().enumerate() {
        if let Some(name) = &finding.definition {
            found.entry(name).or_default().push((number, finding));
        }
    }
    found
}

fn findings_of<'a>(found: &Found<'a>, definition: &Definition) -> Vec<(usize, &'a Finding)> {
    let alike = found.get(definition.name.as_str()).map(Vec::as_slice).unwrap_or_default();
    let own = |(_, finding): &&(usize, &Finding)| {
        finding.schema.as_ref().is_none_or(|schema| *schema == definition.schema)
    };
    alike.iter().filter(own).copied().collect()
}
