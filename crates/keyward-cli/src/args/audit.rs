//! `audit`

use super::{Fail, Live, Prefix, Selection};
use clap::{Args as ClapArgs, ValueEnum, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

/// Measure a keyspace against its schema
///
/// Says which definition owns how many keys and bytes, how long they live, and what is not as declared:
/// unknown keys, missing TTLs, wrong types, bad fields, former names. Without a schema it groups keys by
/// what they look like. Values in keys are masked: `xc:folder:<uuid#a3f9>:listing`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward audit dump.rdb                              against keyward.toml, here or above
  keyward audit dump.rdb --html audit.html            and a page for a browser
  zcat dump.rdb.gz | keyward audit -                  from standard input; gzip and zstd are recognised
  keyward audit dump.rdb --format json --out audit.json
  keyward audit dump.rdb --baseline audit.json        fails only if something got worse
  keyward audit dump.rdb --format jsonl               every key, for DuckDB and friends
  keyward audit redis://127.0.0.1:6379                a server that is running, gently
  keyward audit redis://10.0.0.7:7000                 any node of a cluster: every shard at once
  keyward audit redis://127.0.0.1 --resume scan       goes on where it was stopped

Exit codes: 0 clean, 1 findings, 2 wrong usage or nothing to judge, 3 a source that cannot be read to \
its end, or a scan that was stopped")]
pub(crate) struct Audit {
    /// A server's URL (redis://, rediss://, redis+unix://, redis+cluster://, redis+sentinel://), an RDB
    /// file, also compressed with gzip or zstd, or `-` for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) source: OsString,
    #[command(flatten)]
    pub(crate) form: AuditForm,
    /// Hold keys against no schema, even if there is one
    #[arg(long, conflicts_with = "schemas")]
    pub(crate) no_schema: bool,
    /// An earlier report in JSON; only what got worse fails
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) baseline: Option<PathBuf>,
    /// By how many percentage points a finding's share may rise against the baseline
    #[arg(long, value_name = "POINTS", requires = "baseline", value_parser = points)]
    pub(crate) tolerance: Option<f64>,
    #[command(flatten)]
    pub(crate) fail: Fail,
    /// Show keys as they are, values included
    #[arg(long)]
    pub(crate) show_keys: bool,
    /// Mask keys by this text, so that reports of several shards can be compared [default: random]
    #[arg(long, value_name = "TEXT")]
    pub(crate) salt: Option<String>,
    /// How many of the biggest keys to list for each definition
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub(crate) top: u16,
    /// Count TTLs from this moment rather than from when the snapshot was taken: 2026-11-15T13:30:00Z
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
    /// How to report; never changes the exit code
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: AuditFormat,
    /// Write to this file rather than to standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Also write a page for a browser
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,
    /// Do not cut long lists
    #[arg(long)]
    pub(crate) all: bool,
}

/// How an audit is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditFormat {
    /// Tables and findings, for people
    Full,
    /// One line a finding
    Concise,
    /// One document, which `report` reads
    Json,
    /// Every key, one object a line
    Jsonl,
    /// Every key, one row each
    Csv,
    /// Annotations for GitHub Actions
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// A page for a browser
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
