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

#[test]
fn a_member_stays_whose_key_is_there_again_or_agrees() {
    const PRUNE: &str = step!("prune.lua");
    for bench in Bench::all(SCHEMA) {
        let prune = |keys: &[&str], score: &str, field: &str| {
            step(&bench, PRUNE, keys, &["m", score, field, "7"]).integer()
        };
        assert_eq!(prune(&["set"], "", ""), 0, "the set is gone");
        bench.redis(&["SADD", "set", "m", "other"]);
        bench.redis(&["ZADD", "zset", "5", "m"]);
        bench.redis(&["SET", "own", "a string"]);
        assert_eq!(prune(&["set", "own"], "", ""), 6, "the key is there again");
        assert_eq!(prune(&["set", "own"], "", "user"), 6, "it has another type");
        bench.redis(&["DEL", "own"]);
        bench.redis(&["HSET", "own", "user", "8"]);
        assert_eq!(prune(&["set", "own"], "", "user"), 6, "it says something else by now");
        assert_eq!(bench.redis(&["SISMEMBER", "set", "m"]).integer(), 1);
        bench.redis(&["HSET", "own", "user", "7"]);
        assert_eq!(prune(&["set", "own"], "", "user"), 1);
        assert_eq!(prune(&["set", "own"], "", "user"), 2, "it is no member any more");
        assert_eq!(prune(&["zset"], "4", ""), 2, "it has another score");
        assert_eq!(prune(&["zset"], "5", ""), 1);
    }
}

#[test]
fn a_member_comes_back_once_and_not_into_another_type() {
    const REJOIN: &str = step!("rejoin.lua");
    for bench in Bench::all(SCHEMA) {
        let rejoin = |set: &str, score: &str, ends: &str| {
            step(&bench, REJOIN, &[set], &["m", score, ends]).integer()
        };
        assert_eq!(rejoin("set", "", "1"), 0, "the time of the set is over");
        assert!(gone(&bench, "set"));
        assert_eq!(rejoin("set", "", "9999999999999"), 1);
        assert_eq!(bench.redis(&["PEXPIRETIME", "set"]).integer(), 9_999_999_999_999);
        assert_eq!(rejoin("set", "", "1"), 2, "it is there, and so is its set");
        assert_eq!(rejoin("set", "5", "-1"), 3);
        assert_eq!(rejoin("zset", "5", "-1"), 1);
        assert_eq!(rejoin("zset", "6", "-1"), 2);
        assert_eq!(bench.redis(&["ZSCORE", "zset", "m"]).text(), "5");
        assert_eq!(rejoin("zset", "", "-1"), 3);
    }
}

#[test]
fn a_key_is_removed_only_as_it_was_saved() {
    const REMOVE: &str = step!("remove.lua");
    const UNMAKE: &str = step!("unmake.lua");
    for bench in Bench::all(SCHEMA) {
        let remove = |keys: &[&str], act: &str, saved: &str, lone: &str| {
            step(&bench, REMOVE, keys, &[act, saved, lone]).integer()
        };
        assert_eq!(remove(&["k"], "1", "", "0"), 0);
        bench.redis(&["SET", "k", "1"]);
        let saved = digest(&bench, "k");
        assert_eq!(remove(&["k", "other"], "1", &saved, "1"), 7, "it stands alone");
        assert_eq!(remove(&["k"], "0", "", "0"), 1, "it only looks");
        bench.redis(&["SET", "k", "2"]);
        assert_eq!(remove(&["k"], "1", &saved, "0"), 5);
        assert_eq!(bench.redis(&["GET", "k"]).text(), "2");
        for key in ["other", "beside"] {
            bench.redis(&["SET", key, "x"]);
        }
        let saved = digest(&bench, "k");
        assert_eq!(remove(&["k", "other", "beside"], "1", &saved, "1"), 1);
        assert!(gone(&bench, "k") && gone(&bench, "beside") && !gone(&bench, "other"));

        let unmake = |saved: &str| step(&bench, UNMAKE, &["made"], &[saved]).integer();
        assert_eq!(unmake("x"), 0);
        bench.redis(&["SET", "made", "1"]);
        assert_eq!(unmake(&saved), 3);
        assert_eq!(unmake(&digest(&bench, "made")), 1);
        assert!(gone(&bench, "made"));
    }
}

#[test]
fn a_lease_is_given_back_by_its_holder() {
    const UNLEASE: &str = step!("unlease.lua");
    for bench in Bench::all(SCHEMA) {
        bench.redis(&["SET", "lease", "theirs"]);
        assert_eq!(step(&bench, UNLEASE, &["lease"], &["mine"]).integer(), 0);
        assert_eq!(bench.redis(&["GET", "lease"]).text(), "theirs");
        assert_eq!(step(&bench, UNLEASE, &["lease"], &["theirs"]).integer(), 1);
    }
}

#[test]
fn a_key_ends_earlier_only_if_it_is_meant_and_was_saved_so() {
    const SHORTEN: &str = step!("shorten.lua");
    for bench in Bench::all(SCHEMA) {
        let shorten = |act: &str, whose: &str, saved: &str| {
            let args = [act, whose, "60000", saved, "9999999999998"];
            step(&bench, SHORTEN, &["k"], &args).integer()
        };
        assert_eq!(shorten("1", "late", "-2"), 0);
        bench.redis(&["SET", "k", "1"]);
        assert_eq!(shorten("1", "after", "-1"), 2, "it never ends");
        assert_eq!(shorten("0", "never", "-1"), 1, "it only looks");
        bench.redis(&["PEXPIREAT", "k", "9999999999999"]);
        assert_eq!(shorten("1", "never", "9999999999999"), 2, "it ends");
        assert_eq!(shorten("1", "late", "-1"), 5, "it ends since it was saved");
        assert_eq!(bench.redis(&["PEXPIRETIME", "k"]).integer(), 9_999_999_999_999);
        assert_eq!(shorten("1", "late", "9999999999999"), 1);
        assert_eq!(bench.redis(&["PEXPIRETIME", "k"]).integer(), 9_999_999_999_998);
        bench.redis(&["PEXPIRE", "k", "50000"]);
        assert_eq!(shorten("1", "late", ""), 2, "early enough");
    }
}

#[test]
fn a_value_comes_back_only_where_nothing_else_stands() {
    const RESTORE: &str = step!("same.lua", "restore.lua");
    for bench in Bench::all(SCHEMA) {
        // Its value as DUMP gives it is not a text.
        let restore = |ends: &str| {
            let script = "return redis.call('SET', KEYS[2], redis.call('DUMP', KEYS[1]))";
            bench.redis(&["EVAL", script, "2", "saved", "dump"]);
            let script = keyward::mutant::text(RESTORE);
            let dump = bench.redis(&["GET", "dump"]);
            let Reply::Bytes(dump) = dump else { panic!("{dump:?}") };
            let keys: [&[u8]; 4] = [script.as_bytes(), b"2", b"k", b"aside"];
            let call: Vec<&[u8]> = [&b"EVAL"[..]]
                .into_iter()
                .chain(keys)
                .chain([&dump[..], ends.as_bytes()])
                .collect();
            bench.connect().command(&call).unwrap().integer()
        };
        bench.redis(&["SADD", "saved", "a", "b"]);
        assert_eq!(restore("1"), 0, "its time is over");
        assert!(gone(&bench, "k"));
        assert_eq!(restore("9999999999999"), 1);
        assert_eq!(bench.redis(&["PEXPIRETIME", "k"]).integer(), 9_999_999_999_999);
        bench.redis(&["SET", "aside", "left by somebody who was killed"]);
        assert_eq!(restore("9999999999999"), 2, "the same already");
        assert_eq!(restore("-1"), 3, "it ends");
        bench.redis(&["SADD", "k", "c"]);
        assert_eq!(restore("9999999999999"), 3, "taken");
        assert_eq!(bench.redis(&["SCARD", "k"]).integer(), 3);
        assert!(gone(&bench, "aside"));
    }
}

#[test]
fn values_are_the_same_by_what_they_hold_and_until_when() {
    const BACK: &str = step!("same.lua", "back.lua");
    type Commands = &'static [&'static [&'static str]];
    // Whether both are taken for the same; the second is stored in another way where a member came and went.
    let cases: [(Commands, Commands, bool); 12] = [
        (&[&["SET", "1", "a"]], &[&["SET", "2", "a"]], true),
        (&[&["SET", "1", "a"]], &[&["SET", "2", "b"]], false),
        (&[&["SET", "1", "a"]], &[&["SET", "2", "a", "PXAT", "9999999999999"]], false),
        (&[&["SET", "1", "a"]], &[&["SADD", "2", "a"]], false),
        (&[&["SADD", "1", "a", "b"]], &[&["SADD", "2", "b", "c", "a"], &["SREM", "2", "c"]], true),
        (&[&["SADD", "1", "a", "b"]], &[&["SADD", "2", "a", "c"]], false),
        (&[&["SADD", "1", "a", "b"]], &[&["SADD", "2", "b", "a", "c"]], false),
        (&[&["HSET", "1", "a", "1", "b", "2"]], &[&["HSET", "2", "b", "2", "a", "1"]], true),
        (&[&["HSET", "1", "a", "1"]], &[&["HSET", "2", "a", "2"]], false),
        (&[&["HSET", "1", "a", "1"]], &[&["HSET", "2", "b", "2", "a", "1"]], false),
        (&[&["ZADD", "1", "1", "a"]], &[&["ZADD", "2", "1", "a", "2", "b"]], false),
        (&[&["RPUSH", "1", "a", "b"]], &[&["RPUSH", "2", "b", "a"]], false),
    ];
    for bench in Bench::all(SCHEMA) {
        for (one, other, same) in cases {
            bench.redis(&["DEL", "1", "2"]);
            one.iter().chain(other).for_each(|command| _ = bench.redis(command));
            let taken = step(&bench, BACK, &["1", "2"], &["0"]).integer();
            assert_eq!(taken, if same { 1 } else { 3 }, "{one:?} {other:?}");
        }
        assert_eq!(step(&bench, BACK, &["1", "gone"], &["0"]).integer(), 0);
    }
}

#[test]
fn lists_and_sorted_sets_are_compared_entry_by_entry_however_they_are_stored() {
    const BACK: &str = step!("same.lua", "back.lua");
    for bench in Bench::all(SCHEMA) {
        // Beyond the bounds of a compact form, and back within them: the form stays.
        for name in ["zset-max-listpack-entries", "list-max-listpack-size"] {
            bench.redis(&["CONFIG", "SET", name, "2"]);
        }
        for (command, more) in [("ZADD", ["ZREM", "2", "c"]), ("RPUSH", ["RPOP", "2", "1"])] {
            let fill = |key: &str, members: &[&str]| {
                for (at, member) in members.iter().enumerate() {
                    let score = at.to_string();
                    match command {
                        "ZADD" => bench.redis(&["ZADD", key, &score, member]),
                        _ => bench.redis(&["RPUSH", key, member]),
                    };
                }
            };
            bench.redis(&["DEL", "1", "2"]);
            fill("1", &["a", "b"]);
            fill("2", &["a", "b", "c"]);
            bench.redis(&more);
            assert_eq!(step(&bench, BACK, &["1", "2"], &["0"]).integer(), 1, "{command}");
        }
    }
}

#[test]
fn a_whole_key_is_read_with_what_it_holds() {
    const READ: &str = step!("read.lua");
    for bench in Bench::all(SCHEMA) {
        assert_eq!(step(&bench, READ, &["k"], &[]), Reply::Nil);
        let kinds: [(&str, &[&str], usize); 6] = [
            ("string", &["SET", "k", "a"], 1),
            ("hash", &["HSET", "k", "a", "1"], 2),
            ("list", &["RPUSH", "k", "a", "b"], 2),
            ("set", &["SADD", "k", "a", "b"], 2),
            ("zset", &["ZADD", "k", "1", "a"], 2),
            ("stream", &["XADD", "k", "1-1", "a", "1"], 1),
        ];
        for (kind, command, parts) in kinds {
            bench.redis(&["DEL", "k"]);
            bench.redis(command);
            bench.redis(&["PEXPIREAT", "k", "9999999999999"]);
            let mut read = step(&bench, READ, &["k"], &[]).array();
            assert_eq!(read.pop().unwrap().array().len(), parts, "{kind}");
            assert_eq!(read.pop().unwrap().integer(), 9_999_999_999_999);
            assert_eq!(read.pop().unwrap().text(), digest(&bench, "k"));
            assert_eq!(read.pop().unwrap().text(), kind);
        }
    }
}

#[test]
fn a_queue_goes_only_as_it_was_saved_and_counts_once() {
    const END: &str = step!("end.lua");
    for bench in Bench::all(SCHEMA) {
        let keys = ["list", "jobs", "taken", "leases", "due", "ready", "done"];
        let end = |act: &str, guard: &str, place: &str| {
            step(&bench, END, &keys, &[act, guard, "list", place]).integer()
        };
        assert_eq!(end("1", "", "1"), 0, "nothing of it is there");
        bench.redis(&["HSET", "jobs", "seq", "7"]);
        assert_eq!(end("0", "", "2"), 1);
        assert!(!gone(&bench, "jobs"), "it was only looked at");
        bench.redis(&["ZADD", "done", "1", "7"]);
        assert_eq!(end("0", "", "7"), 10, "it is counted by an earlier key");
        let saved = digest(&bench, "jobs");
        bench.redis(&["HSET", "jobs", "seq", "8"]);
        assert_eq!(end("1", &saved, "2"), 5, "it has changed since");
        bench.redis(&["SET", "list", "of another type"]);
        assert_eq!(end("1", &saved, "1"), 4);
        bench.redis(&["DEL", "list"]);
        bench.redis(&["RPUSH", "list", "job"]);
        assert_eq!(end("1", &digest(&bench, "list"), "1"), 9);
        bench.redis(&["DEL", "list"]);
        // A record of a job that has ended and that nobody retains does not keep the queue.
        bench.redis(&["HSET", "jobs", "m:7", "k 1 1 0 0 1 0:id", "m:8", "k 1 1 0 0 1 0:id"]);
        assert_eq!(end("0", "", "2"), 1);
        bench.redis(&["DEL", "done"]);
        bench.redis(&["SET", "done", "of another type"]);
        assert_eq!(end("0", "", "2"), 9, "when jobs end is not known");
        bench.redis(&["DEL", "done", "jobs"]);
        bench.redis(&["SET", "jobs", "of another type"]);
        assert_eq!(end("1", "", "2"), 4);
        bench.redis(&["DEL", "jobs"]);
        bench.redis(&["HSET", "jobs", "seq", "8"]);
        bench.redis(&["ZADD", "done", "1", "7"]);
        assert_eq!(end("1", &digest(&bench, "jobs"), "2"), 1);
        assert!(keys.iter().all(|key| gone(&bench, key)));
    }
}

#[test]
fn a_value_goes_back_to_its_old_name_only_over_what_was_read_there() {
    const BRING: &str = step!("bring.lua");
    for bench in Bench::all(SCHEMA) {
        // DUMP is not text: the value is taken from a key.
        let script = format!(
            "local dump = redis.call('DUMP', 'value')\n\
             local function bring(KEYS, ARGV)\n{}end\n\
             return bring(KEYS, {{ ARGV[1], ARGV[2], dump, ARGV[3] }})",
            keyward::mutant::text(BRING)
        );
        let bring = |guard: &str, ends: &str| {
            bench.redis(&["EVAL", &script, "1", "k", guard, ends]).integer()
        };
        bench.redis(&["SET", "value", "new"]);
        bench.redis(&["SET", "k", "old"]);
        let before = digest(&bench, "k");
        assert_eq!(bring("", "-1"), 3, "something stands there by now");
        bench.redis(&["SET", "k", "newer"]);
        assert_eq!(bring(&before, "-1"), 3, "it was changed since");
        bench.redis(&["DEL", "k"]);
        assert_eq!(bring(&before, "-1"), 3, "it was deleted since");
        assert!(gone(&bench, "k"));
        assert_eq!(bring("", "9999999999999"), 1);
        assert_eq!(bench.redis(&["GET", "k"]).text(), "new");
        assert_eq!(bench.redis(&["PEXPIRETIME", "k"]).integer(), 9_999_999_999_999);
        let now = digest(&bench, "k");
        assert_eq!(bring(&now, "-1"), 1);
        assert_eq!(bench.redis(&["PTTL", "k"]).integer(), -1);

        let leased = || {
            let call = ["EVAL", &script, "2", "k", "lease", "", "-1", "mine"];
            bench.redis(&call).integer()
        };
        bench.redis(&["DEL", "k"]);
        assert_eq!(leased(), 3, "a store has ended the lease, and may have deleted what it wrote");
        bench.redis(&["SET", "lease", "theirs"]);
        assert_eq!(leased(), 3, "it is somebody else's");
        assert!(gone(&bench, "k"));
        assert_eq!(bench.redis(&["GET", "lease"]).text(), "theirs");
        bench.redis(&["SET", "lease", "mine"]);
        assert_eq!(leased(), 1);
        assert!(gone(&bench, "lease"), "it is given back");
        assert_eq!(bench.redis(&["GET", "k"]).text(), "new");
    }
}
