//! Queues that are renamed, on real servers: no plan copies a job, and none is lost.

use crate::bench::{Bench, Host};
use keyward::Store;
use keyward::queue::{Failure, Job, Push};
use keyward_plan::{Applied, Buried, Control, MakeOptions, Order, Plan, Status};
use keyward_testkit::{Flavor, Server, wait_until};
use std::collections::BTreeMap;
use std::sync::Mutex;
use tokio::sync::watch;

keyward::keyspace!("tests/plan/queues_dual_write.toml");
keyward::keyspace!("tests/plan/queues_read_fallback.toml");

use queues_dual_write::{fields, keys};

/// The schema in a phase. The name of the keyspace is that of the stores of another.
fn phase(name: &str) -> String {
    let text = include_str!("queues_dual_write.toml");
    let text = text.replace("phase = \"dual-write\"", &format!("phase = \"{name}\""));
    text.replace("queues-dual-write", "queues")
}

fn status(bench: &Bench) -> Status {
    let options = MakeOptions::new(keyward_audit::live::Options::default(), bench.now);
    let (url, schema, mask) = (bench.url(), &bench.schema, bench.mask());
    let none = BTreeMap::new();
    let found = keyward_plan::status(&url, schema, &none, &options, &mask, &Control::default());
    found.unwrap().0.pop().unwrap()
}

fn left(applied: &Applied, word: &str) -> u64 {
    applied.left.iter().flatten().filter(|(name, _)| name.contains(word)).map(|it| it.1).sum()
}

fn apply(bench: &Bench, plan: &Plan) -> Applied {
    bench.apply(plan).unwrap()
}

fn to(name: &str) -> fields::Mail {
    fields::Mail { to: name.to_owned() }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Ends the workers of a test that fails, too.
struct End(watch::Sender<bool>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

/// Runs a worker of each queue, in the phase `read-fallback`, beside something else. What ran, in order.
fn while_working(
    url: &str,
    stop_when: impl Fn(usize) -> bool,
    beside: impl FnOnce(),
) -> Vec<String> {
    let ran = Mutex::new(Vec::new());
    let (end, is_over) = watch::channel(false);
    let stopped = || {
        let mut is_over = is_over.clone();
        // Whoever would say so is gone only if it is over.
        async move { _ = is_over.wait_for(|it| *it).await }
    };
    let work = async {
        let store = Store::builder(url).lazy().unwrap();
        let jobs = store.at(queues_read_fallback::keys::Job {}).worker().until(stopped());
        let mails = store.at(queues_read_fallback::keys::Mail {}).worker().until(stopped());
        let jobs = jobs.run(async |job: Job<String>| {
            ran.lock().unwrap().push(format!("job {}", job.value));
            Ok(())
        });
        let mails = mails.run(async |job: Job<queues_read_fallback::fields::Mail>| {
            ran.lock().unwrap().push(format!("mail {}", job.value.to));
            Ok(())
        });
        let (jobs, mails) = tokio::join!(jobs, mails);
        jobs.unwrap();
        mails.unwrap();
    };
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| runtime().block_on(work));
        let end = End(end);
        beside();
        wait_until("the jobs are done", || stop_when(ran.lock().unwrap().len()));
        drop(end);
        worker.join().unwrap();
    });
    ran.into_inner().unwrap()
}

#[test]
fn no_plan_copies_jobs_that_workers_take_from_both_names() {
    for server in Server::all() {
        let mut bench = Bench::at(Host::One(server), &phase("dual-write"));
        let url = bench.url();
        runtime().block_on(async {
            let store = Store::builder(&*url).lazy().unwrap();
            let (jobs, mails) = (store.at(keys::Job {}), store.at(keys::Mail {}));
            for number in 0..50 {
                let name = number.to_string();
                jobs.push(&name).await.unwrap();
                mails.push_with(&to(&name), Push::new().id(&name)).await.unwrap();
            }
        });
        let mut ran = while_working(
            &url,
            |ran| ran >= 100,
            || {
                for name in ["dual-write", "read-fallback"] {
                    bench.schema(&phase(name));
                    let plan = bench.plan();
                    assert_eq!((plan.changes(), plan.conflicts()), (0, 0), "{:?}", plan.rows);
                    let applied = apply(&bench, &plan);
                    assert_eq!((applied.changed, applied.converged), (0, true));
                }
            },
        );
        ran.sort();
        let mut once = ran.clone();
        once.dedup();
        assert_eq!((ran.len(), once.len()), (100, 100), "each ran once: {ran:?}");
        let waiting = |command: &str, key: &str| bench.redis(&[command, key]).integer();
        assert_eq!(waiting("LLEN", "new:job") + waiting("LLEN", "OLD:Job"), 0);
        assert_eq!(waiting("XLEN", "new:mail") + waiting("XLEN", "OLD:Mail"), 0);
    }
}

#[test]
fn cleanup_waits_until_an_old_queue_and_all_beside_it_are_empty() {
    for server in Server::all() {
        let mut bench = Bench::at(Host::One(server), &phase("read-fallback"));
        let refused = |bench: &Bench, why: &str| {
            let stands = status(bench);
            assert!(stands.next.contains("`phase = \"read-fallback\"` again"), "{}", stands.next);
            let plan = bench.plan();
            assert_eq!((plan.changes(), plan.conflicts()), (0, 1), "{why}: {:?}", plan.rows);
            let applied = apply(bench, &plan);
            assert_eq!((applied.changed, applied.converged), (0, false), "{why}");
            assert_eq!(left(&applied, "not empty"), 1, "{why}");
        };
        // The new names have values too: that makes no job superfluous.
        bench.redis(&["RPUSH", "new:job", "a"]);
        bench.redis(&["XADD", "new:mail", "*", "to", "a"]);
        let jobs = "new:~jobs:{OLD:Job}";
        let cases: [(&[&str], &[&str]); 7] = [
            (&["RPUSH", "OLD:Job", "x"], &["DEL", "OLD:Job"]),
            (&["XADD", "OLD:Mail", "*", "to", "x"], &["DEL", "OLD:Mail"]),
            (&["RPUSH", "new:~taken:{OLD:Job}", "x"], &["DEL", "new:~taken:{OLD:Job}"]),
            (&["ZADD", "new:~leases:{OLD:Job}", "1", "7"], &["DEL", "new:~leases:{OLD:Job}"]),
            (&["ZADD", "new:~due:{OLD:Mail}", "1", "7"], &["DEL", "new:~due:{OLD:Mail}"]),
            (&["ZADD", "new:~ready:{OLD:Job}", "0", "7"], &["DEL", "new:~ready:{OLD:Job}"]),
            (&["HSET", jobs, "seq", "8", "m:7", "w 0 0 0 0 1 0:"], &["HDEL", jobs, "m:7"]),
        ];
        bench.schema(&phase("cleanup"));
        for (fill, empty) in cases {
            bench.redis(fill);
            refused(&bench, &fill.join(" "));
            bench.redis(empty);
        }
        // A job that has ended is retained, until its time is over.
        bench.redis(&["HSET", jobs, "m:7", "k 1 1 0 0 1 0:id"]);
        bench.redis(&["ZADD", "new:~done:{OLD:Job}", "99999999999999", "7"]);
        refused(&bench, "retained");
        bench.redis(&["ZADD", "new:~done:{OLD:Job}", "1", "7"]);
        let plan = bench.plan();
        assert_eq!((plan.changes(), plan.conflicts()), (1, 0));
        let applied = apply(&bench, &plan);
        assert_eq!((applied.changed, applied.converged), (1, true));
        for key in [jobs, "new:~done:{OLD:Job}"] {
            assert_eq!(bench.redis(&["EXISTS", key]).integer(), 0, "{key}");
        }
        assert_eq!(bench.redis(&["LLEN", "new:job"]).integer(), 1);
        assert_eq!(bench.undo(&plan).unwrap().undone, 1);
        assert_eq!(bench.redis(&["HGET", jobs, "seq"]).text(), "8");
        assert!(apply(&bench, &plan).converged);
        assert!(status(&bench).next.contains("remove `[migrations.v2]`"));
    }
}

#[test]
fn a_worker_empties_an_old_stream_which_then_goes() {
    for server in Server::all() {
        let mut bench = Bench::at(Host::One(server), &phase("read-fallback"));
        let url = bench.url();
        runtime().block_on(async {
            let store = Store::builder(&*url).lazy().unwrap();
            store.at(keys::Mail {}).push(&to("ann")).await.unwrap();
        });
        let stands = status(&bench);
        assert!(stands.next.starts_with("wait until workers have emptied"), "{}", stands.next);
        assert_eq!(while_working(&url, |ran| ran == 1, || {}), ["mail ann"]);
        assert!(status(&bench).next.contains("`phase = \"cleanup\"`"));
        bench.schema(&phase("cleanup"));
        let plan = bench.plan();
        assert_eq!((plan.changes(), plan.conflicts()), (1, 0), "{:?}", plan.rows);
        // Somebody who does not know of the migration is faster.
        bench.redis(&["XADD", "OLD:Mail", "*", "to", "bob"]);
        assert!(!apply(&bench, &plan).converged);
        assert_eq!(bench.redis(&["XLEN", "OLD:Mail"]).integer(), 1);
        bench.redis(&["XTRIM", "OLD:Mail", "MAXLEN", "0"]);
        assert!(apply(&bench, &plan).converged);
        assert_eq!(bench.redis(&["EXISTS", "OLD:Mail", "new:~jobs:{OLD:Mail}"]).integer(), 0);
        assert_eq!(bench.undo(&plan).unwrap().undone, 1);
        assert_eq!(bench.redis(&["TYPE", "OLD:Mail"]).text(), "stream");
    }
}

#[test]
fn dead_letters_are_not_copied_and_stay_until_somebody_has_dealt_with_them() {
    for server in Server::all() {
        let mut bench = Bench::at(Host::One(server), &phase("dual-write"));
        let url = bench.url();
        runtime().block_on(async {
            let store = Store::builder(&*url).lazy().unwrap();
            let jobs = store.at(keys::Job {});
            jobs.push(&"bad".to_owned()).await.unwrap();
            let run = jobs.worker().run(async |_: Job<String>| Err::<(), _>(Failure::fatal("no")));
            // Returns when there is a letter, and leaves it where it is.
            let mut connection = bench.connect();
            let failed = tokio::task::spawn_blocking(move || {
                let dead = "OLD:Failed";
                connection.command(&["BLMOVE", dead, dead, "LEFT", "LEFT", "20"]).unwrap()
            });
            tokio::select! {
                ended = run => panic!("{ended:?}"),
                letter = failed => assert!(letter.unwrap().text().contains("bad")),
            }
        });
        let plan = bench.plan();
        assert_eq!((plan.changes(), plan.conflicts()), (0, 0), "{:?}", plan.rows);
        assert!(apply(&bench, &plan).converged);
        assert_eq!(bench.redis(&["EXISTS", "new:failed"]).integer(), 0);
        bench.redis(&["RPUSH", "new:failed", "of a program in the next phase"]);
        for name in ["read-fallback", "cleanup"] {
            bench.schema(&phase(name));
            apply(&bench, &bench.plan());
            let next = status(&bench).next;
            assert!(next.starts_with("dead letters are left in `OLD:Failed`"), "{next}");
            assert_eq!(bench.redis(&["LLEN", "OLD:Failed"]).integer(), 1, "{name}");
        }
        assert_eq!(bench.plan().conflicts(), 1);
        let purge = bench.plan_of(Order::Purge(Buried::new("job".to_owned(), None)));
        assert_eq!(apply(&bench, &purge.unwrap()).changed, 2, "under both names");
        assert_eq!(bench.redis(&["EXISTS", "OLD:Failed"]).integer(), 0);
        assert_eq!(bench.plan().conflicts(), 0);
    }
}

#[test]
fn a_repair_of_old_names_and_of_copies_leaves_queues_alone() {
    for server in Server::all() {
        let overdue = phase("cleanup")
            .replace("[migrations.v2]", "[migrations.v2]\nremove_after = 2020-01-01");
        let mut bench = Bench::at(Host::One(server), &overdue);
        bench.redis(&["RPUSH", "OLD:Job", "x"]);
        bench.redis(&["RPUSH", "new:job", "y"]);
        let fix =
            || Order::Fix { rules: vec!["old-name".to_owned()], today: "2026-11-15".to_owned() };
        let plan = bench.plan_of(fix()).unwrap();
        assert_eq!((plan.changes(), plan.conflicts()), (0, 1), "{:?}", plan.rows);
        assert!(!apply(&bench, &plan).converged);
        assert_eq!(bench.redis(&["TTL", "OLD:Job"]).integer(), -1);
        bench.redis(&["DEL", "OLD:Job"]);
        bench.redis(&["XGROUP", "CREATE", "OLD:Mail", "keyward", "0", "MKSTREAM"]);
        let plan = bench.plan_of(fix()).unwrap();
        assert_eq!((plan.changes(), plan.conflicts()), (1, 0));
        assert!(apply(&bench, &plan).converged);

        // What stands under the new name alone was pushed by a program of the next phase.
        bench.schema(&phase("dual-write"));
        let migrations = BTreeMap::from([("v2".to_owned(), "dual-write".to_owned())]);
        let order = Order::Migrate { migrations, values: BTreeMap::new(), remove_lone: true };
        let plan = bench.plan_of(order).unwrap();
        assert_eq!((plan.changes(), plan.conflicts()), (0, 0), "{:?}", plan.rows);
        assert!(apply(&bench, &plan).converged);
        assert_eq!(bench.redis(&["LLEN", "new:job"]).integer(), 1);
    }
}

#[test]
fn queues_of_a_cluster_are_judged_where_they_are() {
    let text = phase("cleanup").replace("name = \"queues\"", "name = \"queues\"\ncluster = true");
    let text = text.replace("pattern = \"job\"", "pattern = \"job:{#kind:slug}\"");
    let text = text.replace("job = \"OLD:Job\"", "job = \"OLD:Job:{#kind}\"");
    let text = text.replace("dead_letter = \"failed\", max_attempts = 1", "");
    let bench = Bench::cluster(Flavor::Redis, &text);
    for kind in ["a", "b", "c", "d", "e"] {
        bench.redis(&["HSET", &format!("OLD:Job:{{{kind}}}~{{jobs}}"), "seq", "7"]);
    }
    bench.redis(&["ZADD", "OLD:Job:{c}~{leases}", "1", "7"]);
    let plan = bench.plan();
    assert_eq!((plan.changes(), plan.conflicts()), (4, 1), "{:?}", plan.rows);
    let applied = apply(&bench, &plan);
    assert_eq!((applied.changed, applied.converged), (4, false));
    assert_eq!(bench.redis(&["EXISTS", "OLD:Job:{c}~{jobs}"]).integer(), 1);
    assert_eq!(bench.redis(&["EXISTS", "OLD:Job:{a}~{jobs}"]).integer(), 0);
}
