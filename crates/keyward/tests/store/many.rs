//! Many values with one load, and fields whose names are known only when a program runs.

use super::everything::{events, fields, keys};
use super::{cluster, clustered, on_all};
use keyward::{Error, FieldValue as _, Store};
use keyward_testkit::{Cluster, Flavor, Server};
use std::convert::Infallible;
use std::sync::Mutex;

#[derive(Debug, PartialEq)]
struct DatabaseIsDown;

fn maybe(ids: impl IntoIterator<Item = u64>) -> Vec<keys::Maybe> {
    ids.into_iter().map(|id| keys::Maybe { id }).collect()
}

#[tokio::test]
async fn many_values_take_one_read_and_one_load() {
    on_all(async |server: &Server, store: Store| {
        store.at(keys::Maybe { id: 2 }).set(&"two".to_owned()).await.unwrap();
        let asked = Mutex::new(Vec::new());
        let load = |missing: Vec<keys::Maybe>| {
            asked.lock().unwrap().push(missing.iter().map(|key| key.id).collect::<Vec<_>>());
            let known = missing.into_iter().filter(|key| key.id < 4);
            let loaded: Vec<_> =
                known.map(|key| (key.clone(), format!("loaded {}", key.id))).collect();
            async move { Ok::<_, Infallible>(loaded) }
        };
        // 1 and 3 are loaded, 2 is there, 4 does not exist; 3 is asked for twice.
        let got = store.get_or_load_many(maybe([1, 2, 3, 4, 3]), load).await.unwrap();
        let got: Vec<Option<&str>> = got.iter().map(Option::as_deref).collect();
        let wanted = [Some("loaded 1"), Some("two"), Some("loaded 3"), None, Some("loaded 3")];
        assert_eq!(got, wanted);
        let before = server.calls("evalsha") + server.calls("eval");
        let again = store.get_or_load_many(maybe([1, 2, 3, 4]), load).await.unwrap();
        assert_eq!(again.len(), 4);
        assert_eq!(*asked.lock().unwrap(), [vec![1, 3, 4]], "nobody was missing any more");
        assert_eq!(server.calls("evalsha") + server.calls("eval"), before);
        assert!(server.command(&["TTL", "ev:maybe:1"]).integer() > 3000);
        assert_eq!(server.command(&["EXISTS", "ev:~none:{ev:maybe:4}"]).integer(), 1);
        assert_eq!(server.command(&["KEYS", "ev:~lease:*"]).array().len(), 0, "all were spent");
        let nothing = store.get_or_load_many(maybe([]), load).await.unwrap();
        assert!(nothing.is_empty());
    })
    .await;
}

#[tokio::test]
async fn one_invalidation_drops_one_fill_of_many() {
    on_all(async |server: &Server, store: Store| {
        let load = |missing: Vec<keys::Maybe>| async {
            store.emit(events::TextChanged { id: 2 }).await.unwrap();
            Ok::<_, Infallible>(missing.into_iter().map(|key| (key, "old".to_owned())))
        };
        let got = store.get_or_load_many(maybe([1, 2, 3]), load).await.unwrap();
        assert!(got.iter().all(|value| value.as_deref() == Some("old")), "the loader's answer");
        let there =
            [1, 2, 3].map(|id| server.command(&["EXISTS", &format!("ev:maybe:{id}")]).integer());
        assert_eq!(there, [1, 0, 1]);
    })
    .await;
}

#[tokio::test]
async fn if_one_load_for_many_fails_stale_copies_serve_all_or_the_error_comes_out() {
    on_all(async |server: &Server, store: Store| {
        for id in [1, 2] {
            store.at(keys::Stale { id }).set(&format!("old {id}")).await.unwrap();
            server.command(&["DEL", &format!("ev:stale:{id}")]);
        }
        let fails = |_: Vec<keys::Stale>| async { Err::<Vec<_>, _>(DatabaseIsDown) };
        let stale = |ids: &[u64]| ids.iter().map(|id| keys::Stale { id: *id }).collect::<Vec<_>>();
        let got = store.get_or_load_many(stale(&[1, 2]), fails).await.unwrap();
        assert_eq!(got, [Some("old 1".to_owned()), Some("old 2".to_owned())]);
        let error = store.get_or_load_many(stale(&[1, 3]), fails).await.unwrap_err();
        assert_eq!(*error, DatabaseIsDown);
        // A cache that is away is no error.
        server.kill();
        let load = |missing: Vec<keys::Stale>| async {
            Ok::<_, DatabaseIsDown>(missing.into_iter().map(|key| (key, "loaded".to_owned())))
        };
        let got = store.get_or_load_many(stale(&[1, 3]), load).await.unwrap();
        assert_eq!(got, [Some("loaded".to_owned()), Some("loaded".to_owned())]);
    })
    .await;
}

#[tokio::test]
async fn many_values_are_loaded_wherever_their_keys_are() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let nodes = Cluster::start(flavor);
        let store = cluster::store(&nodes).await;
        let keys = || (0..20).map(|id| clustered::keys::Text { id });
        let load = |missing: Vec<clustered::keys::Text>| async {
            Ok::<_, Infallible>(missing.into_iter().map(|key| (key.clone(), key.id.to_string())))
        };
        let got = store.get_or_load_many(keys(), load).await.unwrap();
        assert_eq!(got[19].as_deref(), Some("19"));
        let never = |_: Vec<clustered::keys::Text>| async { Err::<Vec<_>, _>(DatabaseIsDown) };
        assert_eq!(store.get_or_load_many(keys(), never).await.unwrap(), got);
    }
}

#[tokio::test]
async fn fields_of_an_open_hash_have_the_declared_type() {
    on_all(async |server: &Server, store: Store| {
        let tallies = store.at(keys::Tallies { id: 1 });
        assert_eq!(tallies.get_other("apples").await.unwrap(), None);
        assert_eq!(tallies.increment_other("apples", 3).await.unwrap(), Some(3));
        assert_eq!(tallies.increment_other("apples", -5).await.unwrap(), Some(-2));
        assert!(tallies.set_other("pears", &7).await.unwrap());
        assert_eq!(tallies.get_other("pears").await.unwrap(), Some(7));
        assert!((3590..=3600).contains(&server.command(&["TTL", "ev:tallies:1"]).integer()));
        let mut whole = tallies.get().await.unwrap().unwrap().others;
        whole.sort();
        assert_eq!(whole, [(b"apples".to_vec(), -2), (b"pears".to_vec(), 7)]);
        assert!(tallies.remove_other("pears").await.unwrap());
        assert!(!tallies.remove_other("pears").await.unwrap());
        tallies.set(&fields::Tallies { others: vec![(b"plums".to_vec(), 1)] }).await.unwrap();
        assert_eq!(server.command(&["HGETALL", "ev:tallies:1"]).array().len(), 2);
        // What is not a value of the type is an error that names the field.
        server.command(&["HSET", "ev:tallies:1", "plums", "many"]);
        for error in
            [tallies.get_other("plums").await.unwrap_err(), tallies.get().await.unwrap_err()]
        {
            let named = |field: &Option<String>| field.as_deref() == Some("plums");
            assert!(matches!(&error, Error::Malformed { field, .. } if named(field)), "{error:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn declared_fields_are_not_others_and_half_a_hash_is_not_made() {
    on_all(async |server: &Server, store: Store| {
        let profile = store.at(keys::ProfileOf { id: 1 });
        assert!(!profile.set_other("age", &40).await.unwrap(), "there is no hash");
        assert_eq!(profile.increment_other("age", 1).await.unwrap(), None);
        assert_eq!(server.command(&["DBSIZE"]).integer(), 0);
        profile
            .set(&fields::ProfileOf { name: "Ada".to_owned(), others: Vec::new() })
            .await
            .unwrap();
        assert!(profile.set_other("age", &40).await.unwrap());
        assert_eq!(profile.increment_other("age", 1).await.unwrap(), Some(41));
        let error = profile.get_other("name").await.unwrap_err();
        assert!(error.to_string().contains("`name` of `profile_of`"), "{error}");
        assert!(profile.set_other("name", &1).await.is_err());
        assert_eq!(
            profile.get_field(fields::ProfileOf::NAME).await.unwrap().as_deref(),
            Some("Ada")
        );
        // Without a declared type, it is bytes.
        let anything = store.at(keys::Anything { id: 1 });
        anything.set_other("x", &7u64.to_bytes()).await.unwrap();
        assert_eq!(anything.get_other("x").await.unwrap(), Some(b"7".to_vec()));
    })
    .await;
}
