//! One server, in good health.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use keyward_audit::live::{self, Bytes, Ended, Options, Resume, is_sampled};
use keyward_testkit::{Flavor, Harm, Proxy, Reply, Server, wait_until};

use crate::support::{Everything, fill, plain, quick, read, read_one};

/// A key of every type, some with TTLs, in two databases.
fn variety(server: &Server) {
    let long = "x".repeat(100);
    for command in [
        &["SET", "number", "42"][..],
        &["SET", "short", "text", "PX", "100000"],
        &["SET", "long", &long],
        &["HSET", "hash", "name", "Anna", "city", "Ulm"],
        &["RPUSH", "list", "a", "b", "c"],
        &["SADD", "set", "a", "b"],
        &["SADD", "numbers", "1", "2", "3"],
        &["ZADD", "ranking", "1.5", "a", "2", "b"],
        &["XADD", "stream", "*", "field", "value"],
        &["PFADD", "visitors", "a"],
    ] {
        server.command(command);
    }
    let members: Vec<String> = (0..1_000).map(|number| format!("member:{number}")).collect();
    let mut command = vec!["SADD", "many"];
    command.extend(members.iter().map(String::as_str));
    server.command(&command);
    let mut other = server.connect();
    for command in [&["SELECT", "3"][..], &["SET", "elsewhere", "value"]] {
        other.command(command).expect("it has a database 3");
    }
}

#[test]
fn every_key_is_told_as_the_server_would_say() {
    for server in Server::all() {
        variety(&server);
        let mut options = quick();
        // As exact as it gets.
        options.memory_samples = 0;
        let (seen, told) = read_one(&server.url(), &options);
        let shard = &seen.shards[0].0;
        assert_eq!(
            (shard.counts.keys, shard.dbsize_before, shard.dbsize_after),
            (12, Some(12), Some(12))
        );
        assert_eq!(seen.bytes, Bytes::MemoryUsage { samples: 0 });
        assert_eq!(told.keys.len(), 12);
        for ((db, name), told) in &told.keys {
            let mut connection = server.connect();
            let mut ask = |args: &[&str]| {
                connection.command(&["SELECT", &db.to_string()]).expect("a connection");
                connection.command(args).expect("a connection")
            };
            assert_eq!(told.key_type, ask(&["TYPE", name]).text(), "{name}");
            let encoding = told.observed.encoding.expect("it was asked for").to_string();
            assert_eq!(encoding, ask(&["OBJECT", "ENCODING", name]).text(), "{name}");
            let bytes = ask(&["MEMORY", "USAGE", name, "SAMPLES", "0"]).integer();
            assert_eq!(told.observed.bytes, u64::try_from(bytes).ok(), "{name}");
            assert_eq!(told.ttl.is_some(), name == "short", "{name}");
        }
        let left = told.get("short").ttl.expect("it expires") - seen.clock;
        assert!((1..=100_000).contains(&left), "{left}");
        let lengths = [("number", 2), ("long", 100), ("hash", 2), ("list", 3), ("many", 1000)];
        for (name, length) in lengths {
            assert_eq!(told.get(name).observed.length, Some(length), "{name} on {server}");
        }
    }
}

#[test]
fn types_and_bytes_are_the_same_without_encodings() {
    for server in Server::all() {
        variety(&server);
        let (_, with) = read_one(&server.url(), &quick());
        let mut options = quick();
        options.encodings = false;
        let (_, without) = read_one(&server.url(), &options);
        for (key, told) in &without.keys {
            let mut expected = with.keys[key].clone();
            (expected.observed.encoding, expected.ttl) = (None, told.ttl);
            assert_eq!(*told, expected, "{key:?} on {server}");
        }
        assert_eq!(without.keys.len(), with.keys.len());
    }
}

#[test]
fn elements_are_shown_as_far_as_they_are_wanted() {
    for server in Server::all() {
        variety(&server);
        let mut options = quick();
        options.db = Some(0);
        options.elements = 500;
        let seen = read(&server.url(), &options, |_| Everything::showing(3));
        let told = &seen.shards[0].1;
        let sorted = |name: &str| {
            let mut elements = told.get(name).elements.clone();
            elements.sort();
            elements.join(", ")
        };
        assert_eq!(sorted("hash"), "cit = Ulm, nam = Ann");
        assert_eq!(sorted("list"), "a, b, c");
        assert_eq!(sorted("numbers"), "1, 2, 3");
        assert_eq!(sorted("ranking"), "a at 1.5, b at 2");
        assert_eq!(sorted("short"), "tex of 4");
        assert_eq!(sorted("long"), "xxx of 100");
        assert!(told.get("hash").observed.whole);
        let many = told.get("many");
        assert!(!many.observed.whole && (500..1000).contains(&many.elements.len()));
        assert_eq!(seen.shards[0].0.counts.partly, 1, "`many`");
    }
}

#[test]
fn a_large_value_is_read_in_part() {
    let server = Server::redis();
    let mut connection = server.connect();
    let value = "x".repeat(4_000);
    for number in 0..500 {
        connection.command(&["HSET", "big", &format!("f{number}"), &value]).expect("a connection");
    }
    let seen = read(&server.url(), &quick(), |_| Everything::showing(3));
    let big = seen.shards[0].1.get("big");
    assert_eq!(big.observed.length, Some(500));
    assert!(!big.observed.whole && !big.elements.is_empty() && big.elements.len() < 500);
}

#[test]
fn one_database_is_read_when_the_url_or_the_option_names_it() {
    let server = Server::redis();
    variety(&server);
    let (seen, told) = read_one(&format!("{}/3", server.url()), &quick());
    assert_eq!(told.names(), ["elsewhere"]);
    assert_eq!(seen.shards[0].0.dbsize_before, Some(1));
    let mut options = quick();
    options.db = Some(0);
    assert_eq!(read_one(&server.url(), &options).1.keys.len(), 11);
}

#[test]
fn every_key_is_told_once_with_the_bound_and_without() {
    for server in Server::all() {
        let names = fill(&server, 20_000);
        for options in [quick(), Options::default()] {
            let (seen, told) = read_one(&server.url(), &options);
            assert_eq!(told.names(), names);
            assert_eq!(told.count, names.len());
            let latency = seen.shards[0].0.latency;
            assert_eq!(latency.probes > 0, options.bound.is_some(), "{latency:?}");
        }
    }
}

#[test]
fn it_comes_in_by_socket_by_password_and_by_tls() {
    for flavor in Flavor::with_tls() {
        let server = flavor.server().password("secret").tls().start();
        let names = fill(&server, 100);
        let mut options = quick();
        options.tls.authority = Some(server.certificates().authority());
        for url in [server.url(), server.unix_url(), server.tls_url()] {
            let (seen, told) = read_one(&url, &options);
            assert_eq!(told.names(), names, "{url}");
            assert!(!format!("{seen:?}").contains("secret"));
        }
        options.password = Some(live::Secret::new("secret"));
        let url = format!("redis://{}", server.address());
        assert_eq!(read_one(&url, &options).1.names(), names);
    }
}

#[test]
fn a_client_certificate_is_shown_where_the_server_asks_for_it() {
    let server = Flavor::Redis.server().tls().config("tls-auth-clients", "yes").start();
    let names = fill(&server, 10);
    let mut options = quick();
    options.tls.authority = Some(server.certificates().authority());
    options.tls.client = Some(server.certificates().client());
    assert_eq!(read_one(&server.tls_url(), &options).1.names(), names);
}

#[test]
fn a_replica_is_read_where_there_is_one() {
    for flavor in Flavor::ALL {
        let primary = flavor.server().memory("100mb", "noeviction").start();
        let replica = flavor.server().replica_of(&primary).start();
        let names = fill(&primary, 100);
        wait_until("the replica has all", || {
            replica.is_in_sync() && replica.command(&["DBSIZE"]).integer() == 100
        });
        wait_until("the primary lists it", || {
            primary.command(&["INFO", "replication"]).text().contains("state=online")
        });
        let (seen, told) = read_one(&primary.url(), &quick());
        assert_eq!(told.names(), names);
        let shard = &seen.shards[0].0;
        assert_eq!((&shard.name, &shard.server), (&primary.address(), &replica.address()));
        // The primary decides what is evicted.
        assert_eq!(shard.settings["maxmemory"], "104857600");
        insta::allow_duplicates! {
            insta::assert_snapshot!(plain(&seen.notes.join("\n"), &[&primary, &replica]), @r"
            the lookups of this audit count as keyspace hits
            <server 1> was read, a replica of <server 0>
            ");
        }
        let mut options = quick();
        options.primary = true;
        let shard = read_one(&primary.url(), &options).0.shards.remove(0).0;
        assert_eq!((&shard.server, &*shard.role), (&primary.address(), "master"));
    }
}

#[test]
fn a_replica_that_lost_its_primary_is_passed_over() {
    let primary = Server::redis();
    let replica = Flavor::Redis.server().replica_of(&primary).start();
    wait_until("the replica is in sync", || replica.is_in_sync());
    wait_until("the primary lists it", || {
        primary.command(&["INFO", "replication"]).text().contains("state=online")
    });
    let names = fill(&primary, 100);
    replica.pause();
    let (seen, told) = read_one(&primary.url(), &quick());
    replica.resume();
    assert_eq!(told.names(), names);
    insta::assert_snapshot!(plain(&seen.notes.join("\n"), &[&primary, &replica]), @r"
    the lookups of this audit count as keyspace hits
    <server 0> was read, a primary, because no replica of it answers in sync
    ");
}

#[test]
fn settings_are_told_by_their_names() {
    let server =
        Flavor::Redis.server().memory("50mb", "volatile-ttl").config("save", "900 1").start();
    let settings = read_one(&server.url(), &quick()).0.shards.remove(0).0.settings;
    let told = ["maxmemory", "maxmemory-policy", "appendonly", "save", "role"];
    let told = told.map(|name| format!("{name} = {}", settings[name]));
    insta::assert_snapshot!(told.join("\n"), @r"
    maxmemory = 52428800
    maxmemory-policy = volatile-ttl
    appendonly = no
    save = 900 1
    role = master
    ");
    assert!(settings["used_memory"].parse::<u64>().is_ok());
}

#[test]
fn settings_that_a_schema_declares_are_asked_for() {
    let server = Flavor::Redis
        .server()
        .config("timeout", "77")
        .user("audit", "on >secret ~* +@all -config")
        .start();
    fill(&server, 1);
    let mut options = quick();
    options.settings = ["timeout", "appendfsync", "no-such-thing"].map(str::to_owned).into();
    let shard = read_one(&server.url(), &options).0.shards.remove(0).0;
    assert_eq!((&*shard.settings["timeout"], &*shard.settings["appendfsync"]), ("77", "everysec"));
    assert_eq!(shard.unseen.get("no-such-thing"), Some(&"the server has no such setting"));
    assert_eq!(shard.unseen.len(), 1);
    let denied = format!("redis://audit:secret@{}", server.address());
    let shard = read_one(&denied, &options).0.shards.remove(0).0;
    assert_eq!(shard.unseen.get("timeout"), Some(&"the server denies CONFIG GET"));
}

#[test]
fn a_server_far_away_is_read_whole_with_the_bound_and_without() {
    let server = Server::redis();
    let names = fill(&server, 5_000);
    let proxy = Proxy::new(&server, Harm::Delay(std::time::Duration::from_millis(20)));
    for options in [quick(), Options::default()] {
        let (seen, told) = read_one(&proxy.url(), &options);
        assert_eq!(told.names(), names);
        assert_eq!(told.count, names.len());
        assert!(seen.shards[0].0.latency.idle.as_millis() >= 20 || options.bound.is_none());
    }
}

#[test]
fn a_sample_is_chosen_by_hash() {
    let server = Server::redis();
    let names = fill(&server, 5_000);
    let mut options = quick();
    options.sample = Some(10.0);
    let (seen, told) = read_one(&server.url(), &options);
    let expected: Vec<&String> =
        names.iter().filter(|name| is_sampled(name.as_bytes(), 10.0)).collect();
    assert_eq!(told.names(), expected);
    let sample = seen.sample.expect("it was sampled");
    assert_eq!((sample.scanned, sample.chosen), (5_000, expected.len() as u64));
}

#[test]
fn a_stopped_scan_goes_on_where_it_was() {
    for server in Server::all() {
        let names = fill(&server, 5_000);
        server.connect().pipeline(&[vec!["SELECT", "2"], vec!["SET", "other", "db"]]).unwrap();
        let mut options = quick();
        options.stop = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&options.stop);
        let hook: Arc<dyn Fn() + Send + Sync> =
            Arc::new(move || stop.store(true, Ordering::SeqCst));
        let ended =
            live::observe(&server.url(), &options, |_| Everything::calling(1_000, &hook)).unwrap();
        let Ended::Stopped { resume, mut shards, .. } = ended else { panic!("it was not stopped") };
        let (shard, first) = shards.pop().expect("one shard, one observer");
        assert!(!shard.resumed);
        assert!((1_000..5_000).contains(&first.count), "{}", first.count);

        let kept = serde_json::to_string(&resume).unwrap();
        let mut options = quick();
        options.resume = Some(serde_json::from_str::<Resume>(&kept).unwrap());
        let seen = read(&server.url(), &options, |_| first.clone());
        let (shard, told) = &seen.shards[0];
        assert!(shard.resumed);
        assert_eq!(told.count, 5_001);
        assert_eq!(shard.counts.keys, 5_001);
        assert_eq!(told.names()[..5_000], names);
    }
}

#[test]
fn keys_that_vanish_meanwhile_are_counted_apart() {
    let server = Server::redis();
    let names = fill(&server, 3_000);
    let mut connection = server.connect();
    let flush: Arc<dyn Fn() + Send + Sync> = {
        let connection = std::sync::Mutex::new(server.connect());
        Arc::new(move || {
            let reply = connection.lock().unwrap().command(&["FLUSHALL"]).unwrap();
            assert_eq!(reply, Reply::Status("OK".into()));
        })
    };
    let seen = read(&server.url(), &quick(), |_| Everything::calling(10, &flush));
    let (shard, told) = &seen.shards[0];
    assert_eq!(connection.command(&["DBSIZE"]).unwrap(), Reply::Integer(0));
    assert!(told.count < names.len());
    assert_eq!(shard.counts.scanned, shard.counts.keys + shard.counts.gone);
    assert!(shard.counts.gone > 0, "{:?}", shard.counts);
    assert_eq!(shard.dbsize_after, Some(0));
}
