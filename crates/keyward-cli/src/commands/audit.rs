//! `keyward audit`: measure a keyspace against its schema.

mod list;
mod progress;
mod show;
mod source;
mod text;

pub(super) use show::{html, json, write};
pub(super) use text::difference;

use super::key::bound;
use super::report::read;
use crate::args::{Audit as Args, AuditFormat, Selection};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::schemas::Schemas;
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_audit::{Audit, DEFAULT_TOLERANCE, Options, Report, Salt, Subject, compare};
use keyward_schema::model::Definition;
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn run(args: &Args, settings: &Settings, output: &Output) -> Result<Verdict> {
    let start = Instant::now();
    let places = Places::open(args, settings)?;
    let audit = prepare(args, &places, settings, output)?;
    let baseline = args.baseline.as_deref().map(read).transpose()?;
    let list = match args.form.format {
        AuditFormat::Jsonl => Some(list::List::json(args.form.out.as_deref())?),
        AuditFormat::Csv => Some(list::List::csv(args.form.out.as_deref())?),
        _ => None,
    };
    let mut report = source::read(&audit, args, settings, list.as_ref())?;
    if let (Some(baseline), Some(path)) = (&baseline, &args.baseline) {
        let tolerance = args.tolerance.unwrap_or(DEFAULT_TOLERANCE);
        compare(&mut report, baseline, &path.display().to_string(), tolerance);
    }
    match list {
        Some(list) => {
            list.finish()?;
            show::page(&report, args.form.html.as_deref())?;
            output.note(text::summary(&report))?;
        }
        None => write(&report, &args.form, &places, output)?,
    }
    output.detail(format_args!("audited in {} ms", start.elapsed().as_millis()))?;
    verdict(&report)
}

/// What the exit code says: with a baseline, whether something got worse; else, whether something is wrong.
pub(crate) fn verdict(report: &Report) -> Result<Verdict> {
    if !report.source.complete {
        return Ok(Verdict::Incomplete);
    }
    let nothing_seen = report.source.shards.iter().all(|shard| shard.keys_seen == 0);
    if nothing_seen {
        return Err(Failure::new(format!(
            "nothing was judged: `{}` has no keys",
            report.source.name
        )));
    }
    Ok(match &report.baseline {
        Some(baseline) => Verdict::of(baseline.worse > 0),
        None => Verdict::of(!report.findings.is_empty()),
    })
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
}

fn prepare(
    args: &Args,
    places: &Places,
    settings: &Settings,
    output: &Output,
) -> Result<Arc<Audit>> {
    places.schemas.check_readable(output)?;
    let schemas: Vec<_> = places.schemas.readable().map(|(_, schema)| schema.clone()).collect();
    let paths = places.schemas.readable().map(|(opened, _)| opened.path.display().to_string());
    let keyspaces = bound(&schemas, &args.prefix.bindings)?;
    args.selection.check(&schemas)?;
    let takes = |definition: &Definition| args.selection.takes(definition);
    let options = Options {
        salt: args.salt.as_deref().map_or_else(Salt::random, Salt::of),
        show_keys: args.show_keys,
        top: args.top.into(),
        today: settings.today,
        select: is_selective(&args.selection).then_some(&takes),
    };
    let subjects = schemas.into_iter().zip(keyspaces).zip(paths);
    let subjects =
        subjects.map(|((schema, keyspace), path)| Subject { schema, keyspace, path: Some(path) });
    Ok(Arc::new(Audit::new(subjects.collect(), &options)))
}

fn is_selective(selection: &Selection) -> bool {
    !(selection.groups.is_empty() && selection.lifecycles.is_empty() && selection.owners.is_empty())
}
