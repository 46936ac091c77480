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
    /// What it is about, as an `[[accept]]` names it
    pub subject: Option<String>,
    /// How many keys it touches, where that was measured
    pub touched: Option<Touched>,
    /// Where; the first is the primary place
    pub labels: Vec<Label>,
    /// What to do next
    pub help: Vec<String>,
    /// What else is worth knowing
    pub notes: Vec<String>,
    /// How many findings of the same rule were left out after this one
    pub left_out: u64,
}

/// How many keys a change touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touched {
    /// Keys; `None` where it cannot be told
    pub keys: Option<u64>,
    /// Their bytes, or of a longer TTL those that are added; `None` where it cannot be told
    pub bytes: Option<u64>,
    /// How the numbers were got
    pub how: Told,
}

/// How a number was got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Told {
    /// An audit counted it
    Counted,
    /// An audit counted so many of those that may be touched
    AtMost,
    /// It follows from what an audit counted, if keys are written as before
    Estimated,
}

impl Told {
    /// The word in a document.
    pub fn name(self) -> &'static str {
        match self {
            Told::Counted => "counted",
            Told::AtMost => "at-most",
            Told::Estimated => "estimated",
        }
    }
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
            subject: None,
            touched: None,
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
