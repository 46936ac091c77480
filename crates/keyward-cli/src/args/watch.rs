//! `watch`

use super::Connect;
use clap::{Args as ClapArgs, ValueEnum};
use keyward_audit::live::watch::Way;
use keyward_audit::report::Severity;
use keyward_rules::Rule;
use std::ffi::OsString;

/// Watch a server, and report each key that is written outside the schema
///
/// Names of written keys come from `CLIENT TRACKING` or keyspace notifications, whichever the server allows, and
/// from one scan after the other where it allows neither: no setting is changed, and nothing is written. Type and TTL
/// of each key are looked up within a budget. Every violating pattern is reported once, then counted. A missing TTL
/// is reported if it is still missing a second later.
///
/// With a COMMAND, its test suite runs under watch: findings are printed when it ends.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward watch redis://127.0.0.1:6379                       until Ctrl-C
  keyward watch redis://127.0.0.1 --show-keys -- npm test    fail if the tests write outside the schema
  keyward watch redis://127.0.0.1 --fail-on unknown-key      end at the first key that no definition has
  keyward watch redis://10.0.0.7:7000 --format jsonl         any node of a cluster: all shards at once

Exit codes: 0 clean; 1 findings; 2 wrong usage; 3 a server was lost, or keys could not be looked up. \
With a COMMAND: 1 if there are findings, otherwise that of the command; if that is 0, 3 if a key was not judged")]
pub(crate) struct Watch {
    /// The URL of a server: redis://, rediss://, redis+unix://, redis+cluster:// or redis+sentinel://
    pub(crate) source: String,
    /// A command to run under watch
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// A rule or the lowest severity that exits with 1; repeat for several rules. Without a COMMAND, a rule also ends
    /// the watch at its first finding
    #[arg(long = "fail-on", value_name = "RULE|SEVERITY", default_value = "warning", value_parser = fails)]
    pub(crate) fail_on: Vec<Fails>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: WatchFormat,
    /// How names of written keys are learnt [default: the best that the server allows]
    #[arg(long, value_name = "WAY")]
    pub(crate) via: Option<WatchVia>,
    /// Keys of each server that are looked up in a second [default: 2000, and as many as are written with a COMMAND]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_keys: Option<u32>,
    /// Watch only this database
    #[arg(long, value_name = "N")]
    pub(crate) db: Option<u64>,
    /// Watch only this node, not its cluster
    #[arg(long)]
    pub(crate) node_only: bool,
    /// Show keys unmasked, including the values in them
    #[arg(long)]
    pub(crate) show_keys: bool,
    /// Derive masks from this text, so that several outputs can be compared [default: random]
    #[arg(long, value_name = "TEXT")]
    pub(crate) salt: Option<String>,
    #[command(flatten)]
    pub(crate) connect: Connect,
}

/// What fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fails {
    /// Findings of a rule
    Rule(Rule),
    /// Findings that are at least so serious
    Severity(Severity),
}

/// How findings are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchFormat {
    /// For people
    Full,
    /// One JSON object per line
    Jsonl,
    /// Annotations for GitHub Actions
    Github,
}

/// How names of written keys are learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchVia {
    /// CLIENT TRACKING; needs no setting of the server
    Tracking,
    /// Keyspace notifications; the server's `notify-keyspace-events` must contain `KA`
    Notifications,
    /// One scan after the other
    Scan,
}

impl From<WatchVia> for Way {
    fn from(via: WatchVia) -> Way {
        match via {
            WatchVia::Tracking => Way::Tracking,
            WatchVia::Notifications => Way::Notifications,
            WatchVia::Scan => Way::Scan,
        }
    }
}

fn fails(text: &str) -> Result<Fails, String> {
    match text {
        "error" => Ok(Fails::Severity(Severity::Error)),
        "warning" | "warn" => Ok(Fails::Severity(Severity::Warning)),
        name => match Rule::parse(name) {
            Some(rule) if rule.is_live() => Ok(Fails::Rule(rule)),
            Some(_) => Err("this rule judges schemas, not keys: `keyward check` has it".to_owned()),
            None => Err(match Rule::nearest(name) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    "it is neither a rule nor `error` or `warning`: `keyward rules` lists the rules"
                        .to_owned()
                }
            }),
        },
    }
}
