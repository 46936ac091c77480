//! `report`

use super::ListFormat;
use super::audit::{AuditForm, points};
use clap::{Args as ClapArgs, Subcommand, ValueHint};
use std::path::PathBuf;

/// Show, merge and compare audit reports
#[derive(Debug, ClapArgs)]
#[command(arg_required_else_help = true)]
pub(crate) struct Report {
    #[command(subcommand)]
    pub(crate) command: ReportCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    Show(ReportShow),
    /// Write the HTML page of a report, or of several merged ones
    #[command(after_help = "\
Examples:
  keyward report html audit.json --out audit.html")]
    Html(ReportFiles),
    /// Merge the reports of shards into one
    ///
    /// The result equals that of a single audit of all shards, in any order. References between shards and
    /// names of undeclared keys are compared only if all shards were audited with the same `--salt`.
    #[command(after_help = "\
Examples:
  keyward report merge shard-1.json shard-2.json --out all.json")]
    Merge(ReportFiles),
    Diff(ReportDiff),
}

/// Show a report, or several merged into one
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward report show audit.json
  keyward report show shard-*.json")]
pub(crate) struct ReportShow {
    #[command(flatten)]
    pub(crate) reports: Reports,
    #[command(flatten)]
    pub(crate) form: AuditForm,
}

/// Reports, and where to write the result.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReportFiles {
    #[command(flatten)]
    pub(crate) reports: Reports,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
}

/// Reports that are read as one.
#[derive(Debug, ClapArgs)]
pub(crate) struct Reports {
    /// Reports in JSON
    #[arg(id = "reports", value_name = "REPORT", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) paths: Vec<PathBuf>,
}

/// Compare two reports
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward report diff yesterday.json today.json

Exit codes: 0 nothing got worse; 1 something got worse; 2 a report cannot be read")]
pub(crate) struct ReportDiff {
    /// The earlier report in JSON
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) before: PathBuf,
    /// The later report in JSON
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) after: PathBuf,
    /// Percentage points by which the share of a finding may rise
    #[arg(long, value_name = "POINTS", value_parser = points)]
    pub(crate) tolerance: Option<f64>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: ListFormat,
}
