//! Why a command could not do what it was asked.

use crate::credentials::hidden;
use crate::output::{self, ERROR, HELP};
use crate::verdict::Verdict;
use keyward_pattern::nearest;
use keyward_rules::SCHEMA;
use keyward_schema::Diagnostic;
use keyward_schema::model::Severity;
use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;

/// What went wrong, and what to do next.
#[derive(Debug)]
pub(crate) struct Failure {
    reason: Reason,
    help: Vec<String>,
    verdict: Verdict,
}

#[derive(Debug)]
enum Reason {
    /// In one line: lower case, no full stop
    Message(String),
    /// Diagnostics, already rendered
    Rendered(String),
    /// Standard output or standard error cannot be written
    Output(io::Error),
}

/// What a command returns.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    fn because(reason: Reason) -> Self {
        Failure { reason, help: Vec::new(), verdict: Verdict::Unusable }
    }

    /// A source that cannot be read, or not to its end.
    pub(crate) fn incomplete(message: impl Into<String>) -> Self {
        Failure { verdict: Verdict::Incomplete, ..Failure::new(message) }
    }

    /// A message without help yet.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Failure::because(Reason::Message(message.into()))
    }

    /// Diagnostics that were rendered before.
    pub(crate) fn rendered(text: String) -> Self {
        Failure::because(Reason::Rendered(text))
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        Failure::new(format!("cannot {doing} `{}`: {}", path.display(), why(error)))
    }

    /// Adds what to do next.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds the name that was probably meant, or where the names can be seen.
    pub(crate) fn did_you_mean(self, nearest: Option<&str>, otherwise: &str) -> Self {
        match nearest {
            Some(nearest) => self.help(format!("did you mean `{nearest}`?")),
            None => self.help(otherwise),
        }
    }

    /// Adds the name that was probably meant, or all that there are.
    pub(crate) fn one_of<'a>(
        self,
        wrong: &str,
        names: impl Iterator<Item = &'a str>,
        nothing: &str,
    ) -> Self {
        const SHOWN: usize = 12;
        let mut names: Vec<&str> = names.collect();
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(*name));
        let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
        let all = match names.len() {
            0 => nothing.to_owned(),
            len @ 1..=SHOWN => {
                format!("there {} {}", if len == 1 { "is" } else { "are" }, shown.join(", "))
            }
            len => format!("there are {} and {} more", shown.join(", "), len - SHOWN),
        };
        self.did_you_mean(nearest(wrong, names), &all)
    }

    /// The same as a finding about no place.
    pub(crate) fn finding(&self) -> Diagnostic {
        let finding = Diagnostic::new(SCHEMA, Severity::Error, hidden(&self.to_string()));
        self.help.iter().fold(finding, |finding, help| finding.help(help.as_str()))
    }

    /// Tells the person, and ends the program in the middle of what it does.
    pub(crate) fn end(&self) -> ! {
        self.tell();
        std::process::exit(self.verdict.code().into())
    }

    /// Tells the person, and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        self.tell();
        self.verdict.into()
    }

    /// Prints the failure, for a command that continues.
    pub(crate) fn tell(&self) {
        let mut text = match &self.reason {
            Reason::Rendered(text) => text.clone(),
            Reason::Message(_) | Reason::Output(_) => format!("{}: {self}\n", ERROR.on("error")),
        };
        for help in &self.help {
            let _ = writeln!(text, "{}: {help}", HELP.on("help"));
        }
        // If standard error is gone as well, there is nobody left to tell.
        let _ = output::complain(&text);
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::Message(text) | Reason::Rendered(text) => f.write_str(text),
            Reason::Output(error) => write!(f, "cannot write the output: {}", why(error)),
        }
    }
}

impl From<io::Error> for Failure {
    /// Only what is written to the standard streams is passed on by `?`; files name themselves.
    fn from(error: io::Error) -> Self {
        Failure::because(Reason::Output(error))
    }
}

/// What the system says, in our words where it is common.
pub(crate) fn why(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::AlreadyExists => "the file already exists".to_owned(),
        ErrorKind::NotADirectory => "part of the path is not a directory".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        _ => error.to_string(),
    }
}
