//! Peers that answer as no server would, and networks that let next to nothing pass.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keyward_audit::live::{self, Ended, Error, Options, Via};
use keyward_testkit::{Flavor, Harm, Peer, Proxy, Server, wait_until};

use crate::support::{Everything, fail, fill, quick, read_one};

/// How long the tests here may wait at most, if nobody stops them: for ever.
const FOR_EVER: Duration = Duration::from_hours(24);

const INFO: &str =
    "# Server\r\nrun_id:1\r\nrole:master\r\nmaxmemory_policy:noeviction\r\ncluster_enabled:0\r\n";

/// What a server with three strings would answer.
fn three_keys(words: &[String]) -> Vec<u8> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let answer = match &words[..] {
        ["PING", mark] => format!("${}\r\n{mark}\r\n", mark.len()),
        ["PING"] => "+PONG\r\n".to_owned(),
        ["INFO"] => bulk(&format!("{INFO}# Keyspace\r\ndb0:keys=3,expires=0,avg_ttl=0\r\n")),
        ["SELECT", "0"] | ["CLIENT", "SETNAME", ..] => "+OK\r\n".to_owned(),
        ["SELECT", ..] => "-ERR DB index is out of range\r\n".to_owned(),
        ["DBSIZE"] => ":3\r\n".to_owned(),
        ["SCAN", ..] => scanned(0, &["a", "b", "c"]),
        ["TYPE", ..] => "+string\r\n".to_owned(),
        ["OBJECT", "ENCODING", ..] => bulk("embstr"),
        ["PTTL", ..] => ":-1\r\n".to_owned(),
        ["MEMORY", ..] => ":56\r\n".to_owned(),
        ["STRLEN", ..] => ":5\r\n".to_owned(),
        ["CONFIG", ..] => "*0\r\n".to_owned(),
        _ => "-ERR unknown command\r\n".to_owned(),
    };
    answer.into_bytes()
}

fn bulk(text: &str) -> String {
    format!("${}\r\n{text}\r\n", text.len())
}

fn scanned(cursor: u64, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| bulk(name)).collect();
    format!("*2\r\n{}*{}\r\n{}", bulk(&cursor.to_string()), names.len(), names.concat())
}

/// A peer that answers like that, but for one command.
fn except(command: &'static str, answer: impl Fn() -> String + Send + Sync + 'static) -> Peer {
    Peer::new(
        move |words| {
            if words[0] == command { answer().into_bytes() } else { three_keys(words) }
        },
    )
}

#[test]
fn keys_are_found_where_info_says_nothing_of_them() {
    let counts = [
        "",
        "# Keyspace\r\n",
        "# Keyspace\r\ndb0:keys=many,expires=0\r\n",
        "# Keyspace\r\ndb0:something\r\n",
    ];
    for count in counts {
        let peer = except("INFO", move || bulk(&format!("{INFO}{count}")));
        let told = read_one(&peer.url(), &quick()).1;
        assert_eq!(told.names(), ["a", "b", "c"], "{count}");
    }
}

#[test]
fn every_database_is_found_where_info_is_denied() {
    for flavor in Flavor::ALL {
        let server = flavor.server().user("audit", "on >secret ~* +@all -info").start();
        fill(&server, 10);
        let mut other = server.connect();
        for command in [&["SELECT", "3"][..], &["SET", "elsewhere", "value"]] {
            other.command(command).expect("it has a database 3");
        }
        let url = format!("redis://audit:secret@{}", server.address());
        let (seen, told) = read_one(&url, &quick());
        assert_eq!(told.count, 11);
        assert!(seen.shards[0].0.missing.is_empty(), "{:?}", seen.notes);
    }
}

#[test]
fn more_answers_than_questions_are_no_result() {
    // Of these three keys, one was told, and the rest was left lying.
    let twice = scanned(0, &["a"]) + &scanned(0, &["b", "c"]);
    let odd: [(&'static str, String); 4] = [
        ("SCAN", twice),
        ("PTTL", ":-1\r\n:-1\r\n".to_owned()),
        ("STRLEN", ":5\r\n+OK\r\n".to_owned()),
        ("INFO", bulk(INFO) + "+OK\r\n"),
    ];
    for (command, answer) in odd {
        let peer = except(command, move || answer.clone());
        let error = fail(&peer.url(), &quick());
        assert!(matches!(error, Error::Garbage { .. }), "{command}: {error}");
    }
}

#[test]
fn a_scan_that_goes_round_in_circles_ends() {
    for length in [1, 2, 7] {
        let peer = Peer::new(move |words| match words {
            [scan, cursor, ..] if scan == "SCAN" => {
                let cursor = cursor.parse::<u64>().expect("a cursor") % length + 1;
                scanned(cursor, &["a"]).into_bytes()
            }
            words => three_keys(words),
        });
        let error = fail(&peer.url(), &quick()).to_string();
        assert!(error.ends_with("does not end: the cursors of SCAN repeat"), "{error}");
    }
}

#[test]
fn a_server_that_never_stops_telling_of_itself_is_cut_short() {
    let peer = except("INFO", || bulk(&"x:y\r\n".repeat(5_000_000)));
    let error = fail(&peer.url(), &quick());
    assert!(matches!(error, Error::Garbage { .. }), "{error}");
}

#[test]
fn a_trickle_of_bytes_is_not_waited_for() {
    for flavor in Flavor::with_tls() {
        let server = flavor.server().tls().start();
        fill(&server, 100);
        let every = Duration::from_millis(40);
        let proxy = Proxy::new(&server, Harm::Trickle { every, after: 0 });
        let mut options = quick();
        options.timeout = Duration::from_millis(400);
        let error = fail(&proxy.url(), &options).to_string();
        assert!(error.contains("bytes came in"), "{error}");
        options.via = Via::Snapshot;
        assert!(matches!(fail(&proxy.url(), &options), Error::Unreachable { .. }));
    }
}

/// A reading that is stopped once it waits for something that never comes.
#[track_caller]
fn stop_while_waiting(
    url: &str,
    options: &Options,
    waits: &AtomicBool,
) -> Result<Ended<Everything>, Error> {
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| live::observe(url, options, |_| Everything::default()));
        wait_until("it waits", || waits.load(Ordering::SeqCst) || reading.is_finished());
        options.stop.store(true, Ordering::SeqCst);
        reading.join().expect("it does not panic")
    })
}

#[test]
fn whatever_is_waited_for_a_stop_ends_it() {
    for command in ["PING", "INFO", "CONFIG", "SCAN", "OBJECT", "STRLEN"] {
        for bound in [None, Options::default().bound] {
            let waits = Arc::new(AtomicBool::new(false));
            let asked = Arc::clone(&waits);
            let peer = except(command, move || {
                asked.store(true, Ordering::SeqCst);
                String::new()
            });
            let mut options = Options::default();
            (options.bound, options.timeout) = (bound, FOR_EVER);
            let ended = stop_while_waiting(&peer.url(), &options, &waits);
            let is_stopped =
                matches!(&ended, Err(Error::Stopped) | Ok(Ended::Stopped { error: None, .. }));
            assert!(is_stopped && waits.load(Ordering::SeqCst), "{command}: {:?}", ended.err());
        }
    }
}

#[test]
fn a_peer_that_hangs_can_be_stopped_in_a_handshake_and_in_a_snapshot() {
    let waits = Arc::new(AtomicBool::new(false));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let begun = Arc::clone(&waits);
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("a client");
        client.read_exact(&mut [0]).expect("the beginning of a handshake");
        begun.store(true, Ordering::SeqCst);
        // Until the client is gone.
        let _ = client.read_to_end(&mut Vec::new());
    });
    let mut options = quick();
    options.timeout = FOR_EVER;
    let shaking_hands = stop_while_waiting(&format!("rediss://{address}"), &options, &waits);
    assert!(matches!(shaking_hands, Err(Error::Stopped)));
    assert!(waits.load(Ordering::SeqCst));

    let waits = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&waits);
    let newlines = Peer::new(move |words| match words[0].as_str() {
        "REPLCONF" => b"+OK\r\n".to_vec(),
        "CONFIG" => b"*2\r\n$18\r\nrepl-diskless-sync\r\n$3\r\nyes\r\n".to_vec(),
        "PSYNC" => {
            asked.store(true, Ordering::SeqCst);
            b"+FULLRESYNC 1 0\r\n\n".to_vec()
        }
        _ => three_keys(words),
    });
    let mut options = quick();
    (options.timeout, options.via) = (FOR_EVER, Via::Snapshot);
    let snapshot = stop_while_waiting(&newlines.url(), &options, &waits);
    assert!(matches!(snapshot, Err(Error::Stopped)), "{:?}", snapshot.err());
    assert!(waits.load(Ordering::SeqCst));
}

#[test]
fn a_scan_that_waits_for_a_lost_server_can_be_stopped_and_resumed() {
    let server = Arc::new(Server::redis());
    let names = fill(&server, 20_000);
    let mut options = quick();
    options.timeout = FOR_EVER;
    let hang: crate::broken::Hook = {
        let (server, stop) = (Arc::clone(&server), Arc::clone(&options.stop));
        Arc::new(move || {
            server.pause();
            stop.store(true, Ordering::SeqCst);
        })
    };
    let ended = live::observe(&server.url(), &options, |_| Everything::calling(1_000, &hang));
    let Ok(Ended::Stopped { error: None, resume, mut shards, .. }) = ended else {
        panic!("it was not stopped")
    };
    server.resume();
    let told = shards.pop().expect("one shard, one observer").1;
    assert!(told.count >= 1_000);
    let mut options = quick();
    options.resume = Some(resume);
    let seen = crate::support::read(&server.url(), &options, |_| told.clone());
    assert_eq!(seen.shards[0].1.names(), names);
    assert_eq!(seen.shards[0].1.count, names.len());
}

#[test]
fn a_full_server_is_said_to_be_full() {
    let server = Flavor::Redis.server().config("maxclients", "1").start();
    let _other = server.connect();
    let error = fail(&server.url(), &quick());
    assert!(matches!(error, Error::Full { .. }), "{error}");
}

/// What a server with one value of a type would answer to a user who may not run MEMORY USAGE.
fn one_value(key_type: &'static str, words: &[String]) -> Vec<u8> {
    let words_: Vec<&str> = words.iter().map(String::as_str).collect();
    match &words_[..] {
        ["MEMORY", ..] => {
            b"-NOPERM this user has no permissions to run the 'memory|usage' command\r\n".to_vec()
        }
        ["INFO"] => {
            bulk(&format!("{INFO}# Keyspace\r\ndb0:keys=1,expires=0,avg_ttl=0\r\n")).into_bytes()
        }
        ["DBSIZE"] => b":1\r\n".to_vec(),
        ["SCAN", ..] => scanned(0, &["a"]).into_bytes(),
        ["TYPE", ..] => format!("+{key_type}\r\n").into_bytes(),
        ["OBJECT", "ENCODING", ..] => {
            bulk(if key_type == "string" { "embstr" } else { "listpack" }).into_bytes()
        }
        ["HLEN" | "SCARD" | "LLEN" | "ZCARD" | "XLEN", ..] => b":2\r\n".to_vec(),
        _ => three_keys(words),
    }
}

#[test]
fn elements_are_read_where_memory_usage_is_denied() {
    for flavor in Flavor::ALL {
        let rules = "on >secret ~* +@read +scan +info +ping +client|setname -memory";
        let server = flavor.server().user("audit", rules).start();
        let mut connection = server.connect();
        for command in [
            &["HSET", "hash", "n", "x"][..],
            &["SADD", "set", "x"],
            &["RPUSH", "list", "x"],
            &["ZADD", "zset", "1", "x"],
            &["XADD", "stream", "*", "n", "x"],
        ] {
            connection.command(command).expect("it takes values");
        }
        let url = format!("redis://audit:secret@{}", server.address());
        let seen = crate::support::read(&url, &quick(), |_| Everything::showing(100));
        let (shard, told) = &seen.shards[0];
        for (name, told) in &told.keys {
            assert!(told.observed.whole && !told.elements.is_empty(), "{name:?}: {told:?}");
        }
        assert_eq!((told.count, shard.counts.partly), (5, 0));
    }
}

#[test]
fn what_a_command_for_a_value_cannot_answer_is_an_error() {
    let odd = [
        ("hash", "HSCAN", "+OK\r\n"),
        ("hash", "HSCAN", "$-1\r\n"),
        ("hash", "HSCAN", "*2\r\n$1\r\nx\r\n*0\r\n"),
        ("hash", "HSCAN", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nn\r\n"),
        ("hash", "HLEN", ":-1\r\n"),
        ("set", "SSCAN", "*0\r\n"),
        ("set", "SCARD", "+2\r\n"),
        ("list", "LRANGE", ":5\r\n"),
        ("zset", "ZRANGE", "*2\r\n$1\r\nx\r\n$1\r\ny\r\n"),
        ("stream", "XRANGE", "*1\r\n$1\r\nx\r\n"),
        ("string", "GETRANGE", ":5\r\n"),
        ("string", "STRLEN", "$1\r\n5\r\n"),
    ];
    for (key_type, command, answer) in odd {
        let peer = Peer::new(move |words| match words[0].as_str() {
            asked if asked == command => answer.as_bytes().to_vec(),
            _ => one_value(key_type, words),
        });
        let ended = live::observe(&peer.url(), &quick(), |_| Everything::showing(100));
        let error = ended.and_then(Ended::whole).err().expect(command).to_string();
        assert!(error.contains(&format!("{command} was answered with")), "{command}: {error}");
    }
}

#[test]
fn a_value_that_cannot_be_read_to_its_end_makes_the_audit_incomplete() {
    let endless = Arc::new(std::sync::atomic::AtomicU64::new(1));
    for answer in ["-WRONGTYPE Operation against a key holding the wrong kind of value\r\n", ""] {
        let endless = Arc::clone(&endless);
        let peer = Peer::new(move |words| match words[0].as_str() {
            "HSCAN" if answer.is_empty() => {
                scanned(endless.fetch_add(1, Ordering::SeqCst), &[]).into_bytes()
            }
            "HSCAN" => answer.as_bytes().to_vec(),
            _ => one_value("hash", words),
        });
        let seen = crate::support::read(&peer.url(), &quick(), |_| Everything::showing(100));
        let shard = &seen.shards[0].0;
        assert_eq!((shard.counts.torn, shard.counts.partly), (1, 0));
        assert!(shard.missing[0].starts_with("1 values were not read"), "{:?}", shard.missing);
    }
}

#[test]
fn a_number_that_cannot_be_is_an_error() {
    let odd = [
        ("PTTL", ":-3\r\n"),
        ("PTTL", "+x\r\n"),
        ("PTTL", "$-1\r\n"),
        ("MEMORY", ":9223372036854775807\r\n"),
        ("MEMORY", ":-1\r\n"),
        ("OBJECT", ":1\r\n"),
        ("DBSIZE", ":-5\r\n"),
    ];
    for (command, answer) in odd {
        let peer = Peer::new(move |words| match words[0].as_str() {
            asked if asked == command => answer.as_bytes().to_vec(),
            "INFO" if command == "DBSIZE" => bulk(INFO).into_bytes(),
            _ => three_keys(words),
        });
        let error = fail(&peer.url(), &quick());
        let text = error.to_string();
        assert!(!error.is_usage() && text.contains(" was answered with "), "{command}: {text}");
    }
}

#[test]
fn a_scan_that_finds_fewer_keys_than_there_are_is_incomplete() {
    // A number that cannot be is not believed: DBSIZE says how many there are.
    for keys in ["50", "-1", "99999999999999999999"] {
        let peer = Peer::new(move |words| match words[0].as_str() {
            "INFO" => bulk(&format!("{INFO}# Keyspace\r\ndb0:keys={keys},expires=0,avg_ttl=0\r\n"))
                .into_bytes(),
            "DBSIZE" => b":50\r\n".to_vec(),
            "SCAN" => scanned(0, &[]).into_bytes(),
            _ => three_keys(words),
        });
        let seen = read_one(&peer.url(), &quick()).0;
        let shard = &seen.shards[0].0;
        let missing = shard.missing.first().map(String::as_str).unwrap_or_default();
        assert!(missing.starts_with("SCAN returned 0 of 50 keys"), "{keys}: {:?}", seen.notes);
        assert_eq!(shard.dbsize_after, Some(50), "{keys}");
    }
}

/// A cluster's node that lists these nodes.
fn cluster_of(nodes: impl Fn(&str) -> String + Send + Sync + 'static) -> Peer {
    Peer::new(move |words| match words[0].as_str() {
        "INFO" => bulk("run_id:1\r\nrole:master\r\ncluster_enabled:1\r\n").into_bytes(),
        "CLUSTER" => bulk(&nodes("127.0.0.1:1")).into_bytes(),
        _ => three_keys(words),
    })
}

#[test]
fn a_cluster_that_cannot_be_is_refused() {
    let twice = |_: &str| {
        "a 127.0.0.1:1@2 myself,master - 0 1 1 connected 0-8191\n\
         b 127.0.0.1:1@2 master - 0 1 1 connected 8192-16383\n"
            .to_owned()
    };
    let overlapping = |_: &str| {
        "a 127.0.0.1:1@2 myself,master - 0 1 1 connected 0-9000\n\
         b 127.0.0.1:2@3 master - 0 1 1 connected 8192-16383\n"
            .to_owned()
    };
    let many = |_: &str| {
        let line = |slot| {
            format!(
                "n{slot} 10.0.{}.{}:1@2 master - 0 1 1 connected {slot}\n",
                slot / 256,
                slot % 256
            )
        };
        (0..16_384).map(line).collect::<String>()
    };
    for (peer, why) in [
        (cluster_of(twice), "two primaries have the address 127.0.0.1:1"),
        (cluster_of(overlapping), "two primaries serve slot 8192"),
        (cluster_of(many), "there are more than 2000 primaries with slots"),
    ] {
        let error = fail(&peer.url(), &quick()).to_string();
        assert!(error.ends_with(why), "{error}");
    }
}

#[test]
fn a_connection_that_breaks_at_the_first_key_is_made_again() {
    let server = Server::redis();
    let names = fill(&server, 50);
    let broken = Arc::new(AtomicBool::new(false));
    let url = server.url();
    let address = server.address();
    // Passes everything on, but for the first SCAN.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (address, broken) = (address.clone(), Arc::clone(&broken));
            std::thread::spawn(move || pass_on(client, &address, &broken));
        }
    });
    assert!(url.starts_with("redis://"));
    let told = read_one(&format!("redis://127.0.0.1:{port}"), &quick()).1;
    assert_eq!(told.names(), names);
}

/// Hands bytes on until the first SCAN, which closes the connection.
fn pass_on(mut client: std::net::TcpStream, address: &str, broken: &AtomicBool) {
    use std::io::Write as _;
    let mut server = std::net::TcpStream::connect(address).expect("the server listens");
    let (mut back, mut to) =
        (server.try_clone().expect("a copy"), client.try_clone().expect("a copy"));
    std::thread::spawn(move || std::io::copy(&mut back, &mut to));
    let mut buffer = vec![0; 65_536];
    while let Ok(read @ 1..) = client.read(&mut buffer) {
        let is_scan = buffer[..read].windows(4).any(|word| word == b"SCAN");
        if is_scan && !broken.swap(true, Ordering::SeqCst) {
            let _ = client.shutdown(std::net::Shutdown::Both);
            return;
        }
        if server.write_all(&buffer[..read]).is_err() {
            return;
        }
    }
}

#[test]
fn a_database_that_there_is_not_is_named() {
    let server = Server::redis();
    fill(&server, 3);
    let mut options = quick();
    options.db = Some(99);
    let error = fail(&server.url(), &options);
    assert!(error.is_usage(), "{error}");
    assert_eq!(error.to_string(), format!("{} has no database 99", server.address()));
}

#[test]
fn a_status_that_cannot_be_is_shown_as_a_person_reads_it() {
    let peer = except("PING", || "+PONG\r\n".to_owned());
    let error = fail(&peer.url(), &quick()).to_string();
    assert!(
        error.ends_with("does not answer like a Redis server: PING was answered with `PONG`"),
        "{error}"
    );
}
