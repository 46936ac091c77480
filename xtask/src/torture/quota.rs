//! Quotas: what was used is what was taken less what was given back, but for answers that were lost.

use super::Role;
use super::client::{Client, number};
use super::history::{History, Kind, Verdict};
use super::limit::counting;
use anyhow::Result;
use counting::keys;
use keyward::{Error, Store};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(super) const ROLE: Role = Role {
    name: "quota",
    client,
    check,
    // Nothing can be said of what was flushed or evicted.
    spares: &[Kind::Flush, Kind::Evict],
    owns: |key| counting::Key::parse(key).is_some(),
    on_cluster: false,
};

/// What the schema says.
const LIMIT: i64 = 1000;
const COPIES: u64 = 3;
const TASKS: u64 = 4;

fn client(mut client: Client) -> Result<()> {
    Client::runtime()?.block_on(async {
        let store = Store::builder(&client.url).lazy()?;
        if client.is_last {
            for id in 0..COPIES {
                client.log(format_args!("used {id} {}", used(&store, id).await));
            }
            return Ok(());
        }
        let seed = client.random.u64(..);
        let client = Arc::new(client);
        for task in 0..TASKS {
            let mut random = fastrand::Rng::with_seed(seed ^ task);
            let (store, client) = (store.clone(), client.clone());
            tokio::spawn(async move {
                for call in 0.. {
                    count(&store, &client, &mut random, &format!("{task}.{call}")).await;
                }
            });
        }
        client.over().await;
        Ok(())
    })
}

/// What was used in the end, however long it takes to learn that.
async fn used(store: &Store, id: u64) -> i64 {
    loop {
        if let Ok(used) = store.at(keys::Budget { id }).used().await {
            return used;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Takes some or gives some back, and notes before that it is about to: whoever is killed has lost the answer.
async fn count(store: &Store, client: &Client, random: &mut fastrand::Rng, call: &str) {
    let (id, amount) = (random.u64(..COPIES), random.u64(1..10));
    let budget = store.at(keys::Budget { id });
    let takes = random.bool();
    let what = if takes { "take" } else { "refund" };
    client.log(format_args!("begin {call} {what} {id} {amount}"));
    let counted = if takes { budget.take(amount).await } else { budget.refund(amount).await };
    match counted {
        Ok(it) if it.counted => client.log(format_args!("counted {call} {}", it.value)),
        Ok(it) => client.log(format_args!("refused {call} {}", it.value)),
        Err(Error::Unknown(_)) => client.log(format_args!("lost {call}")),
        Err(_) => {
            client.log(format_args!("failed {call}"));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// What is known of one quota.
#[derive(Debug, Default)]
struct Known {
    taken: i64,
    refunded: i64,
    /// What may have been taken, or given back, by calls whose answers were lost
    maybe_taken: i64,
    maybe_refunded: i64,
}

fn check(history: &History) -> Verdict {
    let mut verdict = Verdict::default();
    let mut quotas: BTreeMap<u64, Known> = BTreeMap::new();
    for lines in &history.clients {
        let mut open: BTreeMap<&str, (bool, u64, i64)> = BTreeMap::new();
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["begin", call, what, id, amount] => {
                    open.insert(call, (*what == "take", number(id), signed(amount)));
                    verdict.operations += 1;
                }
                ["counted", call, value] => {
                    let Some((takes, id, amount)) = open.remove(call) else { continue };
                    let known = quotas.entry(id).or_default();
                    *(if takes { &mut known.taken } else { &mut known.refunded }) += amount;
                    if !(0..=LIMIT).contains(&signed(value)) {
                        verdict.violation(format_args!("{id}: {value} is used of {LIMIT}"));
                    }
                }
                ["refused" | "failed", call, ..] => _ = open.remove(call),
                _ => {}
            }
        }
        // Lost, or begun by a client that was killed.
        for (takes, id, amount) in open.into_values() {
            let known = quotas.entry(id).or_default();
            *(if takes { &mut known.maybe_taken } else { &mut known.maybe_refunded }) += amount;
        }
    }
    for line in &history.last {
        let words: Vec<&str> = line.split(' ').collect();
        let ["used", id, used] = words.as_slice() else { continue };
        let known = quotas.remove(&number(id)).unwrap_or_default();
        let sum = known.taken - known.refunded;
        let (least, most) = (sum - known.maybe_refunded, sum + known.maybe_taken);
        // A server that loses its last writes says nothing about sums.
        if history.is_durable && !(least..=most).contains(&signed(used)) {
            verdict.violation(format_args!("{id}: {used} is used, not {least} to {most}"));
        }
        let lost = known.maybe_taken + known.maybe_refunded;
        verdict.remarks.push(format!("{id}: {used} used, {lost} uncertain"));
    }
    verdict
}

fn signed(text: &str) -> i64 {
    text.parse().expect("clients write numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lines: &[&str], used: i64) -> usize {
        let clients = vec![lines.iter().map(|line| (*line).to_owned()).collect()];
        let last = vec![format!("used 0 {used}")];
        check(&History { clients, last, is_durable: true, ..History::default() }).violations.len()
    }

    #[test]
    fn sums_are_what_was_acknowledged_and_what_may_have_happened() {
        let sure = ["begin 0.0 take 0 5", "counted 0.0 5", "begin 0.1 refund 0 2", "counted 0.1 3"];
        assert_eq!(found(&sure, 3), 0);
        assert_eq!((found(&sure, 4), found(&sure, 2)), (1, 1));
        let lost =
            [&sure[..], &["begin 0.2 take 0 4", "lost 0.2", "begin 0.3 refund 0 1"]].concat();
        for used in 2..=7 {
            assert_eq!(found(&lost, used), 0, "{used}");
        }
        assert_eq!((found(&lost, 1), found(&lost, 8)), (1, 1));
        let refused = [&sure[..], &["begin 0.2 take 0 4", "refused 0.2 3"]].concat();
        assert_eq!((found(&refused, 3), found(&refused, 7)), (0, 1));
    }

    #[test]
    fn a_quota_that_is_exceeded_is_found() {
        assert_eq!(found(&["begin 0.0 take 0 1001", "counted 0.0 1001"], 1001), 1);
        assert_eq!(found(&["begin 0.0 refund 0 1", "counted 0.0 -1"], -1), 1);
    }
}
