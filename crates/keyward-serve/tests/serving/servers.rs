//! Servers that go away, come back, are replaced or answer nonsense.

use crate::instance::{Instance, Place};
use keyward_testkit::{Harm, Peer, Proxy, Server, wait_until};
use std::time::Duration;

fn health(instance: &Instance) -> serde_json::Value {
    instance.api("server")["health"].clone()
}

#[test]
fn a_server_that_goes_away_is_shown_and_found_again() {
    let server = Server::redis();
    server.command(&["SET", "shop:cart:1", "[]", "EX", "60"]);
    let place = Place::new();
    let instance = place.start(&server.url());
    instance.wait_for_audits(1);
    wait_until("it is up", || health(&instance)["state"] == "up");
    server.kill();
    wait_until("it is away", || health(&instance)["state"] == "away");
    let away = health(&instance);
    assert!(away["since"].as_u64().unwrap() > 0 && away["why"].is_string(), "{away:#}");
    wait_until("the audit has failed", || instance.api("server")["auditing"]["state"] == "failed");
    assert_eq!(instance.api("overview")["summary"]["keys"], 1, "what was seen is still shown");
    let metrics = instance.get("/metrics").text;
    assert!(metrics.contains("keyward_server_up{server=\"main\"} 0"), "{metrics}");
    let before = instance.api("overview")["at"].as_u64().unwrap();
    server.restart();
    wait_until("it is back", || health(&instance)["state"] == "up");
    wait_until("it is audited again", || instance.api("overview")["at"].as_u64().unwrap() > before);
    let said = instance.said();
    let away: Vec<&String> = said.iter().filter(|it| it.contains("`main` is away")).collect();
    assert_eq!(away.len(), 1, "{said:?}");
    assert!(away[0].starts_with("warning: `main` is away: "), "{said:?}");
    assert!(!said.iter().any(|it| it.contains("0 keys") || it.contains('\n')), "{said:?}");
    assert_eq!(said.iter().filter(|it| it.starts_with("`main` is back after ")).count(), 1);
}

#[test]
fn a_server_that_is_back_is_audited_at_once() {
    let server = Server::redis();
    let place = Place::new();
    let instance = place.start(&server.url());
    instance.wait_for_audits(1);
    wait_until("it is up", || health(&instance)["state"] == "up");
    server.kill();
    let mut next = 0;
    wait_until("the next try is far away", || {
        let auditing = instance.api("server")["auditing"].clone();
        let time = |name: &str| auditing[name].as_u64().unwrap_or(0);
        next = time("next");
        auditing["state"] == "failed" && next - time("at") > 15_000
    });
    let before = instance.api("overview")["at"].as_u64().unwrap();
    server.restart();
    wait_until("it is audited again", || instance.api("overview")["at"].as_u64().unwrap() > before);
    let history = instance.api("history");
    let at = history["audits"].as_array().unwrap().iter().map(|it| it["at"].as_u64().unwrap());
    let first = { at }.find(|at| *at > before);
    assert!(first.is_some_and(|at| at < next), "{first:?} is not before {next}");
}

#[test]
fn another_server_in_its_place_is_noticed() {
    let (first, second) = (Server::redis(), Server::redis());
    first.command(&["SET", "shop:cart:1", "[]", "EX", "60"]);
    for user in 0..5 {
        second.command(&["SET", &format!("shop:cart:{user}"), "[]", "EX", "60"]);
    }
    let proxy = Proxy::new(&first, Harm::Delay(Duration::ZERO));
    let place = Place::new();
    let instance = place.start(&proxy.url());
    instance.wait_for_audits(1);
    wait_until("it is up", || health(&instance)["state"] == "up");
    assert!(health(&instance)["replaced"].is_null());
    proxy.lead_to(&second);
    proxy.cut();
    wait_until("another one is noticed", || health(&instance)["replaced"].is_u64());
    wait_until("its keys are counted", || instance.api("overview")["summary"]["keys"] == 5);
}

#[test]
fn who_answers_nonsense_is_not_a_server() {
    let peer = Peer::new(|_| b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec());
    let place = Place::new();
    let instance = place.start(&peer.url());
    wait_until("it is away", || health(&instance)["state"] == "away");
    let away = health(&instance);
    assert!(away["why"].as_str().unwrap().contains("does not answer like"), "{away:#}");
    let endless = Peer::new(|words| match words[0].to_uppercase().as_str() {
        "PING" => b"+PONG\r\n".to_vec(),
        "INFO" => b"$-1\r\n".to_vec(),
        "SLOWLOG" => b"*2\r\n:1\r\n*1\r\n*0\r\n".to_vec(),
        "LATENCY" => b"*1\r\n*4\r\n$1\r\nx\r\n:-5\r\n:1\r\n:1\r\n".to_vec(),
        "CONFIG" => b"*1\r\n*0\r\n".to_vec(),
        _ => b"+OK\r\n".to_vec(),
    });
    let place = Place::new();
    let instance = place.start(&endless.url());
    wait_until("it was asked", || health(&instance)["state"] != "unknown");
    wait_until("the audit has failed", || instance.api("server")["auditing"]["state"] == "failed");
    instance.get("/s/main").is(200);
    instance.get("/metrics").is(200);
}

#[test]
fn a_server_that_denies_commands_says_which() {
    let server = keyward_testkit::Flavor::Redis
        .server()
        .user("watcher", "on >secret ~* +@all -@dangerous -slowlog -config")
        .start();
    server.command(&["SET", "shop:cart:1", "[]", "EX", "60"]);
    let place = Place::new();
    let url = format!("redis://watcher:secret@{}", server.address());
    let instance = place.start(&url);
    wait_until("it was asked", || instance.api("server")["info"].is_object());
    let info = instance.api("server");
    let denied = info["info"]["nodes"][0]["denied"].to_string();
    assert!(denied.contains("CONFIG GET") && denied.contains("SLOWLOG"), "{denied}");
    let all = instance.get("/api/v1/servers").text
        + &instance.get("/s/main/server").text
        + &info.to_string();
    assert!(!all.contains("secret"), "{all}");
    assert!(instance.said().iter().all(|line| !line.contains("secret")));
}
