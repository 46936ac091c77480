//! Queues while workers, servers and networks fail.

use super::jobs::keys;
use super::model::Task;
use super::queue::{kind, task};
use super::{far_jobs, on_all, until};
use keyward::queue::{Cancelled, Failure, Job, JobState, Push, Stats};
use keyward::{BreakerSettings, Error, Store};
use keyward_testkit::{Cluster, Flavor, Harm, Proxy, Server};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn work() -> keys::Work {
    keys::Work { kind: kind("a") }
}

fn brittle() -> keys::Brittle {
    keys::Brittle { kind: kind("a") }
}

fn plain() -> keys::Plain {
    keys::Plain { kind: kind("a") }
}

/// A store that gives up soon, and tries again soon.
async fn hasty(url: &str) -> Store {
    let breaker = BreakerSettings::default().cooldown(Duration::from_millis(50));
    let builder = Store::builder(url).connect_timeout(Duration::from_secs(10)).breaker(breaker);
    builder.response_timeout(Duration::from_millis(300)).connect().await.unwrap()
}

#[tokio::test]
async fn the_job_of_a_lost_worker_is_taken_again_and_dead_after_too_many() {
    on_all(async |server: &Server, store: Store| {
        store.at(brittle()).push_with(&task("deadly"), Push::new().id("d")).await.unwrap();
        let taken = Arc::new(Mutex::new(Vec::new()));
        for crashes in 0..2 {
            // Its threads end with it, as those of a process that is killed.
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            let (url, seen) = (server.url(), Arc::clone(&taken));
            runtime.spawn(async move {
                let store = Store::builder(url)
                    .response_timeout(Duration::from_secs(30))
                    .connect()
                    .await
                    .unwrap();
                let run = store.at(brittle()).worker().run(async |job: Job<Task>| {
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
        let queue = store.at(brittle());
        let run = queue
            .worker()
            .run(async |_: Job<Task>| -> Result<(), Failure> { panic!("it was condemned") });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = until("it is dead", async || queue.stats().await.unwrap().dead == 1) => {}
        }
        let dead = queue.dead(0, -1).await.unwrap();
        assert_eq!(dead[0].error.as_deref(), Some("its worker was lost 2 times"));
        assert_eq!(dead[0].value.as_ref(), Ok(&task("deadly")));
    })
    .await;
}

#[tokio::test]
async fn a_job_whose_dead_letters_have_another_type_is_kept_until_they_are_a_list() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(brittle());
        queue.push_with(&task("doomed"), Push::new().id("d")).await.unwrap();
        server.command(&["SET", "q:failed:a", "not a list"]);
        let tried = AtomicUsize::new(0);
        let run = queue.worker().run(async |_: Job<Task>| -> Result<(), Failure> {
            tried.fetch_add(1, Ordering::SeqCst);
            Err(Failure::fatal("doomed"))
        });
        let repairing = async {
            until("it is tried again after its lease", async || tried.load(Ordering::SeqCst) > 1)
                .await;
            server.command(&["DEL", "q:failed:a"]);
            until("it is dead", async || queue.stats().await.unwrap().dead == 1).await;
        };
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = repairing => {}
        }
        assert_eq!(queue.dead(0, -1).await.unwrap()[0].id.as_deref(), Some("d"));
        until("nothing runs", async || queue.stats().await.unwrap().leased == 0).await;
    })
    .await;
}

#[tokio::test]
async fn a_job_that_cannot_be_put_off_keeps_its_lease() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(brittle());
        queue.push_with(&task("late"), Push::new().id("d")).await.unwrap();
        let due = "q:~due:{q:brittle:a}";
        let tried = AtomicUsize::new(0);
        let run = queue.worker().run(async |_: Job<Task>| {
            if tried.fetch_add(1, Ordering::SeqCst) == 0 {
                server.command(&["SET", due, "not a sorted set"]);
                return Err(Failure::from("not yet"));
            }
            Ok(())
        });
        let repairing = async {
            until("it has failed", async || tried.load(Ordering::SeqCst) > 0).await;
            server.command(&["DEL", due]);
            until("it is done", async || queue.status("d").await.unwrap().is_none()).await;
        };
        tokio::select! {
            // A worker that cannot go on ends, and the job is the next one's.
            ended = run => {
                ended.unwrap_err();
                server.command(&["DEL", due]);
                let next = queue.worker().run(async |_: Job<Task>| Ok(()));
                tokio::select! {
                    ended = next => panic!("{ended:?}"),
                    () = until("it is done", async || queue.status("d").await.unwrap().is_none()) => {}
                }
            }
            () = repairing => {}
        }
    })
    .await;
}

#[tokio::test]
async fn a_quick_job_has_a_beginning_and_a_long_error_an_end() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        queue.push_with(&task("quick"), Push::new().id("quick")).await.unwrap();
        queue.push_with(&task("bad"), Push::new().id("bad")).await.unwrap();
        let run = queue.worker().concurrency(2).run(async |job: Job<Task>| {
            if job.id() == Some("bad") {
                return Err(Failure::fatal("ä".repeat(100_000)));
            }
            Ok(())
        });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = until("both are over", async || {
                let stats = queue.stats().await.unwrap();
                stats.dead == 1 && stats.leased == 0
            }) => {}
        }
        for job in ["q:state:quick", "q:state:bad"] {
            assert!(!server.command(&["HGET", job, "started_at"]).text().is_empty(), "{job}");
        }
        assert_eq!(server.command(&["HEXISTS", "q:state:quick", "result"]).integer(), 0);
        let kept = queue.dead(0, -1).await.unwrap()[0].error.clone().unwrap();
        assert_eq!(kept, "ä".repeat(2048));
        let error = queue.push_with(&task("no id"), Push::new().id("")).await.unwrap_err();
        assert!(error.to_string().contains("an id cannot be empty"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn what_an_older_take_says_is_refused() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        queue.push_with(&task("slow"), Push::new().id("s")).await.unwrap();
        let takes = Mutex::new(Vec::new());
        let (first_may_end, second_may_end) =
            (tokio::sync::Notify::new(), tokio::sync::Notify::new());
        let handler = async |job: Job<Task>| {
            takes.lock().unwrap().push(job.take());
            let may_end = if job.take() == 1 { &first_may_end } else { &second_may_end };
            may_end.notified().await;
            Ok(())
        };
        let one = queue.worker().run(&handler);
        let other = queue.worker().run(&handler);
        let watching = async {
            until("the first runs", async || takes.lock().unwrap().len() == 1).await;
            // Its lease ends, as if it had not been heard of.
            let leases = "q:~leases:{q:work:a}";
            let ticket = server.command(&["ZRANGE", leases, "0", "0"]).array().remove(0).text();
            server.command(&["ZADD", leases, "1", &ticket]);
            until("the second runs", async || takes.lock().unwrap().len() == 2).await;
            assert_eq!(*takes.lock().unwrap(), [1, 2]);
            let settled = server.calls("evalsha") + server.calls("eval");
            first_may_end.notify_one();
            until("the first has said that it is done", async || {
                server.calls("evalsha") + server.calls("eval") > settled
            })
            .await;
            let info = queue.status("s").await.unwrap().unwrap();
            assert_eq!((info.state, info.crashes), (JobState::Leased, 1), "it is the second one's");
            second_may_end.notify_one();
            until("it is done", async || queue.status("s").await.unwrap().is_none()).await;
        };
        tokio::select! {
            ended = one => panic!("{ended:?}"),
            ended = other => panic!("{ended:?}"),
            () = watching => {}
        }
        assert_eq!(queue.stats().await.unwrap().leased, 0);
    })
    .await;
}

#[tokio::test]
async fn workers_share_no_lease_and_every_job_is_handled_once() {
    on_all(async |server: &Server, store: Store| {
        let values: Vec<String> = (0..300).map(|number| format!("v{}", number % 7)).collect();
        store.at(plain()).push_many(&values).await.unwrap();
        for number in 0..50 {
            let push = Push::new().id(format!("id{number}")).priority(number % 3);
            store.at(plain()).push_with(&"v1".to_owned(), push).await.unwrap();
            server.command(&["RPUSH", "q:plain:a", "v1"]);
        }
        let live = Mutex::new(HashSet::new());
        let handled: Mutex<HashMap<String, usize>> = Mutex::default();
        let ids = Mutex::new(HashSet::new());
        let count = AtomicUsize::new(0);
        let handler = async |job: Job<String>| {
            assert!(live.lock().unwrap().insert(job.ticket()), "two leases of one ticket");
            tokio::task::yield_now().await;
            live.lock().unwrap().remove(&job.ticket());
            if let Some(id) = job.id() {
                assert!(ids.lock().unwrap().insert(id.to_owned()));
            }
            *handled.lock().unwrap().entry(job.value).or_default() += 1;
            count.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        let queue = store.at(plain());
        tokio::select! {
            ended = queue.worker().concurrency(5).run(&handler) => panic!("{ended:?}"),
            ended = queue.worker().concurrency(3).run(&handler) => panic!("{ended:?}"),
            () = until("all were handled", async || count.load(Ordering::SeqCst) >= 400) => {}
        }
        until("nothing is left", async || queue.stats().await.unwrap() == Stats::default()).await;
        assert_eq!(count.load(Ordering::SeqCst), 400);
        assert_eq!(handled.lock().unwrap()["v1"], 43 + 100);
        assert_eq!(ids.lock().unwrap().len(), 50);
    })
    .await;
}

#[tokio::test]
async fn a_server_that_is_away_is_waited_for_and_forgotten_scripts_are_sent_again() {
    for server in Server::all() {
        let store = hasty(&server.url()).await;
        let queue = store.at(plain());
        let seen = AtomicUsize::new(0);
        let run = queue.worker().run(async |_: Job<String>| {
            seen.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        let watching = async {
            queue.push_with(&"a".to_owned(), Push::new().id("a")).await.unwrap();
            until("one is handled", async || seen.load(Ordering::SeqCst) == 1).await;
            server.command(&["SCRIPT", "FLUSH"]);
            queue.push_with(&"b".to_owned(), Push::new().id("b")).await.unwrap();
            until("two are handled", async || seen.load(Ordering::SeqCst) == 2).await;
            server.pause();
            let error = queue.push(&"lost".to_owned()).await.unwrap_err();
            assert!(error.is_unavailable(), "{error}");
            server.resume();
            until("it answers again", async || queue.push(&"c".to_owned()).await.is_ok()).await;
            until("more are handled", async || seen.load(Ordering::SeqCst) >= 3).await;
            server.kill();
            until("it does not answer", async || queue.stats().await.is_err()).await;
            let before = seen.load(Ordering::SeqCst);
            server.restart();
            until("it answers again", async || queue.push(&"d".to_owned()).await.is_ok()).await;
            until("more are handled", async || seen.load(Ordering::SeqCst) > before).await;
        };
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = watching => {}
        }
    }
}

#[tokio::test]
async fn a_lost_answer_neither_loses_nor_doubles_a_job() {
    on_all(async |server: &Server, store: Store| {
        let proxy = Proxy::new(server, Harm::Lose);
        let far = Store::builder(proxy.url()).response_timeout(Duration::from_secs(30)).connect().await.unwrap();
        // The server knows the scripts.
        far.at(plain()).push_with(&"warm".to_owned(), Push::new().id("warm")).await.unwrap();
        assert_eq!(far.at(plain()).cancel("warm").await.unwrap(), Cancelled::Removed);
        server.command(&["DEL", "q:plain:a"]);

        proxy.lose_the_answer_to("once");
        let error = far.at(plain()).push(&"once".to_owned()).await.unwrap_err();
        assert!(matches!(error, Error::Unknown(_)), "{error:?}");
        proxy.lose_the_answer_to("twice");
        far.at(plain()).push_with(&"twice".to_owned(), Push::new().id("t")).await.unwrap();
        proxy.lose_the_answer_to("thrice");
        far.at(plain()).push_with(&"thrice".to_owned(), Push::new().unique()).await.unwrap();
        assert_eq!(server.command(&["LLEN", "q:plain:a"]).integer(), 3);
        assert_eq!(proxy.harmed(), 3);

        // The end of each job is told again.
        let seen = Mutex::new(Vec::new());
        let queue = far.at(plain());
        let run = queue.worker().run(async |job: Job<String>| {
            proxy.lose_the_answer_to("\r\nits result\r\n");
            seen.lock().unwrap().push(job.value);
            Ok("its result".to_owned())
        });
        let near = store.at(plain());
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = until("all are gone", async || near.stats().await.unwrap() == Stats::default()) => {}
        }
        assert_eq!(*seen.lock().unwrap(), ["once", "twice", "thrice"]);
        assert!(proxy.harmed() > 4, "{}", proxy.harmed());

        // A take whose answer is lost is a lease that ends by itself.
        store.at(brittle()).push(&task("again")).await.unwrap();
        let seen = Mutex::new(Vec::new());
        let queue = far.at(brittle());
        proxy.lose_the_answer_to("\r\n300\r\n");
        let run = queue.worker().run(async |job: Job<Task>| {
            seen.lock().unwrap().push(job.crashes());
            Ok(())
        });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = until("it was handled", async || !seen.lock().unwrap().is_empty()) => {}
        }
        assert_eq!(*seen.lock().unwrap(), [1]);
    })
    .await;
}

#[tokio::test]
async fn on_a_full_server_jobs_end_and_are_cancelled_and_none_is_pushed() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(work());
        for id in ["a", "b", "c"] {
            queue.push_with(&task(id), Push::new().id(id)).await.unwrap();
        }
        server.command(&["RPUSH", "q:work:a", r#"{"name":"foreign","size":1}"#]);
        server.command(&["CONFIG", "SET", "maxmemory", "1"]);
        for push in [Push::new(), Push::new().id("d"), Push::new().delay(Duration::from_secs(1))] {
            let error = queue.push_with(&task("x"), push).await.unwrap_err();
            assert!(matches!(&error, Error::Refused { code, .. } if code == "OOM"), "{error}");
        }
        assert_eq!(queue.cancel("b").await.unwrap(), Cancelled::Removed);
        let seen = Mutex::new(Vec::new());
        let run = queue.worker().run(async |job: Job<Task>| -> Result<(), Failure> {
            seen.lock().unwrap().push(job.value.name.clone());
            if job.attempt() == 1 { Err("once".into()) } else { Ok(()) }
        });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = until("all are gone", async || queue.stats().await.unwrap() == Stats::default()) => {}
        }
        let mut seen = seen.into_inner().unwrap();
        seen.sort();
        assert_eq!(seen, ["a", "a", "c", "c", "foreign", "foreign"]);
    })
    .await;
}

#[tokio::test]
async fn a_handler_that_panics_or_takes_too_long_has_failed_and_others_go_on() {
    on_all(async |_: &Server, store: Store| {
        let queue = store.at(brittle());
        for name in ["panic", "hang", "good"] {
            queue.push(&task(name)).await.unwrap();
        }
        let good = AtomicUsize::new(0);
        let run = queue.worker().concurrency(3).run(async |job: Job<Task>| {
            match job.value.name.as_str() {
                "panic" => panic!("at the disco"),
                "hang" => std::future::pending().await,
                _ => _ = good.fetch_add(1, Ordering::SeqCst),
            }
            Ok(())
        });
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = until("two are dead", async || queue.stats().await.unwrap().dead == 2) => {}
        }
        // More than once where the machine was busy for longer than a lease.
        assert!(good.load(Ordering::SeqCst) > 0);
        let dead = queue.dead(0, -1).await.unwrap();
        let errors: HashSet<&str> =
            dead.iter().map(|dead| dead.error.as_deref().unwrap()).collect();
        let expected = ["the handler panicked: at the disco", "it took longer than 200ms"];
        assert_eq!(errors, HashSet::from(expected));
        assert!(dead.iter().all(|dead| dead.attempts == Some(2)));
    })
    .await;
}

#[tokio::test]
async fn a_worker_that_ends_waits_for_its_jobs_and_gives_back_what_takes_too_long() {
    on_all(async |_: &Server, store: Store| {
        let queue = store.at(work());
        queue.push_with(&task("quick"), Push::new().id("quick")).await.unwrap();
        queue.push_with(&task("endless"), Push::new().id("endless")).await.unwrap();
        let running = AtomicUsize::new(0);
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let go_on = tokio::sync::Notify::new();
        let worker = queue.worker().concurrency(2).grace(Duration::from_millis(500));
        let run = worker.until(async { _ = stopped.await }).run(async |job: Job<Task>| {
            running.fetch_add(1, Ordering::SeqCst);
            if job.value.name == "endless" {
                std::future::pending::<()>().await;
            }
            go_on.notified().await;
            Ok(())
        });
        let stopping = async {
            until("both run", async || running.load(Ordering::SeqCst) == 2).await;
            drop(stop);
            queue.push_with(&task("late"), Push::new().id("late")).await.unwrap();
            go_on.notify_one();
        };
        let (ended, ()) = tokio::join!(run, stopping);
        ended.unwrap();
        assert_eq!(queue.status("quick").await.unwrap(), None, "it was waited for");
        let endless = queue.status("endless").await.unwrap().unwrap();
        assert_eq!((endless.state, endless.attempts, endless.crashes), (JobState::Ready, 0, 0));
        assert_eq!(queue.status("late").await.unwrap().unwrap().state, JobState::Waiting);
    })
    .await;
}

#[tokio::test]
async fn a_queue_works_on_a_cluster_where_its_keys_share_a_slot() {
    use far_jobs::{fields, keys, values};
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let nodes: Vec<String> = cluster.nodes().iter().map(Server::address).collect();
        let builder = Store::builder(format!("redis+cluster://{}", nodes.join(",")));
        let builder = builder
            .connect_timeout(Duration::from_secs(10))
            .response_timeout(Duration::from_secs(10));
        let store = builder.connect().await.unwrap();
        for name in ["a", "b", "c", "d"] {
            let kind = values::Kind::new(name).unwrap();
            let queue = store.at(keys::Work { kind: kind.clone() });
            let seen = AtomicUsize::new(0);
            let run = queue.worker().run(async |job: Job<Task>| -> Result<(), Failure> {
                seen.fetch_add(1, Ordering::SeqCst);
                if job.value.name == "bad" { Err("bad".into()) } else { Ok(()) }
            });
            let watching = async {
                // The worker is idle, on a connection to the right node.
                let list = queue.name().to_owned();
                let node = cluster.primary_of(&list);
                let blocks =
                    || node.command(&["INFO", "clients"]).text().contains("blocked_clients:1");
                until("it blocks", async || blocks()).await;
                queue.push_with(&task("good"), Push::new().id("good")).await.unwrap();
                queue.push_with(&task("bad"), Push::new().id("bad")).await.unwrap();
                until("one is dead", async || queue.stats().await.unwrap().dead == 1).await;
            };
            tokio::select! {
                ended = run => panic!("{ended:?}"),
                () = watching => {}
            }
            assert_eq!(seen.load(Ordering::SeqCst), 3);
            let status = async |job: &str| {
                let job = values::Job::new(job).unwrap();
                store
                    .at(keys::State { kind: kind.clone(), job })
                    .get()
                    .await
                    .unwrap()
                    .unwrap()
                    .status
            };
            assert_eq!(status("good").await, fields::state::Status::Completed);
            assert_eq!(status("bad").await, fields::state::Status::Failed);
        }
    }
}
