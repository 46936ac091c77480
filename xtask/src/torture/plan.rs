//! Plans: keys are migrated while stores and other programs write them, and whoever applies the plan is killed.
//!
//! Every client writes keys of its own, each by one task, and notes what was acknowledged and what was not (`write.rs`).
//! All of them also apply plans of the whole keyspace, over and over. The last client applies what is left of the phase,
//! and then goes through the phases that follow: each key must be under exactly the names of its phase, with the last
//! acknowledged value or one that was sent after it, and the same end under both names (`check.rs`). Cards are JSON under
//! their old name and hashes under the new one: stores know the latter only, and the plan converts them.

mod check;
mod write;

use super::Role;
use super::client::Client;
use super::history::Kind;
use anyhow::{Context as _, Result, bail, ensure};
use keyward_audit::live::{Options, Primary, Reply};
use keyward_audit::{Mask, Salt};
use keyward_plan::{Applied, ApplyOptions, Control, MakeOptions, Order, Plan};
use keyward_schema::Schema;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The old name counts, and programs that know no other one write it.
pub(super) const DUAL: Role = role("plan", |client| run(client, "dual-write"));

/// The new name counts, and programs of the next phase write it alone.
pub(super) const FALLBACK: Role = role("plan-fallback", |client| run(client, "read-fallback"));

/// Only the new name is used, and a plan removes the old ones.
pub(super) const CLEANUP: Role = role("plan-cleanup", |client| run(client, "cleanup"));

const fn role(name: &'static str, client: fn(Client) -> Result<()>) -> Role {
    let spares = &[Kind::Flush, Kind::Evict];
    Role { name, client, check: check::check, spares, owns, on_cluster: true }
}

fn owns(key: &str) -> bool {
    let owner = keyward_pattern::owner_of("arena:", key).map_or(key, |(owner, _)| owner);
    write::plan_dual::Key::parse(owner).is_some()
        || ["Account:", "Profile:", "Visits:", "Card:"].iter().any(|old| owner.starts_with(old))
        || keyward_pattern::is_plan_marker(key)
}

fn run(client: Client, phase: &'static str) -> Result<()> {
    if client.is_last {
        return finish(&client, phase);
    }
    Client::runtime()?.block_on(async {
        let mut client = client;
        let own = client.random.u64(..u64::from(u32::MAX));
        let seed = client.random.u64(..);
        let client = Arc::new(client);
        write::start(&client, phase, own, seed);
        let (folder, applies) = (folder(&format!("{own}"))?, Arc::clone(&client));
        std::thread::spawn(move || {
            loop {
                // A server that is away, full or restarted ends an attempt, and so does a kill.
                applies.log("plan begins");
                let _ = migrate(&applies.url, phase, &folder);
                applies.log("plan ends");
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        client.over().await;
        Ok(())
    })
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
            let is_hash = name.to_lowercase().contains("profile") || name.contains(":card:");
            let value =
                if is_hash { primary.command(&read)? } else { primary.command(&[b"GET", &key])? };
            let Reply::Bytes(value) = value else { bail!("{name} holds {}", value.kind()) };
            let value = String::from_utf8_lossy(&value).into_owned();
            let value = write::version_of(&value).map_or(value.clone(), |it| it.to_string());
            let Reply::Integer(ends) = primary.command(&[b"PEXPIRETIME", &key])? else { continue };
            client.log(format_args!("key {phase} {name} {value} {ends}"));
        }
    }
    client.log(format_args!("end {phase}"));
    Ok(())
}
