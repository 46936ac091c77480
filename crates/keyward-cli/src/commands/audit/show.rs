//! A report in the form that was asked for.

use super::Places;
use crate::args::{AuditForm, AuditFormat};
use crate::failure::{Failure, Result};
use crate::files;
use crate::output::Output;
use keyward_audit::Report;
use keyward_audit::render::{self, Shown};
use keyward_audit::report::Finding;
use std::path::Path;

/// Writes a report to where it was asked for. In the formats for people and logs the last line sums up.
pub(crate) fn write(
    report: &Report,
    form: &AuditForm,
    places: &Places,
    output: &Output,
) -> Result<()> {
    page(report, form.html.as_deref())?;
    let content = rendered(report, form, places, output)?;
    match &form.out {
        Some(path) => {
            files::put(path, &content)?;
            output.note(format_args!("wrote {}", path.display()))?;
        }
        None => output.print(content)?,
    }
    match form.format {
        AuditFormat::Full if form.out.is_none() => {
            output.summary(render::summary(report, output.style()))?;
        }
        AuditFormat::Full | AuditFormat::Concise | AuditFormat::Github => {
            output.note(render::summary(report, output.style()))?;
        }
        _ => {}
    }
    Ok(())
}

/// Writes the page for a browser, if it was asked for.
pub(super) fn page(report: &Report, path: Option<&Path>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    files::put(path, &render::html(report))
}

fn rendered(report: &Report, form: &AuditForm, places: &Places, output: &Output) -> Result<String> {
    let location = |finding: &Finding| places.of(finding);
    let shown = if form.all { Shown::All } else { Shown::Top };
    Ok(match form.format {
        AuditFormat::Full => render::terminal(report, output.style(), shown) + "\n",
        AuditFormat::Concise => render::concise(report),
        AuditFormat::Json => json(report)?,
        AuditFormat::Html => render::html(report),
        AuditFormat::Github => render::github(report, &location),
        AuditFormat::Sarif => render::sarif(report, &location),
        AuditFormat::Jsonl | AuditFormat::Csv => {
            let failure = Failure::new("a report does not contain every key");
            return Err(failure.help("audit the source again with this format"));
        }
    })
}

/// The document that `report` reads.
pub(crate) fn json(report: &Report) -> Result<String> {
    let document = report.to_json();
    let document = document.map_err(|error| Failure::new(format!("cannot write JSON: {error}")))?;
    Ok(document + "\n")
}
