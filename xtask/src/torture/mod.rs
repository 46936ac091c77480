//! `cargo xtask torture`: clients that are killed and stopped, servers that are paused, killed, flushed and filled,
//! links that are cut, and a check of what the clients have seen meanwhile.
//!
//! # To add a role
//!
//! Write `torture/<role>.rs` with a constant [`Role`], and add it to [`ROLES`]. The role has
//!
//! - a **client**: a function that runs in a process of its own and works at [`Client::url`] until
//!   [`Client::over`] is ready. It notes what it asks for and what it is answered with [`Client::log`], one line each,
//!   in words of its own. It must expect every error, and to be killed between any two lines. When all clients have
//!   ended, one more is started with [`Client::is_last`], which nobody harms: it can drain a queue, or read what is left.
//! - a **check**: a function that finds in those lines what must never happen. [`History::faults`] says what was done
//!   to whom and when, for what a fault excuses. Test it with histories that must fail.
//! - the faults that it **spares**, since nothing can be promised across them: a queue does not survive FLUSHALL.
//! - **owns**: whether a key that is left on the server belongs to its schema.
//!
//! The seed decides which faults are done, in which order and for how long. How far the clients get between two
//! faults is left to the machine.

mod arena;
mod cache;
mod client;
mod failover;
mod history;
mod index;
mod limit;
mod lock;
mod plan;
mod queue;
mod quota;
mod session;
mod spans;

use anyhow::{Context as _, Result, bail};
use arena::{Arena, Fsync, Place};
use client::Client;
use history::{History, Kind, Verdict};
use std::time::Duration;

/// The roles that can be tortured.
const ROLES: [Role; 10] = [
    lock::ROLE,
    queue::ROLE,
    limit::ROLE,
    quota::ROLE,
    cache::ROLE,
    session::ROLE,
    index::ROLE,
    plan::DUAL,
    plan::FALLBACK,
    plan::CLEANUP,
];

/// What is tortured.
struct Role {
    name: &'static str,
    client: fn(Client) -> Result<()>,
    check: fn(&History) -> Verdict,
    /// Faults that are not done to it
    spares: &'static [Kind],
    owns: fn(&str) -> bool,
    /// Whether its client works at a cluster too, whose URL begins with `redis+cluster:`
    on_cluster: bool,
}

/// Runs the roles one after another, on each kind of server.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    if let ["--client", rest @ ..] = args {
        let client = Client::from_args(rest)?;
        return (role(&client.role)?.client)(client);
    }
    if let ["--failovers", count] = args {
        return failover::run(count.parse().context("`--failovers` takes a number")?);
    }
    let options = Options::read(args)?;
    let mut sum = Sum::default();
    for role in &options.roles {
        let places = || Place::ALL.into_iter().filter(|it| options.suits(role, *it));
        let share = options.length / u32::try_from(places().count().max(1))?;
        for place in places() {
            sum.add(torture(role, place, share, &options)?);
        }
    }
    println!(
        "{} operations, {} faults, {} clients killed ({} while they applied a plan), {} servers killed, \
         {} violations (seed {})",
        sum.operations,
        sum.faults,
        sum.clients_killed,
        sum.plans_killed,
        sum.servers_killed,
        sum.violations,
        options.seed
    );
    if sum.violations > 0 {
        bail!("run the same faults again with `--seed {}`", options.seed);
    }
    Ok(())
}

struct Options {
    length: Duration,
    roles: Vec<&'static Role>,
    place: Option<Place>,
    seed: u64,
    fsync: Fsync,
    spared: Vec<Kind>,
}

impl Options {
    fn read(args: &[&str]) -> Result<Self> {
        let mut options = Options {
            length: Duration::from_mins(1),
            roles: Vec::new(),
            place: None,
            seed: fastrand::u64(..),
            fsync: Fsync::Always,
            spared: Vec::new(),
        };
        for pair in args.chunks(2) {
            match pair {
                ["--minutes", minutes] => {
                    let minutes: f64 = minutes.parse().context("`--minutes` takes a number")?;
                    let length = Duration::try_from_secs_f64(minutes * 60.0);
                    options.length = length.context("`--minutes` takes a positive number")?;
                }
                ["--role", name] => options.roles.push(role(name)?),
                ["--seed", seed] => {
                    options.seed = seed.parse().context("`--seed` takes a number")?;
                }
                ["--on", name] => {
                    let place = Place::ALL.into_iter().find(|place| place.name() == *name);
                    options.place = Some(place.context("`--on` takes redis, valkey or cluster")?);
                }
                ["--spare", name] => {
                    let kind = Kind::find(name)
                        .context("`--spare` takes a fault: FailOver, Reshard, …")?;
                    options.spared.push(kind);
                }
                ["--fsync", "everysec"] => options.fsync = Fsync::EverySecond,
                ["--fsync", "always"] => options.fsync = Fsync::Always,
                other => bail!(
                    "`{}` is not an option: --minutes N, --role R, --seed S, --on redis|valkey|cluster, \
                     --fsync always|everysec, --spare FAULT",
                    other.join(" ")
                ),
            }
        }
        if options.roles.is_empty() {
            options.roles.extend(&ROLES);
        }
        Ok(options)
    }

    fn suits(&self, role: &Role, place: Place) -> bool {
        self.place.is_none_or(|it| it == place) && (role.on_cluster || place != Place::Cluster)
    }
}

fn role(name: &str) -> Result<&'static Role> {
    let names: Vec<&str> = ROLES.iter().map(|role| role.name).collect();
    let found = ROLES.iter().find(|role| role.name == name);
    found.with_context(|| {
        format!("`{name}` is not a role that can be tortured: {}", names.join(", "))
    })
}

#[derive(Clone, Copy, Default)]
struct Sum {
    operations: usize,
    faults: usize,
    clients_killed: usize,
    /// Those of the clients that were applying a plan
    plans_killed: usize,
    servers_killed: usize,
    violations: usize,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.operations += other.operations;
        self.faults += other.faults;
        self.clients_killed += other.clients_killed;
        self.plans_killed += other.plans_killed;
        self.servers_killed += other.servers_killed;
        self.violations += other.violations;
    }
}

/// One role at one kind of server.
fn torture(role: &'static Role, place: Place, length: Duration, options: &Options) -> Result<Sum> {
    const SHOWN: usize = 20;
    let arena = Arena::new(role, place, options.fsync, options.seed)?.spare(&options.spared);
    let history = arena.run(length)?;
    let mut verdict = (role.check)(&history);
    for key in history.left.iter().filter(|key| !(role.owns)(key)) {
        verdict.violation(format!("`{key}` belongs to no definition"));
    }
    for violation in verdict.violations.iter().take(SHOWN) {
        println!("  {violation}");
    }
    if verdict.violations.len() > SHOWN {
        println!("  and {} more", verdict.violations.len() - SHOWN);
    }
    if !verdict.violations.is_empty() {
        history.faults.iter().for_each(|fault| println!("  {fault}"));
    }
    let remarks = verdict.remarks.join("; ");
    println!(
        "{} on {}: {} operations, {} faults ({}), {} violations; {remarks}",
        role.name,
        place.name(),
        verdict.operations,
        history.faults.len(),
        history.counted(),
        verdict.violations.len(),
    );
    let count =
        |kinds: &[Kind]| history.faults.iter().filter(|it| kinds.contains(&it.kind)).count();
    Ok(Sum {
        operations: verdict.operations,
        faults: history.faults.len(),
        clients_killed: count(&[Kind::KillClient]),
        plans_killed: verdict.interrupted,
        servers_killed: count(&[Kind::RestartServer, Kind::FailOver]),
        violations: verdict.violations.len(),
    })
}
