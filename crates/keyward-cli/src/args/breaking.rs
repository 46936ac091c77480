//! `breaking`

use super::{Fail, ReportFormat};
use clap::{Args as ClapArgs, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Compare a schema with an earlier version, and report what the change breaks
///
/// Changes are judged in three tiers. `data`: keys on the server are no longer found, or are found as something
/// else. `code`: generated names, types and commands are others. `ops`: TTLs, memory, slots and ACLs are. Patterns are
/// compared as sets of keys, so that another spelling of the same keys breaks nothing.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward breaking --against main                      the version in a branch, tag or commit
  keyward breaking --against HEAD~1 --tier data        only what keys on the server depend on
  keyward breaking --against main:keys/keyward.toml    a file that has moved since
  keyward breaking --against released.toml             a file
  keyward breaking --against main --data audit.json    with the keys and bytes that each change touches
  keyward breaking --against main --format github      annotations for GitHub Actions

Exit codes: 0 nothing breaks; 1 findings; 2 one of the versions cannot be read")]
pub(crate) struct Breaking {
    /// Schema files
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) paths: Vec<PathBuf>,
    /// The earlier version: a revision of the git repository, a revision and a path (`main:keyward.toml`), or a file
    #[arg(long, value_name = "REV|FILE")]
    pub(crate) against: String,
    /// What may not break; repeat for several [default: all]
    #[arg(long = "tier", value_name = "TIER", value_delimiter = ',')]
    pub(crate) tiers: Vec<Tier>,
    /// A JSON report of `keyward audit`: each change says how many keys and bytes it touches
    #[arg(long, value_name = "REPORT", value_hint = ValueHint::FilePath)]
    pub(crate) data: Option<PathBuf>,
    /// Output format; does not change the exit code
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) fail: Fail,
}

/// What a change breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tier {
    /// Keys on the server are no longer found, or are found as something else
    Data,
    /// Generated names, types and commands
    Code,
    /// TTLs, memory, slots, ACLs
    Ops,
}

impl From<Tier> for keyward_rules::Tier {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::Data => keyward_rules::Tier::Data,
            Tier::Code => keyward_rules::Tier::Code,
            Tier::Ops => keyward_rules::Tier::Ops,
        }
    }
}
