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
        let is_server = server.is_some_and(|it| !matches!(it, ServerError::Cluster(_)))
            || matches!(query, Some(QueryError::Server(_)))
            || matches!(import, Some(ImportError::Server(_)));
        if is_server { Ended::Server } else { Ended::Input }
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
    server.is_some_and(|error| !matches!(error, ServerError::Fenced | ServerError::Strange { .. }))
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
