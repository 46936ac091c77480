//! The program `library`: arguments, commands, exit codes.

#![allow(unreachable_pub, reason = "a program has no outside")]

mod args;
mod commands;

use args::Args;
use clap::Parser as _;
use std::io::{ErrorKind, Write as _, stderr};
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    match commands::run(Args::parse()).await {
        Ok(ended) => ended.code(),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell if this fails.
            _ = writeln!(stderr(), "error: {}", commands::message(&error));
            commands::Ended::of(&error).code()
        }
    }
}

/// Whether nobody reads the output any more, as after `| head`.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
