//! What `audit` takes for a server that is running.

use clap::{Args as ClapArgs, ValueEnum, ValueHint};
use std::path::PathBuf;

/// How a server is read that is running.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Servers")]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
pub(crate) struct Live {
    /// How keys are read: by SCAN, or as a snapshot, the way a replica gets it
    #[arg(long, value_name = "WAY", default_value = "scan")]
    pub(crate) via: LiveVia,
    /// Only this database
    #[arg(long, value_name = "N")]
    pub(crate) db: Option<u64>,
    /// Only keys that match this glob, as SCAN MATCH reads it: `cart:*`
    #[arg(long = "match", value_name = "GLOB")]
    pub(crate) matching: Option<String>,
    /// Look up only so many per cent of the keys: `10%`
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) sample: Option<f64>,
    /// Slow down when another client would wait this much longer than on an idle server [default: 5ms]
    #[arg(long, value_name = "TIME")]
    pub(crate) max_latency: Option<keyward_fact::Duration>,
    /// The most commands a second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_ops: Option<u64>,
    /// As fast as the server can, whoever else waits
    #[arg(long, conflicts_with_all = ["max_latency", "max_ops"])]
    pub(crate) unbounded: bool,
    /// Read the primary, also where a replica could be read
    #[arg(long)]
    pub(crate) primary: bool,
    /// Read this node alone, not the cluster that it belongs to
    #[arg(long)]
    pub(crate) node_only: bool,
    /// Look up lengths and fields also where that makes keys look used to the server's eviction
    #[arg(long)]
    pub(crate) touch: bool,
    /// Ask for a snapshot also where memory looks short, or a full disk would stop writes
    #[arg(long)]
    pub(crate) force: bool,
    /// Where a scan that is stopped keeps what it has seen, and goes on from if that is there
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) resume: Option<PathBuf>,
    /// The user, where the URL names none
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// A file whose first line is the password; otherwise the URL or `KEYWARD_PASSWORD` has it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) password_file: Option<PathBuf>,
    /// A file of certificates to trust instead of the system's
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tls_ca: Option<PathBuf>,
    /// A certificate to show to the server
    #[arg(long, value_name = "FILE", requires = "tls_key", value_hint = ValueHint::FilePath)]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert", value_hint = ValueHint::FilePath)]
    pub(crate) tls_key: Option<PathBuf>,
}

impl Live {
    /// The options that were given, all of which mean nothing for a file.
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
            ("--force", self.force),
            ("--user", self.user.is_some()),
            ("--password-file", self.password_file.is_some()),
            ("--tls-ca", self.tls_ca.is_some()),
            ("--tls-cert", self.tls_cert.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// How keys are read from a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LiveVia {
    /// By SCAN, and a few commands a key
    Scan,
    /// As a snapshot: the server forks
    Snapshot,
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').trim().parse::<f64>().ok();
    percent
        .filter(|percent| *percent > 0.0 && *percent <= 100.0)
        .ok_or_else(|| "write it as `10%`: more than 0, at most 100".to_owned())
}
