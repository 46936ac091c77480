//! Events.

use super::everything::{events, keys, values};
use super::on_all;
use super::xeuz_cloud;
use keyward::Store;
use keyward_testkit::Server;
use std::convert::Infallible;

fn group(name: &str) -> values::Group {
    values::Group::new(name).unwrap()
}

fn member(name: &str) -> values::Member {
    values::Member::new(name).unwrap()
}

async fn fill(store: &Store) {
    for g in ["a", "b"] {
        for m in 0..30 {
            let (group, member) = (group(g), member(&format!("m{m}")));
            let access = store.at(keys::Access { group: group.clone(), member: member.clone() });
            access.set(&"yes".to_owned()).await.unwrap();
            store.at(keys::View { group, member }).set(&"page".to_owned()).await.unwrap();
        }
    }
}

fn count(server: &Server, glob: &str) -> usize {
    let mut connection = server.connect();
    connection.command(&["KEYS", glob]).unwrap().array().len()
}

#[tokio::test]
async fn an_event_finds_keys_with_a_free_parameter_by_index_and_by_scan() {
    on_all(async |server: &Server, store: Store| {
        fill(&store).await;
        // Keys that a glob finds too, and that are none of ours.
        server.command(&["SET", "ev:view:a:b:c", "somebody else's"]);
        let done = store.emit(events::GroupChanged { group: group("a") }).await.unwrap();
        assert_eq!((done.removed, done.exact, done.indexed, done.searched), (60, 0, 1, 1));
        assert_eq!(count(server, "ev:access:a:*"), 0);
        assert_eq!(count(server, "ev:access:b:*"), 30);
        assert_eq!(count(server, "ev:view:b:*"), 30);
        assert_eq!(count(server, "ev:view:a:b:c"), 1);
        // By the other parameter, whose index has not forgotten.
        let done = store.emit(events::MemberChanged { member: member("m7") }).await.unwrap();
        assert_eq!(done.removed, 1);
        assert_eq!(count(server, "ev:access:b:*"), 29);
        let again = store.emit(events::GroupChanged { group: group("a") }).await.unwrap();
        assert_eq!(again.removed, 0);
    })
    .await;
}

#[tokio::test]
async fn a_fill_whose_index_was_evicted_is_dropped() {
    on_all(async |server: &Server, store: Store| {
        let access = || store.at(keys::Access { group: group("a"), member: member("m1") });
        let load = async || {
            // The event finds nothing in an index that is gone, so the lease stays.
            server.command(&["DEL", "ev:~index:{ev:access:a:*}"]);
            store.emit(events::GroupChanged { group: group("a") }).await.unwrap();
            Ok::<_, Infallible>("old".to_owned())
        };
        assert_eq!(access().get_or_load(load).await.unwrap(), "old", "who asked before gets it");
        assert_eq!(access().get().await.unwrap(), None, "nobody else does");
        let load = async || Ok::<_, Infallible>("new".to_owned());
        assert_eq!(access().get_or_load(load).await.unwrap(), "new");
        assert_eq!(access().get().await.unwrap().as_deref(), Some("new"));
    })
    .await;
}

#[tokio::test]
async fn an_index_does_not_outlive_what_it_names() {
    on_all(async |server: &Server, store: Store| {
        fill(&store).await;
        let index = "ev:~index:{ev:access:a:*}";
        assert_eq!(server.command(&["ZCARD", index]).integer(), 30);
        let ttl = server.command(&["TTL", index]).integer();
        assert!((3590..=3600).contains(&ttl), "{ttl}");
        // Names whose keys have expired go with the next write.
        server.command(&["ZADD", index, "1", "ev:access:a:gone"]);
        let access = store.at(keys::Access { group: group("a"), member: member("new") });
        access.set(&"yes".to_owned()).await.unwrap();
        assert_eq!(server.command(&["ZCARD", index]).integer(), 31);
        access.delete().await.unwrap();
        assert_eq!(server.command(&["ZCARD", index]).integer(), 30);
        store.emit(events::GroupChanged { group: group("a") }).await.unwrap();
        assert_eq!(server.command(&["EXISTS", index]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn an_event_drops_fills_of_keys_that_are_not_there_yet() {
    on_all(async |server: &Server, store: Store| {
        let other = super::patient(server).await;
        let key = || keys::Access { group: group("a"), member: member("m") };
        let view = || keys::View { group: group("a"), member: member("m") };
        let change = async || other.emit(events::GroupChanged { group: group("a") }).await.unwrap();
        let load = || async {
            change().await;
            Ok::<_, Infallible>("old".to_owned())
        };
        store.at(key()).get_or_load(load).await.unwrap();
        assert_eq!(store.at(key()).get().await.unwrap(), None, "found by the index");
        store.at(view()).get_or_load(load).await.unwrap();
        assert_eq!(store.at(view()).get().await.unwrap(), None, "found by the scan");
    })
    .await;
}

#[tokio::test]
async fn the_events_of_a_real_convention() {
    on_all(async |server: &Server, store: Store| {
        use super::id;
        use xeuz_cloud::{events, keys, stored};
        for user in 0..50 {
            for folder in [1, 2] {
                let key = keys::Permission { folder_id: id(folder), user_id: id(user) };
                store.at(key).set(&stored::Permission::Viewer).await.unwrap();
            }
        }
        let listing = super::model::FolderListing { files: vec!["a.pdf".into()] };
        store.at(keys::FolderListing { folder_id: id(1) }).set(&listing).await.unwrap();
        let done = store.emit(events::FileUploaded { parent_id: id(1) }).await.unwrap();
        assert_eq!((done.removed, done.exact), (1, 1));
        let done = store.emit(events::ShareUpdated { folder_id: id(1) }).await.unwrap();
        assert_eq!(done.removed, 50);
        let done = store.emit(events::RoleUpdated { user_id: id(7) }).await.unwrap();
        assert_eq!(done.removed, 1);
        assert_eq!(count(server, "xc:perm:*"), 49);
    })
    .await;
}

#[tokio::test]
async fn an_index_knows_what_a_read_has_renewed_and_what_was_counted() {
    on_all(async |server: &Server, store: Store| {
        let session = store.at(keys::Session { group: group("a"), member: member("b") });
        session.set(&"x".to_owned()).await.unwrap();
        // As if it had been written an hour ago: what the index knows is about to end.
        let index = "ev:~index:{ev:session:a:*}";
        let end = || -> i64 {
            server.command(&["ZSCORE", index, "ev:session:a:b"]).text().parse().unwrap()
        };
        let written = end();
        let early = (written - 3_540_000).to_string();
        server.command(&["ZADD", index, &early, "ev:session:a:b"]);
        server.command(&["PEXPIRE", index, "60000"]);
        assert_eq!(session.get().await.unwrap().as_deref(), Some("x"));
        assert!(end() >= written);
        assert!(server.command(&["PTTL", index]).integer() > 3_500_000);
        // A read of what is not there tells the index nothing.
        let none = store.at(keys::Session { group: group("a"), member: member("c") });
        assert_eq!(none.get().await.unwrap(), None);
        assert_eq!(server.command(&["ZCARD", index]).integer(), 1);

        let logins = store.at(keys::Logins { group: group("a"), member: member("b") });
        logins.add(1).await.unwrap();
        let done = store.emit(events::GroupLeft { group: group("a") }).await.unwrap();
        assert_eq!(done.removed, 2);
        assert_eq!(session.get().await.unwrap(), None);
        assert_eq!(logins.get().await.unwrap(), 0);
    })
    .await;
}
