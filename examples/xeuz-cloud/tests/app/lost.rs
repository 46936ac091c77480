//! What Redis has lost, the database still knows.

use super::harness::{App, redis};
use super::{ADA, BOB, id};
use keyward_testkit::Flavor;
use serde_json::json;

#[test]
fn a_counter_that_was_lost_is_read_from_the_database() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let redis = redis(flavor);
        let app = App::start(&redis.url()).with_people();
        app.add_folder(ADA, id(1), ADA, "folder").is(201);
        app.upload(ADA, id(11), id(1), "a.pdf", 1000).is(201);
        assert_eq!(app.used(ADA), 1000);
        redis.command(&["FLUSHALL"]);
        assert_eq!(app.used(ADA), 1000, "not zero");
        redis.command(&["FLUSHALL"]);
        app.upload(ADA, id(12), id(1), "b.pdf", 1).is(201);
        assert_eq!(app.used(ADA), 1001, "the upload began a counter of its own");
    }
}

#[test]
fn a_refusal_is_remembered_until_something_changes() {
    let redis = redis(Flavor::Redis);
    let app = App::start(&redis.url()).with_people();
    let none = format!("xc:~none:{{xc:perm:{}:{BOB}}}", id(1));
    assert_eq!(app.permission(BOB, id(1)), None);
    assert_eq!(redis.command(&["EXISTS", &none]).integer(), 1);
    // A folder that comes later, and a share of it.
    app.add_folder(ADA, id(1), ADA, "folder").is(201);
    assert_eq!(app.permission(ADA, id(1)).as_deref(), Some("owner"));
    assert_eq!(app.permission(BOB, id(1)), None);
    let share = format!("/folders/{}/shares/{BOB}", id(1));
    app.put(ADA, &share, json!({ "permission": "viewer" })).is(204);
    assert_eq!(app.permission(BOB, id(1)).as_deref(), Some("viewer"));
}
