//! Queues: what becomes of a job, on real servers.

use super::jobs::{fields, keys, values};
use super::model::{FailedTask, Task};
use super::{on_all, until};
use keyward::queue::{Cancelled, Failure, Job, JobState, Missed, Push, Schedule};
use keyward::{Error, Store};
use keyward_testkit::{Reply, Server};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub(super) fn kind(name: &str) -> values::Kind {
    values::Kind::new(name).unwrap()
}

pub(super) fn task(name: &str) -> Task {
    Task { name: name.to_owned(), size: 1 }
}

fn work() -> keys::Work {
    keys::Work { kind: kind("a") }
}

fn plain() -> keys::Plain {
    keys::Plain { kind: kind("a") }
}

async fn state(store: &Store, job: &str) -> Option<fields::State> {
    let job = values::Job::new(job).unwrap();
    store.at(keys::State { job }).get().await.unwrap()
}

/// Runs a worker until it has handled so many jobs, and ends it as a signal does; their values in the order in which they
/// were handled.
async fn handled(store: &Store, count: usize) -> Vec<String> {
    let seen = Mutex::new(Vec::new());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stop = Mutex::new(Some(stop));
    let worker = store.at(plain()).worker().until(async { _ = stopped.await });
    worker
        .run(async |job: Job<String>| {
            let mut seen = seen.lock().unwrap();
            seen.push(job.value);
            if seen.len() == count {
                drop(stop.lock().unwrap().take());
            }
            Ok(())
        })
        .await
        .unwrap();
    seen.into_inner().unwrap()
}

#[tokio::test]
async fn a_job_runs_and_its_status_follows_it() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        let pushed = queue.push_with(&task("one"), Push::new().id("j1")).await.unwrap();
        assert!(pushed.pushed && pushed.ticket.is_some());
        // The list holds the value and nothing else.
        let listed = server.command(&["LRANGE", "q:work:a", "0", "-1"]).array();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].clone().text(), r#"{"name":"one","size":1}"#);
        let before = state(&store, "j1").await.unwrap();
        assert_eq!(before.status, fields::state::Status::Pending);
        assert_eq!((before.started_at, before.completed_at, before.error), (None, None, None));
        assert_eq!(queue.status("j1").await.unwrap().unwrap().state, JobState::Waiting);

        let store2 = store.clone();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let stop = Mutex::new(Some(stop));
        let worker = queue.worker().concurrency(8).until(async { _ = stopped.await });
        worker
            .run(async |job: Job<Task>| {
                assert_eq!((job.id(), job.attempt()), (Some("j1"), 1));
                assert_eq!(Some(job.ticket()), pushed.ticket);
                assert!(job.progress("half").await.unwrap());
                let during = state(&store2, "j1").await.unwrap();
                assert_eq!(during.status, fields::state::Status::Processing);
                assert_eq!(during.progress.as_deref(), Some("half"));
                assert!(during.started_at.is_some());
                drop(stop.lock().unwrap().take());
                Ok("fine".to_owned())
            })
            .await
            .unwrap();
        let after = state(&store, "j1").await.unwrap();
        assert_eq!(after.status, fields::state::Status::Completed);
        assert_eq!((after.result.as_deref(), after.attempts), (Some("fine"), Some(1)));
        assert!(after.completed_at.is_some() && after.error.is_none());
        // Nothing is left but the last ticket.
        assert_eq!(queue.status("j1").await.unwrap(), None);
        assert_eq!(queue.stats().await.unwrap(), keyward::queue::Stats::default());
        let left = server.command(&["HKEYS", "q:~jobs:{q:work:a}"]).array();
        let left: HashSet<String> = left.into_iter().map(Reply::text).collect();
        assert_eq!(left, HashSet::from(["seq".to_owned(), "linked".to_owned()]));
    })
    .await;
}

#[tokio::test]
async fn what_others_push_is_handled_in_its_order_and_equal_values_apart() {
    on_all(async |server: &Server, store: Store| {
        for value in ["x", "y", "x"] {
            server.command(&["RPUSH", "q:plain:a", value]);
        }
        store.at(plain()).push_with(&"x".to_owned(), Push::new().id("mine")).await.unwrap();
        store.at(plain()).push_many(&["v".to_owned(), "w".to_owned()]).await.unwrap();
        assert_eq!(store.at(plain()).stats().await.unwrap().listed, 6);
        assert_eq!(handled(&store, 6).await, ["x", "y", "x", "x", "v", "w"]);
        assert_eq!(store.at(plain()).status("mine").await.unwrap(), None);
        assert_eq!(server.command(&["ZCARD", "q:~leases:{q:plain:a}"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn an_idle_worker_is_woken_by_a_push_of_any_kind() {
    on_all(async |server: &Server, store: Store| {
        let count = AtomicUsize::new(0);
        let queue = store.at(plain());
        let run = queue.worker().run(async |_: Job<String>| {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        let idle = || server.command(&["INFO", "clients"]).text().contains("blocked_clients:1");
        let pushing = async {
            until("the worker blocks", async || idle()).await;
            server.command(&["RPUSH", "q:plain:a", "foreign"]);
            until("it is handled", async || count.load(Ordering::SeqCst) == 1).await;
            until("the worker blocks again", async || idle()).await;
            let push = Push::new().priority(-5).group("g");
            queue.push_with(&"late".to_owned(), push).await.unwrap();
            until("it is handled", async || count.load(Ordering::SeqCst) == 2).await;
            queue
                .push_with(&"later".to_owned(), Push::new().delay(Duration::from_millis(50)))
                .await
                .unwrap();
            until("it is handled", async || count.load(Ordering::SeqCst) == 3).await;
        };
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = pushing => {}
        }
        assert!(server.calls("blmove") > 0);
    })
    .await;
}

#[tokio::test]
async fn a_failed_job_is_tried_again_and_then_dead() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        queue.push_with(&task("bad"), Push::new().id("b1")).await.unwrap();
        let attempts = Mutex::new(Vec::new());
        let run = queue.worker().run(async |job: Job<Task>| -> Result<(), Failure> {
            attempts.lock().unwrap().push(job.attempt());
            Err("no \"luck\"\nat all".into())
        });
        let watching = until("it is dead", async || queue.stats().await.unwrap().dead == 1);
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = watching => {}
        }
        assert_eq!(*attempts.lock().unwrap(), [1, 2, 3]);
        let after = state(&store, "b1").await.unwrap();
        assert_eq!(after.status, fields::state::Status::Failed);
        assert_eq!(
            (after.error.as_deref(), after.attempts),
            (Some("no \"luck\"\nat all"), Some(3))
        );
        // It is what the schema declares.
        let failed: Vec<FailedTask> =
            store.at(keys::Failed { kind: kind("a") }).range(0, -1).await.unwrap();
        assert_eq!((&failed[0].job, failed[0].attempts), (&task("bad"), 3));
        assert_eq!(
            (failed[0].queue.as_str(), failed[0].error.as_str()),
            ("q:work:a", "no \"luck\"\nat all")
        );
        assert!(
            failed[0].failed_at.parse::<keyward::Timestamp>().is_ok(),
            "{}",
            failed[0].failed_at
        );
        assert!(server.command(&["PTTL", "q:failed:a"]).integer() > 0);

        let dead = queue.dead(0, -1).await.unwrap();
        assert_eq!((dead[0].value.as_ref(), dead[0].id.as_deref()), (Ok(&task("bad")), Some("b1")));
        assert!(queue.requeue(&dead[0]).await.unwrap());
        assert!(!queue.requeue(&dead[0]).await.unwrap(), "it is not there any more");
        assert_eq!(queue.status("b1").await.unwrap().unwrap().state, JobState::Waiting);
        assert_eq!(state(&store, "b1").await.unwrap().status, fields::state::Status::Pending);
        assert_eq!(queue.stats().await.unwrap().dead, 0);
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_read_or_is_fatal_is_dead_at_once_and_the_worker_goes_on() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        for value in ["not JSON", "{\"name\":7}", "\u{1}\u{2}"] {
            server.command(&["RPUSH", "q:work:a", value]);
        }
        server.command(&[&b"RPUSH"[..], b"q:work:a", b"\xff\xfe"]);
        queue.push(&task("fatal")).await.unwrap();
        let run = queue.worker().run(async |job: Job<Task>| -> Result<(), Failure> {
            Err(Failure::fatal(format!("{} is fatal", job.value.name)))
        });
        let watching = until("all are dead", async || queue.stats().await.unwrap().dead == 5);
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = watching => {}
        }
        let dead = queue.dead(0, -1).await.unwrap();
        let errors: Vec<&str> = dead.iter().map(|dead| dead.error.as_deref().unwrap()).collect();
        assert!(
            errors[..4].iter().all(|error| error.starts_with("the job cannot be read: ")),
            "{errors:?}"
        );
        assert_eq!(errors[4], "fatal is fatal");
        assert_eq!(dead[4].value.as_ref(), Ok(&task("fatal")));
        // What it was comes back to the byte.
        assert_eq!(queue.requeue_all().await.unwrap(), 5);
        let listed = server.command(&["LRANGE", "q:work:a", "0", "-1"]).array();
        let Reply::Bytes(bytes) = &listed[3] else { panic!("{listed:?}") };
        assert_eq!(bytes, b"\xff\xfe");
    })
    .await;
}

#[tokio::test]
async fn full_dead_letters_keep_the_job_and_a_full_queue_refuses() {
    on_all(async |server: &Server, store: Store| {
        let small = store.at(keys::Small { kind: kind("a") });
        let value = |text: &str| text.to_owned();
        small.push_many(&[value("1"), value("2")]).await.unwrap();
        let error = small.push_many(&[value("3"), value("4")]).await.unwrap_err();
        assert!(matches!(error, Error::Full { definition: "small", max_len: 3 }), "{error}");
        small.push_with(&value("3"), Push::new().delay(Duration::from_secs(3600))).await.unwrap();
        let error = small.push(&value("4")).await.unwrap_err();
        assert!(matches!(error, Error::Full { .. }), "{error}");

        let seen = Mutex::new(Vec::new());
        let run = small.worker().run(async |job: Job<String>| -> Result<(), Failure> {
            seen.lock().unwrap().push(job.value);
            Err("no".into())
        });
        let watching = until("the second was tried twice", async || {
            seen.lock().unwrap().iter().filter(|value| *value == "2").count() > 1
        });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = watching => {}
        }
        // The dead letters have the type of the queue: values, as they were, and why they are there is known all the same.
        let letters = server.command(&["LRANGE", "q:grave:a", "0", "-1"]).array();
        assert_eq!(letters.into_iter().map(Reply::text).collect::<Vec<_>>(), ["1"]);
        let dead = small.dead(0, -1).await.unwrap().remove(0);
        assert_eq!((dead.value.as_deref(), dead.error.as_deref()), (Ok("1"), Some("no")));
        assert_eq!(dead.attempts, Some(1));
        assert!(dead.failed_at.unwrap().parse::<keyward::Timestamp>().is_ok());
        let stats = small.stats().await.unwrap();
        assert_eq!(stats.due + stats.ready + stats.leased + stats.listed, 2, "{stats:?}");
    })
    .await;
}

#[tokio::test]
async fn what_is_known_of_dead_letters_goes_with_them() {
    on_all(async |server: &Server, store: Store| {
        let labels = store.at(keys::Labels { kind: kind("a") });
        let notes = "q:~letters:{q:old_labels:a}";
        let bury = async |values: &[&str]| {
            for value in values {
                labels.push_with(&(*value).to_owned(), Push::new().id(*value)).await.unwrap();
            }
            let seen = AtomicUsize::new(0);
            let run = labels.worker().run(async |job: Job<String>| -> Result<(), Failure> {
                seen.fetch_add(1, Ordering::SeqCst);
                Err(format!("no {}", job.value).into())
            });
            tokio::select! {
                ended = run => panic!("{ended:?}"),
                () = until("all are dead", async || {
                    seen.load(Ordering::SeqCst) == values.len() && labels.stats().await.unwrap().leased == 0
                }) => {}
            }
        };
        bury(&["1", "2", "3"]).await;
        // Two are kept, and what is known of two.
        let dead = labels.dead(0, -1).await.unwrap();
        let said: Vec<_> = dead.iter().map(|it| (it.id.as_deref(), it.error.as_deref())).collect();
        assert_eq!(said, [(Some("2"), Some("no 2")), (Some("3"), Some("no 3"))]);
        assert_eq!(server.command(&["HLEN", notes]).integer(), 2);
        let thirty_days = 30 * 24 * 3600 * 1000;
        assert!((1..=thirty_days).contains(&server.command(&["PTTL", notes]).integer()));
        // One that another program put there has no note; one that goes takes its note along.
        server.command(&["RPUSH", "q:old_labels:a", "foreign"]);
        assert_eq!(labels.dead(-1, -1).await.unwrap()[0].error, None);
        assert!(labels.requeue(&dead[0]).await.unwrap());
        assert_eq!(labels.status("2").await.unwrap().unwrap().state, JobState::Waiting);
        assert_eq!(server.command(&["HLEN", notes]).integer(), 1);
        // Equal values share their note until the last has gone.
        server.command(&["RPUSH", "q:old_labels:a", "3"]);
        assert!(labels.requeue(&dead[1]).await.unwrap());
        assert_eq!(server.command(&["HLEN", notes]).integer(), 1);
        assert_eq!(labels.requeue_all().await.unwrap(), 1, "the id of the other one waits already");
        // Notes whose letters somebody else removes do not pile up.
        for number in 0..1100 {
            server.command(&["HSET", notes, &format!("gone{number}"), "{}"]);
        }
        server.command(&["DEL", "q:labels:a", "q:~jobs:{q:labels:a}", "q:old_labels:a"]);
        bury(&["4"]).await;
        assert_eq!(server.command(&["HLEN", notes]).integer(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_dead_letter_that_cannot_be_pushed_stays() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        queue.push_with(&task("bad"), Push::new().id("b1")).await.unwrap();
        let run = queue
            .worker()
            .run(async |_: Job<Task>| -> Result<(), Failure> { Err(Failure::fatal("no")) });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = until("it is dead", async || queue.stats().await.unwrap().dead == 1) => {}
        }
        server.command(&["SET", "q:state:b1", "not a hash"]);
        let dead = queue.dead(0, -1).await.unwrap();
        let error = queue.requeue(&dead[0]).await.unwrap_err();
        assert!(matches!(error, Error::WrongType { .. }), "{error}");
        assert_eq!(queue.stats().await.unwrap().dead, 1);
        server.command(&["DEL", "q:state:b1"]);
        assert!(queue.requeue(&dead[0]).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn priorities_come_first_and_delays_last() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(plain());
        let push = async |value: &str, push: Push| {
            queue.push_with(&value.to_owned(), push).await.unwrap();
        };
        push("low", Push::new().priority(-1)).await;
        push("first", Push::new()).await;
        push("high", Push::new().priority(5)).await;
        push("highest", Push::new().priority(999)).await;
        push("second", Push::new().id("s")).await;
        push("late", Push::new().delay(Duration::from_secs(3600))).await;
        let error = queue.push_with(&"x".to_owned(), Push::new().priority(1000)).await.unwrap_err();
        assert!(error.to_string().contains("from -999 to 999"), "{error}");
        assert_eq!(handled(&store, 5).await, ["highest", "high", "first", "second", "low"]);
        assert_eq!(queue.stats().await.unwrap().due, 1);
        let due =
            server.command(&["ZRANGE", "q:~due:{q:plain:a}", "0", "0"]).array().remove(0).text();
        server.command(&["ZADD", "q:~due:{q:plain:a}", "1", &due]);
        assert_eq!(handled(&store, 1).await, ["late"]);
    })
    .await;
}

#[tokio::test]
async fn an_id_is_pushed_once_replaced_and_cancelled() {
    on_all(async |_: &Server, store: Store| {
        let queue = store.at(plain());
        let text = |text: &str| text.to_owned();
        let first = queue.push_with(&text("a"), Push::new().id("i")).await.unwrap();
        let again = queue.push_with(&text("b"), Push::new().id("i")).await.unwrap();
        assert_eq!((again.pushed, again.ticket), (false, first.ticket));
        // Equal values: the ids stay with their own.
        queue.push_with(&text("same"), Push::new().id("s1")).await.unwrap();
        queue.push_with(&text("same"), Push::new().id("s2")).await.unwrap();
        queue.push_with(&text("same"), Push::new().id("s3")).await.unwrap();
        assert_eq!(queue.cancel("s2").await.unwrap(), Cancelled::Removed);
        assert_eq!(queue.cancel("s2").await.unwrap(), Cancelled::Unknown);
        assert_eq!(queue.cancel("none").await.unwrap(), Cancelled::Unknown);
        assert!(queue.push_with(&text("c"), Push::new().id("i").replace()).await.unwrap().pushed);
        let later = Push::new().id("late").delay(Duration::from_secs(99));
        queue.push_with(&text("late"), later.clone()).await.unwrap();
        queue.push_with(&text("later"), later.replace()).await.unwrap();
        assert_eq!(queue.stats().await.unwrap().due, 1);
        assert_eq!(queue.cancel("late").await.unwrap(), Cancelled::Removed);
        let unique = || queue.push_with(&text("u"), Push::new().unique());
        assert!(unique().await.unwrap().pushed);
        assert!(!unique().await.unwrap().pushed);
        assert_eq!(handled(&store, 4).await, ["same", "same", "c", "u"]);
        assert!(unique().await.unwrap().pushed, "the first has ended");
        assert_eq!(handled(&store, 1).await, ["u"]);
        let error = queue.push_with(&text("x"), Push::new().replace()).await.unwrap_err();
        assert!(error.to_string().contains("needs the `id`"), "{error}");
        let error = queue.push_with(&text("x"), Push::new().id("=x")).await.unwrap_err();
        assert!(error.to_string().contains("cannot begin with `=`"), "{error}");
    })
    .await;
}

struct OnDrop<'a>(&'a AtomicUsize);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_job_that_runs_is_dropped_when_it_is_cancelled() {
    on_all(async |_: &Server, store: Store| {
        let queue = store.at(keys::Brittle { kind: kind("a") });
        queue.push_with(&task("long"), Push::new().id("c1")).await.unwrap();
        let dropped = AtomicUsize::new(0);
        // A worker of `work`, whose jobs have no timeout, would have to wait for a heartbeat of ten seconds.
        let run = queue.worker().run(async |job: Job<Task>| {
            let _guard = OnDrop(&dropped);
            assert_eq!(queue.cancel("c1").await.unwrap(), Cancelled::Asked);
            assert!(job.progress("none").await.unwrap());
            job.cancelled().await;
            std::future::pending::<()>().await;
            Ok(())
        });
        let gone = until("the job is gone", async || queue.status("c1").await.unwrap().is_none());
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = gone => {}
        }
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        assert_eq!(queue.stats().await.unwrap().dead, 0);
    })
    .await;
}

#[tokio::test]
async fn a_paused_queue_gives_nothing_until_it_is_resumed() {
    on_all(async |_: &Server, store: Store| {
        let queue = store.at(plain());
        queue.pause().await.unwrap();
        queue.push(&"a".to_owned()).await.unwrap();
        assert!(queue.stats().await.unwrap().paused);
        let resuming = async {
            assert_eq!(store.at(plain()).stats().await.unwrap().leased, 0);
            queue.resume().await.unwrap();
        };
        let (values, ()) = tokio::join!(handled(&store, 1), resuming);
        assert_eq!(values, ["a"]);
        assert!(!queue.stats().await.unwrap().paused);
    })
    .await;
}

#[tokio::test]
async fn what_is_pushed_while_a_queue_is_paused_stays_on_its_list() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(plain());
        let blocked = |workers: usize| {
            let clients = server.command(&["INFO", "clients"]).text();
            clients.contains(&format!("blocked_clients:{workers}"))
        };
        let seen = Mutex::new(Vec::new());
        let handler = async |job: Job<String>| {
            seen.lock().unwrap().push(job.value);
            Ok(())
        };
        let pausing = async {
            until("both are idle", async || blocked(2)).await;
            queue.pause().await.unwrap();
            queue.push_many(&["a".to_owned(), "b".to_owned(), "c".to_owned()]).await.unwrap();
            until("nobody waits for an entry", async || blocked(0)).await;
            until("the list is whole", async || {
                let listed = server.command(&["LRANGE", "q:plain:a", "0", "-1"]).array();
                listed.into_iter().map(Reply::text).collect::<Vec<_>>() == ["a", "b", "c"]
            })
            .await;
            assert!(seen.lock().unwrap().is_empty());
            queue.resume().await.unwrap();
            until("all were handled", async || seen.lock().unwrap().len() == 3).await;
        };
        tokio::select! {
            ended = queue.worker().run(&handler) => panic!("{ended:?}"),
            ended = queue.worker().run(&handler) => panic!("{ended:?}"),
            () = pausing => {}
        }
    })
    .await;
}

#[tokio::test]
async fn groups_take_turns_and_run_one_at_a_time() {
    on_all(async |_: &Server, store: Store| {
        let queue = store.at(keys::Fair { kind: kind("a") });
        for (group, count) in [("big", 6), ("small", 2), ("", 2)] {
            for number in 0..count {
                let push = Push::new().group(group).id(format!("{group}-{number}"));
                queue.push_with(&format!("{group}{number}"), push).await.unwrap();
            }
        }
        let (running, seen) = (Mutex::new(HashSet::new()), Mutex::new(Vec::new()));
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let stop = Mutex::new(Some(stop));
        let worker = queue.worker().concurrency(4).until(async { _ = stopped.await });
        worker
            .run(async |job: Job<String>| {
                if let Some(group) = job.group() {
                    assert!(running.lock().unwrap().insert(group.to_owned()), "two of {group}");
                }
                // What was taken together with it begins during a round trip.
                queue.stats().await.unwrap();
                job.group().map(|group| running.lock().unwrap().remove(group));
                let mut seen = seen.lock().unwrap();
                seen.push(job.value);
                if seen.len() == 10 {
                    drop(stop.lock().unwrap().take());
                }
                Ok("kept".to_owned())
            })
            .await
            .unwrap();
        let seen = seen.into_inner().unwrap();
        let place = |value: &str| seen.iter().position(|it| it == value).unwrap();
        assert!(place("small1") < place("big3") && place("1") < place("big3"), "{seen:?}");
        assert!(place("big0") < place("big1") && place("big4") < place("big5"), "{seen:?}");
        // With `retain` the result can be asked for, and the id is not pushed again.
        let kept = queue.status("small-1").await.unwrap().unwrap();
        assert_eq!((kept.state, kept.result.as_deref()), (JobState::Ended, Some(&b"kept"[..])));
        let again = queue.push_with(&"x".to_owned(), Push::new().id("small-1")).await.unwrap();
        assert!(!again.pushed);
        assert_eq!(queue.stats().await.unwrap().retained, 10);
        // Equal values are unique until the first has ended, not for as long as results are retained.
        for _ in 0..2 {
            assert!(queue.push_with(&"u".to_owned(), Push::new().unique()).await.unwrap().pushed);
            tokio::select! {
                ended = queue.worker().run(async |_: Job<String>| Ok(())) => panic!("{ended:?}"),
                () = until("it is done", async || queue.stats().await.unwrap().listed == 0 && queue.stats().await.unwrap().leased == 0) => {}
            }
        }
        assert_eq!(queue.stats().await.unwrap().retained, 10);
    })
    .await;
}

#[tokio::test]
async fn a_repeating_job_is_pushed_once_at_each_tick_however_many_schedule_it() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(plain());
        let period = 60_000_u64;
        let now = || {
            let seconds = server.command(&["TIME"]).array().remove(0).text();
            seconds.parse::<u64>().unwrap() * 1000
        };
        let start = (now() / period - 300) * period;
        server.command(&["HSET", "q:~jobs:{q:plain:a}", "c:tick", &start.to_string()]);
        let schedule = Schedule::every(Duration::from_millis(period)).missed(Missed::All);
        let value = "tick".to_owned();
        let last = || server.command(&["HGET", "q:~jobs:{q:plain:a}", "c:tick"]).text().parse::<u64>().unwrap();
        let two = store.at(plain());
        tokio::select! {
            ended = queue.repeat("tick", &schedule, &value) => panic!("{ended:?}"),
            ended = two.repeat("tick", &schedule, &value) => panic!("{ended:?}"),
            () = until("all ticks were made up for", async || last() + period > now()) => {}
        }
        let pushed = server.command(&["LLEN", "q:plain:a"]).integer();
        assert_eq!(u64::try_from(pushed).unwrap(), (last() - start) / period);
        // Another schedule of the queue, which was never run, begins now.
        let soon = Schedule::every(Duration::from_millis(20));
        tokio::select! {
            ended = queue.repeat("soon", &soon, &value) => panic!("{ended:?}"),
            () = until("it ticks", async || server.command(&["LLEN", "q:plain:a"]).integer() > pushed + 2) => {}
        }
    })
    .await;
}

#[tokio::test]
async fn a_queue_that_is_trimmed_drops_what_has_waited_longest_with_all_that_is_known_of_it() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(keys::Shedding { kind: kind("a") });
        for id in ["a", "b", "c", "d"] {
            queue.push_with(&id.to_owned(), Push::new().id(id)).await.unwrap();
        }
        queue.push(&"e".to_owned()).await.unwrap();
        let left = server.command(&["LRANGE", "q:shedding:a", "0", "-1"]).array();
        let left: Vec<String> = left.into_iter().map(Reply::text).collect();
        assert_eq!(left, ["d", "e"]);
        for id in ["a", "b", "c"] {
            assert_eq!(queue.status(id).await.unwrap(), None);
        }
        assert_eq!(queue.status("d").await.unwrap().unwrap().state, JobState::Waiting);
        // What is deleted leaves nothing behind.
        assert!(queue.delete().await.unwrap());
        assert_eq!(server.command(&["DBSIZE"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn what_is_too_large_or_does_not_fit_is_refused_and_nothing_is_written() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        let error = queue.push(&task(&"x".repeat(2000))).await.unwrap_err();
        assert!(error.to_string().contains("1024 are the most"), "{error}");
        let error = queue.push_with(&task("a"), Push::new().id("Not A Slug")).await.unwrap_err();
        assert!(error.to_string().contains("`state`"), "{error}");
        server.command(&["SET", "q:state:bad", "text"]);
        let error = queue.push_with(&task("a"), Push::new().id("bad")).await.unwrap_err();
        assert!(
            error.to_string().contains("WRONGTYPE") || matches!(error, Error::WrongType { .. }),
            "{error}"
        );
        assert_eq!(server.command(&["DBSIZE"]).integer(), 1);
        server.command(&["SET", "q:work:a", "text"]);
        let error = queue.push(&task("a")).await.unwrap_err();
        assert!(matches!(error, Error::WrongType { definition: "work" }), "{error}");
        let ended = queue.worker().run(async |_: Job<Task>| Ok(())).await;
        assert!(matches!(ended, Err(Error::WrongType { definition: "work" })), "{ended:?}");
    })
    .await;
}
