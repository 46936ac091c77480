//! Servers that a sentinel watches.

use std::sync::Arc;

use keyward_testkit::{Flavor, Sentinel, wait_until};

use crate::support::{Everything, fail, fill, quick, read};

fn url(watched: &Sentinel) -> String {
    format!("redis+sentinel://{}/{}", watched.sentinel().address(), Sentinel::NAME)
}

#[test]
fn the_replica_that_a_sentinel_names_is_read() {
    for flavor in Flavor::ALL {
        let watched = Sentinel::start(flavor);
        let names = fill(watched.primary(), 1_000);
        wait_until("the replica has all", || {
            watched.replica().command(&["DBSIZE"]).integer() == 1_000
        });
        let seen = read(&url(&watched), &quick(), |_| Everything::default());
        let (shard, told) = &seen.shards[0];
        assert_eq!(told.names(), names);
        assert_eq!(shard.name, watched.primary().address());
        assert_eq!(shard.server, watched.replica().address());
        assert!(!shard.again);
    }
}

#[test]
fn a_failover_makes_the_scan_begin_anew() {
    let watched = Arc::new(Sentinel::start(Flavor::Redis));
    let names = fill(watched.primary(), 20_000);
    wait_until("the replica has all", || {
        watched.replica().command(&["DBSIZE"]).integer() == 20_000
    });
    let hook: Arc<dyn Fn() + Send + Sync> = {
        let watched = Arc::clone(&watched);
        Arc::new(move || watched.primary().kill())
    };
    let mut options = quick();
    options.primary = true;
    let seen = read(&url(&watched), &options, |_| Everything::calling(1_000, &hook));
    let (shard, told) = &seen.shards[0];
    assert_eq!(told.names(), names);
    assert_eq!(shard.server, watched.replica().address());
    // Whoever was told of keys before was told twice.
    assert!(shard.again);
}

#[test]
fn a_service_that_nobody_watches_is_an_error() {
    let watched = Sentinel::start(Flavor::Redis);
    let url = format!("redis+sentinel://{}/other", watched.sentinel().address());
    let error = fail(&url, &quick());
    assert!(error.is_usage());
    let error = error.to_string().replace(&watched.sentinel().address(), "<sentinel>");
    insta::assert_snapshot!(error, @"the sentinel at <sentinel> watches no service `other`");
}
