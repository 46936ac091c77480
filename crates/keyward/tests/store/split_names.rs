//! Renames that are under way on a cluster, from one slot to another: nothing is atomic there.

use super::cluster::store;
use super::clustered::{events, keys};
use keyward::{Error, Store};
use keyward_testkit::{Cluster, Flavor, Reply};
use std::convert::Infallible;

async fn on_clusters(test: impl AsyncFn(&Cluster, Store)) {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let store = store(&cluster).await;
        test(&cluster, store).await;
    }
}

/// The names of a key in `dual-write` and of one in `read-fallback`, the one that counts first.
const PROFILE: [&str; 2] = ["OLD:Profile:1", "ev:profile:1"];
const SETTLED: [&str; 2] = ["ev:settled:1", "OLD:Settled:1"];

#[tokio::test]
async fn split_names_get_the_same_value_and_expire_at_the_same_time() {
    on_clusters(async |cluster: &Cluster, store: Store| {
        store.at(keys::Profile { id: 1 }).set(&"a".to_owned()).await.unwrap();
        let mut batch = store.pipeline();
        let set = batch.add(store.at(keys::Settled { id: 1 }).set(&"a".to_owned()));
        batch.run().await.unwrap().take(set).unwrap();
        for [first, other] in [PROFILE, SETTLED] {
            for name in [first, other] {
                assert_eq!(cluster.command(&["GET", name]).text(), "a", "{name}");
            }
            let ends = |name: &str| cluster.command(&["PEXPIRETIME", name]).integer();
            assert_eq!(ends(first), ends(other), "{other}");
        }
        // A fill does so, too, and so does the memory that there is none.
        let filled = store.at(keys::Profile { id: 2 });
        filled.get_or_load(|| async { Ok::<_, Infallible>("b".to_owned()) }).await.unwrap();
        for name in ["OLD:Profile:2", "ev:profile:2"] {
            assert_eq!(cluster.command(&["GET", name]).text(), "b", "{name}");
        }
    })
    .await;
}

#[tokio::test]
async fn split_names_are_removed_together() {
    on_clusters(async |cluster: &Cluster, store: Store| {
        let there = |names: [&str; 2]| {
            names.map(|name| cluster.command(&["EXISTS", name]).integer()).iter().sum::<i64>()
        };
        let (profile, settled) = (keys::Profile { id: 1 }, keys::Settled { id: 1 });
        let (profile, settled) = (store.at(profile), store.at(settled));
        let fill = async || {
            profile.set(&"a".to_owned()).await.unwrap();
            settled.set(&"a".to_owned()).await.unwrap();
        };
        fill().await;
        assert!(profile.delete().await.unwrap());
        assert!(settled.delete().await.unwrap());
        assert_eq!((there(PROFILE), there(SETTLED)), (0, 0), "after deletes");
        assert!(!settled.delete().await.unwrap());
        fill().await;
        assert_eq!(store.emit(events::ProfileChanged { id: 1 }).await.unwrap().removed, 2);
        assert_eq!((there(PROFILE), there(SETTLED)), (0, 0), "after an event");
        fill().await;
        let mut batch = store.pipeline();
        let deleted = [batch.add(profile.delete()), batch.add(settled.delete())];
        let mut results = batch.run().await.unwrap();
        assert!(deleted.into_iter().all(|it| results.take(it).unwrap()));
        assert_eq!((there(PROFILE), there(SETTLED)), (0, 0), "after a pipeline");
        // What only the old name holds is a key, too.
        cluster.command(&["SET", "OLD:Settled:2", "a"]);
        let old = store.at(keys::Settled { id: 2 });
        assert_eq!(old.get().await.unwrap().as_deref(), Some("a"));
        assert!(old.delete().await.unwrap());
        assert_eq!(cluster.command(&["EXISTS", "OLD:Settled:2"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn what_was_removed_is_gone_before_the_other_slot_knows_it() {
    on_clusters(async |cluster: &Cluster, store: Store| {
        let settled = store.at(keys::Settled { id: 1 });
        settled.set(&"a".to_owned()).await.unwrap();
        settled.delete().await.unwrap();
        // As if the step that removes it from the other slot had not come yet.
        cluster.command(&["SET", "OLD:Settled:1", "a"]);
        assert_eq!(settled.get().await.unwrap(), None);
        assert!(!settled.exists().await.unwrap());
        settled.set(&"b".to_owned()).await.unwrap();
        assert_eq!(cluster.command(&["GET", "OLD:Settled:1"]).text(), "b");
    })
    .await;
}

#[tokio::test]
async fn when_split_names_are_over_a_delete_removes_what_others_still_read() {
    on_clusters(async |cluster: &Cluster, store: Store| {
        let over = store.at(keys::Over { id: 1 });
        over.set(&"a".to_owned()).await.unwrap();
        for way in ["a delete", "an event", "a take"] {
            cluster.command(&["SET", "OLD:Over:1", "a"]);
            match way {
                "a delete" => _ = over.delete().await.unwrap(),
                "a take" => assert_eq!(over.take().await.unwrap(), None),
                _ => _ = store.emit(events::ProfileChanged { id: 1 }).await.unwrap(),
            }
            assert_eq!(cluster.command(&["EXISTS", "OLD:Over:1"]).integer(), 0, "after {way}");
        }
        over.set(&"b".to_owned()).await.unwrap();
        assert_eq!(over.get().await.unwrap().as_deref(), Some("b"));
    })
    .await;
}

#[tokio::test]
async fn a_read_renews_split_names() {
    on_clusters(async |cluster: &Cluster, store: Store| {
        let all = [["OLD:Visit:1", "ev:visit:1"], SETTLED, ["ev:near:{1}", "OLD:Near:{1}"]];
        let text = "a".to_owned();
        store.at(keys::Visit { id: 1 }).set(&text).await.unwrap();
        store.at(keys::Settled { id: 1 }).set(&text).await.unwrap();
        store.at(keys::Near { id: 1 }).set(&text).await.unwrap();
        for name in all.as_flattened() {
            cluster.command(&["EXPIRE", name, "60"]);
        }
        store.at(keys::Visit { id: 1 }).get().await.unwrap();
        store.at(keys::Settled { id: 1 }).get().await.unwrap();
        let mut batch = store.pipeline();
        let near = batch.add(store.at(keys::Near { id: 1 }).get());
        assert_eq!(batch.run().await.unwrap().take(near).unwrap().as_deref(), Some("a"));
        for [first, other] in all {
            let ends = |name: &str| cluster.command(&["PEXPIRETIME", name]).integer();
            assert!(cluster.command(&["TTL", first]).integer() > 3590, "{first}");
            assert_eq!(ends(first), ends(other), "{other}");
        }
    })
    .await;
}

#[tokio::test]
async fn split_names_lose_the_leases_of_those_who_move_them() {
    on_clusters(async |cluster: &Cluster, store: Store| {
        let leases = ["ev:~lease:{OLD:Profile:1}", "ev:~lease:{ev:profile:1}"];
        let take = || leases.map(|lease| cluster.command(&["SET", lease, "a plan's"]));
        let is_ours = |lease: &str| match cluster.command(&["GET", lease]) {
            Reply::Nil => false,
            reply => reply.text() == "a plan's",
        };
        let left = || leases.map(is_ours);
        let profile = store.at(keys::Profile { id: 1 });
        take();
        profile.set(&"a".to_owned()).await.unwrap();
        assert_eq!(left(), [false, false], "after a write");
        take();
        profile.delete().await.unwrap();
        assert_eq!(left(), [false, false], "after a delete");
        take();
        store.emit(events::ProfileChanged { id: 1 }).await.unwrap();
        assert_eq!(left(), [false, false], "after an event");
        cluster.command(&["SET", leases[1], "a plan's"]);
        profile.get_or_load(|| async { Ok::<_, Infallible>("b".to_owned()) }).await.unwrap();
        assert_eq!(left(), [false, false], "after a fill");
    })
    .await;
}

#[tokio::test]
async fn what_needs_split_names_in_one_step_is_refused() {
    on_clusters(async |cluster: &Cluster, store: Store| {
        let refused = |error: Error| matches!(error, Error::CrossesSlots { .. });
        let text = "a".to_owned();
        let profile = store.at(keys::Profile { id: 1 });
        assert!(refused(profile.set_if_absent(&text).await.unwrap_err()));
        assert!(refused(profile.take().await.unwrap_err()));
        let tally = store.at(keys::Tally { id: 1 });
        let error = tally.add(1).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "`tally` is being renamed from one slot to another, and this change depends on what is there: write the \
             value whole, or wait for the phase `cleanup`"
        );
        assert_eq!(cluster.command(&["EXISTS", "OLD:Tally:1"]).integer(), 0);
        tally.set(7).await.unwrap();
        assert_eq!(tally.get().await.unwrap(), 7);
        assert_eq!(cluster.command(&["GET", "ev:tally:1"]).text(), "7");
        // In one slot nothing is refused.
        let near = store.at(keys::Near { id: 1 });
        assert!(near.set_if_absent(&text).await.unwrap());
        assert_eq!(cluster.command(&["GET", "OLD:Near:{1}"]).text(), "a");
        assert_eq!(near.take().await.unwrap().as_deref(), Some("a"));
        assert_eq!(cluster.command(&["EXISTS", "OLD:Near:{1}"]).integer(), 0);
    })
    .await;
}
