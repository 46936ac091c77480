//! `keyward key parse -`: keys through a pipe.

use super::{Table, at_least};
use anyhow::{Context, Result, ensure};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const KEYS: usize = 3_000_000;
const ROUNDS: usize = 3;

pub(super) fn run(table: &mut Table) -> Result<()> {
    let root = crate::root()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .current_dir(&root)
        .args(["build", "--quiet", "--release", "--package", "keyward-cli"])
        .status()?;
    ensure!(built.success(), "the program did not build");
    let program = std::env::current_exe()?.with_file_name("keyward");
    let schema = root.join("examples/xeuz-cloud/keyward.toml");

    let mut input = Vec::with_capacity(KEYS * 50);
    for number in 0..KEYS {
        let id = format!("550e8400-e29b-41d4-a716-{number:012x}");
        match number % 4 {
            0 => writeln!(input, "xc:folder:{id}:listing")?,
            1 => writeln!(input, "xc:file:{id}:meta")?,
            2 => writeln!(input, "xc:quota:{id}:used")?,
            _ => writeln!(input, "xc:unknown:{number}")?,
        }
    }
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut child = Command::new(&program)
            .args(["key", "parse", "-", "--schema"])
            .arg(&schema)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("start {}", program.display()))?;
        child.stdin.take().context("piped")?.write_all(&input)?;
        // Some keys are unknown: exit code 1 is right.
        ensure!(child.wait()?.code() == Some(1), "`key parse -` failed");
        best = best.min(start.elapsed());
    }
    let rate = KEYS as f64 / best.as_secs_f64() / 1e6;
    table.row(
        "key parse -",
        format!("{rate:.2} million keys/s"),
        "the pipe".to_owned(),
        at_least(rate / 3.0, 1.0),
    );
    Ok(())
}
