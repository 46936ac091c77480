//! A watch leaves no trace on the server, waits for a TTL that comes late, and leaves before it costs memory.

use keyward_audit::live::watch::Way;
use keyward_testkit::{Flavor, Harm, Proxy, Reply, Server, wait_until};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::watch::{Told, Watcher, counted, names};

fn count(told: &Told, what: &str) -> usize {
    told.lock().unwrap().iter().filter(|it| it.contains(what)).count()
}

#[test]
fn no_key_looks_used() {
    for server in Server::all() {
        server.command(&["SET", "source", "x"]);
        let Reply::Bytes(dumped) = server.command(&["DUMP", "source"]) else { panic!("no value") };
        // An idle time only grows, and a counter only falls, unless the key is used.
        for (policy, option, given) in
            [("allkeys-lru", "IDLETIME", 100_000), ("allkeys-lfu", "FREQ", 3)]
        {
            let looks_used = || {
                let now = server.command(&["OBJECT", option, "usr:1"]).integer();
                if option == "FREQ" { now > given } else { now < given }
            };
            server.command(&["CONFIG", "SET", "maxmemory-policy", policy]);
            for via in [Way::Tracking, Way::Scan] {
                let (watched, _) = Watcher::new(Some(via)).during(&server.url(), |told| {
                    let number = given.to_string();
                    let before = server.calls("type");
                    server.command(&[
                        b"RESTORE".as_slice(),
                        b"usr:1",
                        b"0",
                        &dumped,
                        b"REPLACE",
                        option.as_bytes(),
                        number.as_bytes(),
                    ]);
                    wait_until("it is looked up", || server.calls("type") > before);
                    wait_until("it is found", || count(told, "found ") == 1);
                });
                assert_eq!(watched.expect("a server").looked_up, 1, "{via}");
                assert!(!looks_used(), "{policy}, {via}");
                // More than once: a minute that ends takes one from the frequency.
                for _ in 0..3 {
                    server.command(&["GET", "usr:1"]);
                }
                assert!(looks_used(), "{policy}, {via}");
                server.command(&["DEL", "usr:1"]);
            }
        }
    }
}

#[test]
fn a_ttl_that_comes_late_is_not_missing() {
    for server in Server::all() {
        // Only a machine that is in time shows it.
        let in_time = (0..50).any(|number| {
            let key = format!("cart:{number}");
            let mut took = Duration::MAX;
            let (watched, _) = Watcher::new(Some(Way::Tracking)).during(&server.url(), |_| {
                let before = server.calls("pttl");
                let written = Instant::now();
                server.command(&["HSET", &key, "mug", "1"]);
                wait_until("it is looked up", || server.calls("pttl") > before);
                server.command(&["EXPIRE", &key, "100"]);
                took = written.elapsed();
                // Names that the second command touches are judged at once; the first ones later.
                wait_until("it is looked up again", || server.calls("pttl") > before + 2);
            });
            let watched = watched.expect("a server");
            let is_in_time = took < Duration::from_millis(900);
            if is_in_time {
                assert_eq!(counted(&watched), BTreeMap::new());
            }
            is_in_time
        });
        assert!(in_time, "this machine needs a second for two commands");
    }
}

#[test]
fn a_ttl_that_never_comes_is_reported_while_the_watch_runs() {
    for server in Server::all() {
        let (watched, told) = Watcher::new(Some(Way::Tracking)).during(&server.url(), |told| {
            server.command(&["HSET", "cart:1", "mug", "1"]);
            wait_until("it is found", || count(told, "have no TTL") == 1);
            // At the end, whoever waits is looked up once more.
            server.command(&["HSET", "cart:2", "mug", "1"]);
        });
        assert_eq!(counted(&watched.expect("a server"))["ttl-missing cart"], 2, "{told:?}");
    }
}

#[test]
fn it_leaves_before_the_server_keeps_much_for_it() {
    let server = Flavor::Redis.start();
    // The server would not end it by itself.
    server.command(&["CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 0 0"]);
    let proxy = Proxy::new(&server, Harm::Delay(Duration::ZERO));
    let mut watcher = Watcher::new(Some(Way::Tracking));
    watcher.looks = Some(100);
    let (watched, told) = watcher.during(&proxy.url(), |told| {
        proxy.harm(Harm::Stall { after: 1024 * 1024 });
        let flood = "local pad = string.rep('x', 1000) \
                     for i = 1, 64000 do redis.call('SET', 'price:' .. pad .. i, 1) end";
        server.command(&["EVAL", flood, "0"]);
        wait_until("it leaves", || count(told, "kept more than 16 MiB") == 1);
        proxy.harm(Harm::Delay(Duration::ZERO));
        wait_until("it is back", || count(told, "by client tracking") == 2);
        server.command(&["SET", "usr:1", "x"]);
        wait_until("it is found", || count(told, "found ") == 1);
    });
    let watched = watched.expect("a server");
    assert_eq!(names(&counted(&watched)), ["unknown-key usr:<number>"], "{told:?}");
    assert_eq!(watched.gaps, 1);
    assert!(watched.is_incomplete() && watched.is_partial());
}
