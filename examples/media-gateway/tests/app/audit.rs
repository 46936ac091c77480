//! What comes out of it: a keyspace that an audit finds nothing in, with keys of all definitions.

use super::harness::{App, server};
use super::jobs::{ended, push, push_two};
use super::sync::sync;
use super::{ADA, BOB};
use keyward_audit::{Audit, Options, Report, Subject};
use keyward_testkit::{Flavor, Server, repository};
use serde_json::json;
use std::sync::Arc;

/// Definitions without keys at the end: a lock is released.
const GONE: [&str; 1] = ["sync_lock"];

#[test]
fn an_audit_finds_keys_of_all_definitions_and_nothing_wrong() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let server = server(flavor);
        let app = App::start(Some(&server));
        use_everything(&app, &server);
        let report = audit(&server);
        let findings: Vec<_> = report.findings.iter().map(|it| &it.message).collect();
        assert!(findings.is_empty(), "{findings:#?}");
        let unknown: Vec<_> = report.unknown.iter().map(|group| &group.pattern).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        let without: Vec<&str> = report
            .definitions
            .iter()
            .filter(|it| it.facts.keys == 0)
            .map(|it| it.name.as_str())
            .collect();
        assert_eq!(without, GONE);
        let lock = report.definitions.iter().find(|it| it.name == "sync_lock").unwrap();
        assert!(lock.derived.keys > 0, "it was held: its fence is still there");
    }
}

/// A day of Ada and Bob.
fn use_everything(app: &App, server: &Server) {
    let (ada, bob) = (app.of(ADA), app.of(BOB));
    for user in [&ada, &bob] {
        user.get("/profile").is(200);
        user.get("/recommendations").is(200);
        user.put("/watchlist/long-tide", json!({})).is(204);
        user.get("/watchlist").is(200);
        let position =
            json!({ "position_seconds": 60, "duration_seconds": 6000, "device_id": ADA });
        user.put("/progress/night-ferry", position).is(204);
        user.get("/progress/night-ferry").is(200);
    }
    sync(&ada, server, "lumen");
    ada.get("/search?q=the").is(200);
    ada.get("/titles/long-tide").is(200);
    ada.get("/titles/long-tide/similar").is(200);
    ada.get("/titles/long-tide/offers/lumen/de").is(200);
    ada.get("/popular/de/movie").is(200);
    ada.get("/trending/de/24h").is(200);
    let left = app.of(ADA);
    left.post("/logout", json!({ "refresh_token": left.refresh })).is(204);
    ended(&ada, server, "thumbnail", &push(&ada, "thumbnail", "long-tide"));
    ended(&ada, server, "thumbnail", &push(&ada, "thumbnail", "nothing"));
    ada.put("/jobs/thumbnail/paused", json!({ "paused": true })).is(204);
    push_two(&ada);
    app.nobody().begin_login();
    ada.put("/flags/new-player", json!({ "enabled": true, "percent": 50 })).is(204);
    ada.put("/flags/new-player/mine", json!({ "enabled": true })).is(204);
    ada.get("/flags/new-player").is(200);
}

fn audit(server: &Server) -> Report {
    let path = repository().join("examples/media-gateway/keyward.toml");
    let schema = keyward_schema::load(&path).schema.expect("the schema is sound");
    let audit = Arc::new(Audit::new(vec![Subject::new(schema)], &Options::default()));
    let options = keyward_audit::live::Options::default();
    audit.observe(&server.url(), &options, || None, keyward_audit::now()).expect("it can be read")
}
