//! A first look, and a first schema.

use clap::{Args as ClapArgs, ValueHint};
use std::path::PathBuf;

/// A tour on sample data, no server needed
///
/// Checks a real convention, builds and parses its keys, and audits a sample of them in which some things
/// have gone wrong.
#[derive(Debug, ClapArgs)]
pub(crate) struct Demo {
    /// The folder for the sample and its report [default: keyward-demo, among temporary files]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
}

/// Write a commented `keyward.toml` to start from
///
/// Beside it comes `keyward.schema.json`, by which an editor completes and checks the file.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward init              keyward.toml in this folder
  keyward init services/shop")]
pub(crate) struct Init {
    /// The folder; it is made if it does not exist
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Overwrite files that are there already
    #[arg(long)]
    pub(crate) force: bool,
}
