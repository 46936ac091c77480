//! `keyward check`: prove schemas sound and judge them by the rules.

use crate::args::Check;
use crate::failure::Result;
use crate::output::Output;
use crate::report::{Report, Subject, Ticked};
use crate::schemas::Schemas;
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_rules::{Options, checklist};
use keyward_schema::model::{Date, Schema};
use keyward_schema::{Diagnostic, Sources};
use std::time::Instant;

pub(crate) fn run(args: &Check, settings: &Settings, output: &Output) -> Result<Verdict> {
    let start = Instant::now();
    let paths = match settings.schemas(&args.paths) {
        Ok(paths) => paths,
        Err(nothing) if args.format.is_for_programs() => {
            let sources = Sources::default();
            let report = Report::new(&sources, vec![nothing.finding()], Subject::default());
            report.write(args.format, output)?;
            return Ok(report.verdict(args.fail.on));
        }
        Err(nothing) => return Err(nothing),
    };
    let mut schemas = Schemas::open(paths);
    if let Some(set) = args.set {
        schemas.override_set(set.into());
    }
    let report = judge(&schemas, settings.today);
    report.write(args.format, output)?;
    for (_, source) in schemas.sources.iter() {
        output.detail(format_args!("read {}", source.path.display()))?;
    }
    output.detail(format_args!("checked in {} ms", start.elapsed().as_millis()))?;
    Ok(report.verdict(args.fail.on))
}

/// Everything that the reader, the rules and the comparison of schemas have to say.
pub(super) fn judge(schemas: &Schemas, today: Date) -> Report<'_> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    let mut subject = Subject { schemas: schemas.each.len(), ..Subject::default() };
    let readable: Vec<&Schema> = schemas.readable().map(|(_, schema)| schema).collect();
    subject.definitions = readable.iter().map(|schema| schema.keys.len()).sum();
    subject.events = readable.iter().map(|schema| schema.events.len()).sum();
    findings.extend(
        schemas.each.iter().filter_map(|opened| opened.schema.as_ref().err()).flatten().cloned(),
    );
    findings.extend(keyward_rules::check_all(&readable, &Options { today }));
    if subject.definitions == 0
        && let Some(schema) = readable.first()
    {
        findings.push(nothing_declared(schema));
    }
    let ticks = readable.iter().flat_map(|schema| checklist(schema, &Options { today }));
    let mut report = Report::new(&schemas.sources, findings, subject);
    report.checklist = ticks.map(|tick| Ticked::new(&tick)).collect();
    report
}

/// Nothing is proved about no keys, which must not look like a pass.
fn nothing_declared(schema: &Schema) -> Diagnostic {
    let message = "nothing was checked: the schema declares no keys";
    Diagnostic::schema(message, schema.keyspace.name.span.clone(), "")
        .help("declare the first: `[keys.NAME]` with a `pattern`")
}
