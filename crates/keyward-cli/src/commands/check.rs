//! `keyward check`: prove schemas sound and judge them by the rules.

use crate::args::Check;
use crate::failure::Result;
use crate::output::Output;
use crate::report::{Report, Subject};
use crate::schemas::Schemas;
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_rules::Options;
use keyward_schema::Diagnostic;
use keyward_schema::model::Date;
use std::time::Instant;

mod across;

pub(crate) fn run(args: &Check, settings: &Settings, output: &Output) -> Result<Verdict> {
    let start = Instant::now();
    let mut schemas = Schemas::open(settings.schemas(&args.paths)?);
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
    Report { sources: &schemas.sources, findings, subject }
}
