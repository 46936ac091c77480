//! Locks: fences grow in the order of grants, and no more guards believe in a lock at once than it has places.
//!
//! The clients note when they last believed in a lock, and a fence is the server's time at the grant, by the same
//! clock. So a grant must come after everybody else's belief has ended. A server that forgets (flushed, evicting,
//! failing over, or restarted without its last writes) is excused: there only the fence tells holders apart.

use super::Role;
use super::client::{Client, number};
use super::history::{Fault, History, Kind, Micros, Verdict, now};
use anyhow::Result;
use keyward::{Error, Guard, Store};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

keyward::keyspace!("src/torture/lock.toml");
keyward::keyspace!("src/torture/lock-cluster.toml");

pub(super) const ROLE: Role = Role {
    name: "lock",
    client,
    check,
    spares: &[],
    owns: |key| {
        let owner = keyward_pattern::owner_of("arena:", key).map_or(key, |(owner, _)| owner);
        clustered::Key::parse(owner).is_some()
    },
    on_cluster: true,
};

/// The locks, and how many may hold each. The last has `replicas`, and is for a cluster only.
const LOCKS: [(&str, usize); 4] = [("plain", 1), ("fair", 1), ("shared", 2), ("safe", 1)];
/// How many of each the clients compete for.
const COPIES: u64 = 6;
/// How many tasks of a client compete.
const TASKS: u64 = 8;

fn client(mut client: Client) -> Result<()> {
    Client::runtime()?.block_on(async {
        let store = Store::builder(&client.url).lazy()?;
        if client.is_last {
            last(&store, &client).await;
            return Ok(());
        }
        let seed = client.random.u64(..);
        let client = Arc::new(client);
        for task in 0..TASKS {
            let mut random = fastrand::Rng::with_seed(seed ^ task);
            let (store, client) = (store.clone(), client.clone());
            tokio::spawn(async move {
                loop {
                    compete(&store, &client, &mut random).await;
                }
            });
        }
        client.over().await;
        Ok(())
    })
}

/// Every lock is free again once its TTL is over.
async fn last(store: &Store, client: &Client) {
    for (lock, _) in locks(client) {
        for id in 0..COPIES {
            match acquire(store, client, lock, id, Duration::from_secs(10)).await {
                Ok(Some(_)) => client.log(format_args!("free {lock}{id}")),
                other => client.log(format_args!("stuck {lock}{id} {other:?}")),
            }
        }
    }
}

fn is_cluster(client: &Client) -> bool {
    client.url.starts_with("redis+cluster:")
}

fn locks(client: &Client) -> &'static [(&'static str, usize)] {
    if is_cluster(client) { &LOCKS } else { &LOCKS[..3] }
}

async fn acquire(
    store: &Store,
    client: &Client,
    lock: &str,
    id: u64,
    patience: Duration,
) -> Result<Option<Guard>, Error> {
    macro_rules! acquire {
        ($keyspace:ident: $($name:literal $key:ident),*) => {
            match lock {
                $($name => store.at($keyspace::keys::$key { id }).acquire_within(patience).await,)*
                _ => unreachable!("`LOCKS` has no others"),
            }
        };
    }
    if is_cluster(client) {
        acquire!(clustered: "plain" Plain, "fair" Fair, "shared" Shared, "safe" Safe)
    } else {
        acquire!(single: "plain" Plain, "fair" Fair, "shared" Shared)
    }
}

/// Waits for a lock, holds it for a while, and notes when it believed in it.
async fn compete(store: &Store, client: &Client, random: &mut fastrand::Rng) {
    let locks = locks(client);
    let (lock, _) = locks[random.usize(..locks.len())];
    let (id, patience) = (random.u64(..COPIES), random.u64(0..150));
    let asked = now();
    match acquire(store, client, lock, id, Duration::from_millis(patience)).await {
        Ok(Some(guard)) => {
            let fence = guard.fence();
            client.log(format_args!("grant {lock}{id} {fence} {asked} {}", now()));
            // Most are held for a moment, and some for longer than their TTL.
            let long = random.u8(0..40) == 0;
            let hold = random.u64(0..if long { 2_500_000 } else { 2000 });
            let believed = believe(&guard, hold).await;
            client.log(format_args!("held {lock}{id} {fence} {believed}"));
            // Some forget to release it.
            if random.u8(0..10) == 0 {
                return;
            }
            match guard.release().await {
                Ok(was_held) => client.log(format_args!("released {was_held}")),
                Err(_) => client.log("released error"),
            }
        }
        Ok(None) => client.log("none"),
        Err(_) => {
            client.log("error");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Holds a lock for so long, or until it is lost; when it was last believed in.
async fn believe(guard: &Guard, hold: Micros) -> Micros {
    let until = now() + hold;
    let mut believed = 0;
    loop {
        // The clock is read before the belief: what is believed now was believed then.
        let at = now();
        if !guard.is_held() {
            return believed;
        }
        believed = at;
        if at >= until {
            return believed;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// One grant of one lock.
#[derive(Debug, Clone, Copy)]
struct Grant {
    fence: u64,
    asked: Micros,
    granted: Micros,
    /// When its holder last believed in it
    believed: Micros,
}

fn check(history: &History) -> Verdict {
    let mut verdict = Verdict::default();
    let mut locks: BTreeMap<&str, BTreeMap<u64, Grant>> = BTreeMap::new();
    for line in history.clients.iter().flatten() {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["grant", lock, fence, asked, granted] => {
                let (fence, asked, granted) = (number(fence), number(asked), number(granted));
                let grant = Grant { fence, asked, granted, believed: 0 };
                if locks.entry(lock).or_default().insert(fence, grant).is_some() {
                    verdict.violation(format_args!("{lock}: fence {fence} was given twice"));
                }
            }
            ["held", lock, fence, believed] => {
                let grant = locks.get_mut(lock).and_then(|lock| lock.get_mut(&number(fence)));
                grant.expect("what is held was granted").believed = number(believed);
                continue;
            }
            _ => {}
        }
        verdict.operations += 1;
    }
    let mut excused = 0;
    for (lock, grants) in &locks {
        let name = lock.trim_end_matches(|char: char| char.is_ascii_digit());
        let (_, places) = LOCKS.iter().find(|(it, _)| *it == name).expect("a lock of this role");
        in_order(lock, grants, &mut verdict);
        excused += apart(history, lock, grants, *places, &mut verdict);
    }
    verdict.remarks.push(format!("{excused} overlaps that only the fence decides"));
    for line in history.last.iter().filter(|line| line.starts_with("stuck")) {
        verdict.violation(line);
    }
    verdict
}

/// A grant that was answered before another was asked for has the lower fence.
fn in_order(lock: &str, grants: &BTreeMap<u64, Grant>, verdict: &mut Verdict) {
    let mut first_answer = Micros::MAX;
    for grant in grants.values().rev() {
        if first_answer < grant.asked {
            let fence = grant.fence;
            verdict.violation(format_args!("{lock}: fence {fence} came after a higher one"));
        }
        first_answer = first_answer.min(grant.granted);
    }
}

/// When a lock is granted, fewer others believe in it than it has places. How often that did not hold, and a server
/// that forgot is the reason.
fn apart(
    history: &History,
    lock: &str,
    grants: &BTreeMap<u64, Grant>,
    places: usize,
    verdict: &mut Verdict,
) -> usize {
    let mut excused = 0;
    let mut believers: Vec<Grant> = Vec::new();
    for grant in grants.values() {
        believers.retain(|other| other.believed > grant.fence);
        if believers.len() >= places {
            // What was forgotten was granted before, and is believed in still.
            let since = believers.iter().map(|other| other.asked).min().unwrap_or(0);
            if history.has(since, grant.granted, |fault| forgets(lock, fault, history.is_durable)) {
                excused += 1;
            } else {
                let until = believers.iter().map(|other| other.believed).max().unwrap_or(0);
                verdict.violation(format_args!(
                    "{lock}: fence {} was granted, and fence {} was believed in for another {} µs",
                    grant.fence,
                    believers[0].fence,
                    until - grant.fence,
                ));
            }
        }
        believers.push(*grant);
    }
    excused
}

/// Whether a fault makes a server forget a lock.
fn forgets(lock: &str, fault: &Fault, is_durable: bool) -> bool {
    match fault.kind {
        Kind::Flush | Kind::Evict => true,
        Kind::FailOver => !lock.starts_with("safe"),
        Kind::RestartServer => !is_durable,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(clients: &[&[&str]]) -> History {
        let lines = |lines: &&[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        History {
            clients: clients.iter().map(lines).collect(),
            is_durable: true,
            ..History::default()
        }
    }

    fn fault(kind: Kind, from: Micros, to: Micros) -> Fault {
        Fault { kind, client: None, from, to }
    }

    #[test]
    fn a_sound_history_has_no_violations() {
        let sound = history(&[
            &["grant plain0 105 100 110", "held plain0 105 150", "released true"],
            &["grant plain0 155 90 160", "held plain0 155 161", "none", "grant fair0 105 100 108"],
        ]);
        let verdict = check(&sound);
        assert_eq!((verdict.operations, verdict.violations), (5, Vec::new()));
    }

    #[test]
    fn two_who_believe_are_found() {
        let mut overlap = history(&[
            &["grant plain0 105 100 110", "held plain0 105 165"],
            &["grant plain0 155 90 160", "held plain0 155 161"],
        ]);
        assert_eq!(check(&overlap).violations.len(), 1);
        overlap.faults =
            vec![fault(Kind::StopClient, 120, 164), fault(Kind::RestartServer, 120, 164)];
        assert_eq!(check(&overlap).violations.len(), 1, "nothing was forgotten");
        overlap.faults = vec![fault(Kind::Flush, 10, 20), fault(Kind::Flush, 165, 166)];
        assert_eq!(check(&overlap).violations.len(), 1, "it was forgotten at another time");
        overlap.faults = vec![fault(Kind::Flush, 120, 121)];
        assert!(check(&overlap).violations.is_empty());
        overlap.faults = vec![fault(Kind::RestartServer, 120, 121)];
        overlap.is_durable = false;
        assert!(check(&overlap).violations.is_empty());
    }

    #[test]
    fn a_holder_who_believes_through_several_grants_is_found() {
        let overlap = history(&[
            &["grant plain0 105 100 110", "held plain0 105 300"],
            &["grant plain0 155 150 160", "held plain0 155 161"],
            &["grant plain0 205 200 210", "held plain0 205 211"],
        ]);
        assert_eq!(check(&overlap).violations.len(), 2);
    }

    #[test]
    fn as_many_believe_as_there_are_places() {
        let client = |start: Micros| {
            let (asked, granted) = (start - 5, start + 5);
            [
                format!("grant shared0 {start} {asked} {granted}"),
                format!("held shared0 {start} 300"),
            ]
        };
        let clients = |count: u64| {
            let lines: Vec<_> = (1..=count).map(|number| client(number * 10)).collect();
            History { clients: lines.into_iter().map(Vec::from).collect(), ..history(&[]) }
        };
        assert!(check(&clients(2)).violations.is_empty());
        assert_eq!(check(&clients(3)).violations.len(), 1);
    }

    #[test]
    fn a_failover_excuses_only_locks_without_replicas() {
        let overlap = |lock: &str| {
            let grants = [
                vec![format!("grant {lock} 105 100 110"), format!("held {lock} 105 165")],
                vec![format!("grant {lock} 155 150 160"), format!("held {lock} 155 161")],
            ];
            let faults = vec![fault(Kind::FailOver, 120, 140)];
            History { clients: grants.into(), faults, ..history(&[]) }
        };
        assert!(check(&overlap("plain0")).violations.is_empty());
        assert_eq!(check(&overlap("safe0")).violations.len(), 1);
    }

    #[test]
    fn fences_that_do_not_grow_are_found() {
        let backwards = history(&[
            &["grant plain0 106 100 110", "held plain0 106 111"],
            &["grant plain0 105 120 130"],
        ]);
        assert_eq!(check(&backwards).violations, ["plain0: fence 105 came after a higher one"]);
        let twice = history(&[&["grant plain0 106 100 110"], &["grant plain0 106 120 130"]]);
        assert_eq!(check(&twice).violations, ["plain0: fence 106 was given twice"]);
    }

    #[test]
    fn a_lock_that_stays_taken_is_found() {
        let stuck = History { last: vec!["stuck plain0 Ok(None)".to_owned()], ..history(&[]) };
        assert_eq!(check(&stuck).violations, ["stuck plain0 Ok(None)"]);
    }
}
