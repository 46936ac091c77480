//! A first look, and a first schema.

use clap::{Args as ClapArgs, ValueHint};
use std::path::PathBuf;

/// Take a tour on sample data; no server needed
///
/// Checks a real key convention, builds and parses keys, and audits a sample snapshot that contains
/// mistakes.
#[derive(Debug, ClapArgs)]
pub(crate) struct Demo {
    /// Write the sample and its report to this folder [default: keyward-demo in the temporary folder]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
}

/// Write a commented `keyward.toml` to start from
///
/// Also writes `keyward.schema.json`, which editors use to complete and check the file.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward init              keyward.toml in this folder
  keyward init services/shop")]
pub(crate) struct Init {
    /// The folder to write to; created if it does not exist
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
}
