//! Exports that are done, exports that fail, and tasks that wait.

use super::harness::{App, Client, server, titles};
use keyward_testkit::{Flavor, wait_until};
use serde_json::{Value, json};

#[test]
fn an_export_is_done_or_ends_among_the_dead_letters() {
    for flavor in Flavor::ALL {
        let server = server(flavor);
        let mut app = App::start(Some(&server));
        let ada = app.ada();
        for title in ["One", "Two", "Three"] {
            ada.draft("snippet", "text", title, json!({}));
        }
        let done = export(&ada, "snippet");
        wait_until("the export is done", || ada.get(&done).json()["done"] == 3);
        let exported = ada.get(&done).is(200).json();
        assert_eq!(titles(&exported["entities"]), ["One", "Three", "Two"]);
        let (_, id) = done.rsplit_once('/').unwrap();
        let ttl = server.command(&["TTL", &format!("reed:temp:export:{id}")]).integer();
        assert!((1..=600).contains(&ttl), "{ttl}");

        let failed = export(&ada, "nothing");
        let dead = |count: usize| {
            wait_until("it has failed", || {
                queue(&ada, "export")["dead"].as_array().unwrap().len() == count
            });
        };
        dead(1);
        ada.get(&failed).is(404);
        let error = json!({ "error": "there is no entity of type `nothing`", "attempts": 1 });
        assert_eq!(queue(&ada, "export")["dead"], json!([error]));
        ada.get("/api/queues/anything").is(404);

        // A paused queue keeps its tasks, also over a restart.
        ada.put("/api/queues/export/paused", json!({ "paused": true })).is(204);
        assert_eq!(ada.post("/api/queues/export/requeue", json!({})).is(200).json()["requeued"], 1);
        let waiting = export(&ada, "snippet");
        assert_eq!(queue(&ada, "export")["waiting"], 2);
        assert!(app.stop().success());
        let app = App::start(Some(&server));
        let ada = app.ada();
        assert_eq!(queue(&ada, "export")["waiting"], 2);
        ada.get(&waiting).is(404);
        ada.put("/api/queues/export/paused", json!({ "paused": false })).is(204);
        wait_until("the export is done", || ada.get(&waiting).json()["done"] == 3);
        let dead = || queue(&ada, "export")["dead"].as_array().unwrap().len();
        wait_until("the other one has failed again", || dead() == 1);
    }
}

/// Starts an export: where its result will be.
pub(crate) fn export(client: &Client<'_>, type_: &str) -> String {
    let started = client.post(&format!("/api/exports/of/{type_}"), json!({})).is(202).json();
    format!("/api/exports/{}", started["id"].as_str().unwrap())
}

pub(crate) fn queue(client: &Client<'_>, name: &str) -> Value {
    client.get(&format!("/api/queues/{name}")).is(200).json()
}
