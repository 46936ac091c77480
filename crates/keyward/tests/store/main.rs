//! The store, on real servers.

use keyward::{BreakerState, Store, Uuid};
use keyward_testkit::Server;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

keyward::keyspace!("../../examples/xeuz-cloud/keyward.toml", values = crate::model);

mod model {
    use super::{Deserialize, Serialize};

    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FolderListing {
        pub files: Vec<String>,
    }
}

use model::FolderListing;
use xeuz_cloud::{events, keys, stored};

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn listing(name: &str) -> FolderListing {
    FolderListing { files: vec![name.to_owned()] }
}

async fn store() -> (Server, Store) {
    let server = Server::redis();
    let store = Store::connect(&server.url()).await.unwrap();
    (server, store)
}

#[tokio::test]
async fn a_value_is_written_with_its_ttl_and_read_back() {
    let (_server, store) = store().await;
    let permission = store.at(keys::Permission { folder_id: id(1), user_id: id(2) });
    assert_eq!(permission.get().await.unwrap(), None);
    permission.set(&stored::Permission::Editor).await.unwrap();
    assert_eq!(permission.get().await.unwrap(), Some(stored::Permission::Editor));
    let left = permission.remaining().await.unwrap().unwrap();
    assert!(left > Duration::from_secs(599) && left <= Duration::from_secs(1800), "{left:?}");
    assert!(!permission.set_if_absent(&stored::Permission::Owner).await.unwrap());
    assert_eq!(permission.get_and_delete().await.unwrap(), Some(stored::Permission::Editor));
    assert!(!permission.exists().await.unwrap());
}

#[tokio::test]
async fn ten_thousand_misses_make_one_load() {
    let (_server, store) = store().await;
    let loads = Arc::new(AtomicUsize::new(0));
    let callers: Vec<_> = (0..10_000)
        .map(|_| {
            let (store, loads) = (store.clone(), loads.clone());
            tokio::spawn(async move {
                let load = || async {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    loads.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, Infallible>(listing("a"))
                };
                store.at(keys::FolderListing { folder_id: id(1) }).get_or_load(load).await.unwrap()
            })
        })
        .collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap(), listing("a"));
    }
    assert_eq!(loads.load(Ordering::SeqCst), 1);
    let cached = store.at(keys::FolderListing { folder_id: id(1) }).get().await.unwrap();
    assert_eq!(cached, Some(listing("a")));
}

#[tokio::test]
async fn a_fill_that_began_before_an_invalidation_never_lands() {
    let (_server, store) = store().await;
    let (began, has_begun) = tokio::sync::oneshot::channel();
    let (go, may_go) = tokio::sync::oneshot::channel::<()>();
    let slow = tokio::spawn({
        let store = store.clone();
        async move {
            let load = || async {
                began.send(()).unwrap();
                may_go.await.unwrap();
                Ok::<_, Infallible>(listing("old"))
            };
            store.at(keys::FolderListing { folder_id: id(1) }).get_or_load(load).await.unwrap()
        }
    });
    has_begun.await.unwrap();
    store.emit(events::FileUploaded { parent_id: id(1) }).await.unwrap();
    // Whoever asks now does not get what is being loaded.
    let handle = store.at(keys::FolderListing { folder_id: id(1) });
    let fresh = handle.get_or_load(|| async { Ok::<_, Infallible>(listing("new")) }).await;
    assert_eq!(fresh.unwrap(), listing("new"));
    go.send(()).unwrap();
    assert_eq!(slow.await.unwrap(), listing("old"));
    let cached = store.at(keys::FolderListing { folder_id: id(1) }).get().await.unwrap();
    assert_eq!(cached, Some(listing("new")));
}

#[tokio::test]
async fn an_event_finds_keys_with_a_free_parameter() {
    let (_server, store) = store().await;
    for user in 0..50 {
        let permission = store.at(keys::Permission { folder_id: id(1), user_id: id(user) });
        permission.set(&stored::Permission::Viewer).await.unwrap();
        let other = store.at(keys::Permission { folder_id: id(2), user_id: id(user) });
        other.set(&stored::Permission::Viewer).await.unwrap();
    }
    let removed = store.emit(events::ShareUpdated { folder_id: id(1) }).await.unwrap();
    assert_eq!(removed.removed, 50);
    let other = store.at(keys::Permission { folder_id: id(2), user_id: id(7) });
    assert!(other.exists().await.unwrap());
}

#[tokio::test]
async fn a_counter_does_not_fall_below_zero() {
    let (_server, store) = store().await;
    let quota = store.at(keys::QuotaUsed { user_id: id(1) });
    assert_eq!(quota.add(100).await.unwrap().value, 100);
    let refused = quota.add(-101).await.unwrap();
    assert_eq!((refused.counted, refused.value), (false, 100));
    assert_eq!(quota.add(-100).await.unwrap().value, 0);
    assert_eq!(quota.remaining().await.unwrap(), None);
    let huge = quota.add(i64::MAX).await.unwrap();
    assert_eq!((huge.counted, huge.value), (true, i64::MAX));
}

#[tokio::test]
async fn a_limit_allows_as_many_as_declared() {
    let (_server, store) = store().await;
    let limit = store.at(keys::UploadLimit { user_id: id(1) });
    for left in (0..10).rev() {
        let allowance = limit.check().await.unwrap();
        assert!(allowance.allowed);
        assert_eq!(allowance.remaining, left);
    }
    let refused = limit.check().await.unwrap();
    assert!(!refused.allowed);
    assert!(refused.retry_after > Duration::from_secs(50));
}

#[tokio::test]
async fn without_a_server_the_loader_answers() {
    let (server, store) = store().await;
    drop(server);
    for _ in 0..20 {
        let load = || async { Ok::<_, Infallible>(listing("from the database")) };
        let loaded = store.at(keys::FolderListing { folder_id: id(1) }).get_or_load(load).await;
        assert_eq!(loaded.unwrap(), listing("from the database"));
    }
    assert_eq!(store.breaker(), BreakerState::Open);
    assert!(store.at(keys::UploadLimit { user_id: id(1) }).check().await.unwrap().allowed);
}
