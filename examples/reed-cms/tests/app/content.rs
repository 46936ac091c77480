//! Entities with their statuses, names and places, and what a removal leaves: nothing.

use super::harness::{App, exists, reference, server, titles};
use keyward_testkit::Flavor;
use serde_json::json;

#[test]
fn an_entity_is_written_whole_listed_and_published() {
    for flavor in Flavor::ALL {
        let server = server(flavor);
        let app = App::start(Some(&server));
        let ada = app.ada();
        let hero = ada.draft("snippet", "hero-banner", "Welcome", json!({ "body": "Hello" }));
        let shown = ada.get(&format!("/api/entities/{hero}")).is(200).json();
        assert_eq!(
            (&shown["template"], &shown["status"], &shown["fields"]),
            (&json!("hero-banner"), &json!("draft"), &json!({ "body": "Hello" }))
        );
        // As the document stores it.
        let key = format!("reed:entity:{}", hero.replace('/', ":"));
        assert_eq!(server.command(&["HGET", &key, "type"]).text(), "hero-banner");
        assert_eq!(server.command(&["HGET", &key, "title"]).text(), "Welcome");

        let drafts = || titles(&ada.get("/api/status/draft").is(200).json());
        let published = || titles(&ada.get("/api/status/published").is(200).json());
        assert_eq!((drafts(), published()), (vec!["Welcome".to_owned()], vec![]));
        ada.set_status(&hero, "published");
        assert_eq!((drafts(), published()), (vec![], vec!["Welcome".to_owned()]));
        let writing = json!({ "template": "hero-banner", "title": "Hello", "fields": {} });
        ada.put(&format!("/api/entities/{hero}"), writing).is(204);
        let shown = ada.get(&format!("/api/entities/{hero}")).json();
        assert_eq!((&shown["status"], &shown["fields"]), (&json!("published"), &json!({})));
        assert_eq!(titles(&ada.get("/api/entities/snippet").json()), ["Hello"]);

        let writing = |template: &str, fields| json!({ "template": template, "title": "x", "fields": fields });
        ada.post("/api/entities/snippet", writing("nothing", json!({}))).is(422);
        ada.post("/api/entities/snippet", writing("text", json!({ "status": "x" }))).is(422);
        ada.post("/api/entities/not%20a%20type", writing("text", json!({}))).is(422);
    }
}

#[test]
fn one_editor_at_a_time_changes_an_entity() {
    let server = server(Flavor::Redis);
    let app = App::start(Some(&server));
    let ada = app.ada();
    let hero = ada.draft("snippet", "hero-banner", "Welcome", json!({}));
    let lock = format!("reed:lock:{}", hero.replace('/', ":"));
    server.command(&["SET", &lock, "another-editor", "PX", "30000"]);
    let refused =
        ada.put(&format!("/api/entities/{hero}/status"), json!({ "status": "published" }));
    assert_eq!(refused.is(409).json()["error"], "somebody else is changing it");
    server.command(&["DEL", &lock]);
    ada.set_status(&hero, "published");
}

#[test]
fn a_name_belongs_to_one_entity_and_a_removed_entity_leaves_nothing() {
    for flavor in Flavor::ALL {
        let server = server(flavor);
        let app = App::start(Some(&server));
        let ada = app.ada();
        let [hero, other, page] = ["Welcome", "Other", "Page"]
            .map(|title| ada.publish("snippet", "text", title, json!({})));
        ada.name(&hero, "$welcome_hero");
        ada.name(&hero, "$welcome_hero");
        ada.name(&hero, "second");
        let named = ada.get("/api/names/snippet/$welcome_hero").is(200).json();
        assert_eq!(named, reference(&hero));
        let (_, other_id) = other.split_once('/').unwrap();
        ada.put("/api/names/snippet/$welcome_hero", json!({ "id": other_id })).is(409);
        ada.put("/api/places/content.1.1", reference(&hero)).is(204);
        assert_eq!(ada.get("/api/places/content.1.1").is(200).json(), reference(&hero));
        ada.put("/api/places/content.1.2", reference(&other)).is(204);
        ada.attach(&hero, &page, 1).is(204);

        let refused = ada.delete(&format!("/api/entities/{page}")).is(409);
        assert_eq!(refused.json()["error"], "it has children");
        ada.delete(&format!("/api/entities/{hero}")).is(204);
        ada.get(&format!("/api/entities/{hero}")).is(404);
        ada.get("/api/names/snippet/$welcome_hero").is(404);
        ada.get("/api/names/snippet/second").is(404);
        ada.get("/api/places/content.1.1").is(404);
        ada.get("/api/places/content.1.2").is(200);
        ada.settle();
        let (_, id) = hero.split_once('/').unwrap();
        for key in
            [format!("entity:snippet:{id}"), format!("parent:{id}"), format!("entity_words:{id}")]
        {
            assert!(!exists(&server, &format!("reed:{key}")), "{key}");
        }
        for set in ["type_index:snippet", "status_index:published", "word:welcome"] {
            let set = format!("reed:{set}");
            let member = format!("entity:snippet:{id}");
            assert_eq!(server.command(&["SISMEMBER", &set, &member]).integer(), 0, "{set}");
        }
        ada.put("/api/places/content.1.1", reference(&hero)).is(404);
        ada.attach(&hero, &page, 1).is(404);
        ada.put(&format!("/api/entities/{hero}/status"), json!({ "status": "draft" })).is(404);
        // The name is free again, and a name is given back.
        ada.name(&other, "$welcome_hero");
        ada.delete("/api/names/snippet/$welcome_hero").is(204);
        ada.delete("/api/names/snippet/$welcome_hero").is(404);
        ada.delete("/api/places/content.1.2").is(204);
        ada.delete("/api/places/content.1.2").is(404);
    }
}
