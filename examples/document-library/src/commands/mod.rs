//! The commands.

mod add;
mod list;
mod quality;
mod read;
mod remove;
mod search;
mod show;
mod verify;

use crate::args::{Args, Command};
use document_library::import::ImportError;
use document_library::query::QueryError;
use document_library::server::{Library, ServerError};
use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All is well
    Well,
    /// Something is wrong in the library
    Findings,
    /// Something is wrong with arguments or files
    Input,
    /// The server cannot be asked
    Server,
}

impl Ended {
    pub fn code(self) -> ExitCode {
        ExitCode::from(self as u8)
    }

    /// How a command ended that failed.
    pub fn of(error: &anyhow::Error) -> Ended {
        let query = error.downcast_ref::<QueryError>();
        let import = error.downcast_ref::<ImportError>();
        let server = error.downcast_ref::<ServerError>();
        let server = match (query, import) {
            (Some(QueryError::Damaged { .. }), _) => return Ended::Findings,
            (Some(QueryError::Server(error)), _) | (_, Some(ImportError::Server(error))) => {
                Some(error)
            }
            _ => server,
        };
        match server {
            None | Some(ServerError::Cluster(_)) => Ended::Input,
            Some(ServerError::Strange { .. } | ServerError::OfAnotherType) => Ended::Findings,
            Some(_) => Ended::Server,
        }
    }
}

pub async fn run(args: Args) -> anyhow::Result<Ended> {
    let library = Library::connect(&args.server).await?;
    match args.command {
        Command::Add(args) => add::run(library, args).await,
        Command::List => list::run(&library).await,
        Command::Show { key } => show::run(&library, &key).await,
        Command::Read { document } => read::run(&library, &document).await,
        Command::Search(args) => search::run(&library, args).await,
        Command::Remove { documents } => remove::run(&library, &documents).await,
        Command::Verify => verify::run(&library).await,
        Command::Quality { longest } => quality::run(&library, longest).await,
    }
}

/// Whether other documents would fail for the same reason.
fn is_fatal(error: &anyhow::Error) -> bool {
    let server = match (error.downcast_ref::<ImportError>(), error.downcast_ref::<QueryError>()) {
        (Some(ImportError::Server(error)), _) | (_, Some(QueryError::Server(error))) => Some(error),
        _ => error.downcast_ref::<ServerError>(),
    };
    let is_of_one = |error: &ServerError| {
        matches!(
            error,
            ServerError::Fenced | ServerError::Strange { .. } | ServerError::OfAnotherType
        )
    };
    server.is_some_and(|error| !is_of_one(error))
}

/// `1 element`, `12,345 elements`.
fn count(number: usize, of: &str) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    format!("{shown} {of}{}", if number == 1 { "" } else { "s" })
}

/// What went wrong, as a terminal may print it: a path or a key may have any character in it.
pub fn message(error: &anyhow::Error) -> String {
    lines(&format!("{error:#}"))
}

/// Lines of text, in which characters that a terminal obeys are spelt out. Those that only have no width stay: scripts and
/// emoji need them.
fn lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let ends_line = char == '\r' && chars.peek() == Some(&'\n');
        let is_obeyed = char.is_control() && !matches!(char, '\n' | '\t') && !ends_line
            || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if is_obeyed {
            shown.extend(char.escape_unicode());
        } else {
            shown.push(char);
        }
    }
    shown
}
