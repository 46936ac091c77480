//! Rate limits.

use super::everything::keys;
use super::{cluster, clustered, on_all, patient_by};
use keyward::{Allowance, Clock, Error, Store};
use keyward_testkit::{Cluster, Flavor, Server};
use std::time::Duration;

#[tokio::test]
async fn a_fixed_window_starts_anew_when_its_time_is_over() {
    on_all(async |server: &Server, store: Store| {
        let limit = store.at(keys::Fixed { id: 1 });
        for left in (0..3).rev() {
            let allowance = limit.check().await.unwrap();
            assert!(allowance.allowed);
            assert_eq!(allowance.remaining, left);
        }
        let refused = limit.check().await.unwrap();
        assert!(!refused.allowed);
        assert!(refused.retry_after > Some(Duration::from_secs(50)), "{refused:?}");
        assert_eq!(refused.retry_after, Some(refused.reset));
        assert_eq!(server.command(&["TYPE", "ev:fixed:1"]).text(), "string");
        assert_eq!(server.command(&["GET", "ev:fixed:1"]).text(), "3", "as the document says");
        assert!(limit.reset().await.unwrap());
        assert!(limit.check().await.unwrap().allowed);
        // A request that counts as several, and one that never fits.
        assert!(limit.check_cost(2).await.unwrap().allowed);
        assert!(!limit.check_cost(4).await.unwrap().allowed);
        // Somebody wrote the key without a TTL: it would never start anew.
        server.command(&["SET", "ev:fixed:2", "3"]);
        assert!(store.at(keys::Fixed { id: 2 }).check().await.unwrap().allowed);
        assert!(server.command(&["TTL", "ev:fixed:2"]).integer() > 0);
    })
    .await;
}

#[tokio::test]
async fn what_costs_more_than_the_limit_is_told_that_waiting_does_not_help() {
    on_all(async |_server: &Server, store: Store| {
        let (fixed, moving) = (store.at(keys::Fixed { id: 1 }), store.at(keys::Moving { id: 1 }));
        let even = store.at(keys::Even { id: 1 });
        for _ in 0..2 {
            // The second time a refusal is remembered.
            let refused = [
                fixed.check_cost(4).await.unwrap(),
                moving.check_cost(4).await.unwrap(),
                even.check_cost(4).await.unwrap(),
                even.peek_cost(4).await.unwrap(),
                store.at(keys::Plan { id: 1 }).limited_to(0).check().await.unwrap(),
            ];
            for refused in refused {
                assert_eq!((refused.allowed, refused.retry_after), (false, None), "{refused:?}");
            }
        }
        let all = store.limits().and(&fixed).and_cost(&moving, 4).check().await.unwrap();
        assert_eq!((all.allowed, all.retry_after), (false, None), "{all:?}");
        for left in (0..3).rev() {
            assert_eq!(fixed.check().await.unwrap().remaining, left, "nothing was counted");
        }
    })
    .await;
}

#[tokio::test]
async fn a_sliding_window_and_a_spread_one_allow_as_many() {
    on_all(async |_server: &Server, store: Store| {
        for _ in 0..3 {
            assert!(store.at(keys::Moving { id: 1 }).check().await.unwrap().allowed);
            assert!(store.at(keys::Even { id: 1 }).check().await.unwrap().allowed);
        }
        let moving = store.at(keys::Moving { id: 1 }).check().await.unwrap();
        assert!(!moving.allowed && moving.retry_after > Some(Duration::ZERO), "{moving:?}");
        assert!(moving.reset <= Duration::from_secs(120));
        let even = store.at(keys::Even { id: 1 }).check().await.unwrap();
        assert!(!even.allowed, "{even:?}");
        let each = Duration::from_secs(20);
        assert!(even.retry_after <= Some(each) && even.retry_after > Some(each / 2), "{even:?}");
    })
    .await;
}

#[tokio::test]
async fn a_look_at_a_limit_writes_nothing_and_says_what_a_check_would() {
    on_all(async |server: &Server, store: Store| {
        let (fixed, moving) = (store.at(keys::Fixed { id: 1 }), store.at(keys::Moving { id: 1 }));
        let even = store.at(keys::Even { id: 1 });
        let look = async || {
            [fixed.peek().await.unwrap(), moving.peek().await.unwrap(), even.peek().await.unwrap()]
        };
        for before in look().await {
            assert!(before.allowed && before.remaining == 3, "{before:?}");
            assert_eq!((before.retry_after, before.reset), (Some(Duration::ZERO), Duration::ZERO));
        }
        assert_eq!(server.command(&["DBSIZE"]).integer(), 0);
        for left in (0..3).rev() {
            for check in [fixed.check().await, moving.check().await, even.check().await] {
                assert_eq!(check.unwrap().remaining, left);
            }
            for seen in look().await {
                assert_eq!((seen.allowed, seen.remaining), (left > 0, left), "{seen:?}");
                assert!(seen.reset > Duration::ZERO, "{seen:?}");
            }
        }
        let values =
            || ["ev:fixed:1", "ev:moving:1", "ev:even:1"].map(|key| server.command(&["GET", key]));
        let before = values();
        for seen in look().await {
            assert!(!seen.allowed && seen.retry_after > Some(Duration::ZERO), "{seen:?}");
        }
        assert!(!fixed.peek_cost(2).await.unwrap().allowed);
        assert_eq!(values(), before);
    })
    .await;
}

#[tokio::test]
async fn a_reset_frees_a_limit_in_this_process_at_once() {
    on_all(async |server: &Server, store: Store| {
        for limit in [1, 2] {
            let even = store.at(keys::Even { id: limit });
            assert!(!even.reset().await.unwrap(), "nothing was counted");
            assert!(even.check_cost(3).await.unwrap().allowed);
            assert!(!even.check().await.unwrap().allowed);
            assert!(even.reset().await.unwrap());
            assert!(even.check_cost(3).await.unwrap().allowed);
        }
        assert_eq!(server.command(&["DBSIZE"]).integer(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_refusal_is_remembered_for_as_much_or_more_and_for_a_second_at_most() {
    for server in Server::all() {
        let clock = Clock::manual();
        let store = patient_by(clock.clone(), &server).await;
        let limit = store.at(keys::Fixed { id: 1 });
        assert!(limit.check().await.unwrap().allowed);
        let refused = limit.check_cost(3).await.unwrap();
        assert!(!refused.allowed && refused.remaining == 2, "{refused:?}");
        // Somebody else resets it, which this process does not know yet.
        server.command(&["DEL", "ev:fixed:1"]);
        assert_eq!(limit.check_cost(3).await.unwrap(), refused);
        assert!(!limit.check_cost(4).await.unwrap().allowed);
        assert_eq!(server.command(&["EXISTS", "ev:fixed:1"]).integer(), 0, "it was not asked");
        assert!(limit.peek_cost(3).await.unwrap().allowed, "a look asks");
        assert!(limit.check_cost(1).await.unwrap().allowed, "less may be allowed");
        server.command(&["DEL", "ev:fixed:1"]);
        clock.advance(Duration::from_secs(1));
        assert!(limit.check_cost(3).await.unwrap().allowed);
        // Another number of the caller's is another question.
        let plan = |most| store.at(keys::Plan { id: 1 }).limited_to(most);
        assert!(plan(2).check_cost(2).await.unwrap().allowed);
        assert!(!plan(2).check().await.unwrap().allowed);
        assert!(plan(3).check().await.unwrap().allowed);
        assert_eq!(plan(1).peek().await.unwrap().remaining, 0, "less than was counted");
    }
}

#[tokio::test]
async fn several_limits_count_all_or_nothing() {
    on_all(async |server: &Server, store: Store| {
        let (fixed, even) = (store.at(keys::Fixed { id: 1 }), store.at(keys::Even { id: 1 }));
        let moving = store.at(keys::Moving { id: 1 });
        let all = store.limits().and(&fixed).and_cost(&even, 2).and(&moving);
        let seen = all.peek().await.unwrap();
        assert!(seen.allowed && seen.retry_after == Some(Duration::ZERO), "{seen:?}");
        assert_eq!(server.command(&["DBSIZE"]).integer(), 0);
        let left = |each: &[Allowance]| each.iter().map(|it| it.remaining).collect::<Vec<_>>();
        let first = all.check().await.unwrap();
        assert!(first.allowed);
        assert_eq!(left(&first.each), [2, 1, 2]);
        let second = all.check().await.unwrap();
        assert!(!second.allowed, "{second:?}");
        assert_eq!(left(&second.each), [2, 1, 2], "the others have not counted it");
        let said: Vec<bool> = second.each.iter().map(|it| it.allowed).collect();
        assert_eq!(said, [true, false, true]);
        assert_eq!(second.retry_after, second.each[1].retry_after);
        assert_eq!(server.command(&["GET", "ev:fixed:1"]).text(), "1");
        // From here on this process knows, and asks nobody.
        let third = all.check().await.unwrap();
        assert_eq!(third.each.iter().map(|it| it.definition).collect::<Vec<_>>(), ["even"]);
        // What allows nothing refuses, and none at all allows.
        let plan = store.at(keys::Plan { id: 1 }).limited_to(0);
        assert!(!store.limits().and(&fixed).and(&plan).check().await.unwrap().allowed);
        assert_eq!(server.command(&["GET", "ev:fixed:1"]).text(), "1");
        assert!(store.limits().check().await.unwrap().allowed);
        let twice = store.limits().and(&fixed).and(&fixed).check().await.unwrap_err();
        assert!(matches!(&twice, Error::Settings(why) if why.contains("`fixed`")), "{twice}");
    })
    .await;
}

#[tokio::test]
async fn several_limits_in_several_slots_are_looked_at_before_they_are_counted() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let nodes = Cluster::start(flavor);
        let store = cluster::store(&nodes).await;
        let limits: Vec<_> = (0..6).map(|id| store.at(clustered::keys::Fixed { id })).collect();
        let all = limits.iter().fold(store.limits(), |all, limit| all.and(limit));
        assert!(all.check().await.unwrap().allowed);
        assert!(limits[4].check_cost(2).await.unwrap().allowed);
        let refused = all.check().await.unwrap();
        assert!(!refused.allowed);
        let said: Vec<u64> = refused.each.iter().map(|it| it.remaining).collect();
        assert_eq!(said, [2, 2, 2, 2, 0, 2]);
        for id in [0, 1, 2, 3, 5] {
            assert_eq!(nodes.command(&["GET", &format!("ev:fixed:{id}")]).text(), "1");
        }
    }
}

#[tokio::test]
async fn what_is_not_a_limit_is_a_typed_error_and_stays_as_it_is() {
    on_all(async |server: &Server, store: Store| {
        for (key, value) in [("ev:fixed:1", "many"), ("ev:moving:1", "7"), ("ev:even:1", "-1")] {
            server.command(&["SET", key, value]);
        }
        let checks = [
            store.at(keys::Fixed { id: 1 }).check().await.unwrap_err(),
            store.at(keys::Moving { id: 1 }).check().await.unwrap_err(),
            store.at(keys::Even { id: 1 }).check().await.unwrap_err(),
        ];
        for (error, name) in checks.iter().zip(["fixed", "moving", "even"]) {
            let about = matches!(error, Error::Malformed { definition, .. } if *definition == name);
            assert!(about, "{error:?}");
        }
        assert_eq!(server.command(&["GET", "ev:fixed:1"]).text(), "many");
        // Among several, the one that is wrong is named, and the others have not counted.
        server.command(&["RPUSH", "ev:fixed:2", "a"]);
        let both = store.limits().and(&store.at(keys::Plan { id: 1 }).limited_to(9));
        let error = both.and(&store.at(keys::Fixed { id: 2 })).check().await.unwrap_err();
        assert!(matches!(error, Error::WrongType { definition: "fixed" }), "{error:?}");
        assert_eq!(server.command(&["EXISTS", "ev:plan:1"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_was_set_back_refuses_for_a_window_at_most() {
    on_all(async |server: &Server, store: Store| {
        // As if it had been written a year from now.
        server.command(&["SET", "ev:even:1", "9000000000000000", "PX", "60000"]);
        let even = store.at(keys::Even { id: 1 }).check().await.unwrap();
        assert!(!even.allowed && even.reset <= Duration::from_secs(60), "{even:?}");
        server.command(&["SET", "ev:moving:1", "9999999999 3 0", "PX", "120000"]);
        let moving = store.at(keys::Moving { id: 1 }).check().await.unwrap();
        assert!(!moving.allowed && moving.reset <= Duration::from_secs(120), "{moving:?}");
    })
    .await;
}

#[tokio::test]
async fn a_full_server_can_be_looked_at_and_reset() {
    on_all(async |server: &Server, store: Store| {
        let fixed = store.at(keys::Fixed { id: 1 });
        assert!(fixed.check_cost(3).await.unwrap().allowed);
        server.command(&["CONFIG", "SET", "maxmemory", "1"]);
        assert!(!fixed.peek().await.unwrap().allowed);
        let error = store.at(keys::Fixed { id: 2 }).check().await.unwrap_err();
        assert!(matches!(&error, Error::Refused { code, .. } if code == "OOM"), "{error:?}");
        assert!(fixed.reset().await.unwrap());
        assert!(fixed.peek().await.unwrap().allowed);
    })
    .await;
}
