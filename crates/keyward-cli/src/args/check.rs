//! `check`

use clap::{Args as ClapArgs, ValueEnum, ValueHint};
use keyward_schema::model::RuleSet;
use std::path::PathBuf;

/// Prove a schema sound, and judge it by the rules
///
/// Every key belongs to one definition, reads back as it was built, and cannot be reached by another
/// definition's values. Given several schemas, it also proves that they do not meet.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward check                              keyward.toml, here or above
  keyward check shop.toml billing.toml       each, and that they share no key
  keyward check --set strict                 all rules
  keyward check --fail-on error              warnings are reported and do not fail
  keyward check --format github              annotations for GitHub Actions
  KEYWARD_TODAY=2026-12-31 keyward check     as it will be judged on that day

Exit codes: 0 clean, 1 findings, 2 a schema that cannot be read or declares nothing")]
pub(crate) struct Check {
    /// Schema files
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) paths: Vec<PathBuf>,
    /// How to report; never changes the exit code
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: ReportFormat,
    /// The rule set, in place of the one that the schema names
    #[arg(long, value_name = "SET")]
    pub(crate) set: Option<Set>,
    #[command(flatten)]
    pub(crate) fail: Fail,
}

/// Which findings fail.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct Fail {
    /// Exit with 1 from this severity on; `error` reports warnings and exits with 0
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
    /// One line a finding
    Concise,
    /// One document
    Json,
    /// One object a line
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
    /// What no keyspace can do without
    Minimal,
    /// What almost everyone wants
    Recommended,
    /// Everything
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
