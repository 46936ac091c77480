//! Values that are served although they are old: marked by an event, while a load is slow, and in an outage.

use super::everything::{events, keys, values};
use super::{on_all, patient_by, until};
use keyward::{Clock, Store};
use keyward_testkit::Server;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::oneshot;

#[derive(Debug, PartialEq)]
struct DatabaseIsDown;

fn news(member: &str) -> keys::News {
    let group = values::Group::new("g").unwrap();
    keys::News { group, member: values::Member::new(member).unwrap() }
}

fn edited(member: &str) -> events::NewsEdited {
    let group = values::Group::new("g").unwrap();
    events::NewsEdited { group, member: values::Member::new(member).unwrap() }
}

async fn load(store: &Store, text: &str) -> String {
    let load = || async { Ok::<_, Infallible>(text.to_owned()) };
    store.at(news("m")).get_or_load(load).await.unwrap()
}

#[tokio::test]
async fn what_an_event_refreshes_is_served_until_one_caller_has_loaded_it() {
    on_all(async |server: &Server, store: Store| {
        assert_eq!(load(&store, "old").await, "old");
        let done = store.emit(edited("m")).await.unwrap();
        assert_eq!((done.removed, done.refreshed, done.exact), (0, 1, 3));
        assert_eq!(store.at(news("m")).get().await.unwrap().as_deref(), Some("old"));
        // The first one loads; whoever comes meanwhile gets the old value.
        let (began, has_begun) = oneshot::channel();
        let (go, may_go) = oneshot::channel::<()>();
        let loader = tokio::spawn({
            let store = store.clone();
            async move {
                let load = || async {
                    began.send(()).unwrap();
                    may_go.await.unwrap();
                    Ok::<_, Infallible>("new".to_owned())
                };
                store.at(news("m")).get_or_load(load).await.unwrap()
            }
        });
        has_begun.await.unwrap();
        assert_eq!(load(&store, "not asked").await, "old");
        go.send(()).unwrap();
        assert_eq!(loader.await.unwrap(), "new");
        assert_eq!(load(&store, "not asked").await, "new");
        assert_eq!(server.command(&["EXISTS", "ev:~refresh:{ev:news:g:m}"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_load_that_began_before_a_refresh_does_not_pass_for_new() {
    on_all(async |_server: &Server, store: Store| {
        load(&store, "old").await;
        store.emit(edited("m")).await.unwrap();
        let slow = || async {
            store.emit(edited("m")).await.unwrap();
            Ok::<_, Infallible>("read too early".to_owned())
        };
        store.at(news("m")).get_or_load(slow).await.unwrap();
        assert_eq!(load(&store, "new").await, "new", "it is still due");
        assert_eq!(load(&store, "not asked").await, "new");
    })
    .await;
}

#[tokio::test]
async fn a_refresh_finds_keys_by_index_and_by_scan_and_marks_no_longer_than_they_live() {
    on_all(async |server: &Server, store: Store| {
        let group = || values::Group::new("g").unwrap();
        for name in ["m", "n"] {
            let member = values::Member::new(name).unwrap();
            store.at(news(name)).set(&"old".to_owned()).await.unwrap();
            let digest = keys::Digest { group: group(), member };
            store.at(digest).set(&vec!["old".to_owned()]).await.unwrap();
        }
        let event = || events::NewsReordered { group: group() };
        let done = store.emit(event()).await.unwrap();
        assert_eq!((done.removed, done.refreshed, done.indexed, done.searched), (0, 4, 1, 1));
        for (mark, key) in [
            ("ev:~refresh:{ev:news:g:n}", "ev:news:g:n"),
            ("ev:~refresh:{ev:digest:g:n}", "ev:digest:g:n"),
        ] {
            let left = |key| server.command(&["PTTL", key]).integer();
            assert!(left(mark) > 0 && left(mark) <= left(key) + 1000, "{mark}");
        }
        // A write makes it new, and an event finds it again.
        store.at(news("m")).set(&"new".to_owned()).await.unwrap();
        assert_eq!(server.command(&["EXISTS", "ev:~refresh:{ev:news:g:m}"]).integer(), 0);
        assert_eq!(store.emit(event()).await.unwrap().refreshed, 4);
        // Deleting a key deletes its mark.
        store.at(news("n")).delete().await.unwrap();
        assert_eq!(server.command(&["EXISTS", "ev:~refresh:{ev:news:g:n}"]).integer(), 0);
        // What was remembered not to be there is forgotten.
        let none = || async { Ok::<Option<String>, Infallible>(None) };
        store.at(news("o")).find_or_load(none).await.unwrap();
        store.emit(edited("o")).await.unwrap();
        let some = || async { Ok::<_, Infallible>(Some("there".to_owned())) };
        let found = store.at(news("o")).find_or_load(some).await.unwrap();
        assert_eq!(found.as_deref(), Some("there"));
    })
    .await;
}

#[tokio::test]
async fn what_would_stay_marked_for_ever_is_removed_and_a_full_server_takes_marks() {
    on_all(async |server: &Server, store: Store| {
        // Somebody else wrote it without a TTL: the mark would stay for ever.
        server.command(&["SET", "ev:news:g:m", "old"]);
        server.command(&["SET", "ev:~refresh:{ev:news:g:m}", ""]);
        assert_eq!(store.emit(edited("m")).await.unwrap().refreshed, 1);
        assert_eq!(server.command(&["DBSIZE"]).integer(), 0);
        store.at(news("m")).set(&"old".to_owned()).await.unwrap();
        server.command(&["CONFIG", "SET", "maxmemory", "1"]);
        assert_eq!(store.emit(edited("m")).await.unwrap().refreshed, 1);
        assert_eq!(server.command(&["EXISTS", "ev:~refresh:{ev:news:g:m}"]).integer(), 1);
    })
    .await;
}

#[tokio::test]
async fn what_is_gone_when_it_is_loaded_again_is_not_served() {
    on_all(async |server: &Server, store: Store| {
        let group = values::Group::new("g").unwrap();
        let digest = keys::Digest { group, member: values::Member::new("m").unwrap() };
        let handle = store.at(digest);
        handle.set(&vec!["old".to_owned()]).await.unwrap();
        store.emit(edited("m")).await.unwrap();
        let none = || async { Ok::<_, Infallible>(None) };
        assert_eq!(handle.find_or_load(none).await.unwrap(), None);
        assert_eq!(server.command(&["EXISTS", "ev:digest:g:m"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_refresh_is_heard_of_by_other_processes() {
    on_all(async |server: &Server, store: Store| {
        let other = super::patient(server).await;
        load(&other, "old").await;
        until("the other process keeps it", async || {
            load(&other, "not asked").await;
            other.at(news("m")).is_kept()
        })
        .await;
        store.emit(edited("m")).await.unwrap();
        until("it reads again", async || load(&other, "new").await == "new").await;
    })
    .await;
}

#[tokio::test]
async fn while_a_load_is_slow_those_who_wait_get_the_expired_value() {
    on_all(async |server: &Server, store: Store| {
        let slow = || store.at(keys::Slow { id: 1 });
        slow().set(&"old".to_owned()).await.unwrap();
        server.command(&["DEL", "ev:slow:1"]);
        let (go, may_go) = oneshot::channel::<()>();
        let leader = async {
            let load = || async {
                may_go.await.unwrap();
                Ok::<_, Infallible>("new".to_owned())
            };
            slow().get_or_load(load).await.unwrap()
        };
        let waiter = async {
            until("somebody loads", async || {
                server.command(&["EXISTS", "ev:~lease:{ev:slow:1}"]).integer() == 1
            })
            .await;
            let load = || async { Ok::<_, Infallible>("not asked".to_owned()) };
            let value = slow().get_or_load(load).await.unwrap();
            go.send(()).unwrap();
            value
        };
        assert_eq!(tokio::join!(leader, waiter), ("new".to_owned(), "old".to_owned()));
        assert_eq!(slow().get().await.unwrap().as_deref(), Some("new"));
    })
    .await;
}

#[tokio::test]
async fn a_detached_load_goes_on_while_its_caller_has_the_expired_value() {
    on_all(async |server: &Server, store: Store| {
        let slow = store.at(keys::Slow { id: 1 });
        slow.set(&"old".to_owned()).await.unwrap();
        server.command(&["DEL", "ev:slow:1"]);
        let (go, may_go) = oneshot::channel::<()>();
        let load = || async {
            may_go.await.unwrap();
            Ok::<_, Infallible>("new".to_owned())
        };
        assert_eq!(slow.get_or_load_detached(load).await.unwrap(), "old");
        go.send(()).unwrap();
        until("the load has filled the cache", async || {
            slow.get().await.unwrap().as_deref() == Some("new")
        })
        .await;
        // Without an old value there is nothing to serve.
        let other = store.at(keys::Slow { id: 2 });
        let load = || async { Ok::<_, Infallible>("loaded".to_owned()) };
        assert_eq!(other.get_or_load_detached(load).await.unwrap(), "loaded");
        let fails = || async { Err::<String, _>(DatabaseIsDown) };
        let error = store.at(keys::Slow { id: 3 }).get_or_load_detached(fails).await.unwrap_err();
        assert_eq!(*error, DatabaseIsDown);
        // What is due is served at once, and loaded behind that.
        store.at(news("m")).set(&"old".to_owned()).await.unwrap();
        store.emit(edited("m")).await.unwrap();
        let load = || async { Ok::<_, Infallible>(Some("new".to_owned())) };
        let found = store.at(news("m")).find_or_load_detached(load).await.unwrap();
        assert_eq!(found.as_deref(), Some("old"));
        until("it was loaded", async || {
            store.at(news("m")).get().await.unwrap().as_deref() == Some("new")
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn when_nobody_has_an_answer_the_process_has_the_last_one() {
    for server in Server::all() {
        let clock = Clock::manual();
        let store = patient_by(clock.clone(), &server).await;
        let resilient = |id| store.at(keys::Resilient { id });
        for id in [1, 2] {
            resilient(id).set(&"old".to_owned()).await.unwrap();
            until("it is kept", async || {
                resilient(id).get().await.unwrap();
                resilient(id).is_kept()
            })
            .await;
        }
        // One that has changed is not served.
        resilient(2).delete().await.unwrap();
        server.kill();
        let fails = || async { Err::<String, _>(DatabaseIsDown) };
        clock.advance(Duration::from_secs(60));
        until("the server is known to be gone", async || resilient(1).get().await.is_err()).await;
        assert_eq!(resilient(1).get_or_load(fails).await.unwrap(), "old");
        let error = resilient(2).get_or_load(fails).await.unwrap_err();
        assert_eq!(*error, DatabaseIsDown);
        // No longer than its own end and `stale_if_error` after that.
        clock.advance(Duration::from_secs(2 * 3600));
        assert!(resilient(1).get_or_load(fails).await.is_err());
    }
}
