//! `keyward report`: show, merge and compare reports of audits.

use super::audit::{self, Places};
use crate::args::{
    AuditForm, FailOn, ListFormat, ReportCommand, ReportDiff, ReportFiles, ReportShow, Reports,
};
use crate::failure::{Failure, Result};
use crate::files;
use crate::output::Output;
use crate::verdict::Verdict;
use keyward_audit::render::{self, Shown};
use keyward_audit::report::VERSION;
use keyward_audit::{DEFAULT_TOLERANCE, MergeError, Report, difference, merge};
use std::path::{Path, PathBuf};

/// The largest report that is read.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

pub(crate) fn run(command: &ReportCommand, output: &Output) -> Result<Verdict> {
    match command {
        ReportCommand::Show(args) => show(args, output),
        ReportCommand::Html(files) => html(files, output),
        ReportCommand::Merge(files) => merged(files, output),
        ReportCommand::Diff(args) => diff(args, output),
    }
}

fn show(args: &ReportShow, output: &Output) -> Result<Verdict> {
    let AuditForm { out, html, .. } = &args.form;
    args.reports.keep_apart(&[("--out", out.as_deref()), ("--html", html.as_deref())])?;
    let report = one(&args.reports)?;
    audit::write(&report, &args.form, &Places::default(), output)?;
    Ok(audit::verdict(&report, FailOn::Warning))
}

fn html(files: &ReportFiles, output: &Output) -> Result<Verdict> {
    files.reports.keep_apart(&[("--out", files.out.as_deref())])?;
    let page = render::html(&one(&files.reports)?);
    put(files.out.as_deref(), &page, output)?;
    Ok(Verdict::Clean)
}

fn merged(files: &ReportFiles, output: &Output) -> Result<Verdict> {
    files.reports.keep_apart(&[("--out", files.out.as_deref())])?;
    let report = one(&files.reports)?;
    put(files.out.as_deref(), &audit::json(&report)?, output)?;
    if report.source.complete {
        return Ok(Verdict::Clean);
    }
    output
        .note("warning: some of the reports are incomplete, so the merged report is incomplete")?;
    Ok(Verdict::Incomplete)
}

fn diff(args: &ReportDiff, output: &Output) -> Result<Verdict> {
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let found = difference(&before, &after, args.tolerance.unwrap_or(DEFAULT_TOLERANCE));
    match args.format {
        ListFormat::Full => output.print(render::difference(&found, output.style(), Shown::Top))?,
        ListFormat::Json => {
            let document = serde_json::to_string_pretty(&found)
                .map_err(|error| Failure::new(format!("cannot write JSON: {error}")))?;
            output.print(format_args!("{document}\n"))?;
        }
    }
    let complete = before.source.complete && after.source.complete;
    Ok(if complete || found.is_worse() {
        Verdict::of(found.is_worse())
    } else {
        Verdict::Incomplete
    })
}

fn put(path: Option<&Path>, content: &str, output: &Output) -> Result<()> {
    match path {
        None => output.print(content)?,
        Some(path) => {
            files::put(path, content)?;
            output.note(format_args!("wrote {}", path.display()))?;
        }
    }
    Ok(())
}

impl Reports {
    /// Refuses to overwrite a report that is to be read.
    fn keep_apart(&self, outputs: &[(&str, Option<&Path>)]) -> Result<()> {
        files::keep_apart(self.paths.iter().map(PathBuf::as_path), outputs)
    }
}

/// One report, or several merged.
fn one(reports: &Reports) -> Result<Report> {
    let mut reports = reports.paths.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    if reports.len() == 1 {
        return Ok(reports.remove(0));
    }
    merge(reports).map_err(|error| {
        let help = match error {
            MergeError::SameServer { .. } => {
                "merge one report of each server; `report diff` compares two"
            }
            _ => "audit all shards with the same schemas and options",
        };
        Failure::new(format!("the reports cannot be merged: {error}")).help(help)
    })
}

/// Reads a report.
pub(super) fn read(path: &Path) -> Result<Report> {
    let text = files::read_stream(path, MAX_BYTES)?;
    // Editors on Windows begin a file with it.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let shown = path.display();
    let no_report = |why: String| {
        Failure::new(format!("`{shown}` is not a report: {why}"))
            .help("`keyward audit SOURCE --format json --out FILE` writes one")
    };
    let document: serde_json::Value =
        serde_json::from_slice(text).map_err(|error| no_report(error.to_string()))?;
    match document.get("version").and_then(serde_json::Value::as_u64) {
        Some(version) if version == u64::from(VERSION) => {}
        Some(version) => {
            return Err(Failure::new(format!(
                "`{shown}` is a report of version {version}, but this program reads version {VERSION}"
            ))
            .help("audit the source again with this program"));
        }
        None => return Err(no_report("it has no `version`".to_owned())),
    }
    let report: Report =
        serde_json::from_value(document).map_err(|error| no_report(error.to_string()))?;
    report.check().map_err(no_report)?;
    Ok(report)
}
