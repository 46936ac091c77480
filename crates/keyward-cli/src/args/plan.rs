//! `plan`

use super::selection::binding;
use super::{Binding, Connect, ListFormat, Prefix};
use clap::{Args as ClapArgs, Subcommand, ValueHint};
use std::path::PathBuf;

/// Change a keyspace by a reviewed plan: migrate, fix, drop, requeue, forget, undo
///
/// A plan is a file. Making one only reads: it counts what would change, and shows masked samples and conflicts. `plan
/// apply` is the only command that writes to a server, together with `plan undo`. It checks for each key, in the step
/// that changes it, that the key is still what the plan expects, and notes in a journal what it is about to change.
/// After a crash it is run again, and goes on.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward plan migrate redis://127.0.0.1 --out plan.json     what the phases of all migrations say
  keyward plan fix redis://127.0.0.1 --out plan.json         what an audit finds and the schema can repair
  keyward plan show plan.json                                what it would change
  keyward plan lint plan.json                                what a reviewer should know
  keyward plan apply plan.json redis://127.0.0.1             asks, then changes
  keyward plan undo plan.json redis://127.0.0.1              takes it back

Exit codes: 0 done; 1 conflicts or remarks; 2 wrong usage, or refused; 3 not everything could be done")]
pub(crate) struct Plan {
    #[command(subcommand)]
    pub(crate) command: PlanCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    Migrate(PlanMigrate),
    Fix(PlanFix),
    Invalidate(PlanInvalidate),
    Drop(PlanDrop),
    Forget(PlanForget),
    /// Plan to push dead letters to their queues again
    ///
    /// As the store does it: with the id that the job had, without its attempts, and not if a job with its id waits or the
    /// queue is full. Jobs that fail after the plan was made stay among the dead letters. Cannot be undone.
    Requeue(PlanLetters),
    /// Plan to remove dead letters
    ///
    /// What is removed goes into the journal first, so that `plan undo` brings it back. Jobs that fail after the plan was
    /// made stay.
    Purge(PlanLetters),
    /// Show a plan: what it would change, where, and how long that takes
    Show(PlanFile),
    /// List what a reviewer should know: destructive, lossy, data-dependent, cross-slot, not undoable
    Lint(PlanFile),
    Approve(PlanApprove),
    Apply(PlanApply),
    Undo(PlanApply),
    /// Show how far a plan is that runs on this machine
    Status(PlanStatus),
    /// Let a running plan wait
    Pause(PlanFile),
    /// Let a plan that waits go on
    Resume(PlanFile),
    Rate(PlanRate),
    /// End a running plan after the keys that are under way; apply it again to go on
    Stop(PlanFile),
}

/// Where a plan is made for, and where it is written.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanMake {
    /// The URL of a server: redis://, rediss://, redis+unix://, redis+cluster:// or redis+sentinel://
    pub(crate) source: String,
    /// The file to write the plan to
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
    /// Show keys in samples unmasked
    #[arg(long)]
    pub(crate) show_keys: bool,
    /// Until when the plan can be started, from now
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub(crate) valid: keyward_fact::Duration,
    #[command(flatten)]
    pub(crate) burden: Burden,
    #[command(flatten)]
    pub(crate) connect: Connect,
}

/// How much a server may be burdened.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Servers")]
pub(crate) struct Burden {
    /// Slow down when other clients wait this much longer than on an idle server [default: 5ms]
    #[arg(long, value_name = "TIME")]
    pub(crate) max_latency: Option<keyward_fact::Duration>,
    /// Maximum number of keys per second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_rate: Option<u64>,
    /// As fast as the server answers, even if other clients wait
    #[arg(long, conflicts_with_all = ["max_latency", "max_rate"])]
    pub(crate) unbounded: bool,
}

/// Plan what the phase of each migration says: copy, or remove what is left
///
/// In `dual-write`, values under old names are copied over those under the new ones. In `read-fallback`, they are copied
/// where the new name has none. In `cleanup`, old names are removed, or get the TTL of `old_ttl`.
///
/// With `--from` and `--to`, keys of one pattern are renamed at once, for programs that are stopped meanwhile. What else
/// changes (`convert`, `recase`, `db`) is declared in `[migrations]`. Queues are never copied, and sessions, refresh tokens and
/// indexes cannot be renamed.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanMigrate {
    #[command(flatten)]
    pub(crate) make: PlanMake,
    /// Only this migration; repeat for several [default: all]
    #[arg(long = "migration", value_name = "NAME")]
    pub(crate) migrations: Vec<String>,
    /// Rename the keys of this pattern, written as whole keys: `User:{id}`
    #[arg(long, value_name = "PATTERN", requires = "to", conflicts_with_all = ["migrations", "remove_lone"])]
    pub(crate) from: Option<String>,
    /// The definition whose names they get
    #[arg(long, value_name = "DEFINITION", requires = "from")]
    pub(crate) to: Option<String>,
    /// Also remove what stands under one name only: in `cleanup` the old one, in `dual-write` the new one
    #[arg(long)]
    pub(crate) remove_lone: bool,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

/// Plan to repair what breaks the rules of the schema, as far as it says how keys should be
///
/// Keys without a TTL get one, spread so that they do not all expire at once; too long ones are shortened. Oversized
/// collections are trimmed. What is left under old names after `remove_after` gets a short TTL. Misspelt keys are renamed.
/// Indexes lose members that lead nowhere or contradict. Findings that the schema accepts with `allow` are left alone.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanFix {
    #[command(flatten)]
    pub(crate) make: PlanMake,
    /// Only what breaks this rule; repeat for several [default: all that can be repaired]
    #[arg(long = "rule", value_name = "RULE")]
    pub(crate) rules: Vec<String>,
}

/// Plan to remove what an event invalidates
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanInvalidate {
    #[command(flatten)]
    pub(crate) make: PlanMake,
    /// The event
    pub(crate) event: String,
    /// The values of its parameters: `user_id=7`
    #[arg(value_name = "PARAM=VALUE", value_parser = binding)]
    pub(crate) values: Vec<Binding>,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

/// Plan to remove the keys of a definition or group, or keys that match a glob
///
/// A glob is written like a pattern: the prefix of the keyspace is added in front, with the values of `--bind`.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanDrop {
    #[command(flatten)]
    pub(crate) make: PlanMake,
    /// A definition, a group, or a glob such as `page:cache:*`
    pub(crate) target: String,
    /// Only keys with these values, for a definition: `user_id=7`
    #[arg(value_name = "PARAM=VALUE", value_parser = binding)]
    pub(crate) values: Vec<Binding>,
    /// The glob is of whole keys: add no prefix
    #[arg(long)]
    pub(crate) no_prefix: bool,
    /// Keep nothing for `plan undo`; faster
    #[arg(long)]
    pub(crate) no_backup: bool,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

/// Plan to erase everything that names a person or tenant
///
/// Every definition with this parameter, every field of this name, and every field, value, member or entry that refers to the
/// parameter with `ref` or `key`. What refers to that in turn, such as the index of a session, is removed too. The plan
/// has a salted hash of the value only: `plan apply` asks for the value again with `--subject`. Nothing is kept, and
/// there is no undo.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward plan forget redis://127.0.0.1 user_id=7 --out plan.json
  keyward plan apply plan.json redis://127.0.0.1 --subject user_id=7 --export ann.jsonl")]
pub(crate) struct PlanForget {
    #[command(flatten)]
    pub(crate) make: PlanMake,
    /// The parameter and its value; `user.id=7` where other definitions use the name for something else
    #[arg(value_name = "PARAM=VALUE", value_parser = binding)]
    pub(crate) subject: Binding,
    /// Write what is found, unmasked, one JSON object per line, to a file that only its owner can read
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) export: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

/// Which dead letters.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanLetters {
    #[command(flatten)]
    pub(crate) make: PlanMake,
    /// The definition of the queues, or the key of one
    pub(crate) queue: String,
    /// At most so many, the oldest of each queue first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
}

/// A plan.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanFile {
    /// The plan
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub(crate) plan: PathBuf,
}

/// Which plan is asked about, and how it is shown.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanStatus {
    #[command(flatten)]
    pub(crate) file: PlanFile,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: ListFormat,
}

/// Note in a plan that an owner of its keys approves it
///
/// `[plans] require_owner = true` asks for it.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanApprove {
    #[command(flatten)]
    pub(crate) file: PlanFile,
    /// The owner, as the schema names it
    #[arg(long, value_name = "OWNER")]
    pub(crate) owner: String,
    /// Who approves
    #[arg(long, value_name = "NAME")]
    pub(crate) by: String,
}

/// Change at most so many keys per second from now on, in a plan that runs on this machine
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanRate {
    #[command(flatten)]
    pub(crate) file: PlanFile,
    /// Keys per second, or `none` for no limit
    #[arg(value_name = "N", value_parser = rate)]
    pub(crate) keys: u64,
}

/// Apply a plan, or take it back: the only commands that change keys
///
/// Asks first on a terminal; elsewhere `--yes` is needed.
#[derive(Debug, ClapArgs)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
pub(crate) struct PlanApply {
    #[command(flatten)]
    pub(crate) file: PlanFile,
    /// The URL of the server that the plan was made for
    pub(crate) source: String,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// The journal of what is changed, which `plan undo` reads [default: beside the plan, `PLAN.ID.journal`]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) journal: Option<PathBuf>,
    /// Take a step of a migration although clients are connected that do not announce a phase
    #[arg(long)]
    pub(crate) accept_unnamed: bool,
    /// Take a step of a migration although old names were used shortly before it was planned, or that was not seen
    #[arg(long)]
    pub(crate) accept_recent: bool,
    /// Move keys to other slots although a crash of the server may lose them
    #[arg(long)]
    pub(crate) accept_loss: bool,
    /// Accept a server that was restarted after the plan's marker was gone, if its keys are what the journal says
    #[arg(long)]
    pub(crate) accept_restarted: bool,
    /// Make copies although the servers have no memory left for them
    #[arg(long)]
    pub(crate) accept_full: bool,
    /// Whom a plan to forget erases: the parameter and value that it was made with
    #[arg(long, value_name = "PARAM=VALUE", value_parser = binding)]
    pub(crate) subject: Option<Binding>,
    /// Write what is erased, unmasked, one JSON object per line, to a file that only its owner can read
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "subject")]
    pub(crate) export: Option<PathBuf>,
    /// The certificate of what was erased [default: the plan's name and `.certificate.json`]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "subject")]
    pub(crate) certificate: Option<PathBuf>,
    /// Show keys unmasked
    #[arg(long)]
    pub(crate) show_keys: bool,
    #[command(flatten)]
    pub(crate) burden: Burden,
    #[command(flatten)]
    pub(crate) connect: Connect,
}

/// Nobody means "as fast as possible" by 0.
fn rate(text: &str) -> Result<u64, String> {
    match text.parse() {
        _ if text == "none" => Ok(0),
        Ok(keys @ 1..) => Ok(keys),
        _ => Err("write a number of keys from 1, or `none`; `plan pause` lets it wait".to_owned()),
    }
}
