//! One file a command.

mod audit;
mod breaking;
mod check;
mod completions;
mod connect;
mod demo;
mod docs;
mod explain;
mod fmt;
mod generate;
mod infer;
mod init;
mod key;
mod man;
mod migrate;
mod plan;
mod queue;
mod report;
mod rules;
mod serve;
mod watch;

use crate::args::{Args, Command};
use crate::failure::Result;
use crate::output::{Output, complain, print};
use crate::settings::Settings;
use crate::verdict::Verdict;
use anstream::ColorChoice;
use clap::Parser as _;
use std::ffi::OsString;

/// Does what the arguments ask for.
pub(crate) fn run(args: impl Iterator<Item = OsString>) -> Result<Verdict> {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(answer) => {
            let text = answer.render();
            if answer.use_stderr() {
                complain(text.ansi())?;
                return Ok(Verdict::Unusable);
            }
            print(text.ansi(), ColorChoice::Auto)?;
            return Ok(Verdict::Clean);
        }
    };
    let output = Output::new(&args.global);
    let settings = Settings::new(&args.global)?;
    match &args.command {
        Command::Demo(args) => demo::run(args, &settings, &output),
        Command::Init(args) => init::run(args, &settings, &output),
        Command::Infer(args) => infer::run(args, &settings, &output),
        Command::Check(args) => check::run(args, &settings, &output),
        Command::Breaking(args) => breaking::run(args, &settings, &output),
        Command::Fmt(args) => fmt::run(args, &settings, &output),
        Command::Key(args) => key::run(&args.command, &settings, &output),
        Command::Generate(args) => generate::run(args, &settings, &output),
        Command::Docs(args) => docs::run(args, &settings, &output),
        Command::Audit(args) => audit::run(args, &settings, &output),
        Command::Watch(args) => watch::run(args, &settings, &output),
        Command::Serve(args) => serve::run(args, &settings, &output),
        Command::Report(args) => report::run(&args.command, &output),
        Command::Queue(args) => queue::run(&args.command, &settings, &output),
        Command::Plan(args) => plan::run(&args.command, &settings, &output),
        Command::Migrate(args) => migrate::run(args, &settings, &output),
        Command::Rules(args) => rules::run(args, &output),
        Command::Explain(args) => explain::run(args, &output),
        Command::Completions { shell } => completions::run(*shell, &output),
        Command::Man { folder } => man::run(folder, &output),
    }
}
