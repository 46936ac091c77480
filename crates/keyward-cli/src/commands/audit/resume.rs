//! A scan that is stopped, by Ctrl-C or a lost server, and resumed later.

mod again;
mod file;

use super::Places;
use crate::args::{Audit as Args, AuditFormat, LiveVia};
use crate::failure::{Failure, Result};
use crate::files;
use crate::output::{Output, printable};
use crate::settings::Settings;
use crate::today;
use again::command;
use file::{default_name, folder, write};
use keyward_audit::live::{Error, is_url, shown};
use keyward_audit::{Audit, ResumeError, ResumeFile, Salt, Stopped, Terms, now};
use keyward_fact::thousands;
use keyward_schema::model::Date;
use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};

/// The largest file that a scan resumes from.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// What a scan resumes from, and where it saves its progress.
#[derive(Debug)]
pub(super) struct Session {
    /// The file that was named
    path: Option<PathBuf>,
    terms: Terms,
    /// The day on which migrations are judged: for both halves the same
    pub(super) today: Date,
    /// By which keys are masked, unless a person said it
    secret: Option<String>,
    pub(super) salt: Salt,
    stopped_at: String,
    earlier: Option<Stopped>,
}

impl Session {
    pub(super) fn open(
        args: &Args,
        places: &Places,
        settings: &Settings,
        output: &Output,
    ) -> Result<Self> {
        let url = url(args);
        let path = args.live.resume.clone();
        if path.is_some() {
            refuse_others(args)?;
        }
        let terms = terms(args, url.unwrap_or_default(), places);
        let file = match (&path, url) {
            (Some(path), _) => read(path, &terms, output)?,
            (None, Some(url)) => {
                hint(Path::new(&default_name(url)), output)?;
                None
            }
            (None, None) => None,
        };
        let mut session = Session {
            path,
            terms,
            today: settings.today,
            secret: None,
            salt: Salt::of(""),
            stopped_at: String::new(),
            earlier: None,
        };
        if let Some(file) = file {
            session.today = today::parse(&file.today).ok_or_else(|| {
                let why = "it contains no date".to_owned();
                session.refused(&ResumeError::Damaged { why })
            })?;
            session.secret = file.secret;
            session.stopped_at = file.stopped_at;
            session.earlier = Some(file.stopped);
        }
        session.salt = match (&args.salt, &session.secret) {
            (Some(text), _) | (None, Some(text)) => Salt::of(text),
            (None, None) => {
                let secret = random();
                let salt = Salt::of(&secret);
                session.secret = Some(secret);
                salt
            }
        };
        if args.salt.is_some() {
            session.secret = None;
        }
        Ok(session)
    }

    /// What was seen before, if the audit is the same.
    pub(super) fn earlier(&self, audit: &Audit, output: &Output) -> Result<Option<&Stopped>> {
        if let Some(earlier) = &self.earlier {
            audit.can_go_on(earlier).map_err(|error| self.refused(&error))?;
            let (keys, when) = (thousands(earlier.keys()), printable(&self.stopped_at));
            output.note(format_args!(
                "resuming after {keys} keys, read until {when}, unless the server has changed since"
            ))?;
        }
        Ok(self.earlier.as_ref())
    }

    /// Saves what was seen, and says how to resume.
    pub(super) fn keep(&self, stopped: Stopped, url: &str) -> Failure {
        let (keys, expected) = (stopped.keys(), stopped.expected());
        let of =
            if expected > keys { format!(" of {}", thousands(expected)) } else { String::new() };
        let how_far = format!("stopped after {}{of} keys", thousands(keys));
        match self.write(stopped, url) {
            Ok(path) => {
                let failure = Failure::incomplete(format!("{how_far}: no report was written yet"));
                to_go_on(failure, url, &path)
            }
            Err(Unkept::Unknown) => {
                Failure::incomplete(format!("{how_far}: no report was written"))
                    .help(Unkept::UNKNOWN)
            }
            Err(Unkept::Unwritten(why)) => {
                Failure::incomplete(format!("{how_far}, and progress is lost: {why}"))
                    .help(Unkept::UNWRITTEN)
            }
        }
    }

    /// The same for a scan that a server ended.
    pub(super) fn keep_lost(&self, failure: Failure, stopped: Stopped, url: &str) -> Failure {
        match self.write(stopped, url) {
            Ok(path) => to_go_on(failure, url, &path),
            Err(Unkept::Unknown) => failure.help(Unkept::UNKNOWN),
            Err(Unkept::Unwritten(why)) => {
                failure.help(format!("progress is lost: {why}; {}", Unkept::UNWRITTEN))
            }
        }
    }

    fn write(&self, stopped: Stopped, url: &str) -> std::result::Result<PathBuf, Unkept> {
        if stopped.resume.shards.iter().any(|shard| shard.run_id.is_empty()) {
            return Err(Unkept::Unknown);
        }
        let today = self.today.to_string();
        let file = ResumeFile::new(self.terms.clone(), today, self.secret.clone(), stopped, now());
        let path = self.path.clone().unwrap_or_else(|| PathBuf::from(default_name(url)));
        let text = file.text().map_err(|error| Unkept::Unwritten(error.to_string()))?;
        write(&path, self.earlier.is_some(), &text).map_err(|error| {
            let why = crate::failure::why(&error);
            Unkept::Unwritten(format!("cannot write `{}`: {why}", path.display()))
        })
    }

    /// Why servers cannot be read on, where that is so.
    pub(super) fn cannot_go_on(&self, error: &Error) -> Option<Failure> {
        let path = self.path.as_ref().filter(|_| matches!(error, Error::NotResumable { .. }))?;
        Some(Failure::incomplete(printable(&error.to_string())).help(start_again(path)))
    }

    /// The report is written: there is nothing left to resume.
    pub(super) fn finish(&self, output: &Output) -> Result<()> {
        let Some(path) = self.path.as_ref().filter(|_| self.earlier.is_some()) else {
            return Ok(());
        };
        if let Err(error) = fs::remove_file(path) {
            let why = crate::failure::why(&error);
            output.note(format_args!(
                "cannot remove `{}`: {why}; the scan is complete, and the file is no longer needed",
                path.display()
            ))?;
        }
        Ok(())
    }

    fn refused(&self, error: &ResumeError) -> Failure {
        refused(self.path.as_deref().unwrap_or(Path::new("")), error)
    }
}

/// Why what was seen could not be kept.
enum Unkept {
    /// The server would not be known again
    Unknown,
    /// The file cannot be written
    Unwritten(String),
}

impl Unkept {
    const UNKNOWN: &str = "start again: the scan cannot be resumed, because the server denies INFO, which \
                           identifies it";
    const UNWRITTEN: &str = "choose another file with `--resume FILE`";
}

/// Adds the command that resumes the scan.
fn to_go_on(failure: Failure, url: &str, path: &Path) -> Failure {
    let (command, hidden) = command(url, path);
    let failure = failure.help(format!("to resume: {command}"));
    if hidden {
        failure.help("replace `…` with the password or the salt, which are not saved")
    } else {
        failure
    }
}

pub(super) fn url(args: &Args) -> Option<&str> {
    args.source.to_str().filter(|source| is_url(source))
}

/// Whether a scan can be stopped and resumed: what was listed is gone, and a snapshot has no cursor.
pub(super) fn is_resumable(args: &Args) -> bool {
    let listed = matches!(args.form.format, AuditFormat::Jsonl | AuditFormat::Csv);
    url(args).is_some() && args.live.via == LiveVia::Scan && !listed
}

fn refuse_others(args: &Args) -> Result<()> {
    let why = if url(args).is_none() {
        "`--resume` does not work with a file: only the scan of a server can be resumed"
    } else if args.live.via == LiveVia::Snapshot {
        "`--resume` does not work with `--via snapshot`: only a scan can be resumed"
    } else if !is_resumable(args) {
        "`--resume` does not work with a list of every key: only a report can be resumed"
    } else {
        return Ok(());
    };
    Err(Failure::new(why).help("remove `--resume`"))
}

/// What must be the same for both halves.
fn terms(args: &Args, url: &str, places: &Places) -> Terms {
    let mut options = BTreeMap::new();
    let mut option = |name: &str, value: Option<String>| {
        options.extend(value.map(|value| (name.to_owned(), value)));
    };
    let given = |switch: bool| switch.then(|| "yes".to_owned());
    let list = |list: Vec<&str>| (!list.is_empty()).then(|| list.join(", "));
    let live = &args.live;
    option("--db", live.db.map(|db| db.to_string()));
    option("--match", live.matching.clone());
    option("--sample", live.sample.map(|percent| format!("{percent}%")));
    option("--primary", given(live.primary));
    option("--node-only", given(live.node_only));
    option("--touch", given(live.touch));
    option("--no-values", given(live.no_values));
    option("--show-keys", given(args.show_keys));
    option("--top", Some(args.top.to_string()));
    option("--group", list(args.selection.groups.iter().map(String::as_str).collect()));
    option("--owner", list(args.selection.owners.iter().map(String::as_str).collect()));
    option("--lifecycle", list(args.selection.lifecycles.iter().map(|it| it.name()).collect()));
    let bound: Vec<String> =
        args.prefix.bindings.iter().map(|it| format!("{}={}", it.param, it.value)).collect();
    option("--bind", list(bound.iter().map(String::as_str).collect()));
    Terms { source: shown(url), schemas: places.fingerprint(), options }
}

fn read(path: &Path, terms: &Terms, output: &Output) -> Result<Option<ResumeFile>> {
    if !path.exists() {
        check_writable(path)?;
        output.note(format_args!(
            "`{}` does not exist: the scan starts from the beginning",
            path.display()
        ))?;
        return Ok(None);
    }
    let text = files::read_file(path, MAX_BYTES)?;
    let file = ResumeFile::parse(&text).map_err(|error| refused(path, &error))?;
    file.check(terms).map_err(|error| refused(path, &error))?;
    check_writable(path)?;
    Ok(Some(file))
}

/// Better now than when hours of work are to be kept.
fn check_writable(path: &Path) -> Result<()> {
    let temporary = tempfile::Builder::new().prefix(".keyward-").tempfile_in(folder(path));
    temporary.map(drop).map_err(|error| Failure::file("write", path, &error))
}

fn refused(path: &Path, error: &ResumeError) -> Failure {
    let why = printable(&error.to_string());
    let failure = Failure::new(format!("cannot resume from `{}`: {why}", path.display()));
    let failure = error.help().into_iter().fold(failure, Failure::help);
    match error {
        // Who knows what it is.
        ResumeError::Damaged { .. } => {
            failure.help("to start again, choose a file that does not exist")
        }
        _ => failure.help(start_again(path)),
    }
}

fn start_again(path: &Path) -> String {
    format!("to start again, delete `{}`", path.display())
}

/// A user who was stopped here may want to resume.
fn hint(path: &Path, output: &Output) -> Result<()> {
    if path.exists() {
        let path = path.display();
        output.note(format_args!("`--resume {path}` would resume a scan that was stopped"))?;
    }
    Ok(())
}

/// As good as the random numbers that the standard library takes for its own hash tables.
fn random() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}
