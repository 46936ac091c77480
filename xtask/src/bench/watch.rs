//! What watching costs a server that is written to, against `redis-benchmark` alone: the server has one core, and
//! everything else the other. Whether it keeps up, and what it passes over, is printed beside.

use super::{Table, at_least};
use anyhow::{Context, Result, ensure};
use keyward_audit::live::Options;
use keyward_audit::live::watch::{Event, Watched, Watching, Way};
use keyward_audit::{Audit, Subject};
use keyward_testkit::Server;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const ROUNDS: usize = 5;
/// Writes of one round, and how many a second must be kept up with.
const WRITES: u32 = 300_000;
const KEPT_UP: u32 = 50_000;

const SCHEMA: &str = r#"
version = 1
[keyspace]
name = "bench"
[keys.key]
pattern = "key:{number}"
type = "string"
ttl = "none"
"#;

pub(super) fn run(table: &mut Table) -> Result<()> {
    let server = Server::redis();
    pin(server.id(), "0")?;
    pin(std::process::id(), "1")?;
    for (what, args) in [
        ("one key", &[][..]),
        ("a million keys", &["-r", "1000000"]),
        ("a million keys, pipelined", &["-r", "1000000", "-P", "16"]),
    ] {
        let (mut alone, mut watched) = (0_f64, 0_f64);
        let (mut seen, mut gaps) = (Watched::default(), 0);
        for round in 1..=ROUNDS {
            eprintln!("  {what}, round {round} of {ROUNDS} …");
            alone = alone.max(benchmark(&server, args)?);
            let (speed, counts) = under_watch(&server, || benchmark(&server, args))?;
            watched = watched.max(speed);
            gaps += counts.gaps;
            seen = counts;
        }
        ensure!(seen.findings.is_empty(), "{:?}", seen.findings);
        eprintln!(
            "  {} names received, {} keys looked up, {} passed over, {gaps} gaps in all rounds",
            seen.touched, seen.looked_up, seen.passed_over
        );
        table.row(
            &format!("watch, SET of {what}"),
            format!("{watched:.0}/s"),
            format!("redis-benchmark alone {alone:.0}/s"),
            at_least(watched / alone, 0.9),
        );
        if args.contains(&"-P") {
            // Where a server had to be left, names were lost, and it did not keep up.
            let kept_up = if gaps == 0 { watched } else { 0.0 };
            table.row(
                "watch, writes a second that are received on one core",
                format!("{watched:.0}/s, {gaps} gaps, {} names of {WRITES} writes", seen.touched),
                format!("{KEPT_UP} writes a second"),
                at_least(kept_up / f64::from(KEPT_UP), 1.0),
            );
        }
    }
    Ok(())
}

/// Does something while a watch runs.
fn under_watch<T>(server: &Server, act: impl FnOnce() -> Result<T>) -> Result<(T, Watched)> {
    let schema = keyward_schema::read(SCHEMA).schema.ok().context("a schema without errors")?;
    let audit =
        Arc::new(Audit::new(vec![Subject::new(schema)], &keyward_audit::Options::default()));
    let mut watching = Watching::default();
    watching.via = Some(Way::Tracking);
    let began = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            audit.watch(&server.url(), &Options::default(), &watching, &|event| {
                began.fetch_or(matches!(event, Event::Watching { .. }), Ordering::AcqRel);
            })
        });
        while !began.load(Ordering::Acquire) && !watch.is_finished() {
            thread::sleep(Duration::from_millis(5));
        }
        let done = act();
        watching.finish.store(true, Ordering::Release);
        let watched = watch.join().ok().context("no panic")??;
        Ok((done?, watched))
    })
}

/// Requests a second.
fn benchmark(server: &Server, args: &[&str]) -> Result<f64> {
    let port = server.port().to_string();
    let output = Command::new("redis-benchmark")
        .args(["-p", &port, "-t", "set", "-n", &WRITES.to_string(), "--csv"])
        .args(args)
        .stderr(Stdio::null())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let line = text.lines().last().context("a line of redis-benchmark")?;
    let speed = line.split(',').nth(1).context("a number")?.trim_matches('"');
    Ok(speed.parse()?)
}

fn pin(process: u32, core: &str) -> Result<()> {
    let status = Command::new("taskset")
        .args(["-a", "-p", "-c", core, &process.to_string()])
        .stdout(Stdio::null())
        .status()
        .context("`taskset` pins the server to a core")?;
    ensure!(status.success(), "`taskset` failed");
    Ok(())
}
