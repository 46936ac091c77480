//! The way back, where keys were changed more than once, undone half, or by a run that was killed.

use crate::bench::{Bench, SCHEMA};
use keyward_plan::{Control, Order, Plan, Target};
use keyward_testkit::{Reply, wait_until};
use std::sync::Arc;
use std::thread;

fn phase(phase: &str) -> String {
    SCHEMA.replace("PHASE", phase)
}

fn drop_users(bench: &Bench) -> Plan {
    let target = Target::Definition { name: "user".to_owned(), values: [].into() };
    bench.plan_of(Order::Drop { target, no_backup: false }).unwrap()
}

fn name(bench: &Bench, key: &str) -> Option<String> {
    match bench.redis(&["HGET", key, "name"]) {
        Reply::Nil => None,
        found => Some(found.text()),
    }
}

#[test]
fn a_key_that_was_removed_twice_comes_back_as_it_was_last() {
    for bench in Bench::all(&phase("dual-write")) {
        bench.redis(&["HSET", "shop:user:1", "name", "first"]);
        bench.redis(&["HSET", "shop:user:2", "name", "once"]);
        let plan = drop_users(&bench);
        bench.apply(&plan).unwrap();
        bench.redis(&["HSET", "shop:user:1", "name", "second"]);
        bench.apply(&plan).unwrap();
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.same, undone.conflicts), (2, 0, 0));
        assert_eq!(name(&bench, "shop:user:1").as_deref(), Some("second"));
        assert_eq!(name(&bench, "shop:user:2").as_deref(), Some("once"));
    }
    for bench in Bench::all(&phase("cleanup")) {
        bench.redis(&["HSET", "User:1", "name", "first"]);
        bench.redis(&["HSET", "shop:user:1", "name", "new"]);
        let plan = bench.plan();
        bench.apply(&plan).unwrap();
        bench.redis(&["HSET", "User:1", "name", "second"]);
        bench.apply(&plan).unwrap();
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (1, 0));
        assert_eq!(name(&bench, "User:1").as_deref(), Some("second"));
    }
}

#[test]
fn what_an_undo_has_settled_another_one_leaves_alone() {
    for bench in Bench::all(&phase("dual-write")) {
        bench.redis(&["HSET", "shop:user:1", "name", "ann"]);
        bench.redis(&["HSET", "shop:user:2", "name", "bob"]);
        let plan = drop_users(&bench);
        bench.apply(&plan).unwrap();
        bench.redis(&["HSET", "shop:user:2", "name", "another"]);
        assert_eq!(bench.undo(&plan).unwrap().conflicts, 1);
        bench.redis(&["DEL", "shop:user:1"]);
        let again = bench.undo(&plan).unwrap();
        assert_eq!((again.undone, again.conflicts), (0, 1));
        assert_eq!(name(&bench, "shop:user:1"), None, "deleted since");
        // Once it was decided, the last one comes back, and nothing else.
        bench.redis(&["DEL", "shop:user:2"]);
        let decided = bench.undo(&plan).unwrap();
        assert_eq!((decided.undone, decided.conflicts), (1, 0));
        assert_eq!(name(&bench, "shop:user:1"), None);
        assert_eq!(name(&bench, "shop:user:2").as_deref(), Some("bob"));
    }
    for bench in Bench::all(&phase("dual-write")) {
        for (key, value) in [("User:1", "ann"), ("shop:user:1", "before"), ("User:2", "bob")] {
            bench.redis(&["HSET", key, "name", value]);
        }
        let plan = bench.plan();
        bench.apply(&plan).unwrap();
        bench.redis(&["HSET", "shop:user:2", "name", "another"]);
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (1, 1), "what is replaced counts once");
        assert_eq!(name(&bench, "shop:user:1").as_deref(), Some("before"));
        // What is written under the new name meanwhile is no copy of the plan.
        bench.redis(&["HSET", "shop:user:1", "name", "ann"]);
        let again = bench.undo(&plan).unwrap();
        assert_eq!((again.undone, again.conflicts), (0, 1));
        assert_eq!(name(&bench, "shop:user:1").as_deref(), Some("ann"));
        bench.redis(&["DEL", "shop:user:1"]);
        bench.undo(&plan).unwrap();
        assert_eq!(name(&bench, "shop:user:1"), None);
    }
}

#[test]
fn what_is_applied_again_after_a_partial_undo_is_undone_again() {
    for bench in Bench::all(&phase("dual-write")) {
        bench.redis(&["HSET", "shop:user:1", "name", "ann"]);
        bench.redis(&["HSET", "shop:user:2", "name", "bob"]);
        let plan = drop_users(&bench);
        bench.apply(&plan).unwrap();
        bench.redis(&["HSET", "shop:user:2", "name", "another"]);
        bench.undo(&plan).unwrap();
        bench.apply(&plan).unwrap();
        assert_eq!(bench.undo(&plan).unwrap().undone, 2);
        assert_eq!(name(&bench, "shop:user:1").as_deref(), Some("ann"));
        assert_eq!(name(&bench, "shop:user:2").as_deref(), Some("another"));
    }
}

/// Makes a journal what it was before its last bytes were written.
fn shorten_journal(bench: &Bench, plan: &Plan, bytes: u64) {
    use std::os::unix::fs::FileExt as _;
    let path = bench.options(plan).journal;
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    let length = file.metadata().unwrap().len() - bytes;
    file.set_len(length).unwrap();
    file.write_all_at(&length.to_le_bytes(), 16).unwrap();
}

#[test]
fn a_converted_value_that_a_killed_run_did_not_note_is_taken_back() {
    const CONVERTED: &str = include_str!("converted.toml");
    for bench in Bench::all(CONVERTED) {
        let (old, new) = ("Profile:1", "shop:profile:1");
        let put = || bench.redis(&["SET", old, r#"{"name": "ann", "visits": 1}"#, "PX", "900000"]);
        put();
        let plan = bench.plan();
        bench.apply(&plan).unwrap();
        // The last record, as it is where the program was killed just before: a letter, the database, the name and a digest,
        // each with its length, and a checksum.
        shorten_journal(&bench, &plan, 1 + 8 + 4 + new.len() as u64 + 4 + 40 + 4);
        assert!(bench.apply(&plan).unwrap().converged);
        assert_eq!(name(&bench, new).as_deref(), Some("ann"));
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (1, 0));
        assert_eq!(name(&bench, new), None);

        // What somebody has changed since stays.
        bench.apply(&plan).unwrap();
        shorten_journal(&bench, &plan, 1 + 8 + 4 + new.len() as u64 + 4 + 40 + 4);
        bench.redis(&["HSET", new, "visits", "2"]);
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (0, 1));
        assert_eq!(name(&bench, new).as_deref(), Some("ann"));
    }
}

#[test]
fn what_was_deleted_under_its_new_name_does_not_come_back_under_its_old_one() {
    for bench in Bench::all(&phase("cleanup")) {
        for key in ["User:1", "shop:user:1", "User:2", "shop:user:2"] {
            bench.redis(&["HSET", key, "name", "ann"]);
        }
        let plan = bench.plan();
        bench.apply(&plan).unwrap();
        bench.redis(&["DEL", "shop:user:1"]);
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (1, 1));
        assert_eq!(name(&bench, "User:1"), None);
        assert_eq!(name(&bench, "User:2").as_deref(), Some("ann"));
    }
}

#[test]
fn a_plan_changes_no_other_database_than_it_was_made_for() {
    for bench in Bench::all(&phase("dual-write")) {
        bench.redis(&["HSET", "shop:user:1", "name", "ann"]);
        let mut other = bench.connect();
        other.command(&["SELECT", "1"]).unwrap();
        other.command(&["HSET", "shop:user:1", "name", "of another database"]).unwrap();
        let plan = drop_users(&bench);
        assert_eq!(plan.db, 0);
        let at = |which: &str| {
            let (url, options) = (format!("{}/1", bench.url()), bench.options(&plan));
            let (mask, control) = (bench.mask(), Control::default());
            let failed = if which == "apply" {
                keyward_plan::apply(&plan, &url, &bench.schema, &options, &mask, &control).err()
            } else {
                keyward_plan::undo(&plan, &url, &bench.schema, &options, &mask, &control).err()
            };
            let error = failed.unwrap_or_else(|| panic!("{which} on another database"));
            assert!(error.is_usage());
            assert_eq!(
                format!("{error}: {}", error.help()),
                "the plan was made for database 0, and the URL names database 1: let the URL end with `/0`, or make a plan \
                 for database 1"
            );
        };
        at("apply");
        assert_eq!(other.command(&["EXISTS", "shop:user:1"]).unwrap().integer(), 1);
        bench.apply(&plan).unwrap();
        at("undo");
        assert_eq!(bench.undo(&plan).unwrap().undone, 1);
    }
}

#[test]
fn an_undo_waits_for_a_server_that_was_lost() {
    for bench in Bench::all(&phase("dual-write")) {
        let bench = Arc::new(bench);
        for id in 1..=50 {
            bench.redis(&["HSET", &format!("shop:user:{id}"), "name", "ann"]);
        }
        let plan = drop_users(&bench);
        bench.apply(&plan).unwrap();
        // As if its disk were full: there is no place for its snapshot.
        let folder = bench.redis(&["CONFIG", "GET", "dir"]).array().remove(1).text();
        let file = bench.redis(&["CONFIG", "GET", "dbfilename"]).array().remove(1).text();
        let place = std::path::Path::new(&folder).join(file);
        let said = |word: &str| bench.redis(&["INFO", "persistence"]).text().contains(word);
        bench.redis(&["CONFIG", "SET", "save", "3600 1"]);
        wait_until("no snapshot is made", || said("rdb_bgsave_in_progress:0"));
        _ = std::fs::remove_file(&place);
        std::fs::create_dir(&place).unwrap();
        bench.redis(&["BGSAVE"]);
        wait_until("it has failed", || said("rdb_last_bgsave_status:err"));
        let control = Arc::new(Control::default());
        let running = {
            let (bench, control) = (bench.clone(), control.clone());
            thread::spawn(move || {
                let (url, options) = (bench.url(), bench.options(&plan));
                keyward_plan::undo(&plan, &url, &bench.schema, &options, &bench.mask(), &control)
            })
        };
        wait_until("the server is waited for", || {
            control.lost().is_some_and(|why| why.contains("MISCONF"))
        });
        std::fs::remove_dir(&place).unwrap();
        bench.redis(&["CONFIG", "SET", "stop-writes-on-bgsave-error", "no"]);
        let undone = running.join().unwrap().unwrap();
        assert_eq!((undone.undone, undone.conflicts), (50, 0));
        assert_eq!(control.lost(), None);
    }
}

#[test]
fn leases_that_a_killed_run_has_left_are_waited_for() {
    for bench in Bench::all(include_str!("converted.toml")) {
        bench.redis(&["SET", "Profile:1", r#"{"name": "ann", "visits": 1}"#, "PX", "900000"]);
        let plan = bench.plan();
        let lease = keyward_pattern::derived("shop:", "shop:profile:1", "lease").unwrap();
        bench.redis(&["SET", &lease, "of a run that was killed", "PX", "3000"]);
        assert!(bench.apply(&plan).unwrap().converged);
        assert_eq!(name(&bench, "shop:profile:1").as_deref(), Some("ann"));
    }
}
