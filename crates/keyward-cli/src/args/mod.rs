//! What can be typed. What it does is in [`crate::commands`].

mod audit;
mod begin;
mod breaking;
mod check;
mod docs;
mod fmt;
mod generate;
mod infer;
mod key;
mod live;
mod migrate;
mod plan;
mod queue;
mod report;
mod rules;
mod selection;
mod serve;
mod watch;

pub(crate) use audit::{Audit, AuditForm, AuditFormat};
pub(crate) use begin::{Demo, Init};
pub(crate) use breaking::Breaking;
pub(crate) use check::{Check, Fail, FailOn, ReportFormat, Set};
pub(crate) use docs::{Docs, DocsFormat, DocsLocale};
pub(crate) use fmt::Fmt;
pub(crate) use generate::Generate;
pub(crate) use infer::Infer;
pub(crate) use key::{
    Key, KeyBuild, KeyCommand, KeyFormat, KeyGlob, KeyParse, KeyText, TextFormat,
};
pub(crate) use live::{Connect, Live, LiveVia};
pub(crate) use migrate::Migrate;
pub(crate) use plan::{
    Burden, Plan, PlanApply, PlanApprove, PlanCommand, PlanDrop, PlanFix, PlanForget,
    PlanInvalidate, PlanLetters, PlanMake, PlanMigrate,
};
pub(crate) use queue::{Queue, QueueCommand, QueueFormat, QueueList, QueueLook};
pub(crate) use report::{Report, ReportCommand, ReportDiff, ReportFiles, ReportShow, Reports};
pub(crate) use rules::{Explain, ListFormat, Rules};
pub(crate) use selection::{Binding, Prefix, Selection};
pub(crate) use serve::Serve;
pub(crate) use watch::{Fails, Watch, WatchFormat};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Keyspace as code for Redis and Valkey
///
/// Declare your key convention once, in `keyward.toml`. From this file Keyward proves that the convention
/// is sound, finds what would go wrong in production, builds and parses keys, and audits servers.
#[derive(Debug, Parser)]
#[command(
    name = "keyward",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "\
Get started:
  keyward demo      a tour on sample data; no server needed
  keyward init      a commented keyward.toml to start from
  keyward check     prove that it is sound
  keyward audit     audit a server or snapshot against it; works without a schema too

Exit codes: 0 clean; 1 findings; 2 wrong usage, or a schema cannot be read; 3 a source could not \
be read to its end"
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// A schema; repeat for several [default: keyward.toml in this folder or a parent]
    #[arg(long = "schema", value_name = "FILE", global = true, value_hint = ValueHint::FilePath)]
    pub(crate) schemas: Vec<PathBuf>,
    /// Print no summaries and no hints
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Also print which files were read, and how long it took
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// When to use colours; `auto` respects `NO_COLOR`
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: Color,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one, and it is read once")]
pub(crate) enum Command {
    Demo(Demo),
    Init(Init),
    Infer(Infer),
    Check(Check),
    Breaking(Breaking),
    Fmt(Fmt),
    Key(Key),
    Generate(Generate),
    Docs(Docs),
    Audit(Audit),
    Watch(Watch),
    Serve(Serve),
    Report(Report),
    Queue(Queue),
    Plan(Plan),
    Migrate(Migrate),
    Rules(Rules),
    Explain(Explain),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    Man {
        /// The folder to write to
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Args::command().debug_assert();
    }
}
