//! `keyward check`: prove schemas sound and judge them by the rules.

use crate::args::Check;
use crate::failure::Result;
use crate::output::Output;
use crate::report::{Report, Subject};
use crate::schemas::Schemas;
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_rules::Options;
use keyward_schema::model::{Date, Schema};
use keyward_schema::{Diagnostic, Sources};
use std::time::Instant;

mod across;

pub(crate) fn run(args: &Check, settings: &Settings, output: &Output) -> Result<Verdict> {
    let start = Instant::now();
    let paths = match settings.schemas(&args.paths) {
        Ok(paths) => paths,
        Err(nothing) if args.format.is_for_programs() => {
            let sources = Sources::default();
            let report = Report::new(&sources, vec![nothing.finding()], Subject::default());
            report.write(args.format, output)?;
            return Ok(report.verdict());
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
    Ok(report.verdict())
}

/// Everything that the reader, the rules and the comparison of schemas have to say.
pub(super) fn judge(schemas: &Schemas, today: Date) -> Report<'_> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    let mut subject = Subject { schemas: schemas.each.len(), ..Subject::default() };
    for opened in &schemas.each {
        match &opened.schema {
            Ok(schema) => {
                subject.definitions += schema.keys.len();
                subject.events += schema.events.len();
                let found = keyward_rules::check(schema, &Options { today });
                findings.extend(found.into_iter().map(|finding| opened.place(finding)));
            }
            Err(errors) => findings.extend(errors.iter().cloned()),
        }
    }
    across::add(schemas, &mut findings);
    if subject.definitions == 0
        && let Some((opened, schema)) = schemas.readable().next()
    {
        findings.push(opened.place(nothing_declared(schema)));
    }
    Report::new(&schemas.sources, findings, subject)
}

/// Nothing is proved about no keys, which must not look like a pass.
fn nothing_declared(schema: &Schema) -> Diagnostic {
    let message = "nothing was checked: no keys are declared";
    Diagnostic::schema(message, schema.keyspace.name.span.clone(), "")
        .help("declare the first: `[keys.NAME]` with a `pattern`")
}
