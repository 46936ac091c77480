//! What is written is judged as it is written.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use keyward_audit::live::watch::{Event, Watched, Watching, Way};
use keyward_audit::live::{Error, Options};
use keyward_audit::{Audit, Subject};
use keyward_testkit::{Cluster, Flavor, Harm, Peer, Proxy, Server, wait_until};

const SCHEMA: &str = r#"
version = 1
[keyspace]
name = "shop"
[keys.cart]
pattern = "cart:{user_id:uint}"
type = "hash"
ttl = "7d"
[keys.price]
pattern = "price:{sku}"
type = "string"
ttl = "none"
[foreign.worker]
glob = "bull:*"
"#;

fn audit() -> Arc<Audit> {
    let schema = keyward_schema::read(SCHEMA).schema.expect("a schema without errors");
    let options = keyward_audit::Options { show_keys: true, ..keyward_audit::Options::default() };
    Arc::new(Audit::new(vec![Subject::new(schema)], &options))
}

/// One watch, while something is done.
pub(crate) struct Watcher {
    via: Option<Way>,
    pub(crate) looks: Option<u32>,
    pub(crate) options: Options,
}

/// What was told, in order.
pub(crate) type Told = Arc<Mutex<Vec<String>>>;

impl Watcher {
    pub(crate) fn new(via: Option<Way>) -> Self {
        let mut options = Options::default();
        options.timeout = Duration::from_secs(30);
        Watcher { via, looks: None, options }
    }

    /// Does something as soon as the watch has begun, and ends the watch.
    pub(crate) fn during(
        &self,
        url: &str,
        act: impl FnOnce(&Told),
    ) -> (Result<Watched, Error>, Vec<String>) {
        let (audit, told) = (audit(), Told::default());
        let mut watching = Watching::default();
        (watching.via, watching.looks) = (self.via, self.looks);
        let ended = AtomicBool::new(false);
        let tell = |event: Event<'_>| {
            let text = match event {
                Event::Watching { via, notes, .. } => format!("by {via}: {}", notes.join("; ")),
                Event::Found(finding) => format!("found {}", finding.what),
                Event::Lost { server, why } => format!("lost {server}: {why}"),
                _ => return,
            };
            told.lock().unwrap().push(text);
        };
        let watched = thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let watched = audit.watch(url, &self.options, &watching, &tell);
                ended.store(true, Ordering::Release);
                watched
            });
            let begins = || told.lock().unwrap().iter().any(|it| it.starts_with("by "));
            wait_until("it watches", || begins() || ended.load(Ordering::Acquire));
            act(&told);
            watching.finish.store(true, Ordering::Release);
            watch.join().expect("no panic")
        });
        let told = told.lock().unwrap().clone();
        (watched, told)
    }

    /// The same where it must work: how often each rule was broken, by definition or pattern.
    #[track_caller]
    pub(crate) fn finds(&self, url: &str, act: impl FnOnce(&Told)) -> BTreeMap<String, u64> {
        counted(&self.during(url, act).0.expect("a server"))
    }
}

pub(crate) fn counted(watched: &Watched) -> BTreeMap<String, u64> {
    let name = |finding: &keyward_audit::report::Finding| {
        let of = finding.definition.as_ref().or(finding.subject.as_ref());
        format!("{} {}", finding.rule, of.map_or("", String::as_str))
    };
    watched.findings.iter().map(|it| (name(&it.finding), it.count)).collect()
}

pub(crate) fn names(findings: &BTreeMap<String, u64>) -> Vec<&str> {
    findings.keys().map(String::as_str).collect()
}

fn write(server: &Server) {
    for command in [
        &["SET", "usr:1", "x"][..],
        &["SET", "usr:2", "x"],
        &["SET", "cart:9", "x", "EX", "100"],
        &["HSET", "cart:10", "mug", "1"],
        &["SET", "price:mug", "1", "EX", "100"],
        &["SET", "price:lid", "1"],
        &["SET", "cart:x", "1"],
        &["SET", "bull:jobs", "1"],
        // What is as declared, in two commands.
        &["HSET", "cart:11", "mug", "1"],
        &["EXPIRE", "cart:11", "100"],
    ] {
        server.command(command);
    }
}

const WRONG: [&str; 5] = [
    "invalid-param cart",
    "ttl-missing cart",
    "ttl-unexpected price",
    "unknown-key usr:<number>",
    "wrong-type cart",
];

#[test]
fn what_is_written_is_judged_in_every_way_of_seeing_it() {
    for server in Server::all() {
        for via in [Way::Tracking, Way::Notifications, Way::Scan] {
            server.command(&["FLUSHALL"]);
            let events = if via == Way::Notifications { "KA" } else { "" };
            server.command(&["CONFIG", "SET", "notify-keyspace-events", events]);
            let found = Watcher::new(Some(via)).finds(&server.url(), |_| write(&server));
            assert_eq!(names(&found), WRONG, "{via}");
            if via == Way::Tracking {
                assert_eq!(found["unknown-key usr:<number>"], 2, "once a key");
            }
        }
    }
}

#[test]
fn the_best_way_is_chosen_and_what_it_cannot_see_is_said() {
    for server in Server::all() {
        let said = |server: &Server, url: &str| {
            let (watched, told) = Watcher::new(None).during(url, |_| write(server));
            watched.expect("a server");
            told[0].clone()
        };
        assert!(
            said(&server, &server.url()).starts_with("by client tracking: a key that was gone")
        );
        // No database is told from another.
        server.connect().pipeline(&[vec!["SELECT", "3"], vec!["SET", "usr:9", "x"]]).unwrap();
        assert!(said(&server, &server.url()).contains("are looked up in database 0"));
        server.command(&["CONFIG", "SET", "notify-keyspace-events", "KA"]);
        assert_eq!(said(&server, &server.url()), "by keyspace notifications: ");
        server.command(&["CONFIG", "SET", "notify-keyspace-events", "KEx"]);
        assert!(said(&server, &server.url()).starts_with("by client tracking"));
        // Neither is allowed.
        let rules =
            [">secret", "~*", "+@read", "+@connection", "-client|tracking", "+scan", "+info"];
        server.command(&[&["ACL", "SETUSER", "watcher", "on"][..], &rules].concat());
        let url = format!("redis://watcher:secret@{}", server.address());
        let notes = said(&server, &url);
        assert!(notes.starts_with("by one scan after the other: "), "{notes}");
        assert!(notes.contains("the server denies SUBSCRIBE"), "{notes}");
        let (watched, _) = Watcher::new(Some(Way::Tracking)).during(&url, |_| {});
        let error = watched.unwrap_err();
        assert!(error.is_usage(), "{error}");
        assert!(error.to_string().contains("denies SUBSCRIBE: allow"), "{error}");
    }
}

#[test]
fn what_vanishes_is_no_violation_unless_it_is_known_to_have_been_written() {
    for server in Server::all() {
        let vanish = |_: &Told| {
            server.command(&["SET", "tmp:1", "x"]);
            server.command(&["DEL", "tmp:1"]);
            server.command(&["DEL", "old:1"]);
            server.command(&["SET", "cart:1", "x", "PX", "1"]);
        };
        server.command(&["SET", "old:1", "x"]);
        server.command(&["CONFIG", "SET", "notify-keyspace-events", "KA"]);
        let found = Watcher::new(None).finds(&server.url(), vanish);
        assert_eq!(names(&found), ["unknown-key tmp:<number>"]);
        server.command(&["SET", "old:1", "x"]);
        server.command(&["FLUSHALL"]);
        let (watched, _) = Watcher::new(Some(Way::Tracking)).during(&server.url(), |_| {
            server.command(&["SET", "price:a", "1"]);
            server.command(&["FLUSHALL"]);
        });
        assert_eq!(counted(&watched.unwrap()), BTreeMap::new());
    }
}

#[test]
fn databases_are_told_apart_where_the_server_says_which() {
    for server in Server::all() {
        server.command(&["CONFIG", "SET", "notify-keyspace-events", "KA"]);
        let elsewhere = |_: &Told| {
            let commands = [vec!["SELECT", "3"], vec!["SET", "cart:1", "x", "EX", "9"]];
            server.connect().pipeline(&commands).unwrap();
            server.command(&["HSET", "cart:1", "a", "1"]);
            server.command(&["EXPIRE", "cart:1", "9"]);
        };
        let found = Watcher::new(None).finds(&server.url(), elsewhere);
        assert_eq!(names(&found), ["wrong-type cart"]);
        let mut only = Watcher::new(None);
        only.options.db = Some(0);
        assert_eq!(names(&only.finds(&server.url(), elsewhere)), [""; 0]);
    }
}

#[test]
fn all_primaries_of_a_cluster_are_watched() {
    let cluster = Cluster::start(Flavor::Redis);
    let (watched, told) = Watcher::new(None).during(&cluster.nodes()[0].url(), |_| {
        for number in 0..60 {
            cluster.command(&["SET", &format!("usr:{number}"), "x"]);
        }
    });
    assert_eq!(told.iter().filter(|it| it.starts_with("by ")).count(), 3);
    assert_eq!(counted(&watched.unwrap())["unknown-key usr:<number>"], 60);
}

#[test]
fn a_shard_that_is_lost_does_not_hide_the_others() {
    let cluster = Cluster::start(Flavor::Redis);
    let lost = cluster.primary_of("usr:0");
    let elsewhere =
        |number: &usize| cluster.primary_of(format!("during:{number}")).port() != lost.port();
    let number = (0..100).find(elsewhere).expect("other primaries have slots too");
    let other = cluster.primary_of(format!("during:{number}"));
    let (watched, told) = Watcher::new(None).during(&other.url(), |told| {
        let has = |what: &str| told.lock().unwrap().iter().any(|it| it.contains(what));
        wait_until("all are watched", || {
            told.lock().unwrap().iter().filter(|it| it.starts_with("by ")).count() == 3
        });
        lost.kill();
        wait_until("one is lost", || has(&format!("lost {}", lost.address())));
        other.command(&["SET", &format!("during:{number}"), "x"]);
        wait_until("the others are watched", || has("during:<number>"));
    });
    assert_eq!(watched.expect("it began").gaps, 1, "{told:?}");
}

#[test]
fn a_server_that_goes_away_is_watched_again_and_the_gap_is_told() {
    for server in Server::all() {
        let (watched, told) = Watcher::new(None).during(&server.url(), |told| {
            server.command(&["SET", "before:1", "x"]);
            let has =
                |what: &str| told.lock().unwrap().iter().filter(|it| it.contains(what)).count();
            wait_until("it is found", || has("before:") == 1);
            server.kill();
            wait_until("it is lost", || has("lost ") == 1);
            server.restart();
            wait_until("it is back", || has("by client tracking") == 2);
            server.command(&["SET", "after:1", "x"]);
        });
        let watched = watched.expect("it came back");
        assert_eq!(watched.gaps, 1);
        assert_eq!(
            names(&counted(&watched)),
            ["unknown-key after:<number>", "unknown-key before:<number>"],
            "{told:?}"
        );
    }
}

#[test]
fn a_link_that_is_cut_is_made_again() {
    let server = Flavor::Valkey.start();
    let proxy = Proxy::new(&server, Harm::Delay(Duration::ZERO));
    let (watched, _) = Watcher::new(None).during(&proxy.url(), |told| {
        let has = |what: &str| told.lock().unwrap().iter().filter(|it| it.contains(what)).count();
        for round in 1..4 {
            proxy.cut();
            wait_until("it is back", || has("by client tracking") == round + 1);
        }
        server.command(&["SET", "usr:1", "x"]);
    });
    let watched = watched.expect("it came back");
    assert_eq!((watched.gaps, watched.findings.len()), (3, 1));
}

#[test]
fn what_is_too_much_is_passed_over_and_counted_and_every_definition_gets_its_turn() {
    let server = Flavor::Redis.start();
    let mut watcher = Watcher::new(Some(Way::Tracking));
    watcher.looks = Some(100);
    let (watched, _) = watcher.during(&server.url(), |_| {
        // More than wait at most, in one step, and then one of another definition.
        let flood = "for i = 1, 300000 do redis.call('SET', 'price:' .. i, 1) end";
        server.command(&["EVAL", flood, "0"]);
        server.command(&["SET", "cart:1", "x", "EX", "9"]);
        let seen = || server.calls("type") > 0;
        wait_until("it looks", seen);
    });
    let watched = watched.expect("a server");
    assert_eq!(watched.touched, 300_001);
    assert_eq!(names(&counted(&watched)), ["wrong-type cart"]);
    // The bound holds until the end: a second's worth is looked up then, and the rest is counted.
    assert!(server.calls("type") < 3_000, "{} lookups", server.calls("type"));
    assert_eq!(watched.looked_up + watched.passed_over, 300_001, "{watched:?}");
    assert_eq!(watched.gaps, 0);
}

#[test]
fn what_a_flood_hides_is_seen_when_all_may_be_looked_up() {
    let server = Flavor::Redis.start();
    let (watched, _) = Watcher::new(Some(Way::Tracking)).during(&server.url(), |_| {
        let flood = "for i = 1, 200000 do redis.call('SET', 'price:' .. i, 1) end redis.call('SET', 'two:1', 1)";
        server.command(&["EVAL", flood, "0"]);
    });
    let watched = watched.expect("a server");
    assert_eq!((watched.looked_up, watched.passed_over, watched.gaps), (200_001, 0, 0));
    assert_eq!(names(&counted(&watched)), ["unknown-key two:<number>"]);
}

#[test]
fn names_of_any_length_are_seen_or_counted() {
    let server = Flavor::Valkey.start();
    for (length, seen) in [(70_000, true), (1_000_000, true), (2_000_000, false)] {
        let (watched, _) = Watcher::new(Some(Way::Tracking)).during(&server.url(), |_| {
            server.command(&["SET", &format!("usr:{}", "x".repeat(length)), "1"]);
        });
        let watched = watched.expect("a server");
        assert_eq!(
            (watched.findings.len(), watched.passed_over),
            (usize::from(seen), u64::from(!seen))
        );
    }
}

#[test]
fn what_was_there_before_is_not_found_by_scans() {
    let server = Flavor::Redis.start();
    server.command(&["SET", "old:1", "x"]);
    let found = Watcher::new(Some(Way::Scan)).finds(&server.url(), |_| {
        server.command(&["SET", "new:1", "x"]);
        let rounds = server.calls("scan");
        wait_until("it is scanned again and again", || server.calls("scan") > rounds + 3);
    });
    assert_eq!(found, BTreeMap::from([("unknown-key new:<number>".to_owned(), 1)]));
}

#[test]
fn keys_that_may_not_be_looked_up_are_counted() {
    for server in Server::all() {
        server.command(&[
            "ACL",
            "SETUSER",
            "watcher",
            "on",
            ">secret",
            "~price:*",
            "&*",
            "+@all",
            "-@dangerous",
            "+info",
        ]);
        let url = format!("redis://watcher:secret@{}", server.address());
        let (watched, _) = Watcher::new(Some(Way::Tracking)).during(&url, |_| write(&server));
        let watched = watched.expect("a server");
        assert_eq!(names(&counted(&watched)), ["ttl-unexpected price"]);
        assert!(watched.denied >= 5 && watched.is_incomplete(), "{watched:?}");
        // A name that is known to have been written is judged by itself.
        server.command(&["CONFIG", "SET", "notify-keyspace-events", "KA"]);
        server.command(&["ACL", "SETUSER", "watcher", "+config|get"]);
        let found = Watcher::new(None).finds(&url, |_| write(&server));
        assert!(names(&found).contains(&"unknown-key usr:<number>"), "{found:?}");
    }
}

#[test]
fn who_answers_nonsense_or_not_at_all_ends_it_with_a_reason() {
    let peer = Peer::new(|_| b"+OK\r\n".to_vec());
    let (watched, _) = Watcher::new(Some(Way::Tracking)).during(&peer.url(), |_| {});
    assert!(watched.is_err());
    let (watched, _) = Watcher::new(None).during("redis://127.0.0.1:1", |_| {});
    assert!(matches!(watched, Err(Error::Unreachable { .. })), "{watched:?}");
}
