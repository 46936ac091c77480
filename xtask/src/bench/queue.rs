//! Jobs pushed and handled, against `BullMQ` and apalis-redis: the same payload, one process that pushes and one that
//! handles, as many at once, completed jobs removed, a status for every job.
//!
//! apalis keeps what it has completed until it is told to vacuum, which is not counted. Its worker fails where more than
//! about 8,000 jobs wait, so that fewer are pushed.

use super::{Table, at_least, at_most};
use anyhow::{Context, Result, ensure};
use jobs::{keys, values};
use keyward::Store;
use keyward::queue::{Failure, Job, Push};
use keyward_testkit::Server;
use std::cell::Cell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

#[expect(unreachable_pub, reason = "the keys of a keyspace are public, and so is what they hold")]
mod model {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct Task {
        pub name: String,
        pub size: u64,
        pub note: String,
    }
}

keyward::keyspace!("src/bench/queue.toml", values = crate::bench::queue::model);

const JOBS: u64 = 5_000;
const AT_ONCE: usize = 10;
const ROUNDS: usize = 5;
/// Jobs that wait while others are pushed and handled.
const WAITING: u64 = 1_000_000;

pub(super) fn run(table: &mut Table) -> Result<()> {
    let ours =
        Peer { program: std::env::current_exe()?, args: vec!["bench".into(), "--jobs".into()] };
    let contestants = [("Keyward", ours), ("BullMQ", bullmq()?), ("apalis-redis", apalis()?)];
    let mut best: [Option<Spent>; 3] = [None; 3];
    for _ in 0..ROUNDS {
        for ((name, peer), best) in contestants.iter().zip(&mut best) {
            let spent = peer.compete().with_context(|| format!("{name} failed"))?;
            *best = Some(best.map_or(spent, |best| best.or(spent)));
        }
    }
    let [Some(ours), Some(bullmq), Some(apalis)] = best else { return Ok(()) };
    for (what, of) in [("pushed", Spent::pushing as fn(Spent) -> f64), ("handled", Spent::working)]
    {
        for (peer, spent, bound) in [("BullMQ", bullmq, 3.0), ("apalis-redis", apalis, 1.0)] {
            table.row(
                &format!("jobs {what}, {AT_ONCE} at once"),
                format!("{:.0}/s", of(ours)),
                format!("{:.0}/s {peer}", of(spent)),
                at_least(of(ours) / of(spent), bound),
            );
        }
    }
    table.row(
        "microseconds of the server a job",
        format!("{:.0}", ours.server),
        format!("{:.0} BullMQ, {:.0} apalis-redis", bullmq.server, apalis.server),
        String::new(),
    );
    crowded(table)
}

/// What a contestant took at best.
#[derive(Debug, Clone, Copy)]
struct Spent {
    /// Seconds for all jobs
    push: f64,
    work: f64,
    /// Microseconds of the server's processor for a job
    server: f64,
}

impl Spent {
    fn or(self, other: Spent) -> Spent {
        Spent {
            push: self.push.min(other.push),
            work: self.work.min(other.work),
            server: self.server.min(other.server),
        }
    }

    fn pushing(self) -> f64 {
        JOBS as f64 / self.push
    }

    fn working(self) -> f64 {
        JOBS as f64 / self.work
    }
}

/// A program that pushes or handles jobs, and prints the seconds that it took.
struct Peer {
    program: PathBuf,
    args: Vec<String>,
}

impl Peer {
    fn compete(&self) -> Result<Spent> {
        let server = Server::redis();
        let before = processor(&server)?;
        let push = self.run("push", &server)?;
        let work = self.run("work", &server)?;
        let server = (processor(&server)? - before) * 1e6 / JOBS as f64;
        Ok(Spent { push, work, server })
    }

    fn run(&self, what: &str, server: &Server) -> Result<f64> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).arg(what).arg(server.url());
        let output = command.arg(JOBS.to_string()).arg(AT_ONCE.to_string()).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: {said}", self.program.display());
        let printed = String::from_utf8(output.stdout)?;
        printed.trim().parse().with_context(|| format!("`{printed}` is not a time: {said}"))
    }
}

/// Seconds that the server's processor has worked.
fn processor(server: &Server) -> Result<f64> {
    let info = server.command(&["INFO", "cpu"]).text();
    let of = |name: &str| -> Result<f64> {
        let found = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        Ok(found.context("INFO says what the processor did")?.trim().parse()?)
    };
    Ok(of("used_cpu_sys")? + of("used_cpu_user")?)
}

/// A folder for a peer, with its files.
fn folder(name: &str, files: &[(&str, &str)]) -> Result<PathBuf> {
    let folder = std::env::current_exe()?.with_file_name("bench").join(name);
    for (file, text) in files {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().context("a folder")?)?;
        std::fs::write(path, text)?;
    }
    Ok(folder)
}

fn bullmq() -> Result<Peer> {
    let files = [
        ("package.json", include_str!("queue/bullmq/package.json")),
        ("peer.js", include_str!("queue/bullmq/peer.js")),
    ];
    let folder = folder("bullmq", &files)?;
    build(&folder, "npm", &["install", "--no-audit", "--no-fund"])?;
    let script = folder.join("peer.js").to_string_lossy().into_owned();
    Ok(Peer { program: "node".into(), args: vec![script] })
}

fn apalis() -> Result<Peer> {
    let files = [
        ("Cargo.toml", include_str!("queue/apalis/Cargo.toml")),
        ("src/main.rs", include_str!("queue/apalis/src/main.rs")),
    ];
    let folder = folder("apalis", &files)?;
    build(&folder, "cargo", &["build", "--release", "--quiet", "--target-dir", "target"])?;
    Ok(Peer { program: folder.join("target/release/apalis-peer"), args: Vec::new() })
}

fn build(folder: &Path, program: &str, args: &[&str]) -> Result<()> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).stdout(std::io::stderr());
    let status = command.status().with_context(|| format!("`{program}` cannot be run"))?;
    ensure!(status.success(), "`{program} {}` failed in {}", args.join(" "), folder.display());
    Ok(())
}

/// What Keyward's own process does: `bench --jobs push|work URL JOBS AT_ONCE`.
pub(super) fn client(args: &[&str]) -> Result<()> {
    let [what, url, jobs, at_once] = args else { anyhow::bail!("four arguments") };
    let (jobs, at_once): (u64, usize) = (jobs.parse()?, at_once.parse()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let took = runtime.block_on(async {
        let store = Store::connect(*url).await?;
        match *what {
            "push" => push(&store, "one", 0..jobs, at_once).await,
            _ => work(&store, "one", jobs, at_once).await,
        }
    })?;
    println!("{}", took.as_secs_f64());
    Ok(())
}

fn task(number: u64) -> model::Task {
    model::Task { name: format!("picture-{number}.png"), size: number, note: "x".repeat(200) }
}

fn lane(name: &str) -> Result<values::Lane> {
    Ok(values::Lane::new(name)?)
}

async fn push(store: &Store, name: &str, jobs: Range<u64>, at_once: usize) -> Result<Duration> {
    let began = Instant::now();
    let next = Cell::new(jobs.start);
    let pushing = (0..at_once).map(async |_| -> Result<()> {
        let queue = store.at(keys::Work { lane: lane(name)? });
        loop {
            let number = next.replace(next.get() + 1);
            if number >= jobs.end {
                return Ok(());
            }
            let push = Push::new().id(format!("job-{number}"));
            queue.push_with(&task(number), push).await?;
        }
    });
    futures_util::future::try_join_all(pushing).await?;
    Ok(began.elapsed())
}

async fn work(store: &Store, name: &str, jobs: u64, at_once: usize) -> Result<Duration> {
    let began = Instant::now();
    let handled = Cell::new(0);
    let (done, over) = tokio::sync::oneshot::channel();
    let done = Cell::new(Some(done));
    let queue = store.at(keys::Work { lane: lane(name)? });
    let worker = queue.worker().concurrency(at_once).until(async { _ = over.await });
    let handler = async |job: Job<model::Task>| {
        handled.set(handled.get() + 1);
        if handled.get() == jobs
            && let Some(done) = done.take()
        {
            _ = done.send(());
        }
        Ok::<_, Failure>(job.value.size.to_string())
    };
    worker.run(handler).await?;
    Ok(began.elapsed())
}

/// What a push and a job cost where a million jobs wait, against where a thousand do.
fn crowded(table: &mut Table) -> Result<()> {
    const TURN: u64 = 1_000;
    const TURNS: usize = 21;
    let server = Server::redis();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut spent = [[Vec::new(), Vec::new()], [Vec::new(), Vec::new()]];
    runtime.block_on(async {
        let store = Store::connect(server.url()).await?;
        let waiting: Vec<model::Task> = (0..10_000).map(task).collect();
        let many = store.at(keys::Work { lane: lane("many")? });
        for _ in 0..WAITING / 10_000 {
            many.push_many(&waiting).await?;
        }
        store.at(keys::Work { lane: lane("few")? }).push_many(&waiting[..2_000]).await?;
        for turn in 0..TURNS {
            // Those of the turns before may still wait.
            let first = turn as u64 * TURN;
            for at in if turn % 2 == 0 { [0, 1] } else { [1, 0] } {
                let name = ["many", "few"][at];
                let took = push(&store, name, first..first + TURN, AT_ONCE).await?;
                spent[at][0].push(took.as_secs_f64());
                let took = work(&store, name, TURN, AT_ONCE).await?;
                spent[at][1].push(took.as_secs_f64());
            }
        }
        anyhow::Ok(())
    })?;
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2] * 1e6 / TURN as f64
    };
    let [many, few] = &mut spent;
    for (what, (many, few)) in ["a push", "a job handled"].into_iter().zip(many.iter_mut().zip(few))
    {
        let (many, few) = (median(many), median(few));
        table.row(
            &format!("{what} where a million jobs wait"),
            format!("{many:.1} µs"),
            format!("{few:.1} µs where two thousand do"),
            at_most(many / few, 1.10),
        );
    }
    Ok(())
}
