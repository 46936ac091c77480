//! Logins, refreshes and logouts.

use super::content::exists;
use super::harness::{App, server};
use super::media_gateway::{keys, values};
use super::{ADA, BOB};
use keyward_testkit::Flavor;
use serde_json::json;

#[test]
fn a_state_works_once_and_a_token_until_its_session_is_revoked() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let server = server(flavor);
        let app = App::start(Some(&server));
        let nobody = app.nobody();
        nobody.get("/profile").is(401);
        let state = nobody.begin_login();
        let key = keys::OauthState { state: values::State::new(&state).unwrap() }.key();
        assert!(exists(&server, &key));
        let ada = nobody.signed_in(&nobody.finish_login(&state, ADA).is(201));
        assert!(!exists(&server, &key), "it works once");
        nobody.finish_login(&state, ADA).is(401);

        let (tablet, bob) = (app.of(ADA), app.of(BOB));
        let sessions = ada.get("/sessions").is(200).json();
        let listed: Vec<_> =
            sessions.as_array().unwrap().iter().map(|it| (&it["id"], &it["this_one"])).collect();
        assert_eq!(listed.len(), 2);
        assert!(listed.contains(&(&json!(ada.session), &json!(true))));
        assert!(listed.contains(&(&json!(tablet.session), &json!(false))));

        // One device, and only one's own.
        bob.delete(&format!("/sessions/{}", tablet.session)).is(404);
        ada.delete(&format!("/sessions/{}", tablet.session)).is(204);
        tablet.get("/profile").is(401);
        let session_id = values::SessionId::new(&tablet.session).unwrap();
        assert!(exists(&server, &keys::SessionBlacklist { session_id }.key()));
        tablet.refresh().is(401);
        ada.get("/profile").is(200);

        // Everywhere.
        assert_eq!(ada.delete("/sessions").is(200).json(), json!({ "revoked": 1 }));
        ada.get("/profile").is(401);
        ada.refresh().is(401);
        bob.get("/profile").is(200);
    }
}

#[test]
fn a_refresh_token_is_used_once_and_a_logout_ends_its_family() {
    let server = server(Flavor::Redis);
    let app = App::start(Some(&server));
    let first = app.of(ADA);
    let second = first.signed_in(&first.refresh().is(200));
    assert_eq!(second.session, first.session, "the session goes on");
    // The answer was lost, and the client asks again.
    let again = first.signed_in(&first.refresh().is(200));
    assert_eq!(again.refresh, second.refresh);
    let third = second.signed_in(&second.refresh().is(200));
    third.get("/profile").is(200);
    // The session ended by its age: a new one begins.
    server.command(&["DEL", &format!("session:active:{}", third.session)]);
    third.get("/profile").is(401);
    let fourth = third.signed_in(&third.refresh().is(200));
    assert_ne!(fourth.session, third.session);
    fourth.get("/profile").is(200);
    app.nobody().post("/refresh", json!({ "refresh_token": "made up" })).is(401);

    // A logout ends all of it: session, access token and refresh token.
    fourth.post("/logout", json!({ "refresh_token": fourth.refresh })).is(204);
    fourth.get("/profile").is(401);
    fourth.refresh().is(401);
    let [blacklisted] =
        server.command(&["KEYS", "auth:blacklist:*"]).array().try_into().expect("one token");
    let left = server.command(&["TTL", &blacklisted.text()]).integer();
    assert!((1..=600).contains(&left), "{left}");
}
