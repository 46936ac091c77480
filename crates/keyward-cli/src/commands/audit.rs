//! `keyward audit`: measure a keyspace against its schema.

mod list;
mod live;
mod progress;
mod resume;
mod show;
mod source;

pub(super) use live::options as live_options;
pub(super) use progress::{Progress, Watch};
use resume::Session;
pub(super) use show::{json, write};
pub(super) use source::{refuse_server, refused as refused_file};

use super::key::bound;
use super::report::read;
use crate::args::{Audit as Args, AuditForm, AuditFormat, Connect, FailOn, Live, Selection};
use crate::failure::{Failure, Result};
use crate::files;
use crate::output::Output;
use crate::report::location;
use crate::schemas::Schemas;
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_audit::render::{self, Shown, summary};
use keyward_audit::report::{Change, Finding, Severity, SourceKind};
use keyward_audit::{
    Audit, DEFAULT_TOLERANCE, Options, ReadOptions, Report, Salt, Subject, compare, fingerprint,
};
use keyward_fact::thousands;
use keyward_rdb::Reader;
use keyward_rules::exchange::Location;
use keyward_schema::Schema;
use keyward_schema::model::Definition;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn run(args: &Args, settings: &Settings, output: &Output) -> Result<Verdict> {
    let start = Instant::now();
    let places = Places::open(args, settings)?;
    keep_apart(args, &places, settings)?;
    let session = Session::open(args, &places, settings, output)?;
    let audit = prepare(args, &places, &session, output)?;
    let baseline = args.baseline.as_deref().map(read).transpose()?;
    for path in args.form.out.iter().chain(&args.form.html) {
        files::check_writable(path)?;
    }
    let list = match args.form.format {
        AuditFormat::Jsonl => Some(list::List::json(args.form.out.as_deref())?),
        AuditFormat::Csv => Some(list::List::csv(args.form.out.as_deref())?),
        _ => None,
    };
    let mut report = source::read(&audit, args, settings, &session, (list.as_ref(), output))?;
    refuse_nothing(&report, args)?;
    if let (Some(baseline), Some(path)) = (&baseline, &args.baseline) {
        let tolerance = args.tolerance.unwrap_or(DEFAULT_TOLERANCE);
        compare(&mut report, baseline, &path.display().to_string(), tolerance);
    }
    match list {
        Some(list) => {
            list.finish()?;
            for shard in report.source.shards.iter().filter(|shard| shard.again) {
                output.note(format_args!(
                    "`{}` was read from its beginning after a failover: some keys may be listed twice",
                    shard.name
                ))?;
            }
            show::page(&report, args.form.html.as_deref())?;
            output.note(summary(&report, output.style()))?;
        }
        None => write(&report, &args.form, &places, output)?,
    }
    session.finish(output)?;
    output.detail(format_args!("audited in {} ms", start.elapsed().as_millis()))?;
    Ok(verdict(&report, args.fail.on))
}

/// Refuses to overwrite what is read.
fn keep_apart(args: &Args, places: &Places, settings: &Settings) -> Result<()> {
    let source = match args.source.as_os_str() {
        source if source == "-" => Path::new("/dev/stdin"),
        source => Path::new(source),
    };
    let Live { resume, connect, .. } = &args.live;
    let Connect { password_file, tls_ca, tls_cert, tls_key, .. } = connect;
    let named = [&args.baseline, password_file, tls_ca, tls_cert, tls_key];
    let named = named.into_iter().flatten().chain(settings.named());
    let read = places.schemas.sources.iter().map(|(_, source)| source.path.as_path());
    let inputs = read.chain(named.map(PathBuf::as_path)).chain([source]);
    let AuditForm { out, html, .. } = &args.form;
    let outputs = [("--out", out), ("--html", html), ("--resume", resume)];
    files::keep_apart(inputs, &outputs.map(|(name, path)| (name, path.as_deref())))
}

/// What the exit code says: with a baseline, whether something got worse; else, whether something is wrong.
pub(crate) fn verdict(report: &Report, fail_on: FailOn) -> Verdict {
    if !report.source.complete {
        return Verdict::Incomplete;
    }
    let worse = |finding: &Finding| {
        report.baseline.is_none() || finding.change.as_ref().is_some_and(Change::is_worse)
    };
    let fails = |finding: &Finding| fail_on.fails(finding.severity == Severity::Error);
    Verdict::of(report.findings.iter().any(|finding| worse(finding) && fails(finding)))
}

/// Nothing is measured where there are no keys, which must not look like a pass.
fn refuse_nothing(report: &Report, args: &Args) -> Result<()> {
    let shards = &report.source.shards;
    // What is incomplete fails with a code of its own.
    if shards.iter().any(|shard| shard.keys_seen > 0) || !report.source.complete {
        return Ok(());
    }
    let name = &report.source.name;
    let place = match args.live.db.filter(|_| report.source.kind != SourceKind::Rdb) {
        Some(db) => format!("database {db} of `{name}`"),
        None => format!("`{name}`"),
    };
    let there: u64 = shards.iter().filter_map(|shard| shard.dbsize).fold(0, u64::saturating_add);
    let failure = |why: String| Failure::new(format!("no keys were audited: {why}"));
    Err(match &report.source.sample {
        _ if there == 0 && args.live.db.is_some() => {
            failure(format!("{place} has no keys")).help("without `--db`, all databases are read")
        }
        _ if there == 0 => failure(format!("{place} has no keys")),
        Some(sample) => failure(format!(
            "a sample of {} % contains none of the {} in {place}",
            sample.percent,
            keys(there)
        ))
        .help("take a larger sample"),
        None => match &args.live.matching {
            Some(glob) if !report.source.keys_unread => {
                failure(format!("no key of {place} matches `{glob}`")).help(format!(
                    "the glob must match the whole key, as in SCAN MATCH: `{}` has {}",
                    name,
                    keys(there)
                ))
            }
            _ if !args.prefix.bindings.is_empty() && !report.source.keys_unread => {
                let bindings = args.prefix.bindings.iter();
                let bindings = bindings.map(|it| format!("`{}={}`", it.param, it.value));
                let bindings = bindings.collect::<Vec<_>>().join(", ");
                failure(format!("no key of {place} has {bindings}"))
            }
            _ => failure(format!("none of the {} in {place} could be read", keys(there))),
        },
    })
}

fn keys(count: u64) -> String {
    if count == 1 { "1 key".to_owned() } else { format!("{} keys", thousands(count)) }
}

/// The report of a snapshot in memory, the same in every run.
pub(super) fn sample(schema: Schema, snapshot: &[u8], settings: &Settings) -> Result<Report> {
    let options = Options { salt: Salt::of("demo"), today: settings.today, ..Options::default() };
    let audit = Arc::new(Audit::new(vec![Subject::new(schema)], &options));
    let reading = ReadOptions { now: settings.now, ..ReadOptions::default() };
    audit
        .read(Reader::from_slice(snapshot), "dump.rdb", reading)
        .map_err(|error| Failure::incomplete(format!("the sample cannot be read: {error}")))
}

/// A report as text for people.
pub(super) fn text(report: &Report, output: &Output) -> String {
    let style = output.style();
    format!("{}{}", render::terminal(report, style, Shown::Top), summary(report, style))
}

/// The schemas, which findings about definitions point into.
#[derive(Debug, Default)]
pub(crate) struct Places {
    schemas: Schemas,
}

impl Places {
    fn open(args: &Args, settings: &Settings) -> Result<Self> {
        if args.no_schema {
            return Ok(Places::default());
        }
        let paths = match settings.schemas(&[]) {
            Ok(paths) => paths,
            Err(_) if settings.named().is_empty() => return Ok(Places::default()),
            Err(failure) => return Err(failure),
        };
        Ok(Places { schemas: Schemas::open(paths) })
    }

    /// Schemas that all must be readable.
    pub(super) fn of_schemas(paths: Vec<PathBuf>, output: &Output) -> Result<Self> {
        let schemas = Schemas::open(paths);
        schemas.check_readable(output)?;
        Ok(Places { schemas })
    }

    /// The schemas that could be read.
    pub(super) fn schemas(&self) -> impl Iterator<Item = &Schema> {
        self.schemas.readable().map(|(_, schema)| schema)
    }

    /// Tells the texts of the schemas from others.
    fn fingerprint(&self) -> String {
        fingerprint(self.schemas.sources.iter().map(|(_, source)| source.text.as_str()))
    }

    /// The location of the definition that a finding is about.
    pub(super) fn of(&self, finding: &Finding) -> Option<Location> {
        let (schema, definition) = (finding.schema.as_ref()?, finding.definition.as_ref()?);
        let (_, schema) =
            self.schemas.readable().find(|(_, it)| it.keyspace.name.value == *schema)?;
        let definition = schema.keys.iter().find(|it| it.name.value == *definition)?;
        Some(location(&self.schemas.sources, &definition.name.span, ""))
    }
}

fn prepare(args: &Args, places: &Places, session: &Session, output: &Output) -> Result<Arc<Audit>> {
    places.schemas.check_readable(output)?;
    let schemas: Vec<_> = places.schemas.readable().map(|(_, schema)| schema.clone()).collect();
    let paths = places.schemas.readable().map(|(opened, _)| opened.path.display().to_string());
    let keyspaces = bound(&schemas, &args.prefix.bindings)?;
    args.selection.check(&schemas)?;
    let takes = |definition: &Definition| args.selection.takes(definition);
    let options = Options {
        salt: session.salt,
        show_keys: args.show_keys,
        top: args.top.into(),
        today: session.today,
        schemas: places.fingerprint(),
        narrowed: bound_to(args),
        select: is_selective(&args.selection).then_some(&takes),
    };
    let subjects = schemas.into_iter().zip(keyspaces).zip(paths);
    let subjects =
        subjects.map(|((schema, keyspace), path)| Subject { schema, keyspace, path: Some(path) });
    Ok(Arc::new(Audit::new(subjects.collect(), &options)))
}

/// Which keys are read, where values of the prefix are given.
fn bound_to(args: &Args) -> Option<String> {
    let bindings = args.prefix.bindings.iter().map(|it| format!("`{}={}`", it.param, it.value));
    let bindings: Vec<String> = bindings.collect();
    (!bindings.is_empty()).then(|| format!("only keys with {} were audited", bindings.join(", ")))
}

fn is_selective(selection: &Selection) -> bool {
    !(selection.groups.is_empty() && selection.lifecycles.is_empty() && selection.owners.is_empty())
}
