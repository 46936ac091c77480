//! A watch goes on where the servers are now.

use keyward_testkit::{Cluster, Flavor, Harm, Proxy, Sentinel, Server, wait_until};
use std::time::Duration;

use crate::watch::{Told, Watcher, counted, names};

/// How many times something was told.
fn count(told: &Told, what: &str) -> usize {
    told.lock().unwrap().iter().filter(|it| it.contains(what)).count()
}

fn slot(cluster: &Cluster, key: &str) -> u16 {
    let slot = cluster.nodes()[0].command(&["CLUSTER", "KEYSLOT", key]).integer();
    u16::try_from(slot).unwrap()
}

/// How often a server answered TYPE with where else to ask.
fn redirected(server: &Server) -> u64 {
    let stats = server.command(&["INFO", "commandstats"]).text();
    let line = stats.lines().find(|line| line.starts_with("cmdstat_type:")).unwrap_or_default();
    let rejected = line.split(',').find_map(|field| field.strip_prefix("rejected_calls="));
    rejected.map_or(0, |number| number.parse().unwrap())
}

#[test]
fn a_primary_that_takes_over_slots_is_watched() {
    let cluster = Cluster::start(Flavor::Redis);
    cluster.promote_without_slots(3);
    let slot = slot(&cluster, "usr:0");
    let from = cluster.primary_of("usr:0");
    let from = cluster.nodes().iter().position(|it| it.port() == from.port()).unwrap();
    let (watched, told) = Watcher::new(None).during(&cluster.nodes()[1].url(), |told| {
        wait_until("all are watched", || count(told, "by ") == 3);
        cluster.migrate(slot, from, 3).end();
        wait_until("the new one is watched", || count(told, "it has just taken over") == 1);
        cluster.nodes()[3].command(&["SET", "usr:0", "x"]);
        wait_until("what is written to it is judged", || count(told, "found ") == 1);
    });
    let watched = watched.expect("a cluster");
    assert_eq!(names(&counted(&watched)), ["unknown-key usr:<number>"], "{told:?}");
    assert_eq!(watched.gaps, 1, "what was written to it before was not seen");
}

#[test]
fn names_of_a_slot_that_moves_are_looked_up_where_it_is_now() {
    for flavor in Flavor::ALL {
        let cluster = Cluster::start(flavor);
        cluster.command(&["SET", "usr:0", "x"]);
        let slot = slot(&cluster, "usr:0");
        let from = cluster.primary_of("usr:0").port();
        let from = cluster.nodes().iter().position(|it| it.port() == from).unwrap();
        let to = (from + 1) % 3;
        let (watched, told) = Watcher::new(None).during(&cluster.nodes()[0].url(), |told| {
            wait_until("all are watched", || count(told, "by ") == 3);
            // Until its end, the one answers ASK and the other MOVED.
            let migration = cluster.migrate(slot, from, to);
            let asked = || redirected(&cluster.nodes()[from]) + redirected(&cluster.nodes()[to]);
            let before = asked();
            migration.carry();
            wait_until("it was looked for", || asked() > before);
            migration.end();
            wait_until("it is found", || count(told, "found ") == 1);
        });
        let watched = watched.expect("a cluster");
        assert_eq!(names(&counted(&watched)), ["unknown-key usr:<number>"], "{told:?}");
        // The old server tells of the key too, and that may still wait for its new owner at the end.
        assert!(watched.gaps == 0 && watched.passed_over <= 1, "{told:?}");
    }
}

#[test]
fn a_failover_that_breaks_no_connection_is_followed() {
    for flavor in Flavor::ALL {
        let cluster = Cluster::start(flavor);
        let old = cluster.primary_of("usr:0").port();
        let old = cluster.nodes().iter().position(|it| it.port() == old).unwrap();
        let (old, new) = (&cluster.nodes()[old], &cluster.nodes()[old + 3]);
        // The server of the URL takes over, and the others are asked if it goes.
        let (watched, told) = Watcher::new(None).during(&old.url(), |told| {
            wait_until("all are watched", || count(told, "by ") == 3);
            new.command(&["CLUSTER", "FAILOVER"]);
            wait_until("the old one is left", || {
                count(told, &format!("lost {}: another server", old.address())) == 1
            });
            wait_until("the new one is watched", || count(told, "by ") == 4);
            new.command(&["SET", "usr:0", "x"]);
            wait_until("what is written to it is judged", || count(told, "found ") == 1);
        });
        let watched = watched.expect("a cluster");
        assert_eq!((watched.gaps, watched.findings.len()), (1, 1), "{told:?}");
    }
}

#[test]
fn the_other_servers_of_a_cluster_are_asked_when_that_of_the_url_is_gone() {
    let cluster = Cluster::start(Flavor::Valkey);
    let lost = cluster.primary_of("usr:0").port();
    let lost = cluster.nodes().iter().position(|it| it.port() == lost).unwrap();
    let (lost, new) = (&cluster.nodes()[lost], &cluster.nodes()[lost + 3]);
    let (watched, told) = Watcher::new(None).during(&lost.url(), |told| {
        wait_until("all are watched", || count(told, "by ") == 3);
        lost.kill();
        wait_until("its replica is watched", || count(told, "by ") == 4);
        new.command(&["SET", "usr:0", "x"]);
        wait_until("what is written to it is judged", || count(told, "found ") == 1);
    });
    assert_eq!(watched.expect("a cluster").gaps, 1, "{told:?}");
}

#[test]
fn the_primary_that_a_sentinel_names_is_watched() {
    for flavor in Flavor::ALL {
        let group = Sentinel::start(flavor);
        let url = format!("redis+sentinel://{}/{}", group.sentinel().address(), Sentinel::NAME);
        let (watched, told) = Watcher::new(None).during(&url, |told| {
            group.primary().kill();
            wait_until("it is lost", || count(told, "lost ") == 1);
            group.wait_until_failed_over();
            wait_until("the new one is watched", || count(told, "by ") == 2);
            group.replica().command(&["SET", "usr:0", "x"]);
        });
        let watched = watched.expect("a server");
        assert_eq!((watched.gaps, watched.findings.len()), (1, 1), "{told:?}");
    }
}

#[test]
fn another_server_at_the_same_address_is_watched() {
    let (first, second) = (Flavor::Redis.start(), Flavor::Valkey.start());
    let proxy = Proxy::new(&first, Harm::Delay(Duration::ZERO));
    let (watched, told) = Watcher::new(None).during(&proxy.url(), |told| {
        first.command(&["SET", "usr:1", "x"]);
        wait_until("it is found", || count(told, "usr:<number>") == 1);
        proxy.lead_to(&second);
        proxy.cut();
        wait_until("the other is watched", || count(told, "by ") == 2);
        second.command(&["SET", "two:1", "x"]);
        first.command(&["SET", "three:1", "x"]);
    });
    let watched = watched.expect("a server");
    let expected = ["unknown-key two:<number>", "unknown-key usr:<number>"];
    assert_eq!(names(&counted(&watched)), expected, "{told:?}");
    assert_eq!(watched.gaps, 1);
}

#[test]
fn garbage_between_names_is_a_gap_and_no_more() {
    for server in Server::all() {
        let proxy = Proxy::new(&server, Harm::Delay(Duration::ZERO));
        let (watched, told) = Watcher::new(None).during(&proxy.url(), |told| {
            proxy.harm(Harm::Garble { after: 0 });
            server.command(&["SET", "usr:1", "x"]);
            wait_until("it is lost", || count(told, "lost ") == 1);
            proxy.harm(Harm::Delay(Duration::ZERO));
            proxy.cut();
            wait_until("it is watched again", || count(told, "by ") == 2);
            server.command(&["SET", "two:1", "x"]);
        });
        let watched = watched.expect("a server");
        assert!(names(&counted(&watched)).contains(&"unknown-key two:<number>"), "{told:?}");
        assert_eq!(watched.gaps, 1, "{told:?}");
    }
}

#[test]
fn it_watches_by_socket_by_password_and_by_tls() {
    for flavor in Flavor::with_tls() {
        let server = flavor.server().password("secret").tls().start();
        for url in [server.url(), server.unix_url(), server.tls_url()] {
            let mut watcher = Watcher::new(None);
            watcher.options.tls.authority = Some(server.certificates().authority());
            let found = watcher.finds(&url, |_| {
                server.command(&["SET", "usr:1", "x"]);
            });
            assert_eq!(names(&found), ["unknown-key usr:<number>"], "{url}");
        }
    }
}
