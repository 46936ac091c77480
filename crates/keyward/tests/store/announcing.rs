//! What a store's connections are called: a migration sees by it which phases a program knows.

use super::cluster::store as clustered_store;
use super::{clustered, everything, moving, on_all, until};
use keyward::{Keyspace as _, Store};
use keyward_testkit::{Cluster, Flavor, Sentinel, Server};
use std::time::Duration;

const MOVING: &str = "keyward:moving:begun=dual-write;turned=read-fallback;done=cleanup";

/// How many connections of a server have this name.
fn named(server: &Server, name: &str) -> usize {
    let list = server.command(&["CLIENT", "LIST"]).text();
    let has_name = |line: &&str| line.split(' ').any(|it| it.strip_prefix("name=") == Some(name));
    list.lines().filter(has_name).count()
}

#[tokio::test]
async fn a_store_names_its_connection_and_the_one_after_it() {
    assert_eq!(moving::Key::ANNOUNCEMENT, MOVING);
    on_all(async |server: &Server, store: Store| {
        let profile = store.at(moving::keys::Profile { id: 1 });
        profile.get().await.unwrap();
        until("the connection has a name", async || named(server, MOVING) == 1).await;
        server.command(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        until("the next connection has a name", async || {
            _ = profile.get().await;
            named(server, MOVING) == 1
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn connections_besides_the_first_have_the_name_too() {
    on_all(async |server: &Server, store: Store| {
        // What a process keeps is heard of through a connection of its own.
        super::warm(&store, 1, "a").await;
        let name = everything::Key::ANNOUNCEMENT;
        until("both have a name", async || named(server, name) == 2).await;
    })
    .await;
}

#[tokio::test]
async fn a_server_that_lets_nobody_name_a_connection_is_used_all_the_same() {
    on_all(async |server: &Server, store: Store| {
        server.command(&["ACL", "SETUSER", "default", "-client|setname"]);
        let profile = store.at(moving::keys::Profile { id: 1 });
        profile.set(&"a".to_owned()).await.unwrap();
        assert_eq!(profile.get().await.unwrap().as_deref(), Some("a"));
        assert_eq!(named(server, MOVING), 0);
    })
    .await;
}

#[tokio::test]
async fn connections_to_all_nodes_of_a_cluster_have_names() {
    let name = clustered::Key::ANNOUNCEMENT;
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let store = clustered_store(&cluster).await;
        let touch = async || {
            for id in 0..20 {
                _ = store.at(clustered::keys::Text { id }).get().await;
            }
        };
        touch().await;
        let all = || cluster.primaries().iter().all(|node| named(node, name) > 0);
        until("all have names", async || all()).await;
        let node = cluster.primary_of("ev:text:1");
        node.command(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        until("the next connection has a name", async || {
            touch().await;
            all()
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_primary_that_a_sentinel_names_sees_the_name() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let sentinel = Sentinel::start(flavor);
        let url = format!("redis+sentinel://{}/{}", sentinel.sentinel().address(), Sentinel::NAME);
        let store = Store::builder(url).connect_timeout(Duration::from_secs(10)).lazy().unwrap();
        let profile = store.at(moving::keys::Profile { id: 1 });
        until("the connection has a name", async || {
            _ = profile.get().await;
            named(sentinel.primary(), MOVING) == 1
        })
        .await;
        sentinel.primary().kill();
        tokio::task::block_in_place(|| sentinel.wait_until_failed_over());
        until("the new primary sees the name", async || {
            _ = profile.get().await;
            named(sentinel.current(), MOVING) == 1
        })
        .await;
    }
}
