//! Why a plan could not be made or applied, and what to do about it.

use keyward_audit::live;
use std::io;
use std::path::{Path, PathBuf};

/// What is done with a file that only a wrong name keeps from it.
const READ: &str = "read";

/// Why a plan could not be made or applied. No credential and no key is ever part of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A server could not be asked
    #[error(transparent)]
    Server(#[from] live::Error),
    /// A file could not be read or written
    #[error("cannot {doing} `{}`: {why}", path.display())]
    File {
        /// To read, or to write
        doing: &'static str,
        /// Which
        path: PathBuf,
        /// What the system said
        why: io::Error,
    },
    /// The file is not a plan, or not as it was written
    #[error("{why}")]
    Document {
        /// What is wrong with it
        why: String,
        /// What to do
        help: &'static str,
    },
    /// What was asked for cannot be planned, or may not be applied
    #[error("{why}")]
    Refused {
        /// Why not
        why: String,
        /// What to do
        help: String,
    },
    /// Not all of it could be done
    #[error("{why}")]
    Unfinished {
        /// What is left, and why
        why: String,
        /// What to do
        help: String,
    },
}

impl Error {
    pub(crate) fn refused(why: impl Into<String>, help: impl Into<String>) -> Self {
        Error::Refused { why: why.into(), help: help.into() }
    }

    pub(crate) fn unfinished(why: impl Into<String>, help: impl Into<String>) -> Self {
        Error::Unfinished { why: why.into(), help: help.into() }
    }

    pub(crate) fn file(doing: &'static str, path: &Path, why: io::Error) -> Self {
        Error::File { doing, path: path.to_owned(), why }
    }

    /// Whether the caller asked for something that cannot be, rather than a server failing: exit code 2
    /// rather than 3.
    pub fn is_usage(&self) -> bool {
        match self {
            Error::Server(error) => error.is_usage(),
            Error::File { doing, .. } => *doing == READ,
            Error::Document { .. } | Error::Refused { .. } => true,
            Error::Unfinished { .. } => false,
        }
    }

    /// What to do next.
    pub fn help(&self) -> &str {
        match self {
            Error::Server(error) => error.help(),
            Error::File { doing, .. } if *doing == READ => "check the name of the file",
            Error::File { .. } => {
                "check that the folder is there and can be written; what was changed is in the journal, and the command can be \
                 run again"
            }
            Error::Document { help, .. } => help,
            Error::Refused { help, .. } | Error::Unfinished { help, .. } => help,
        }
    }
}
