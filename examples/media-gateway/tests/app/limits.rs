//! The three limits, in headers and in refusals; and that it runs without any other server.

use super::harness::{App, server};
use super::{ADA, BOB};
use keyward_testkit::Flavor;
use serde_json::json;
use std::net::TcpStream;

#[test]
fn a_limit_is_announced_and_holds_for_its_user_only() {
    let server = server(Flavor::Redis);
    let app = App::start(Some(&server));
    let (ada, bob) = (app.of(ADA), app.of(BOB));
    let first = ada.get("/recommendations").is(200);
    assert_eq!(
        first.header("ratelimit-policy"),
        Some("\"api_limit\";q=120;w=60, \"recommendation_limit\";q=5;w=300")
    );
    assert!(first.header("ratelimit").unwrap().contains("\"recommendation_limit\";r=4;"));
    for _ in 0..4 {
        ada.get("/recommendations").is(200);
    }
    let refused = ada.get("/recommendations").is(429);
    assert!(refused.header("retry-after").is_some());
    bob.get("/recommendations").is(200);
    ada.get("/trending/de/24h").is(200);
    assert_eq!(
        ada.get("/activity").json()["recommendations_requested"],
        5,
        "what is refused is not done"
    );

    for _ in 0..30 {
        ada.get("/search?q=the").is(200);
    }
    ada.get("/search?q=the").is(429);
    assert_eq!(
        ada.get("/counters/searches").json(),
        json!({ "1m": 30, "5m": 30, "1h": 30, "1d": 30 })
    );

    for _ in 0..120 {
        bob.get("/profile").is(200);
    }
    bob.get("/profile").is(429);
    bob.get("/preferences").is(200);
}

#[test]
fn it_starts_a_server_of_its_own_and_stops_it() {
    let mut app = App::start(None);
    app.of(ADA).get("/titles/long-tide").is(200);
    let log = app.log();
    let (_, url) = log.lines().find_map(|line| line.split_once("a server of its own at ")).unwrap();
    let address = url.trim().trim_start_matches("redis://");
    TcpStream::connect(address).unwrap();
    assert!(app.stop().success());
    assert!(app.log().contains("stopped"));
    assert!(TcpStream::connect(address).is_err(), "its server is gone");
}
