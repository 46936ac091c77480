//! `fmt`

use clap::{Args as ClapArgs, ValueHint};
use std::path::PathBuf;

/// Format schemas, keeping comments and order
///
/// Without a path, formats the schema and every file that it includes.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward fmt                     keyward.toml and the files it includes
  keyward fmt --check             exit 1 if a file would change
  keyward fmt --check --diff      the same, and show the changes
  keyward fmt - < a.toml          from standard input to standard output

Exit codes: 0 done; 1 a file would change (--check, --diff); 2 a file cannot be formatted")]
pub(crate) struct Fmt {
    /// Files to format; `-` reads standard input and writes standard output
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Write nothing; list the files that would change, and exit 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    /// Write nothing; show the changes, and exit 1 if there are any; may be combined with `--check`
    #[arg(long)]
    pub(crate) diff: bool,
}
