//! A server, the clients at it, and the faults.

use super::Role;
use super::client::Running;
use super::history::{Fault, History, Kind, now};
use anyhow::{Context as _, Result};
use keyward_testkit::{Cluster, Flavor, Harm, Migration, Proxy, Server, wait_until};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How many clients run at once.
const CLIENTS: usize = 6;
/// Longer than the leases and TTLs of all roles here, so that some faults outlast them.
const LONGEST_MS: u64 = 2000;

/// Where a role is tortured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Redis,
    Valkey,
    /// Three primaries and their replicas, of Valkey
    Cluster,
}

impl Place {
    pub(super) const ALL: [Place; 3] = [Place::Redis, Place::Valkey, Place::Cluster];

    pub(super) fn name(self) -> &'static str {
        match self {
            Place::Redis => "redis",
            Place::Valkey => "valkey",
            Place::Cluster => "cluster",
        }
    }
}

/// When the server's log of writes is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fsync {
    /// Before a write is answered
    Always,
    /// Up to two seconds later
    EverySecond,
}

/// Servers and their clients.
pub(super) struct Arena {
    role: &'static Role,
    site: Site,
    url: String,
    folder: PathBuf,
    /// Which faults are done
    random: fastrand::Rng,
    /// What clients do
    seeds: fastrand::Rng,
    running: Vec<Running>,
    /// How many clients were started
    started: usize,
    /// Faults that are not done in this run
    spared: Vec<Kind>,
    history: History,
}

enum Site {
    Single { server: Server, proxy: Proxy },
    Cluster(Cluster),
}

impl Arena {
    pub(super) fn new(role: &'static Role, place: Place, fsync: Fsync, seed: u64) -> Result<Self> {
        let single = |flavor: Flavor| {
            let fsync = if fsync == Fsync::Always { "always" } else { "everysec" };
            let options = flavor.server().config("appendonly", "yes").config("appendfsync", fsync);
            let server = options.start();
            // A delay of nothing is no harm.
            let proxy = Proxy::new(&server, Harm::Delay(Duration::ZERO));
            Site::Single { server, proxy }
        };
        let site = match place {
            Place::Redis => single(Flavor::Redis),
            Place::Valkey => single(Flavor::Valkey),
            Place::Cluster => Site::Cluster(Cluster::start(Flavor::Valkey)),
        };
        let url = match &site {
            Site::Single { proxy, .. } => proxy.url(),
            Site::Cluster(cluster) => {
                let nodes: Vec<String> = cluster.nodes().iter().map(Server::address).collect();
                format!("redis+cluster://{}", nodes.join(","))
            }
        };
        let folder = site.servers()[0].folder().join("histories");
        fs::create_dir(&folder)?;
        let mut random = fastrand::Rng::with_seed(seed);
        let history = History {
            is_durable: fsync == Fsync::Always,
            is_cluster: place == Place::Cluster,
            ..History::default()
        };
        Ok(Arena {
            role,
            site,
            url,
            folder,
            seeds: random.fork(),
            random,
            running: Vec::new(),
            started: 0,
            spared: Vec::new(),
            history,
        })
    }

    /// Leaves some faults out.
    pub(super) fn spare(mut self, kinds: &[Kind]) -> Self {
        self.spared.extend(kinds);
        self
    }

    /// Lets the clients work and does harm for some time; everything that they saw.
    pub(super) fn run(mut self, length: Duration) -> Result<History> {
        for _ in 0..CLIENTS {
            self.start_client()?;
        }
        let end = Instant::now() + length;
        let kinds = self.kinds();
        while Instant::now() < end {
            let pause = self.time(300);
            sleep(pause.min(end.saturating_duration_since(Instant::now())));
            if let Some(kind) = self.random.choice(&kinds) {
                self.harm(*kind)?;
            }
        }
        for client in std::mem::take(&mut self.running) {
            client.end(true)?;
        }
        for number in 0..self.started {
            let lines = self.read(&number.to_string())?;
            self.history.clients.push(lines);
        }
        self.start("last", true)?.end(false)?;
        self.history.last = self.read("last")?;
        self.history.left = self.site.keys();
        Ok(self.history)
    }

    fn kinds(&self) -> Vec<Kind> {
        let all: &[Kind] = match &self.site {
            Site::Single { .. } => &Kind::SINGLE,
            Site::Cluster(_) => &Kind::CLUSTER,
        };
        let spares = |kind: &Kind| self.role.spares.contains(kind) || self.spared.contains(kind);
        all.iter().copied().filter(|kind| !spares(kind)).collect()
    }

    fn read(&self, name: &str) -> Result<Vec<String>> {
        let text =
            fs::read_to_string(self.folder.join(name)).context("a client wrote no history")?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    fn start(&mut self, name: &str, is_last: bool) -> Result<Running> {
        let (seed, file) = (self.seeds.u64(..), self.folder.join(name));
        Running::start(self.started, (self.role.name, &self.url), seed, is_last, &file)
    }

    fn start_client(&mut self) -> Result<()> {
        let client = self.start(&self.started.to_string(), false)?;
        self.started += 1;
        self.running.push(client);
        Ok(())
    }

    /// A random time up to so many milliseconds.
    fn time(&mut self, up_to: u64) -> Duration {
        Duration::from_millis(self.random.u64(1..=up_to))
    }

    /// Does one harm, undoes it, and notes it.
    fn harm(&mut self, kind: Kind) -> Result<()> {
        // Drawn for every kind, so that the order of faults does not depend on them.
        let (at, length) = (self.random.usize(..CLIENTS), self.time(LONGEST_MS));
        let from = now();
        let mut client = None;
        match (kind, &self.site) {
            (Kind::KillClient, _) => {
                let killed = self.running.swap_remove(at);
                client = Some(killed.number);
                killed.kill()?;
                self.start_client()?;
            }
            (Kind::StopClient, _) => {
                let stopped = &self.running[at];
                client = Some(stopped.number);
                stopped.stop()?;
                sleep(length);
                stopped.resume()?;
            }
            (Kind::ForgetScripts, site) => {
                for server in site.servers() {
                    server.command(&["SCRIPT", "FLUSH"]);
                }
            }
            (kind, Site::Single { server, proxy }) => harm_server(kind, server, proxy, length),
            (Kind::Reshard, Site::Cluster(cluster)) => reshard(cluster, at, length),
            (_, Site::Cluster(cluster)) => fail_over(cluster, at),
        }
        self.history.faults.push(Fault { kind, client, from, to: now() });
        Ok(())
    }
}

impl Site {
    fn servers(&self) -> Vec<&Server> {
        match self {
            Site::Single { server, .. } => vec![server],
            Site::Cluster(cluster) => cluster.nodes().iter().collect(),
        }
    }

    /// All keys, of a few.
    fn keys(&self) -> Vec<String> {
        let primaries = self.servers().into_iter().filter(|server| server.is_primary());
        let keys = primaries.flat_map(|server| server.command(&["KEYS", "*"]).array());
        keys.map(keyward_testkit::Reply::text).collect()
    }
}

/// Does one harm to a server or the way to it, and undoes it.
fn harm_server(kind: Kind, server: &Server, proxy: &Proxy, length: Duration) {
    let config = |name: &str, value: &str| _ = server.command(&["CONFIG", "SET", name, value]);
    match kind {
        Kind::PauseServer => {
            server.pause();
            sleep(length);
            server.resume();
        }
        Kind::RestartServer => {
            server.kill();
            sleep(length / 4);
            server.restart();
        }
        Kind::Flush => _ = server.command(&["FLUSHALL"]),
        Kind::Refuse => {
            config("maxmemory", "1");
            sleep(length / 2);
            config("maxmemory", "0");
        }
        Kind::Evict => evict(server),
        Kind::Delay => {
            proxy.harm(Harm::Delay(length / 4));
            sleep(length / 2);
            proxy.harm(Harm::Delay(Duration::ZERO));
        }
        Kind::Cut => proxy.cut(),
        Kind::Reset => proxy.reset(),
        Kind::KillClient
        | Kind::StopClient
        | Kind::ForgetScripts
        | Kind::FailOver
        | Kind::Reshard => {}
    }
}

/// Fills the server, and lets it evict about half of what it has.
fn evict(server: &Server) {
    let block = "x".repeat(10_000);
    let filler: Vec<String> = (0..200).map(|number| format!("filler:{number}")).collect();
    for key in &filler {
        server.command(&["SET", key, &block]);
    }
    let info = server.command(&["INFO", "memory"]).text();
    let used = info.lines().find_map(|line| line.strip_prefix("used_memory:"));
    let used: u64 = used.and_then(|used| used.parse().ok()).expect("INFO says what is used");
    for (name, value) in
        [("maxmemory-policy", "allkeys-random"), ("maxmemory", &(used - 1_000_000).to_string())]
    {
        server.command(&["CONFIG", "SET", name, value]);
    }
    // A command that needs memory evicts first.
    server.command(&["SET", "filler:0", "x"]);
    for (name, value) in [("maxmemory", "0"), ("maxmemory-policy", "noeviction")] {
        server.command(&["CONFIG", "SET", name, value]);
    }
    let mut remove = vec!["UNLINK"];
    remove.extend(filler.iter().map(String::as_str));
    server.command(&remove);
}

/// Kills a primary, lets its replica take over, and brings it back as a replica.
fn fail_over(cluster: &Cluster, at: usize) {
    let primaries = cluster.primaries();
    let killed = primaries[at % primaries.len()];
    killed.kill();
    wait_until("a replica takes over", || cluster.primaries().len() == primaries.len());
    killed.restart();
    wait_until("the old primary follows", || !killed.is_primary() && killed.is_in_sync());
    cluster.wait_until_ok();
}

/// Moves some slots that have keys from one primary to the next, and lets clients meet each step: announced, half of the
/// keys gone, all of them gone, given away.
fn reshard(cluster: &Cluster, at: usize, length: Duration) {
    const SLOTS: usize = 12;
    let index = |server: &Server| cluster.nodes().iter().position(|it| it.port() == server.port());
    let primaries = cluster.primaries();
    let from = primaries[at % primaries.len()];
    let to = primaries[(at + 1) % primaries.len()];
    let (Some(from_index), Some(to_index)) = (index(from), index(to)) else { return };
    let keys = from.command(&["KEYS", "*"]).array();
    let slots = keys.into_iter().map(|key| keyward_pattern::slot(key.text().as_bytes()));
    let slots: BTreeSet<u16> = slots.take(SLOTS).collect();
    let mut moving: Vec<_> =
        slots.into_iter().map(|slot| cluster.migrate(slot, from_index, to_index)).collect();
    sleep(length / 8);
    let rest = moving.split_off(moving.len() / 2);
    moving.iter().for_each(Migration::carry);
    sleep(length / 8);
    rest.iter().for_each(Migration::carry);
    moving.into_iter().for_each(Migration::end);
    sleep(length / 8);
    rest.into_iter().for_each(Migration::end);
    cluster.wait_until_ok();
}
