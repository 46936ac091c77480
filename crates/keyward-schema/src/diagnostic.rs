//! What Keyward has to say about a schema, as data. [`crate::render`] turns it into text.

use crate::model::Severity;
use crate::span::Span;

/// Used as the rule's name where the reader refuses a schema.
pub const SCHEMA: &str = "schema";

/// Used as the rule's name where another file than a schema is refused.
pub const CONFIG: &str = "config";

/// A message with its places: an error of the reader, or a rule's finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule's name, or [`SCHEMA`] for what the reader cannot accept
    pub rule: &'static str,
    /// How serious it is
    pub severity: Severity,
    /// What is wrong, in one line: lower case, no full stop
    pub message: String,
    /// The key definition it is about
    pub definition: Option<String>,
    /// Where; the first is the primary place
    pub labels: Vec<Label>,
    /// What to do next
    pub help: Vec<String>,
    /// What else is worth knowing
    pub notes: Vec<String>,
    /// How many findings of the same rule were left out after this one
    pub left_out: u64,
}

/// A place, and what is to be seen there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The place
    pub span: Span,
    /// What is to be seen there; may be empty
    pub text: String,
}

impl Diagnostic {
    /// A message of the schema reader: the file cannot be used as it is.
    pub fn schema(message: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Diagnostic::new(SCHEMA, Severity::Error, message).at(span, label)
    }

    /// A message about a file of settings: it cannot be used as it is.
    pub fn config(message: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Diagnostic::new(CONFIG, Severity::Error, message).at(span, label)
    }

    /// The same about no place in it.
    pub fn unplaced(message: impl Into<String>) -> Self {
        Diagnostic::new(CONFIG, Severity::Error, message)
    }

    /// A message without a place yet.
    pub fn new(rule: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Diagnostic {
            rule,
            severity,
            message: message.into(),
            definition: None,
            labels: Vec::new(),
            help: Vec::new(),
            notes: Vec::new(),
            left_out: 0,
        }
    }

    /// Adds a place.
    #[must_use]
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Names the definition it is about.
    #[must_use]
    pub fn about(mut self, definition: impl Into<String>) -> Self {
        self.definition = Some(definition.into());
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds what else is worth knowing.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }
}
