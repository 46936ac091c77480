//! A server whose clock jumps. What is measured on a server's clock ends early or late, and nothing else happens:
//! fences grow, a holder learns that its lock is gone, and no session that has ended can be used again.

use super::everything::keys;
use super::signed::fields;
use super::signed::keys::{Login, Logins};
use super::signed::values::SessionId;
use super::{patient, until};
use keyward::{Error, Store};
use keyward_testkit::{Flavor, PATIENCE, Server};
use std::time::Duration;

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

fn login(user: u64) -> fields::Login {
    fields::Login { user, seen: None, cart: None }
}

/// Runs a test on every server, with a clock of its own.
async fn on_all(test: impl AsyncFn(&Server, Store)) {
    for flavor in Flavor::ALL {
        let server = flavor.server().own_clock().start();
        let store = patient(&server).await;
        test(&server, store).await;
    }
}

#[tokio::test]
async fn a_clock_that_is_set_forward_ends_locks_and_fences_decide() {
    on_all(async |server: &Server, store: Store| {
        let lock = store.at(keys::ImportLock { id: 1 });
        let first = lock.acquire().await.unwrap();
        server.set_clock_ahead(HOUR);
        let second = lock.acquire().await.unwrap();
        assert!(second.fence() > first.fence());
        let lost = tokio::time::timeout(PATIENCE, first.lost()).await;
        assert!(lost.is_ok() && !first.is_held() && !first.release().await.unwrap());
        assert!(second.release().await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_is_set_back_keeps_a_lock_and_fences_grow() {
    on_all(async |server: &Server, store: Store| {
        let lock = store.at(keys::ImportLock { id: 1 });
        let first = lock.acquire().await.unwrap();
        server.set_clock_ahead(-HOUR);
        assert!(lock.try_acquire().await.unwrap().is_none());
        until("a renewal follows the clock", async || {
            server.command(&["PTTL", "ev:lock:import:1"]).integer() <= 3000
        })
        .await;
        assert!(first.is_held());
        let fence = first.fence();
        assert!(first.release().await.unwrap());
        let second = lock.acquire().await.unwrap();
        assert!(second.fence() > fence, "it is not the clock alone that makes them grow");
        // Whoever waits gets it within its declared time, although the time of the server is another one.
        let waits = tokio::spawn({
            let store = store.clone();
            async move { store.at(keys::ImportLock { id: 1 }).acquire().await.unwrap().fence() }
        });
        server.set_clock_ahead(0);
        let third = tokio::time::timeout(PATIENCE, waits).await.unwrap().unwrap();
        assert!(third > second.fence());
    })
    .await;
}

#[tokio::test]
async fn a_fair_lock_goes_on_where_the_clock_jumps() {
    on_all(async |server: &Server, store: Store| {
        for ahead in [HOUR, -HOUR, 0] {
            let held = store.at(keys::FairLock { id: 1 }).acquire().await.unwrap();
            let waits = tokio::spawn({
                let store = store.clone();
                async move { store.at(keys::FairLock { id: 1 }).acquire().await.unwrap().fence() }
            });
            let waiters = "ev:~waiters:{ev:lock:fair:1}";
            until("one waits", async || server.command(&["ZCARD", waiters]).integer() == 1).await;
            server.set_clock_ahead(ahead);
            let fence = held.fence();
            held.release().await.unwrap();
            let next = tokio::time::timeout(PATIENCE, waits).await.unwrap().unwrap();
            assert!(next > fence, "{ahead}");
        }
    })
    .await;
}

#[tokio::test]
async fn no_session_comes_back_where_the_clock_jumps() {
    on_all(async |server: &Server, store: Store| {
        let sessions = store.sessions::<Login>();
        for ahead in [-DAY, DAY, -2 * DAY, 3 * DAY] {
            let revoked = sessions.create(&login(1)).await.unwrap();
            let old = sessions.create(&login(1)).await.unwrap();
            assert!(store.at(revoked.clone()).revoke().await.unwrap());
            let new = store.at(old.clone()).rotate().await.unwrap().unwrap();
            server.set_clock_ahead(ahead);
            for ended in [&revoked, &old] {
                let session = store.at(ended.clone());
                assert_eq!(session.get().await.unwrap(), None, "{ahead}");
                assert!(!session.touch().await.unwrap());
                assert_eq!(session.rotate().await.unwrap(), None);
            }
            // Forward, everybody logs in again. Back, whoever is logged in can be logged out.
            let lives = store.at(new.clone()).get().await.unwrap().is_some();
            assert_eq!(lives, ahead < 0, "{ahead}");
            sessions.revoke_all(&Logins { user: 1 }).await.unwrap();
            assert_eq!(store.at(new).get().await.unwrap(), None);
            assert!(sessions.list(&Logins { user: 1 }).await.unwrap().is_empty());
        }
    })
    .await;
}

#[tokio::test]
async fn a_use_after_the_clock_was_set_back_holds_to_what_is_declared() {
    on_all(async |server: &Server, store: Store| {
        let session = store.at(Login { session_id: SessionId::new("back").unwrap() });
        assert!(session.create(&login(7)).await.unwrap());
        server.set_clock_ahead(-HOUR);
        assert!(session.touch().await.unwrap());
        assert!(session.remaining().await.unwrap().unwrap() <= Duration::from_secs(3600));
        assert!(session.revoke().await.unwrap());
        let again = session.create(&login(7)).await.unwrap_err();
        assert!(matches!(again, Error::Revoked { .. }), "{again:?}");
    })
    .await;
}

#[tokio::test]
async fn a_window_that_is_over_counts_by_the_share_that_is_in_sight() {
    on_all(async |server: &Server, store: Store| {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
        // Five seconds into a window, so that none ends while the test runs.
        let begin = 65 - i64::try_from(now % 60).unwrap();
        server.set_clock_ahead(begin);
        let limit = store.at(keys::Moving { id: 1 });
        for _ in 0..3 {
            assert!(limit.check().await.unwrap().allowed);
        }
        server.set_clock_ahead(begin + 60);
        // 55 of 60 seconds of the three are in sight; at 40 of them, there is room for one more.
        let refused = limit.check().await.unwrap();
        assert!(!refused.allowed, "{refused:?}");
        let wait = refused.retry_after.unwrap().as_secs_f64();
        assert!((5.0..=15.0).contains(&wait), "{refused:?}");
        server.set_clock_ahead(begin + 60 + 16);
        let other = patient(server).await;
        assert!(other.at(keys::Moving { id: 1 }).check().await.unwrap().allowed);
        assert!(!other.at(keys::Moving { id: 1 }).check().await.unwrap().allowed);
    })
    .await;
}
