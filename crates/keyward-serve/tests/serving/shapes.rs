//! A cluster, a primary behind a Sentinel, and TLS.

use crate::instance::{Instance, Place};
use keyward_testkit::{Cluster, Flavor, Sentinel, Server, wait_until};
use serde_json::{Value, json};

fn health(instance: &Instance) -> Value {
    instance.api("server")["health"]["state"].clone()
}

#[test]
fn a_cluster_is_one_server() {
    let cluster = Cluster::start(Flavor::Valkey);
    for user in 0..60 {
        cluster.command(&["SET", &format!("shop:cart:{user}"), "[]", "EX", "3600"]);
    }
    cluster.command(&["SET", "shop:crt:1", "typo"]);
    // Replicas are preferred.
    cluster.wait_until_replicated();
    let place = Place::new();
    // Any node that answers tells of the others.
    let nodes: Vec<String> = cluster.nodes().iter().map(Server::address).collect();
    let instance = place.start(&format!("redis+cluster://{}", nodes.join(",")));
    instance.wait_for_audits(1);
    assert_eq!(instance.api("overview")["summary"]["keys"], 61);
    assert_eq!(instance.api("definitions/shop/cart")["definition"]["keys"], 60);
    wait_until("all primaries were asked", || {
        instance.api("server")["info"]["nodes"].as_array().is_some_and(|nodes| nodes.len() == 3)
    });
    let fleet = instance.get("/api/v1/fleet").is(200).json();
    assert_eq!(fleet["servers"][0]["primaries"], 3, "{fleet:#}");
    assert!(instance.get("/fleet").is(200).text.contains("a cluster of 3 primaries"));
    // A key is asked of the primary that has its slot.
    let asked = instance.post("/api/v1/servers/main/key", &json!({ "key": "shop:cart:7" })).json();
    assert_eq!(asked["live"]["exists"], true, "{asked:#}");
    let metrics = instance.get("/metrics").text;
    let used = metrics.lines().filter(|it| it.starts_with("keyward_server_memory_used_bytes{"));
    assert_eq!(used.count(), 3);

    // A shard that goes away is named; its replica takes over, and the audits go on.
    let lost = cluster.primary_of("shop:cart:7");
    let address = lost.address();
    lost.kill();
    wait_until("it is noticed", || {
        let info = instance.api("server");
        health(&instance) == "away" || info["info"]["away"].to_string().contains(&address)
    });
    cluster.wait_until_ok();
    let before = instance.api("overview")["at"].as_u64().unwrap();
    wait_until("it is audited again", || {
        instance.api("overview")["at"].as_u64().unwrap() > before && health(&instance) == "up"
    });
    assert_eq!(instance.api("overview")["summary"]["keys"], 61);
}

#[test]
fn a_sentinel_leads_to_the_primary_also_after_a_failover() {
    let watched = Sentinel::start(Flavor::Redis);
    for user in 0..20 {
        watched.primary().command(&["SET", &format!("shop:cart:{user}"), "[]", "EX", "3600"]);
    }
    // The replica is preferred.
    watched.wait_until_replicated();
    let place = Place::new();
    let sentinel = watched.sentinel().address();
    let instance = place.start(&format!("redis+sentinel://{sentinel}/{}", Sentinel::NAME));
    instance.wait_for_audits(1);
    assert_eq!(instance.api("overview")["summary"]["keys"], 20);
    watched.primary().kill();
    wait_until("it is away", || health(&instance) == "away");
    watched.wait_until_failed_over();
    wait_until("it is back", || health(&instance) == "up");
    watched.replica().command(&["SET", "shop:cart:99", "[]", "EX", "3600"]);
    wait_until("the new primary is audited", || instance.api("overview")["summary"]["keys"] == 21);
    let said = instance.said();
    assert!(said.iter().any(|it| it.starts_with("warning: `main` is away: ")), "{said:?}");
    assert!(said.iter().any(|it| it.starts_with("`main` is back after ")), "{said:?}");
}

#[test]
fn a_failover_that_breaks_no_connection_is_followed() {
    let cluster = Cluster::start(Flavor::Redis);
    let place = Place::new();
    // The server of the URL stays.
    let instance = place.start(&cluster.nodes()[1].url());
    let nodes = || {
        let info = instance.api("server");
        let nodes = info["info"]["nodes"].as_array().cloned().unwrap_or_default();
        nodes.iter().map(|node| node["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (old, new) = (cluster.nodes()[0].address(), cluster.nodes()[3].address());
    wait_until("all primaries were asked", || nodes().len() == 3);
    assert!(nodes().contains(&old), "{:?}", nodes());
    cluster.nodes()[3].command(&["CLUSTER", "FAILOVER"]);
    wait_until("the new one is asked", || nodes().contains(&new));
    assert!(!nodes().contains(&old), "{:?}", nodes());
    assert_eq!(health(&instance), "up");
}

#[test]
fn tls_is_spoken_with_the_certificates_that_are_named() {
    let server = Flavor::Redis.server().tls().start();
    server.command(&["SET", "shop:cart:1", "[]", "EX", "3600"]);
    let place = Place::new();
    let url = server.tls_url();
    let instance = place.start(&url);
    wait_until("who is not trusted is away", || health(&instance) == "away");
    instance.stop();
    let mut config = place.config(&url);
    config.servers[0].options.tls.authority = Some(server.certificates().authority());
    config.servers[0].options.tls.client = Some(server.certificates().client());
    let instance = Instance::start(config);
    instance.wait_for_audits(1);
    wait_until("it is up", || health(&instance) == "up");
    assert_eq!(instance.api("overview")["summary"]["keys"], 1);
    let asked = instance.post("/api/v1/servers/main/key", &json!({ "key": "shop:cart:1" })).json();
    assert_eq!(asked["live"]["exists"], true, "{asked:#}");
}
