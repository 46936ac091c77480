//! Rate limits: over any span of time no more was allowed than the algorithm says.
//!
//! A request that was allowed has been counted between the moment it was sent and the moment it was answered. So what
//! was sent and answered within a span was counted within it. A server that forgets (flushed, evicting, or restarted
//! without its last writes) begins again, and spans that contain such a fault are not judged.

use super::Role;
use super::client::{Client, number};
use super::history::{History, Kind, Micros, Verdict, now};
use anyhow::Result;
use keyward::Store;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

keyward::keyspace!("src/torture/counting.toml");
use counting::keys;

pub(super) const ROLE: Role = Role {
    name: "limit",
    client,
    check,
    spares: &[],
    owns: |key| counting::Key::parse(key).is_some(),
    on_cluster: false,
};

/// What the schema says.
const LIMIT: u64 = 40;
const WINDOW: Micros = 500_000;
/// How many of each kind the clients compete for.
const COPIES: u64 = 2;
const TASKS: u64 = 4;

fn client(mut client: Client) -> Result<()> {
    Client::runtime()?.block_on(async {
        let store = Store::builder(&client.url).lazy()?;
        if client.is_last {
            return Ok(());
        }
        let seed = client.random.u64(..);
        let client = Arc::new(client);
        for task in 0..TASKS {
            let mut random = fastrand::Rng::with_seed(seed ^ task);
            let (store, client) = (store.clone(), client.clone());
            tokio::spawn(async move {
                loop {
                    ask(&store, &client, &mut random).await;
                }
            });
        }
        client.over().await;
        Ok(())
    })
}

/// One check, one look, or a check of all kinds at once.
async fn ask(store: &Store, client: &Client, random: &mut fastrand::Rng) {
    let (id, cost) = (random.u64(..COPIES), random.u64(1..4));
    let (fixed, sliding) = (store.at(keys::Fixed { id }), store.at(keys::Sliding { id }));
    let even = store.at(keys::Even { id });
    let asked = now();
    let (names, allowed): (&[&str], _) = match random.u8(0..8) {
        0 => {
            let all = store.limits().and_cost(&fixed, cost).and_cost(&sliding, cost);
            let all = all.and_cost(&even, cost).check().await;
            let known = |it: keyward::Allowances| it.allowed && it.each.iter().all(|it| !it.outage);
            (&["fixed", "sliding", "even"], all.map(known))
        }
        1 => (&[], fixed.peek_cost(cost).await.map(|_| false)),
        2 | 3 => (&["fixed"], fixed.check_cost(cost).await.map(|it| it.allowed)),
        4 | 5 => (&["sliding"], sliding.check_cost(cost).await.map(|it| it.allowed)),
        _ => (&["even"], even.check_cost(cost).await.map(|it| it.allowed)),
    };
    match allowed {
        Ok(true) => {
            let answered = now();
            for name in names {
                client.log(format_args!("allowed {name}{id} {cost} {asked} {answered}"));
            }
        }
        Ok(false) => {
            client.log("refused");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Err(_) => {
            client.log("error");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// A request that was allowed.
#[derive(Debug, Clone, Copy)]
struct Allowed {
    cost: u64,
    asked: Micros,
    answered: Micros,
}

fn check(history: &History) -> Verdict {
    let mut verdict = Verdict::default();
    let mut limits: BTreeMap<&str, Vec<Allowed>> = BTreeMap::new();
    for line in history.clients.iter().flatten() {
        verdict.operations += 1;
        let words: Vec<&str> = line.split(' ').collect();
        if let ["allowed", limit, cost, asked, answered] = words.as_slice() {
            let (cost, asked, answered) = (number(cost), number(asked), number(answered));
            limits.entry(limit).or_default().push(Allowed { cost, asked, answered });
        }
    }
    let mut judged = 0;
    for (limit, mut allowed) in limits {
        allowed.sort_by_key(|it| it.asked);
        judged += spans(history, limit, &allowed, &mut verdict);
    }
    verdict.remarks.push(format!("{judged} spans judged"));
    verdict
}

/// Judges what was allowed from each request on, in spans of up to three windows.
fn spans(history: &History, limit: &str, allowed: &[Allowed], verdict: &mut Verdict) -> usize {
    let mut judged = 0;
    for (at, first) in allowed.iter().enumerate() {
        let (mut sum, mut end) = (0, first.asked);
        for it in &allowed[at..] {
            if it.asked > first.asked + 3 * WINDOW {
                break;
            }
            // What was answered late may have been counted late: it is left out.
            if it.answered > first.asked + 3 * WINDOW {
                continue;
            }
            end = end.max(it.answered);
            sum += it.cost;
            let most = most(limit, end - first.asked);
            if sum > most {
                if !history.has(first.asked, end, |fault| forgets(fault.kind, history.is_durable)) {
                    let span = end - first.asked;
                    verdict.violation(format_args!("{limit}: {sum} in {span} µs, not {most}"));
                }
                break;
            }
        }
        judged += 1;
    }
    judged
}

/// What may be allowed in a span of time.
fn most(limit: &str, span: Micros) -> u64 {
    if limit.starts_with("even") {
        // Times are rounded up to microseconds on both ends.
        return LIMIT + (span + 2) * LIMIT / WINDOW + 1;
    }
    // A window that ends in the span, those inside of it, and one that begins in it.
    (span / WINDOW + 2) * LIMIT
}

fn forgets(kind: Kind, is_durable: bool) -> bool {
    matches!(kind, Kind::Flush | Kind::Evict | Kind::FailOver)
        || kind == Kind::RestartServer && !is_durable
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::history::Fault;

    fn burst(limit: &str, count: u64, from: Micros, apart: Micros) -> Vec<String> {
        let line = |number: u64| {
            let asked = from + number * apart;
            format!("allowed {limit} 1 {asked} {}", asked + 10)
        };
        (0..count).map(line).collect()
    }

    fn found(lines: Vec<String>, faults: Vec<Fault>) -> usize {
        let clients = vec![lines];
        check(&History { clients, faults, is_durable: true, ..History::default() }).violations.len()
    }

    #[test]
    fn a_burst_and_then_an_even_flow_is_sound() {
        let mut lines = burst("even0", 40, 1000, 10);
        lines.extend(burst("even0", 40, 1000 + WINDOW / 40, WINDOW / 40));
        assert_eq!(found(lines, Vec::new()), 0);
    }

    #[test]
    fn one_too_many_is_found() {
        assert!(found(burst("even0", 43, 1000, 10), Vec::new()) > 0);
        assert!(found(burst("fixed0", 81, 1000, 10), Vec::new()) > 0);
        assert_eq!(found(burst("fixed0", 80, 1000, 10), Vec::new()), 0);
        assert!(found(burst("sliding1", 200, 1000, WINDOW / 100), Vec::new()) > 0);
    }

    #[test]
    fn only_a_server_that_forgot_excuses_it() {
        let fault = |kind, from, to| Fault { kind, client: None, from, to };
        let flushed = vec![fault(Kind::Flush, 1200, 1300)];
        assert_eq!(found(burst("even0", 50, 1000, 10), flushed), 0);
        let later = vec![fault(Kind::Flush, 9000, 9100), fault(Kind::PauseServer, 1200, 1300)];
        assert!(found(burst("even0", 50, 1000, 10), later) > 0);
    }
}
