//! The three locks of the binary options platform: settlement, hedging and the upkeep of rounds.

use super::on_all;
use binary_options::keys;
use keyward::{Error, Handle, Key, Store, kind};
use keyward_testkit::Server;
use std::time::Duration;

keyward::keyspace!("../../examples/binary-options/keyward.toml");

type Lock<'s, K> = Handle<'s, K, kind::Lock, kind::Declared>;

/// One process works, a second finds the lock taken, and gets it with a higher fence when the first has crashed.
async fn one_at_a_time<K: Key>(server: &Server, name: &str, lock: Lock<'_, K>) {
    let first = lock.acquire_as("node-1").await.unwrap();
    assert_eq!(server.command(&["GET", name]).text(), "node-1");
    assert!((1..=30_000).contains(&server.command(&["PTTL", name]).integer()));
    assert!(lock.try_acquire_as("node-2").await.unwrap().is_none());
    assert!(lock.acquire_within(Duration::from_millis(10)).await.unwrap().is_none());

    // What its TTL does after a crash.
    server.command(&["DEL", name]);
    let second = lock.try_acquire_as("node-2").await.unwrap().expect("it is free");
    assert!(second.fence() > first.fence());
    assert!(!first.release().await.unwrap(), "the first has lost it");
    assert_eq!(server.command(&["GET", name]).text(), "node-2", "and took nothing from the second");
    assert!(second.release().await.unwrap());
}

#[tokio::test]
async fn its_three_locks_have_one_holder_each() {
    on_all(async |server: &Server, store: Store| {
        let settlement = "bo:order:settlement:lock:task";
        one_at_a_time(server, settlement, store.at(keys::SettlementLock)).await;
        let hedge = "bo:order:hedge:lock:compensation";
        one_at_a_time(server, hedge, store.at(keys::HedgeLock)).await;
        let round = "bo:order:round:lock:maintenance";
        one_at_a_time(server, round, store.at(keys::RoundLock)).await;

        let settled = store.at(keys::SettlementLock).run(async |fence| fence > 0).await;
        assert!(settled.unwrap());
        server.command(&["SET", "bo:order:round:lock:maintenance", "a node without Keyward"]);
        let busy = store.at(keys::RoundLock).acquire_within(Duration::ZERO).await;
        assert!(matches!(busy, Ok::<_, Error>(None)));
    })
    .await;
}
