//! What a rule reports.

use crate::breaking::{Change, Pair};
use crate::rules::Rule;
use keyward_schema::diagnostic::{Diagnostic, Label, Touched};
use keyward_schema::model::{Allow, Definition, Event, Migration, Severity};
use keyward_schema::span::Span;

/// Something a rule has found: what is wrong, where, and what to do next.
#[derive(Debug)]
pub(crate) struct Finding<'a> {
    message: String,
    definition: Option<&'a str>,
    subject: Option<String>,
    touched: Option<Touched>,
    labels: Vec<Label>,
    help: Vec<String>,
    notes: Vec<String>,
    allowed_by: Vec<&'a [Allow]>,
    allowed_by_other: Vec<&'a [Allow]>,
    only_warns: bool,
    unstable: bool,
}

impl<'a> Finding<'a> {
    /// About the keyspace as a whole.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Finding {
            message: message.into(),
            definition: None,
            subject: None,
            touched: None,
            labels: Vec::new(),
            help: Vec::new(),
            notes: Vec::new(),
            allowed_by: Vec::new(),
            allowed_by_other: Vec::new(),
            only_warns: false,
            unstable: false,
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

    /// Says which part of a definition changes, as an `[[accept]]` names it.
    pub(crate) fn changes(self, cx: &Change<'a>, pair: &Pair<'a>, part: Option<&str>) -> Self {
        self.of_version(cx, pair.old, pair.new, part)
    }

    /// Says which definition is gone.
    pub(crate) fn removes(self, cx: &Change<'a>, definition: &'a Definition) -> Self {
        self.of_version(cx, definition, definition, None)
    }

    fn of_version(
        mut self,
        cx: &Change<'a>,
        old: &Definition,
        shown: &'a Definition,
        part: Option<&str>,
    ) -> Self {
        let name = &shown.name.value;
        self.definition = Some(name);
        self.subject = Some(match part {
            Some(part) => format!("{name}.{part}"),
            None => name.clone(),
        });
        // What was promised counts, not what is promised now.
        self.unstable = cx.old.is_unstable(old);
        self
    }

    /// The same for what is not a definition.
    pub(crate) fn changes_other(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Says how many keys it touches, where that was measured.
    pub(crate) fn touching(mut self, touched: Option<(Touched, String)>) -> Self {
        if let Some((touched, note)) = touched {
            self.touched = Some(touched);
            self.notes.push(note);
        }
        self
    }

    /// Whether it is about a definition that may change at any time.
    pub(crate) fn is_unstable(&self) -> bool {
        self.unstable
    }

    /// What it is about, as an `[[accept]]` names it.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
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

    /// Shows what it is and what it was; where one of them is not written, the definition's id.
    pub(crate) fn was(
        self,
        pair: &Pair<'a>,
        (new, is): (Option<&Span>, String),
        (old, was): (Option<&Span>, String),
    ) -> Self {
        let new = new.unwrap_or(&pair.new.name.span);
        self.at(new, is).at(old.unwrap_or(&pair.old.name.span), was)
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
            subject: self.subject,
            touched: self.touched,
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

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Those for which it holds.
    pub(crate) fn retain(mut self, keep: impl FnMut(&Finding<'a>) -> bool) -> Self {
        self.all.retain(keep);
        self
    }

    /// Each of them, changed.
    pub(crate) fn map(mut self, change: impl FnMut(Finding<'a>) -> Finding<'a>) -> Self {
        self.all = self.all.into_iter().map(change).collect();
        self
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
