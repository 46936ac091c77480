//! What cannot be one step at the server: other slots, other databases, other values.

use crate::bench::{Bench, Host, SCHEMA};
use keyward_testkit::Flavor;

fn phase(phase: &str) -> String {
    SCHEMA.replace("PHASE", phase).replace("name = \"shop\"", "name = \"shop\"\ncluster = true")
}

#[test]
fn keys_are_copied_to_other_slots_and_back() {
    let bench = Bench::cluster(Flavor::Valkey, &phase("dual-write"));
    for id in 1..=60 {
        let key = format!("User:{id}");
        bench.redis(&["HSET", &key, "name", "ann"]);
        bench.redis(&["PEXPIREAT", &key, "9999999999999"]);
    }
    bench.redis(&["HSET", "shop:user:7", "name", "other"]);
    let plan = bench.plan();
    assert_eq!((plan.changes(), plan.conflicts()), (60, 0));
    let far = plan.rows[0].counts.get("across slots").copied().unwrap_or(0);
    assert!(far > 50, "{far} keys go to other slots");

    let applied = bench.apply(&plan).unwrap();
    assert!(applied.converged, "{applied:?}");
    for id in 1..=60 {
        let key = format!("shop:user:{id}");
        assert_eq!(bench.redis(&["HGET", &key, "name"]).text(), "ann", "{key}");
        assert_eq!(bench.redis(&["PEXPIRETIME", &key]).integer(), 9_999_999_999_999);
    }
    assert_eq!(bench.apply(&plan).unwrap().changed, 0);

    let undone = bench.undo(&plan).unwrap();
    assert_eq!((undone.undone, undone.conflicts), (60, 0));
    for id in 1..=60 {
        let (old, new) = (format!("User:{id}"), format!("shop:user:{id}"));
        assert_eq!(bench.redis(&["HGET", &old, "name"]).text(), "ann");
        let left = i64::from(id == 7);
        assert_eq!(bench.redis(&["EXISTS", &new]).integer(), left, "{new}");
    }
    assert_eq!(bench.redis(&["HGET", "shop:user:7", "name"]).text(), "other");
}

#[test]
fn nothing_is_claimed_while_slots_move() {
    let bench = Bench::cluster(Flavor::Valkey, &phase("dual-write"));
    for id in 1..=30 {
        bench.redis(&["HSET", &format!("User:{id}"), "name", "ann"]);
    }
    let plan = bench.plan();
    let Host::Many(cluster) = &bench.host else { panic!("a cluster") };
    let slot = keyward_pattern::slot(b"User:7");
    let port = cluster.primary_of("User:7").port();
    let from = cluster.nodes().iter().position(|it| it.port() == port).unwrap();
    let moving = cluster.migrate(slot, from, (from + 1) % 3);
    let applied = bench.apply(&plan).unwrap();
    assert!(applied.moved && !applied.converged, "keys may have been carried past the scan");
    moving.carry();
    let applied = bench.apply(&plan).unwrap();
    assert!(applied.moved && !applied.converged);
    moving.end();
    cluster.wait_until_ok();
    let applied = bench.apply(&plan).unwrap();
    assert!(applied.converged && !applied.moved, "{:?}", applied.left);
    for id in 1..=30 {
        assert_eq!(bench.redis(&["HGET", &format!("shop:user:{id}"), "name"]).text(), "ann");
    }
}

#[test]
fn a_cleanup_on_a_cluster_looks_for_the_new_name_in_its_slot() {
    let bench = Bench::cluster(Flavor::Redis, &phase("cleanup"));
    for id in 1..=20 {
        bench.redis(&["HSET", &format!("User:{id}"), "name", "ann"]);
        if id % 2 == 0 {
            bench.redis(&["HSET", &format!("shop:user:{id}"), "name", "ann"]);
        }
    }
    let plan = bench.plan();
    assert_eq!((plan.changes(), plan.conflicts()), (10, 10));
    assert_eq!(bench.apply(&plan).unwrap().changed, 10);
    for id in 1..=20 {
        let left = i64::from(id % 2 == 1);
        assert_eq!(bench.redis(&["EXISTS", &format!("User:{id}")]).integer(), left);
    }
    assert_eq!(bench.undo(&plan).unwrap().undone, 10);
    assert_eq!(bench.redis(&["HGET", "User:2", "name"]).text(), "ann");
}

fn version(name: &str) -> String {
    keyward_pattern::derived("shop:", name, "version").unwrap()
}

#[test]
fn what_a_store_has_deleted_under_its_new_name_is_not_moved_back() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let bench = Bench::cluster(flavor, &phase("read-fallback"));
        // The versions beside the old name and the new one, and what becomes of the old one.
        let keys = [
            ("1", "10", "20", false),
            ("2", "", "20", false),
            ("3", "21", "20", true),
            ("4", "20", "20", true),
            ("5", "20", "", true),
            ("6", "", "not a version", true),
        ];
        for (id, of_old, of_new, _) in keys {
            let (old, new) = (format!("User:{id}"), format!("shop:user:{id}"));
            assert_ne!(
                keyward_pattern::slot(old.as_bytes()),
                keyward_pattern::slot(new.as_bytes())
            );
            bench.redis(&["HSET", &old, "name", "ann"]);
            for (name, text) in [(&old, of_old), (&new, of_new)] {
                if !text.is_empty() {
                    bench.redis(&["SET", &version(name), text]);
                }
            }
        }
        // A delete has left its lease; whoever loads has taken the other one over.
        let lease = |name: &str| keyward_pattern::derived("shop:", name, "lease").unwrap();
        bench.redis(&["SET", &lease("shop:user:1"), "removed"]);
        bench.redis(&["SET", &lease("shop:user:2"), "a load's"]);
        let plan = bench.plan();
        assert_eq!((plan.changes(), plan.conflicts()), (6, 0), "{:?}", plan.rows);
        let applied = bench.apply(&plan).unwrap();
        assert!(applied.converged, "{applied:?}");
        for (id, .., stays) in keys {
            for name in [format!("User:{id}"), format!("shop:user:{id}")] {
                let there = bench.redis(&["EXISTS", &name]).integer();
                assert_eq!(there, i64::from(stays), "{name}");
            }
        }
        assert_eq!(bench.redis(&["GET", &version("User:1")]).text(), "10", "it is not newer");
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (6, 0));
        assert_eq!(bench.redis(&["HGET", "User:1", "name"]).text(), "ann");
    }
}

#[test]
fn a_version_that_cannot_be_read_leaves_the_key_where_it_is() {
    let bench = Bench::cluster(Flavor::Valkey, &phase("read-fallback"));
    bench.redis(&["HSET", "User:1", "name", "ann"]);
    bench.redis(&["HSET", &version("shop:user:1"), "of", "another type"]);
    let applied = bench.apply(&bench.plan()).unwrap();
    assert!(!applied.converged);
    assert_eq!(bench.redis(&["EXISTS", "User:1"]).integer(), 1);
    assert_eq!(bench.redis(&["EXISTS", "shop:user:1"]).integer(), 0);
}

const CONVERTED: &str = r#"
version = 1
[keyspace]
name = "shop"
prefix = "shop:"
[keys.profile]
pattern = "profile:{id:uint}"
fields = { name = "text", score = "int" }
[keys.tags]
pattern = "tags:{id:uint}"
type = "zset"
[keys.note]
pattern = "note:{id:uint}"
type = "string"
[keys.session]
pattern = "session:{id:word}"
type = "string"
[migrations.v2]
phase = "PHASE"
[migrations.v2.renames]
profile = { pattern = "v1:profile:{id}", convert = "json-to-hash" }
tags = { pattern = "tags:{id}", convert = "set-to-sorted-set", score = 5 }
note = { pattern = "note:{id}", convert = "lower-case" }
session = { pattern = "session:{id}", db = 3 }
"#;

#[test]
fn values_are_converted_and_databases_left() {
    for bench in Bench::all(&CONVERTED.replace("PHASE", "dual-write")) {
        let json = r#"{"name": "Ann", "score": 9007199254740993}"#;
        bench.redis(&["SET", "v1:profile:1", json, "PXAT", "9999999999999"]);
        bench.redis(&["SET", "v1:profile:2", "[not an object]"]);
        bench.redis(&["SADD", "tags:1", "a", "b"]);
        bench.redis(&["SET", "note:1", "HELLO"]);
        let mut other = bench.connect();
        other.command(&["SELECT", "3"]).unwrap();
        other.command(&["SET", "session:x", "elsewhere", "PXAT", "9999999999999"]).unwrap();

        let plan = bench.plan();
        assert_eq!((plan.changes(), plan.conflicts()), (4, 1), "{:?}", plan.rows);
        let applied = bench.apply(&plan).unwrap();
        assert_eq!(applied.changed, 4);
        assert_eq!(bench.redis(&["HGET", "shop:profile:1", "score"]).text(), "9007199254740993");
        assert_eq!(bench.redis(&["PEXPIRETIME", "shop:profile:1"]).integer(), 9_999_999_999_999);
        assert_eq!(bench.redis(&["ZSCORE", "shop:tags:1", "b"]).text(), "5");
        assert_eq!(bench.redis(&["GET", "shop:note:1"]).text(), "hello");
        assert_eq!(bench.redis(&["GET", "shop:session:x"]).text(), "elsewhere");
        assert_eq!(bench.redis(&["PEXPIRETIME", "shop:session:x"]).integer(), 9_999_999_999_999);
        assert_eq!(bench.apply(&plan).unwrap().changed, 0, "the second time changes nothing");

        // A value that was changed since stays; the others go.
        bench.redis(&["SET", "shop:note:1", "written since"]);
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (3, 1));
        assert_eq!(bench.redis(&["GET", "shop:note:1"]).text(), "written since");
        for gone in ["shop:profile:1", "shop:tags:1", "shop:session:x"] {
            assert_eq!(bench.redis(&["EXISTS", gone]).integer(), 0, "{gone}");
        }
    }
}
