//! Clusters and sentinels come together, fail over, and are gone after drop.

use std::net::TcpStream;

use keyward_testkit::{Cluster, Flavor, Sentinel, Server, wait_until};

#[test]
fn a_redis_cluster_serves_all_slots() {
    serves_all_slots(Flavor::Redis);
}

#[test]
fn a_valkey_cluster_serves_all_slots() {
    serves_all_slots(Flavor::Valkey);
}

fn serves_all_slots(flavor: Flavor) {
    let cluster = Cluster::start(flavor);
    for n in 0..100 {
        cluster.command(&["SET", &format!("key:{n}"), "value"]);
    }
    let primaries = cluster.primaries();
    assert_eq!(primaries.len(), 3);
    let sizes: Vec<_> = primaries.iter().map(|p| p.command(&["DBSIZE"]).integer()).collect();
    assert_eq!(sizes.iter().sum::<i64>(), 100);
    assert!(sizes.iter().all(|size| *size > 0), "{sizes:?}");

    let addresses: Vec<_> = cluster.nodes().iter().map(Server::address).collect();
    drop(cluster);
    assert!(addresses.iter().all(|address| TcpStream::connect(address).is_err()));
}

#[test]
fn a_redis_cluster_survives_a_primary() {
    survives_a_primary(Flavor::Redis);
}

#[test]
fn a_valkey_cluster_survives_a_primary() {
    survives_a_primary(Flavor::Valkey);
}

fn survives_a_primary(flavor: Flavor) {
    let cluster = Cluster::with(&flavor.server().password("secret"));
    cluster.command(&["SET", "a", "b"]);
    let owner = cluster.primary_of("a");
    let index = cluster.nodes().iter().position(|node| node.port() == owner.port());
    let heir = &cluster.nodes()[index.expect("the owner is a node") + 3];
    wait_until("the write has reached the replica", || heir.command(&["DBSIZE"]).integer() == 1);

    owner.kill();
    wait_until("the replica is promoted", || heir.is_primary());
    cluster.wait_until_ok();
    assert_eq!(cluster.primary_of("a").port(), heir.port());
    assert_eq!(cluster.command(&["GET", "a"]).text(), "b");
}

#[test]
fn a_redis_sentinel_promotes_the_replica() {
    promotes_the_replica(Flavor::Redis);
}

#[test]
fn a_valkey_sentinel_promotes_the_replica() {
    promotes_the_replica(Flavor::Valkey);
}

fn promotes_the_replica(flavor: Flavor) {
    let watched = Sentinel::start(flavor);
    assert_eq!(watched.current().port(), watched.primary().port());
    watched.primary().kill();
    watched.wait_until_failed_over();
    assert_eq!(watched.current().port(), watched.replica().port());
    watched.replica().command(&["SET", "a", "b"]);

    let sentinel = watched.sentinel().address();
    drop(watched);
    assert!(TcpStream::connect(sentinel).is_err());
}
