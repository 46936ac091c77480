//! `infer`

use super::Live;
use clap::{Args as ClapArgs, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

/// Draft a schema from the keys of a server or a snapshot
///
/// Finds the patterns of keys that nobody declared, the types of their parameters, what their values hold and how
/// long they live, and prints a commented `keyward.toml` that `keyward check --set minimal` accepts. Keys of
/// well-known software become `[foreign.*]`. No value of a parameter is printed, except for words that many keys
/// share. Several sources are read as one keyspace; a server is read once.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward infer redis://127.0.0.1:6379                print a draft
  keyward infer dump.rdb --out keyward.toml           write it to a file that does not exist yet
  keyward infer a.rdb b.rdb                           several sources, one keyspace
  keyward infer dump.rdb --merge keyward.toml         add what is new to a schema, and keep the rest as it is

Exit codes: 0 every key has a definition; 1 some keys have none; 2 wrong usage, or no keys; 3 a source could \
not be read to its end")]
pub(crate) struct Infer {
    /// URLs of servers, RDB files (plain, gzip or zstd), or `-` for standard input
    #[arg(value_name = "SOURCE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) sources: Vec<OsString>,
    /// Write to this file, which must not exist yet, instead of standard output
    #[arg(long, value_name = "FILE", conflicts_with = "merge", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Add what is new to this schema; comments, order and ids stay, and nothing is deleted
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) merge: Option<PathBuf>,
    /// Do not recognise the keys of well-known software
    #[arg(long)]
    pub(crate) no_foreign: bool,
    /// Also write example keys as they are, with the values in them
    #[arg(long)]
    pub(crate) show_keys: bool,
    #[command(flatten)]
    pub(crate) live: Live,
}
