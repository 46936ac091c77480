//! Renames that are under way.

use super::moving::{events, fields, keys, values};
use super::{on_all, patient};
use keyward::Store;
use keyward_testkit::Server;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use std::convert::Infallible;

#[tokio::test]
async fn while_both_are_written_the_old_name_counts() {
    on_all(async |server: &Server, store: Store| {
        let profile = store.at(keys::Profile { id: 1 });
        profile.set(&"a".to_owned()).await.unwrap();
        assert_eq!(server.command(&["GET", "OLD:Profile:1"]).text(), "a");
        assert_eq!(server.command(&["GET", "new:profile:1"]).text(), "a");
        for key in ["OLD:Profile:1", "new:profile:1"] {
            assert!((3590..=3600).contains(&server.command(&["TTL", key]).integer()), "{key}");
        }
        // A program that knows the old name only has written.
        server.command(&["SET", "OLD:Profile:1", "b", "EX", "60"]);
        assert_eq!(profile.get().await.unwrap().as_deref(), Some("b"));
        assert!(profile.delete().await.unwrap());
        assert_eq!(server.command(&["EXISTS", "OLD:Profile:1", "new:profile:1"]).integer(), 0);
        // A fill writes both, and an event removes both.
        let load = || async { Ok::<_, Infallible>("c".to_owned()) };
        profile.get_or_load(load).await.unwrap();
        assert_eq!(server.command(&["EXISTS", "OLD:Profile:1", "new:profile:1"]).integer(), 2);
        store.emit(events::ProfileChanged { id: 1 }).await.unwrap();
        assert_eq!(server.command(&["EXISTS", "OLD:Profile:1", "new:profile:1"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn parts_and_counters_stay_the_same_under_both_names() {
    on_all(async |server: &Server, store: Store| {
        server.command(&["SET", "OLD:Hits:1", "40"]);
        assert_eq!(store.at(keys::Hits { id: 1 }).add(2).await.unwrap().value, 42);
        assert_eq!(server.command(&["GET", "OLD:Hits:1"]).text(), "42");
        assert_eq!(server.command(&["GET", "new:hits:1"]).text(), "42");
        server.command(&["HSET", "OLD:Person:1", "name", "Ada", "age", "36"]);
        let person = store.at(keys::Person { id: 1 });
        assert_eq!(person.increment(fields::Person::AGE, 1).await.unwrap(), Some(37));
        assert_eq!(server.command(&["HGET", "new:person:1", "name"]).text(), "Ada");
        assert_eq!(server.command(&["HGET", "new:person:1", "age"]).text(), "37");
    })
    .await;
}

#[tokio::test]
async fn what_an_old_program_removes_is_gone() {
    on_all(async |server: &Server, store: Store| {
        let profile = store.at(keys::Profile { id: 1 });
        profile.set(&"a".to_owned()).await.unwrap();
        server.command(&["DEL", "OLD:Profile:1"]);
        assert_eq!(profile.get().await.unwrap(), None);
        assert!(!profile.exists().await.unwrap());
        assert_eq!(profile.take().await.unwrap(), None);
        profile.set(&"a".to_owned()).await.unwrap();
        server.command(&["DEL", "OLD:Profile:1"]);
        assert!(profile.set_if_absent(&"b".to_owned()).await.unwrap());
        assert_eq!(server.command(&["GET", "new:profile:1"]).text(), "b");
        // Nothing is made of the copy.
        let hits = store.at(keys::Hits { id: 1 });
        hits.add(7).await.unwrap();
        server.command(&["DEL", "OLD:Hits:1"]);
        assert_eq!(hits.get().await.unwrap(), 0);
        assert_eq!(hits.add(1).await.unwrap().value, 1);
        assert_eq!(server.command(&["GET", "new:hits:1"]).text(), "1");
        let board = store.at(keys::Board { id: 1 });
        board.add([(&"a".to_owned(), 1)]).await.unwrap();
        server.command(&["DEL", "OLD:Board:1"]);
        board.add([(&"b".to_owned(), 1)]).await.unwrap();
        assert_eq!(board.len().await.unwrap(), 1);
        assert_eq!(server.command(&["ZCARD", "new:board:1"]).integer(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_read_falls_back_if_the_key_is_not_there_whatever_it_asks() {
    on_all(async |server: &Server, store: Store| {
        let [ada, bob] = ["ada", "bob"].map(str::to_owned);
        server.command(&["ZADD", "OLD:Board:1", "5", "ada"]);
        assert_eq!(store.at(keys::Board { id: 1 }).rank(&ada).await.unwrap(), Some(0));
        server.command(&["ZADD", "OLD:SettledBoard:1", "5", "ada", "6", "bob"]);
        let board = store.at(keys::SettledBoard { id: 1 });
        assert_eq!(board.rank(&ada).await.unwrap(), Some(0), "the first of them");
        // The new name counts as soon as it is there.
        server.command(&["ZADD", "new:settled-board:1", "5", "ada"]);
        assert_eq!(board.rank(&ada).await.unwrap(), Some(0), "the first of them");
        assert_eq!(board.rank(&bob).await.unwrap(), None);
        assert_eq!(board.score(&bob).await.unwrap(), None);
        let mut batch = store.pipeline();
        let (first, none) = (batch.add(board.rank(&ada)), batch.add(board.rank(&bob)));
        let mut results = batch.run().await.unwrap();
        assert_eq!(results.take(first).unwrap(), Some(0));
        assert_eq!(results.take(none).unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn limits_count_under_the_old_name_alone() {
    on_all(async |server: &Server, store: Store| {
        server.command(&["SET", "OLD:Limit:1", "1", "EX", "60"]);
        let limit = store.at(keys::Limit { id: 1 });
        assert!(limit.check().await.unwrap().allowed);
        assert!(!limit.check().await.unwrap().allowed);
        assert_eq!(server.command(&["EXISTS", "new:limit:1"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn when_the_new_name_counts_reads_fall_back() {
    on_all(async |server: &Server, store: Store| {
        server.command(&["SET", "OLD:Settled:1", "old", "EX", "60"]);
        let settled = store.at(keys::Settled { id: 1 });
        assert_eq!(settled.get().await.unwrap().as_deref(), Some("old"));
        let load = || async { Ok::<_, Infallible>("loaded".to_owned()) };
        assert_eq!(settled.get_or_load(load).await.unwrap(), "old");
        settled.set(&"new".to_owned()).await.unwrap();
        assert_eq!(server.command(&["GET", "OLD:Settled:1"]).text(), "new", "for a way back");
        server.command(&["SET", "OLD:Settled:1", "ignored", "EX", "60"]);
        assert_eq!(settled.get().await.unwrap().as_deref(), Some("new"));
        assert!(!settled.set_if_absent(&"x".to_owned()).await.unwrap());
        settled.delete().await.unwrap();
        assert_eq!(settled.get().await.unwrap(), None);
        // In a pipeline too.
        server.command(&["SET", "OLD:Settled:2", "two", "EX", "60"]);
        let mut batch = store.pipeline();
        let first = batch.add(store.at(keys::Settled { id: 1 }).get());
        let second = batch.add(store.at(keys::Settled { id: 2 }).get());
        let mut results = batch.run().await.unwrap();
        assert_eq!(results.take(first).unwrap(), None);
        assert_eq!(results.take(second).unwrap().as_deref(), Some("two"));
        let many = store.get_many([1, 2].map(|id| keys::Settled { id })).await.unwrap();
        assert_eq!(many, [None, Some("two".to_owned())]);

        server.command(&["SET", "OLD:SettledHits:1", "40"]);
        let hits = store.at(keys::SettledHits { id: 1 });
        assert_eq!(hits.get().await.unwrap(), 40);
        assert_eq!(hits.add(2).await.unwrap().value, 42, "moved when first touched");
        assert_eq!(server.command(&["GET", "new:settled-hits:1"]).text(), "42");
        server.command(&["HSET", "OLD:SettledPerson:1", "name", "Ada", "age", "36"]);
        let person = store.at(keys::SettledPerson { id: 1 });
        assert!(person.set_field(fields::SettledPerson::AGE, &37).await.unwrap());
        assert_eq!(person.get().await.unwrap().unwrap().name, "Ada");
    })
    .await;
}

#[tokio::test]
async fn a_read_renews_all_names() {
    on_all(async |server: &Server, store: Store| {
        let (visit, settled) = (keys::Visit { id: 1 }, keys::SettledVisit { id: 1 });
        let (visit, settled) = (store.at(visit), store.at(settled));
        let names = [["OLD:Visit:1", "new:visit:1"], ["new:settled-visit:1", "OLD:SettledVisit:1"]];
        visit.set(&"a".to_owned()).await.unwrap();
        settled.set(&"a".to_owned()).await.unwrap();
        for name in names.as_flattened() {
            server.command(&["EXPIRE", name, "60"]);
        }
        visit.get().await.unwrap();
        settled.get().await.unwrap();
        let ends = |name: &str| server.command(&["PEXPIRETIME", name]).integer();
        for [first, other] in names {
            assert!(server.command(&["TTL", first]).integer() > 3590, "{first}");
            assert_eq!(ends(first), ends(other), "{other}");
        }
        // A name that is found because there is no other is renewed, too.
        server.command(&["DEL", "new:settled-visit:1"]);
        server.command(&["EXPIRE", "OLD:SettledVisit:1", "60"]);
        assert!(settled.get().await.unwrap().is_some());
        assert!(server.command(&["TTL", "OLD:SettledVisit:1"]).integer() > 3590);
        // What an old program has removed does not live on as a copy that reads renew.
        server.command(&["DEL", "OLD:Visit:1"]);
        server.command(&["EXPIRE", "new:visit:1", "60"]);
        assert_eq!(visit.get().await.unwrap(), None);
        assert!(server.command(&["TTL", "new:visit:1"]).integer() <= 60);
    })
    .await;
}

#[tokio::test]
async fn writes_and_deletes_end_the_leases_of_all_names() {
    on_all(async |server: &Server, store: Store| {
        let leases = ["new:~lease:{OLD:Profile:1}", "new:~lease:{new:profile:1}"];
        let take = || leases.map(|lease| server.command(&["SET", lease, "a plan's"]));
        let left = || server.command(&["EXISTS", leases[0], leases[1]]).integer();
        let profile = store.at(keys::Profile { id: 1 });
        take();
        profile.set(&"a".to_owned()).await.unwrap();
        assert_eq!(left(), 0, "after a write");
        take();
        profile.delete().await.unwrap();
        assert_eq!(left(), 0, "after a delete");
        take();
        profile.take().await.unwrap();
        assert_eq!(left(), 0, "after a take");
        take();
        store.emit(events::ProfileChanged { id: 1 }).await.unwrap();
        assert_eq!(left(), 0, "after an event");
        // A fill ends those of the other name.
        server.command(&["SET", leases[1], "a plan's"]);
        let load = || async { Ok::<_, Infallible>("c".to_owned()) };
        profile.get_or_load(load).await.unwrap();
        assert_eq!(left(), 0, "after a fill");
    })
    .await;
}

#[tokio::test]
async fn of_two_who_take_a_key_with_two_names_one_gets_it() {
    on_all(async |server: &Server, store: Store| {
        let other = patient(server).await;
        for id in 0..200 {
            let settled = store.at(keys::Settled { id });
            settled.set(&"a".to_owned()).await.unwrap();
            let theirs = other.at(keys::Settled { id });
            let (one, two) = tokio::join!(settled.take(), theirs.take());
            let got = [one.unwrap(), two.unwrap()];
            assert_eq!(got.iter().flatten().count(), 1, "{id}: {got:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn when_only_the_new_name_is_used_a_delete_removes_what_others_still_read() {
    on_all(async |server: &Server, store: Store| {
        let over = store.at(keys::Over { id: 1 });
        let there = || server.command(&["EXISTS", "OLD:Over:1"]).integer();
        server.command(&["SET", "OLD:Over:1", "a", "EX", "60"]);
        assert_eq!(over.get().await.unwrap(), None);
        over.set(&"b".to_owned()).await.unwrap();
        assert_eq!(server.command(&["GET", "OLD:Over:1"]).text(), "a");
        over.delete().await.unwrap();
        assert_eq!(there(), 0, "after a delete");
        server.command(&["SET", "OLD:Over:1", "a", "EX", "60"]);
        store.emit(events::ProfileChanged { id: 1 }).await.unwrap();
        assert_eq!(there(), 0, "after an event");
        server.command(&["SET", "OLD:Over:1", "a", "EX", "60"]);
        over.set(&"b".to_owned()).await.unwrap();
        assert_eq!(over.take().await.unwrap().as_deref(), Some("b"));
        assert_eq!(there(), 0, "after a take");
    })
    .await;
}

#[test]
fn uses_of_old_names_are_counted_by_definition_and_migration() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let server = Server::redis();
            let store = patient(&server).await;
            let (profile, settled) = (keys::Profile { id: 1 }, keys::Settled { id: 1 });
            let (profile, settled) = (store.at(profile), store.at(settled));
            // The old name counts; where it has nothing, nothing is used.
            assert_eq!(profile.get().await.unwrap(), None);
            profile.set(&"a".to_owned()).await.unwrap();
            profile.get().await.unwrap();
            store.at(keys::Hits { id: 1 }).add(1).await.unwrap();
            // The new one counts: reads use the old one until the value is under the new one.
            server.command(&["SET", "OLD:Settled:1", "a", "EX", "60"]);
            settled.get().await.unwrap();
            let mut batch = store.pipeline();
            let found = [batch.add(settled.get()), batch.add(settled.get())];
            let mut results = batch.run().await.unwrap();
            assert!(found.into_iter().all(|it| results.take(it).unwrap().is_some()));
            assert!(!settled.set_if_absent(&"b".to_owned()).await.unwrap());
            settled.set(&"b".to_owned()).await.unwrap();
            settled.get().await.unwrap();
            store.at(keys::Over { id: 1 }).set(&"c".to_owned()).await.unwrap();
        });
    });
    let counted = snapshotter.snapshot().into_vec().into_iter();
    let mut counted: Vec<String> = counted
        .filter(|(key, ..)| key.key().name() == "keyward_old_names_total")
        .map(|(key, _, _, value)| {
            let labels: Vec<&str> = key.key().labels().map(metrics::Label::value).collect();
            let DebugValue::Counter(count) = value else { panic!("{value:?}") };
            format!("{} {count}", labels.join(" "))
        })
        .collect();
    counted.sort();
    insta::assert_snapshot!(counted.join("\n"), @r"
    hits begun write 1
    profile begun read 1
    profile begun write 1
    settled turned read 3
    settled turned write 1
    ");
}

#[tokio::test]
async fn an_event_finds_keys_of_programs_that_know_the_old_name_only() {
    on_all(async |server: &Server, store: Store| {
        let group = || values::Group::new("a").unwrap();
        store.at(keys::Member { group: group(), id: 1 }).set(&"x".to_owned()).await.unwrap();
        server.command(&["SET", "OLD:Member:a:2", "x", "EX", "60"]);
        server.command(&["SET", "OLD:Member:a:b", "no number: none of ours"]);
        let done = store.emit(events::GroupChanged { group: group() }).await.unwrap();
        assert_eq!(done.removed, 2);
        let left = ["OLD:Member:a:1", "new:member:a:1", "OLD:Member:a:2"];
        assert_eq!(server.command(&[&["EXISTS"], left.as_slice()].concat()).integer(), 0);
        assert_eq!(server.command(&["EXISTS", "OLD:Member:a:b"]).integer(), 1);
    })
    .await;
}

#[tokio::test]
async fn while_both_are_written_an_event_that_scans_ends_loads_that_have_begun() {
    on_all(async |_: &Server, store: Store| {
        let group = || values::Group::new("g").unwrap();
        let view = store.at(keys::View { group: group(), id: 1 });
        let loaded = view
            .get_or_load(|| async {
                // The row that was read is old before it is put into the cache.
                store.emit(events::ViewsChanged { group: group() }).await.unwrap();
                Ok::<_, Infallible>("old".to_owned())
            })
            .await;
        assert_eq!(loaded.unwrap(), "old", "what was read before the event");
        assert_eq!(view.get().await.unwrap(), None, "a load from before the event was kept");
        // That there is none is forgotten, too.
        let none = || async { Ok::<_, Infallible>(None) };
        assert_eq!(view.find_or_load(none).await.unwrap(), None);
        store.emit(events::ViewsChanged { group: group() }).await.unwrap();
        let new = || async { Ok::<_, Infallible>(Some("new".to_owned())) };
        assert_eq!(view.find_or_load(new).await.unwrap().as_deref(), Some("new"));
        let done = store.emit(events::ViewsChanged { group: group() }).await.unwrap();
        assert_eq!(done.removed, 1, "one key, under two names");
    })
    .await;
}

#[tokio::test]
async fn an_event_finds_old_names_that_spell_a_value_with_escapes() {
    on_all(async |server: &Server, store: Store| {
        for key in ["OLD:Path:a:x%2Fy", "OLD:Path:b:x%2Fy", "OLD:Path:a:x:y"] {
            server.command(&["SET", key, "1"]);
        }
        let group = "a".parse().unwrap();
        store.emit(events::PathsChanged { group }).await.unwrap();
        assert_eq!(server.command(&["EXISTS", "OLD:Path:a:x%2Fy"]).integer(), 0);
        assert_eq!(server.command(&["EXISTS", "OLD:Path:b:x%2Fy", "OLD:Path:a:x:y"]).integer(), 2);
    })
    .await;
}

#[tokio::test]
async fn an_old_name_has_its_values_in_the_other_case() {
    on_all(async |server: &Server, store: Store| {
        let code = || values::Code::new("Ab7_x").unwrap();
        let coupon = store.at(keys::Coupon { code: code() });
        coupon.set(&"a".to_owned()).await.unwrap();
        assert_eq!(server.command(&["GET", "OLD:Coupon:AB7_X"]).text(), "a");
        assert_eq!(server.command(&["GET", "new:coupon:ab7_x"]).text(), "a");
        server.command(&["SET", "OLD:Coupon:AB7_X", "b"]);
        assert_eq!(coupon.get().await.unwrap().as_deref(), Some("b"));
        // An event that knows the value, and one that does not.
        store.emit(events::CouponChanged { code: code() }).await.unwrap();
        assert_eq!(server.command(&["DBSIZE"]).integer(), 0);
        coupon.set(&"a".to_owned()).await.unwrap();
        store.emit(events::CouponsChanged {}).await.unwrap();
        assert_eq!(
            server.command(&["EXISTS", "OLD:Coupon:AB7_X", "new:coupon:ab7_x"]).integer(),
            0
        );
    })
    .await;
}

#[tokio::test]
async fn a_value_that_is_converted_has_no_old_name_in_stores() {
    on_all(async |server: &Server, store: Store| {
        server.command(&["SET", "OLD:Card:1", r#"{"name":"Ada"}"#]);
        let card = store.at(keys::Card { id: 1 });
        assert_eq!(card.get().await.unwrap(), None);
        card.set(&fields::Card { name: "Bob".to_owned() }).await.unwrap();
        assert_eq!(server.command(&["HGET", "new:card:1", "name"]).text(), "Bob");
        assert_eq!(server.command(&["GET", "OLD:Card:1"]).text(), r#"{"name":"Ada"}"#);
        assert!(card.delete().await.unwrap());
        assert_eq!(server.command(&["EXISTS", "OLD:Card:1"]).integer(), 1);
    })
    .await;
}

/// Nothing else would tell a plan that the key is gone, and it would bring the old value back.
#[tokio::test]
async fn when_the_new_name_counts_what_is_deleted_loses_its_old_name_of_another_form_too() {
    on_all(async |server: &Server, store: Store| {
        let card = store.at(keys::SettledCard { id: 1 });
        let there = || server.command(&["EXISTS", "OLD:SettledCard:1"]).integer();
        let old = || server.command(&["SET", "OLD:SettledCard:1", r#"{"name":"Ada"}"#]);
        old();
        let bob = fields::SettledCard { name: "Bob".to_owned() };
        card.set(&bob).await.unwrap();
        assert_eq!(there(), 1, "after a write");
        assert!(card.delete().await.unwrap());
        assert_eq!(there(), 0, "after a delete");
        old();
        card.delete().await.unwrap();
        assert_eq!(there(), 0, "after a delete of what was not converted yet");
        old();
        card.set(&bob).await.unwrap();
        assert!(card.take().await.unwrap().is_some());
        assert_eq!(there(), 0, "after a take");
        old();
        store.emit(events::CardChanged { id: 1 }).await.unwrap();
        assert_eq!(there(), 0, "after an event");
    })
    .await;
}

#[tokio::test]
async fn an_old_name_of_several_keys_stays_when_one_of_them_is_deleted() {
    on_all(async |server: &Server, store: Store| {
        server.command(&["SET", "OLD:OverAll", "1"]);
        server.command(&["SET", "OLD:Over:1", "1"]);
        store.at(keys::Over { id: 1 }).set(&"a".to_owned()).await.unwrap();
        assert!(store.at(keys::Over { id: 1 }).delete().await.unwrap());
        assert_eq!(server.command(&["EXISTS", "OLD:Over:1", "new:over:1"]).integer(), 0);
        assert_eq!(server.command(&["EXISTS", "OLD:OverAll"]).integer(), 1);
    })
    .await;
}
