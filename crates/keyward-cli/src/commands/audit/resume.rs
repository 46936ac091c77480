//! A scan that is stopped by Ctrl-C, and goes on later.

use super::Places;
use crate::args::{Audit as Args, AuditFormat, LiveVia};
use crate::failure::{Failure, Result};
use crate::output::{Output, printable};
use crate::settings::Settings;
use crate::today;
use keyward_audit::live::{Error, shown};
use keyward_audit::{Audit, ResumeError, ResumeFile, Salt, Stopped, Terms, fingerprint};
use keyward_fact::thousands;
use keyward_schema::model::Date;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// What a scan is to go on from, and where it keeps what it has seen.
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
                let why = "it names no day".to_owned();
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
            output.note(format_args!("going on after {keys} keys, stopped at {when}"))?;
        }
        Ok(self.earlier.as_ref())
    }

    /// Keeps what was seen, and says how to go on.
    pub(super) fn keep(&self, stopped: Stopped, url: &str, now: u64) -> Failure {
        let (keys, expected) = (stopped.keys(), stopped.expected());
        let of =
            if expected > keys { format!(" of {}", thousands(expected)) } else { String::new() };
        let how_far = format!("stopped after {}{of} keys", thousands(keys));
        if stopped.resume.shards.iter().any(|shard| shard.run_id.is_empty()) {
            return Failure::incomplete(format!("{how_far}: there is no report")).help(
                "audit again: the scan cannot go on later, because the server denies INFO, by which it \
                 would be known again",
            );
        }
        let today = format!("{:04}-{:02}-{:02}", self.today.year, self.today.month, self.today.day);
        let file = ResumeFile::new(self.terms.clone(), today, self.secret.clone(), stopped, now);
        let path = self.path.clone().unwrap_or_else(|| PathBuf::from(default_name(url)));
        match write(&path, self.earlier.is_some(), &file.text()) {
            Ok(path) => {
                let failure = Failure::incomplete(format!("{how_far}: there is no report yet"));
                let (command, hidden) = command(url, &path);
                let failure = failure.help(format!("to go on: {command}"));
                if !hidden {
                    return failure;
                }
                failure.help("`…` stands for the password or the salt, which are not kept")
            }
            Err(error) => {
                let why = crate::failure::why(&error);
                let path = path.display();
                Failure::incomplete(format!(
                    "{how_far}, which are lost: cannot write `{path}`: {why}"
                ))
                .help("name another file by `--resume FILE`")
            }
        }
    }

    /// Why servers cannot be read on, where that is so.
    pub(super) fn cannot_go_on(&self, error: &Error) -> Option<Failure> {
        let path = self.path.as_ref().filter(|_| matches!(error, Error::NotResumable { .. }))?;
        Some(Failure::incomplete(printable(&error.to_string())).help(anew(path)))
    }

    /// The report is written: there is nothing to go on from.
    pub(super) fn finish(&self, output: &Output) -> Result<()> {
        let Some(path) = self.path.as_ref().filter(|_| self.earlier.is_some()) else {
            return Ok(());
        };
        if let Err(error) = fs::remove_file(path) {
            let why = crate::failure::why(&error);
            output.note(format_args!(
                "cannot remove `{}`: {why}; the scan is complete, and nothing goes on from it",
                path.display()
            ))?;
        }
        Ok(())
    }

    fn refused(&self, error: &ResumeError) -> Failure {
        refused(self.path.as_deref().unwrap_or(Path::new("")), error)
    }
}

pub(super) fn url(args: &Args) -> Option<&str> {
    args.source.to_str().filter(|source| source.contains("://"))
}

/// Whether a scan can be stopped and go on later: what was listed is gone, and a snapshot has no cursor.
pub(super) fn is_resumable(args: &Args) -> bool {
    let listed = matches!(args.form.format, AuditFormat::Jsonl | AuditFormat::Csv);
    url(args).is_some() && args.live.via == LiveVia::Scan && !listed
}

fn refuse_others(args: &Args) -> Result<()> {
    let why = if url(args).is_none() {
        "a file is read anew: only the scan of a server can go on where it was stopped"
    } else if args.live.via == LiveVia::Snapshot {
        "a snapshot is read anew: only a scan can go on where it was stopped"
    } else if !is_resumable(args) {
        "a list of every key is written anew: only a report can go on where it was stopped"
    } else {
        return Ok(());
    };
    Err(Failure::new(why).help("leave `--resume` away"))
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
    option("--sample", live.sample.map(|percent| format!("{percent}%")));
    option("--primary", given(live.primary));
    option("--node-only", given(live.node_only));
    option("--touch", given(live.touch));
    option("--show-keys", given(args.show_keys));
    option("--top", Some(args.top.to_string()));
    option("--group", list(args.selection.groups.iter().map(String::as_str).collect()));
    option("--owner", list(args.selection.owners.iter().map(String::as_str).collect()));
    option("--lifecycle", list(args.selection.lifecycles.iter().map(|it| it.name()).collect()));
    let bound: Vec<String> =
        args.prefix.bindings.iter().map(|it| format!("{}={}", it.param, it.value)).collect();
    option("--bind", list(bound.iter().map(String::as_str).collect()));
    let texts = places.schemas.sources.iter().map(|(_, source)| source.text.as_str());
    Terms { source: shown(url), schemas: fingerprint(texts), options }
}

fn read(path: &Path, terms: &Terms, output: &Output) -> Result<Option<ResumeFile>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            check_writable(path)?;
            output.note(format_args!("there is no `{}`: the scan begins anew", path.display()))?;
            return Ok(None);
        }
        Err(error) => return Err(Failure::file("read", path, &error)),
    };
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
    let failure = Failure::new(format!("cannot go on from `{}`: {why}", path.display()));
    let failure = error.help().into_iter().fold(failure, Failure::help);
    match error {
        // Who knows what it is.
        ResumeError::Damaged { .. } => failure.help("to begin anew, name a file that is not there"),
        _ => failure.help(anew(path)),
    }
}

fn anew(path: &Path) -> String {
    format!("to begin anew, remove `{}`", path.display())
}

/// Somebody who was stopped here perhaps wants to go on.
fn hint(path: &Path, output: &Output) -> Result<()> {
    if path.exists() {
        let path = path.display();
        output.note(format_args!("`--resume {path}` would go on with a scan that was stopped"))?;
    }
    Ok(())
}

/// `keyward-10.0.0.7-6379.resume`
fn default_name(url: &str) -> String {
    const LONGEST: usize = 80;
    let shown = shown(url);
    let place = shown.split_once("://").map_or(shown.as_str(), |(_, place)| place);
    let plain = |char: char| if char.is_ascii_alphanumeric() || char == '.' { char } else { '-' };
    let name: String = place.trim_matches('/').chars().map(plain).take(LONGEST).collect();
    format!("keyward-{name}.resume")
}

/// Writes the file so that at any instant there is the old one or the new one. It holds a secret, so only
/// its owner can read it. What is there already is replaced only if the scan went on from it.
fn write(path: &Path, replace: bool, text: &str) -> io::Result<PathBuf> {
    const MOST: u32 = 100;
    // A link stays one.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = folder(&target);
    let mut file = tempfile::Builder::new().prefix(".keyward-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    let mut written = path.to_owned();
    if replace {
        file.persist(&target)?;
    } else {
        let mut number = 1;
        while let Err(failed) = file.persist_noclobber(&written) {
            number += 1;
            if failed.error.kind() != ErrorKind::AlreadyExists || number > MOST {
                return Err(failed.error);
            }
            file = failed.file;
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{number}"));
            written = name.into();
        }
    }
    // The name survives a crash, too, where the system can promise that.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(written)
}

fn folder(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// The command that goes on, and whether something in it is hidden.
fn command(url: &str, path: &Path) -> (String, bool) {
    let args = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    again(&args.collect::<Vec<_>>(), url, &path.to_string_lossy())
}

fn again(args: &[String], url: &str, path: &str) -> (String, bool) {
    let mut words = vec!["keyward".to_owned()];
    let mut hidden = false;
    let mut rest = args.iter();
    let mut end = None;
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--resume" => drop(rest.next()),
            arg if arg.starts_with("--resume=") => {}
            "--salt" => {
                hidden |= rest.next().is_some();
                words.extend(["--salt".to_owned(), "…".to_owned()]);
            }
            arg if arg.starts_with("--salt=") => {
                hidden = true;
                words.push("--salt=…".to_owned());
            }
            arg if arg == url && shown(url) != url => {
                hidden = true;
                let bare = shown(url);
                let (scheme, place) = bare.split_once("://").unwrap_or(("", &bare));
                words.push(format!("{scheme}://…@{place}"));
            }
            arg => {
                if arg == "--" {
                    end = end.or(Some(words.len()));
                }
                words.push(quoted(arg));
            }
        }
    }
    let end = end.unwrap_or(words.len());
    words.splice(end..end, ["--resume".to_owned(), quoted(path)]);
    (words.join(" "), hidden)
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_./:=,%@+".contains(char);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", printable(word).replace('\'', r"'\''"))
    }
}

/// As good as the random numbers that the standard library takes for its own hash tables.
fn random() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_to_go_on_is_the_one_that_was_typed() {
        let said = |words: &[&str], url: &str| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            again(&words, url, "a.resume")
        };
        let url = "redis://127.0.0.1:6379";
        assert_eq!(
            said(&["audit", url, "--group", "it's", "--resume", "b"], url).0,
            r"keyward audit redis://127.0.0.1:6379 --group 'it'\''s' --resume a.resume"
        );
        assert_eq!(
            said(&["-q", "audit", "--resume=b", "--", url], url).0,
            "keyward -q audit --resume a.resume -- redis://127.0.0.1:6379"
        );
        let secret = "rediss://ann:hunter2@10.0.0.7:6380/1";
        assert_eq!(
            said(&["audit", "--salt", "s3same", secret], secret),
            ("keyward audit --salt … rediss://…@10.0.0.7:6380/1 --resume a.resume".into(), true)
        );
        assert_eq!(said(&["audit", "--salt=s3same", url], url).0.matches("s3same").count(), 0);
    }

    #[test]
    fn a_file_is_named_after_the_server_and_holds_no_secret_in_its_name() {
        for (url, name) in [
            ("redis://ann:hunter2@10.0.0.7:6379/3", "keyward-10.0.0.7-6379-3.resume"),
            ("redis+unix:///run/redis.sock?password=x", "keyward-run-redis.sock.resume"),
            ("redis+cluster://a:1,b:2", "keyward-a-1-b-2.resume"),
        ] {
            assert_eq!(default_name(url), name);
        }
    }

    #[test]
    fn what_is_there_already_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.resume");
        assert_eq!(write(&path, false, "1").unwrap(), path);
        let second = write(&path, false, "2").unwrap();
        assert_eq!(second, folder.path().join("a.resume.2"));
        assert_eq!(write(&path, true, "3").unwrap(), path);
        assert_eq!(fs::read_to_string(&path).unwrap(), "3");
        assert_eq!(fs::read_to_string(&second).unwrap(), "2");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
