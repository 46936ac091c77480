//! Writes that meet a load.

use super::everything::keys;
use super::{on_all, patient_by, until};
use keyward::{Clock, Store};
use keyward_testkit::Server;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::oneshot;

fn text(text: &str) -> String {
    text.to_owned()
}

#[tokio::test]
async fn a_fill_does_not_replace_what_was_written_since_its_load_began() {
    on_all(async |server: &Server, store: Store| {
        // By one plain command.
        let plain = store.at(keys::Text { id: 1 });
        let load = || async {
            plain.set(&text("new")).await.unwrap();
            Ok::<_, Infallible>(text("old"))
        };
        assert_eq!(plain.get_or_load(load).await.unwrap(), "old", "what was loaded");
        assert_eq!(plain.get().await.unwrap().as_deref(), Some("new"));
        assert_eq!(server.command(&["EXISTS", "ev:~lease:{ev:text:1}"]).integer(), 0);
        // By a script.
        let scripted = store.at(keys::Kept { id: 1 });
        let load = || async {
            scripted.set(&text("new")).await.unwrap();
            Ok::<_, Infallible>(text("old"))
        };
        scripted.get_or_load(load).await.unwrap();
        assert_eq!(scripted.get().await.unwrap().as_deref(), Some("new"));
        // In place of something that is no value, and has no TTL.
        server.command(&["RPUSH", "ev:text:2", "a list"]);
        let replaced = store.at(keys::Text { id: 2 });
        let load = || async {
            replaced.set(&text("new")).await.unwrap();
            Ok::<_, Infallible>(text("old"))
        };
        replaced.get_or_load(load).await.unwrap();
        assert_eq!(replaced.get().await.unwrap().as_deref(), Some("new"));
        server.command(&["RPUSH", "ev:sliding:2", "a list"]);
        let sliding = store.at(keys::Sliding { id: 2 });
        let load = || async {
            sliding.get().await.unwrap_err();
            Ok::<_, Infallible>(text("loaded"))
        };
        sliding.get_or_load(load).await.unwrap();
        assert_eq!(sliding.get().await.unwrap().as_deref(), Some("loaded"), "only read meanwhile");
    })
    .await;
}

#[tokio::test]
async fn a_write_that_leaves_no_key_ends_a_load_too() {
    on_all(async |_server: &Server, store: Store| {
        let tags = store.at(keys::Tags { id: 1 });
        let load = || async {
            tags.remove(&[text("b")]).await.unwrap();
            Ok::<_, Infallible>(vec![text("a"), text("b")])
        };
        tags.get_or_load(load).await.unwrap();
        assert_eq!(tags.get().await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn that_there_is_none_is_not_remembered_over_a_value_that_came_meanwhile() {
    on_all(async |_server: &Server, store: Store| {
        let maybe = store.at(keys::Maybe { id: 1 });
        let load = || async {
            maybe.set(&text("created")).await.unwrap();
            Ok::<_, Infallible>(None)
        };
        assert_eq!(maybe.find_or_load(load).await.unwrap(), None);
        assert_eq!(maybe.get().await.unwrap().as_deref(), Some("created"));
        let again = || async { Ok::<_, Infallible>(None) };
        assert_eq!(maybe.find_or_load(again).await.unwrap().as_deref(), Some("created"));
    })
    .await;
}

#[tokio::test]
async fn an_early_refresh_does_not_replace_what_was_written_meanwhile() {
    for server in Server::all() {
        let clock = Clock::manual();
        let store = patient_by(clock.clone(), &server).await;
        let early = store.at(keys::Early { id: 1 });
        let first = || async {
            clock.advance(Duration::from_secs(60));
            Ok::<_, Infallible>(text("first"))
        };
        early.get_or_load(first).await.unwrap();
        until("it is refreshed early", async || {
            server.command(&["EXPIRE", "ev:early:1", "60"]);
            let refresh = || async {
                early.set(&text("new")).await.unwrap();
                Ok::<_, Infallible>(text("old"))
            };
            early.get_or_load(refresh).await.unwrap() == "old"
        })
        .await;
        assert_eq!(early.get().await.unwrap().as_deref(), Some("new"));
    }
}

#[tokio::test]
async fn who_has_a_good_value_does_not_wait_for_another_that_refreshes_it() {
    for server in Server::all() {
        let clock = Clock::manual();
        let here = patient_by(clock.clone(), &server).await;
        let there = patient_by(clock.clone(), &server).await;
        for (id, store) in [(2, &here), (3, &there)] {
            // So slow that a value is always due.
            let slow = || async {
                clock.advance(Duration::from_secs(36_000_000));
                Ok::<_, Infallible>(text("slow"))
            };
            store.at(keys::EarlyAlone { id }).get_or_load(slow).await.unwrap();
        }
        let good = here.at(keys::EarlyAlone { id: 1 });
        good.set(&text("good")).await.unwrap();
        let (done, is_done) = oneshot::channel::<()>();
        let refreshing = || async {
            // It is not done before the other has its value.
            is_done.await.unwrap();
            Ok::<_, Infallible>(text("refreshed"))
        };
        server.command(&["PEXPIRE", "ev:early-alone:1", "60000"]);
        let asking = async {
            let taken =
                async || server.command(&["EXISTS", "ev:~lease:{ev:early-alone:1}"]).integer() == 1;
            until("the lease is taken", taken).await;
            let before = server.calls("evalsha") + server.calls("eval");
            let asked = async || {
                let load = || async { Ok::<_, Infallible>(text("loaded twice")) };
                let value = there.at(keys::EarlyAlone { id: 1 }).get_or_load(load).await.unwrap();
                assert_eq!(value, "good");
                server.calls("evalsha") + server.calls("eval") > before
            };
            until("the other process has asked for the lease", asked).await;
            done.send(()).unwrap();
        };
        let (value, ()) = tokio::join!(good.get_or_load(refreshing), asking);
        assert_eq!(value.unwrap(), "refreshed");
    }
}

#[tokio::test]
async fn what_was_taken_out_does_not_come_back() {
    on_all(async |server: &Server, store: Store| {
        let stale = store.at(keys::Stale { id: 1 });
        stale.set(&text("secret")).await.unwrap();
        assert_eq!(stale.take().await.unwrap().as_deref(), Some("secret"));
        assert_eq!(server.command(&["DBSIZE"]).integer(), 0, "no copy of it is left");
        assert_eq!(stale.take().await.unwrap(), None);
        stale.get_or_load(|| async { Err::<String, _>("gone") }).await.unwrap_err();
        // Nor by a load that began before.
        let taken = store.at(keys::Text { id: 1 });
        let load = || async {
            taken.take().await.unwrap();
            Ok::<_, Infallible>(text("old"))
        };
        taken.get_or_load(load).await.unwrap();
        assert_eq!(taken.get().await.unwrap(), None);
    })
    .await;
}
