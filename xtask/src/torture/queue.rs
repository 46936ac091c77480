//! Queues: what was pushed is handled or dead, and no job is leased to two at once.
//!
//! Every value is pushed once, so that it tells its jobs apart. Clients note a push before it is sent and after it was
//! answered, the beginning of each execution with the server's time of its lease, and its end before it is reported. The
//! last client drains the queues, and reads what is left.

use super::Role;
use super::client::{Client, number};
use super::history::{History, Kind, Verdict};
use anyhow::Result;
use futures_util::TryStreamExt as _;
use keyward::kind::{Declared, Queue};
use keyward::queue::{Failure, Job, Push};
use keyward::{Codec, Error, Fixed, Key, Keyspace, Store};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

keyward::keyspace!("src/torture/queue.toml");
keyward::keyspace!("src/torture/queue-cluster.toml");

pub(super) const ROLE: Role = Role {
    name: "queue",
    client,
    check,
    // A queue is kept by the server, and has nothing to say about what the server has lost, or a replica never had.
    spares: &[Kind::Flush, Kind::Evict, Kind::FailOver],
    owns: |key| {
        let owner = keyward_pattern::owner_of("arena:", key).map_or(key, |(owner, _)| owner);
        queues::Key::parse(owner).is_some()
    },
    on_cluster: true,
};

/// What the schema says, in milliseconds.
const LEASE: u64 = 1000;
/// How many jobs may wait before clients stop to push.
const ENOUGH: u64 = 300;

/// Does something with each queue, by its key: a list and a stream.
macro_rules! lanes {
    ($client:expr, $key:ident => $body:expr) => {
        if $client.url.starts_with("redis+cluster:") {
            lanes!(in far_queues, $key => $body)
        } else {
            lanes!(in queues, $key => $body)
        }
    };
    (in $keyspace:ident, $key:ident => $body:expr) => {{
        let $key = $keyspace::keys::Work { lane: 0 };
        $body;
        let $key = $keyspace::keys::Flow { lane: 1 };
        $body;
    }};
}

/// A job: a text, or an entry that holds one.
trait Text: Send + Sync + 'static {
    fn new(text: &str) -> Self;
    fn text(&self) -> &str;
}

impl Text for String {
    fn new(text: &str) -> Self {
        text.to_owned()
    }

    fn text(&self) -> &str {
        self
    }
}

macro_rules! entry {
    ($($fields:path),*) => {$(
        impl Text for $fields {
            fn new(text: &str) -> Self {
                Self { value: text.to_owned() }
            }

            fn text(&self) -> &str {
                &self.value
            }
        }
    )*};
}

entry!(queues::fields::Flow, far_queues::fields::Flow);

/// The key of a queue whose jobs are a `V`.
trait Lane<V, C>:
    Key<Keyspace: Keyspace<Prefix: Fixed>, Kind = Queue<V, C>, Lifetime = Declared> + Sync + 'static
{
}

impl<K, V, C> Lane<V, C> for K where
    K: Key<Keyspace: Keyspace<Prefix: Fixed>, Kind = Queue<V, C>, Lifetime = Declared>
        + Sync
        + 'static
{
}

fn client(mut client: Client) -> Result<()> {
    Client::runtime()?.block_on(async {
        if client.is_last {
            // Nobody harms it: what is slow is the machine.
            let patience = Duration::from_secs(30);
            let builder = Store::builder(&client.url).connect_timeout(patience);
            return last(&builder.response_timeout(patience).lazy()?, &client).await;
        }
        let store = Store::builder(&client.url).lazy()?;
        let seed = client.random.u64(..);
        let client = Arc::new(client);
        let mut number = 0;
        lanes!(client, key => {
            for _ in 0..2 {
                number += 1;
                let mut random = fastrand::Rng::with_seed(seed ^ number);
                let (store, client, key) = (store.clone(), client.clone(), key.clone());
                tokio::spawn(async move {
                    loop {
                        push(&store, &client, &key, &mut random).await;
                    }
                });
            }
            let (store, client) = (store.clone(), client.clone());
            tokio::spawn(async move { work(&store, &client, &key, true).await });
        });
        client.over().await;
        Ok(())
    })
}

async fn push<V: Text, C: Codec<V>>(
    store: &Store,
    client: &Client,
    key: &impl Lane<V, C>,
    random: &mut fastrand::Rng,
) {
    let queue = store.at(key.clone());
    let waiting = queue.stats().await.map(|stats| stats.listed + stats.ready + stats.due);
    if waiting.is_ok_and(|waiting| waiting > ENOUGH) {
        tokio::time::sleep(Duration::from_millis(20)).await;
        return;
    }
    let value = format!("{:016x}", random.u64(..));
    let mut push = Push::new();
    let with_id = random.bool();
    if with_id {
        push = push.id(&value);
    }
    if random.u8(0..4) == 0 {
        push = push.delay(Duration::from_millis(random.u64(0..200)));
    }
    if random.u8(0..4) == 0 {
        push = push.priority(random.i16(-3..4));
    }
    if random.u8(0..4) == 0 {
        push = push.group(random.choice(["a", "b", "c"]).unwrap_or("a"));
    }
    client.log(format_args!("push {value}"));
    match queue.push_with(&V::new(&value), push).await {
        Ok(_) => client.log(format_args!("pushed {value}")),
        Err(Error::Unknown(_)) => client.log("unknown"),
        Err(_) => {
            client.log("refused");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    if with_id && random.u8(0..20) == 0 {
        client.log(format_args!("cancel {value}"));
        client.log(match queue.cancel(&value).await {
            Ok(_) => "cancelled",
            Err(_) => "error",
        });
    }
}

/// Handles jobs for ever. Where it is harmed, some fail, and some take longer than their leases.
async fn work<V: Text, C: Codec<V>>(
    store: &Store,
    client: &Client,
    key: &impl Lane<V, C>,
    is_harmed: bool,
) {
    // Queues on different servers may give the same ticket.
    let queue = store.at(key.clone()).name().to_owned();
    let handler = async |job: Job<V>| {
        let since = job.taken().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let ticket = format!("{queue}/{}", job.ticket());
        let (take, value) = (job.take(), job.value.text());
        client.log(format_args!("begin {ticket} {take} {} {value}", since.as_millis()));
        let chance = if is_harmed { fastrand::u8(0..100) } else { 50 };
        if chance == 0 {
            tokio::time::sleep(Duration::from_millis(LEASE * 3 / 2)).await;
        } else {
            tokio::time::sleep(Duration::from_micros(fastrand::u64(0..2000))).await;
        }
        if chance < 8 {
            client.log(format_args!("failed {ticket} {take}"));
            return Err(Failure::from("as it was told"));
        }
        client.log(format_args!("done {ticket} {take} {value}"));
        Ok(())
    };
    loop {
        let worker = store.at(key.clone()).worker().concurrency(4);
        // It ends only where the server refuses, and that passes.
        let ended = worker.run(&handler).await;
        client.log(format_args!("ended {ended:?}"));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Handles what is left, and says what is dead, and what the status of each job is.
async fn last(store: &Store, client: &Client) -> Result<()> {
    lanes!(client, key => drain(store, client, &key).await?);
    if client.url.starts_with("redis+cluster:") {
        let found: Vec<far_queues::keys::State> = store.scan().try_collect().await?;
        for key in found {
            let state = store.at(key.clone()).get().await?;
            settled(client, &key.job, state.map(|state| format!("{:?}", state.status)));
        }
    } else {
        let found: Vec<queues::keys::State> = store.scan().try_collect().await?;
        for key in found {
            let state = store.at(key.clone()).get().await?;
            settled(client, &key.job, state.map(|state| format!("{:?}", state.status)));
        }
    }
    Ok(())
}

fn settled(client: &Client, job: &impl std::fmt::Display, status: Option<String>) {
    if let Some(status) = status.filter(|it| it != "Completed" && it != "Failed") {
        client.log(format_args!("stuck the status of {job} is {status}"));
    }
}

async fn drain<V: Text, C: Codec<V>>(
    store: &Store,
    client: &Client,
    key: &impl Lane<V, C>,
) -> Result<()> {
    let queue = store.at(key.clone());
    let drained = async {
        loop {
            if let Ok(stats) = queue.stats().await
                && stats.listed + stats.ready + stats.due + stats.leased == 0
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        () = work(store, client, key, false) => {}
        () = drained => {}
        () = tokio::time::sleep(Duration::from_secs(60)) => {
            client.log(format_args!("stuck {:?}", queue.stats().await));
        }
    }
    for dead in queue.dead(0, -1).await? {
        match dead.value {
            Ok(value) => client.log(format_args!("dead {}", value.text())),
            Err(why) => client.log(format_args!("stuck {why}")),
        }
    }
    Ok(())
}

fn check(history: &History) -> Verdict {
    let mut verdict = Verdict::default();
    let (mut asked, mut answered) = (HashSet::new(), HashSet::new());
    let (mut cancelled, mut handled) = (HashSet::new(), HashSet::new());
    // When each take of each ticket was granted, and which of them have ended.
    let mut takes: BTreeMap<&str, BTreeMap<u64, u64>> = BTreeMap::new();
    let mut ended: HashSet<(&str, u64)> = HashSet::new();
    let mut begun: HashSet<&str> = HashSet::new();
    let mut twice = 0;
    for line in history.clients.iter().flatten().chain(&history.last) {
        let words: Vec<&str> = line.split(' ').collect();
        verdict.operations += 1;
        match words.as_slice() {
            ["push", value] => _ = asked.insert(*value),
            ["pushed", value] => _ = answered.insert(*value),
            ["cancel", value] => _ = cancelled.insert(*value),
            ["begin", ticket, take, at, value] => {
                begun.insert(*value);
                let takes = takes.entry(*ticket).or_default();
                if takes.insert(number(take), number(at)).is_some() {
                    verdict.violation(format_args!("take {take} of {ticket} was given twice"));
                }
            }
            ["failed", ticket, take] => _ = ended.insert((*ticket, number(take))),
            ["done", ticket, take, value] => {
                ended.insert((*ticket, number(take)));
                twice += usize::from(!handled.insert(*value));
            }
            ["dead", value] => _ = handled.insert(*value),
            ["stuck", ..] => verdict.violation(line),
            _ => {}
        }
    }
    for value in
        answered.iter().filter(|value| !handled.contains(*value) && !cancelled.contains(*value))
    {
        verdict.violation(format_args!("{value} was pushed, and is neither done nor dead"));
    }
    for value in begun.iter().filter(|value| !asked.contains(*value)) {
        verdict.violation(format_args!("{value} was never pushed"));
    }
    for (ticket, takes) in &takes {
        for ((take, at), (_, next)) in takes.iter().zip(takes.iter().skip(1)) {
            if *next < at + LEASE && !ended.contains(&(ticket, *take)) {
                let left = at + LEASE - next;
                verdict.violation(format_args!(
                    "take {take} of {ticket} was leased for another {left} ms when it was given again"
                ));
            }
        }
    }
    verdict.remarks.push(format!("{} jobs, {twice} of them done twice", answered.len()));
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(clients: &[&[&str]], last: &[&str]) -> History {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let clients = clients.iter().map(|client| lines(client)).collect();
        History { clients, last: lines(last), is_durable: true, ..History::default() }
    }

    #[test]
    fn a_sound_history_has_no_violations() {
        let sound = history(
            &[
                &[
                    "push a", "pushed a", "push b", "pushed b", "push c", "unknown", "push d",
                    "pushed d", "cancel d",
                ],
                &["begin 1 1 5000 a", "failed 1 1", "begin 1 2 5010 a", "begin 2 1 5000 b"],
                &["begin 1 3 6010 a", "done 1 3 a"],
            ],
            &["dead b"],
        );
        assert_eq!(check(&sound).violations, Vec::<String>::new());
    }

    #[test]
    fn what_vanished_or_came_from_nowhere_is_found() {
        let lost = history(&[&["push a", "pushed a", "begin 1 1 5000 a"]], &[]);
        assert_eq!(check(&lost).violations, ["a was pushed, and is neither done nor dead"]);
        let invented = history(&[&["begin 1 1 5000 a", "done 1 1 a"]], &[]);
        assert_eq!(check(&invented).violations, ["a was never pushed"]);
        assert_eq!(check(&history(&[], &["stuck Ok(..)"])).violations, ["stuck Ok(..)"]);
    }

    #[test]
    fn two_leases_of_one_ticket_are_found() {
        let begin = ["push a", "begin 1 1 5000 a", "begin 1 2 5999 a", "done 1 2 a"];
        let found = check(&history(&[&begin], &[])).violations;
        assert_eq!(found, ["take 1 of 1 was leased for another 1 ms when it was given again"]);
        let twice = ["push a", "begin 1 1 5000 a", "begin 1 1 7000 a", "done 1 1 a"];
        assert_eq!(check(&history(&[&twice], &[])).violations, ["take 1 of 1 was given twice"]);
    }
}
