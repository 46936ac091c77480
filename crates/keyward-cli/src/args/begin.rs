//! A first look, and a first schema.

use super::Connect;
use clap::{Args as ClapArgs, ValueHint};
use std::ffi::OsString;
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
/// With a server or a snapshot, the schema is drafted from its keys, as `keyward infer` does; then it is checked, and
/// the source is audited against it. Otherwise it is a sample. Also writes `keyward.schema.json`, which editors use to
/// complete and check the file.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward init                            a sample keyward.toml in this folder
  keyward init services/shop              in another folder
  keyward init redis://127.0.0.1:6379     drafted from the keys of a server
  keyward init dump.rdb services/shop     drafted from a snapshot, in another folder")]
pub(crate) struct Init {
    /// A server's URL or an RDB file to draft the schema from, or the folder to write to
    #[arg(value_name = "SOURCE|DIR", value_hint = ValueHint::AnyPath)]
    pub(crate) place: Option<OsString>,
    /// The folder to write to, after a source; created if it does not exist [default: this folder]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) connect: Connect,
}
