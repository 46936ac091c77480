//! What the steps at the server check, where no plan is fast enough to meet it by itself: each is called as if somebody
//! had changed something just before.

use crate::bench::Bench;
use keyward_testkit::Reply;

const SCHEMA: &str = "version = 1\n[keyspace]\nname = \"steps\"\n";

macro_rules! step {
    ($($file:literal),+) => {
        concat!($(include_str!(concat!("../../src/lua/", $file))),+)
    };
}

/// Calls a step; without one of its lines if `cargo xtask mutants` says so.
fn step(bench: &Bench, script: &'static str, keys: &[&str], args: &[&str]) -> Reply {
    let count = keys.len().to_string();
    let mut call = vec!["EVAL", keyward::mutant::text(script), &count];
    call.extend(keys);
    call.extend(args);
    bench.redis(&call)
}

/// A value as the steps know it again.
fn digest(bench: &Bench, key: &str) -> String {
    let script =
        "return redis.sha1hex(redis.call('DUMP', KEYS[1]) .. redis.call('PEXPIRETIME', KEYS[1]))";
    bench.redis(&["EVAL", script, "1", key]).text()
}

fn gone(bench: &Bench, key: &str) -> bool {
    bench.redis(&["EXISTS", key]).integer() == 0
}

#[test]
fn a_value_is_placed_only_with_the_lease_and_over_what_was_saved() {
    const PLACE: &str = step!("place.lua");
    for bench in Bench::all(SCHEMA) {
        let place = |guard: &str, ends: &str, field: &str| {
            step(
                &bench,
                PLACE,
                &["k", "lease"],
                &["mine", guard, ends, "", "3", "HSET", field, "1"],
            )
        };
        bench.redis(&["HSET", "k", "before", "1"]);
        let before = digest(&bench, "k");
        assert_eq!(place(&before, "-1", "new"), Reply::Nil, "the lease has ended");
        bench.redis(&["SET", "lease", "theirs"]);
        assert_eq!(place(&before, "-1", "new"), Reply::Nil, "it is somebody else's");
        assert_eq!(bench.redis(&["GET", "lease"]).text(), "theirs");
        bench.redis(&["SET", "lease", "mine"]);
        assert_eq!(place("", "-1", "new"), Reply::Nil, "something stands there by now");
        assert!(gone(&bench, "lease"), "it is given back");
        assert_eq!(digest(&bench, "k"), before);

        bench.redis(&["SET", "lease", "mine"]);
        let placed = place(&before, "9999999999999", "new").text();
        assert_eq!(placed, digest(&bench, "k"));
        assert_eq!(bench.redis(&["HLEN", "k"]).integer(), 1, "nothing of the old value is left");
        assert_eq!(bench.redis(&["PEXPIRETIME", "k"]).integer(), 9_999_999_999_999);
        bench.redis(&["SET", "lease", "mine"]);
        assert_eq!(place(&placed, "1", "late").text(), "", "its time was over");
        assert!(gone(&bench, "k"));
    }
}

#[test]
fn what_is_looked_for_in_a_value_of_another_type_is_not_taken_for_found() {
    const FORGET: &str = step!("forget.lua");
    for bench in Bench::all(SCHEMA) {
        let look = |place: &str| step(&bench, FORGET, &["k"], &["0", place, "user", "7"]);
        assert_eq!(look("set"), Reply::Array(Vec::new()), "it is gone");
        bench.redis(&["SET", "k", "7"]);
        for place in ["set", "zset", "list", "field", "optional"] {
            assert_eq!(look(place).integer(), -1, "{place}");
        }
        assert_eq!(look("text").array().len(), 1);
    }
}

#[test]
fn keys_are_renamed_by_type_however_they_answer() {
    const RENAME: &str = step!("rename.lua");
    for bench in Bench::all(SCHEMA) {
        let rename = |ask: &str, keys: &[&str]| -> Vec<i64> {
            let left = step(&bench, RENAME, keys, &[ask]).array();
            left.into_iter().map(Reply::integer).collect()
        };
        bench.redis(&["SET", "empty", ""]);
        bench.redis(&["HSET", "hash", "f", "1"]);
        bench.redis(&["SET", "full", "x"]);
        bench.redis(&["SET", "taken", "y"]);
        let keys = ["hash", "h", "empty", "e", "gone", "g", "full", "taken"];
        // The place of each that stays, and why: another type, gone, taken.
        assert_eq!(rename("STRLEN", &keys), [0, 4, 2, 0, 3, 3]);
        assert_eq!(bench.redis(&["GET", "e"]).text(), "");
        assert!(gone(&bench, "empty") && gone(&bench, "h"));
        assert_eq!(bench.redis(&["GET", "taken"]).text(), "y");
        bench.redis(&["XADD", "stream", "1-1", "f", "1"]);
        bench.redis(&["XDEL", "stream", "1-1"]);
        assert!(rename("XLEN", &["stream", "s"]).is_empty());
        assert!(rename("EXISTS", &["hash", "h"]).is_empty(), "of any type");
        assert_eq!(rename("EXISTS", &["gone", "g"]), [0, 0]);
        let odd = ["EVAL", keyward::mutant::text(RENAME), "2", "h", "i", "NOSUCH"];
        let mut connection = bench.connect();
        let answer = connection.command(&odd).unwrap();
        assert!(
            matches!(answer, Reply::Error(_)),
            "what is not about the type is an error: {answer:?}"
        );
        assert!(!gone(&bench, "h"));
    }
}
