//! What `keyward serve` takes with 1,000 definitions and a year of history: every page and every resource of the API, the
//! processor while nothing happens, and memory.

mod asked;
mod year;

use super::{Table, at_most};
use anyhow::{Context, Result, ensure};
use asked::Client;
use keyward_testkit::Server;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How many definitions there are, and how many keys each has.
const DEFINITIONS: usize = 1_000;
const KEYS: usize = 20;
/// How often each address is asked for.
const ROUNDS: usize = 11;
/// The bounds: an answer, the share of a core, and memory.
const ANSWER: Duration = Duration::from_millis(100);
const PROCESSOR: f64 = 0.01;
const MEMORY: f64 = 100e6;
/// How long it is idle.
const IDLE: Duration = Duration::from_secs(60);

pub(super) fn run(table: &mut Table) -> Result<()> {
    let program = program()?;
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("keyward.toml"), schema())?;
    let server = Server::redis();
    fill(&server)?;
    eprintln!("  one audit of {} keys …", server.command(&["DBSIZE"]).integer());
    Running::start(&program, folder.path(), &server)?.end()?;
    let (audits, bytes) = year::write(&folder.path().join("state/history.sqlite"))?;
    eprintln!("  a year of history: {audits} audits, {:.0} MB", bytes as f64 / 1e6);

    let running = Running::start(&program, folder.path(), &server)?;
    let addresses = addresses(&running.client)?;
    let mut slowest = [(Duration::ZERO, String::new()), (Duration::ZERO, String::new())];
    let mut first = (Duration::ZERO, String::new());
    for address in &addresses {
        let mut times = Vec::new();
        for round in 0..ROUNDS {
            let (status, took) = running.client.time(address)?;
            ensure!(status == 200, "{address} answers with {status}");
            if round == 0 && took > first.0 {
                first = (took, address.clone());
            }
            times.push(took);
        }
        times.sort();
        let median = times[ROUNDS / 2];
        eprintln!(
            "  {:>7.1} ms, at most {:>7.1} ms  {address}",
            millis(median),
            millis(times[ROUNDS - 1])
        );
        let slot = &mut slowest[usize::from(address.starts_with("/api/") || address == "/metrics")];
        if median > slot.0 {
            *slot = (median, address.clone());
        }
    }
    let [page, resource] = slowest;
    for (what, (took, address)) in [
        ("serve, slowest page, median", page),
        ("serve, slowest resource of the API, median", resource),
        ("serve, slowest first answer after a start", first),
    ] {
        table.row(
            what,
            format!("{:.1} ms, {address}", millis(took)),
            format!("{} ms", ANSWER.as_millis()),
            at_most(took.as_secs_f64() / ANSWER.as_secs_f64(), 1.0),
        );
    }
    idle(table, &running)?;
    running.end()
}

/// Processor and memory while nobody asks.
fn idle(table: &mut Table, running: &Running) -> Result<()> {
    eprintln!("  idle for {} s …", IDLE.as_secs());
    let (before, began) = (running.processor()?, Instant::now());
    thread::sleep(IDLE);
    let share =
        running.processor()?.saturating_sub(before).as_secs_f64() / began.elapsed().as_secs_f64();
    table.row(
        "serve, idle, share of a core",
        format!("{:.2} %", share * 100.0),
        format!("{:.0} %", PROCESSOR * 100.0),
        at_most(share / PROCESSOR, 1.0),
    );
    for (what, field) in [("serve, memory when idle", "VmRSS"), ("serve, most memory", "VmHWM")] {
        let bytes = running.memory(field)?;
        table.row(
            what,
            format!("{:.0} MB", bytes / 1e6),
            format!("{:.0} MB", MEMORY / 1e6),
            at_most(bytes / MEMORY, 1.0),
        );
    }
    Ok(())
}

/// The program, with optimisation.
fn program() -> Result<std::path::PathBuf> {
    let root = crate::root()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .current_dir(&root)
        .args(["build", "--quiet", "--release", "--package", "keyward-cli"])
        .status()?;
    ensure!(built.success(), "the program did not build");
    Ok(root.join("target/release/keyward"))
}

fn schema() -> String {
    let mut schema = String::from(
        "version = 1\n[keyspace]\nname = \"large\"\nprefix = \"large:\"\n[params]\nid = \"uint\"\n",
    );
    for number in 0..DEFINITIONS {
        let (owner, group) = (number % 20, number % 50);
        let _ = write!(
            schema,
            "[keys.kind_{number}]\ndoc = \"What a program keeps as kind {number}, until it is read again\"\n\
             pattern = \"kind_{number}:{{id}}\"\ntype = \"string\"\nttl = \"1h\"\nowner = \"team_{owner}\"\n\
             group = \"group_{group}\"\n"
        );
    }
    for owner in 0..20 {
        let _ = write!(schema, "[owners.team_{owner}]\ncontact = \"team-{owner}@example.org\"\n");
    }
    for group in 0..50 {
        let _ = writeln!(schema, "[groups.group_{group}]");
    }
    schema
}

/// Every definition has a finding: one key without a TTL. Some keys fit nothing.
fn fill(server: &Server) -> Result<()> {
    let script = format!(
        "for kind = 0, {} do for id = 1, {KEYS} do local key = 'large:kind_' .. kind .. ':' .. id \
         redis.call('SET', key, string.rep('x', 10 + (kind * 7 + id * 13) % 400)) \
         if id > 1 then redis.call('EXPIRE', key, 1800 + id) end end end \
         for id = 1, 500 do redis.call('SET', 'lrge:knd_' .. (id % 40) .. ':' .. id, 'x') end return 1",
        DEFINITIONS - 1
    );
    ensure!(server.command(&["EVAL", &script, "0"]).integer() == 1, "the server was not filled");
    Ok(())
}

/// Every page, and every resource that the description of the API names.
fn addresses(client: &Client) -> Result<Vec<String>> {
    let mut addresses: Vec<String> = [
        "",
        "?time=year",
        "/definitions",
        "/definitions?q=kind_9&sort=keys",
        "/definitions/large/kind_7",
        "/definitions/large/kind_7?time=year",
        "/findings",
        "/findings?owner=team_3",
        "/unknown",
        "/server",
        "/server?time=year",
        "/migrations",
        "/queues",
        "/compare",
        "/key",
        "/reference",
        "/add",
        "/checklist",
    ]
    .into_iter()
    .map(|path| format!("/s/main{path}"))
    .collect();
    addresses.extend(["/fleet".to_owned(), "/metrics".to_owned()]);
    let history = client.json("/api/v1/servers/main/history?from=0")?;
    let audits = history["audits"].as_array().context("a list of audits")?;
    let at = |audit: Option<&Value>| audit.and_then(|it| it["at"].as_u64()).context("a moment");
    let (from, to) = (at(audits.first())?, at(audits.last())?);
    let description = client.json("/api/v1/openapi.json")?;
    for (path, methods) in description["paths"].as_object().context("paths")? {
        if methods.get("get").is_none() {
            continue;
        }
        let path = path.replace("{server}", "main").replace("{schema}", "large");
        let path = path.replace("{definition}", "kind_7");
        addresses.push(match path.as_str() {
            path if path.ends_with("/compare") => format!("{path}?from={from}&to={to}"),
            path if path.contains("/history") => format!("{path}?from=0"),
            path => path.to_owned(),
        });
    }
    Ok(addresses)
}

/// `keyward serve`, after its first audit.
struct Running {
    child: Child,
    client: Client,
}

impl Running {
    fn start(program: &Path, folder: &Path, server: &Server) -> Result<Self> {
        let config = format!(
            "state = \"state\"\nlisten = \"127.0.0.1:0\"\n[servers.main]\nurl = \"{}\"\nevery = \"1h\"\n\
             schemas = [\"keyward.toml\"]\n",
            server.url()
        );
        let config_path = folder.join("serve.toml");
        fs::write(&config_path, config)?;
        let log = folder.join("log");
        let child = Command::new(program)
            .arg("serve")
            .arg("--config")
            .arg(config_path)
            .env_remove("KEYWARD_TOKEN")
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log)?)
            .spawn()?;
        let mut running = Running { child, client: Client::default() };
        let began = Instant::now();
        loop {
            let text = fs::read_to_string(&log)?;
            let line = text.lines().find_map(|line| line.strip_prefix("listening on http://"));
            if let Some(address) = line {
                running.client = Client::new(address);
                break;
            }
            ensure!(running.child.try_wait()?.is_none(), "it ended: {text}");
            ensure!(began.elapsed() < Duration::from_secs(60), "it does not listen: {text}");
            thread::sleep(Duration::from_millis(20));
        }
        let is_idle = || -> Result<bool> {
            let state = running.client.json("/api/v1/servers/main/server")?;
            Ok(state["auditing"]["state"] == "idle")
        };
        while !is_idle()? {
            ensure!(began.elapsed() < Duration::from_secs(300), "the audit does not end");
            thread::sleep(Duration::from_millis(50));
        }
        Ok(running)
    }

    /// What the processor has done for it.
    fn processor(&self) -> Result<Duration> {
        const TICKS: f64 = 100.0;
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields = stat.rsplit(')').next().context("a line of fields")?;
        let mut fields = fields.split_whitespace().skip(11);
        let mut next = || fields.next().and_then(|it| it.parse::<f64>().ok()).context("a number");
        Ok(Duration::from_secs_f64((next()? + next()?) / TICKS))
    }

    fn memory(&self, field: &str) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|it| it.strip_prefix(field)).context("a line")?;
        let kilobytes = line.split_whitespace().nth(1).context("a number")?;
        Ok(kilobytes.parse::<f64>()? * 1024.0)
    }

    fn end(mut self) -> Result<()> {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM)?;
        ensure!(self.child.wait()?.success(), "it did not end well");
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already, unless something failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
