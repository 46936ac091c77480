//! `audit`

use super::{Fail, Live, Prefix, Selection};
use clap::{Args as ClapArgs, ValueEnum, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

/// Audit a server or a snapshot against the schema
///
/// Reports how many keys and bytes each definition has, how long its keys live, and what differs from the
/// schema: unknown keys, missing TTLs, wrong types, invalid fields, old names. Without a schema, keys are
/// grouped by their form. Values in keys are masked: `xc:folder:<uuid#a3f9>:listing`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward audit dump.rdb                              against keyward.toml in this folder or a parent
  keyward audit dump.rdb --html audit.html            also write an HTML page
  zcat dump.rdb.gz | keyward audit -                  from standard input; gzip and zstd are recognised
  keyward audit dump.rdb --format json --out audit.json
  keyward audit dump.rdb --baseline audit.json        fail only if something got worse
  keyward audit dump.rdb --format jsonl               every key, for DuckDB or jq
  keyward audit redis://127.0.0.1:6379                a live server, at a pace that spares other clients
  keyward audit redis://10.0.0.7:7000                 any node of a cluster: all shards at once
  keyward audit redis://127.0.0.1 --resume scan       resume where it was stopped

Exit codes: 0 clean; 1 findings; 2 wrong usage, or no keys to judge; 3 the source could not be read to \
its end, values were not read that a declaration needs, or the scan was stopped")]
pub(crate) struct Audit {
    /// The URL of a server (redis://, rediss://, redis+unix://, redis+cluster://, redis+sentinel://), an RDB
    /// file (plain, gzip or zstd), or `-` for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) source: OsString,
    #[command(flatten)]
    pub(crate) form: AuditForm,
    /// Use no schema, even if one is found
    #[arg(long, conflicts_with = "schemas")]
    pub(crate) no_schema: bool,
    /// Compare with this earlier JSON report, and fail only if something got worse
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) baseline: Option<PathBuf>,
    /// Percentage points by which the share of a finding may rise above the baseline
    #[arg(long, value_name = "POINTS", requires = "baseline", value_parser = points)]
    pub(crate) tolerance: Option<f64>,
    #[command(flatten)]
    pub(crate) fail: Fail,
    /// Show keys unmasked, including the values in them
    #[arg(long)]
    pub(crate) show_keys: bool,
    /// Derive masks from this text, so that reports of several shards can be compared [default: random]
    #[arg(long, value_name = "TEXT")]
    pub(crate) salt: Option<String>,
    /// How many of the largest keys to list for each definition
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub(crate) top: u16,
    /// Measure TTLs from this time instead of the time of the snapshot: 2026-11-15T13:30:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) now: Option<u64>,
    #[command(flatten)]
    pub(crate) live: Live,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

/// How an audit is shown.
#[derive(Debug, ClapArgs)]
pub(crate) struct AuditForm {
    /// Output format; does not change the exit code
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: AuditFormat,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Also write an HTML page to this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,
    /// Show long lists in full
    #[arg(long)]
    pub(crate) all: bool,
}

/// How an audit is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditFormat {
    /// Tables and findings, for people
    Full,
    /// One line per finding
    Concise,
    /// One JSON document, which `report` reads
    Json,
    /// Every key, one JSON object per line
    Jsonl,
    /// Every key, one CSV row each
    Csv,
    /// Annotations for GitHub Actions
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// An HTML page
    Html,
}

pub(super) fn points(text: &str) -> Result<f64, String> {
    let points = text.trim_end_matches('%').trim().parse::<f64>().ok();
    points
        .filter(|points| (0.0..=100.0).contains(points))
        .ok_or_else(|| "write it as `0.5`: percentage points from 0 to 100".to_owned())
}

fn moment(text: &str) -> Result<u64, String> {
    keyward_audit::parse_rfc3339(text)
        .ok_or_else(|| "write it as `2026-11-15T13:30:00Z`".to_owned())
}
