//! Counters and quotas.

use super::everything::keys;
use super::on_all;
use keyward::{Error, Store};
use keyward_testkit::Server;
use std::time::Duration;

#[tokio::test]
async fn a_counter_does_not_fall_below_zero_unless_declared() {
    on_all(async |_server: &Server, store: Store| {
        let hits = store.at(keys::Hits { id: 1 });
        assert_eq!(hits.get().await.unwrap(), 0);
        assert_eq!(hits.add(100).await.unwrap().value, 100);
        let refused = hits.add(-101).await.unwrap();
        assert_eq!((refused.counted, refused.value), (false, 100));
        assert_eq!(hits.add(-100).await.unwrap().value, 0);
        assert!(hits.remaining().await.unwrap().is_some());
        let huge = hits.add(i64::MAX).await.unwrap();
        assert_eq!((huge.counted, huge.value), (true, i64::MAX));
        assert!(hits.add(1).await.is_err(), "the server refuses what does not fit in 64 bits");
        assert_eq!(hits.get().await.unwrap(), i64::MAX);
        hits.set(5).await.unwrap();
        assert_eq!(hits.get().await.unwrap(), 5);

        let balance = store.at(keys::Balance { id: 1 });
        assert_eq!(balance.add(-7).await.unwrap().value, -7);
        assert_eq!(balance.remaining().await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_number_that_has_no_ttl_gets_the_declared_one() {
    on_all(async |server: &Server, store: Store| {
        server.command(&["SET", "ev:hits:1", "5"]);
        assert_eq!(store.at(keys::Hits { id: 1 }).add(1).await.unwrap().value, 6);
        assert!((3590..=3600).contains(&server.command(&["TTL", "ev:hits:1"]).integer()));
        server.command(&["EXPIRE", "ev:hits:1", "60"]);
        store.at(keys::Hits { id: 1 }).add(1).await.unwrap();
        assert!(server.command(&["TTL", "ev:hits:1"]).integer() <= 60, "one that runs goes on");
        // One that is used up would stay so for ever.
        server.command(&["SET", "ev:mails:1", "5"]);
        assert!(!store.at(keys::Mails { id: 1 }).take(1).await.unwrap().counted);
        assert!((3590..=3600).contains(&server.command(&["TTL", "ev:mails:1"]).integer()));
    })
    .await;
}

#[tokio::test]
async fn what_is_no_number_is_left_as_it_is() {
    on_all(async |server: &Server, store: Store| {
        server.command(&["SET", "ev:mails:1", "not a number"]);
        let error = store.at(keys::Mails { id: 1 }).take(1).await.unwrap_err();
        assert!(matches!(error, Error::Malformed { definition: "mails", .. }), "{error}");
        assert_eq!(server.command(&["TTL", "ev:mails:1"]).integer(), -1);
        server.command(&["RPUSH", "ev:hits:1", "one"]);
        let error = store.at(keys::Hits { id: 1 }).add(1).await.unwrap_err();
        assert!(matches!(error, Error::WrongType { definition: "hits" }), "{error}");
    })
    .await;
}

#[tokio::test]
async fn more_than_64_bits_are_more_than_a_quota_has() {
    on_all(async |_server: &Server, store: Store| {
        let mails = store.at(keys::Mails { id: 1 });
        mails.take(2).await.unwrap();
        let taken = mails.take(u64::MAX).await.unwrap();
        assert_eq!((taken.counted, taken.value), (false, 2));
        let refunded = mails.refund(u64::MAX).await.unwrap();
        assert_eq!((refunded.counted, refunded.value), (false, 2));
    })
    .await;
}

#[tokio::test]
async fn counting_from_many_places_loses_nothing() {
    on_all(async |_server: &Server, store: Store| {
        let counts = (0..500).map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.at(keys::Hits { id: 2 }).add(2).await.unwrap() })
        });
        for count in counts.collect::<Vec<_>>() {
            assert!(count.await.unwrap().counted);
        }
        assert_eq!(store.at(keys::Hits { id: 2 }).get().await.unwrap(), 1000);
    })
    .await;
}

#[tokio::test]
async fn a_quota_is_checked_and_counted_in_one_step() {
    on_all(async |_server: &Server, store: Store| {
        let takes = (0..20).map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.at(keys::Mails { id: 1 }).take(1).await.unwrap() })
        });
        let mut taken = 0;
        for take in takes.collect::<Vec<_>>() {
            taken += u32::from(take.await.unwrap().counted);
        }
        assert_eq!(taken, 5);
        let mails = store.at(keys::Mails { id: 1 });
        assert_eq!(mails.used().await.unwrap(), 5);
        assert_eq!(mails.refund(2).await.unwrap().value, 3);
        assert!(!mails.take(3).await.unwrap().counted, "all or nothing");
        assert!(mails.take(2).await.unwrap().counted);
        assert!(!mails.refund(6).await.unwrap().counted, "not below zero");
        let left = mails.remaining().await.unwrap().unwrap();
        assert!(left <= Duration::from_secs(3600), "a window that begins with its first use");
    })
    .await;
}

#[tokio::test]
async fn a_limit_of_the_callers_is_given_before_anything_is_counted() {
    on_all(async |_server: &Server, store: Store| {
        let seats = || store.at(keys::Seats { id: 1 });
        assert!(seats().limited_to(3).take(3).await.unwrap().counted);
        assert!(!seats().limited_to(3).take(1).await.unwrap().counted);
        assert!(seats().limited_to(4).take(1).await.unwrap().counted, "another plan");
        assert_eq!(seats().used().await.unwrap(), 4);
        assert_eq!(seats().refund(1).await.unwrap().value, 3);
        assert!(!seats().limited_to(0).take(1).await.unwrap().counted);
        let plan = || store.at(keys::Plan { id: 1 });
        assert!(plan().limited_to(2).check_cost(2).await.unwrap().allowed);
        assert!(!plan().limited_to(2).check().await.unwrap().allowed);
        assert!(plan().limited_to(3).check().await.unwrap().allowed);
        assert!(!plan().limited_to(0).check().await.unwrap().allowed);
    })
    .await;
}
