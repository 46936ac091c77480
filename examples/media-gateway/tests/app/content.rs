//! Titles, offers, searches, rankings and recommendations, and what a change of a title removes.

use super::ADA;
use super::harness::{App, ids, server};
use super::media_gateway::{keys, values};
use keyward_testkit::{Flavor, Server};
use serde_json::json;

#[test]
fn titles_are_read_from_the_catalogue_once() {
    let server = server(Flavor::Redis);
    let app = App::start(Some(&server));
    let ada = app.of(ADA);
    for _ in 0..3 {
        let title = ada.get("/titles/long-tide").is(200).json();
        assert_eq!(
            (title["title"].as_str(), title["average_rating"].as_f64()),
            (Some("The Long Tide"), Some(7.9))
        );
    }
    ada.get("/titles/nothing").is(404);
    ada.get("/titles/not%20an%20id").is(422);
    let metrics = ada.get("/metrics").is(200).text;
    for line in [
        "keyward_cache_hits_total{definition=\"content_meta\"} 2",
        "keyward_cache_misses_total{definition=\"content_meta\"} 2",
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
}

#[test]
fn lists_show_what_the_catalogue_says() {
    let server = server(Flavor::Redis);
    let app = App::start(Some(&server));
    let ada = app.of(ADA);
    for _ in 0..2 {
        assert_eq!(
            ids(&ada.get("/popular/DE/movie").is(200)),
            ["last-lighthouse", "long-tide", "night-ferry", "two-keys"]
        );
        assert_eq!(ids(&ada.get("/titles/two-keys/similar").is(200)), ["orchard-street"]);
        assert_eq!(
            ids(&ada.get("/trending/de/24h").is(200))[..2],
            ["last-lighthouse", "glass-harbour"]
        );
        let found = ada.get("/search?q=%20The%20%20NIGHT").is(200).json();
        assert_eq!(
            found,
            json!([{ "content_id": "night-ferry", "title": "The Night Ferry", "content_type": "movie" }])
        );
        let offer = ada.get("/titles/two-keys/offers/orbit/de").is(200).json();
        assert_eq!(
            (offer["price_cents"].as_i64(), &offer["deep_link"]),
            (Some(399), &json!("https://orbit.example/de/two-keys"))
        );
        let offer = ada.get("/titles/glass-harbour/offers/lumen/de").is(200).json();
        assert_eq!(
            (&offer["availability_type"], &offer["price_cents"]),
            (&json!("subscription"), &json!(null))
        );
    }
    ada.get("/titles/two-keys/offers/lumen/de").is(404);
    assert_eq!(
        server.command(&["EXISTS", "cache:popular:de:movie"]).integer(),
        1,
        "one region, however it is spelled"
    );
}

#[test]
fn a_change_of_a_title_removes_what_was_known_of_it() {
    let server = server(Flavor::Valkey);
    let app = App::start(Some(&server));
    let ada = app.of(ADA);
    ada.get("/titles/two-keys/similar").is(200);
    ada.get("/titles/two-keys/offers/orbit/de").is(200);
    ada.get("/titles/two-keys/offers/orbit/us").is(200);
    ada.get("/titles/long-tide/offers/orbit/us").is(200);
    let gone =
        [meta("two-keys"), offer("two-keys", "de"), offer("two-keys", "us"), similar("two-keys")];
    let stays = [meta("orchard-street"), offer("long-tide", "us")];
    assert!(gone.iter().chain(&stays).all(|key| exists(&server, key)));
    ada.put("/titles/two-keys/title", json!({ "title": "Three Keys" })).is(204);
    assert!(!gone.iter().any(|key| exists(&server, key)));
    assert!(stays.iter().all(|key| exists(&server, key)));
    assert_eq!(ada.get("/titles/two-keys").json()["title"], "Three Keys");
}

pub(crate) fn exists(server: &Server, key: &str) -> bool {
    server.command(&["EXISTS", key]).integer() == 1
}

fn meta(id: &str) -> String {
    keys::ContentMeta { content_id: values::ContentId::new(id).unwrap() }.key()
}

fn similar(id: &str) -> String {
    keys::SimilarContent { content_id: values::ContentId::new(id).unwrap() }.key()
}

fn offer(id: &str, region: &str) -> String {
    let content_id = values::ContentId::new(id).unwrap();
    let (platform, region) =
        (values::Platform::new("orbit").unwrap(), values::Region::new(region).unwrap());
    keys::ContentAvailability { content_id, platform, region }.key()
}
