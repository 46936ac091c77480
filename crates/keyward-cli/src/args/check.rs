//! `check`

use clap::{Args as ClapArgs, ValueEnum, ValueHint};
use keyward_schema::model::RuleSet;
use std::path::PathBuf;

/// Prove that a schema is sound, and check it against the rules
///
/// Sound means: every key belongs to exactly one definition, parses back to the values it was built from,
/// and no value can build a key of another definition. With several schemas, `check` also proves that they
/// share no key.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward check                              keyward.toml in this folder or a parent
  keyward check shop.toml billing.toml       each one, and that they share no key
  keyward check --set strict                 all rules
  keyward check --fail-on error              report warnings, but fail on errors only
  keyward check --format github              annotations for GitHub Actions
  KEYWARD_TODAY=2026-12-31 keyward check     check as if it were that day

Exit codes: 0 clean; 1 findings; 2 a schema cannot be read or declares no keys")]
pub(crate) struct Check {
    /// Schema files
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Output format; does not change the exit code
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: ReportFormat,
    /// Use this rule set instead of the one in the schema
    #[arg(long, value_name = "SET")]
    pub(crate) set: Option<Set>,
    #[command(flatten)]
    pub(crate) fail: Fail,
}

/// Which findings fail.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct Fail {
    /// The lowest severity that exits with 1; with `error`, warnings are reported and exit with 0
    #[arg(long = "fail-on", value_name = "SEVERITY", default_value = "warning")]
    pub(crate) on: FailOn,
}

/// The least severity that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Errors only
    Error,
    /// Warnings and errors
    Warning,
}

impl FailOn {
    /// Whether a finding fails; `is_error` says whether it is more than a warning.
    pub(crate) fn fails(self, is_error: bool) -> bool {
        is_error || self == FailOn::Warning
    }
}

/// How findings are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// With the lines of the schema, for people
    Full,
    /// One line per finding
    Concise,
    /// One JSON document
    Json,
    /// One JSON object per line
    Jsonl,
    /// Annotations for GitHub Actions
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

impl ReportFormat {
    /// Whether a program reads it, and needs a document whatever happens.
    pub(crate) fn is_for_programs(self) -> bool {
        !matches!(self, ReportFormat::Full | ReportFormat::Concise)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Set {
    /// Rules that every keyspace must keep
    Minimal,
    /// Rules that almost every team wants
    Recommended,
    /// All rules except opt-in ones
    Strict,
}

impl From<Set> for RuleSet {
    fn from(set: Set) -> Self {
        match set {
            Set::Minimal => RuleSet::Minimal,
            Set::Recommended => RuleSet::Recommended,
            Set::Strict => RuleSet::Strict,
        }
    }
}
