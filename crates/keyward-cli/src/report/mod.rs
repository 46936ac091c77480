//! Findings → what was asked for: text for people, lines for logs, documents for programs.

mod checklist;
mod json;

pub(crate) use checklist::Ticked;

use crate::args::{FailOn, ReportFormat};
use crate::output::{ERROR, GOOD, Output, WARNING, printable};
use crate::verdict::Verdict;
use keyward_fact::thousands;
use keyward_rules::SCHEMA;
use keyward_rules::exchange::{Location, Region, Reported, annotations, sarif};
use keyward_schema::model::Severity;
use keyward_schema::{Diagnostic, Label, Sources, Span, concise, render};
use std::io;

/// What there is to say about one or several schemas.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) findings: Vec<Diagnostic>,
    pub(crate) subject: Subject,
    /// How many findings are left out; a rule does not report the same without end
    left_out: u64,
    /// The check-lists of all schemas
    pub(crate) checklist: Vec<Ticked>,
    /// What it was compared with, if it was
    pub(crate) compared: Option<Compared>,
}

/// What schemas were compared with.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    /// The earlier version, as it was asked for
    pub(crate) against: String,
    /// How many findings an `[[accept]]` accepts
    pub(crate) accepted: u64,
    /// How many findings are about definitions of unstable groups
    pub(crate) unstable: u64,
    /// The day that is proposed for an `[[accept]]`
    pub(crate) expires: String,
}

impl Compared {
    /// How to accept a finding, with the first one as an example.
    fn how_to_accept(&self, findings: &[Diagnostic]) -> String {
        let first = findings.iter().find_map(|it| Some((it.rule, it.subject.as_ref()?)));
        let Some((rule, subject)) = first else { return String::new() };
        format!(
            "To accept a change, say so in the schema:\n\n  [[accept]]\n  rule = \"{rule}\"\n  subject = \"{}\"\n  \
             reason = \"…\"\n  expires = {}\n\n",
            printable(subject),
            self.expires
        )
    }

    /// What is left out of the findings: `2 accepted, 1 in unstable groups`.
    fn left_out(&self) -> String {
        let accepted =
            (self.accepted > 0).then(|| format!("{} accepted", thousands(self.accepted)));
        let unstable =
            (self.unstable > 0).then(|| format!("{} in unstable groups", thousands(self.unstable)));
        let parts: Vec<String> = accepted.into_iter().chain(unstable).collect();
        if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) }
    }
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Subject {
    pub(crate) schemas: usize,
    pub(crate) definitions: usize,
    pub(crate) events: usize,
}

impl<'a> Report<'a> {
    pub(crate) fn new(sources: &'a Sources, findings: Vec<Diagnostic>, subject: Subject) -> Self {
        let left_out = findings.iter().map(|finding| finding.left_out).sum();
        Report { sources, findings, subject, left_out, checklist: Vec::new(), compared: None }
    }

    /// What the exit code says; the format has no part in it.
    pub(crate) fn verdict(&self, fail_on: FailOn) -> Verdict {
        if !self.is_usable() {
            return Verdict::Unusable;
        }
        let fails = |it: &Diagnostic| fail_on.fails(it.severity == Severity::Error);
        Verdict::of(self.findings.iter().any(fails))
    }

    /// Whether something was checked.
    fn is_usable(&self) -> bool {
        self.refused() == 0 && self.subject.definitions > 0
    }

    /// Writes everything. In the formats for people the last line sums up; where every line of
    /// standard output is a finding, that line goes to standard error.
    pub(crate) fn write(&self, format: ReportFormat, output: &Output) -> io::Result<()> {
        match format {
            ReportFormat::Full => {
                output.print(render(self.sources, &self.findings, output.style()))?;
                if self.is_usable() {
                    output.summary_lines(&checklist::lines(&self.checklist))?;
                }
                if let Some(compared) = self.compared.as_ref().filter(|_| self.is_usable()) {
                    output.summary_lines(&compared.how_to_accept(&self.findings))?;
                }
                output.summary(self.summary())
            }
            ReportFormat::Concise => {
                output.print(concise(self.sources, &self.findings))?;
                output.note(self.summary())
            }
            ReportFormat::Github => {
                output.print(annotations(&self.reported()))?;
                output.note(self.summary())
            }
            ReportFormat::Json => output.print(json::document(self)),
            ReportFormat::Jsonl => output.print(json::lines(self)),
            ReportFormat::Sarif => output.print(sarif(&self.reported(), self.is_usable())),
        }
    }

    /// Everything in one line.
    pub(crate) fn summary(&self) -> String {
        let Subject { definitions, events, .. } = self.subject;
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warn));
        let cannot = match self.subject.schemas {
            0 | 1 => "the schema cannot be used",
            _ => "some schemas cannot be used",
        };
        if self.findings.len() == self.refused() && errors > 0 {
            return format!("{}: {cannot}", ERROR.on(counted(errors, "error")));
        }
        if !self.findings.is_empty() {
            let mut parts = Vec::new();
            if errors > 0 {
                parts.push(ERROR.on(counted(errors, "error")));
            }
            if warnings > 0 {
                parts.push(WARNING.on(counted(warnings, "warning")));
            }
            let mut all = counted(self.findings.len(), "finding");
            if self.left_out > 0 {
                all = format!("{all} shown, {} left out", thousands(self.left_out));
            }
            let compared = self.compared.as_ref().map_or(String::new(), Compared::left_out);
            let end = if self.refused() > 0 { format!("; {cannot}") } else { compared };
            return format!("{all}: {}{end}", parts.join(", "));
        }
        if let Some(compared) = &self.compared {
            let what = counted(definitions, "definition");
            let good = GOOD.on("nothing breaks");
            return format!(
                "{what} compared with `{}`: {good}{}",
                compared.against,
                compared.left_out()
            );
        }
        let mut what = counted(definitions, "definition");
        if events > 0 {
            what = format!("{what}, {}", counted(events, "event"));
        }
        format!("{what} {}", GOOD.on("proved sound"))
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// How many findings say that a schema cannot be used as it is.
    fn refused(&self) -> usize {
        self.findings.iter().filter(|finding| finding.rule == SCHEMA).count()
    }

    /// The findings as other programs read them.
    fn reported(&self) -> Vec<Reported> {
        let reported = |finding: &Diagnostic| Reported {
            rule: finding.rule.to_owned(),
            severity: finding.severity,
            message: finding.message.clone(),
            help: finding.help.clone(),
            notes: finding.notes.clone(),
            locations: finding.labels.iter().map(|label| self.location(label)).collect(),
            properties: json::properties(finding),
            baseline_state: None,
        };
        self.findings.iter().map(reported).collect()
    }

    /// Where a label points.
    fn location(&self, label: &Label) -> Location {
        location(self.sources, &label.span, &label.text)
    }
}

/// A location in a file, and what there is to say about it.
pub(crate) fn location(sources: &Sources, span: &Span, text: &str) -> Location {
    let (line, column) = sources.line_column(span);
    let (end_line, end_column) = sources.end_line_column(span);
    let file = sources.get(span.file).path.display().to_string();
    let region = Region { line, column, end_line, end_column };
    Location { file, region: Some(region), text: text.to_owned() }
}

/// `1 finding`, `7 findings`
pub(crate) fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(number as u64))
}
