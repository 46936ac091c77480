//! What is known of jobs: their records, their statuses, and what is counted of them.

use super::jobs::{fields, keys, values};
use super::model::Task;
use super::queue::{kind, task};
use super::{on_all, patient, until};
use keyward::queue::{Failure, Job, JobState, Push};
use keyward::{Error, Store};
use keyward_testkit::{Reply, Server};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn work() -> keys::Work {
    keys::Work { kind: kind("a") }
}

fn plain() -> keys::Plain {
    keys::Plain { kind: kind("a") }
}

async fn state(store: &Store, job: &str) -> fields::State {
    let job = values::Job::new(job).unwrap();
    store.at(keys::State { job }).get().await.unwrap().expect("it has a status")
}

fn keys_of(server: &Server, hash: &str) -> BTreeSet<String> {
    server.command(&["HKEYS", hash]).array().into_iter().map(Reply::text).collect()
}

/// Lets all leases end, as if their workers had not been heard of.
fn end_leases(server: &Server, leases: &str) {
    for ticket in server.command(&["ZRANGE", leases, "0", "-1"]).array() {
        server.command(&["ZADD", leases, "1", &ticket.text()]);
    }
}

/// Pushes a job to `fair`, whose jobs are remembered, and lets it be handled.
async fn remember(store: &Store, id: &str) {
    let queue = store.at(keys::Fair { kind: kind("a") });
    queue.push_with(&id.to_owned(), Push::new().id(id)).await.unwrap();
    tokio::select! {
        ended = queue.worker().run(async |_: Job<String>| Ok("kept".to_owned())) => panic!("{ended:?}"),
        () = until("it has ended", async || {
            queue.status(id).await.unwrap().is_some_and(|job| job.state == JobState::Ended)
        }) => {}
    }
}

#[tokio::test]
async fn a_job_that_is_remembered_keeps_no_payload_and_is_forgotten_in_time() {
    on_all(async |server: &Server, store: Store| {
        let (jobs, done) = ("q:~jobs:{q:fair:a}", "q:~done:{q:fair:a}");
        remember(&store, "first").await;
        let ticket = server.command(&["HGET", jobs, "i:first"]).text();
        let known = ["seq", "linked", "i:first", &format!("m:{ticket}"), &format!("r:{ticket}")];
        assert_eq!(keys_of(server, jobs), known.map(str::to_owned).into());
        assert_eq!(server.command(&["HGET", jobs, "linked"]).text(), "0");
        assert_eq!(server.command(&["ZRANGE", done, "0", "-1"]).array().len(), 1);
        // An hour later.
        server.command(&["ZADD", done, "1", &ticket]);
        remember(&store, "second").await;
        let queue = store.at(keys::Fair { kind: kind("a") });
        assert_eq!(queue.status("first").await.unwrap(), None);
        assert!(keys_of(server, jobs).iter().all(|it| !it.contains(&ticket) && it != "i:first"));
        assert_eq!(server.command(&["ZCARD", done]).integer(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_job_that_cannot_be_remembered_keeps_its_lease() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(keys::Fair { kind: kind("a") });
        queue.push_with(&"job".to_owned(), Push::new().id("job")).await.unwrap();
        let (done, leases) = ("q:~done:{q:fair:a}", "q:~leases:{q:fair:a}");
        let run = queue.worker().run(async |_: Job<String>| {
            server.command(&["SET", done, "not a sorted set"]);
            Ok(())
        });
        let error = run.await.unwrap_err();
        assert!(matches!(error, Error::WrongType { definition: "fair" }), "{error}");
        assert_eq!(queue.status("job").await.unwrap().unwrap().state, JobState::Leased);
        assert_eq!(server.command(&["ZCARD", leases]).integer(), 1);
        server.command(&["DEL", done]);
        end_leases(server, leases);
        remember(&store, "other").await;
        tokio::select! {
            ended = queue.worker().run(async |_: Job<String>| Ok(())) => panic!("{ended:?}"),
            () = until("it is handled again", async || {
                queue.status("job").await.unwrap().unwrap().state == JobState::Ended
            }) => {}
        }
    })
    .await;
}

#[tokio::test]
async fn the_error_of_an_attempt_is_gone_once_the_job_is_done() {
    on_all(async |_: &Server, store: Store| {
        let queue = store.at(work());
        queue.push_with(&task("shaky"), Push::new().id("shaky")).await.unwrap();
        let run = queue.worker().run(async |job: Job<Task>| -> Result<(), Failure> {
            if job.attempt() == 1 {
                return Err("not yet".into());
            }
            let before = state(&store, "shaky").await;
            assert_eq!((before.error.as_deref(), before.attempts), (Some("not yet"), Some(1)));
            Ok(())
        });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = until("it is done", async || queue.status("shaky").await.unwrap().is_none()) => {}
        }
        let after = state(&store, "shaky").await;
        assert_eq!(after.status, fields::state::Status::Completed);
        assert_eq!((after.error, after.attempts), (None, Some(2)));
    })
    .await;
}

#[tokio::test]
async fn what_another_program_has_popped_is_not_waited_for() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(plain());
        queue.push_with(&"gone".to_owned(), Push::new().id("gone")).await.unwrap();
        assert_eq!(server.command(&["LPOP", "q:plain:a"]).text(), "gone");
        server.command(&["RPUSH", "q:plain:a", "here"]);
        let seen = Mutex::new(Vec::new());
        let run = queue.worker().concurrency(4).run(async |job: Job<String>| {
            seen.lock().unwrap().push(job.value);
            Ok(())
        });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = until("the worker is idle", async || {
                server.command(&["INFO", "clients"]).text().contains("blocked_clients:1")
            }) => {}
        }
        assert_eq!(*seen.lock().unwrap(), ["here"]);
    })
    .await;
}

#[tokio::test]
async fn how_far_a_job_is_says_whoever_holds_its_lease() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        queue.push_with(&task("slow"), Push::new().id("s")).await.unwrap();
        let (takes, told) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let go_on = tokio::sync::Notify::new();
        let handler = async |job: Job<Task>| {
            takes.fetch_add(1, Ordering::SeqCst);
            if job.take() == 1 {
                let held = job.progress("half").await.unwrap();
                told.lock().unwrap().push(held);
                go_on.notified().await;
                let held = job.progress("late").await.unwrap();
                told.lock().unwrap().push(held);
            }
            std::future::pending::<Result<(), Failure>>().await
        };
        let watching = async {
            until("it says something", async || told.lock().unwrap().len() == 1).await;
            assert_eq!(queue.status("s").await.unwrap().unwrap().progress.as_deref(), Some("half"));
            end_leases(server, "q:~leases:{q:work:a}");
            until("another runs it", async || takes.load(Ordering::SeqCst) == 2).await;
            go_on.notify_one();
            until("the first says more", async || told.lock().unwrap().len() == 2).await;
        };
        tokio::select! {
            ended = queue.worker().run(&handler) => panic!("{ended:?}"),
            ended = queue.worker().run(&handler) => panic!("{ended:?}"),
            () = watching => {}
        }
        assert_eq!(*told.lock().unwrap(), [true, false]);
        assert_eq!(queue.status("s").await.unwrap().unwrap().progress.as_deref(), Some("half"));
        assert_eq!(state(&store, "s").await.progress.as_deref(), Some("half"));
    })
    .await;
}

#[tokio::test]
async fn the_status_of_a_job_that_went_back_is_pending_until_it_is_taken() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        for id in ["one", "two"] {
            queue.push_with(&task(id), Push::new().id(id)).await.unwrap();
        }
        let endless = async |_: Job<Task>| std::future::pending::<Result<(), Failure>>().await;
        let statuses =
            async || [state(&store, "one").await.status, state(&store, "two").await.status];
        let lost = queue.worker().concurrency(2).run(&endless);
        let watching = async {
            let both = [fields::state::Status::Processing, fields::state::Status::Processing];
            until("both run", async || statuses().await == both).await;
            end_leases(server, "q:~leases:{q:work:a}");
            // It has a seat for one of them.
            let other = queue.worker().run(&endless);
            let one = [fields::state::Status::Processing, fields::state::Status::Pending];
            tokio::select! {
                ended = other => panic!("{ended:?}"),
                () = until("one waits again", async || {
                    let statuses = statuses().await;
                    statuses == one || statuses == [one[1], one[0]]
                }) => {}
            }
        };
        tokio::select! {
            ended = lost => panic!("{ended:?}"),
            () = watching => {}
        }
    })
    .await;
}

#[tokio::test]
async fn a_dead_letter_is_pushed_again_once() {
    on_all(async |_: &Server, store: Store| {
        let queue = store.at(work());
        queue.push(&task("bad")).await.unwrap();
        let run = queue
            .worker()
            .run(async |_: Job<Task>| -> Result<(), Failure> { Err(Failure::fatal("no")) });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = until("it is dead", async || queue.stats().await.unwrap().dead == 1) => {}
        }
        let dead = queue.dead(0, -1).await.unwrap();
        assert!(queue.requeue(&dead[0]).await.unwrap());
        assert!(!queue.requeue(&dead[0]).await.unwrap(), "it is there no more");
        assert_eq!(queue.stats().await.unwrap().listed, 1);
    })
    .await;
}

#[test]
fn what_becomes_of_jobs_is_counted_and_nothing_else_is_an_error() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let server = Server::redis();
            live_and_die(&server, &patient(&server).await).await;
        });
    });
    let counted = snapshotter.snapshot().into_vec().into_iter();
    let counted: BTreeMap<String, u64> = counted
        .filter(|(key, ..)| {
            ["keyward_jobs_total", "keyward_errors_total"].contains(&key.key().name())
        })
        .map(|(key, _, _, value)| {
            let labels: Vec<&str> = key.key().labels().map(metrics::Label::value).collect();
            let DebugValue::Counter(count) = value else { panic!("{value:?}") };
            (labels.join(" "), count)
        })
        .collect();
    let expected = [("done", 3), ("retried", 1), ("dead", 1), ("lost", 1)];
    assert_eq!(counted, expected.map(|(word, count)| (format!("work {word}"), count)).into());
}

/// A job that is done, one that is done at its second attempt, one that dies, and one whose lease ends while it runs.
async fn live_and_die(server: &Server, store: &Store) {
    let queue = store.at(work());
    for name in ["good", "shaky", "bad", "slow"] {
        queue.push_with(&task(name), Push::new().id(name)).await.unwrap();
    }
    let go_on = tokio::sync::Notify::new();
    let (slow, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let handler = async |job: Job<Task>| {
        // Long enough that its status says so.
        job.progress("begun").await?;
        match (job.value.name.as_str(), job.attempt(), job.take()) {
            ("shaky", 1, _) => return Err("not yet".into()),
            ("bad", ..) => return Err(Failure::fatal("never")),
            ("slow", _, 1) => {
                slow.store(1, Ordering::SeqCst);
                go_on.notified().await;
            }
            _ => _ = ended.fetch_add(1, Ordering::SeqCst),
        }
        Ok(())
    };
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let until_stopped = || {
        let mut stopped = stopped.clone();
        async move { _ = stopped.wait_for(|it| *it).await }
    };
    let watching = async {
        until("the slow one runs, and the others have ended", async || {
            let stats = queue.stats().await.unwrap();
            (stats.leased, stats.dead, slow.load(Ordering::SeqCst)) == (1, 1, 1)
                && ended.load(Ordering::SeqCst) == 2
        })
        .await;
        end_leases(server, "q:~leases:{q:work:a}");
        until("another handles it", async || ended.load(Ordering::SeqCst) == 3).await;
        until("it is done", async || queue.stats().await.unwrap().leased == 0).await;
        go_on.notify_one();
        stop.send_replace(true);
    };
    let one = queue.worker().concurrency(4).until(until_stopped()).run(&handler);
    let other = queue.worker().concurrency(4).until(until_stopped()).run(&handler);
    let (one, other, ()) = tokio::join!(one, other, watching);
    one.unwrap();
    other.unwrap();
}
