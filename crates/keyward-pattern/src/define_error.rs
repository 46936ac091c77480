//! What may be wrong with definitions when they are compiled.

use crate::DefinitionId;
use crate::language::LanguageError;
use std::fmt;

/// The most paths that the parameters of type `key` of one definition may give it.
pub(crate) const MAX_PATHS: usize = 256;
/// The most paths of all definitions together.
pub(crate) const MAX_ALL_PATHS: usize = 65_536;
/// The most parameters in one segment.
pub(crate) const MAX_HOLES: usize = 16;
/// The most segments of a path.
pub(crate) const MAX_SEGMENTS: usize = 256;

/// What is wrong with a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefineError {
    /// The definition; `None` for the prefix or the keyspace as a whole
    pub definition: Option<DefinitionId>,
    /// The parameter, if it is about one
    pub hole: Option<String>,
    /// What is wrong
    pub kind: DefineErrorKind,
}

/// What may be wrong with a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefineErrorKind {
    /// Two definitions of the same name
    NameTwice,
    /// Two parameters of the same name in one key
    HoleTwice,
    /// The parameter's type is not a language that can be part of a key
    Language(LanguageError),
    /// `key` names a definition that does not exist
    UnknownTarget(String),
    /// `key` leads back to its own definition
    Cycle(String),
    /// Too many ways through the pattern
    TooManyPaths,
    /// Too many ways through all patterns together
    TooManyPathsInAll,
    /// Too many segments
    TooManySegments,
    /// Too many parameters between two separators
    TooManyHoles,
    /// The prefix has a `key`, or a value that may contain the separator
    Prefix,
}

impl DefineError {
    pub(crate) fn new(
        definition: Option<DefinitionId>,
        hole: Option<&str>,
        kind: DefineErrorKind,
    ) -> Self {
        DefineError { definition, hole: hole.map(str::to_owned), kind }
    }

    /// What to do next, where it can be said.
    pub fn help(&self) -> Option<String> {
        let text = match &self.kind {
            DefineErrorKind::Language(LanguageError::Forbidden(char))
                if !matches!(char, '{' | '}') =>
            {
                "exclude it, use `encoded`, or map it with `encode`"
            }
            DefineErrorKind::Language(LanguageError::Forbidden(_)) => {
                "exclude braces from the values, or use `encoded`"
            }
            DefineErrorKind::Language(LanguageError::Empty) => "require at least one character",
            DefineErrorKind::Language(LanguageError::TooLarge) => {
                "shorten the repetitions, or use a wider type"
            }
            DefineErrorKind::Language(LanguageError::WithoutEffect(_)) => {
                "leave it out: values of this type cannot contain it"
            }
            DefineErrorKind::Language(LanguageError::WithoutNothing(_)) => {
                "remove `without`: an enum lists its words, and `encoded` writes other characters as `%XX`"
            }
            DefineErrorKind::HoleTwice => "give each parameter its own name",
            _ => return None,
        };
        Some(text.to_owned())
    }
}

impl fmt::Display for DefineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hole = self.hole.as_deref().unwrap_or_default();
        match &self.kind {
            DefineErrorKind::NameTwice => f.write_str("another definition has this name"),
            DefineErrorKind::HoleTwice => {
                write!(f, "the parameter `{hole}` occurs twice in the key")
            }
            DefineErrorKind::Language(error) => write!(f, "`{hole}` has an unusable type: {error}"),
            DefineErrorKind::UnknownTarget(target) => {
                write!(f, "`{hole}` refers to `{target}`, which is not defined")
            }
            DefineErrorKind::Cycle(target) => {
                write!(f, "`{hole}` refers to `{target}`, which leads back here")
            }
            DefineErrorKind::TooManyPaths => {
                write!(f, "`{hole}` gives the pattern more than {MAX_PATHS} forms")
            }
            DefineErrorKind::TooManyPathsInAll => {
                write!(
                    f,
                    "the patterns of the keyspace have more than {MAX_ALL_PATHS} forms in all"
                )
            }
            DefineErrorKind::TooManyHoles => {
                write!(f, "the pattern has more than {MAX_HOLES} parameters in one segment")
            }
            DefineErrorKind::TooManySegments => {
                write!(f, "the pattern has more than {MAX_SEGMENTS} segments")
            }
            DefineErrorKind::Prefix => f.write_str(
                "a prefix cannot refer to keys, or hold a value that contains the separator",
            ),
        }
    }
}

impl std::error::Error for DefineError {}
