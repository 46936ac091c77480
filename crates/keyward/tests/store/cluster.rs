//! The same on a cluster.

use super::clustered::{events, keys, values};
use super::{everything, until};
use futures_util::TryStreamExt as _;
use keyward::{BreakerSettings, Error, Store};
use keyward_testkit::{Cluster, Flavor, Reply, Server};
use std::convert::Infallible;
use std::time::Duration;

fn url(cluster: &Cluster) -> String {
    let nodes: Vec<String> = cluster.nodes().iter().map(keyward_testkit::Server::address).collect();
    format!("redis+cluster://{}", nodes.join(","))
}

pub(crate) async fn store(cluster: &Cluster) -> Store {
    let builder = Store::builder(url(cluster)).connect_timeout(Duration::from_secs(10));
    let breaker = BreakerSettings::default().cooldown(Duration::from_millis(100));
    builder.response_timeout(Duration::from_secs(5)).breaker(breaker).connect().await.unwrap()
}

/// The text of a key, or else this one, which is then its text.
async fn load(store: &Store, id: u64, text: &str) -> String {
    let load = || async { Ok::<_, Infallible>(text.to_owned()) };
    store.at(keys::Text { id }).get_or_load(load).await.unwrap()
}

fn group(name: &str) -> values::Group {
    values::Group::new(name).unwrap()
}

#[tokio::test]
async fn everything_works_on_a_cluster() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let store = store(&cluster).await;
        for id in 0..100 {
            store.at(keys::Text { id }).set(&format!("text {id}")).await.unwrap();
        }
        let texts = store.get_many((0..101).map(|id| keys::Text { id })).await.unwrap();
        assert_eq!(texts[99].as_deref(), Some("text 99"));
        assert_eq!(texts[100], None);
        let mut batch = store.pipeline();
        let texts: Vec<_> =
            (0..100).map(|id| batch.add(store.at(keys::Text { id }).get())).collect();
        let counted = batch.add(store.at(keys::Hits { id: 1 }).add(5));
        let mut results = batch.run().await.unwrap();
        assert!(texts.into_iter().all(|text| results.take(text).unwrap().is_some()));
        assert_eq!(results.take(counted).unwrap().value, 5);
        let mut found: Vec<u64> =
            store.scan::<keys::Text>().map_ok(|key| key.id).try_collect().await.unwrap();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 100);

        // Events, by index and by scan, wherever the keys are.
        for number in 0..40 {
            let member = values::Member::new(format!("m{number}")).unwrap();
            let access = keys::Access { group: group("a"), member: member.clone() };
            store.at(access).set(&"yes".to_owned()).await.unwrap();
            store
                .at(keys::View { group: group("a"), member })
                .set(&"page".to_owned())
                .await
                .unwrap();
        }
        let done = store.emit(events::GroupChanged { group: group("a") }).await.unwrap();
        assert_eq!(done.removed, 80);
        // A fill that began before, of a key that was not there yet.
        let key = || keys::Access { group: group("a"), member: values::Member::new("x").unwrap() };
        let load = || async {
            store.emit(events::GroupChanged { group: group("a") }).await.unwrap();
            Ok::<_, Infallible>("old".to_owned())
        };
        store.at(key()).get_or_load(load).await.unwrap();
        assert_eq!(store.at(key()).get().await.unwrap(), None);
        // And written again right after an event: the next one finds it.
        store.at(key()).set(&"yes".to_owned()).await.unwrap();
        let done = store.emit(events::GroupChanged { group: group("a") }).await.unwrap();
        assert_eq!(done.removed, 1);

        // Whole values are written under both names, on whatever nodes they are.
        let profile = store.at(keys::Profile { id: 1 });
        profile.set(&"a".to_owned()).await.unwrap();
        assert_eq!(cluster.command(&["GET", "OLD:Profile:1"]).text(), "a");
        assert_eq!(cluster.command(&["GET", "ev:profile:1"]).text(), "a");

        // What is kept in the process hears of changes on every node.
        for id in 0..6 {
            let quick = store.at(keys::Quick { id });
            quick.set(&"a".to_owned()).await.unwrap();
            until("it is kept in the process", async || {
                quick.get().await.unwrap();
                quick.is_kept()
            })
            .await;
            cluster.command(&["SET", quick.name(), "b"]);
            until("the change is heard of", async || {
                quick.get().await.unwrap().as_deref() == Some("b")
            })
            .await;
        }
    }
}

#[tokio::test]
async fn a_key_is_found_while_its_slot_moves_and_after() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let store = store(&cluster).await;
        let (text, hits) = (store.at(keys::Text { id: 1 }), store.at(keys::Hits { id: 1 }));
        text.set(&"a".to_owned()).await.unwrap();
        hits.add(1).await.unwrap();
        let migrations = [text.name(), hits.name()].map(|name| {
            let slot = keyward::slot(name.as_bytes());
            let from = usize::from(slot) * 3 / 16_384;
            (name.to_owned(), from, cluster.migrate(slot, from, (from + 1) % 3))
        });
        let answers = |name: &str, from: usize, code: &str| {
            let answer = cluster.nodes()[from].connect().command(&["TYPE", name]).unwrap();
            assert!(matches!(&answer, Reply::Error(why) if why.starts_with(code)), "{answer:?}");
        };
        assert_eq!(text.get().await.unwrap().as_deref(), Some("a"), "it is still there");

        for (name, from, migration) in &migrations {
            migration.carry();
            answers(name, *from, "ASK ");
        }
        assert_eq!(text.get().await.unwrap().as_deref(), Some("a"));
        assert_eq!(hits.add(1).await.unwrap().value, 2);
        text.set(&"a".to_owned()).await.unwrap();
        let texts = store.get_many([keys::Text { id: 1 }]).await.unwrap();
        assert_eq!(texts[0].as_deref(), Some("a"));
        let mut batch = store.pipeline();
        let (asked, counted) = (batch.add(text.get()), batch.add(hits.add(1)));
        let mut results = batch.run().await.unwrap();
        assert_eq!(results.take(asked).unwrap().as_deref(), Some("a"));
        assert_eq!(results.take(counted).unwrap().value, 3);

        for (name, from, migration) in migrations {
            migration.end();
            answers(&name, from, "MOVED ");
        }
        assert_eq!(text.get().await.unwrap().as_deref(), Some("a"));
        assert_eq!(hits.add(1).await.unwrap().value, 4);
        text.set(&"b".to_owned()).await.unwrap();
        assert_eq!(cluster.command(&["GET", text.name()]).text(), "b");
    }
}

#[tokio::test]
async fn a_primary_that_dies_costs_nobody_an_error() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let store = store(&cluster).await;
        for id in 0..50 {
            load(&store, id, "a").await;
        }
        cluster.primary_of("ev:text:1").kill();
        for id in 0..50 {
            assert_eq!(load(&store, id, "a").await, "a");
        }
        until("the replica takes over", async || {
            load(&store, 1, "a").await;
            store.at(keys::Text { id: 1 }).get().await.is_ok_and(|value| value.is_some())
        })
        .await;
        until("all nodes know that it has", async || {
            store.at(keys::Text { id: 1 }).set(&"b".to_owned()).await.is_ok()
        })
        .await;
        assert_eq!(load(&store, 1, "a").await, "b");
    }
}

#[tokio::test]
async fn an_index_on_another_node_knows_what_was_renewed_and_what_was_counted() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let store = store(&cluster).await;
        let member = || values::Member::new("b").unwrap();
        let session = store.at(keys::Session { group: group("a"), member: member() });
        session.set(&"x".to_owned()).await.unwrap();
        // As if the index had forgotten it, because its time was over.
        cluster.command(&["DEL", "ev:~index:{ev:session:a:*}"]);
        assert_eq!(session.get().await.unwrap().as_deref(), Some("x"));
        let logins = store.at(keys::Logins { group: group("a"), member: member() });
        logins.add(1).await.unwrap();
        let done = store.emit(events::GroupLeft { group: group("a") }).await.unwrap();
        assert_eq!(done.removed, 2);
        assert_eq!(session.get().await.unwrap(), None);
        assert_eq!(logins.get().await.unwrap(), 0);
    }
}

#[tokio::test]
async fn what_the_schema_says_about_clusters_must_be_so() {
    let cluster = Cluster::start(Flavor::Redis);
    let node = cluster.primary_of("ev:text:1");
    let settings = |error: Error| match error {
        Error::Settings(why) => why,
        other => panic!("{other:?}"),
    };
    // The URL and the server.
    let refused = settings(Store::connect(node.url()).await.unwrap_err());
    assert!(refused.contains("write `redis+cluster://`"), "{refused}");
    let server = Server::redis();
    let refused = Store::connect(format!("redis+cluster://{}", server.address())).await;
    let refused = settings(refused.unwrap_err());
    assert!(refused.contains("write `redis://`"), "{refused}");
    // The schema and the server: nothing is sent.
    let store = store(&cluster).await;
    let undeclared = everything::keys::Hits { id: 1 };
    let refused = settings(store.at(undeclared.clone()).add(1).await.unwrap_err());
    assert!(refused.contains("write `cluster = true`"), "{refused}");
    assert_eq!(cluster.command(&["EXISTS", "ev:hits:1"]).integer(), 0);
    let texts = store.get_many([everything::keys::Text { id: 1 }]).await;
    settings(texts.unwrap_err());
    settings(store.at(everything::keys::Fixed { id: 1 }).check().await.unwrap_err());
    settings(store.emit(everything::events::TextChanged { id: 1 }).await.unwrap_err());
    let mut batch = store.pipeline();
    let count = batch.add(store.at(undeclared).add(1));
    settings(batch.run().await.unwrap().take(count).unwrap_err());
    let load = || async { Ok::<_, Infallible>("from the database".to_owned()) };
    let loaded = store.at(everything::keys::Text { id: 1 }).get_or_load(load).await.unwrap();
    assert_eq!(loaded, "from the database");
    let single = Store::connect(server.url()).await.unwrap();
    let refused = settings(single.at(keys::Hits { id: 1 }).add(1).await.unwrap_err());
    assert!(refused.contains("says `cluster = true`"), "{refused}");
    assert_eq!(server.command(&["DBSIZE"]).integer(), 0);
}
