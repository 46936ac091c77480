//! The `keyward` program: arguments, commands, exit codes.
//!
//! [`args`] says what can be typed, [`settings`] what it means, and each file in [`commands`] does
//! one thing. A command returns a [`verdict::Verdict`], or a [`failure::Failure`] that says what to do next.

mod args;
mod commands;
mod credentials;
mod failure;
mod files;
mod generated;
mod git;
mod interrupt;
mod output;
mod report;
mod schemas;
mod selection;
mod settings;
mod today;
mod verdict;

use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::run(std::env::args_os()) {
        Ok(verdict) => verdict.into(),
        Err(failure) => failure.report(),
    }
}
