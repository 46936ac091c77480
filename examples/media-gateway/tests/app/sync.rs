//! Runs that read a platform: one at a time, with progress, and what they make invalid.

use super::ADA;
use super::content::exists;
use super::harness::{App, Client, ids, server};
use super::media_gateway::{keys, values};
use keyward_testkit::{Flavor, Server, wait_until};
use serde_json::json;

#[test]
fn a_run_excludes_others_reports_progress_and_makes_rankings_new() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let server = server(flavor);
        let app = App::start(Some(&server));
        let ada = app.of(ADA);
        ada.get("/popular/de/series").is(200);
        ada.get("/trending/de/24h").is(200);
        ada.get("/titles/long-tide/offers/orbit/de").is(200);
        ada.get("/titles/long-tide/offers/lumen/de").is(200);

        // Another program holds the lock.
        let lock = keys::SyncLock { platform: values::Platform::new("orbit").unwrap() }.key();
        server.command(&["SET", &lock, "another-run", "PX", "300000"]);
        ada.post("/platforms/orbit/sync", json!({})).is(409);
        assert_eq!(
            ada.get("/platforms/orbit").json(),
            json!({ "last_sync": null, "running": "another-run" })
        );
        assert!(exists(&server, "cache:popular:de:series"));
        server.command(&["DEL", &lock]);

        let id = sync(&ada, &server, "orbit");
        let progress = ada.get(&format!("/syncs/{id}")).is(200).json();
        assert_eq!(
            (&progress["total_items"], &progress["processed_items"]),
            (&json!(4), &json!(4))
        );
        let platform = ada.get("/platforms/orbit").json();
        assert!(platform["last_sync"].is_string() && platform["running"].is_null());
        for gone in [
            "cache:popular:de:series",
            "recommend:trending:de:24h",
            "content:avail:long-tide:orbit:de",
        ] {
            assert!(!exists(&server, gone), "{gone}");
        }
        assert!(exists(&server, "content:avail:long-tide:lumen:de"), "another platform");
        let popular = ada.get("/popular/de/series").is(200);
        assert_eq!(ids(&popular), ["glass-harbour", "orchard-street"]);
        assert_eq!(popular.json()[1]["score"], 53.0, "it was watched once more");
    }
}

/// Runs to the end; the id of the run.
pub(crate) fn sync(client: &Client<'_>, server: &Server, platform: &str) -> String {
    let started = client.post(&format!("/platforms/{platform}/sync"), json!({})).is(202).json();
    wait_until("the run has ended", || {
        let read = exists(server, &format!("sync:platform:{platform}:last"));
        read && !exists(server, &format!("sync:lock:{platform}"))
    });
    started["sync_job_id"].as_str().unwrap().to_owned()
}
