//! A server that goes away, stands still, is full or fails over.

use super::everything::{events, keys, values};
use super::{load, on_all, until};
use futures_util::future::join_all;
use keyward::{BreakerSettings, BreakerState, Error, Store};
use keyward_testkit::{Flavor, PATIENCE, Reply, Sentinel, Server};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Barrier;

/// A store that gives up soon.
async fn brisk(url: &str) -> Store {
    let breaker = BreakerSettings::default().cooldown(Duration::from_millis(100)).min_samples(3);
    let builder = Store::builder(url).breaker(breaker);
    let builder = builder.response_timeout(Duration::from_millis(300));
    builder.connect_timeout(Duration::from_secs(2)).connect().await.unwrap()
}

#[tokio::test]
async fn a_server_that_dies_and_comes_back_costs_nobody_an_error() {
    for server in Server::all() {
        let store = brisk(&server.url()).await;
        assert_eq!(load(&store, 1, "cached").await, "cached");
        server.kill();
        for _ in 0..20 {
            assert_eq!(load(&store, 1, "from the database").await, "from the database");
        }
        assert_eq!(store.breaker(), BreakerState::Open);
        let limit = store.at(keys::Fixed { id: 1 }).check().await.unwrap();
        assert!(limit.allowed && limit.outage, "open unless declared otherwise");
        let limit = store.at(keys::Even { id: 1 }).check().await.unwrap();
        assert!(!limit.allowed && limit.outage, "closed as declared");
        let error = store.at(keys::Text { id: 1 }).get().await.unwrap_err();
        assert!(error.is_unavailable(), "{error}");
        server.restart();
        until("the store recovers", async || {
            load(&store, 2, "fresh").await;
            store.at(keys::Text { id: 2 }).get().await.is_ok_and(|value| value.is_some())
        })
        .await;
        assert_eq!(store.breaker(), BreakerState::Closed);
    }
}

#[tokio::test]
async fn a_server_that_stands_still_is_left_alone_until_it_answers() {
    for server in Server::all() {
        let store = brisk(&server.url()).await;
        load(&store, 1, "cached").await;
        server.pause();
        for _ in 0..10 {
            assert_eq!(load(&store, 1, "from the database").await, "from the database");
        }
        assert_eq!(store.breaker(), BreakerState::Open);
        server.resume();
        until("the store recovers", async || load(&store, 1, "x").await == "cached").await;
        // The server holds all commands back for a while.
        server.command(&["CLIENT", "PAUSE", "1500", "ALL"]);
        for _ in 0..5 {
            assert_eq!(load(&store, 1, "from the database").await, "from the database");
        }
        until("the store recovers", async || load(&store, 1, "x").await == "cached").await;
    }
}

#[tokio::test]
async fn a_full_server_is_no_reason_to_fail() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let server = flavor.server().memory("3mb", "noeviction").start();
        let store = brisk(&server.url()).await;
        load(&store, 1, "cached").await;
        let mut connection = server.connect();
        // Big values until none fits, then smaller ones.
        for size in [100_000, 10_000, 1_000, 100, 1] {
            let junk = "x".repeat(size);
            for number in 0..2_000 {
                let set = ["SET".to_owned(), format!("junk:{size}:{number}"), junk.clone()];
                if matches!(connection.command(&set), Ok(Reply::Error(_))) {
                    break;
                }
            }
        }
        assert_eq!(load(&store, 1, "x").await, "cached", "it can still be read");
        assert_eq!(load(&store, 2, "from the database").await, "from the database");
        let error = store.at(keys::Text { id: 3 }).set(&"a".to_owned()).await.unwrap_err();
        assert!(matches!(&error, Error::Refused { code, .. } if code == "OOM"), "{error}");
        assert_eq!(store.breaker(), BreakerState::Closed, "it answers, after all");
        // Removing needs no memory.
        assert_eq!(store.emit(events::TextChanged { id: 1 }).await.unwrap().removed, 1);
    }
}

#[tokio::test]
async fn an_invalidation_during_an_outage_is_made_up_for_before_anything_is_read() {
    for server in Server::all() {
        let store = brisk(&server.url()).await;
        load(&store, 1, "old").await;
        // It comes back with the old value, and has never heard of the event.
        server.save();
        server.kill();
        let done = store.emit(events::TextChanged { id: 1 }).await.unwrap();
        assert!(done.postponed);
        assert_eq!(load(&store, 1, "new").await, "new");
        server.restart();
        until("the store recovers", async || {
            assert_eq!(load(&store, 1, "new").await, "new", "the old value is still at the server");
            store.at(keys::Text { id: 1 }).get().await.is_ok_and(|it| it.as_deref() == Some("new"))
        })
        .await;
    }
}

#[tokio::test]
async fn a_search_that_is_made_up_for_holds_up_nobody_else() {
    for server in Server::all() {
        let store = brisk(&server.url()).await;
        let (group, member) = (values::Group::new("a").unwrap(), values::Member::new("m").unwrap());
        let view = store.at(keys::View { group: group.clone(), member });
        view.set(&"old".to_owned()).await.unwrap();
        load(&store, 1, "cached").await;
        server.command(&["DEBUG", "POPULATE", "300000"]);
        server.pause();
        assert!(store.emit(events::GroupChanged { group }).await.unwrap().postponed);
        server.resume();
        until("the server answers", async || {
            store.at(keys::Text { id: 1 }).get().await.is_ok_and(|it| it.is_some())
        })
        .await;
        let there = server.command(&["EXISTS", view.name()]).integer();
        assert_eq!(there, 1, "everybody waited until all keys were looked at");
        // Meanwhile what the event concerns comes from the database.
        let new = || async { Ok::<_, Infallible>("new".to_owned()) };
        until("what is old is gone", async || {
            assert_eq!(view.get_or_load(new).await.unwrap(), "new");
            let mut batch = store.pipeline();
            let found = batch.add(view.get());
            let found = match batch.run().await {
                Ok(mut results) => results.take(found),
                Err(error) => Err(error),
            };
            assert_ne!(found.as_ref().ok().and_then(Option::as_deref), Some("old"));
            found.is_ok_and(|found| found.is_some())
        })
        .await;
    }
}

#[tokio::test]
async fn a_server_that_is_no_primary_any_more_is_as_one_that_is_away() {
    for server in Server::all() {
        let store = brisk(&server.url()).await;
        load(&store, 1, "old").await;
        server.command(&["REPLICAOF", "127.0.0.1", "1"]);
        let done = store.emit(events::TextChanged { id: 1 }).await.unwrap();
        assert!(done.postponed, "it says READONLY");
        let limit = store.at(keys::Fixed { id: 1 }).check().await.unwrap();
        assert!(limit.allowed && limit.outage);
        assert_eq!(load(&store, 1, "new").await, "new", "the old value is still at the server");
        server.command(&["REPLICAOF", "NO", "ONE"]);
        until("the store recovers", async || {
            assert_eq!(load(&store, 1, "new").await, "new");
            store.at(keys::Text { id: 1 }).get().await.is_ok_and(|it| it.as_deref() == Some("new"))
        })
        .await;
    }
}

#[tokio::test]
async fn without_its_cache_a_database_is_not_flooded() {
    let server = Server::redis();
    let breaker = BreakerSettings::default().cooldown(Duration::from_secs(60));
    let store = Store::builder(server.url()).breaker(breaker).fallback(4);
    let store = store.response_timeout(Duration::from_secs(5)).connect().await.unwrap();
    drop(server);
    for id in 0..10 {
        load(&store, id, "a").await;
    }
    assert_eq!(store.breaker(), BreakerState::Open);
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // A load ends when four are running, so that a fifth would be seen.
    let four = Barrier::new(4);
    let load = || async {
        let running = now.fetch_add(1, Ordering::SeqCst) + 1;
        most.fetch_max(running, Ordering::SeqCst);
        four.wait().await;
        now.fetch_sub(1, Ordering::SeqCst);
        Ok::<_, Infallible>("a".to_owned())
    };
    let handles: Vec<_> = (0..100).map(|id| store.at(keys::Text { id })).collect();
    let loaded = join_all(handles.iter().map(|handle| handle.get_or_load(load)));
    let loaded = tokio::time::timeout(PATIENCE, loaded).await.expect("four loads run at once");
    assert!(loaded.into_iter().all(|it| it.unwrap() == "a"));
    assert_eq!(most.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn an_application_starts_without_its_cache() {
    let server = Server::redis();
    let url = server.url();
    drop(server);
    assert!(Store::connect(&url).await.is_err());
    let store = Store::builder(&url).lazy().unwrap();
    assert_eq!(load(&store, 1, "from the database").await, "from the database");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sentinels_failover_costs_nobody_an_error() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let sentinel = Sentinel::start(flavor);
        let url = format!("redis+sentinel://{}/{}", sentinel.sentinel().address(), Sentinel::NAME);
        let store = brisk(&url).await;
        assert_eq!(load(&store, 1, "cached").await, "cached");
        let (calls, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let under_load = tokio::spawn({
            let (store, calls, stop) = (store.clone(), calls.clone(), stop.clone());
            async move {
                let mut callers = tokio::time::interval(Duration::from_millis(2));
                while !stop.load(Ordering::SeqCst) {
                    callers.tick().await;
                    let so_far = calls.load(Ordering::SeqCst);
                    load(&store, 100 + so_far % 50, "a").await;
                    calls.store(so_far + 1, Ordering::SeqCst);
                }
            }
        });
        until("somebody calls", async || calls.load(Ordering::SeqCst) > 0).await;
        sentinel.primary().kill();
        tokio::task::block_in_place(|| sentinel.wait_until_failed_over());
        until("the store finds the new primary", async || {
            store.at(keys::Text { id: 7 }).set(&"new".to_owned()).await.is_ok()
        })
        .await;
        let so_far = calls.load(Ordering::SeqCst);
        until("somebody still calls, or could not", async || {
            calls.load(Ordering::SeqCst) > so_far || under_load.is_finished()
        })
        .await;
        stop.store(true, Ordering::SeqCst);
        under_load.await.unwrap();
        assert_eq!(store.at(keys::Text { id: 7 }).get().await.unwrap().as_deref(), Some("new"));
    }
}

#[tokio::test]
async fn servers_are_reached_by_socket_tls_and_password() {
    on_all(async |server: &Server, _store: Store| {
        let store = Store::connect(server.unix_url()).await.unwrap();
        store.at(keys::Text { id: 1 }).set(&"by socket".to_owned()).await.unwrap();
    })
    .await;
    for flavor in Flavor::with_tls() {
        let server = flavor.server().tls().password("s3cr:t").start();
        let certificate = std::fs::read(server.certificates().authority()).unwrap();
        let store = Store::builder(server.tls_url()).root_certificate(certificate);
        let store = store.connect().await.unwrap();
        store.at(keys::Text { id: 1 }).set(&"by TLS".to_owned()).await.unwrap();
        let error = Store::connect(server.tls_url()).await.unwrap_err();
        assert!(!error.to_string().contains("s3cr"), "{error}");
    }
    let server = Flavor::Redis.server().user("app", "on >pw ~ev:* +@all").start();
    let url = server.url().replace("redis://", "redis://app:pw@");
    let store = Store::connect(&url).await.unwrap();
    store.at(keys::Text { id: 1 }).set(&"by user".to_owned()).await.unwrap();
    let server = Flavor::Redis.server().password("s3cr:t").start();
    let builder = Store::builder(server.unix_url());
    assert!(!format!("{builder:?}").contains("s3cr"), "{builder:?}");
    let store = builder.connect().await.unwrap();
    store.at(keys::Text { id: 1 }).set(&"by socket".to_owned()).await.unwrap();
    for url in ["", "redis", "http://a", "redis://[", "redis+sentinel://h:1", "redis+cluster://"] {
        let error = Store::builder(url).lazy().unwrap_err();
        assert!(matches!(error, Error::Settings(_)), "{url}: {error}");
    }
}
