//! Pushes: all of one or nothing, and many at once.

use super::jobs::keys;
use super::model::Task;
use super::on_all;
use super::queue::{kind, task};
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use keyward::queue::{JobState, Push, Pushed, Ticket};
use keyward::{Error, Store};
use keyward_testkit::{Reply, Server};
use std::collections::HashSet;
use std::future::IntoFuture as _;
use std::time::Duration;

const JOBS: &str = "q:~jobs:{q:work:a}";

fn work() -> keys::Work {
    keys::Work { kind: kind("a") }
}

/// All that is written at a push.
fn written(server: &Server) -> [Vec<String>; 3] {
    let texts = |command: &[&str]| {
        let mut texts: Vec<String> =
            server.command(command).array().into_iter().map(Reply::text).collect();
        texts.sort();
        texts
    };
    let statuses = texts(&["KEYS", "q:state:*"]);
    [texts(&["HGETALL", JOBS]), texts(&["LRANGE", "q:work:a", "0", "-1"]), statuses]
}

#[tokio::test]
async fn a_push_that_meets_a_key_of_another_type_changes_nothing() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        // Priorities and groups matter where something waits already.
        queue.push_with(&task("first"), Push::new().id("first")).await.unwrap();
        let later = Push::new().delay(Duration::from_secs(3600));
        queue.push_with(&task("old"), later.clone().id("old")).await.unwrap();
        let before = written(server);
        let pushes = [
            ("due", later.clone().id("new")),
            ("ready", Push::new().id("new").priority(1)),
            ("ready", Push::new().id("new").group("g")),
            ("due", Push::new().id("old").replace()),
            ("ready", Push::new().id("old").replace()),
            ("done", Push::new().id("old").replace()),
            ("due", later.id("old").replace()),
        ];
        for (word, push) in pushes {
            let (key, kept) = (format!("q:~{word}:{{q:work:a}}"), format!("kept:{word}"));
            let exists = server.command(&["EXISTS", &key]).integer() == 1;
            if exists {
                server.command(&["RENAME", &key, &kept]);
            }
            server.command(&["SET", &key, "not a sorted set"]);
            let error = queue.push_with(&task("new"), push.clone()).await.unwrap_err();
            assert!(matches!(error, Error::WrongType { definition: "work" }), "{error}");
            assert_eq!(written(server), before, "{word}, {push:?}");
            server.command(&["DEL", &key]);
            if exists {
                server.command(&["RENAME", &kept, &key]);
            }
        }
        let old = queue.status("old").await.unwrap().unwrap();
        assert_eq!(old.state, JobState::Due);
        assert!(queue.push_with(&task("new"), Push::new().id("new")).await.unwrap().pushed);
    })
    .await;
}

#[tokio::test]
async fn a_push_whose_status_has_another_type_changes_nothing_and_others_go_on() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        server.command(&["SET", "q:state:bad", "not a hash"]);
        let (good, bad) = (task("good"), task("bad"));
        let (good, bad) = tokio::join!(
            queue.push_with(&good, Push::new().id("good")).into_future(),
            queue.push_with(&bad, Push::new().id("bad")).into_future(),
        );
        assert!(good.unwrap().pushed);
        let error = bad.unwrap_err();
        assert!(matches!(error, Error::WrongType { definition: "state" }), "{error}");
        assert_eq!(server.command(&["LLEN", "q:work:a"]).integer(), 1);
        assert_eq!(server.command(&["HEXISTS", JOBS, "i:bad"]).integer(), 0);
        server.command(&["DEL", "q:state:bad"]);
        assert!(queue.push_with(&task("bad"), Push::new().id("bad")).await.unwrap().pushed);
    })
    .await;
}

#[tokio::test]
async fn pushes_of_one_moment_travel_together_and_each_has_its_own_answer() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        queue.push_with(&task("here"), Push::new().id("id-7")).await.unwrap();
        let sent = server.calls("evalsha");
        // Every id comes twice, and every value often.
        let values: Vec<Task> = (0..300).map(|number| task(&format!("v{}", number % 10))).collect();
        let pushing = values.iter().enumerate().map(|(number, value)| {
            queue.push_with(value, Push::new().id(format!("id-{}", number / 2))).into_future()
        });
        let pushed: Vec<Pushed> = join_all(pushing).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(server.calls("evalsha") - sent, 3, "300 jobs, at most 128 at once");
        for (number, pair) in pushed.chunks(2).enumerate() {
            assert_eq!((pair[0].pushed, pair[1].pushed), (number != 7, false), "{number}");
            assert_eq!(pair[0].ticket, pair[1].ticket);
        }
        let tickets: Vec<Ticket> =
            pushed.iter().step_by(2).map(|pushed| pushed.ticket.unwrap()).collect();
        let new: Vec<Ticket> =
            tickets.iter().enumerate().filter(|(at, _)| *at != 7).map(|(_, it)| *it).collect();
        assert!(new.is_sorted_by(|one, next| one < next), "{new:?}");
        // The entries are the values in the order of the pushes, and each is its own job.
        assert_eq!(server.command(&["LLEN", "q:work:a"]).integer(), 150);
        assert_eq!(server.command(&["HGET", JOBS, "linked"]).text(), "150");
        let seen = std::sync::Mutex::new(Vec::new());
        let run = queue.worker().concurrency(7).run(async |job: keyward::queue::Job<Task>| {
            seen.lock().unwrap().push((job.ticket(), job.id().unwrap().to_owned(), job.value.name));
            Ok(())
        });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = super::until("all are done", async || {
                queue.stats().await.unwrap() == keyward::queue::Stats::default()
            }) => {}
        }
        let mut seen = seen.into_inner().unwrap();
        seen.sort();
        let mut expected: Vec<(Ticket, String, String)> = tickets
            .iter()
            .enumerate()
            .map(|(at, ticket)| (*ticket, format!("id-{at}"), format!("v{}", at * 2 % 10)))
            .collect();
        expected[7].2 = "here".to_owned();
        expected.sort();
        assert_eq!(seen, expected);
        let left = server.command(&["HKEYS", JOBS]).array();
        let left: HashSet<String> = left.into_iter().map(Reply::text).collect();
        assert_eq!(left, HashSet::from(["seq".to_owned(), "linked".to_owned()]));
    })
    .await;
}

#[tokio::test]
async fn pushes_that_follow_each_other_are_all_answered() {
    on_all(async |server: &Server, store: Store| {
        let queue = &store.at(work());
        // While one batch is under way, the next one is opened.
        let pushing = (0..10).map(async |one| {
            for number in 0..20 {
                let push = Push::new().id(format!("id-{one}-{number}"));
                assert!(queue.push_with(&task("x"), push).await.unwrap().pushed);
                for _ in 0..one {
                    tokio::task::yield_now().await;
                }
            }
        });
        join_all(pushing).await;
        assert_eq!(server.command(&["LLEN", "q:work:a"]).integer(), 200);
    })
    .await;
}

#[tokio::test]
async fn who_stops_waiting_takes_no_other_push_along() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        let (one, two) = (task("one"), task("two"));
        // The first opens the batch, and is dropped before that is sent.
        let mut first = queue.push_with(&one, Push::new().id("one")).into_future();
        assert!((&mut first).now_or_never().is_none());
        let mut second = queue.push_with(&two, Push::new().id("two")).into_future();
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        assert!(second.await.unwrap().pushed);
        assert_eq!(queue.status("one").await.unwrap(), None);
        assert_eq!(server.command(&["LLEN", "q:work:a"]).integer(), 1);
    })
    .await;
}

#[tokio::test]
async fn pushes_go_on_where_the_runtime_of_a_batch_has_ended() {
    on_all(async |_: &Server, store: Store| {
        let other = std::thread::spawn({
            let store = store.clone();
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                // Polled once, so that the batch is open when its runtime ends.
                runtime.block_on(async {
                    let value = task("gone");
                    let push = store.at(work()).push_with(&value, Push::new().id("gone"));
                    assert!(push.into_future().now_or_never().is_none());
                });
            }
        });
        tokio::task::spawn_blocking(|| other.join().unwrap()).await.unwrap();
        let pushed = store.at(work()).push_with(&task("here"), Push::new().id("here")).await;
        assert!(pushed.unwrap().pushed);
    })
    .await;
}

#[tokio::test]
async fn tickets_grow_where_the_clock_of_the_server_was_set_back() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        let first = queue.push_with(&task("first"), Push::new().id("first")).await.unwrap();
        // The last ticket is from tomorrow.
        let ahead = Ticket(first.ticket.unwrap().0 + 86_400_000_000);
        server.command(&["HSET", JOBS, "seq", &ahead.to_string()]);
        let (two, three) = (task("two"), task("three"));
        let (two, three) = tokio::join!(
            queue.push_with(&two, Push::new().id("two")).into_future(),
            queue.push_with(&three, Push::new().id("three")).into_future(),
        );
        let tickets = [two, three].map(|pushed| pushed.unwrap().ticket.unwrap().0);
        assert_eq!(tickets, [ahead.0 + 1, ahead.0 + 2]);
        // And where keys were lost, by the clock.
        server.command(&["DEL", JOBS, "q:work:a"]);
        let again = queue.push_with(&task("again"), Push::new().id("two")).await.unwrap();
        assert!(again.pushed && again.ticket > first.ticket, "{again:?}");
        assert!(again.ticket < Some(ahead));
        assert_eq!(server.command(&["HGET", JOBS, "seq"]).text().len(), 16);
    })
    .await;
}

#[tokio::test]
async fn a_job_in_a_pipeline_is_pushed_with_it() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        let mut pipeline = store.pipeline();
        let one = pipeline.add(queue.push_with(&task("one"), Push::new().id("one")));
        let again = pipeline.add(queue.push_with(&task("one"), Push::new().id("one")));
        let mut results = pipeline.run().await.unwrap();
        assert!(results.take(one).unwrap().pushed);
        assert!(!results.take(again).unwrap().pushed);
        assert_eq!(server.command(&["LLEN", "q:work:a"]).integer(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_job_of_100_mb_is_refused_or_pushed_whole_and_alone() {
    on_all(async |server: &Server, store: Store| {
        let size = 100_000_000;
        let name = "x".repeat(size);
        let error = store.at(work()).push_with(&task(&name), Push::new().id("big")).await;
        let Err(Error::Malformed { definition: "work", why, .. }) = error else {
            panic!("it has more than `max_bytes`")
        };
        assert!(why.ends_with(", and 1024 are the most"), "{why}");
        assert_eq!(written(server), <[Vec<String>; 3]>::default());

        // Without a bound it is the server's to decide, and others are pushed meanwhile.
        let plain = store.at(keys::Plain { kind: kind("a") });
        let small = "small".to_owned();
        let (big, small) = tokio::join!(
            plain.push_with(&name, Push::new().id("big")).into_future(),
            plain.push_with(&small, Push::new().id("small")).into_future(),
        );
        assert!(small.unwrap().pushed);
        let held = server.command(&["LLEN", "q:plain:a"]).integer();
        let known = server.command(&["HEXISTS", "q:~jobs:{q:plain:a}", "i:big"]).integer();
        match big {
            Ok(pushed) => assert!(pushed.pushed && (held, known) == (2, 1)),
            Err(error) => panic!("{error}"),
        }
    })
    .await;
}
