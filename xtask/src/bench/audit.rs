//! `keyward audit` of a snapshot, against `rdb` 0.4's own program that only parses it, and against the
//! memory by prefix of HDT3213/rdb, a program in Go, where `KEYWARD_BENCH_HDT3213` says where it is.
//!
//! The snapshot is one that a server has written (`KEYWARD_BENCH_KEYS` keys, two million unless told
//! otherwise). Both programs read the same file, in turn, and the best of their runs counts. Memory is the
//! most that `/proc/PID/status` called `RssAnon` while the audit ran: what was allocated, without the pages
//! of the mapped file.

use super::{Table, at_least, at_most, key_count, mix};
use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;

pub(super) fn run(table: &mut Table) -> Result<()> {
    let root = crate::root()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let program = program()?;
    let folder = program.parent().context("the program stands in a folder")?;
    let keys = key_count()?;
    let dump = dump(folder, keys)?;
    let size = std::fs::metadata(&dump)?.len();
    let peer = peer(&cargo, folder)?;
    let schemas = schemas(&root);
    let (mut ours, mut theirs, mut heap) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..ROUNDS {
        let mut audit = Command::new(&program);
        audit.arg("audit").arg(&dump).args(&schemas).args(["--format", "json", "--quiet"]);
        let (time, memory) = timed(&mut audit, &[0, 1])?;
        ours = ours.min(time);
        heap = heap.max(memory);
        if let Some(peer) = &peer {
            let mut parse = Command::new(peer);
            parse.args(["-f", "nil"]).arg(&dump);
            theirs = theirs.min(timed(&mut parse, &[0])?.0);
        }
    }
    let what = format!("audit, {keys} keys, {} MB", size / 1_000_000);
    let measured = format!("{:.3} s", ours.as_secs_f64());
    match peer {
        Some(_) => table.row(
            &what,
            measured.clone(),
            format!("rdb 0.4 -f nil: {:.3} s", theirs.as_secs_f64()),
            at_least(theirs.as_secs_f64() / ours.as_secs_f64(), 5.0),
        ),
        None => {
            table.row(&what, measured.clone(), "rdb 0.4 is not there".to_owned(), String::new());
        }
    }
    if let Some(program) = std::env::var_os("KEYWARD_BENCH_HDT3213") {
        let mut least = Duration::MAX;
        for _ in 0..2 {
            let mut prefixes = Command::new(&program);
            prefixes.args(["-c", "prefix", "-n", "10", "-o", "/dev/null"]).arg(&dump);
            least = least.min(timed(&mut prefixes, &[0])?.0);
        }
        table.row(
            "audit, as memory by prefix",
            measured,
            format!("HDT3213/rdb -c prefix: {:.3} s", least.as_secs_f64()),
            at_least(least.as_secs_f64() / ours.as_secs_f64(), 12.0),
        );
    }
    table.row(
        "audit, memory",
        format!("{:.1} MB (RssAnon)", heap as f64 / 1e6),
        "64 MB".to_owned(),
        at_most(heap as f64 / 64e6, 1.0),
    );
    Ok(())
}

/// The program, built with optimisation.
pub(super) fn program() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(&cargo)
        .current_dir(crate::root()?)
        .args(["build", "--quiet", "--release", "--package", "keyward-cli"])
        .status()?;
    ensure!(built.success(), "the program did not build");
    Ok(std::env::current_exe()?.with_file_name("keyward"))
}

/// A snapshot of the mix, made once.
pub(super) fn dump(folder: &Path, keys: u64) -> Result<PathBuf> {
    let dump = folder.join(format!("audit-{keys}.rdb"));
    if !dump.exists() {
        // Whoever is interrupted leaves no half of a file to measure.
        let half = dump.with_extension("half");
        std::fs::copy(mix::serve(&crate::root()?, keys)?.save(), &half)?;
        std::fs::rename(half, &dump)?;
    }
    Ok(dump)
}

/// The arguments that name the schemas of the mix.
pub(super) fn schemas(root: &Path) -> Vec<OsString> {
    mix::schemas(root).into_iter().flat_map(|it| ["--schema".into(), it.into_os_string()]).collect()
}

/// How long a program ran, and the most memory that it allocated.
pub(super) fn timed(command: &mut Command, good: &[i32]) -> Result<(Duration, u64)> {
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut most = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        most = most.max(allocated(&child));
        std::thread::sleep(Duration::from_millis(2));
    };
    let time = start.elapsed();
    let code = status.code();
    ensure!(code.is_some_and(|code| good.contains(&code)), "{command:?} ended with {status}");
    Ok((time, most))
}

fn allocated(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let line = status.unwrap_or_default();
    let line = line.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// The program of the `rdb` crate, which is installed once beside ours; `None` if that fails.
fn peer(cargo: &std::ffi::OsStr, folder: &Path) -> Result<Option<PathBuf>> {
    let tools = folder.parent().unwrap_or(folder).join("tools");
    let program = tools.join("bin/rdb");
    if !program.exists() {
        eprintln!("  installing rdb 0.4 …");
        let installed = Command::new(cargo)
            .args(["install", "rdb", "--version", "0.4.0", "--quiet", "--root"])
            .arg(&tools)
            .env("CARGO_TARGET_DIR", tools.join("build"))
            .status()?;
        if !installed.success() {
            return Ok(None);
        }
    }
    Ok(Some(program))
}
