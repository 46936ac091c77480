//! Snapshots over the wire.

use keyward_audit::live::{Bytes, Options, Via};
use keyward_testkit::{Cluster, Flavor, Server, wait_until};

use crate::support::{Everything, fail, fill, fill_cluster, read, read_one, shown};

fn by_snapshot() -> Options {
    let mut options = Options::default();
    options.via = Via::Snapshot;
    options
}

#[test]
fn a_snapshot_tells_what_a_scan_tells() {
    for flavor in Flavor::ALL {
        // From its memory, and by way of its disk.
        for diskless in ["yes", "no"] {
            let server = flavor.server().config("repl-diskless-sync", diskless).start();
            fill(&server, 5_000);
            server.command(&["SET", "short", "text", "PX", "100000"]);
            server.command(&["HSET", "hash", "name", "Anna", "city", "Ulm"]);
            let mut elsewhere = server.connect();
            elsewhere.command(&["SELECT", "3"]).unwrap();
            elsewhere.command(&["SET", "elsewhere", "value"]).unwrap();

            let scan = read_one(&server.url(), &crate::support::quick());
            let seen = read(&server.url(), &by_snapshot(), |_| Everything::showing(100));
            let (shard, told) = &seen.shards[0];
            assert_eq!(told.names(), scan.1.names());
            assert_eq!((shard.counts.keys, shard.dbsize_before), (5_003, Some(5_003)));
            for (key, told) in &told.keys {
                let scanned = &scan.1.keys[key];
                assert_eq!(told.key_type, scanned.key_type);
                assert_eq!(told.observed.length, scanned.observed.length);
                assert_eq!(told.observed.encoding, scanned.observed.encoding);
                assert!(told.observed.bytes.is_some());
            }
            let left = told.get("short").ttl.expect("it expires") - seen.clock;
            assert!((90_000..=100_000).contains(&left), "{left}");
            assert_eq!(told.get("hash").elements, ["name = Anna", "city = Ulm"]);
            let checked = flavor == Flavor::Redis;
            assert_eq!(seen.bytes, Bytes::Estimated { checked });
            let mut options = by_snapshot();
            options.db = Some(3);
            assert_eq!(read_one(&server.url(), &options).1.names(), ["elsewhere"]);
        }
    }
}

#[test]
fn a_snapshot_comes_from_a_replica_and_leaves_no_trace_on_the_primary() {
    let primary = Server::redis();
    let replica = Flavor::Redis.server().replica_of(&primary).start();
    let names = fill(&primary, 1_000);
    wait_until("the replica has all", || {
        replica.is_in_sync() && replica.command(&["DBSIZE"]).integer() == 1_000
    });
    wait_until("the primary lists it", || {
        primary.command(&["INFO", "replication"]).text().contains("state=online")
    });
    let full = || {
        let stats = primary.command(&["INFO", "stats"]).text();
        stats.lines().find(|line| line.starts_with("sync_full")).map(str::to_owned)
    };
    let before = full();
    let (seen, told) = read_one(&primary.url(), &by_snapshot());
    assert_eq!(told.names(), names);
    assert_eq!(seen.shards[0].0.server, replica.address());
    assert_eq!(full(), before);
}

#[test]
fn every_shard_of_a_cluster_sends_its_snapshot() {
    let cluster = Cluster::start(Flavor::Redis);
    let expected = fill_cluster(&cluster, 3_000);
    let mut options = by_snapshot();
    options.primary = true;
    let seen = read(&cluster.nodes()[0].url(), &options, |_| Everything::default());
    let mut names: Vec<&str> = seen.shards.iter().flat_map(|(_, told)| told.names()).collect();
    names.sort_unstable();
    assert_eq!(names, expected);

    // Its nodes take more memory for a key than a single server does.
    let mut exact = crate::support::quick();
    exact.primary = true;
    let scan = read(&cluster.nodes()[0].url(), &exact, |_| Everything::default());
    for ((_, estimated), (_, exact)) in seen.shards.iter().zip(&scan.shards) {
        for (key, exact) in &exact.keys {
            assert_eq!(estimated.keys[key].observed.bytes, exact.observed.bytes, "{key:?}");
        }
    }
}

#[test]
fn a_snapshot_that_is_denied_is_an_error_with_a_way_out() {
    for flavor in Flavor::ALL {
        let server = flavor.server().user("audit", "on >secret ~* +@all -psync").start();
        let url = format!("redis://audit:secret@{}", server.address());
        let error = shown(&fail(&url, &by_snapshot()), &server);
        insta::assert_snapshot!(format!("{flavor}_denies_a_snapshot"), error);
    }
}

#[test]
fn ttls_of_fields_are_in_a_snapshot_of_a_server_that_has_them() {
    let server = Server::valkey();
    server.command(&["HSET", "hash", "name", "Anna", "city", "Ulm"]);
    let reply = server.command(&["HEXPIRE", "hash", "1000", "FIELDS", "1", "name"]);
    assert_eq!(format!("{reply:?}"), "Array([Integer(1)])");
    for diskless in ["yes", "no"] {
        server.command(&["CONFIG", "SET", "repl-diskless-sync", diskless]);
        let seen = read(&server.url(), &by_snapshot(), |_| Everything::showing(100));
        let mut elements = seen.shards[0].1.get("hash").elements.clone();
        elements.sort();
        assert_eq!(elements, ["city = Ulm", "name = Anna"]);
    }
}

#[test]
fn a_snapshot_that_could_stop_all_writes_is_refused() {
    for flavor in Flavor::ALL {
        let server = flavor
            .server()
            .config("save", "900 1")
            .config("repl-diskless-sync", "no")
            .config("stop-writes-on-bgsave-error", "yes")
            .user("audit", "on >secret ~* +@all -config")
            .start();
        fill(&server, 100);
        let denied = format!("redis://audit:secret@{}", server.address());
        let both = [server.url(), denied].map(|url| shown(&fail(&url, &by_snapshot()), &server));
        insta::allow_duplicates! {
            insta::assert_snapshot!(both.join("\n\n"));
        }
        let mut forced = by_snapshot();
        forced.force = true;
        assert_eq!(read_one(&server.url(), &forced).1.count, 100);
        server.command(&["CONFIG", "SET", "repl-diskless-sync", "yes"]);
        assert_eq!(read_one(&server.url(), &by_snapshot()).1.count, 100);
    }
}
