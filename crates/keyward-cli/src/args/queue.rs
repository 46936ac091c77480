//! `queue`

use super::Connect;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};

/// Look at the queues of a server: how many jobs wait, run and failed
///
/// Only reads. NAME is a definition with the role `queue`, for all its queues, or the key of one queue. What an audit
/// masks is masked here too: ids, groups and errors are shown as marks, such as `<uuid#a3f9>`, and payloads not at all.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward queue stats redis://127.0.0.1:6379 job_queue          every queue of the definition `job_queue`
  keyward queue inspect redis://127.0.0.1 queue:job:thumbnail   the jobs of one queue
  keyward queue dead redis://127.0.0.1 job_queue --show-keys    the last dead letters, with ids and errors

Exit codes: 0 the queue was read; 2 wrong usage; 3 the server could not be read")]
pub(crate) struct Queue {
    #[command(subcommand)]
    pub(crate) command: QueueCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum QueueCommand {
    /// Count the jobs of each queue
    Stats(QueueLook),
    /// List the jobs that a queue has a record of: those that run, are due, or have an id
    ///
    /// A job that was pushed without an id and still waits is only counted: see `queue stats`.
    Inspect(QueueList),
    /// List the last dead letters of a queue, the oldest of them first
    Dead(QueueList),
}

/// Which queues, and how they are shown.
#[derive(Debug, ClapArgs)]
pub(crate) struct QueueLook {
    /// The URL of a server: redis://, rediss://, redis+unix://, redis+cluster:// or redis+sentinel://
    pub(crate) source: String,
    /// The definition of the queue, or its key
    pub(crate) name: String,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: QueueFormat,
    /// Show keys, ids, groups and errors unmasked
    #[arg(long)]
    pub(crate) show_keys: bool,
    /// Derive masks from this text, so that several outputs can be compared [default: random]
    #[arg(long, value_name = "TEXT")]
    pub(crate) salt: Option<String>,
    #[command(flatten)]
    pub(crate) connect: Connect,
}

/// The same for lists.
#[derive(Debug, ClapArgs)]
pub(crate) struct QueueList {
    #[command(flatten)]
    pub(crate) look: QueueLook,
    /// How many to list
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) limit: u16,
}

/// How a queue is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QueueFormat {
    /// Tables, for people
    Full,
    /// One JSON document
    Json,
}
