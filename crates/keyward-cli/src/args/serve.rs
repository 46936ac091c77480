//! `serve`

use super::Connect;
use clap::{Args as ClapArgs, ValueHint};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Audit servers in the background, and serve what is found: pages, a JSON API, metrics
///
/// Servers are audited one audit after the other, within a load budget and from a replica where there is one; nothing
/// is written to them. Results are kept in a folder, so that two moments can be compared after a restart.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward serve redis://127.0.0.1:6379                     then open http://127.0.0.1:9736
  keyward serve redis://10.0.0.7:7000 --every 1h --watch   a cluster, and what is written to it
  keyward serve --config serve.toml                        several servers, each with its schemas
  keyward serve redis://127.0.0.1 --listen 0.0.0.0:9736 --token-file token

Exit codes: 0 it was stopped; 2 wrong usage, a schema or configuration that cannot be read, or an address or folder \
that cannot be used")]
pub(crate) struct Serve {
    /// URLs of servers: redis://, rediss://, redis+unix://, redis+cluster:// or redis+sentinel://
    #[arg(value_name = "SOURCE", required_unless_present = "config")]
    pub(crate) sources: Vec<String>,
    /// Read servers and settings from this file
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["sources", "every", "watch", "user", "password_file", "tls_ca", "tls_cert", "tls_key"]
    )]
    pub(crate) config: Option<PathBuf>,
    /// Address and port [default: 127.0.0.1:9736]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// Requests must carry the first line of this file [default: `KEYWARD_TOKEN`]; needed for other addresses than
    /// loopback
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) token_file: Option<PathBuf>,
    /// Folder for the history [default: `keyward` in `XDG_STATE_HOME` or `~/.local/state`]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) state: Option<PathBuf>,
    /// Time from the end of an audit to the next one [default: 15m]
    #[arg(long, value_name = "TIME")]
    pub(crate) every: Option<keyward_fact::Duration>,
    /// Also watch what is written between audits
    #[arg(long)]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) connect: Connect,
}
