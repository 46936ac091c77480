//! What users change, and what each change removes.

use super::content::exists;
use super::harness::{App, ids, server};
use super::media_gateway::{keys, values};
use super::{ADA, BOB};
use keyward_testkit::Flavor;
use serde_json::json;

#[test]
fn a_change_is_seen_at_once_and_removes_only_what_it_makes_invalid() {
    let server = server(Flavor::Redis);
    let app = App::start(Some(&server));
    let (ada, bob) = (app.of(ADA), app.of(BOB));
    let warm = || {
        for user in [&ada, &bob] {
            user.get("/profile").is(200);
            user.get("/recommendations").is(200);
            user.get("/watchlist").is(200);
        }
    };
    ada.put("/watchlist/long-tide", json!({})).is(204);
    bob.put("/watchlist/two-keys", json!({})).is(204);
    warm();
    let keys_of = |user_id| {
        [
            keys::UserProfile { user_id }.key(),
            keys::UserPreferences { user_id }.key(),
            keys::UserRecommendations { user_id }.key(),
            keys::UserWatchlist { user_id }.key(),
        ]
    };
    let gone = || {
        let cached = keys_of(ADA).map(|key| !exists(&server, &key));
        assert!(keys_of(BOB).iter().all(|key| exists(&server, key)), "Bob changed nothing");
        cached
    };
    assert_eq!(gone(), [false; 4]);

    ada.put("/profile", json!({ "display_name": "Ada L." })).is(204);
    assert_eq!(gone(), [true, false, false, false]);
    assert_eq!(ada.get("/profile").json()["display_name"], "Ada L.");

    ada.put("/preferences", json!({ "favorite_genres": ["comedy"] })).is(204);
    assert_eq!(gone(), [false, true, true, false]);
    let recommended = ada.get("/recommendations").is(200).json();
    assert_eq!(
        (&recommended[0]["content_id"], &recommended[0]["because"]),
        (&json!("orchard-street"), &json!("you like comedy"))
    );

    ada.put("/watchlist/two-keys", json!({})).is(204);
    assert_eq!(gone(), [false, false, false, true]);
    let mut listed = ids(&ada.get("/watchlist"));
    listed.sort();
    assert_eq!(listed, ["long-tide", "two-keys"]);
    ada.delete("/watchlist/long-tide").is(204);
    assert_eq!(gone(), [false, false, false, true]);
    assert_eq!(ids(&ada.get("/watchlist")), ["two-keys"]);
    ada.put("/watchlist/nothing", json!({})).is(404);
}

#[test]
fn a_player_continues_where_another_stopped() {
    let server = server(Flavor::Redis);
    let app = App::start(Some(&server));
    let ada = app.of(ADA);
    let at = |seconds: i64| json!({ "position_seconds": seconds, "duration_seconds": 6000, "device_id": BOB });
    ada.get("/progress/long-tide").is(404);
    ada.put("/progress/long-tide", at(600)).is(204);
    let progress = ada.get("/progress/long-tide").is(200).json();
    assert_eq!(
        (progress["position_seconds"].as_i64(), progress["completion_rate"].as_f64()),
        (Some(600), Some(0.1))
    );
    let content_id = values::ContentId::new("long-tide").unwrap();
    let key = keys::WatchProgress { user_id: ADA, content_id }.key();
    assert!(exists(&server, &key));
    ada.put("/progress/long-tide", at(3000)).is(204);
    assert!(!exists(&server, &key));
    assert_eq!(ada.get("/progress/long-tide").json()["position_seconds"], 3000);
    ada.put("/progress/long-tide", at(6001)).is(422);
    assert_eq!(ada.get("/counters/plays").json(), json!({ "1m": 2, "5m": 2, "1h": 2, "1d": 2 }));
}
