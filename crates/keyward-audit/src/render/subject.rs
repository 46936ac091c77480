//! What a report is about, row by row: definitions, or groups where there is no schema.

use crate::report::{Definition, Facts, Finding, Group, Report, Severity};

/// A definition, or a group that was inferred, with what was found in it.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) name: &'a str,
    pub(super) pattern: &'a str,
    pub(super) facts: &'a Facts,
    pub(super) definition: Option<&'a Definition>,
    pub(super) group: Option<&'a Group>,
    pub(super) findings: Vec<&'a Finding>,
}

impl<'a> Subject<'a> {
    /// Those with the most bytes first.
    pub(super) fn all(report: &'a Report) -> Vec<Subject<'a>> {
        let definitions = report.definitions.iter().map(|definition| Subject {
            name: &definition.name,
            pattern: &definition.pattern,
            facts: &definition.facts,
            definition: Some(definition),
            group: None,
            findings: findings_of(report, definition),
        });
        let groups = report.groups.iter().map(|group| Subject {
            name: &group.pattern,
            pattern: &group.pattern,
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
    pub(super) fn bytes(&self) -> u64 {
        let below = self.definition.map_or(0, |definition| {
            definition.derived.bytes + definition.old_names.iter().map(|old| old.bytes).sum::<u64>()
        });
        self.facts.bytes + below
    }

    pub(super) fn lifecycle(&self) -> &'a str {
        self.definition.map_or("group", |definition| &definition.lifecycle)
    }

    pub(super) fn count(&self, severity: Severity) -> u64 {
        count(self.findings.iter().copied(), severity)
    }
}

/// How many findings are as serious as that.
pub(super) fn count<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    severity: Severity,
) -> u64 {
    findings.into_iter().filter(|finding| finding.severity == severity).count() as u64
}

fn findings_of<'a>(report: &'a Report, definition: &Definition) -> Vec<&'a Finding> {
    let about = |finding: &&Finding| {
        finding.definition.as_ref() == Some(&definition.name)
            && finding.schema.as_ref().is_none_or(|schema| *schema == definition.schema)
    };
    report.findings.iter().filter(about).collect()
}
