//! Migrations on real servers: what each phase does, what it leaves alone, and the way back.

use crate::bench::{Bench, SCHEMA};
use keyward_audit::live::Options;
use keyward_audit::live::watch::Watching;
use keyward_audit::{Audit, Subject};
use keyward_plan::Error;
use keyward_testkit::{Reply, wait_until};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

fn phase(phase: &str) -> String {
    SCHEMA.replace("PHASE", phase)
}

#[test]
fn dual_write_copies_the_old_value_with_its_end_over_the_new_one() {
    for bench in Bench::all(&phase("dual-write")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        bench.redis(&["PEXPIREAT", "User:1", "9999999999999"]);
        bench.redis(&["HSET", "User:2", "name", "bob"]);
        bench.redis(&["HSET", "shop:user:2", "name", "other"]);
        bench.redis(&["SET", "User:3", "of another type"]);

        let plan = bench.plan();
        assert_eq!((plan.changes(), plan.conflicts()), (2, 1));
        assert_eq!(bench.redis(&["EXISTS", "shop:user:1"]).integer(), 0, "planning only reads");

        let applied = bench.apply(&plan).unwrap();
        assert_eq!(applied.changed, 2);
        assert!(!applied.converged, "a conflict is left");
        assert_eq!(bench.redis(&["HGET", "shop:user:1", "name"]).text(), "ann");
        assert_eq!(bench.redis(&["PEXPIRETIME", "shop:user:1"]).integer(), 9_999_999_999_999);
        assert_eq!(bench.redis(&["HGET", "shop:user:2", "name"]).text(), "bob");
        assert_eq!(bench.redis(&["HGET", "User:2", "name"]).text(), "bob", "old names stay");

        assert_eq!(bench.apply(&plan).unwrap().changed, 0, "the second time changes nothing");

        let undone = bench.undo(&plan).unwrap();
        assert_eq!(undone.conflicts, 0);
        assert_eq!(bench.redis(&["EXISTS", "shop:user:1"]).integer(), 0);
        assert_eq!(bench.redis(&["HGET", "shop:user:2", "name"]).text(), "other");
        assert_eq!(bench.redis(&["HGET", "User:2", "name"]).text(), "bob");
    }
}

#[test]
fn read_fallback_copies_only_where_the_new_name_has_nothing() {
    for bench in Bench::all(&phase("read-fallback")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        bench.redis(&["HSET", "User:2", "name", "old"]);
        bench.redis(&["HSET", "shop:user:2", "name", "new"]);
        let plan = bench.plan();
        let applied = bench.apply(&plan).unwrap();
        assert_eq!(applied.changed, 1);
        assert_eq!(bench.redis(&["HGET", "shop:user:2", "name"]).text(), "new");

        // What was written under the new name since is taken back to the old one.
        bench.redis(&["HSET", "shop:user:1", "name", "anna"]);
        assert_eq!(bench.undo(&plan).unwrap().undone, 1);
        assert_eq!(bench.redis(&["HGET", "User:1", "name"]).text(), "anna");
        assert_eq!(bench.redis(&["EXISTS", "shop:user:1"]).integer(), 0);
        assert_eq!(bench.redis(&["HGET", "shop:user:2", "name"]).text(), "new");
    }
}

#[test]
fn cleanup_removes_what_is_under_the_new_name_and_undo_brings_it_back() {
    for bench in Bench::all(&phase("cleanup")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        bench.redis(&["PEXPIREAT", "User:1", "9999999999999"]);
        bench.redis(&["HSET", "shop:user:1", "name", "ann"]);
        bench.redis(&["HSET", "User:2", "name", "alone"]);
        let plan = bench.plan();
        assert_eq!((plan.changes(), plan.conflicts()), (1, 1));
        let applied = bench.apply(&plan).unwrap();
        assert_eq!(applied.changed, 1);
        assert_eq!(bench.redis(&["EXISTS", "User:1"]).integer(), 0);
        assert_eq!(bench.redis(&["HGET", "User:2", "name"]).text(), "alone");

        bench.undo(&plan).unwrap();
        assert_eq!(bench.redis(&["HGET", "User:1", "name"]).text(), "ann");
        assert_eq!(bench.redis(&["PEXPIRETIME", "User:1"]).integer(), 9_999_999_999_999);
        assert_eq!(bench.undo(&plan).unwrap().undone, 0, "undone twice changes nothing");
    }
}

#[test]
fn the_fence_of_a_lock_follows_and_never_goes_back() {
    for bench in Bench::all(&phase("dual-write")) {
        bench.redis(&["SET", "Lock:a", "holder", "PX", "60000"]);
        bench.redis(&["SET", "shop:~fence:{Lock:a}", "1700000000000007 a", "PX", "90000"]);
        bench.redis(&["SET", "Lock:b", "holder", "PX", "60000"]);
        bench.redis(&["SET", "shop:~fence:{Lock:b}", "5 a", "PX", "90000"]);
        bench.redis(&["SET", "shop:~fence:{shop:lock:b}", "9 b", "PX", "90000"]);
        let plan = bench.plan();
        assert!(bench.apply(&plan).unwrap().converged);
        let fence = |name: &str| format!("shop:~fence:{{shop:lock:{name}}}");
        assert_eq!(bench.redis(&["GET", &fence("a")]).text(), "1700000000000007 a");
        assert_eq!(bench.redis(&["GET", &fence("b")]).text(), "9 b");
    }
}

#[test]
fn a_client_that_does_not_know_the_phase_stops_the_step() {
    for mut bench in Bench::all(&phase("read-fallback")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        let plan = bench.plan();
        bench.accept_unnamed = false;
        let mut client = bench.connect();
        client.command(&["CLIENT", "SETNAME", "keyward:shop:v2=dual-write"]).unwrap();
        let error = bench.apply(&plan).unwrap_err();
        let said = "1 connected client, `keyward:shop:v2=dual-write`, is not in the phase";
        assert!(error.is_usage() && error.to_string().starts_with(said), "{error}");
        assert_eq!(bench.redis(&["EXISTS", "shop:user:1"]).integer(), 0);
        client.command(&["CLIENT", "SETNAME", "keyward:shop:v2=read-fallback"]).unwrap();
        assert!(bench.apply(&plan).unwrap().converged);
    }
}

#[test]
fn a_watch_that_runs_stops_no_step() {
    for mut bench in Bench::all(&phase("read-fallback")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        let plan = bench.plan();
        bench.accept_unnamed = false;
        let subjects = vec![Subject::new(bench.schema.clone())];
        let audit = Arc::new(Audit::new(subjects, &keyward_audit::Options::default()));
        let watching = Watching::default();
        let (url, finish) = (bench.url(), watching.finish.clone());
        thread::scope(|scope| {
            let watch = scope
                .spawn(|| audit.watch(&url, &Options::default(), &watching, &|_| {}).map(|_| ()));
            wait_until("it watches", || {
                let clients = bench.connect().command(&["CLIENT", "LIST"]).unwrap().text();
                clients.matches("name=keyward-watch").count() >= 3
            });
            let applied = bench.apply(&plan);
            finish.store(true, Ordering::Release);
            watch.join().expect("no panic").expect("a server");
            assert!(applied.unwrap().converged);
        });
    }
}

#[test]
fn an_old_name_that_was_used_lately_stops_the_step() {
    for mut bench in Bench::all(&phase("read-fallback")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        let plan = bench.plan();
        bench.accept_recent = false;
        let error = bench.apply(&plan).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("was used"), "{error}");
        bench.accept_recent = true;
        assert!(bench.apply(&plan).unwrap().converged);
    }
}

#[test]
fn a_plan_is_for_its_servers_its_schema_and_its_time() {
    let mut benches = Bench::all(&phase("dual-write"));
    let other = benches.pop().unwrap();
    let mut bench = benches.pop().unwrap();
    bench.redis(&["HSET", "User:1", "name", "ann"]);
    let plan = bench.plan();
    let refused = |error: Error, why: &str| {
        assert!(error.is_usage() && error.to_string().contains(why), "{error}");
    };
    refused(other.apply(&plan).unwrap_err(), "is not the server");

    bench.schema(&phase("read-fallback"));
    refused(bench.apply(&plan).unwrap_err(), "phase");
    bench.schema(&phase("dual-write").replace("User:{id}", "user:{id}"));
    refused(bench.apply(&plan).unwrap_err(), "something else");

    bench.schema(&phase("dual-write"));
    bench.now += 8 * 24 * 60 * 60 * 1000;
    refused(bench.apply(&plan).unwrap_err(), "could be started until");
    bench.now -= 8 * 24 * 60 * 60 * 1000;
    assert_eq!(bench.apply(&plan).unwrap().changed, 1);

    // Once started, its time does not matter.
    bench.now += 8 * 24 * 60 * 60 * 1000;
    bench.redis(&["HSET", "User:2", "name", "bob"]);
    assert_eq!(bench.apply(&plan).unwrap().changed, 1);
}

#[test]
fn keys_of_a_pattern_are_renamed_where_the_new_name_is_free() {
    let schema = phase("cleanup");
    let (schema, _) = schema.split_once("[migrations").unwrap();
    for bench in Bench::all(schema) {
        for id in 1..=20 {
            bench.redis(&["HSET", &format!("u-{id}-x"), "name", "ann"]);
        }
        bench.redis(&["PEXPIREAT", "u-1-x", "9999999999999"]);
        bench.redis(&["HSET", "shop:user:2", "name", "taken"]);
        let values = std::collections::BTreeMap::new();
        let order = |to: &str| keyward_plan::Order::Rename {
            from: "u-{id}-x".to_owned(),
            to: to.to_owned(),
            values: values.clone(),
        };
        let error = bench.plan_of(order("usr")).unwrap_err();
        assert_eq!(error.help(), "did you mean `user`?");
        let plan = bench.plan_of(order("user")).unwrap();
        assert_eq!((plan.changes(), plan.conflicts()), (19, 1));
        assert_eq!(bench.apply(&plan).unwrap().changed, 19);
        assert_eq!(bench.redis(&["EXISTS", "u-1-x"]).integer(), 0);
        assert_eq!(bench.redis(&["PEXPIRETIME", "shop:user:1"]).integer(), 9_999_999_999_999);
        assert_eq!(bench.redis(&["HGET", "shop:user:2", "name"]).text(), "taken");

        // The current value goes back.
        bench.redis(&["HSET", "shop:user:1", "name", "anna"]);
        bench.redis(&["HSET", "u-3-x", "name", "made again"]);
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (18, 1));
        assert_eq!(bench.redis(&["HGET", "u-1-x", "name"]).text(), "anna");
        assert_eq!(bench.redis(&["HGET", "shop:user:3", "name"]).text(), "ann");
    }
}

#[test]
fn the_marker_of_a_plan_ends_by_itself() {
    for bench in Bench::all(&phase("dual-write")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        let plan = bench.plan();
        assert!(bench.apply(&plan).unwrap().converged);
        let marker = format!("shop:~plan:{{{}}}", plan.id);
        let left = bench.redis(&["PTTL", &marker]).integer();
        assert!(left > 0, "the marker {marker} ends by itself");
    }
}

#[test]
fn a_copy_whose_original_was_removed_is_reported_or_goes() {
    for bench in Bench::all(&phase("dual-write")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        bench.redis(&["HSET", "shop:user:1", "name", "ann"]);
        bench.redis(&["HSET", "shop:user:2", "name", "its old name was removed"]);
        let plan = bench.plan();
        assert_eq!((plan.changes(), plan.conflicts()), (0, 1));
        assert!(!bench.apply(&plan).unwrap().converged);
        assert_eq!(bench.redis(&["EXISTS", "shop:user:2"]).integer(), 1, "a person decides");

        let migrations = [("v2".to_owned(), "dual-write".to_owned())].into();
        let values = std::collections::BTreeMap::new();
        let order = keyward_plan::Order::Migrate { migrations, values, remove_lone: true };
        let plan = bench.plan_of(order).unwrap();
        assert_eq!((plan.changes(), plan.conflicts()), (1, 0));
        assert!(bench.apply(&plan).unwrap().converged);
        assert_eq!(bench.redis(&["EXISTS", "shop:user:2"]).integer(), 0);
        assert_eq!(bench.redis(&["EXISTS", "shop:user:1"]).integer(), 1);
        assert_eq!(bench.undo(&plan).unwrap().undone, 1);
        assert_eq!(bench.redis(&["EXISTS", "shop:user:2"]).integer(), 1);
    }
}

#[test]
fn a_copy_is_saved_before_its_original_is_looked_for() {
    let clustered =
        phase("dual-write").replace("name = \"shop\"", "name = \"shop\"\ncluster = true");
    for bench in Bench::all(&clustered) {
        bench.redis(&["HSET", "shop:user:2", "name", "its old name was removed"]);
        let version = keyward_pattern::derived("shop:", "shop:user:2", "version").unwrap();
        bench.redis(&["SET", &version, "20"]);
        let migrations = [("v2".to_owned(), "dual-write".to_owned())].into();
        let values = std::collections::BTreeMap::new();
        let order = keyward_plan::Order::Migrate { migrations, values, remove_lone: true };
        let plan = bench.plan_of(order).unwrap();
        // The server notes all that it does, in its order.
        bench.redis(&["CONFIG", "SET", "slowlog-max-len", "100000"]);
        bench.redis(&["CONFIG", "SET", "slowlog-log-slower-than", "0"]);
        assert!(bench.apply(&plan).unwrap().converged);
        bench.redis(&["CONFIG", "SET", "slowlog-log-slower-than", "-1"]);
        let Reply::Array(log) = bench.redis(&["SLOWLOG", "GET", "-1"]) else { panic!("no log") };
        let mut done = Vec::new();
        for entry in log.into_iter().rev() {
            let Reply::Array(entry) = entry else { panic!("{entry:?}") };
            let Some(Reply::Array(words)) = entry.into_iter().nth(3) else { panic!("no command") };
            let words: Vec<String> = words.into_iter().map(|it| it.text()).collect();
            done.push(words.join(" "));
        }
        let place = |what: &str| done.iter().position(|it| it.starts_with(what)).unwrap();
        let looked = done.iter().rposition(|it| it == "EXISTS User:2").unwrap();
        assert!(place("DUMP shop:user:2") < looked && looked < place("EVALSHA "), "{done:#?}");
        assert_eq!(bench.redis(&["EXISTS", "shop:user:2"]).integer(), 0);
        assert_eq!(bench.redis(&["GET", &version]).text(), "20", "a late copy is older");
    }
}

#[test]
fn of_several_old_names_the_first_counts() {
    let several =
        |at: &str| phase(at).replace("user = \"User:{id}\"", "user = [\"v2u:{id}\", \"v1u:{id}\"]");
    for at in ["dual-write", "read-fallback"] {
        for bench in Bench::all(&several(at)) {
            for id in 1..=20 {
                bench.redis(&["HSET", &format!("v1u:{id}"), "name", "one"]);
                bench.redis(&["HSET", &format!("v2u:{id}"), "name", "two"]);
            }
            bench.redis(&["HSET", "v1u:21", "name", "one"]);
            let plan = bench.plan();
            assert_eq!((plan.changes(), plan.conflicts()), (21, 0));
            let applied = bench.apply(&plan).unwrap();
            assert!(applied.converged, "{applied:?}");
            assert_eq!(applied.changed, 21);
            for id in 1..=20 {
                let name = bench.redis(&["HGET", &format!("shop:user:{id}"), "name"]).text();
                assert_eq!(name, "two");
            }
            assert_eq!(bench.redis(&["HGET", "shop:user:21", "name"]).text(), "one");
            let undone = bench.undo(&plan).unwrap();
            assert_eq!((undone.undone, undone.conflicts), (21, 0));
        }
    }
}

#[test]
fn an_old_name_that_stores_would_not_spell_so_is_a_conflict() {
    let recased = phase("read-fallback").replace(
        "lock = \"Lock:{name}\"",
        "lock = { pattern = \"LOCK:{name}\", recase = { name = \"lower\" } }",
    );
    for bench in Bench::all(&recased) {
        bench.redis(&["SET", "LOCK:AB", "upper", "PX", "60000"]);
        bench.redis(&["SET", "LOCK:Ab", "mixed", "PX", "60000"]);
        let plan = bench.plan();
        assert_eq!((plan.changes(), plan.conflicts()), (1, 1), "{:?}", plan.rows);
        bench.apply(&plan).unwrap();
        assert_eq!(bench.redis(&["GET", "shop:lock:ab"]).text(), "upper");
    }
}

#[test]
fn a_cleanup_spares_what_its_new_name_does_not_hold() {
    let brief = phase("cleanup").replace("phase = ", "old_ttl = \"1h\"\nphase = ");
    for text in [phase("cleanup"), brief] {
        for bench in Bench::all(&text) {
            bench.redis(&["HSET", "User:1", "name", "only here"]);
            bench.redis(&["HSET", "User:2", "name", "ann"]);
            bench.redis(&["SET", "shop:user:2", "of another type"]);
            let plan = bench.plan();
            assert_eq!((plan.changes(), plan.conflicts()), (0, 2), "{:?}", plan.rows);
            let reasons = plan.rows.iter().flat_map(|row| &row.conflicts).count();
            assert_eq!(reasons, 2, "each is shown with its reason");
            bench.apply(&plan).unwrap();
            assert_eq!(bench.redis(&["PTTL", "User:1"]).integer(), -1);
            assert_eq!(bench.redis(&["PTTL", "User:2"]).integer(), -1);
        }
    }
}

#[test]
fn a_copy_is_not_taken_back_while_programs_rely_on_it() {
    for mut bench in Bench::all(&phase("read-fallback")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        let plan = bench.plan();
        bench.apply(&plan).unwrap();
        bench.schema(&phase("cleanup"));
        let error = bench.undo(&plan).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("`cleanup`"), "{error}");
        assert_eq!(bench.redis(&["EXISTS", "shop:user:1"]).integer(), 1);
    }
}

#[test]
fn a_drop_of_everything_leaves_the_markers_of_plans() {
    for bench in Bench::all(&phase("dual-write")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        let target = keyward_plan::Target::Glob("*".to_owned());
        let order = keyward_plan::Order::Drop { target, no_backup: false };
        let plan = bench.plan_of(order).unwrap();
        assert!(bench.apply(&plan).unwrap().converged);
        assert_eq!(bench.redis(&["DBSIZE"]).integer(), 1);
        assert_eq!(bench.undo(&plan).unwrap().undone, 1);

        // Without its journal, what was changed could not be undone.
        let journal = bench.folder.path().join(format!("{}.journal", plan.id));
        std::fs::write(&journal, "").unwrap();
        for error in [bench.apply(&plan).unwrap_err(), bench.undo(&plan).unwrap_err()] {
            assert!(error.is_usage() && error.to_string().contains("or empty"), "{error}");
        }
        std::fs::remove_file(journal).unwrap();
        let error = bench.apply(&plan).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("is not there"), "{error}");
    }
}

#[test]
fn a_cleanup_removes_what_stands_alone_if_it_is_told_to() {
    for bench in Bench::all(&phase("cleanup")) {
        bench.redis(&["HSET", "User:1", "name", "only here"]);
        let migrations = [("v2".to_owned(), "cleanup".to_owned())].into();
        let values = std::collections::BTreeMap::new();
        let order = keyward_plan::Order::Migrate { migrations, values, remove_lone: true };
        let plan = bench.plan_of(order).unwrap();
        assert_eq!((plan.changes(), plan.conflicts()), (1, 0));
        assert!(bench.apply(&plan).unwrap().converged);
        assert_eq!(bench.redis(&["EXISTS", "User:1"]).integer(), 0);
        assert_eq!(bench.undo(&plan).unwrap().undone, 1);
    }
}

#[test]
fn a_copy_is_not_taken_back_when_its_original_was_changed() {
    for bench in Bench::all(&phase("dual-write")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        let plan = bench.plan();
        assert!(bench.apply(&plan).unwrap().converged);
        bench.redis(&["HSET", "User:1", "name", "anna"]);
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (0, 1));
        assert_eq!(bench.redis(&["HGET", "shop:user:1", "name"]).text(), "ann");
        assert_eq!(bench.redis(&["HGET", "User:1", "name"]).text(), "anna");
    }
}

#[test]
fn what_looks_like_an_old_name_and_is_none_is_counted_and_stays() {
    for mut bench in Bench::all(&phase("dual-write")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        bench.redis(&["HSET", "User:ann", "name", "ids are numbers"]);
        bench.redis(&["HSET", "User:1:cart", "name", "something else"]);
        let plan = bench.plan();
        assert_eq!((plan.changes(), plan.conflicts()), (1, 0));
        let unread = |plan: &keyward_plan::Plan| -> u64 {
            let counts = plan.rows.iter().flat_map(|row| &row.counts);
            counts.filter(|(name, _)| name.contains("cannot be read")).map(|(_, count)| count).sum()
        };
        assert_eq!(unread(&plan), 2);
        let remarks = keyward_plan::lint(&plan);
        assert!(remarks.iter().any(|it| it.keys == 2 && it.text.contains("cannot be read")));
        assert!(bench.apply(&plan).unwrap().converged);
        bench.schema(&phase("cleanup"));
        let plan = bench.plan();
        assert!(bench.apply(&plan).unwrap().converged);
        assert_eq!(unread(&plan), 2);
        assert_eq!(bench.redis(&["HGET", "User:ann", "name"]).text(), "ids are numbers");
    }
}

#[test]
fn what_is_left_under_old_names_does_not_end_at_once() {
    let short = phase("cleanup").replace("phase =", "old_ttl = \"100s\"\nphase =");
    for bench in Bench::all(&short) {
        for id in 1..=50 {
            bench.redis(&["HSET", &format!("User:{id}"), "name", "ann"]);
            bench.redis(&["HSET", &format!("shop:user:{id}"), "name", "ann"]);
        }
        let plan = bench.plan();
        let applied = bench.apply(&plan).unwrap();
        assert_eq!((applied.changed, applied.converged), (50, true));
        let ttl = |id: u32| bench.redis(&["PTTL", &format!("User:{id}")]).integer();
        let ttls: Vec<i64> = (1..=50).map(ttl).collect();
        assert!(ttls.iter().all(|ttl| (1..=100_000).contains(ttl)), "{ttls:?}");
        let (first, last) = (ttls.iter().min().unwrap(), ttls.iter().max().unwrap());
        assert!(last - first > 5_000, "{first} to {last}");
        assert_eq!(bench.apply(&plan).unwrap().changed, 0, "the second time changes nothing");
    }
}

#[test]
fn a_user_who_could_not_undo_may_not_remove() {
    for bench in Bench::all(&phase("cleanup")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        bench.redis(&["HSET", "shop:user:1", "name", "ann"]);
        bench.redis(&["ACL", "SETUSER", "planner", "on", ">x", "~*", "&*", "+@all", "-restore"]);
        let url = bench.url().replace("redis://", "redis://planner:x@");
        let apply = |plan: &keyward_plan::Plan| {
            let (mask, control) = (bench.mask(), keyward_plan::Control::default());
            keyward_plan::apply(plan, &url, &bench.schema, &bench.options(plan), &mask, &control)
        };
        let plan = bench.plan();
        let error = apply(&plan).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("RESTORE"), "{error}");
        assert_eq!(bench.redis(&["EXISTS", "User:1"]).integer(), 1);
        let drop = |no_backup| {
            let target = keyward_plan::Target::Glob("User:*".to_owned());
            bench.plan_of(keyward_plan::Order::Drop { target, no_backup }).unwrap()
        };
        assert!(apply(&drop(false)).unwrap_err().help().contains("--no-backup"));
        assert_eq!(apply(&drop(true)).unwrap().changed, 1);
    }
}

#[test]
fn copies_that_do_not_fit_are_not_begun() {
    for bench in Bench::all(&phase("dual-write")) {
        let page = "x".repeat(2_000);
        for id in 1..=300 {
            bench.redis(&["HSET", &format!("User:{id}"), "page", &page]);
        }
        let remarks = |plan: &keyward_plan::Plan| keyward_plan::lint(plan);
        let plan = bench.plan();
        let bytes = plan.rows.iter().filter_map(|row| row.copy_bytes).sum::<u64>();
        assert!((600_000..900_000).contains(&bytes), "{bytes}");
        assert!(remarks(&plan).iter().all(|it| it.kind != "memory"), "there is no bound");

        let info = bench.redis(&["INFO", "memory"]).text();
        let used = info.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap();
        let most = (used.parse::<u64>().unwrap() + 300_000).to_string();
        bench.redis(&["CONFIG", "SET", "maxmemory", &most]);
        bench.redis(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
        let told = bench.plan();
        let remark = remarks(&told).into_iter().find(|it| it.kind == "memory").unwrap();
        assert!(remark.text.contains("evict other keys (`allkeys-lru`)"), "{}", remark.text);
        // What counts is what the servers have left when it begins.
        let error = bench.apply(&plan).unwrap_err();
        assert!(error.is_usage() && error.help().contains("--accept-full"), "{error}");
        assert_eq!(bench.redis(&["EXISTS", "shop:user:1"]).integer(), 0);
        bench.redis(&["CONFIG", "SET", "maxmemory", "0"]);
        assert!(bench.apply(&told).unwrap().converged);
    }
}
