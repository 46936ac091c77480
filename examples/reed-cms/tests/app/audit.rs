//! What comes out of it: a keyspace with keys of all definitions, in which an audit finds nothing.

use super::harness::{App, server};
use super::jobs::{export, queue};
use super::pages::about;
use keyward_audit::{Audit, Options, Report, Subject};
use keyward_testkit::{Flavor, Server, repository, wait_until};
use serde_json::json;
use std::sync::Arc;

#[test]
fn an_audit_finds_keys_of_all_definitions_and_nothing_wrong() {
    for flavor in Flavor::ALL {
        let server = server(flavor);
        let app = App::start(Some(&server));
        use_everything(&app, &server);
        let report = audit(&server);
        let findings: Vec<_> = report.findings.iter().map(|it| &it.message).collect();
        assert!(findings.is_empty(), "{findings:#?}");
        let unknown: Vec<_> = report.unknown.iter().map(|group| &group.pattern).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        let without = report.definitions.iter().filter(|it| it.facts.keys == 0);
        let without: Vec<&str> = without.map(|it| it.name.as_str()).collect();
        assert!(without.is_empty(), "no keys of {without:?}");
        let derived =
            |name: &str| report.definitions.iter().find(|it| it.name == name).unwrap().derived.keys;
        for name in ["lock", "queue", "entity_words", "page_cache", "session"] {
            assert!(derived(name) > 0, "`{name}` has no derived keys");
        }
    }
}

/// A day of Ada, Bob and their visitors. It ends with a task that runs, tasks that wait and a lock that is held.
fn use_everything(app: &App, server: &Server) {
    let (ada, bob, visitor) = (app.ada(), app.bob(), app.visitor());
    let (_, hero) = about(&ada);
    let removed = bob.publish("snippet", "text", "Removed", json!({}));
    bob.name(&removed, "removed");
    bob.delete(&format!("/api/entities/{removed}")).is(204);
    for view in ["/about", "/about?locale=en_GB&theme=corporate.berlin"] {
        visitor.get(view).is(200);
    }
    assert_eq!(visitor.found("q=welcome"), ["Welcome"]);
    ada.post("/api/reindex", json!({})).is(202);
    let exported = export(&ada, "snippet");
    export(&ada, "nothing");
    wait_until("the exports have ended", || {
        let dead = &queue(&ada, "export")["dead"];
        ada.get(&exported).status == 200 && dead.as_array().unwrap().len() == 1
    });
    ada.settle();

    let lock = format!("reed:lock:{}", hero.replace('/', ":"));
    ada.put("/api/queues/export/paused", json!({ "paused": true })).is(204);
    for _ in 0..2 {
        // An idle worker that has not noticed the pause may move one task from the list, but not both.
        export(&ada, "snippet");
    }
    // Somebody is writing the banner, so that the task that indexes it waits for the lock, with its lease.
    ada.put("/api/queues/indexing/paused", json!({ "paused": true })).is(204);
    let writing = json!({ "template": "hero-banner", "title": "Welcome", "fields": {} });
    bob.put(&format!("/api/entities/{hero}"), writing).is(204);
    server.command(&["SET", &lock, "another-editor", "PX", "30000"]);
    ada.put("/api/queues/indexing/paused", json!({ "paused": false })).is(204);
    wait_until("a task waits for the lock", || queue(&ada, "indexing")["running"] == 1);
    // What was removed by changes until now is there again.
    visitor.get("/about").is(200);
    assert_eq!(visitor.found("q=welcome"), ["Welcome"]);
    bob.form();
    app.ada().delete("/api/login").is(204);
}

fn audit(server: &Server) -> Report {
    let path = repository().join("examples/reed-cms/keyward.toml");
    let schema = keyward_schema::load(&path).schema.expect("the schema is sound");
    let audit = Arc::new(Audit::new(vec![Subject::new(schema)], &Options::default()));
    let options = keyward_audit::live::Options::default();
    audit.observe(&server.url(), &options, || None, keyward_audit::now()).expect("it can be read")
}
