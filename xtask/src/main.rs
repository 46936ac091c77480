//! Chores of this repository: `cargo xtask <task>`.

mod bench;
mod docs;
mod mutants;
mod new_rule;
mod schema;
mod torture;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

const USAGE: &str = "\
cargo xtask new-rule NAME     start a rule: its file, its lines in the registry, its test
cargo xtask docs [--check]    write the pages that come from code, or fail if they differ
cargo xtask bench [NAME…]     measure speed against peers: classify, build, pipe, audit, live,
                              rust, store, plan, plan-scans, watch, serve, breaking, typescript, python, java,
                              go
cargo xtask torture [--minutes N] [--role R] [--seed S]
                              do harm to clients and servers, and check what the roles promise
cargo xtask model             check with large bounds that migrations lose nothing (`names/model` of the store)
cargo xtask mutants [--role R] [--script S]
                              list the lines of scripts that no test misses
cargo xtask torture --failovers N
                              count the locks that failovers lose, with and without `replicas`";

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["new-rule", name] => new_rule::run(&root()?, name),
        ["bench", names @ ..] => bench::run(names),
        ["torture", args @ ..] => torture::run(args),
        ["mutants", args @ ..] => mutants::run(&root()?, args),
        ["model"] => model(&root()?),
        ["docs"] => docs::write(&root()?),
        ["docs", "--check"] => docs::check(&root()?),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => bail!("no such task; the tasks are\n\n{USAGE}"),
    }
}

/// Runs the models of the store with the bounds that take too long for `./test`.
fn model(root: &Path) -> Result<()> {
    let args = ["test", "--release", "-p", "keyward", "--lib", "store::names", "--"];
    let mut cargo = std::process::Command::new("cargo");
    let status = cargo.args(args).args(["--ignored", "--nocapture"]).current_dir(root).status()?;
    anyhow::ensure!(status.success(), "the model has a counterexample");
    Ok(())
}

/// The top of the repository.
fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(here.parent().context("xtask stands in the repository")?.to_owned())
}
