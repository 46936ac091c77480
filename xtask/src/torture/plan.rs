//! Plans: keys are migrated while stores and other programs write them, and whoever applies the plan is killed.
//!
//! Every client writes keys of its own, each by one task, and notes what was acknowledged and what was not. All of them
//! also apply plans of the whole keyspace, over and over. The last client applies what is left of the phase, and then
//! goes through the phases that follow: each key must be under exactly the names of its phase, with the last
//! acknowledged value or one that was sent after it, and the same end under both names.

use super::Role;
use super::client::{Client, number};
use super::history::{History, Kind, Verdict};
use anyhow::{Context as _, Result, bail, ensure};
use keyward::Store;
use keyward_audit::live::{Options, Primary, Reply};
use keyward_audit::{Mask, Salt};
use keyward_plan::{Applied, ApplyOptions, Control, MakeOptions, Order, Plan};
use keyward_schema::Schema;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

keyward::keyspace!("src/torture/plan_dual.toml");
keyward::keyspace!("src/torture/plan_dual_cluster.toml");
keyward::keyspace!("src/torture/plan_fallback.toml");
keyward::keyspace!("src/torture/plan_fallback_cluster.toml");

/// The old name counts, and programs that know no other one write it.
pub(super) const DUAL: Role = Role {
    name: "plan",
    client: |client| run(client, "dual-write"),
    check,
    spares: &[Kind::Flush, Kind::Evict],
    owns,
    on_cluster: true,
};

/// The new name counts, and all writers are stores.
pub(super) const FALLBACK: Role = Role {
    name: "plan-fallback",
    client: |client| run(client, "read-fallback"),
    check,
    spares: &[Kind::Flush, Kind::Evict],
    owns,
    on_cluster: true,
};

fn owns(key: &str) -> bool {
    let owner = keyward_pattern::owner_of("arena:", key).map_or(key, |(owner, _)| owner);
    plan_dual::Key::parse(owner).is_some()
        || owner.starts_with("Account:")
        || owner.starts_with("Profile:")
        || keyward_pattern::is_plan_marker(key)
}

/// Keys of each task.
const COPIES: u64 = 8;

fn run(client: Client, phase: &'static str) -> Result<()> {
    if client.is_last {
        return finish(&client, phase);
    }
    Client::runtime()?.block_on(async {
        let mut client = client;
        let own = client.random.u64(..u64::from(u32::MAX));
        let seed = client.random.u64(..);
        let client = Arc::new(client);
        let is_cluster = client.url.starts_with("redis+cluster:");
        for task in 0..3 {
            let random = fastrand::Rng::with_seed(seed ^ task);
            let (client, key) = (Arc::clone(&client), (own, task * COPIES));
            tokio::spawn(async move {
                let written = match (phase, is_cluster) {
                    ("dual-write", false) => plan_dual_write(&client, key, random).await,
                    ("dual-write", true) => plan_dual_cluster_write(&client, key, random).await,
                    (_, false) => plan_fallback_write(&client, key, random).await,
                    (_, true) => plan_fallback_cluster_write(&client, key, random).await,
                };
                written.expect("a store can be made");
            });
        }
        if phase == "dual-write" && !is_cluster {
            let random = fastrand::Rng::with_seed(!seed);
            let (client, key) = (Arc::clone(&client), (own, 90));
            tokio::spawn(async move { foreign(&client, key, random).await });
        }
        let url = client.url.clone();
        let folder = folder(&format!("{own}"))?;
        std::thread::spawn(move || {
            loop {
                // A server that is away, full or restarted ends an attempt, and so does a kill.
                let _ = migrate(&url, phase, &folder);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        client.over().await;
        Ok(())
    })
}

/// What a store does: writes whole values and parts of them, and removes them.
macro_rules! writer {
    ($name:ident, $module:ident, $parts:expr) => {
        async fn $name(
            client: &Client,
            (own, first): (u64, u64),
            mut random: fastrand::Rng,
        ) -> Result<()> {
            use $module::{fields, keys};
            let store = Store::builder(&client.url).lazy()?;
            let mut version = 0;
            loop {
                let id = first + random.u64(..COPIES);
                version += 1;
                let account = store.at(keys::Account { client: own, id });
                let profile = store.at(keys::Profile { client: own, id });
                match random.u8(0..10) {
                    0 => {
                        client.log(format_args!("ask Account {own} {id} gone"));
                        let done = account.delete().await.is_ok();
                        note(client, "Account", own, id, "gone", done);
                    }
                    1..=5 => {
                        client.log(format_args!("ask Account {own} {id} {version}"));
                        let done = account.set(&version).await.is_ok();
                        note(client, "Account", own, id, &version.to_string(), done);
                    }
                    6..=8 if $parts => {
                        client.log(format_args!("ask Profile {own} {id} {version}"));
                        let set = profile.set_field(fields::Profile::VERSION, &version).await;
                        let done = set.is_ok_and(|is_there| is_there);
                        note(client, "Profile", own, id, &version.to_string(), done);
                    }
                    _ => {
                        client.log(format_args!("ask Profile {own} {id} {version}"));
                        let value = fields::Profile { version, other: 0 };
                        let done = profile.set(&value).await.is_ok();
                        note(client, "Profile", own, id, &version.to_string(), done);
                    }
                }
            }
        }
    };
}

writer!(plan_dual_write, plan_dual, true);
writer!(plan_dual_cluster_write, plan_dual_cluster, false);
writer!(plan_fallback_write, plan_fallback, true);
writer!(plan_fallback_cluster_write, plan_fallback_cluster, false);

fn note(client: &Client, what: &str, own: u64, id: u64, value: &str, done: bool) {
    if done {
        client.log(format_args!("done {what} {own} {id} {value}"));
    }
}

/// A program that knows the old names only.
async fn foreign(client: &Client, (own, first): (u64, u64), mut random: fastrand::Rng) {
    let mut version = 0_u64;
    loop {
        let Ok(redis) = redis::Client::open(client.url.as_str()) else { return };
        let Ok(mut connection) = redis.get_multiplexed_async_connection().await else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        loop {
            let id = first + random.u64(..COPIES);
            version += 1;
            let (name, value) = (format!("Account:{own}:{id}"), version.to_string());
            client.log(format_args!("ask Account {own} {id} {value}"));
            let mut set = redis::cmd("SET");
            set.arg(&name).arg(&value).arg("PX").arg(3_600_000 + version);
            match set.query_async::<()>(&mut connection).await {
                Ok(()) => note(client, "Account", own, id, &value, true),
                Err(_) => break,
            }
        }
    }
}

fn folder(name: &str) -> Result<PathBuf> {
    let folder =
        std::env::temp_dir().join(format!("keyward-torture-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn schema(url: &str, phase: &str) -> Result<Schema> {
    let cluster = if url.starts_with("redis+cluster:") { "_cluster" } else { "" };
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = path.join(format!("src/torture/plan_dual{cluster}.toml"));
    let text = std::fs::read_to_string(&path)?.replace("dual-write", phase);
    let keys = std::fs::read_to_string(path.with_file_name("plan-keys.toml"))?;
    let text = text.replace("include = [\"plan-keys.toml\"]\n", "") + &keys;
    match keyward_schema::read(&text).schema {
        Ok(schema) => Ok(schema),
        Err(errors) => bail!("the schema of the arena cannot be read: {errors:?}"),
    }
}

/// Makes a plan for the phase, and applies it.
fn migrate(url: &str, phase: &str, folder: &Path) -> Result<Applied> {
    let schema = schema(url, phase)?;
    let mut live = Options::default();
    live.bound = None;
    let mask = Mask::new(Salt::of("arena"), true, std::slice::from_ref(&schema));
    let control = Control::default();
    let migrations = BTreeMap::from([("v2".to_owned(), phase.to_owned())]);
    let order = Order::Migrate { migrations, values: BTreeMap::new(), remove_lone: true };
    let now = keyward_audit::now();
    let make = MakeOptions::new(live.clone(), now);
    let plan: Plan = keyward_plan::make(url, &schema, order, &make, &mask, &control)?;
    let journal = folder.join(format!("{}.journal", plan.id));
    let mut options = ApplyOptions::new(live, journal.clone(), now);
    options.accept_unnamed = true;
    options.accept_recent = true;
    let applied = keyward_plan::apply(&plan, url, &schema, &options, &mask, &control);
    std::fs::remove_file(journal)?;
    Ok(applied?)
}

/// Ends the phase, and goes through those that follow.
fn finish(client: &Client, phase: &'static str) -> Result<()> {
    const TRIES: usize = 20;
    let folder = folder("last")?;
    let phases = ["dual-write", "read-fallback", "cleanup"];
    let from = phases.iter().position(|it| *it == phase).context("a phase")?;
    for phase in &phases[from..] {
        for number in 1.. {
            let applied = migrate(&client.url, phase, &folder)?;
            if applied.converged {
                break;
            }
            ensure!(
                number < TRIES,
                "the phase {phase} does not come to its end: {:?}",
                applied.left
            );
        }
        tell(client, phase)?;
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// Notes all keys, with what they hold and when they end.
fn tell(client: &Client, phase: &str) -> Result<()> {
    for mut primary in Primary::all(&client.url, &Options::default())? {
        let Reply::Array(keys) = primary.command(&[b"KEYS", b"*"])? else {
            bail!("KEYS lists keys")
        };
        for key in keys {
            let Reply::Bytes(key) = key else { continue };
            let name = String::from_utf8_lossy(&key).into_owned();
            if name.contains('~') {
                continue;
            }
            let read: [&[u8]; 3] = [b"HGET", &key, b"version"];
            let value = if name.to_lowercase().contains("profile") {
                primary.command(&read)?
            } else {
                primary.command(&[b"GET", &key])?
            };
            let Reply::Bytes(value) = value else { bail!("{name} holds {}", value.kind()) };
            let value = String::from_utf8_lossy(&value).into_owned();
            let Reply::Integer(ends) = primary.command(&[b"PEXPIRETIME", &key])? else { continue };
            client.log(format_args!("key {phase} {name} {value} {ends}"));
        }
    }
    client.log(format_args!("end {phase}"));
    Ok(())
}

/// What may be there of a key: the last value that was acknowledged, and those that were asked for since.
struct Expected {
    values: Vec<String>,
}

impl Default for Expected {
    fn default() -> Self {
        Expected { values: vec!["gone".to_owned()] }
    }
}

fn check(history: &History) -> Verdict {
    let mut verdict = Verdict::default();
    let mut expected: HashMap<String, Expected> = HashMap::new();
    for line in history.clients.iter().flatten() {
        let words: Vec<&str> = line.split(' ').collect();
        let [said, what, own, id, value] = words.as_slice() else { continue };
        verdict.operations += usize::from(*said == "ask");
        let it = expected.entry(format!("{what}:{own}:{id}")).or_default();
        match *said {
            "ask" => it.values.push((*value).to_owned()),
            _ => it.values = vec![(*value).to_owned()],
        }
    }
    // A replica that takes over may not have the last writes of its primary.
    let may_lose = history.faults.iter().any(|fault| fault.kind == Kind::FailOver)
        || !history.is_durable && history.faults.iter().any(|it| it.kind == Kind::RestartServer);
    // In `read-fallback` the new name counts, and on a cluster it is written first: a writer that was killed between two
    // slots leaves the old name behind it.
    let lags = |phase: &str| phase == "read-fallback" && (may_lose || history.is_cluster);
    let mut found: HashMap<(&str, String), (&str, u64)> = HashMap::new();
    let mut phases: Vec<&str> = Vec::new();
    for line in &history.last {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["key", phase, name, value, ends] => {
                let ends = if *ends == "-1" { u64::MAX } else { number(ends) };
                found.insert((phase, (*name).to_owned()), (value, ends));
            }
            ["end", phase] => phases.push(phase),
            _ => {}
        }
    }
    if phases.last() != Some(&"cleanup") {
        verdict.violation("the last phase was not reached");
    }
    for (old, it) in &expected {
        let new = format!("arena:{}", old.to_lowercase());
        for phase in &phases {
            let (one, other) = (found.get(&(phase, old.clone())), found.get(&(phase, new.clone())));
            if *phase == "cleanup" {
                if one.is_some() {
                    verdict.violation(format_args!("{old} is still there in {phase}"));
                }
            } else if one != other && !lags(phase) {
                verdict.violation(format_args!("{phase}: {old} is {one:?}, {new} is {other:?}"));
            }
            let value = other.map_or("gone", |(value, _)| value);
            if !may_lose && !it.values.iter().any(|it| it == value) {
                verdict.violation(format_args!(
                    "{phase}: {new} is {value}, and could be {:?}",
                    it.values
                ));
            }
        }
    }
    verdict.remarks.push(format!("{} keys", expected.len()));
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(clients: &[&str], last: &[&str]) -> usize {
        let lines = |lines: &[&str]| lines.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let (clients, last) = (vec![lines(clients)], lines(last));
        check(&History { clients, last, is_durable: true, ..History::default() }).violations.len()
    }

    const WROTE: [&str; 3] = ["ask Account 1 2 3", "done Account 1 2 3", "ask Account 1 2 4"];

    #[test]
    fn a_key_is_under_the_names_of_its_phase_with_its_last_value() {
        let fine = [
            "key dual-write Account:1:2 4 9",
            "key dual-write arena:account:1:2 4 9",
            "end dual-write",
            "key cleanup arena:account:1:2 4 9",
            "end cleanup",
        ];
        assert_eq!(violations(&WROTE, &fine), 0);
        let replaced = |from: &str, to: &str| -> Vec<String> {
            fine.iter().map(|line| line.replacen(from, to, 1)).collect()
        };
        let of = |last: Vec<String>| {
            violations(&WROTE, &last.iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert!(of(replaced("Account:1:2 4", "Account:1:2 2")) > 0, "the names differ");
        assert!(
            of(replaced("arena:account:1:2 4 9", "arena:account:1:2 4 8")) > 0,
            "their ends differ"
        );
        assert!(of(replaced("key cleanup arena:a", "key cleanup A")) > 0, "an old name is left");
        assert!(of(fine.iter().map(|line| line.replace(" 4 9", " 2 9")).collect()) > 0, "lost");
        assert!(violations(&WROTE, &fine[..3]) > 0, "the end was not reached");
        let gone = ["end dual-write", "end cleanup"];
        assert!(violations(&WROTE, &gone) > 0, "an acknowledged value is gone");
    }
}
