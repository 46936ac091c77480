//! What is refused, waited for or not believed, on real servers.

use crate::bench::{Bench, Host, SCHEMA};
use keyward_plan::{Control, Error, MakeOptions, Order, Plan, Target};
use keyward_testkit::{Flavor, wait_until};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

fn phase(phase: &str) -> String {
    SCHEMA.replace("PHASE", phase)
}

fn full(error: &Error) -> String {
    format!("{error}: {}", error.help())
}

#[test]
fn keys_that_have_something_beside_them_are_not_renamed_at_once() {
    const SCHEMA: &str = r#"
version = 1
[keyspace]
name = "app"
[keys.session]
pattern = "session:{id:hex}"
session = { index = "sessions", max_age = "30d" }
fields = { user_id = "uint" }
ttl = "1h"
sliding = true
[keys.sessions]
pattern = "sessions:{user_id:uint}"
type = "set"
member = { key = "session" }
ttl = "30d"
[keys.jobs]
pattern = "jobs"
queue = { dead_letter = "failed" }
value = "text"
[keys.failed]
pattern = "failed"
type = "list"
value = "json"
ttl = "none"
"#;
    for bench in Bench::all(SCHEMA) {
        bench.redis(&["HSET", "s-1", "user_id", "7"]);
        bench.redis(&["RPUSH", "j", "x"]);
        let rename = |from: &str, to: &str| {
            let (from, to) = (from.to_owned(), to.to_owned());
            bench.plan_of(Order::Rename { from, to, values: BTreeMap::new() })
        };
        let why = full(&rename("s-{id}", "session").unwrap_err());
        assert!(why.contains("`session` is a `session`"), "{why}");
        for to in ["jobs", "failed"] {
            let why = full(&rename("j", to).unwrap_err());
            assert!(why.contains("holds jobs") && why.contains("[migrations]"), "{why}");
        }
    }
}

#[test]
fn a_server_that_does_not_say_when_keys_were_used_stops_the_step() {
    for mut bench in Bench::all(&phase("read-fallback")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        bench.redis(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lfu"]);
        let plan = bench.plan();
        assert_eq!((plan.rows[0].idle_seconds, plan.rows[0].unseen_use), (None, 1));
        bench.accept_recent = false;
        let why = full(&bench.apply(&plan).unwrap_err());
        assert!(why.contains("was not seen") && why.contains("--accept-recent"), "{why}");
        let options = MakeOptions::new(keyward_audit::live::Options::default(), bench.now);
        let (mask, control) = (bench.mask(), Control::default());
        let (url, none) = (bench.url(), BTreeMap::new());
        let found =
            keyward_plan::status(&url, &bench.schema, &none, &options, &mask, &control).unwrap().0;
        assert!(found[0].obstacles.iter().any(|it| it.contains("was not seen")), "{found:?}");
        bench.accept_recent = true;
        assert!(bench.apply(&plan).unwrap().converged);
    }
}

/// Redis keeps small numbers once for all keys: the idle time is that of the number.
#[test]
fn small_numbers_do_not_say_when_their_keys_were_used() {
    for bench in Bench::all(&phase("read-fallback")) {
        bench.redis(&["SET", "Lock:a", "5", "PX", "60000"]);
        let is_shared =
            bench.redis(&["OBJECT", "REFCOUNT", "Lock:a"]).integer() == i64::from(i32::MAX);
        let plan = bench.plan();
        let row = plan.rows.iter().find(|row| row.keys.starts_with("Lock:")).unwrap();
        assert_eq!((row.idle_seconds.is_none(), row.unseen_use == 1), (is_shared, is_shared));
    }
}

#[test]
fn nothing_is_taken_back_that_a_connected_client_relies_on() {
    for mut bench in Bench::all(&phase("dual-write")) {
        bench.redis(&["HSET", "User:1", "name", "ann"]);
        let plan = bench.plan();
        assert!(bench.apply(&plan).unwrap().converged);
        let mut client = bench.connect();
        client.command(&["CLIENT", "SETNAME", "keyward:shop:v2=read-fallback"]).unwrap();
        let why = full(&bench.undo(&plan).unwrap_err());
        assert!(why.contains("is beyond the phase `dual-write`"), "{why}");
        assert_eq!(bench.redis(&["EXISTS", "shop:user:1"]).integer(), 1);
        client.command(&["CLIENT", "SETNAME", "celery"]).unwrap();
        bench.accept_unnamed = false;
        let why = full(&bench.undo(&plan).unwrap_err());
        assert!(why.contains("--accept-unnamed"), "{why}");
        client.command(&["CLIENT", "SETNAME", "keyward:shop:v2=dual-write"]).unwrap();
        assert_eq!(bench.undo(&plan).unwrap().undone, 1);
    }
}

#[test]
fn a_node_without_room_for_its_share_is_named() {
    let text = phase("dual-write").replace("name = \"shop\"", "name = \"shop\"\ncluster = true");
    let text = text.replace("lock = \"Lock:{name}\"\n", "");
    let bench = Bench::cluster(Flavor::Redis, &text.replace("User:{id}", "User:{#id}"));
    let page = "x".repeat(2_000);
    for id in 1..=300 {
        bench.redis(&["HSET", &format!("User:{{{id}}}"), "page", &page]);
    }
    // Nothing is left on the node of one key; all others have no bound.
    bench.redis(&["CONFIG", "SET", "maxmemory", "1000000000"]);
    let plan = bench.plan();
    assert_eq!(plan.too_large, None);
    let crate::bench::Host::Many(cluster) = &bench.host else { panic!("a cluster") };
    let node = cluster.primary_of("{1}");
    node.command(&["CONFIG", "SET", "maxmemory", "1"]);
    node.command(&["CONFIG", "SET", "maxmemory-policy", "volatile-ttl"]);
    let why = full(&bench.apply(&plan).unwrap_err());
    assert!(why.contains("evict other keys (`volatile-ttl`)"), "{why}");
    node.command(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(bench.apply(&plan).unwrap().changed, 300);
}

#[test]
fn a_server_that_cannot_save_is_waited_for_aloud() {
    for bench in Bench::all(&phase("dual-write")) {
        let bench = Arc::new(bench);
        for id in 1..=50 {
            bench.redis(&["HSET", &format!("User:{id}"), "name", "ann"]);
        }
        let plan = bench.plan();
        // As if its disk were full: there is no place for its snapshot.
        let folder = bench.redis(&["CONFIG", "GET", "dir"]).array().remove(1).text();
        let file = bench.redis(&["CONFIG", "GET", "dbfilename"]).array().remove(1).text();
        let place = std::path::Path::new(&folder).join(file);
        let said = |word: &str| bench.redis(&["INFO", "persistence"]).text().contains(word);
        let control = Arc::new(Control::default());
        control.pause(true);
        let running = {
            let (bench, control, plan) = (bench.clone(), control.clone(), plan.clone());
            thread::spawn(move || {
                let (url, options) = (bench.url(), bench.options(&plan));
                keyward_plan::apply(&plan, &url, &bench.schema, &options, &bench.mask(), &control)
            })
        };
        wait_until("the plan has begun", || control.progress().expected > 0);
        bench.redis(&["CONFIG", "SET", "save", "3600 1"]);
        // It may be saved just now.
        wait_until("no snapshot is made", || said("rdb_bgsave_in_progress:0"));
        _ = std::fs::remove_file(&place);
        std::fs::create_dir(&place).unwrap();
        bench.redis(&["BGSAVE"]);
        wait_until("it has failed", || said("rdb_last_bgsave_status:err"));
        control.pause(false);
        wait_until("it is waited for", || {
            control.lost().is_some_and(|why| why.contains("MISCONF"))
        });
        std::fs::remove_dir(&place).unwrap();
        bench.redis(&["CONFIG", "SET", "stop-writes-on-bgsave-error", "no"]);
        let applied = running.join().unwrap().unwrap();
        assert_eq!((applied.changed, applied.converged), (50, true));
    }
}

#[test]
fn a_replica_that_falls_behind_is_waited_for() {
    let (primary, replica) = (Flavor::Redis.server().start(), Flavor::Redis.server().start());
    let bench = Bench::at(crate::bench::Host::One(primary), &phase("dual-write"));
    let bench = Arc::new(bench);
    for id in 1..=60 {
        bench.redis(&["HSET", &format!("User:{id}"), "name", "ann"]);
    }
    let plan = bench.plan();
    let port = bench.redis(&["CONFIG", "GET", "port"]).array().remove(1).text();
    replica.command(&["REPLICAOF", "127.0.0.1", &port]);
    wait_until("the replica is online", || {
        bench.redis(&["INFO", "replication"]).text().contains("state=online")
    });
    let info = replica.command(&["INFO", "server"]).text();
    let id = info.lines().find_map(|line| line.strip_prefix("process_id:")).unwrap().to_owned();
    let signal = |which: &str| {
        let sent = std::process::Command::new("kill").args([which, &id]).status();
        assert!(sent.unwrap().success());
    };
    signal("-STOP");
    let page = "x".repeat(1024 * 1024);
    for number in 0..40 {
        bench.redis(&["SET", &format!("big:{number}"), &page]);
    }
    let control = Arc::new(Control::default());
    // Replicas are asked about once a second.
    control.rate(20);
    let running = {
        let (bench, control) = (bench.clone(), control.clone());
        thread::spawn(move || {
            let (url, mut options) = (bench.url(), bench.options(&plan));
            options.live.bound =
                options.live.bound.map(|it| keyward_audit::live::Bound { max_ops: Some(20), ..it });
            keyward_plan::apply(&plan, &url, &bench.schema, &options, &bench.mask(), &control)
        })
    };
    wait_until("the replica is waited for", || {
        control.lost().is_some_and(|why| why.contains("behind"))
    });
    signal("-CONT");
    control.rate(0);
    let applied = running.join().unwrap().unwrap();
    assert_eq!((applied.changed, applied.converged), (60, true));
    assert_eq!(control.lost(), None);
}

/// A plan that somebody has changed and sealed again.
fn forged(plan: &Plan, change: impl FnOnce(&mut Plan)) -> Plan {
    let mut plan = plan.clone();
    change(&mut plan);
    let approvals = std::mem::take(&mut plan.approvals);
    plan.seal = String::new();
    let text = serde_json::to_string(&plan).unwrap();
    plan.seal = sha1_smol::Sha1::from(text).digest().to_string();
    plan.approvals = approvals;
    Plan::parse(serde_json::to_string(&plan).unwrap().as_bytes(), "forged.json").unwrap()
}

#[test]
fn a_plan_that_was_changed_and_sealed_again_does_no_more_than_its_order() {
    let schema = phase("cleanup").replace("[keys.lock]", "owner = \"ann\"\n[keys.lock]");
    let schema =
        schema.replace("[migrations.v2]", "[plans]\nrequire_owner = true\n[migrations.v2]");
    for bench in Bench::all(&schema) {
        let approve = |plan: &mut Plan| {
            plan.approve("ann", "Ann", "2026-11-17T00:00:00Z".to_owned()).unwrap();
        };
        for name in ["shop:user:1", "User:1", "shop:user:2", "User:2"] {
            bench.redis(&["HSET", name, "name", "ann"]);
        }
        bench.redis(&["SET", "bank:account", "1"]);
        let plan = bench.plan();
        // Who must approve is in the schema: a file that asks nobody is refused.
        let error = bench.apply(&forged(&plan, |it| it.needs.clear())).unwrap_err();
        assert!(error.to_string().contains("`ann` has not approved"), "{error}");
        // Rows, samples and counts are for people: what they say is not done.
        let mut edited = forged(&plan, |it| {
            it.rows[0].keys = "bank:*".to_owned();
            it.rows[0].samples = vec!["bank:account".to_owned()];
            it.rows[0].definition = "lock".to_owned();
            it.preconditions.clear();
        });
        approve(&mut edited);
        assert_eq!(
            bench.apply(&edited).unwrap().changed,
            2,
            "the old names, as without the forgery"
        );
        assert_eq!(bench.redis(&["GET", "bank:account"]).text(), "1");
        // Another order needs a schema that says so, and its hash.
        let target = Target::Definition { name: "lock".to_owned(), values: BTreeMap::new() };
        let other = forged(&plan, |it| it.order = Order::Drop { target, no_backup: true });
        let mut approved = other.clone();
        approved.approvals = edited.approvals.clone();
        let error = bench.apply(&approved).unwrap_err();
        assert!(error.to_string().contains("the schema says something else"), "{error}");
        let gone = forged(&plan, |it| {
            let migrations = BTreeMap::from([("v9".to_owned(), "cleanup".to_owned())]);
            it.order = Order::Migrate { migrations, values: BTreeMap::new(), remove_lone: true };
        });
        assert!(bench.apply(&gone).unwrap_err().to_string().contains("no migration `v9`"));
        // Nor does it name a journal or a socket elsewhere.
        let text = serde_json::to_string(&plan).unwrap().replace(&plan.id, "../../../etc/pass");
        assert!(Plan::parse(text.as_bytes(), "x").unwrap_err().to_string().contains("its id"));
    }
}

#[test]
fn a_server_without_memory_is_explained_by_an_undo() {
    for bench in Bench::all(&phase("cleanup")) {
        bench.redis(&["HSET", "shop:user:1", "name", "ann"]);
        let target = Target::Definition { name: "user".to_owned(), values: BTreeMap::new() };
        let plan = bench.plan_of(Order::Drop { target, no_backup: false }).unwrap();
        assert_eq!(bench.apply(&plan).unwrap().changed, 1);
        bench.redis(&["CONFIG", "SET", "maxmemory", "1"]);
        let error = bench.undo(&plan).unwrap_err();
        assert!(error.help().contains("has reached `maxmemory`"), "{}", full(&error));
        assert!(!error.is_usage());
        bench.redis(&["CONFIG", "SET", "maxmemory", "0"]);
        assert_eq!(bench.undo(&plan).unwrap().undone, 1, "it goes on");
    }
}

#[test]
fn a_server_that_was_restarted_without_the_marker_is_known_by_what_the_journal_says() {
    for bench in Bench::all(&phase("dual-write")) {
        for id in 1..=40 {
            bench.redis(&["HSET", &format!("User:{id}"), "name", "ann"]);
        }
        let plan = bench.plan();
        assert_eq!(bench.apply(&plan).unwrap().changed, 40);
        let marker = bench.redis(&["KEYS", "shop:~plan:*"]).array().remove(0).text();
        bench.redis(&["DEL", &marker]);
        let Host::One(server) = &bench.host else { unreachable!() };
        server.save();
        server.kill();
        server.restart();
        let why = full(&bench.undo(&plan).unwrap_err());
        assert!(why.contains("not the server") && why.contains("--accept-restarted"), "{why}");

        let mut options = bench.options(&plan);
        options.accept_restarted = true;
        let undo = |url: &str| {
            let control = Control::default();
            keyward_plan::undo(&plan, url, &bench.schema, &options, &bench.mask(), &control)
        };
        // Another server is not believed to be this one.
        let other = server.flavor().server().start();
        let why = full(&undo(&other.url()).unwrap_err());
        assert!(why.contains("of 40 keys that the plan has changed, 0 are"), "{why}");
        // Some keys may have gone meanwhile.
        bench.redis(&["DEL", "User:1", "shop:user:1"]);
        let (url, mask, control) = (bench.url(), bench.mask(), Control::default());
        let applied =
            keyward_plan::apply(&plan, &url, &bench.schema, &options, &mask, &control).unwrap();
        assert_eq!((applied.changed, applied.converged), (0, true));
        bench.redis(&["DEL", &marker]);
        assert_eq!(undo(&bench.url()).unwrap().undone, 39);
        // What was taken back leaves nothing to know a server by.
        let why = full(&undo(&bench.url()).unwrap_err());
        assert!(why.contains("names no key") && why.contains("make the plan again"), "{why}");
    }
}

#[test]
fn an_undo_names_its_conflicts_until_the_plan_is_applied_again() {
    for bench in Bench::all(&phase("dual-write")) {
        for id in 1..=3 {
            bench.redis(&["HSET", &format!("User:{id}"), "name", "ann"]);
        }
        let plan = bench.plan();
        bench.apply(&plan).unwrap();
        bench.redis(&["HSET", "shop:user:2", "name", "bob"]);
        for round in [2, 0] {
            let undone = bench.undo(&plan).unwrap();
            assert_eq!((undone.undone, undone.conflicts), (round, 1));
        }
        // What the plan does from now on is all that is taken back.
        assert!(bench.apply(&plan).unwrap().converged);
        assert_eq!(bench.redis(&["HGET", "shop:user:2", "name"]).text(), "ann");
        let undone = bench.undo(&plan).unwrap();
        assert_eq!(
            (undone.undone, undone.conflicts),
            (3, 0),
            "three copies, of which one had replaced something"
        );
        assert_eq!(bench.redis(&["HGET", "shop:user:2", "name"]).text(), "bob");
    }
}
