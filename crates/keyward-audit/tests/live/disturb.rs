//! What an audit must not do to a server.

use keyward_testkit::{Flavor, Server, wait_until};

use crate::support::{Everything, quick, read, read_one};

const KEYS: [&str; 6] = ["string", "hash", "list", "set", "zset", "stream"];

fn filled(flavor: Flavor, policy: &str) -> Server {
    let server = flavor.server().memory("100mb", policy).start();
    for command in [
        &["SET", "string", "value"][..],
        &["HSET", "hash", "field", "value"],
        &["RPUSH", "list", "value"],
        &["SADD", "set", "value"],
        &["ZADD", "zset", "1", "value"],
        &["XADD", "stream", "*", "field", "value"],
    ] {
        server.command(command);
    }
    server
}

/// The idle times of all keys, once each was idle for two seconds.
fn idle(server: &Server) -> Vec<i64> {
    let times = || KEYS.map(|key| server.command(&["OBJECT", "IDLETIME", key]).integer());
    wait_until("all keys were idle for two seconds", || times().iter().all(|time| *time >= 2));
    times().to_vec()
}

fn idle_now(server: &Server) -> Vec<i64> {
    KEYS.iter().map(|key| server.command(&["OBJECT", "IDLETIME", key]).integer()).collect()
}

#[test]
fn no_idle_time_changes_on_a_server_that_evicts_by_it() {
    // Redis 7.0 cannot be told that looking is not using, so values stay out of sight; Valkey can.
    for flavor in Flavor::ALL {
        let server = filled(flavor, "allkeys-lru");
        let before = idle(&server);
        let seen = read(&server.url(), &quick(), |_| Everything::showing(100));
        let after = idle_now(&server);
        assert!(after.iter().zip(&before).all(|(after, before)| after >= before), "{after:?}");
        let (shard, told) = &seen.shards[0];
        let knows = told.keys.values().filter(|told| told.observed.length.is_some()).count();
        assert_eq!(knows, if flavor == Flavor::Redis { 0 } else { KEYS.len() });
        assert!(told.keys.values().all(|told| told.idle.is_some_and(|idle| idle >= 2)));
        let noted = shard.notes.iter().any(|note| note.starts_with("values were not read"));
        assert_eq!(noted, flavor == Flavor::Redis, "{:?}", shard.notes);
    }
}

#[test]
fn values_are_looked_up_where_that_was_asked_for_and_it_is_said() {
    let server = filled(Flavor::Redis, "allkeys-lru");
    idle(&server);
    let mut options = quick();
    options.touch = true;
    let (seen, told) = read_one(&server.url(), &options);
    assert!(told.keys.values().all(|told| told.observed.length.is_some()));
    // This is what the audit spares other servers.
    assert!(idle_now(&server).iter().all(|time| *time < 2));
    assert!(seen.notes.iter().any(|note| note.contains("made keys look used")), "{:?}", seen.notes);
}

#[test]
fn frequencies_are_told_and_kept_where_the_server_evicts_by_them() {
    for flavor in Flavor::ALL {
        let server = filled(flavor, "allkeys-lfu");
        let frequencies = || KEYS.map(|key| server.command(&["OBJECT", "FREQ", key]).integer());
        let before = frequencies();
        let (_, told) = read_one(&server.url(), &quick());
        assert_eq!(frequencies(), before);
        for (key, before) in KEYS.iter().zip(before) {
            assert_eq!(told.get(key).freq.map(i64::from), Some(before), "{key} on {server}");
        }
    }
}

#[test]
fn nothing_but_reading_commands_is_sent() {
    for flavor in Flavor::ALL {
        let server = filled(flavor, "noeviction");
        server.command(&["CONFIG", "RESETSTAT"]);
        read(&server.url(), &quick(), |_| Everything::showing(100));
        let stats = server.command(&["INFO", "commandstats"]).text();
        let mut sent: Vec<&str> = stats
            .lines()
            .filter_map(|line| line.strip_prefix("cmdstat_")?.split(':').next())
            .collect();
        sent.sort_unstable();
        insta::assert_snapshot!(format!("commands_sent_to_{flavor}"), sent.join("\n"));
    }
}
