//! Why options make no pipeline.

use std::fmt;

/// An option that cannot act as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionsError {
    option: &'static str,
    entry: Option<String>,
    reason: String,
}

impl OptionsError {
    pub(crate) fn new(option: &'static str, reason: impl Into<String>) -> Self {
        OptionsError { option, entry: None, reason: reason.into() }
    }

    /// The same, for one entry of a dictionary.
    pub(crate) fn entry(option: &'static str, entry: &str, reason: impl Into<String>) -> Self {
        OptionsError { option, entry: Some(entry.to_owned()), reason: reason.into() }
    }

    /// The name of the option, a field of [`Options`](crate::Options).
    pub fn option(&self) -> &'static str {
        self.option
    }

    /// The entry of a dictionary that is wrong: an abbreviation, a symbol or a stop word as it was given.
    pub fn wrong_entry(&self) -> Option<&str> {
        self.entry.as_deref()
    }

    /// What is wrong, and what to do.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.entry {
            Some(entry) => write!(f, "`{entry}` in `{}`: {}", self.option, self.reason),
            None => write!(f, "`{}`: {}", self.option, self.reason),
        }
    }
}

impl std::error::Error for OptionsError {}
