//! Findings as other programs read them: annotations of GitHub Actions, and SARIF.
//!
//! `check` finds in files and `audit` in keyspaces; both become [`Reported`] and are written here.

mod github;
mod sarif;

pub use github::annotations;
pub use sarif::sarif;

use keyward_schema::model::Severity;
use serde_json::{Map, Value};

/// A finding of any rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Reported {
    /// The rule's name
    pub rule: String,
    /// How serious it is
    pub severity: Severity,
    /// What is wrong
    pub message: String,
    /// What to do
    pub help: Vec<String>,
    /// What else to know
    pub notes: Vec<String>,
    /// The locations it is about, the first one first
    pub locations: Vec<Location>,
    /// What else programs may want to know
    pub properties: Map<String, Value>,
    /// How it compares with a baseline, in the words of SARIF: `new`, `updated`, `unchanged` or
    /// `absent`
    pub baseline_state: Option<&'static str>,
}

/// A location in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file's path
    pub file: String,
    /// Where in the file, if it is not the file as a whole
    pub region: Option<Region>,
    /// What there is to say about it
    pub text: String,
}

/// Lines and columns from 1, the end not included, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is what its name says")]
pub struct Region {
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
}
