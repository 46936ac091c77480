//! Queues that are being renamed: a push goes to the name that counts, and workers take from both.

use super::{moving, moving_on, on_all, patient, until};
use keyward::Store;
use keyward::queue::{Cancelled, Job, JobState, Push};
use keyward_testkit::Server;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const NAMES: [&str; 2] = ["OLD:Jobs", "new:jobs"];

/// How many entries are under the old name and the new one.
fn listed(server: &Server) -> [i64; 2] {
    NAMES.map(|name| server.command(&["LLEN", name]).integer())
}

#[tokio::test]
async fn a_push_goes_to_the_name_that_counts_and_old_names_are_worked_on_first() {
    on_all(async |server: &Server, store: Store| {
        let (dual, turned) = (store.at(moving::keys::Jobs {}), patient(server).await);
        let turned = turned.at(moving_on::keys::Jobs {});
        turned.push(&"new".to_owned()).await.unwrap();
        dual.push(&"old".to_owned()).await.unwrap();
        dual.push_with(&"old with an id".to_owned(), Push::new().id("a")).await.unwrap();
        server.command(&["RPUSH", "OLD:Jobs", "of a program that knows no other name"]);
        assert_eq!(listed(server), [3, 1]);
        assert_eq!(dual.stats().await.unwrap().listed, 4);
        assert_eq!(turned.stats().await.unwrap().listed, 4);
        for worker in [dual.worker(), turned.worker()] {
            let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
            let stop = Mutex::new(Some(stop));
            let (seen, running) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
            let worker = worker.until(async { _ = stopped.await });
            let ran = worker.run(async |job: Job<String>| {
                assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "one job at a time");
                tokio::task::yield_now().await;
                running.fetch_sub(1, Ordering::SeqCst);
                let mut seen = seen.lock().unwrap();
                seen.push(job.value);
                if seen.len() == 4 {
                    drop(stop.lock().unwrap().take());
                }
                Ok(())
            });
            ran.await.unwrap();
            let seen = seen.into_inner().unwrap();
            assert_eq!(seen[3], "new", "{seen:?}");
            assert_eq!(listed(server), [0, 0]);
            assert_eq!(dual.stats().await.unwrap(), keyward::queue::Stats::default());
            // The same for the other worker.
            turned.push(&"new".to_owned()).await.unwrap();
            for text in ["1", "2", "3"] {
                dual.push(&text.to_owned()).await.unwrap();
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_worker_waits_for_jobs_under_both_names() {
    on_all(async |server: &Server, store: Store| {
        let queue = store.at(moving_on::keys::Jobs {});
        let seen = Mutex::new(Vec::new());
        let run = queue.worker().run(async |job: Job<String>| {
            seen.lock().unwrap().push(job.value);
            Ok(())
        });
        let idle = || server.command(&["INFO", "clients"]).text().contains("blocked_clients:2");
        let pushing = async {
            for (name, count) in [("OLD:Jobs", 1), ("new:jobs", 2), ("OLD:Jobs", 3)] {
                until("the worker waits", async || idle()).await;
                server.command(&["RPUSH", name, name]);
                until("it is handled", async || seen.lock().unwrap().len() == count).await;
            }
            until("all is said", async || queue.stats().await.unwrap().leased == 0).await;
        };
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            () = pushing => {}
        }
        assert_eq!(*seen.lock().unwrap(), ["OLD:Jobs", "new:jobs", "OLD:Jobs"]);
    })
    .await;
}

#[tokio::test]
async fn jobs_are_known_and_cancelled_under_both_names() {
    on_all(async |server: &Server, store: Store| {
        let (dual, turned) = (store.at(moving::keys::Jobs {}), patient(server).await);
        let turned = turned.at(moving_on::keys::Jobs {});
        dual.push_with(&"a".to_owned(), Push::new().id("a")).await.unwrap();
        turned.push_with(&"b".to_owned(), Push::new().id("b")).await.unwrap();
        assert_eq!(listed(server), [1, 1]);
        for id in ["a", "b"] {
            assert_eq!(dual.status(id).await.unwrap().unwrap().state, JobState::Waiting);
            assert_eq!(turned.status(id).await.unwrap().unwrap().state, JobState::Waiting);
        }
        assert_eq!(dual.status("c").await.unwrap(), None);
        assert_eq!(dual.cancel("b").await.unwrap(), Cancelled::Removed);
        assert_eq!(turned.cancel("a").await.unwrap(), Cancelled::Removed);
        assert_eq!(turned.cancel("a").await.unwrap(), Cancelled::Unknown);
        dual.pause().await.unwrap();
        assert!(turned.stats().await.unwrap().paused);
        turned.resume().await.unwrap();
        assert!(!dual.stats().await.unwrap().paused);
        assert_eq!(server.command(&["HEXISTS", "new:~jobs:{OLD:Jobs}", "paused"]).integer(), 0);
    })
    .await;
}
