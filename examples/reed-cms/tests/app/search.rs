//! Words: all of them, any of them, and the index made again.

use super::harness::{App, server};
use keyward_testkit::{Flavor, Reply, Server};
use serde_json::json;
use std::thread;

#[test]
fn published_entities_are_found_by_their_words() {
    for flavor in Flavor::ALL {
        let server = server(flavor);
        let app = App::start(Some(&server));
        let (ada, visitor) = (app.ada(), app.visitor());
        let art =
            ada.publish("snippet", "text", "Modern art", json!({ "body": "in M\u{fc}nchen" }));
        ada.publish("snippet", "text", "Modern times", json!({ "body": "A film" }));
        ada.draft("snippet", "text", "Modern drafts", json!({}));
        ada.settle();
        assert_eq!(visitor.found("q=modern"), ["Modern art", "Modern times"]);
        assert_eq!(visitor.found("q=MODERN%20film"), ["Modern times"]);
        assert_eq!(visitor.found("q=film%20m%C3%BCnchen&any=true"), ["Modern art", "Modern times"]);
        assert_eq!(visitor.found("q=ancient"), Vec::<String>::new());
        assert_eq!(visitor.found("q="), Vec::<String>::new());

        // The same search is answered from the cache, and a change removes it.
        assert_eq!(visitor.found("q=%20Modern"), ["Modern art", "Modern times"]);
        let metrics = visitor.get("/metrics").is(200).text;
        let hits = "keyward_cache_hits_total{definition=\"query_cache\"} 1";
        assert!(metrics.contains(hits), "{hits} is not in\n{metrics}");
        let writing = json!({ "template": "text", "title": "Baroque art", "fields": {} });
        ada.put(&format!("/api/entities/{art}"), writing).is(204);
        ada.settle();
        assert_eq!(visitor.found("q=modern"), ["Modern times"]);
        assert_eq!(visitor.found("q=m%C3%BCnchen"), Vec::<String>::new());
        assert_eq!(visitor.found("q=baroque"), ["Baroque art"]);
    }
}

#[test]
fn of_many_who_save_at_once_the_last_one_is_found_and_no_other() {
    let server = server(Flavor::Valkey);
    let app = App::start(Some(&server));
    let ada = app.ada();
    let entity = ada.publish("snippet", "text", "before", json!({}));
    let path = format!("/api/entities/{entity}");
    let words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
    thread::scope(|scope| {
        for word in words {
            let (ada, path) = (&ada, &path);
            let writing = json!({ "template": "text", "title": word, "fields": {} });
            scope.spawn(move || ada.put(path, writing));
        }
    });
    ada.settle();
    let title = ada.get(&path).is(200).json()["title"].as_str().unwrap().to_owned();
    assert!(words.contains(&title.as_str()));
    let found = ada.found(&format!("q=before%20{}&any=true", words.join("%20")));
    assert_eq!(found.join(" "), title);
    let (_, id) = entity.split_once('/').unwrap();
    assert_eq!(members(&server, &format!("reed:entity_words:{id}")), [title]);
}

#[test]
fn the_index_is_made_again_from_the_entities() {
    for flavor in Flavor::ALL {
        let server = server(flavor);
        let app = App::start(Some(&server));
        let ada = app.ada();
        let art = ada.publish("snippet", "text", "Modern art", json!({}));
        ada.settle();
        // Somebody has deleted a set, another program has added what does not exist, and the document's example
        // wrote entities with the prefix.
        server.command(&["DEL", "reed:word:modern"]);
        let gone = "entity:snippet:00000000-0000-0000-0000-000000000001";
        let entity = format!("entity:{}", art.replace('/', ":"));
        server.command(&["SADD", "reed:word:art", gone, &format!("reed:{entity}")]);
        assert_eq!(ada.found("q=modern"), Vec::<String>::new());
        ada.post("/api/reindex", json!({})).is(202);
        ada.settle();
        assert_eq!(ada.found("q=modern"), ["Modern art"]);
        assert_eq!(members(&server, "reed:word:art"), [entity]);
    }
}

fn members(server: &Server, set: &str) -> Vec<String> {
    server.command(&["SMEMBERS", set]).array().into_iter().map(Reply::text).collect()
}
