//! Who writes while plans are applied: stores in the phase of the migration, and programs without one.

use super::super::client::Client;
use anyhow::Result;
use keyward::Store;
use keyward_audit::live::{Error, Options, Primary, Reply};
use std::sync::Arc;
use std::time::Duration;

keyward::keyspace!("src/torture/plan_dual.toml");
keyward::keyspace!("src/torture/plan_dual_cluster.toml");
keyward::keyspace!("src/torture/plan_fallback.toml");
keyward::keyspace!("src/torture/plan_fallback_cluster.toml");
keyward::keyspace!("src/torture/plan_cleanup.toml");
keyward::keyspace!("src/torture/plan_cleanup_cluster.toml");

/// Keys of each task.
const COPIES: u64 = 8;
/// How many tasks of each client write through a store.
const TASKS: u64 = 3;
/// How many tasks of each client write cards through a store, once the new name counts.
const CARD_TASKS: u64 = 2;
/// The first key of programs without a store.
const FOREIGN: u64 = 90;
/// How long the keys of such programs live.
const LIVES_MS: u64 = 3_600_000;

/// Starts all that write in this client.
pub(super) fn start(client: &Arc<Client>, phase: &'static str, own: u64, seed: u64) {
    let is_cluster = client.url.starts_with("redis+cluster:");
    for task in 0..TASKS {
        let random = fastrand::Rng::with_seed(seed ^ task);
        let (client, key) = (Arc::clone(client), (own, task * COPIES));
        tokio::spawn(async move {
            let written = match (phase, is_cluster) {
                ("dual-write", false) => plan_dual_write(&client, key, random).await,
                ("dual-write", true) => plan_dual_cluster_write(&client, key, random).await,
                ("read-fallback", false) => plan_fallback_write(&client, key, random).await,
                ("read-fallback", true) => plan_fallback_cluster_write(&client, key, random).await,
                (_, false) => plan_cleanup_write(&client, key, random).await,
                (_, true) => plan_cleanup_cluster_write(&client, key, random).await,
            };
            written.expect("a store can be made");
        });
    }
    for task in 0..CARD_TASKS {
        let random = fastrand::Rng::with_seed(seed ^ (TASKS + task));
        let (client, key) = (Arc::clone(client), (own, task * COPIES));
        tokio::spawn(async move {
            let written = match (phase, is_cluster) {
                // Only old programs write them, in `foreign`.
                ("dual-write", _) => Ok(()),
                ("read-fallback", false) => plan_fallback_cards(&client, key, phase, random).await,
                ("read-fallback", true) => {
                    plan_fallback_cluster_cards(&client, key, phase, random).await
                }
                (_, false) => plan_cleanup_cards(&client, key, phase, random).await,
                (_, true) => plan_cleanup_cluster_cards(&client, key, phase, random).await,
            };
            written.expect("a store can be made");
        });
    }
    let (client, random) = (Arc::clone(client), fastrand::Rng::with_seed(!seed));
    std::thread::spawn(move || foreign(&client, phase, own, random));
}

/// What a store does: writes whole values and parts of them, counts, and removes values.
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
                match random.u8(0..12) {
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
                    6..=7 => {
                        client.log(format_args!("ask Visits {own} {id} +"));
                        let visits = store.at(keys::Visits { client: own, id });
                        let done = visits.add(1).await.is_ok_and(|it| it.counted);
                        note(client, "Visits", own, id, "+", done);
                    }
                    8..=10 if $parts => {
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
writer!(plan_cleanup_write, plan_cleanup, true);
writer!(plan_cleanup_cluster_write, plan_cleanup_cluster, true);

/// What a store does with cards, which plans convert: writes and removes them under their new name. What old programs have
/// left under the old name is there before, and is converted meanwhile.
macro_rules! cards {
    ($name:ident, $module:ident) => {
        async fn $name(
            client: &Arc<Client>,
            (own, first): (u64, u64),
            phase: &'static str,
            mut random: fastrand::Rng,
        ) -> Result<()> {
            use $module::{fields, keys};
            let before = Arc::clone(client);
            let left = tokio::task::spawn_blocking(move || leave(&before, own, first, phase));
            left.await?;
            let store = Store::builder(&client.url).lazy()?;
            let mut version = 1;
            loop {
                let id = first + random.u64(..COPIES);
                version += 1;
                let card = store.at(keys::Card { client: own, id });
                if random.u8(..4) == 0 {
                    client.log(format_args!("ask Card {own} {id} gone"));
                    let done = card.delete().await.is_ok();
                    note(client, "Card", own, id, "gone", done);
                } else {
                    client.log(format_args!("ask Card {own} {id} {version}"));
                    let done = card.set(&fields::Card { version, other: 0 }).await.is_ok();
                    note(client, "Card", own, id, &version.to_string(), done);
                }
            }
        }
    };
}

cards!(plan_fallback_cards, plan_fallback);
cards!(plan_fallback_cluster_cards, plan_fallback_cluster);
cards!(plan_cleanup_cards, plan_cleanup);
cards!(plan_cleanup_cluster_cards, plan_cleanup_cluster);

/// Writes old cards. In `cleanup` nobody asks for them any more.
fn leave(client: &Client, own: u64, first: u64, phase: &str) {
    let mut options = Options::default();
    options.timeout = Duration::from_secs(5);
    for id in first..first + COPIES {
        if phase == "read-fallback" {
            client.log(format_args!("ask Card {own} {id} 1"));
        }
        let name = format!("Card:{own}:{id}");
        let put =
            || set(&mut Primary::all(&client.url, &options)?, &name, &json(1), LIVES_MS).map(drop);
        while put().is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        if phase == "read-fallback" {
            note(client, "Card", own, id, "1", true);
        }
    }
}

/// A card as old programs write it.
fn json(version: u64) -> String {
    format!(r#"{{"version": {version}, "other": 0}}"#)
}

/// The version of a card under its old name.
pub(super) fn version_of(json: &str) -> Option<u64> {
    json.strip_prefix(r#"{"version": "#)?.split(',').next()?.parse().ok()
}

fn note(client: &Client, what: &str, own: u64, id: u64, value: &str, done: bool) {
    if done {
        client.log(format_args!("done {what} {own} {id} {value}"));
    }
}

/// A program without a store. While the old name counts it writes that one, and otherwise the new one; cards only while
/// their old name counts. In `cleanup` the old names of its keys are there at the beginning, as the phase before leaves them.
fn foreign(client: &Client, phase: &str, own: u64, mut random: fastrand::Rng) {
    let mut version = 0_u64;
    let mut options = Options::default();
    options.timeout = Duration::from_secs(5);
    loop {
        let Ok(mut primaries) = Primary::all(&client.url, &options) else {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        // Until a server is away, or slots have gone to another one.
        while write(client, phase, own, &mut version, &mut primaries, &mut random).is_ok() {}
    }
}

/// One write; an error if the servers must be found again.
fn write(
    client: &Client,
    phase: &str,
    own: u64,
    version: &mut u64,
    primaries: &mut [Primary],
    random: &mut fastrand::Rng,
) -> Result<(), Error> {
    let id = FOREIGN + random.u64(..COPIES);
    *version += 1;
    let (old, new) = (format!("Account:{own}:{id}"), format!("arena:account:{own}:{id}"));
    if phase == "dual-write" && random.bool() {
        client.log(format_args!("ask Card {own} {id} {version}"));
        let name = format!("Card:{own}:{id}");
        let primary = set(primaries, &name, &json(*version), LIVES_MS + *version)?;
        note(client, "Card", own, id, &version.to_string(), true);
        return keep(client, primary, "Card", own, id, *version);
    }
    if phase == "cleanup" && *version <= COPIES {
        set(primaries, &old, "0", LIVES_MS)?;
    }
    let name = if phase == "dual-write" { &old } else { &new };
    client.log(format_args!("ask Account {own} {id} {version}"));
    let primary = set(primaries, name, &version.to_string(), LIVES_MS + *version)?;
    note(client, "Account", own, id, &version.to_string(), true);
    keep(client, primary, "Account", own, id, *version)
}

/// Notes what a replica has, which outlives a failover.
fn keep(
    client: &Client,
    primary: &mut Primary,
    what: &str,
    own: u64,
    id: u64,
    version: u64,
) -> Result<(), Error> {
    if primary.is_clustered()
        && matches!(primary.command(&[b"WAIT", b"1", b"1000"])?, Reply::Integer(1..))
    {
        client.log(format_args!("kept {what} {own} {id} {version}"));
    }
    Ok(())
}

/// Writes a key where it belongs; the server that took it.
fn set<'p>(
    primaries: &'p mut [Primary],
    name: &str,
    value: &str,
    lives: u64,
) -> Result<&'p mut Primary, Error> {
    let slot = keyward_pattern::slot(name.as_bytes());
    let lives = lives.to_string();
    let set: [&[u8]; 5] = [b"SET", name.as_bytes(), value.as_bytes(), b"PX", lives.as_bytes()];
    let address = primaries.first().map(|it| it.name.clone()).unwrap_or_default();
    let gone = |reply: String| Error::Reply { address, command: "SET", reply };
    let Some(primary) = primaries.iter_mut().find(|it| it.has(slot)) else {
        return Err(gone("no server has the slot".to_owned()));
    };
    match primary.command(&set)? {
        Reply::Status(_) => Ok(primary),
        reply => {
            // A slot is on its way, or the server is full.
            std::thread::sleep(Duration::from_millis(5));
            Err(gone(reply.kind()))
        }
    }
}
