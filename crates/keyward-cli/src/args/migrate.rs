//! `migrate`

use super::{Burden, Connect, ListFormat, Prefix};
use clap::Args as ClapArgs;

/// Show where each migration stands, and the next safe step
///
/// Only reads. Shows the phase in the schema and the phases that connected programs announce, keys under old and new names,
/// how long old ones were neither read nor written, and what to do next. What was not seen may still be there: a program that is not
/// connected now, or a key that is written in a moment.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward migrate redis://127.0.0.1:6379
  keyward migrate redis+cluster://10.0.0.1:7000 --bind tenant=acme

Exit codes: 0 nothing is left to do in this phase; 1 something is left; 2 wrong usage; 3 the server could not be read")]
pub(crate) struct Migrate {
    /// The URL of a server: redis://, rediss://, redis+unix://, redis+cluster:// or redis+sentinel://
    pub(crate) source: String,
    /// Output format; does not change the exit code
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: ListFormat,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
    #[command(flatten)]
    pub(crate) burden: Burden,
    #[command(flatten)]
    pub(crate) connect: Connect,
}
