//! Several reports as one: what they counted is added up, and everything that follows from it is said
//! again.

use crate::bounds::can_be_added;
use crate::facts::add_count;
use crate::infer::EXAMPLES;
use crate::leaves::unite;
use crate::present::present;
use crate::rare::Rare;
use crate::report::{
    BytesKind, Definition, Example, Finding, Foreign, Join, Leaf, Report, Server, Source,
    SourceKind, Summary, VERSION,
};
use crate::sketch::Sketch;
use std::fmt;

/// Why reports cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// There are none
    Nothing,
    /// One is of another version of the document
    Version {
        /// Its version
        version: u32,
    },
    /// They count bytes in different ways
    Bytes {
        /// The one way
        one: &'static str,
        /// The other
        other: &'static str,
    },
    /// One is of a sample, and another of all keys or of another sample
    Samples,
    /// They count more than there can be
    Numbers,
    /// They were held against different schemas
    Schemas,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Nothing => f.write_str("there is no report to merge"),
            MergeError::Version { version } => {
                write!(f, "a report has version {version}, this program knows {VERSION}")
            }
            MergeError::Bytes { one, other } => {
                write!(f, "one report counts bytes as {one}, another as {other}")
            }
            MergeError::Samples => f.write_str(
                "one report is of a sample of the keys, another of all or of a sample of another size",
            ),
            MergeError::Numbers => {
                f.write_str("together the reports count more than there can be")
            }
            MergeError::Schemas => {
                f.write_str("the reports were held against different schemas, or against none")
            }
        }
    }
}

impl std::error::Error for MergeError {}

/// Merges reports of shards into the one report of all. Neither the order nor the grouping matters.
pub fn merge(reports: Vec<Report>) -> Result<Report, MergeError> {
    if !can_be_added(&reports) {
        return Err(MergeError::Numbers);
    }
    let mut reports = reports.into_iter();
    let mut merged = reports.next().ok_or(MergeError::Nothing)?;
    check(&merged, &merged)?;
    for report in reports {
        check(&merged, &report)?;
        absorb(&mut merged, report);
    }
    settle(&mut merged);
    Ok(merged)
}

fn check(merged: &Report, report: &Report) -> Result<(), MergeError> {
    if report.version != VERSION {
        return Err(MergeError::Version { version: report.version });
    }
    let (one, other) = (merged.source.bytes, report.source.bytes);
    if one != other {
        return Err(MergeError::Bytes { one: one.name(), other: other.name() });
    }
    let percent = |report: &Report| report.source.sample.map(|sample| sample.percent);
    if percent(merged) != percent(report) {
        return Err(MergeError::Samples);
    }
    if !is_of_same_schemas(merged, report) {
        return Err(MergeError::Schemas);
    }
    Ok(())
}

/// Whether what two reports count is the same, one by one, so that their numbers can be added: definitions,
/// their parameters and former names, and other software's keys, in the same order, which decides who has
/// a key that several could have.
pub(crate) fn is_of_same_schemas(one: &Report, other: &Report) -> bool {
    let definitions = one.definitions.len() == other.definitions.len()
        && one.definitions.iter().zip(&other.definitions).all(|(one, other)| one.is_same(other));
    let foreign = |report: &Report| -> Vec<(String, String, String)> {
        let each = report.foreign.iter();
        each.map(|it| (it.schema.clone(), it.name.clone(), it.glob.clone())).collect()
    };
    let schemas = |report: &Report| -> Vec<String> {
        report.schemas.iter().map(|it| it.name.clone()).collect()
    };
    definitions && foreign(one) == foreign(other) && schemas(one) == schemas(other)
}

/// Adds what another report has counted. What follows from the numbers is left to [`settle`].
pub(crate) fn absorb(report: &mut Report, other: Report) {
    let top = report.state.top.max(other.state.top);
    report.created_at = std::mem::take(&mut report.created_at).max(other.created_at);
    report.source.absorb(other.source);
    report.summary.absorb(&other.summary);
    for (ours, theirs) in report.definitions.iter_mut().zip(&other.definitions) {
        ours.absorb(theirs, top);
    }
    for (ours, theirs) in report.foreign.iter_mut().zip(&other.foreign) {
        ours.absorb(theirs);
    }
    for setting in other.settings {
        if !report.settings.contains(&setting) {
            report.settings.push(setting);
        }
    }
    for finding in other.findings {
        match report.findings.iter_mut().find(|known| known.is_same(&finding)) {
            Some(known) => known.absorb(&finding),
            None => report.findings.push(finding),
        }
    }
    if report.state.salt == other.state.salt {
        for join in other.state.joins {
            match report.state.joins.iter_mut().find(|known| known.is_same(&join)) {
                Some(known) => known.absorb(&join),
                None => report.state.joins.push(join),
            }
        }
    } else {
        report.source.note(
            "the reports were masked with different salts: whether what keys refer to is there, and which \
             entities have two names, was not compared",
        );
        // The samples have nothing in common, and neither have any that are merged later.
        report.state.salt.clear();
        report.state.joins.clear();
    }
    report.state.revealed |= other.state.revealed;
    report.state.approximate |= other.state.approximate;
    let severities = [report.state.unknown_key, other.state.unknown_key];
    report.state.unknown_key = severities.into_iter().flatten().min();
    if report.state.schemas != other.state.schemas {
        report.source.note(
            "the schemas of the reports differ, though not in what is counted: where their rules differ, \
             keys were judged by different ones",
        );
        report.state.schemas.clear();
    }
    for (ours, theirs) in report.schemas.iter_mut().zip(other.schemas) {
        if ours.path != theirs.path {
            ours.path = None;
        }
    }
    report.state.top = top;
    report.state.leaves.extend(other.state.leaves);
    report.baseline = None;
}

/// Says again what follows from the numbers: shares, groups, findings and their order.
pub(crate) fn settle(report: &mut Report) {
    let top = report.state.top;
    report.state.leaves = unite(std::mem::take(&mut report.state.leaves), top);
    present(report);
}

impl Source {
    /// Nothing is known yet: whatever is merged with it stays as it is.
    pub(crate) fn unknown() -> Self {
        Source {
            kind: SourceKind::Rdb,
            name: String::new(),
            server: Server::default(),
            bytes: BytesKind::Estimated,
            checked: true,
            clock: String::new(),
            complete: true,
            values_unread: false,
            sample: None,
            shards: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn absorb(&mut self, other: Source) {
        if !other.name.is_empty() {
            let mut names: Vec<&str> =
                self.name.split(", ").chain(other.name.split(", ")).collect();
            names.sort_unstable();
            names.dedup();
            self.name = names.join(", ");
            if self.server != other.server {
                let same = |ours: &Option<String>, theirs: &Option<String>| {
                    ours.clone().filter(|ours| Some(ours) == theirs.as_ref())
                };
                self.server = Server {
                    family: same(&self.server.family, &other.server.family),
                    version: same(&self.server.version, &other.server.version),
                };
            }
            self.clock = std::mem::take(&mut self.clock).max(other.clock);
            if self.kind != other.kind {
                self.kind = self.kind.min(other.kind);
                self.note("the shards were not all read in the same way");
            }
        }
        self.checked &= other.checked;
        self.complete &= other.complete;
        self.values_unread |= other.values_unread;
        self.sample = match (self.sample, other.sample) {
            (Some(ours), Some(theirs)) if ours.error < theirs.error => Some(theirs),
            (ours, theirs) => ours.or(theirs),
        };
        self.shards.extend(other.shards);
        self.shards.sort();
        for note in other.notes {
            self.note(&note);
        }
    }

    pub(crate) fn note(&mut self, text: &str) {
        if !self.notes.iter().any(|note| note == text) {
            self.notes.push(text.to_owned());
            self.notes.sort();
        }
    }
}

impl Summary {
    fn absorb(&mut self, other: &Summary) {
        self.judged += other.judged;
        self.compliant += other.compliant;
        self.expired += other.expired;
        add_count(&mut self.unknown, other.unknown);
        add_count(&mut self.defined, other.defined);
    }
}

impl Definition {
    /// Whether a schema says the same of it, as far as a report tells.
    fn is_same(&self, other: &Definition) -> bool {
        let said = |it: &Definition| {
            [&it.group, &it.owner, &it.declared_type, &it.facts.ttl.declared].map(Clone::clone)
        };
        let params = |it: &Definition| -> Vec<(String, String)> {
            it.params.iter().map(|it| (it.name.clone(), it.ty.clone())).collect()
        };
        let old_names = |it: &Definition| -> Vec<(String, String)> {
            it.old_names.iter().map(|it| (it.migration.clone(), it.pattern.clone())).collect()
        };
        (&self.schema, &self.name, &self.pattern, &self.lifecycle)
            == (&other.schema, &other.name, &other.pattern, &other.lifecycle)
            && said(self) == said(other)
            && params(self) == params(other)
            && old_names(self) == old_names(other)
    }

    fn absorb(&mut self, other: &Definition, top: usize) {
        self.facts.merge(&other.facts, top);
        for (ours, theirs) in self.params.iter_mut().zip(&other.params) {
            let mut sketch = Sketch::from_text(&ours.sketch).unwrap_or_default();
            sketch.merge(&Sketch::from_text(&theirs.sketch).unwrap_or_default());
            ours.distinct = sketch.estimate();
            ours.sketch = sketch.to_text();
        }
        for (ours, theirs) in self.old_names.iter_mut().zip(&other.old_names) {
            ours.keys += theirs.keys;
            ours.bytes += theirs.bytes;
        }
        add_count(&mut self.derived, other.derived);
    }
}

impl Foreign {
    fn absorb(&mut self, other: &Foreign) {
        self.keys += other.keys;
        self.bytes += other.bytes;
    }
}

impl Finding {
    /// Whether it is about the same.
    pub(crate) fn is_same(&self, other: &Finding) -> bool {
        (&self.rule, &self.schema, &self.definition, &self.subject, &self.what)
            == (&other.rule, &other.schema, &other.definition, &other.subject, &other.what)
    }

    fn absorb(&mut self, other: &Finding) {
        self.severity = self.severity.min(other.severity);
        self.change = None;
        if self.is_about_server() {
            return;
        }
        self.count += other.count;
        self.bytes += other.bytes;
        add_examples(&mut self.examples, &other.examples);
    }

    /// Whether it is about the server rather than about keys.
    pub(crate) fn is_about_server(&self) -> bool {
        self.rule == "server-setting" || self.rule == "memory-high"
    }
}

fn add_examples(ours: &mut Vec<Example>, theirs: &[Example]) {
    ours.extend(theirs.iter().cloned());
    ours.sort();
    ours.dedup();
    ours.truncate(EXAMPLES);
}

impl Leaf {
    pub(crate) fn merge(&mut self, other: &Leaf, top: usize) {
        // Keys that look alike are near the same definition, but for words that were put together.
        let theirs = other.nearest.as_ref();
        if theirs.is_some_and(|theirs| self.nearest.as_ref().is_none_or(|ours| theirs < ours)) {
            self.nearest.clone_from(&other.nearest);
        }
        self.facts.merge(&other.facts, top);
        add_count(&mut self.misfits, other.misfits);
        add_examples(&mut self.examples, &other.examples);
    }
}

impl Join {
    fn is_same(&self, other: &Join) -> bool {
        (&self.rule, &self.schema, &self.definition, &self.subject)
            == (&other.rule, &other.schema, &other.definition, &other.subject)
    }

    fn absorb(&mut self, other: &Join) {
        for (ours, theirs) in [(&mut self.left, &other.left), (&mut self.right, &other.right)] {
            let mut sample = Rare::from_text(ours).unwrap_or_default();
            sample.merge(&Rare::from_text(theirs).unwrap_or_default());
            *ours = sample.into_text();
        }
    }
}
