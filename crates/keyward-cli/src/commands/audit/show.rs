//! A report in the form that was asked for.

use super::{Places, text};
use crate::args::{AuditForm, AuditFormat};
use crate::failure::{Failure, Result};
use crate::output::Output;
use keyward_audit::Report;
use std::fs;
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
            fs::write(path, content).map_err(|error| Failure::file("write", path, &error))?;
            output.note(format_args!("wrote {}", path.display()))?;
        }
        None => output.print(content)?,
    }
    match form.format {
        AuditFormat::Full if form.out.is_none() => output.summary(text::summary(report))?,
        AuditFormat::Full | AuditFormat::Concise | AuditFormat::Github => {
            output.note(text::summary(report))?;
        }
        _ => {}
    }
    Ok(())
}

/// Writes the page for a browser, if it was asked for.
pub(super) fn page(report: &Report, path: Option<&Path>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    fs::write(path, html(report)?).map_err(|error| Failure::file("write", path, &error))
}

fn rendered(
    report: &Report,
    form: &AuditForm,
    _places: &Places,
    output: &Output,
) -> Result<String> {
    match form.format {
        AuditFormat::Full => Ok(text::full(report, output.style(), form.all)),
        AuditFormat::Concise => Ok(text::concise(report)),
        AuditFormat::Json => Ok(json(report)),
        AuditFormat::Html => html(report),
        AuditFormat::Jsonl | AuditFormat::Csv => {
            Err(Failure::new("a report does not list every key").help("audit the source again"))
        }
        AuditFormat::Github | AuditFormat::Sarif => {
            Err(Failure::new("this format is not there yet").help("use `--format json`"))
        }
    }
}

/// The document that `report` reads.
pub(crate) fn json(report: &Report) -> String {
    let document = serde_json::to_string_pretty(report).unwrap_or_default();
    format!("{document}\n")
}

/// The page for a browser.
pub(crate) fn html(_report: &Report) -> Result<String> {
    Err(Failure::new("the page is not there yet").help("use `--format full` or `--format json`"))
}
