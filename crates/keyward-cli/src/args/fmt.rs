//! `fmt`

use clap::{Args as ClapArgs, ValueHint};
use std::path::PathBuf;

/// Format schemas, keeping comments and order
///
/// Without a path, the schema and every file that it includes.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward fmt                     keyward.toml and what it includes
  keyward fmt --check             exit 1 if something would change
  keyward fmt --check --diff      the same, and show what
  keyward fmt - < a.toml          from standard input to standard output

Exit codes: 0 done, 1 something would change (--check, --diff), 2 a file that cannot be formatted")]
pub(crate) struct Fmt {
    /// Files; `-` reads standard input and writes standard output
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Write nothing; name the files that would change, and exit 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    /// Write nothing; show what would change, and exit 1 if something would; also with `--check`
    #[arg(long)]
    pub(crate) diff: bool,
}
