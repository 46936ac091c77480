//! Answers that are lost on their way: what changes something is not sent again.

use super::everything::keys;
use super::{on_all, until};
use keyward::{Error, Store};
use keyward_testkit::{Cluster, Flavor, Harm, Proxy, Server, wait_until};
use std::convert::Infallible;
use std::time::Duration;

async fn through(proxy: &Proxy) -> Store {
    connect(&proxy.url()).await
}

async fn connect(url: &str) -> Store {
    let builder = Store::builder(url).connect_timeout(Duration::from_secs(30));
    builder.response_timeout(Duration::from_secs(30)).connect().await.unwrap()
}

fn is_unknown<T: std::fmt::Debug>(answer: Result<T, Error>) {
    let error = answer.expect_err("its answer was lost");
    assert!(matches!(error, Error::Unknown(_)), "{error:?}");
    assert!(error.to_string().contains("may or may not have happened"), "{error}");
}

/// Every call that changes something, with its answer lost; by the schema for one server and for a cluster.
macro_rules! counts_once {
    ($module:ident, $schema:ident) => {
        mod $module {
            use super::*;

            pub(super) async fn counts_once(
                store: &Store,
                lose: impl Fn(&str),
                asked: impl Fn(&[&str]) -> String,
            ) {
                use super::super::$schema::{events, keys};
                // After this the servers know the scripts, all of them on a cluster.
                for id in 100..130 {
                    store.at(keys::Hits { id }).add(1).await.unwrap();
                    store.at(keys::Mails { id }).take(1).await.unwrap();
                    store.at(keys::Recent { id }).push_back(&["a".to_owned()]).await.unwrap();
                    store.at(keys::Fixed { id }).check().await.unwrap();
                    store.at(keys::Text { id }).delete().await.unwrap();
                }

                lose("ev:hits:2");
                is_unknown(store.at(keys::Hits { id: 2 }).add(1).await);
                assert_eq!(asked(&["GET", "ev:hits:2"]), "1");
                lose("ev:mails:2");
                is_unknown(store.at(keys::Mails { id: 2 }).take(1).await);
                assert_eq!(asked(&["GET", "ev:mails:2"]), "1");
                lose("ev:recent:2");
                is_unknown(store.at(keys::Recent { id: 2 }).push_back(&["a".to_owned()]).await);
                assert_eq!(asked(&["LLEN", "ev:recent:2"]), "1");
                lose("ev:text:2");
                is_unknown(store.at(keys::Text { id: 2 }).set(&"a".to_owned()).await);
                assert_eq!(asked(&["GET", "ev:text:2"]), "a");
                lose("ev:text:2");
                is_unknown(store.at(keys::Text { id: 2 }).delete().await);
                assert_eq!(asked(&["EXISTS", "ev:text:2"]), "0");
                lose("ev:hits:3");
                let mut batch = store.pipeline();
                let sum = batch.add(store.at(keys::Hits { id: 3 }).add(1));
                is_unknown(match batch.run().await {
                    Err(error) => Err(error),
                    Ok(mut results) => results.take(sum),
                });
                assert_eq!(asked(&["GET", "ev:hits:3"]), "1");

                // A limit has an answer for when there is none, and has counted at most once.
                lose("ev:fixed:2");
                let allowance = store.at(keys::Fixed { id: 2 }).check().await.unwrap();
                assert!(allowance.allowed && allowance.outage, "{allowance:?}");
                assert_eq!(asked(&["GET", "ev:fixed:2"]), "1");

                // What only reads is asked again.
                store.at(keys::Text { id: 3 }).set(&"a".to_owned()).await.unwrap();
                lose("ev:text:3");
                assert_eq!(
                    store.at(keys::Text { id: 3 }).get().await.unwrap().as_deref(),
                    Some("a")
                );
                lose("ev:text:3");
                let mut batch = store.pipeline();
                let text = batch.add(store.at(keys::Text { id: 3 }).get());
                let there = batch.add(store.at(keys::Text { id: 3 }).exists());
                let mut results = batch.run().await.unwrap();
                assert_eq!(results.take(text).unwrap().as_deref(), Some("a"));
                assert!(results.take(there).unwrap());

                // An event whose answer is lost is made up for: removing twice is removing.
                lose("ev:text:3");
                assert!(store.emit(events::TextChanged { id: 3 }).await.unwrap().postponed);
                until("the key is gone", async || {
                    store.at(keys::Text { id: 3 }).get().await.is_ok_and(|text| text.is_none())
                })
                .await;
                // A loader's caller does not notice.
                let load = || async { Ok::<_, Infallible>("new".to_owned()) };
                lose("ev:text:4");
                assert_eq!(store.at(keys::Text { id: 4 }).get_or_load(load).await.unwrap(), "new");
            }
        }
    };
}

counts_once!(single, everything);
counts_once!(many, clustered);

#[tokio::test]
async fn what_changes_something_happens_once_and_says_that_its_answer_was_lost() {
    on_all(async |server: &Server, _store: Store| {
        let proxy = Proxy::new(server, Harm::Lose);
        let store = through(&proxy).await;
        let lose = |key: &str| proxy.lose_the_answer_to(key);
        single::counts_once(&store, lose, |args: &[&str]| text(server.command(args))).await;
        assert_eq!(proxy.harmed(), 11);
    })
    .await;
}

#[tokio::test]
async fn the_same_on_a_cluster() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let (store, proxies) = behind_proxies(&cluster).await;
        let lose = |key: &str| {
            let (_, proxy) = &proxies[at(&cluster, key)];
            proxy.lose_the_answer_to(key);
        };
        let asked = |args: &[&str]| text(cluster.nodes()[at(&cluster, args[1])].command(args));
        many::counts_once(&store, lose, asked).await;
        let lost: usize = proxies.iter().map(|(_, proxy)| proxy.harmed()).sum();
        assert_eq!(lost, 11);
    }
}

#[tokio::test]
async fn a_connection_that_broke_while_nobody_used_it_loses_nothing() {
    on_all(async |server: &Server, store: Store| {
        let hits = store.at(keys::Hits { id: 1 });
        for number in 1..=5 {
            server.command(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
            until("the store has noticed", async || !store.is_connected()).await;
            assert_eq!(hits.add(1).await.unwrap().value, number);
        }
    })
    .await;
}

fn text(reply: keyward_testkit::Reply) -> String {
    match reply {
        keyward_testkit::Reply::Integer(number) => number.to_string(),
        other => other.text(),
    }
}

/// A store that reaches every primary through a proxy, which the cluster announces in its place.
async fn behind_proxies(cluster: &Cluster) -> (Store, Vec<(u16, Proxy)>) {
    let primaries = &cluster.nodes()[..3];
    let proxies: Vec<(u16, Proxy)> =
        primaries.iter().map(|node| (node.port(), Proxy::new(node, Harm::Lose))).collect();
    for (node, (_, proxy)) in primaries.iter().zip(&proxies) {
        node.command(&["CONFIG", "SET", "cluster-announce-port", &proxy.port().to_string()]);
    }
    wait_until("all nodes announce the proxies", || {
        cluster.nodes().iter().all(|node| {
            let nodes = node.command(&["CLUSTER", "NODES"]).text();
            proxies.iter().all(|(_, proxy)| nodes.contains(&format!(":{}@", proxy.port())))
        })
    });
    let seeds: Vec<String> = proxies.iter().map(|(_, proxy)| proxy.address()).collect();
    (connect(&format!("redis+cluster://{}", seeds.join(","))).await, proxies)
}

/// Which of the primaries has a key.
fn at(_: &Cluster, key: &str) -> usize {
    usize::from(keyward::slot(key.as_bytes())) * 3 / 16_384
}
