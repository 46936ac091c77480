//! Clusters, in good health and in bad.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use keyward_audit::live::{self, Ended, Seen};
use keyward_testkit::{Cluster, Flavor};

use crate::support::{Everything, fail, fill_cluster, quick, read};

type Hook = Arc<dyn Fn() + Send + Sync>;

/// All keys of all shards, each told once.
#[track_caller]
fn names(seen: &Seen<Everything>) -> Vec<String> {
    let mut names = BTreeSet::new();
    for (_, told) in &seen.shards {
        for name in told.names() {
            assert!(names.insert(name.to_owned()), "{name} was told by two shards");
        }
        assert_eq!(told.count, told.keys.len());
    }
    names.into_iter().collect()
}

#[test]
fn every_shard_is_read_from_any_node() {
    for flavor in Flavor::ALL {
        let cluster = Cluster::with(&flavor.server().password("secret"));
        let expected = fill_cluster(&cluster, 3_000);
        let nodes = cluster.nodes();
        for replica in &nodes[3..] {
            keyward_testkit::wait_until("the replica has all", || {
                let primary = nodes.iter().find(|node| {
                    let role = format!("{:?}", replica.command(&["ROLE"]));
                    role.contains(&format!("Integer({})", node.port()))
                });
                primary.is_some_and(|primary| {
                    replica.command(&["DBSIZE"]) == primary.command(&["DBSIZE"])
                })
            });
        }
        // A primary, a replica, and the form that names a cluster.
        let both = format!("{},{}", nodes[0].address(), nodes[1].address());
        let urls = [nodes[0].url(), nodes[4].url(), format!("redis+cluster://:secret@{both}")];
        for url in urls {
            let seen = read(&url, &quick(), |_| Everything::default());
            assert_eq!(seen.shards.len(), 3, "{url}");
            assert_eq!(names(&seen), expected);
            let replicas: Vec<_> =
                nodes[3..].iter().map(keyward_testkit::Server::address).collect();
            for (shard, _) in &seen.shards {
                assert!(replicas.contains(&shard.server), "{}", shard.server);
                assert_eq!(shard.dbsize_before, Some(shard.counts.scanned));
                assert!(shard.slots.as_ref().is_some_and(|slots| slots.contains('-')));
            }
        }
        let mut options = quick();
        options.primary = true;
        let seen = read(&nodes[0].url(), &options, |_| Everything::default());
        assert!(seen.shards.iter().all(|(shard, _)| shard.role == "master"));
        options.node_only = true;
        let seen = read(&nodes[0].url(), &options, |_| Everything::default());
        assert_eq!(seen.shards.len(), 1);
        assert!(names(&seen).len() < expected.len());
    }
}

#[test]
fn a_primary_that_dies_is_followed_by_its_replica() {
    let cluster = Arc::new(Cluster::start(Flavor::Redis));
    let expected = fill_cluster(&cluster, 20_000);
    let victim = cluster.nodes()[0].address();
    let hook: Hook = {
        let cluster = Arc::clone(&cluster);
        Arc::new(move || cluster.nodes()[0].kill())
    };
    let mut options = quick();
    options.primary = true;
    // The URL names the very node that dies.
    let seen = read(&cluster.nodes()[0].url(), &options, |shard| {
        if shard.name == victim { Everything::calling(1_000, &hook) } else { Everything::default() }
    });
    assert_eq!(names(&seen), expected);
    assert!(seen.shards.iter().all(|(shard, _)| shard.name != victim));
}

#[test]
fn shards_whose_slots_move_are_read_anew_but_only_once() {
    let cluster = Arc::new(Cluster::start(Flavor::Redis));
    let expected = fill_cluster(&cluster, 20_000);
    let moved = Arc::new(AtomicUsize::new(0));
    let moving = |times: usize| -> Hook {
        let (cluster, moved) = (Arc::clone(&cluster), Arc::clone(&moved));
        let last = moved.load(Ordering::SeqCst) + times;
        Arc::new(move || {
            let slot = moved.load(Ordering::SeqCst);
            if slot < last {
                moved.fetch_add(1, Ordering::SeqCst);
                cluster.migrate(u16::try_from(slot).unwrap(), 0, 1).end();
            }
        })
    };
    let mut options = quick();
    options.primary = true;
    let first = cluster.nodes()[0].address();
    let url = cluster.nodes()[2].url();
    let observe = |hook: &Hook| {
        live::observe(&url, &options, |shard| {
            if shard.name == first { Everything::calling(500, hook) } else { Everything::default() }
        })
        .and_then(Ended::whole)
    };
    let seen = observe(&moving(1)).expect("slots moved once");
    assert_eq!(names(&seen), expected);
    assert_eq!(moved.load(Ordering::SeqCst), 1);

    let error = observe(&moving(2)).err().expect("slots moved twice");
    assert!(matches!(error, live::Error::Incomplete { .. }), "{error}");
}

#[test]
fn slots_that_are_being_moved_are_an_incomplete_result() {
    let cluster = Cluster::start(Flavor::Redis);
    fill_cluster(&cluster, 100);
    let _migration = cluster.migrate(0, 0, 1);
    let [from, to, ..] = cluster.nodes() else { panic!("a cluster has several nodes") };
    let error = fail(&from.url(), &quick()).to_string();
    // Both ends know of it, and whichever is read first is named.
    let error = error.replace(&from.address(), "<node>").replace(&to.address(), "<node>");
    insta::assert_snapshot!(error, @"not all of <node> was seen: slots are being moved, and the second attempt failed too");
}

#[test]
fn a_cluster_that_is_down_is_said_to_be() {
    let cluster = Cluster::start(Flavor::Valkey);
    let node = &cluster.nodes()[0];
    node.command(&["CLUSTER", "DELSLOTS", "0", "1", "2"]);
    let error = fail(&node.url(), &quick());
    let error = format!("error: {error}\nhelp: {}", error.help());
    insta::assert_snapshot!(error.replace(&node.address(), "<node>"), @r"
    error: the cluster is down, says <node>: 3 of 16384 slots are not served
    help: repair the cluster first: `redis-cli --cluster check`
    ");
}
