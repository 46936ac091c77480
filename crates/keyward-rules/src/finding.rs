//! What a rule reports.

use crate::rules::Rule;
use keyward_schema::diagnostic::{Diagnostic, Label};
use keyward_schema::model::{Allow, Definition, Event, Migration, Severity};
use keyward_schema::span::Span;

/// Something a rule has found: what is wrong, where, and what to do next.
#[derive(Debug)]
pub(crate) struct Finding<'a> {
    message: String,
    definition: Option<&'a str>,
    labels: Vec<Label>,
    help: Vec<String>,
    notes: Vec<String>,
    allowed_by: Vec<&'a [Allow]>,
    allowed_by_other: Vec<&'a [Allow]>,
    only_warns: bool,
}

impl<'a> Finding<'a> {
    /// About the keyspace as a whole.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Finding {
            message: message.into(),
            definition: None,
            labels: Vec::new(),
            help: Vec::new(),
            notes: Vec::new(),
            allowed_by: Vec::new(),
            allowed_by_other: Vec::new(),
            only_warns: false,
        }
    }

    /// Says which definition it is about; that definition's `allow` may accept it.
    pub(crate) fn about(mut self, definition: &'a Definition) -> Self {
        self.definition.get_or_insert(&definition.name.value);
        self.allowed_by.push(&definition.allow);
        self
    }

    /// Names the definition that it is shown for.
    pub(crate) fn named(mut self, definition: &'a Definition) -> Self {
        self.definition = Some(&definition.name.value);
        self
    }

    /// Says which definition of the other schema it is about; that one's `allow` may accept it too.
    pub(crate) fn about_other(mut self, definition: &'a Definition) -> Self {
        self.allowed_by_other.push(&definition.allow);
        self
    }

    /// Says which event it is about; that event's `allow` may accept it.
    pub(crate) fn about_event(mut self, event: &'a Event) -> Self {
        self.allowed_by.push(&event.allow);
        self
    }

    /// Says which migration it is about; that migration's `allow` may accept it.
    pub(crate) fn about_migration(mut self, migration: &'a Migration) -> Self {
        self.allowed_by.push(&migration.allow);
        self
    }

    /// Says that this list of accepted findings applies.
    pub(crate) fn allowed_by(mut self, list: &'a [Allow]) -> Self {
        self.allowed_by.push(list);
        self
    }

    /// Adds a place; the first is the primary one.
    pub(crate) fn at(mut self, span: &Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span: span.clone(), text: text.into() });
        self
    }

    /// Adds what to do next.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds what else is worth knowing.
    pub(crate) fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says that it is a warning even where the rule's findings are errors.
    pub(crate) fn warning(mut self) -> Self {
        self.only_warns = true;
        self
    }

    /// The lists that may accept it, the nearest first.
    pub(crate) fn lists(&self) -> &[&'a [Allow]] {
        &self.allowed_by
    }

    /// The lists of the other schema that may accept it.
    pub(crate) fn lists_of_other(&self) -> &[&'a [Allow]] {
        &self.allowed_by_other
    }

    /// As what is shown to people.
    pub(crate) fn into_diagnostic(self, rule: Rule, severity: Severity) -> Diagnostic {
        debug_assert!(!self.labels.is_empty(), "a finding of `{rule}` has no place");
        let severity = if self.only_warns { Severity::Warn } else { severity };
        Diagnostic {
            rule: rule.name(),
            severity,
            message: self.message,
            definition: self.definition.map(str::to_owned),
            labels: self.labels,
            help: self.help,
            notes: self.notes,
            left_out: 0,
        }
    }
}

/// The findings of one rule.
#[derive(Debug, Default)]
pub(crate) struct Findings<'a> {
    all: Vec<Finding<'a>>,
    stopped: bool,
}

impl<'a> Findings<'a> {
    /// Adds one.
    pub(crate) fn add(&mut self, finding: Finding<'a>) {
        self.all.push(finding);
    }

    /// Says that the search stopped before its end: there may be more than was found.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Whether the search stopped before its end.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped
    }

    /// Adds some, or none.
    pub(crate) fn extend(&mut self, findings: impl IntoIterator<Item = Finding<'a>>) {
        self.all.extend(findings);
    }
}

impl<'a> IntoIterator for Findings<'a> {
    type Item = Finding<'a>;
    type IntoIter = std::vec::IntoIter<Finding<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.into_iter()
    }
}
