//! Queues that are streams, on real servers.

use super::jobs::{fields, keys, values};
use super::model::{FailedMail, MailTo};
use super::queue::kind;
use super::{far_jobs, on_all, until};
use keyward::queue::{Cancelled, Failure, Job, JobState, Push, Stats};
use keyward::{Error, Store};
use keyward_testkit::{Cluster, Flavor, Reply, Server};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MAIL: &str = "q:mail:a";

fn mail() -> keys::Mail {
    keys::Mail { kind: kind("a") }
}

fn telegram() -> keys::Telegram {
    keys::Telegram { kind: kind("a") }
}

fn to(name: &str) -> fields::Mail {
    fields::Mail { to: name.to_owned(), size: None }
}

async fn status(store: &Store, job: &str) -> fields::state::Status {
    let job = values::Job::new(job).unwrap();
    store.at(keys::State { job }).get().await.unwrap().unwrap().status
}

/// The names and values of all entries, in turn.
fn entries(server: &Server, stream: &str) -> Vec<Vec<String>> {
    let texts =
        |entry: Reply| entry.array().remove(1).array().into_iter().map(Reply::text).collect();
    server.command(&["XRANGE", stream, "-", "+"]).array().into_iter().map(texts).collect()
}

/// What is pending: how many entries of the group.
fn pending(server: &Server, stream: &str) -> i64 {
    server.command(&["XPENDING", stream, "keyward"]).array().remove(0).integer()
}

/// Runs a worker until so many jobs were handled and are gone; to whom they went, in order.
async fn handled(store: &Store, count: usize) -> Vec<String> {
    let seen = Mutex::new(Vec::new());
    let queue = store.at(mail());
    let run = queue.worker().run(async |job: Job<fields::Mail>| {
        seen.lock().unwrap().push(job.value.to);
        Ok(())
    });
    let gone =
        async || seen.lock().unwrap().len() >= count && queue.stats().await.unwrap().leased == 0;
    tokio::select! {
        ended = run => panic!("{ended:?}"),
        () = until("all were handled", gone) => {}
    }
    seen.into_inner().unwrap()
}

#[tokio::test]
async fn a_job_of_a_stream_runs_and_its_status_follows_it() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(mail());
        let letter = fields::Mail { to: "you".to_owned(), size: Some(7) };
        let pushed = queue.push_with(&letter, Push::new().id("m1")).await.unwrap();
        assert_eq!(entries(server, MAIL), [["to", "you", "size", "7"]], "the fields, nothing else");
        assert_eq!(status(&store, "m1").await, fields::state::Status::Pending);
        let again = queue.push_with(&letter, Push::new().id("m1")).await.unwrap();
        assert_eq!((again.pushed, again.ticket), (false, pushed.ticket));

        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let stop = Mutex::new(Some(stop));
        let worker = queue.worker().until(async { _ = stopped.await });
        let run = worker.run(async |job: Job<fields::Mail>| {
            assert_eq!((&job.value, job.id(), job.attempt()), (&letter, Some("m1"), 1));
            assert_eq!(Some(job.ticket()), pushed.ticket);
            assert!(job.progress("half").await.unwrap());
            assert_eq!(status(&store, "m1").await, fields::state::Status::Processing);
            assert_eq!(entries(server, MAIL).len(), 0, "what runs does not wait");
            drop(stop.lock().unwrap().take());
            Ok("fine".to_owned())
        });
        run.await.unwrap();
        assert_eq!(status(&store, "m1").await, fields::state::Status::Completed);
        assert_eq!(queue.status("m1").await.unwrap(), None);
        assert_eq!(queue.stats().await.unwrap(), Stats::default());
        assert_eq!(pending(server, MAIL), 0);
        let mut left: Vec<String> = server
            .command(&["HKEYS", "q:~jobs:{q:mail:a}"])
            .array()
            .into_iter()
            .map(Reply::text)
            .collect();
        left.sort();
        assert_eq!(left, ["linked", "seq"]);
        assert_eq!(server.command(&["HGET", "q:~jobs:{q:mail:a}", "linked"]).text(), "0");
    })
    .await;
}

#[tokio::test]
async fn what_others_add_to_a_stream_is_handled_in_its_order() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(mail());
        let before = std::time::SystemTime::now() + Duration::from_secs(60);
        for name in ["x", "y", "x"] {
            server.command(&["XADD", MAIL, "*", "to", name]);
        }
        queue.push_with(&to("x"), Push::new().id("mine")).await.unwrap();
        assert_eq!(queue.push_many(&[to("v"), to("w")]).await.unwrap(), 2);
        assert_eq!(queue.stats().await.unwrap().listed, 6);
        assert_eq!(handled(&store, 6).await, ["x", "y", "x", "x", "v", "w"]);
        assert_eq!(queue.status("mine").await.unwrap(), None);

        // The entry says when it was added, unless somebody has made that up.
        server.command(&["DEL", MAIL]);
        server.command(&["XADD", MAIL, "1000-1", "to", "old"]);
        server.command(&["XADD", MAIL, "18446744073709551615-1", "to", "future"]);
        let created = Mutex::new(Vec::new());
        let run = queue.worker().run(async |job: Job<fields::Mail>| {
            created.lock().unwrap().push(job.created());
            Ok(())
        });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = until("both were handled", async || created.lock().unwrap().len() == 2) => {}
        }
        let created = created.into_inner().unwrap();
        assert_eq!(created[0], std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1));
        assert!(created[1] < before);
        // Such a stream takes nothing more, and says so.
        server.command(&["XADD", MAIL, "18446744073709551615-18446744073709551615", "to", "last"]);
        let error = queue.push_with(&to("none"), Push::new().id("none")).await.unwrap_err();
        assert!(error.to_string().contains("exhausted the last possible ID"), "{error}");
        assert_eq!(queue.status("none").await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn an_idle_worker_of_a_stream_is_woken_and_what_it_was_given_is_not_lost() {
    on_all(async |server: &Server, store: Store| {
        let count = AtomicUsize::new(0);
        let queue = store.at(mail());
        let run = queue.worker().run(async |_: Job<fields::Mail>| {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        let idle = || server.command(&["INFO", "clients"]).text().contains("blocked_clients:1");
        let pushing = async {
            until("the worker waits", async || idle()).await;
            server.command(&["XADD", MAIL, "*", "to", "foreign"]);
            until("it is handled", async || count.load(Ordering::SeqCst) == 1).await;
            until("the worker waits again", async || idle()).await;
            queue.push_with(&to("late"), Push::new().priority(-5).group("g")).await.unwrap();
            until("it is done", async || {
                count.load(Ordering::SeqCst) == 2
                    && queue.stats().await.unwrap() == Stats::default()
            })
            .await;
        };
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = pushing => {}
        }
        until("its connection is closed", async || !idle()).await;
        assert_eq!(server.calls("blmove"), 0);
        // A worker that died was given these: the first was removed meanwhile, and its job with it.
        queue.push_with(&to("removed"), Push::new().id("removed")).await.unwrap();
        queue.push_with(&to("given"), Push::new().id("given")).await.unwrap();
        queue.push(&to("waits")).await.unwrap();
        let given = server.command(&[
            "XREADGROUP",
            "GROUP",
            "keyward",
            "keyward",
            "COUNT",
            "2",
            "STREAMS",
            MAIL,
            ">",
        ]);
        let first =
            given.array().remove(0).array().remove(1).array().remove(0).array().remove(0).text();
        server.command(&["XDEL", MAIL, &first]);
        assert_eq!(queue.stats().await.unwrap().listed, 2);
        assert_eq!(handled(&store, 2).await, ["given", "waits"]);
        assert_eq!(queue.status("removed").await.unwrap(), None, "the id can be used again");
        assert_eq!(pending(server, MAIL), 0);
        assert_eq!(queue.stats().await.unwrap(), Stats::default());
        assert_eq!(server.command(&["HGET", "q:~jobs:{q:mail:a}", "linked"]).text(), "0");
    })
    .await;
}

#[tokio::test]
async fn a_group_that_goes_away_is_made_again_and_nothing_is_lost() {
    on_all(async |server: &Server, store: Store| {
        let seen = Mutex::new(Vec::new());
        let queue = store.at(mail());
        let run = queue.worker().run(async |job: Job<fields::Mail>| {
            seen.lock().unwrap().push(job.value.to);
            Ok(())
        });
        let idle = || server.command(&["INFO", "clients"]).text().contains("blocked_clients:1");
        let harming = async {
            for harm in [&["XGROUP", "DESTROY", MAIL, "keyward"][..], &["DEL", MAIL], &["FLUSHALL"]]
            {
                until("the worker waits", async || idle()).await;
                server.command(harm);
                queue.push(&to(harm[0])).await.unwrap();
                until("it is done", async || {
                    seen.lock().unwrap().last().is_some_and(|it| it == harm[0])
                        && queue.stats().await.unwrap().leased == 0
                })
                .await;
            }
        };
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = harming => {}
        }
        // What was pending in the group is still in the stream.
        queue.push_many(&[to("1"), to("2")]).await.unwrap();
        server.command(&[
            "XREADGROUP",
            "GROUP",
            "keyward",
            "keyward",
            "COUNT",
            "1",
            "STREAMS",
            MAIL,
            ">",
        ]);
        server.command(&["XGROUP", "DESTROY", MAIL, "keyward"]);
        assert_eq!(handled(&store, 2).await, ["1", "2"]);
    })
    .await;
}

#[tokio::test]
async fn other_programs_may_take_from_the_group_and_what_they_leave_is_adopted() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(mail());
        server.command(&["XGROUP", "CREATE", MAIL, "keyward", "0", "MKSTREAM"]);
        queue.push_many(&[to("theirs"), to("left"), to("gone"), to("ours")]).await.unwrap();
        let given = server.command(&[
            "XREADGROUP",
            "GROUP",
            "keyward",
            "them",
            "COUNT",
            "3",
            "STREAMS",
            MAIL,
            ">",
        ]);
        let entries = given.array().remove(0).array().remove(1).array();
        let ids: Vec<String> =
            entries.into_iter().map(|entry| entry.array().remove(0).text()).collect();
        assert_eq!(handled(&store, 1).await, ["ours"]);
        assert_eq!(pending(server, MAIL), 3, "they have not been silent for a lease");
        for id in &ids[1..] {
            server.command(&["XCLAIM", MAIL, "keyward", "them", "0", id, "IDLE", "30000"]);
        }
        server.command(&["XDEL", MAIL, &ids[2]]);
        assert_eq!(handled(&store, 1).await, ["left"]);
        assert_eq!(pending(server, MAIL), 1);
        server.command(&["XACK", MAIL, "keyward", &ids[0]]);
        server.command(&["XDEL", MAIL, &ids[0]]);
        assert_eq!(queue.stats().await.unwrap(), Stats::default());
    })
    .await;
}

#[tokio::test]
async fn an_entry_that_was_removed_is_found_among_many_that_are_pending() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(mail());
        server.command(&["XGROUP", "CREATE", MAIL, "keyward", "0", "MKSTREAM"]);
        // More than XAUTOCLAIM looks at.
        queue.push_many(&vec![to("theirs"); 1100]).await.unwrap();
        let take = |name: &str| {
            let args =
                ["XREADGROUP", "GROUP", "keyward", name, "COUNT", "1100", "STREAMS", MAIL, ">"];
            server.command(&args).array().remove(0).array().remove(1).array()
        };
        assert_eq!(take("them").len(), 1100);
        queue.push_with(&to("removed"), Push::new().id("removed")).await.unwrap();
        let entry = take("keyward").remove(0).array().remove(0).text();
        server.command(&["XDEL", MAIL, &entry]);
        queue.push(&to("ours")).await.unwrap();
        assert_eq!(handled(&store, 1).await, ["ours"]);
        assert_eq!(queue.status("removed").await.unwrap(), None);
        assert_eq!(pending(server, MAIL), 1100);
    })
    .await;
}

#[tokio::test]
async fn a_failed_job_of_a_stream_is_tried_again_and_then_dead() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(mail());
        queue.push_with(&to("bad \"one\""), Push::new().id("b1")).await.unwrap();
        server.command(&["XADD", MAIL, "*", "from", "nobody"]);
        server.command(&["XADD", MAIL, "*", "to", "a", "to", "b", "to", "c"]);
        server.command(&[&b"XADD"[..], MAIL.as_bytes(), b"*", b"to", b"\xff\xfe"]);
        let attempts = Mutex::new(Vec::new());
        let run = queue.worker().run(async |job: Job<fields::Mail>| -> Result<(), Failure> {
            attempts.lock().unwrap().push((job.value.to.clone(), job.attempt()));
            Err("no luck".into())
        });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = until("all are dead", async || queue.stats().await.unwrap().dead == 4) => {}
        }
        let mut attempts = attempts.into_inner().unwrap();
        attempts.sort();
        let bad = "bad \"one\"".to_owned();
        assert_eq!(
            attempts,
            [(bad.clone(), 1), (bad.clone(), 2), ("c".into(), 1), ("c".into(), 2)]
        );
        assert_eq!(status(&store, "b1").await, fields::state::Status::Failed);

        let dead = queue.dead(0, -1).await.unwrap();
        let find = |error: &str| {
            dead.iter()
                .filter(|it| it.error.as_deref().unwrap().contains(error))
                .collect::<Vec<_>>()
        };
        let unread = find("the job cannot be read: ");
        assert_eq!(unread.len(), 2, "{dead:?}");
        assert!(unread.iter().all(|it| it.attempts == Some(1)));
        assert_eq!(find("no luck").len(), 2);
        let first = find("no luck").into_iter().find(|it| it.id.is_some()).unwrap();
        assert_eq!((first.id.as_deref(), first.value.as_ref()), (Some("b1"), Ok(&to(&bad))));
        // It is what the schema declares.
        let letters: Vec<Reply> = server.command(&["LRANGE", "q:undelivered:a", "0", "-1"]).array();
        let letters: Vec<String> = letters.into_iter().map(Reply::text).collect();
        let letter = letters.iter().find(|letter| letter.contains("b1")).unwrap();
        let letter: FailedMail = serde_json::from_str(letter).unwrap();
        assert_eq!((letter.job, letter.attempts), (MailTo { to: bad.clone() }, 2));
        assert_eq!((letter.error.as_str(), letter.queue.as_str()), ("no luck", MAIL));

        assert!(queue.requeue(first).await.unwrap());
        assert!(!queue.requeue(first).await.unwrap(), "it is not there any more");
        assert_eq!(queue.status("b1").await.unwrap().unwrap().state, JobState::Waiting);
        assert_eq!(queue.requeue_all().await.unwrap(), 3);
        assert_eq!(queue.stats().await.unwrap().dead, 0);
        // What they were comes back to the byte.
        let mut again = entries_raw(server);
        again.sort();
        assert_eq!(
            again,
            [
                vec![&b"from"[..], b"nobody"],
                vec![b"to", b"a", b"to", b"b", b"to", b"c"],
                vec![b"to", bad.as_bytes()],
                vec![b"to", b"\xff\xfe"],
            ]
        );
    })
    .await;
}

/// The same as `entries`, where a value is no text.
fn entries_raw(server: &Server) -> Vec<Vec<Vec<u8>>> {
    let bytes = |text| match text {
        Reply::Bytes(bytes) => bytes,
        other => panic!("{other:?}"),
    };
    let texts = |entry: Reply| entry.array().remove(1).array().into_iter().map(bytes).collect();
    server.command(&["XRANGE", MAIL, "-", "+"]).array().into_iter().map(texts).collect()
}

#[tokio::test]
async fn a_lost_worker_of_a_stream_gives_its_job_to_another_and_after_too_many_it_is_dead() {
    on_all(async |server: &Server, store: Store| {
        server.command(&["XADD", "q:telegram:a", "*", "to", "deadly"]);
        let taken = Arc::new(Mutex::new(Vec::new()));
        for crashes in 0..2 {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            let (url, seen) = (server.url(), Arc::clone(&taken));
            runtime.spawn(async move {
                let builder = Store::builder(url).response_timeout(Duration::from_secs(30));
                let store = builder.connect().await.unwrap();
                let run = store.at(telegram()).worker().run(async |job: Job<fields::Telegram>| {
                    seen.lock().unwrap().push((job.crashes(), job.attempt(), job.take()));
                    std::future::pending::<()>().await;
                    Ok(())
                });
                run.await.unwrap();
            });
            until("the job runs", async || taken.lock().unwrap().len() > crashes).await;
            runtime.shutdown_background();
        }
        assert_eq!(*taken.lock().unwrap(), [(0, 1, 1), (1, 1, 2)]);
        let queue = store.at(telegram());
        let run = queue.worker().run(async |_: Job<fields::Telegram>| -> Result<(), Failure> {
            panic!("it was condemned")
        });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = until("it is dead", async || queue.stats().await.unwrap().dead == 1) => {}
        }
        let dead = queue.dead(0, -1).await.unwrap();
        assert_eq!(dead[0].error.as_deref(), Some("its worker was lost 2 times"));
        // A heartbeat keeps the lease of a job that takes longer than one.
        queue.push(&fields::Telegram { to: "long".to_owned(), size: None }).await.unwrap();
        let runs = AtomicUsize::new(0);
        let long = async |_: Job<fields::Telegram>| {
            runs.fetch_add(1, Ordering::SeqCst);
            let renewed = || server.command(&["ZRANGE", "q:~leases:{q:telegram:a}", "0", "0", "WITHSCORES"]).array();
            let first = renewed();
            until("it was renewed four times", {
                let mut seen = vec![first];
                async move || {
                    let now = renewed();
                    if seen.last() != Some(&now) {
                        seen.push(now);
                    }
                    seen.len() > 4
                }
            })
            .await;
            Ok(())
        };
        tokio::select! {
            ended = queue.worker().run(&long) => panic!("{ended:?}"),
            ended = queue.worker().run(&long) => panic!("{ended:?}"),
            () = until("it is done", async || runs.load(Ordering::SeqCst) > 0 && queue.stats().await.unwrap().leased == 0) => {}
        }
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    })
    .await;
}

#[tokio::test]
async fn all_that_a_push_can_say_holds_for_a_stream() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(mail());
        let push =
            async |name: &str, push: Push| queue.push_with(&to(name), push).await.unwrap().pushed;
        push("low", Push::new().priority(-1)).await;
        push("first", Push::new()).await;
        push("high", Push::new().priority(5)).await;
        push("cancelled", Push::new().id("c")).await;
        push("replaced", Push::new().id("r")).await;
        push("late", Push::new().delay(Duration::from_secs(3600))).await;
        push("grouped", Push::new().group("g")).await;
        assert!(push("unique", Push::new().unique()).await);
        assert!(!push("unique", Push::new().unique()).await);
        assert_eq!(queue.cancel("c").await.unwrap(), Cancelled::Removed);
        assert!(push("replacing", Push::new().id("r").replace()).await);
        assert_eq!(
            handled(&store, 6).await,
            ["high", "grouped", "first", "unique", "replacing", "low"]
        );
        let stats = queue.stats().await.unwrap();
        assert_eq!((stats.listed, stats.due), (0, 1), "{stats:?}");

        queue.pause().await.unwrap();
        push("paused", Push::new()).await;
        let resuming = async {
            assert_eq!(entries(server, MAIL), [["to", "paused"]]);
            queue.resume().await.unwrap();
        };
        let (seen, ()) = tokio::join!(handled(&store, 1), resuming);
        assert_eq!(seen, ["paused"]);
        assert!(queue.delete().await.unwrap());
        assert_eq!(server.command(&["DBSIZE"]).integer(), 2, "the status of `c` and of `r`");
    })
    .await;
}

#[tokio::test]
async fn a_bounded_stream_drops_or_refuses_and_a_full_server_lets_jobs_end() {
    on_all(async |server: &Server, store: Store| {
        let notice = store.at(keys::Notice { kind: kind("a") });
        let note = |text: &str| fields::Notice { note: Some(text.to_owned()) };
        for id in ["a", "b", "c"] {
            notice.push_with(&note(id), Push::new().id(id)).await.unwrap();
        }
        notice.push(&note("d")).await.unwrap();
        assert_eq!(entries(server, "q:notice:a"), [["note", "c"], ["note", "d"]]);
        assert_eq!(notice.status("a").await.unwrap(), None);
        assert_eq!(notice.status("c").await.unwrap().unwrap().state, JobState::Waiting);
        let error = notice.push(&fields::Notice { note: None }).await.unwrap_err();
        assert!(error.to_string().contains("the job has no fields"), "{error}");

        let ballot = store.at(keys::Ballot { kind: kind("a") });
        let vote = fields::Ballot { note: Some("yes".to_owned()) };
        ballot.push_many(&[vote.clone(), vote.clone()]).await.unwrap();
        let error = ballot.push(&vote).await.unwrap_err();
        assert!(matches!(error, Error::Full { definition: "ballot", max_len: 2 }), "{error}");

        let queue = store.at(mail());
        for id in ["a", "b"] {
            queue.push_with(&to(id), Push::new().id(id)).await.unwrap();
        }
        server.command(&["CONFIG", "SET", "maxmemory", "1"]);
        let error = queue.push(&to("x")).await.unwrap_err();
        assert!(matches!(&error, Error::Refused { code, .. } if code == "OOM"), "{error}");
        assert_eq!(queue.cancel("b").await.unwrap(), Cancelled::Removed);
        assert_eq!(handled(&store, 1).await, ["a"]);
        server.command(&["CONFIG", "SET", "maxmemory", "0"]);

        server.command(&["SET", "q:telegram:a", "not a stream"]);
        let queue = store.at(telegram());
        let telegram = fields::Telegram { to: "x".to_owned(), size: None };
        for error in [
            queue.push(&telegram).await.unwrap_err(),
            queue.push_with(&telegram, Push::new().id("x")).await.unwrap_err(),
            queue.stats().await.unwrap_err(),
            queue.worker().run(async |_: Job<fields::Telegram>| Ok(())).await.unwrap_err(),
        ] {
            assert!(matches!(error, Error::WrongType { definition: "telegram" }), "{error:?}");
        }
        assert_eq!(server.command(&["EXISTS", "q:~jobs:{q:telegram:a}"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_stream_works_on_a_cluster_where_its_keys_share_a_slot() {
    use far_jobs::{fields, keys, values};
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let nodes: Vec<String> = cluster.nodes().iter().map(Server::address).collect();
        let builder = Store::builder(format!("redis+cluster://{}", nodes.join(",")));
        let patience = Duration::from_secs(10);
        let builder = builder.connect_timeout(patience).response_timeout(patience);
        let store = builder.connect().await.unwrap();
        for name in ["a", "b", "c"] {
            let queue = store.at(keys::Mail { kind: values::Kind::new(name).unwrap() });
            let run = queue.worker().run(async |job: Job<fields::Mail>| -> Result<(), Failure> {
                if job.value.to == "bad" { Err("bad".into()) } else { Ok(()) }
            });
            let pushing = async {
                let node = cluster.primary_of(queue.name());
                let idle =
                    || node.command(&["INFO", "clients"]).text().contains("blocked_clients:1");
                until("it waits", async || idle()).await;
                queue.push(&fields::Mail { to: "good".to_owned() }).await.unwrap();
                queue.push(&fields::Mail { to: "bad".to_owned() }).await.unwrap();
                until("one is dead", async || queue.stats().await.unwrap().dead == 1).await;
            };
            tokio::select! {
                ended = run => panic!("{ended:?}"),
                () = pushing => {}
            }
            assert_eq!(queue.dead(0, 0).await.unwrap()[0].error.as_deref(), Some("bad"));
        }
    }
}
