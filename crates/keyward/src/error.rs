//! What can be wrong with values that come from outside.
//!
//! Errors of this crate are written by hand, since every application compiles it: with `thiserror`, a clean debug
//! build without features takes 6.9 CPU seconds instead of 3.2.

use std::fmt;

/// A text that is not a value of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValueError {
    /// What it was for: a type's or a parameter's name
    pub name: &'static str,
    /// The type in the words of a schema
    pub ty: &'static str,
    /// The text, shortened
    pub value: String,
}

impl ValueError {
    #[doc(hidden)]
    pub fn new(name: &'static str, ty: &'static str, value: &str) -> Self {
        ValueError { name, ty, value: shorten(value) }
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ValueError { name, ty, value } = self;
        match value.as_str() {
            "" => write!(f, "an empty text is not a value for `{name}` ({ty})"),
            value => write!(f, "`{value}` is not a value for `{name}` ({ty})"),
        }
    }
}

impl std::error::Error for ValueError {}

/// Each value is good, but the key would be too long or belong to a more specific definition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reserved {
    /// The definition that the key was built by
    pub definition: &'static str,
    /// The definition that it belongs to; `None` if it is too long
    pub by: Option<&'static str>,
    /// The key, without the prefix
    pub key: String,
}

impl Reserved {
    #[doc(hidden)]
    pub fn new(definition: &'static str, by: &'static str, key: &str) -> Self {
        Reserved { definition, by: Some(by), key: shorten(key) }
    }

    #[doc(hidden)]
    pub fn too_long(definition: &'static str, key: &str) -> Self {
        Reserved { definition, by: None, key: shorten(key) }
    }
}

impl fmt::Display for Reserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reserved { definition, by, key } = self;
        write!(f, "`{key}` cannot be a key of `{definition}`: ")?;
        match by {
            Some(by) => write!(f, "it is reserved by `{by}`"),
            None => f.write_str("it is longer than `max_key_len` allows"),
        }
    }
}

impl std::error::Error for Reserved {}

/// Why no key, glob or event can be made from names and texts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no such definition or event
    NoDefinition(String),
    /// There is no such parameter
    NoParam {
        /// The definition or event
        definition: &'static str,
        /// The parameter
        param: String,
    },
    /// A parameter has no value
    Missing {
        /// The definition or event
        definition: &'static str,
        /// The parameter
        param: &'static str,
    },
    /// A text is not a value of its parameter
    Value {
        /// The definition or event
        definition: &'static str,
        /// The parameter and the text
        error: ValueError,
    },
    /// The key would be too long or belong to a more specific definition
    Reserved(Reserved),
}

impl From<Reserved> for BuildError {
    fn from(error: Reserved) -> Self {
        BuildError::Reserved(error)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::NoDefinition(name) => write!(f, "there is no `{name}` in the schema"),
            BuildError::NoParam { definition, param } => {
                write!(f, "`{definition}` has no parameter `{param}`")
            }
            BuildError::Missing { definition, param } => {
                write!(f, "`{definition}` needs a value for `{param}`")
            }
            BuildError::Value { definition, error } => write!(f, "`{definition}`: {error}"),
            BuildError::Reserved(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuildError::Value { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// A hash that is not as its definition says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldError {
    /// The definition
    pub definition: &'static str,
    /// The field
    pub field: String,
    /// What is wrong with it
    pub kind: FieldErrorKind,
}

impl FieldError {
    #[cfg(feature = "store")]
    pub(crate) fn new(definition: &'static str, field: &str, kind: FieldErrorKind) -> Self {
        FieldError { definition, field: field.to_owned(), kind }
    }
}

/// What is wrong with a field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldErrorKind {
    /// It is not there
    Missing,
    /// What it holds is not of its type
    Malformed,
    /// The definition has no such field
    Unknown,
    /// Its value cannot be written, and why: JSON has no map whose keys are not text
    Unwritable(String),
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FieldError { definition, field, kind } = self;
        match kind {
            FieldErrorKind::Missing => write!(f, "`{definition}` has no field `{field}`"),
            FieldErrorKind::Malformed => {
                write!(f, "the field `{field}` of `{definition}` does not hold what it should")
            }
            FieldErrorKind::Unknown => {
                write!(f, "`{definition}` has a field `{field}`, which the schema does not know")
            }
            FieldErrorKind::Unwritable(why) => {
                write!(f, "the field `{field}` of `{definition}` cannot be written: {why}")
            }
        }
    }
}

impl std::error::Error for FieldError {}

/// A text as it is shown in an error.
fn shorten(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    let total = text.chars().count();
    if total > SHOWN {
        shown.push_str(&format!("… ({total} characters)"));
    }
    shown
}
