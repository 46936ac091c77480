//! What changed between two moments.

use crate::instance::{Instance, Place};
use keyward_testkit::{Server, wait_until};
use serde_json::Value;

/// When the last audit of those that are kept ended.
fn last(instance: &Instance) -> u64 {
    let audits = instance.api("history")["audits"].clone();
    audits.as_array().unwrap().last().unwrap()["at"].as_u64().unwrap()
}

/// The last audit, once one has seen as many keys.
fn once(instance: &Instance, keys: u64) -> u64 {
    wait_until("the keys were seen", || {
        let audits = instance.api("history")["audits"].clone();
        audits.as_array().unwrap().last().is_some_and(|it| it["keys"] == keys)
    });
    last(instance)
}

fn found(compared: &Value, rule: &str) -> Vec<Value> {
    let all = compared["findings"].as_array().unwrap();
    all.iter().filter(|it| it["rule"] == rule).cloned().collect()
}

#[test]
fn an_empty_key_that_did_not_change_was_there_before() {
    let server = Server::redis();
    server.command(&["SET", "", "x"]);
    let place = Place::new();
    let instance = place.start(&server.url());
    let from = once(&instance, 1);
    instance.wait_for_audits(3);
    let compared = instance.api(&format!("compare?from={from}&to={}", last(&instance)));
    let empty = found(&compared, "unknown-key");
    assert_eq!(empty.len(), 1, "{compared:#}");
    assert_eq!(empty[0]["count"], serde_json::json!([1, 1]), "{compared:#}");
    assert_eq!(empty[0]["verdict"], "same");
}

#[test]
fn a_finding_that_was_not_there_is_new_however_few_keys_it_is_of() {
    let server = Server::redis();
    for number in 0..400 {
        server.command(&["SET", &format!("shop:cart:{number}"), "[]", "EX", "3600"]);
    }
    let place = Place::new();
    let instance = place.start(&server.url());
    let from = once(&instance, 400);
    server.command(&["SET", "shop:cart:4711", "[]"]);
    server.command(&["SET", "shop:rates", "not a hash"]);
    let to = once(&instance, 402);
    let compared = instance.api(&format!("compare?from={from}&to={to}"));
    for rule in ["ttl-missing", "wrong-type"] {
        let one = found(&compared, rule);
        assert_eq!(one[0]["verdict"], "new", "{compared:#}");
    }
    let page = instance.get(&format!("/s/main/compare?from={from}&to={to}")).is(200).text;
    assert!(page.contains("New or worse findings"), "{page}");
    assert!(page.contains("more than 0.5 percentage points"), "{page}");
}

#[test]
fn a_moment_that_is_not_kept_is_said_to_be_so() {
    let server = Server::redis();
    server.command(&["SET", "shop:cart:1", "[]"]);
    let place = Place::new();
    let instance = place.start(&server.url());
    instance.wait_for_audits(3);
    let page = instance.get("/s/main/compare?from=1&to=2").is(200).text;
    assert!(page.contains("No audit at or before 1970-01-01 00:00 UTC is kept"), "{page}");
    assert!(!page.contains("No definition has changed"), "{page}");
    let page = instance.get("/s/main/compare?from=x").is(200).text;
    assert!(page.contains("milliseconds since 1970"), "{page}");
    let to = last(&instance);
    let page = instance.get(&format!("/s/main/compare?from={to}&to={}", to + 1)).is(200).text;
    assert!(page.contains("No definition has changed"), "{page}");
}
