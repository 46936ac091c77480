//! Roles at a server that is a replica: nothing is written, and the error names the definition.

use super::queue::{kind, task};
use super::{indexed, jobs, patient, signed};
use keyward::queue::Push;
use keyward::{Error, Store};
use keyward_testkit::{Flavor, Server, wait_until};

/// A store at a replica, and its primary.
async fn on_replicas(test: impl AsyncFn(&Server, Store, Store)) {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let server = flavor.start();
        let replica = flavor.server().replica_of(&server).start();
        wait_until("the replica follows", || replica.is_in_sync());
        test(&server, patient(&server).await, patient(&replica).await).await;
    }
}

#[track_caller]
fn assert_read_only(error: &Error, of: &str) {
    assert!(
        matches!(error, Error::Refused { definition: Some(definition), code, .. }
            if code == "READONLY" && *definition == of),
        "{error:?}"
    );
    assert!(error.is_unavailable() && error.to_string().contains(of), "{error}");
}

#[tokio::test]
async fn a_queue_at_a_replica_takes_no_push() {
    on_replicas(async |server: &Server, _: Store, store: Store| {
        let queue = store.at(jobs::keys::Work { kind: kind("a") });
        let pushes = [Push::new(), Push::new().id("a"), Push::new().id("a").priority(1)];
        for push in pushes {
            assert_read_only(&queue.push_with(&task("a"), push).await.unwrap_err(), "work");
        }
        assert_read_only(&queue.cancel("a").await.unwrap_err(), "work");
        assert_eq!(server.command(&["DBSIZE"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_session_at_a_replica_is_read_and_not_changed() {
    on_replicas(async |server: &Server, primary: Store, store: Store| {
        use signed::{fields, keys};
        let login = fields::Login { user: 7, seen: None, cart: None };
        let session = primary.sessions::<keys::Login>().create(&login).await.unwrap();
        super::until("the replica has it", async || {
            store.at(session.clone()).get().await.unwrap().is_some()
        })
        .await;
        let before = server.command(&["DBSIZE"]).integer();
        let error = store.sessions::<keys::Login>().create(&login).await.unwrap_err();
        assert_read_only(&error, "login");
        assert_read_only(&store.at(session.clone()).revoke().await.unwrap_err(), "login");
        assert_read_only(&store.at(session.clone()).rotate().await.unwrap_err(), "login");
        assert_eq!(server.command(&["DBSIZE"]).integer(), before);
        assert!(primary.at(session).get().await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn an_index_at_a_replica_is_not_changed() {
    on_replicas(async |server: &Server, _: Store, store: Store| {
        use indexed::{keys, values};
        let article = keys::Article { kind: values::Kind::new("post").unwrap(), id: 1 };
        let word = keys::WordIndex { word: values::Word::new("art").unwrap() };
        let index = store.index::<keys::WordIndex>();
        let error = index.assign(&article, [word.clone()]).await.unwrap_err();
        assert_read_only(&error, "word_index");
        let error = store.at(word.clone()).put(&article).await.unwrap_err();
        assert_read_only(&error, "word_index");
        assert!(index.all_of([word]).await.unwrap().is_empty());
        assert_eq!(server.command(&["DBSIZE"]).integer(), 0);
    })
    .await;
}
