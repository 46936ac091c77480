//! `keyward breaking`: compare schemas with earlier versions of themselves.

mod data;

use crate::args::Breaking;
use crate::failure::{Failure, Result};
use crate::git::Revision;
use crate::output::Output;
use crate::report::{Compared, Report, Subject};
use crate::settings::Settings;
use crate::today;
use crate::verdict::Verdict;
use keyward_rules::{BreakingOptions, Broken, Tier, breaking};
use keyward_schema::{Diagnostic, Loaded, Schema, Sources, load_after, load_from};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// For how many days a change is accepted, unless the team decides otherwise.
const ACCEPTED_FOR: i64 = 30;

pub(crate) fn run(args: &Breaking, settings: &Settings, output: &Output) -> Result<Verdict> {
    let start = Instant::now();
    let paths = match paths(args, settings) {
        Ok(paths) => paths,
        Err(failure) => return refused(&failure, args, output),
    };
    let report = args.data.as_deref().map(super::report::read).transpose()?;
    let mut versions = Versions::default();
    for path in &paths {
        if let Err(failure) = versions.open(path, args) {
            return refused(&failure, args, output);
        }
    }
    let tiers: Vec<Tier> = args.tiers.iter().map(|tier| (*tier).into()).collect();
    let mut findings = versions.errors;
    let mut subject = Subject { schemas: paths.len(), ..Subject::default() };
    let expires = today::later(settings.today, ACCEPTED_FOR);
    let mut compared = Compared { against: args.against.clone(), expires, ..Compared::default() };
    for (old, new) in &versions.pairs {
        let measured = report.as_ref().map(|report| data::measured(report, new, old));
        let options =
            BreakingOptions { today: settings.today, tiers: &tiers, measured: measured.as_ref() };
        let Broken { findings: found, accepted, unstable, .. } = breaking(old, new, &options);
        findings.extend(found);
        compared.accepted += accepted;
        compared.unstable += unstable;
        subject.definitions += new.keys.len().max(old.keys.len());
        subject.events += new.events.len();
    }
    subject.definitions += versions.begun.iter().map(|(_, definitions)| definitions).sum::<usize>();
    let mut report = Report::new(&versions.sources, findings, subject);
    report.compared = Some(compared);
    report.write(args.format, output)?;
    for (path, _) in &versions.begun {
        let path = path.display();
        output.note(format_args!("`{path}` is new since `{}`: it breaks nothing", args.against))?;
    }
    for (_, source) in versions.sources.iter() {
        output.detail(format_args!("read {}", source.path.display()))?;
    }
    output.detail(format_args!("compared in {} ms", start.elapsed().as_millis()))?;
    Ok(report.verdict(args.fail.on))
}

/// The schemas to compare; a file is an earlier version of one of them only.
fn paths(args: &Breaking, settings: &Settings) -> Result<Vec<PathBuf>> {
    let paths = settings.schemas(&args.paths)?;
    if paths.len() > 1 && Path::new(&args.against).is_file() {
        return Err(Failure::new(format!(
            "`{}` cannot be an earlier version of several schemas",
            args.against
        ))
        .help("compare one schema with a file, or several with a revision"));
    }
    Ok(paths)
}

/// Says why nothing was compared, also to programs.
fn refused(failure: &Failure, args: &Breaking, output: &Output) -> Result<Verdict> {
    if !args.format.is_for_programs() {
        failure.tell();
        return Ok(Verdict::Unusable);
    }
    let sources = Sources::default();
    let report = Report::new(&sources, vec![failure.finding()], Subject::default());
    report.write(args.format, output)?;
    Ok(report.verdict(args.fail.on))
}

/// Both versions of each schema, and the files of all of them in one list.
#[derive(Default)]
struct Versions {
    sources: Sources,
    pairs: Vec<(Schema, Schema)>,
    errors: Vec<Diagnostic>,
    /// Schemas that have no earlier version, and how many definitions they have
    begun: Vec<(PathBuf, usize)>,
}

impl Versions {
    /// Reads both versions, whatever is wrong with one of them.
    fn open(&mut self, path: &Path, args: &Breaking) -> Result<()> {
        let Loaded { sources, schema: new } = load_after(std::mem::take(&mut self.sources), path);
        self.sources = sources;
        let Some(Loaded { sources, schema: old }) = self.old(path, &args.against)? else {
            match new {
                Ok(new) => self.begun.push((path.to_owned(), new.keys.len())),
                Err(errors) => self.errors.extend(errors),
            }
            return Ok(());
        };
        self.sources = sources;
        match (old, new) {
            (Ok(old), Ok(new)) => self.pairs.push((old, new)),
            (old, new) => {
                self.errors.extend(new.err().into_iter().flatten());
                let hint =
                    "this is the earlier version: compare with one that this Keyward can read";
                let errors = old.err().into_iter().flatten();
                self.errors.extend(errors.map(|error| error.note(hint)));
            }
        }
        Ok(())
    }

    /// The earlier version: a file of that name, a revision, or a revision and a path; `None` where the schema is new.
    fn old(&mut self, path: &Path, against: &str) -> Result<Option<Loaded>> {
        let file = Path::new(against);
        if file.is_file() {
            return Ok(Some(load_after(std::mem::take(&mut self.sources), file)));
        }
        if file.is_dir() {
            return Err(Failure::new(format!("`{against}` is a folder"))
                .help("name a schema in it, or a revision of git"));
        }
        if file.extension().is_some_and(|end| end == "toml") && !against.contains(':') {
            return Err(Failure::new(format!("there is no file `{against}`"))
                .help("a revision of git does not end in `.toml`"));
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let (name, stored) = match against.split_once(':') {
            Some((name, stored)) => (name, Some(PathBuf::from(stored))),
            None => (against, None),
        };
        let mut revision = Revision::find(name, folder)?;
        let is_named = stored.is_some();
        let Some(stored) = stored.or_else(|| revision.path_of(path)) else {
            return Err(Failure::new(format!("`{}` is outside the repository", path.display()))
                .help("name the earlier version: `--against REV:PATH`"));
        };
        if !is_named && !revision.has(&stored) && !revision.has_lost_schema()? {
            return Ok(None);
        }
        revision.check(&stored)?;
        Ok(Some(load_from(&mut revision, std::mem::take(&mut self.sources), &stored)))
    }
}
