//! Why a plan could not be made or applied, and what to do about it.

use keyward_audit::live;
use std::io;
use std::path::{Path, PathBuf};

/// What errors of servers mean, by the word that they begin with, and what to do next.
const ANSWERS: [(&str, &str); 11] = [
    (
        "OOM",
        "the server has reached `maxmemory` and takes no more: raise it, or remove what is not needed, and run the command \
         again, which goes on",
    ),
    (
        "CLUSTERDOWN",
        "some slots of the cluster have no server: repair it (`redis-cli --cluster check`), and run the command again, which \
         goes on",
    ),
    ("MOVED", "slots of the cluster are moving: run the command again when they do not"),
    ("ASK", "slots of the cluster are moving: run the command again when they do not"),
    ("TRYAGAIN", "slots of the cluster are moving: run the command again when they do not"),
    (
        "READONLY",
        "the server is a replica by now: run the command again, with the URL of the primary",
    ),
    ("MASTERDOWN", "the server has lost its primary: run the command again when it is back"),
    ("LOADING", "the server is loading its data: run the command again when it is done"),
    (
        "MISCONF",
        "the server cannot save its data and takes no writes: make room on its disk, see its log, and run the command again",
    ),
    (
        "NOSCRIPT",
        "somebody has removed the scripts of the server: run the command again, which loads them",
    ),
    (
        "NOPERM",
        "allow the user what a plan needs: the guide to plans lists it, under \"A user for plans\"",
    ),
];

fn next_step(reply: &str) -> &'static str {
    let known = ANSWERS.iter().find(|(word, _)| reply.starts_with(word));
    known.map_or("see the server's log, and run the command again, which goes on", |(_, step)| step)
}

/// What the system said, in words.
fn said(why: &io::Error) -> String {
    match why.kind() {
        io::ErrorKind::AlreadyExists => "there is such a file".to_owned(),
        _ => why.to_string(),
    }
}

/// What is done with a file that only a wrong name keeps from it.
const READ: &str = "read";
/// What is done with a file before anything else is.
pub(crate) const MAKE: &str = "make";

/// Why a plan could not be made or applied. No credential and no key is ever part of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A server could not be asked
    #[error(transparent)]
    Server(#[from] live::Error),
    /// A file could not be read or written
    #[error("cannot {doing} `{}`: {}", path.display(), said(why))]
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
            Error::Server(live::Error::Reply { reply, .. }) => next_step(reply),
            Error::Server(error) => error.help(),
            Error::File { doing, .. } if *doing == READ => "check the name of the file",
            Error::File { doing, why, .. } if *doing == MAKE => match why.kind() {
                io::ErrorKind::AlreadyExists => {
                    "name another file: nothing is written over this one"
                }
                _ => "check that the folder is there and can be written; no key was changed",
            },
            Error::File { .. } => {
                "check that the folder is there and can be written; what was changed is in the journal, and the command can be \
                 run again"
            }
            Error::Document { help, .. } => help,
            Error::Refused { help, .. } | Error::Unfinished { help, .. } => help,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_answers_is_explained_with_the_next_step() {
        let help = |reply: &str| {
            let (address, command) = ("127.0.0.1:1".to_owned(), "a step of the undo");
            let error = live::Error::Reply { address, command, reply: reply.to_owned() };
            Error::from(error).help().to_owned()
        };
        assert!(help("OOM command not allowed").contains("raise it"));
        assert!(help("CLUSTERDOWN Hash slot not served").contains("--cluster check"));
        assert!(help("NOPERM this user has no permissions").contains("allow the user"));
        assert!(help("ERR something else").contains("server's log"));
    }
}
