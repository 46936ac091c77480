//! Reading a live server, against `redis-cli --bigkeys`; the default pace, against no bound, near and far; and
//! what it does to the server's other clients, against `redis-benchmark` alone.

use super::{Table, at_least, at_most, key_count, mix};
use anyhow::{Context, Result, ensure};
use keyward_audit::Observer;
use keyward_audit::live::{self, Ended, Error, Options, Via};
use keyward_fact::{Element, Fact, Show};
use keyward_testkit::{Harm, Proxy, Server};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;

/// Counts, and looks at all that a scan tells.
#[derive(Default)]
struct Sums {
    keys: u64,
    bytes: u64,
    expiring: u64,
    lengths: u64,
}

impl Observer for Sums {
    fn begin(&mut self, fact: &Fact<'_>) -> Show {
        self.expiring += u64::from(fact.expires_at.is_some());
        Show::NOTHING
    }

    fn element(&mut self, _: &Element<'_>) {}

    fn end(&mut self, fact: &Fact<'_>) {
        self.keys += 1;
        self.bytes += fact.bytes.unwrap_or(0);
        self.lengths += fact.length.unwrap_or(0);
    }
}

pub(super) fn run(table: &mut Table) -> Result<()> {
    let keys = key_count()?;
    let server = mix::serve(&crate::root()?, keys)?;
    speed(&server, keys, table)?;
    for delay in [0, 1, 5, 20].map(Duration::from_millis) {
        let proxy = (!delay.is_zero()).then(|| Proxy::new(&server, Harm::Delay(delay)));
        let url = proxy.map_or_else(|| server.url(), |proxy| proxy.url());
        let place = match delay.as_millis() {
            0 => "on this machine".to_owned(),
            millis => format!("{millis} ms away"),
        };
        pace(&url, keys, &place, table)?;
        if delay.is_zero() || delay.as_millis() == 20 {
            disturbance(&server, &url, &place, table)?;
        }
    }
    Ok(())
}

/// A scan with default settings of a server that does nothing else, against one without a bound.
fn pace(url: &str, keys: u64, place: &str, table: &mut Table) -> Result<()> {
    let mut free = Options::default();
    free.bound = None;
    let mut best = [Duration::MAX; 2];
    for round in 1..=ROUNDS {
        eprintln!("  {place}, round {round} of {ROUNDS} …");
        for (options, best) in [&free, &Options::default()].into_iter().zip(&mut best) {
            let start = Instant::now();
            let seen = live::observe(url, options, |_| Sums::default()).and_then(Ended::whole)?;
            *best = (*best).min(start.elapsed());
            let latency = seen.shards[0].0.latency;
            eprintln!("    {:.2} s, PINGs {latency:?}", start.elapsed().as_secs_f64());
        }
    }
    let [free, bound] = best.map(|best| best.as_secs_f64());
    table.row(
        &format!("live, {keys} keys {place}, default scan"),
        format!("{bound:.2} s"),
        format!("--unbounded {free:.2} s"),
        at_most(bound / free, 2.0),
    );
    Ok(())
}

/// Each contestant's best of a few turns.
fn speed(server: &Server, keys: u64, table: &mut Table) -> Result<()> {
    let mut exact = Options::default();
    exact.bound = None;
    (exact.values, exact.encodings) = (false, false);
    let mut encodings = exact.clone();
    encodings.encodings = true;
    let mut lengths = encodings.clone();
    lengths.values = true;
    let mut snapshot = lengths.clone();
    snapshot.via = Via::Snapshot;
    let ways = [
        ("scan: type, TTL, MEMORY USAGE", exact, Some(3.0)),
        ("scan: and encodings", encodings, None),
        ("scan: and lengths", lengths, None),
        ("snapshot: all of it", snapshot, Some(5.0)),
    ];
    let mut peer = Duration::MAX;
    let mut best = [Duration::MAX; 4];
    for round in 1..=ROUNDS {
        eprintln!("  round {round} of {ROUNDS} …");
        peer = peer.min(bigkeys(server)?);
        for ((what, options, _), best) in ways.iter().zip(&mut best) {
            let there = server.command(&["DBSIZE"]).integer().unsigned_abs();
            let start = Instant::now();
            let seen = live::observe(&server.url(), options, |_| Sums::default());
            let seen = seen.and_then(Ended::whole).context(*what)?;
            *best = (*best).min(start.elapsed());
            let sums = &seen.shards[0].1;
            // A few expire meanwhile.
            ensure!(sums.keys * 100 > there * 95, "{what} saw {} of {there} keys", sums.keys);
        }
    }
    for ((what, _, bound), best) in ways.iter().zip(best) {
        table.row(
            &format!("live, {keys} keys, {what}"),
            format!("{:.2} s", best.as_secs_f64()),
            format!("redis-cli --bigkeys {:.2} s", peer.as_secs_f64()),
            match bound {
                Some(bound) => at_least(peer.as_secs_f64() / best.as_secs_f64(), *bound),
                None => format!("{:.2}×", peer.as_secs_f64() / best.as_secs_f64()),
            },
        );
    }
    Ok(())
}

fn bigkeys(server: &Server) -> Result<Duration> {
    let start = Instant::now();
    let status = Command::new("redis-cli")
        .args(["-p", &server.port().to_string(), "--bigkeys"])
        .stdout(Stdio::null())
        .status()
        .context("run `redis-cli`")?;
    ensure!(status.success(), "`redis-cli --bigkeys` failed");
    Ok(start.elapsed())
}

/// What other clients wait for, alone and beside a scan with default settings, in turn.
fn disturbance(server: &Server, url: &str, place: &str, table: &mut Table) -> Result<()> {
    let mut idle = Vec::new();
    let mut beside = Vec::new();
    for round in 1..=ROUNDS {
        eprintln!("  waiting beside a scan, round {round} of {ROUNDS} …");
        idle.push(p99(server)?);
        let options = Options::default();
        let scan = || -> Result<()> {
            while !options.stop.load(Ordering::Relaxed) {
                match live::observe(url, &options, |_| Sums::default()) {
                    Ok(_) | Err(Error::Stopped) => {}
                    Err(error) => return Err(error).context("the scan beside"),
                }
            }
            Ok(())
        };
        let measured = std::thread::scope(|scope| {
            let scan = scope.spawn(scan);
            // What is measured is the scan at work, not its first steps.
            while options.progress.keys.load(Ordering::Relaxed) == 0 && !scan.is_finished() {
                std::thread::sleep(Duration::from_millis(1));
            }
            let measured = p99(server);
            options.stop.store(true, Ordering::Relaxed);
            scan.join().expect("a scan does not panic")?;
            measured
        })?;
        beside.push(measured);
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (idle, beside) = (median(&mut idle), median(&mut beside));
    table.row(
        &format!("live, p99 of another client beside a default scan {place}"),
        format!("{beside:.3} ms"),
        format!("redis-benchmark alone {idle:.3} ms"),
        at_most(beside / idle, 2.0),
    );
    Ok(())
}

/// The slower of SET and GET, in milliseconds.
fn p99(server: &Server) -> Result<f64> {
    let output = Command::new("redis-benchmark")
        .args(["-p", &server.port().to_string(), "-t", "set,get", "-n", "200000", "--csv"])
        .stderr(Stdio::null())
        .output()
        .context("run `redis-benchmark`")?;
    let text = String::from_utf8(output.stdout)?;
    let mut lines = text.lines();
    let unquoted = |line: &str| -> Vec<String> {
        line.split(',').map(|cell| cell.trim_matches('"').to_owned()).collect()
    };
    let title = unquoted(lines.next().context("`redis-benchmark` prints a title")?);
    let column = title.iter().position(|name| name == "p99_latency_ms");
    let column = column.context("`redis-benchmark` tells p99")?;
    let cells = lines.map(|line| unquoted(line).get(column).and_then(|cell| cell.parse().ok()));
    let cells: Option<Vec<f64>> = cells.collect();
    cells.context("numbers")?.into_iter().reduce(f64::max).context("two lines")
}
