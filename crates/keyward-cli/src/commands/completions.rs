//! `keyward completions`: what a shell needs to know about the arguments.

use crate::args::Args;
use crate::failure::Result;
use crate::output::Output;
use crate::verdict::Verdict;
use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

pub(crate) fn run(shell: Shell, output: &Output) -> Result<Verdict> {
    let mut script = Vec::new();
    generate(shell, &mut Args::command(), "keyward", &mut script);
    output.print(String::from_utf8_lossy(&script))?;
    Ok(Verdict::Clean)
}
