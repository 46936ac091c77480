//! A change of an index across slots: begun in the reverse, done in each set, ended in the reverse.

use super::steps::{lives_for, run, script, try_run};
use keyward_testkit::{Reply, Server};

const REVERSE: [&str; 2] = ["reverse", "versions"];
const SET: [&str; 2] = ["set", "changes"];

fn ask(server: &Server, words: &[&str]) -> Reply {
    server.command(words)
}

/// The server's time, in microseconds.
fn now(server: &Server) -> i64 {
    let time = ask(server, &["TIME"]).array();
    let mut parts = time.into_iter().map(|part| part.text().parse::<i64>().unwrap());
    parts.next().unwrap() * 1_000_000 + parts.next().unwrap()
}

/// Begins a change: the version of it and what loses the member, `None` if the reverse is full.
fn plan(server: &Server, only: &str, gain: &[&str], lose: &[&str]) -> Option<Vec<String>> {
    let count = gain.len().to_string();
    let mut args: Vec<&[u8]> = [only, "3", "60000", "0", &count].map(str::as_bytes).to_vec();
    args.extend(gain.iter().chain(lose).map(|word| word.as_bytes()));
    match run(server, script!("index/time.lua", "index/plan.lua"), REVERSE, &args) {
        Reply::Nil => None,
        reply => Some(reply.array().into_iter().map(|it| it.text()).collect()),
    }
}

fn set(server: &Server, put: &str, member: &str, version: i64) -> i64 {
    let version = version.to_string();
    let args = [put, member, &version, "2", "60000", "0"].map(str::as_bytes);
    run(server, script!("index/time.lua", "index/set.lua"), SET, &args).integer()
}

fn finish(server: &Server, version: &str, word: &str) -> i64 {
    let args = [version, word].map(str::as_bytes);
    run(server, script!("index/finish.lua"), REVERSE, &args).integer()
}

#[test]
fn versions_grow_whatever_the_clock_says() {
    for server in Server::all() {
        let first = plan(&server, "0", &["red"], &["blue"]).unwrap();
        assert_eq!(first[1..], ["blue"]);
        let version: i64 = first[0].parse().expect("digits, and no exponent");
        assert!((now(&server) - version).abs() < 600_000_000);
        assert_eq!(ask(&server, &["HGET", "versions", "last"]).text(), first[0]);
        for word in [":red", ":blue"] {
            assert_eq!(ask(&server, &["HGET", "versions", word]).text(), first[0]);
        }
        lives_for(&server, "reverse", 60_000);
        lives_for(&server, "versions", 600_000);
        let ahead = version + 86_400_000_000;
        ask(&server, &["HSET", "versions", "last", &ahead.to_string()]);
        let next = plan(&server, "0", &["red"], &[]).unwrap();
        assert_eq!(next, [(ahead + 1).to_string()]);
    }
}

#[test]
fn a_change_is_begun_only_on_what_it_expects() {
    for server in Server::all() {
        ask(&server, &["SADD", "reverse", "red", "blue"]);
        assert_eq!(plan(&server, "2", &[], &["red"]).unwrap(), [""; 0], "it is in the set");
        assert_eq!(ask(&server, &["EXISTS", "versions"]).integer(), 0);
        assert_eq!(plan(&server, "2", &[], &["green"]).unwrap()[1..], ["green"]);
        assert_eq!(plan(&server, "1", &["blue"], &[]).unwrap()[1..], ["red"]);
        assert_eq!(plan(&server, "0", &["green", "white"], &[]), None, "it is full");
        assert_eq!(ask(&server, &["SCARD", "reverse"]).integer(), 2);
    }
}

#[test]
fn a_later_change_wins_in_each_set() {
    for server in Server::all() {
        let now = now(&server);
        assert_eq!(set(&server, "1", "a", now), 1);
        lives_for(&server, "set", 60_000);
        lives_for(&server, "changes", 600_000);
        assert_eq!(set(&server, "0", "a", now - 1), 0, "it comes late");
        assert_eq!(ask(&server, &["SISMEMBER", "set", "a"]).integer(), 1);
        assert_eq!(set(&server, "0", "a", now), 1, "it is sent again");
        assert_eq!(set(&server, "1", "a", now + 1), 1);
        // Later than what is remembered, nobody could tell any more.
        assert_eq!(set(&server, "0", "a", now - 301_000_000), -2);
        assert_eq!(ask(&server, &["SISMEMBER", "set", "a"]).integer(), 1);
        assert_eq!(set(&server, "1", "b", now), 1);
        assert_eq!(set(&server, "1", "c", now), -1, "it is full");
        // What is too old to matter is forgotten.
        ask(&server, &["ZADD", "changes", &(now - 601_000_000).to_string(), "old"]);
        assert_eq!(set(&server, "0", "b", now + 1), 1);
        assert_eq!(ask(&server, &["ZSCORE", "changes", "old"]), Reply::Nil);
        assert_eq!(ask(&server, &["ZCARD", "changes"]).integer(), 2);
    }
}

#[test]
fn a_reverse_lets_go_unless_a_later_change_is_about_it() {
    for server in Server::all() {
        ask(&server, &["SADD", "reverse", "red", "blue"]);
        ask(&server, &["HSET", "versions", ":red", "7", ":blue", "8", "last", "8"]);
        assert_eq!(finish(&server, "7", "blue"), 1);
        assert_eq!(ask(&server, &["SCARD", "reverse"]).integer(), 2);
        assert_eq!(finish(&server, "7", "red"), 1);
        assert_eq!(ask(&server, &["SISMEMBER", "reverse", "red"]).integer(), 0);
        assert_eq!(ask(&server, &["HGET", "versions", ":red"]), Reply::Nil);
        assert_eq!(ask(&server, &["SISMEMBER", "reverse", "blue"]).integer(), 1);
    }
}

#[test]
fn a_change_in_one_slot_expects_and_changes_all_or_nothing() {
    for server in Server::all() {
        let change = |expects: &str| {
            let script = script!("index/time.lua", "index/change.lua");
            let args = ["1", "0", "m", "9", "0", "0", "9", "0", "0", expects, "red"];
            try_run(&server, script, &["red", "reverse", "versions"], &args.map(str::as_bytes))
        };
        ask(&server, &["SADD", "reverse", "blue"]);
        assert_eq!(change("1").unwrap().integer(), -3, "it holds something else");
        ask(&server, &["SADD", "reverse", "red"]);
        assert_eq!(change("2").unwrap().integer(), -3, "it holds this");
        assert_eq!(ask(&server, &["EXISTS", "red"]).integer(), 0);
        ask(&server, &["SET", "versions", "a text"]);
        let error = change("0").unwrap_err();
        assert!(error.contains("WRONGTYPE"), "{error}");
        assert_eq!(ask(&server, &["EXISTS", "red"]).integer(), 0, "nothing was changed");
        ask(&server, &["DEL", "versions"]);
        assert_eq!(change("0").unwrap().integer(), 1);
        assert_eq!(ask(&server, &["SISMEMBER", "red", "m"]).integer(), 1);
    }
}
