//! Caches: once an invalidation is acknowledged, its own process reads nothing that was loaded before.
//!
//! Each client has keys of its own and a database of its own: a version for each key, which its loaders read and which
//! grows with every change. A read notes the version whose invalidation was acknowledged before it began, and what it
//! got.

use super::Role;
use super::client::{Client, number};
use super::history::{History, Kind, Micros, Verdict, now};
use anyhow::Result;
use keyward::Store;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

keyward::keyspace!("src/torture/caching.toml");
use caching::{events, keys};

pub(super) const ROLE: Role = Role {
    name: "cache",
    client,
    check,
    spares: &[],
    owns: |key| {
        let owner = keyward_pattern::owner_of("arena:", key).map_or(key, |(owner, _)| owner);
        // An index stands beside a glob.
        caching::Key::parse(owner).is_some() || owner.starts_with("arena:found:")
    },
    on_cluster: false,
};

const COPIES: u64 = 4;
const TASKS: u64 = 8;

/// What a client's loaders read.
#[derive(Default)]
struct Database {
    version: AtomicU64,
    /// The version whose invalidation was acknowledged
    acknowledged: AtomicU64,
}

fn client(mut client: Client) -> Result<()> {
    Client::runtime()?.block_on(async {
        let store = Store::builder(&client.url).lazy()?;
        if client.is_last {
            return Ok(());
        }
        let (seed, number) = (client.random.u64(..), client.random.u64(..u64::from(u32::MAX)));
        let databases: Arc<Vec<Database>> =
            Arc::new((0..COPIES).map(|_| Database::default()).collect());
        let client = Arc::new(client);
        for task in 0..TASKS {
            let mut random = fastrand::Rng::with_seed(seed ^ task);
            let (store, client, databases) = (store.clone(), client.clone(), databases.clone());
            tokio::spawn(async move {
                loop {
                    let id = random.u64(..COPIES);
                    let database = &databases[usize::try_from(id).unwrap_or(0)];
                    if random.u8(0..10) == 0 {
                        change(&store, &client, (number, id), database).await;
                    } else {
                        read(&store, &client, (number, id), database, &mut random).await;
                    }
                }
            });
        }
        client.over().await;
        Ok(())
    })
}

/// Changes the database, and says so.
async fn change(store: &Store, client: &Client, (number, id): (u64, u64), database: &Database) {
    let version = database.version.fetch_add(1, Ordering::SeqCst) + 1;
    let exact = store.emit(events::Changed { client: number, id }).await;
    let found = store.emit(events::AllChanged { client: number }).await;
    if exact.is_ok() && found.is_ok() {
        database.acknowledged.fetch_max(version, Ordering::SeqCst);
        client.log("changed");
    } else {
        client.log("error");
    }
}

async fn read(
    store: &Store,
    client: &Client,
    (number, id): (u64, u64),
    database: &Database,
    random: &mut fastrand::Rng,
) {
    let (least, began) = (database.acknowledged.load(Ordering::SeqCst), now());
    let pause = Duration::from_micros(random.u64(0..3000));
    let load = || async {
        let version = database.version.load(Ordering::SeqCst);
        tokio::time::sleep(pause).await;
        Ok::<_, Infallible>(version)
    };
    let (what, got) = match random.u8(0..3) {
        0 => ("plain", store.at(keys::Plain { client: number, id }).get_or_load(load).await),
        1 => ("near", store.at(keys::Near { client: number, id }).get_or_load(load).await),
        _ => ("found", store.at(keys::Found { client: number, id }).get_or_load(load).await),
    };
    let Ok(got) = got else { return };
    client.log(format_args!("read {what} {id} {least} {got} {began} {}", now()));
}

fn check(history: &History) -> Verdict {
    let mut verdict = Verdict::default();
    let (mut excused, mut unindexed) = (0, 0);
    for line in history.clients.iter().flatten() {
        verdict.operations += 1;
        let words: Vec<&str> = line.split(' ').collect();
        let ["read", what, id, least, got, began, ended] = words.as_slice() else { continue };
        if number(got) >= number(least) {
            continue;
        }
        if came_back(history, number(began), number(ended)) {
            excused += 1;
            continue;
        }
        if *what == "found" && was_unindexed(history, number(began), number(ended)) {
            unindexed += 1;
            continue;
        }
        verdict.violation(format_args!(
            "{what}{id}: version {got} was read after the invalidation for {least}, at {began}"
        ));
    }
    verdict.remarks.push(format!("{excused} reads of what a restart brought back"));
    verdict.remarks.push(format!("{unindexed} of what an evicted index did not know"));
    verdict
}

/// The longest TTL, and the time that writes may be lost for.
const TTL: Micros = 7_000_000;

/// Whether an index may have been evicted: what was written before lives until its TTL ends.
fn was_unindexed(history: &History, from: Micros, to: Micros) -> bool {
    history.has(from.saturating_sub(TTL), to, |fault| fault.kind == Kind::Evict)
}

/// Whether a server has lost an invalidation shortly before: what it had removed is there again until its TTL ends.
fn came_back(history: &History, from: Micros, to: Micros) -> bool {
    let loses = |kind| kind == Kind::RestartServer && !history.is_durable || kind == Kind::FailOver;
    history.has(from.saturating_sub(TTL), to, |fault| loses(fault.kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::history::Fault;

    fn found(line: &str, is_durable: bool) -> usize {
        let clients = vec![vec![line.to_owned(), "changed".to_owned()]];
        let restart =
            Fault { kind: Kind::RestartServer, client: None, from: 1_000_000, to: 1_500_000 };
        let faults = vec![restart];
        check(&History { clients, faults, is_durable, ..History::default() }).violations.len()
    }

    #[test]
    fn what_was_loaded_before_an_invalidation_is_found() {
        assert_eq!(found("read plain 1 5 5 2000000 2000001", true), 0);
        assert_eq!(found("read plain 1 5 6 2000000 2000001", true), 0);
        assert_eq!(found("read plain 1 5 4 2000000 2000001", true), 1);
        assert_eq!(found("read plain 1 5 4 2000000 2000001", false), 0);
        assert_eq!(found("read plain 1 5 4 20000000 20000001", false), 1, "its TTL is over");
    }

    #[test]
    fn an_eviction_excuses_only_what_an_index_finds() {
        let found = |line: &str| {
            let clients = vec![vec![line.to_owned()]];
            let evict = Fault { kind: Kind::Evict, client: None, from: 1_000_000, to: 1_500_000 };
            let faults = vec![evict];
            check(&History { clients, faults, is_durable: true, ..History::default() })
                .violations
                .len()
        };
        assert_eq!(found("read found 1 5 4 2000000 2000001"), 0);
        assert_eq!(found("read plain 1 5 4 2000000 2000001"), 1);
        assert_eq!(found("read found 1 5 4 20000000 20000001"), 1, "its TTL is over");
    }
}
