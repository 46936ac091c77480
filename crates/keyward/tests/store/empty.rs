//! Collections without elements, which a server cannot hold; and values that cannot be written.

use super::everything::{fields, keys, values};
use super::model::Grid;
use super::{moving, on_all, until};
use keyward::{AnyFields, Error, Handle, Key, Request, Store, Whole, kind};
use keyward_testkit::Server;

type At<'s, K> = Handle<'s, K, <K as Key>::Kind, kind::Declared>;

/// Writes a value, then an empty one: alone, and in a pipeline.
async fn empties<K, T>(
    server: &Server,
    store: &Store,
    handle: At<'_, K>,
    full: T::Value,
    empty: T::Value,
) where
    K: Key<Kind = T, Lifetime = kind::Declared>,
    T: Whole,
{
    let exists = || server.command(&["EXISTS", handle.name()]).integer() == 1;
    handle.set(&full).await.unwrap();
    assert!(exists());
    handle.set(&empty).await.unwrap();
    assert!(!exists(), "{} was set to nothing", handle.name());
    assert!(!handle.set_if_absent(&empty).await.unwrap(), "nothing was stored");
    assert!(!exists());
    handle.set(&full).await.unwrap();
    let mut batch = store.pipeline();
    let before = batch.add(handle.exists());
    let set = batch.add(handle.set(&empty));
    let absent: keyward::Promise<'_, bool> = batch.add(handle.set_if_absent(&empty));
    let after = batch.add(handle.exists());
    let mut results = batch.run().await.unwrap();
    assert!(results.take(before).unwrap());
    results.take(set).unwrap();
    assert!(!results.take(absent).unwrap());
    assert!(!results.take(after).unwrap());
}

#[tokio::test]
async fn setting_an_empty_collection_removes_the_key() {
    on_all(async |server: &Server, store: Store| {
        let text = || vec!["a".to_owned()];
        let ranked = || vec![("a".to_owned(), 1)];
        empties(server, &store, store.at(keys::Steps { id: 1 }), text(), vec![]).await;
        empties(server, &store, store.at(keys::Recent { id: 1 }), text(), vec![]).await;
        empties(server, &store, store.at(keys::Names { id: 1 }), text(), vec![]).await;
        empties(server, &store, store.at(keys::Invited { id: 1 }), vec![1], vec![]).await;
        empties(server, &store, store.at(keys::Scores { id: 1 }), ranked(), vec![]).await;
        empties(server, &store, store.at(keys::Board { id: 1 }), ranked(), vec![]).await;
        let visits = |today| fields::Visits { today, seconds: None };
        empties(server, &store, store.at(keys::Visits { id: 1 }), visits(Some(1)), visits(None))
            .await;
        let any = AnyFields(vec![(b"a".to_vec(), b"1".to_vec())]);
        empties(server, &store, store.at(keys::Anything { id: 1 }), any, AnyFields::default())
            .await;
        let moving = store.at(moving::keys::Steps { id: 1 });
        empties(server, &store, moving, text(), vec![]).await;
        assert_eq!(server.command(&["EXISTS", "OLD:Steps:1", "new:steps:1"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn what_belongs_to_an_emptied_collection_goes_with_it() {
    on_all(async |server: &Server, store: Store| {
        // What an event would look it up by.
        let (group, member) = (values::Group::new("a").unwrap(), values::Member::new("b").unwrap());
        let roster = store.at(keys::Roster { group, member });
        let indexed = || server.command(&["EXISTS", "ev:~index:{ev:roster:a:*}"]).integer() == 1;
        roster.set(&vec!["a".to_owned()]).await.unwrap();
        assert!(indexed());
        roster.set(&Vec::new()).await.unwrap();
        assert!(!indexed(), "its index names a key that is gone, for ever");
        roster.push_back(&["a".to_owned()]).await.unwrap();
        roster.pop_front().await.unwrap();
        assert!(!indexed(), "its index names a key that is gone, for ever");

        // What the process keeps, and the copy that outlives the key.
        let lineup = store.at(keys::Lineup { id: 1 });
        lineup.set(&vec!["a".to_owned()]).await.unwrap();
        until("it is kept in the process", async || {
            lineup.get().await.unwrap();
            lineup.is_kept()
        })
        .await;
        lineup.set(&Vec::new()).await.unwrap();
        assert!(!lineup.is_kept());
        assert_eq!(lineup.get().await.unwrap(), None);
        let stale = lineup.get_or_load(|| async { Err::<Vec<String>, _>("the database is down") });
        assert!(stale.await.is_err(), "a value that was replaced is served");

        // Whoever loads meanwhile has read what is old by now.
        let load = || async {
            lineup.set(&Vec::new()).await.unwrap();
            Ok::<_, std::convert::Infallible>(vec!["old".to_owned()])
        };
        assert_eq!(lineup.get_or_load(load).await.unwrap(), ["old"]);
        assert_eq!(lineup.get().await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_value_that_cannot_be_written_is_an_error_and_changes_nothing() {
    on_all(async |server: &Server, store: Store| {
        let good = Grid::default;
        let bad = || Grid { cells: [((0, 1), 2)].into() };
        let hash = |grid| fields::Unwritable { name: "a".to_owned(), grid: Some(grid) };
        let handle = store.at(keys::Unwritable { id: 1 });
        handle.set(&hash(good())).await.unwrap();
        let refused = |error: Error| {
            let Error::Malformed { field, .. } = &error else { panic!("{error:?}") };
            assert_eq!(field.as_deref(), Some("grid"));
            assert!(error.to_string().contains("key must be a string"), "{error}");
        };
        refused(handle.set(&hash(bad())).await.unwrap_err());
        refused(handle.set_if_absent(&hash(bad())).await.unwrap_err());
        let set: Request<'_, bool> = handle.set_field(fields::Unwritable::GRID, &bad());
        refused(set.await.unwrap_err());
        assert_eq!(handle.get().await.unwrap().unwrap().grid, Some(good()));
        // In a pipeline it fails alone.
        let mut batch = store.pipeline();
        let failing = batch.add(handle.set(&hash(bad())));
        let reading = batch.add(handle.get());
        let mut results = batch.run().await.unwrap();
        refused(results.take(failing).unwrap_err());
        assert_eq!(results.take(reading).unwrap().unwrap().grid, Some(good()));
        let log = store.at(keys::UnwritableLog { id: 1 });
        refused(log.append(&fields::UnwritableLog { grid: bad() }).await.unwrap_err());
        assert_eq!(server.command(&["EXISTS", log.name()]).integer(), 0);
        // What was loaded is the caller's, cached or not.
        let other = store.at(keys::Unwritable { id: 2 });
        let loaded = other.get_or_load(|| async { Ok::<_, std::convert::Infallible>(hash(bad())) });
        assert_eq!(loaded.await.unwrap().grid, Some(bad()));
        assert_eq!(server.command(&["EXISTS", other.name()]).integer(), 0);
    })
    .await;
}
