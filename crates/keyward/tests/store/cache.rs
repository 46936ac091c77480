//! Cache-aside.

use super::everything::{events, fields, keys};
use super::{on_all, until, warm};
use keyward::{Clock, Store};
use keyward_testkit::Server;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

type Loaded = Result<String, Infallible>;

#[allow(clippy::unnecessary_wraps, reason = "a loader that cannot fail")]
fn ok(text: &str) -> Loaded {
    Ok(text.to_owned())
}

#[derive(Debug, PartialEq)]
struct DatabaseIsDown;

#[tokio::test]
async fn ten_thousand_misses_make_one_load() {
    on_all(async |server: &Server, store: Store| {
        let loads = Arc::new(AtomicUsize::new(0));
        let (go, may_go) = watch::channel(false);
        let callers: Vec<_> = (0..10_000)
            .map(|_| {
                let (store, loads, mut may_go) = (store.clone(), loads.clone(), may_go.clone());
                tokio::spawn(async move {
                    let load = || async move {
                        may_go.wait_for(|go| *go).await.unwrap();
                        loads.fetch_add(1, Ordering::SeqCst);
                        ok("a")
                    };
                    store.at(keys::Text { id: 1 }).get_or_load(load).await.unwrap()
                })
            })
            .collect();
        until("all have missed", async || server.calls("get") == 10_000).await;
        go.send(true).unwrap();
        for caller in callers {
            assert_eq!(caller.await.unwrap(), "a");
        }
        assert_eq!(loads.load(Ordering::SeqCst), 1);
        assert_eq!(store.at(keys::Text { id: 1 }).get().await.unwrap().as_deref(), Some("a"));
    })
    .await;
}

#[tokio::test]
async fn a_fill_that_began_before_an_invalidation_never_lands() {
    on_all(async |_server: &Server, store: Store| {
        let (began, has_begun) = oneshot::channel();
        let (go, may_go) = oneshot::channel::<()>();
        let slow = tokio::spawn({
            let store = store.clone();
            async move {
                let load = || async {
                    began.send(()).unwrap();
                    may_go.await.unwrap();
                    ok("old")
                };
                store.at(keys::Text { id: 1 }).get_or_load(load).await.unwrap()
            }
        });
        has_begun.await.unwrap();
        store.emit(events::TextChanged { id: 1 }).await.unwrap();
        // Whoever asks now does not get what is being loaded.
        let handle = store.at(keys::Text { id: 1 });
        assert_eq!(handle.get_or_load(|| async { ok("new") }).await.unwrap(), "new");
        go.send(()).unwrap();
        assert_eq!(slow.await.unwrap(), "old");
        assert_eq!(handle.get().await.unwrap().as_deref(), Some("new"));
    })
    .await;
}

/// Every order in which a fill in one process and an invalidation in another can meet.
#[tokio::test]
async fn no_interleaving_of_a_fill_and_an_invalidation_leaves_an_old_value() {
    on_all(async |server: &Server, store: Store| {
        let other = super::patient(server).await;
        for invalidated_at in 0..4u32 {
            let id = u64::from(invalidated_at) + 10;
            let truth = Arc::new(std::sync::Mutex::new("old"));
            let change = async || {
                *truth.lock().unwrap() = "new";
                other.emit(events::TextChanged { id }).await.unwrap();
            };
            if invalidated_at == 0 {
                change().await;
            }
            let load = || async {
                let read = *truth.lock().unwrap();
                // Before the database was read, right after it, and long after it.
                match invalidated_at {
                    1 => change().await,
                    2 => {
                        tokio::task::yield_now().await;
                        change().await;
                        // A load in the other process that has finished meanwhile.
                        let handle = other.at(keys::Text { id });
                        handle.get_or_load(|| async { ok("new") }).await.unwrap();
                    }
                    _ => {}
                }
                ok(read)
            };
            store.at(keys::Text { id }).get_or_load(load).await.unwrap();
            if invalidated_at == 3 {
                change().await;
            }
            let cached = store.at(keys::Text { id }).get().await.unwrap();
            assert_ne!(cached.as_deref(), Some("old"), "invalidated at {invalidated_at}");
        }
    })
    .await;
}

#[tokio::test]
async fn deleting_a_key_drops_a_fill_that_is_under_way() {
    on_all(async |_server: &Server, store: Store| {
        let handle = store.at(keys::Text { id: 1 });
        let load = || async {
            store.at(keys::Text { id: 1 }).delete().await.unwrap();
            ok("old")
        };
        handle.get_or_load(load).await.unwrap();
        assert_eq!(handle.get().await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_load_is_taken_over_and_its_lease_given_back() {
    on_all(async |server: &Server, store: Store| {
        let (began, has_begun) = oneshot::channel();
        let leader = tokio::spawn({
            let store = store.clone();
            async move {
                let load = || async {
                    began.send(()).unwrap();
                    std::future::pending::<Loaded>().await
                };
                store.at(keys::Text { id: 1 }).get_or_load(load).await
            }
        });
        has_begun.await.unwrap();
        let waiter = tokio::spawn({
            let store = store.clone();
            async move { store.at(keys::Text { id: 1 }).get_or_load(|| async { ok("b") }).await }
        });
        leader.abort();
        assert_eq!(waiter.await.unwrap().unwrap(), "b");
        until("the lease is gone", async || {
            server.command(&["EXISTS", "ev:~lease:{ev:text:1}"]).integer() == 0
        })
        .await;
        // The waiter may have come before the lease was given back; whoever comes now fills.
        let handle = store.at(keys::Text { id: 1 });
        handle.get_or_load(|| async { ok("c") }).await.unwrap();
        assert!(handle.exists().await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn the_loaders_own_error_comes_out_and_is_shared() {
    on_all(async |_server: &Server, store: Store| {
        let handle = store.at(keys::Text { id: 1 });
        let load = || async { Err(DatabaseIsDown) };
        assert_eq!(*handle.get_or_load(load).await.unwrap_err(), DatabaseIsDown);
        assert_eq!(handle.get_or_load(|| async { ok("a") }).await.unwrap(), "a");
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_read_is_a_miss_and_is_replaced() {
    on_all(async |server: &Server, store: Store| {
        server.command(&["SET", "ev:page:1", "no JSON"]);
        server.command(&["LPUSH", "ev:text:1", "another type"]);
        let page = super::model::Page { title: "a".into(), lines: Vec::new() };
        let handle = store.at(keys::Page { id: 1 });
        let loaded = handle.get_or_load(|| async { Ok::<_, Infallible>(page.clone()) }).await;
        assert_eq!(loaded.unwrap(), page);
        assert_eq!(handle.get().await.unwrap(), Some(page));
        let handle = store.at(keys::Text { id: 1 });
        assert_eq!(handle.get_or_load(|| async { ok("a") }).await.unwrap(), "a");
        assert_eq!(handle.get().await.unwrap().as_deref(), Some("a"));
    })
    .await;
}

#[tokio::test]
async fn hashes_and_collections_are_cached_whole() {
    on_all(async |_server: &Server, store: Store| {
        let visits = fields::Visits { today: Some(3), seconds: None };
        let handle = store.at(keys::Visits { id: 1 });
        let loaded = handle.get_or_load(|| async { Ok::<_, Infallible>(visits.clone()) }).await;
        assert_eq!(loaded.unwrap(), visits);
        assert_eq!(handle.get().await.unwrap(), Some(visits));
        let board = store.at(keys::Board { id: 1 });
        let best = vec![("ada".to_owned(), 1), ("bob".to_owned(), 2)];
        board.get_or_load(|| async { Ok::<_, Infallible>(best.clone()) }).await.unwrap();
        assert_eq!(board.get().await.unwrap(), Some(best));
        assert!(board.remaining().await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn a_stale_value_is_served_when_the_loader_fails() {
    on_all(async |server: &Server, store: Store| {
        let handle = store.at(keys::Stale { id: 1 });
        handle.get_or_load(|| async { ok("a") }).await.unwrap();
        until("it has expired", async || server.command(&["EXISTS", "ev:stale:1"]).integer() == 0)
            .await;
        let down = || async { Err(DatabaseIsDown) };
        assert_eq!(handle.get_or_load(down).await.unwrap(), "a");
        assert_eq!(handle.get().await.unwrap(), None, "under its own key nothing outlives its TTL");
        let ttl = server.command(&["TTL", "ev:~stale:{ev:stale:1}"]).integer();
        assert!((3500..=3601).contains(&ttl), "{ttl}");
        // What was invalidated is not served, however the loader does.
        store.emit(events::TextChanged { id: 1 }).await.unwrap();
        assert_eq!(*handle.get_or_load(down).await.unwrap_err(), DatabaseIsDown);
        // A plain write leaves a copy behind too, and a deletion takes it away.
        handle.set(&"b".to_owned()).await.unwrap();
        assert_eq!(server.command(&["EXISTS", "ev:~stale:{ev:stale:1}"]).integer(), 1);
        handle.delete().await.unwrap();
        assert_eq!(server.command(&["EXISTS", "ev:~stale:{ev:stale:1}"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn that_there_is_none_is_remembered_for_a_while() {
    on_all(async |server: &Server, store: Store| {
        let loads = AtomicUsize::new(0);
        let none = || async {
            loads.fetch_add(1, Ordering::SeqCst);
            Ok::<Option<String>, Infallible>(None)
        };
        let handle = store.at(keys::Maybe { id: 1 });
        assert_eq!(handle.find_or_load(none).await.unwrap(), None);
        assert_eq!(handle.find_or_load(none).await.unwrap(), None);
        assert_eq!(loads.load(Ordering::SeqCst), 1);
        let ttl = server.command(&["TTL", "ev:~none:{ev:maybe:1}"]).integer();
        assert!((50..=60).contains(&ttl), "{ttl}");
        // Somebody makes one: the event, and a write, end it.
        store.emit(events::TextChanged { id: 1 }).await.unwrap();
        assert_eq!(handle.find_or_load(none).await.unwrap(), None);
        assert_eq!(loads.load(Ordering::SeqCst), 2);
        handle.set(&"a".to_owned()).await.unwrap();
        assert_eq!(handle.find_or_load(none).await.unwrap().as_deref(), Some("a"));
        // Without `negative_ttl`, nothing is remembered.
        let text = store.at(keys::Text { id: 1 });
        text.find_or_load(none).await.unwrap();
        text.find_or_load(none).await.unwrap();
        assert_eq!(loads.load(Ordering::SeqCst), 4);
    })
    .await;
}

#[tokio::test]
async fn a_value_near_its_end_is_refreshed_by_one_caller() {
    for server in Server::all() {
        let clock = Clock::manual();
        let store = super::patient_by(clock.clone(), &server).await;
        let handle = store.at(keys::Early { id: 1 });
        let loads = AtomicUsize::new(0);
        // A load takes a minute.
        let slow = async |loaded: Result<&str, DatabaseIsDown>| {
            loads.fetch_add(1, Ordering::SeqCst);
            clock.advance(Duration::from_secs(60));
            loaded.map(str::to_owned)
        };
        handle.get_or_load(|| slow(Ok("a"))).await.unwrap();
        let again = || slow(Ok("b"));
        assert_eq!(handle.get_or_load(again).await.unwrap(), "a", "an hour is left");
        // A minute is left, which is what a load takes.
        let mut refreshed = false;
        for _ in 0..100 {
            server.command(&["EXPIRE", "ev:early:1", "60"]);
            if handle.get_or_load(again).await.unwrap() == "b" {
                refreshed = true;
                break;
            }
        }
        assert!(refreshed);
        assert!(handle.remaining().await.unwrap().unwrap() > Duration::from_secs(3000));
        // A refresh that fails costs nobody anything.
        for _ in 0..100 {
            server.command(&["EXPIRE", "ev:early:1", "60"]);
            assert!(handle.get_or_load(|| slow(Err(DatabaseIsDown))).await.is_ok());
        }
        assert!(loads.load(Ordering::SeqCst) > 2, "it was tried");
    }
}

#[tokio::test]
async fn with_a_load_lock_one_process_loads_and_the_others_wait() {
    on_all(async |server: &Server, store: Store| {
        let other = super::patient(server).await;
        let loads = AtomicUsize::new(0);
        let load = || async {
            loads.fetch_add(1, Ordering::SeqCst);
            // From now on, only the other process runs scripts.
            let so_far = server.calls("evalsha");
            let asked = async || server.calls("evalsha") > so_far;
            until("the other process has asked for the lease", asked).await;
            ok("a")
        };
        let here = store.at(keys::Expensive { id: 1 });
        let there = other.at(keys::Expensive { id: 1 });
        let (first, second) = tokio::join!(here.get_or_load(load), there.get_or_load(load));
        assert_eq!((first.unwrap().as_str(), second.unwrap().as_str()), ("a", "a"));
        assert_eq!(loads.load(Ordering::SeqCst), 1);
    })
    .await;
}

#[tokio::test]
async fn a_value_that_is_kept_in_the_process_follows_changes() {
    on_all(async |server: &Server, store: Store| {
        let other = super::patient(server).await;
        warm(&store, 1, "a").await;
        assert_eq!(store.at(keys::Quick { id: 1 }).get().await.unwrap().as_deref(), Some("a"));
        // A write of one's own is seen at once.
        store.at(keys::Quick { id: 1 }).set(&"b".to_owned()).await.unwrap();
        assert_eq!(store.at(keys::Quick { id: 1 }).get().await.unwrap().as_deref(), Some("b"));
        // A write of another process is heard of.
        warm(&store, 1, "b").await;
        other.at(keys::Quick { id: 1 }).set(&"c".to_owned()).await.unwrap();
        until("the change is heard of", async || {
            store.at(keys::Quick { id: 1 }).get().await.unwrap().as_deref() == Some("c")
        })
        .await;
        // After an event of one's own, nothing old is read.
        warm(&store, 1, "d").await;
        server.command(&["DEL", "ev:quick:1"]);
        store.emit(events::TextChanged { id: 1 }).await.unwrap();
        assert_eq!(store.at(keys::Quick { id: 1 }).get().await.unwrap(), None);
        // The whole database is flushed.
        warm(&store, 1, "e").await;
        server.command(&["FLUSHALL"]);
        until("the flush is heard of", async || {
            store.at(keys::Quick { id: 1 }).get().await.unwrap().is_none()
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn without_the_connection_that_hears_of_changes_nothing_is_read_from_the_process() {
    on_all(async |server: &Server, store: Store| {
        warm(&store, 1, "a").await;
        let handle = store.at(keys::Quick { id: 1 });
        // Every connection is cut, and the value changes before any of them is back.
        server.command(&["MULTI"]);
        let mut connection = server.connect();
        connection.command(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]).unwrap();
        connection.command(&["SET", "ev:quick:1", "b"]).unwrap();
        until(
            "the new value is read",
            async || matches!(handle.get().await, Ok(Some(value)) if value == "b"),
        )
        .await;
        // From then on it never turns back.
        for _ in 0..100 {
            if let Ok(value) = handle.get().await {
                assert_eq!(value.as_deref(), Some("b"));
            }
        }
        warm(&store, 2, "c").await;
    })
    .await;
}

#[tokio::test]
async fn a_value_in_the_process_is_no_older_than_the_schema_says() {
    let server = Server::redis();
    let clock = Clock::manual();
    let store = Store::builder(server.url()).clock(clock.clone()).connect().await.unwrap();
    warm(&store, 1, "a").await;
    let handle = store.at(keys::Quick { id: 1 });
    assert!(handle.is_kept());
    clock.advance(Duration::from_secs(11));
    assert!(!handle.is_kept(), "ten seconds are the most");
}

#[test]
fn hits_misses_and_loads_are_counted_by_definition() {
    let recorder = metrics_util::debugging::DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::redis();
            let store = super::patient(&server).await;
            let handle = store.at(keys::Text { id: 77 });
            handle.get_or_load(|| async { ok("a") }).await.unwrap();
            handle.get_or_load(|| async { ok("a") }).await.unwrap();
            store.emit(events::TextChanged { id: 77 }).await.unwrap();
        });
    });
    let mut lines: Vec<String> = snapshotter
        .snapshot()
        .into_vec()
        .into_iter()
        .map(|(key, _, _, value)| {
            let labels: Vec<String> =
                key.key().labels().map(|it| format!("{}={}", it.key(), it.value())).collect();
            let value = match value {
                metrics_util::debugging::DebugValue::Counter(count) => count.to_string(),
                metrics_util::debugging::DebugValue::Gauge(_) => "gauge".to_owned(),
                metrics_util::debugging::DebugValue::Histogram(times) => {
                    format!("{} times", times.len())
                }
            };
            format!("{} {{{}}} {value}", key.key().name(), labels.join(","))
        })
        .collect();
    lines.sort();
    assert!(lines.iter().all(|line| !line.contains("77")), "no key in a label: {lines:#?}");
    insta::assert_snapshot!(lines.join("\n"));
}
