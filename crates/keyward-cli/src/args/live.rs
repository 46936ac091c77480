//! The options of `audit` for live servers.

use clap::{Args as ClapArgs, ValueEnum, ValueHint};
use std::path::PathBuf;

/// How a live server is read.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Servers")]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
pub(crate) struct Live {
    /// How to read keys: with SCAN, or as the snapshot that a replica receives
    #[arg(long, value_name = "WAY", default_value = "scan")]
    pub(crate) via: LiveVia,
    /// Read only this database
    #[arg(long, value_name = "N")]
    pub(crate) db: Option<u64>,
    /// Read only keys that match this glob, as in SCAN MATCH: `cart:*`
    #[arg(long = "match", value_name = "GLOB")]
    pub(crate) matching: Option<String>,
    /// Read only this share of the keys: `10%`
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) sample: Option<f64>,
    /// Slow down when other clients wait this much longer than on an idle server [default: 5ms]
    #[arg(long, value_name = "TIME")]
    pub(crate) max_latency: Option<keyward_fact::Duration>,
    /// Maximum number of commands per second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_ops: Option<u64>,
    /// Read as fast as the server answers, even if other clients wait
    #[arg(long, conflicts_with_all = ["max_latency", "max_ops"])]
    pub(crate) unbounded: bool,
    /// Read the primary, even if a replica is available
    #[arg(long)]
    pub(crate) primary: bool,
    /// Read only this node, not its cluster
    #[arg(long)]
    pub(crate) node_only: bool,
    /// Read lengths and fields even if that marks keys as recently used for eviction
    #[arg(long)]
    pub(crate) touch: bool,
    /// Read no values: audit names, types, TTLs and memory only
    #[arg(long, conflicts_with = "touch")]
    pub(crate) no_values: bool,
    /// Request a snapshot even if memory is short, or if a full disk would stop writes
    #[arg(long)]
    pub(crate) force: bool,
    /// Save progress to this file when stopped, and resume from it if it exists
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) connect: Connect,
}

/// Who connects, and how.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Servers")]
pub(crate) struct Connect {
    /// The user, if the URL names none
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Read the password from the first line of this file [default: the URL, or `KEYWARD_PASSWORD`]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) password_file: Option<PathBuf>,
    /// Trust the certificates in this file instead of the system's
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tls_ca: Option<PathBuf>,
    /// Client certificate
    #[arg(long, value_name = "FILE", requires = "tls_key", value_hint = ValueHint::FilePath)]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the client certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert", value_hint = ValueHint::FilePath)]
    pub(crate) tls_key: Option<PathBuf>,
}

impl Live {
    /// The options that were given, none of which apply to a file.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("--via", self.via != LiveVia::Scan),
            ("--db", self.db.is_some()),
            ("--match", self.matching.is_some()),
            ("--sample", self.sample.is_some()),
            ("--max-latency", self.max_latency.is_some()),
            ("--max-ops", self.max_ops.is_some()),
            ("--unbounded", self.unbounded),
            ("--primary", self.primary),
            ("--node-only", self.node_only),
            ("--touch", self.touch),
            ("--no-values", self.no_values),
            ("--force", self.force),
            ("--user", self.connect.user.is_some()),
            ("--password-file", self.connect.password_file.is_some()),
            ("--tls-ca", self.connect.tls_ca.is_some()),
            ("--tls-cert", self.connect.tls_cert.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// How keys are read from a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LiveVia {
    /// SCAN, and a few commands per key
    Scan,
    /// A snapshot; the server forks
    Snapshot,
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').trim().parse::<f64>().ok();
    percent
        .filter(|percent| *percent > 0.0 && *percent <= 100.0)
        .ok_or_else(|| "write it as `10%`: more than 0, at most 100".to_owned())
}
