//! Sessions, forms and limits; and that it runs without any other server.

use super::harness::{App, server};
use keyward_testkit::Flavor;
use serde_json::json;
use std::net::TcpStream;

#[test]
fn a_session_ends_and_a_form_is_submitted_once_by_its_own_session() {
    for flavor in Flavor::ALL {
        let server = server(flavor);
        let app = App::start(Some(&server));
        let (ada, bob) = (app.ada(), app.bob());
        app.visitor().get("/api/form").is(401);
        app.visitor().submit("POST", "/api/reindex", "", Some(json!({}))).is(401);

        let pause = |form: &str| {
            ada.submit("PUT", "/api/queues/export/paused", form, Some(json!({ "paused": false })))
        };
        let form = ada.form();
        pause(&form).is(204);
        pause(&form).is(403);
        pause(&bob.form()).is(403);
        pause("not a token").is(403);

        let left = app.ada();
        left.delete("/api/login").is(204);
        left.get("/api/form").is(401);
        ada.get("/api/form").is(200);
        assert_eq!(ada.delete("/api/sessions").is(200).json()["ended"], 2);
        ada.get("/api/form").is(401);
        bob.get("/api/form").is(401);
        app.ada().get("/api/form").is(200);
    }
}

#[test]
fn attempts_to_sign_in_and_searches_are_limited() {
    let server = server(Flavor::Redis);
    let app = App::start(Some(&server));
    let visitor = app.visitor();
    let first = visitor.log_in("ada", "difference engine").is(201);
    assert_eq!(first.header("ratelimit-policy"), Some("\"rate_limit\";q=10;w=900"));
    for _ in 0..9 {
        visitor.log_in("ada", "guess").is(401);
    }
    let refused = visitor.log_in("ada", "difference engine").is(429);
    assert!(refused.header("retry-after").is_some());
    for _ in 0..60 {
        visitor.get("/api/search?q=modern").is(200);
    }
    visitor.get("/api/search?q=modern").is(429);
}

#[test]
fn it_starts_a_server_of_its_own_and_stops_it() {
    let mut app = App::start(None);
    app.ada().get("/api/status/draft").is(200);
    let log = app.log();
    let (_, url) = log.lines().find_map(|line| line.split_once("a server of its own at ")).unwrap();
    let address = url.trim().trim_start_matches("redis://");
    TcpStream::connect(address).unwrap();
    assert!(app.stop().success());
    assert!(app.log().contains("stopped"));
    assert!(TcpStream::connect(address).is_err(), "its server is gone");
}
