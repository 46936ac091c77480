//! Several servers in one instance: their migrations, their queues, and what needs somebody.

use crate::instance::{Instance, Place, SCHEMA};
use keyward_audit::live::Secret;
use keyward_serve::Webhook;
use keyward_testkit::{Cluster, Flavor, Server, wait_until};
use serde_json::{Value, json};

const WORK: &str = r#"
version = 1

[keyspace]
name = "work"
prefix = "work:"

[keys.jobs]
pattern = "jobs:{kind:slug}"
queue = { dead_letter = "dead_jobs" }
value = "text"

[keys.dead_jobs]
pattern = "dead:{kind:slug}"
type = "list"
value = "text"
ttl = "none"
max_len = 1000

[keys.note]
pattern = "note:{id:uint}"
value = "text"
ttl = "1d"

[migrations.v2]
doc = "Notes get a prefix"
phase = "read-fallback"
started = 2025-09-17
remove_after = 2025-10-17
allow = [{ rule = "migration-overdue", reason = "a test" }]

[migrations.v2.renames]
note = "Note:{id:uint}"
"#;

fn fleet(instance: &Instance) -> Value {
    instance.get("/api/v1/fleet").is(200).json()
}

#[test]
fn a_fleet_has_servers_and_clusters_each_with_its_schemas() {
    let single = Server::redis();
    single.command(&["SET", "shop:cart:1", "[]", "EX", "60"]);
    let cluster = Cluster::start(Flavor::Redis);
    for id in 0..6 {
        cluster.command(&["SET", &format!("work:note:{id}"), "x", "EX", "600"]);
    }
    cluster.command(&["SET", "Note:7", "x", "EX", "600"]);
    cluster.command(&["RPUSH", "work:jobs:mail", "a", "b", "c"]);
    cluster.command(&["RPUSH", "work:dead:mail", "d"]);
    // Replicas are preferred.
    cluster.wait_until_replicated();
    let place = Place::new();
    let work = place.state().with_file_name("work.toml");
    std::fs::write(&work, WORK).unwrap();
    let mut config = place.config(&single.url());
    let mut other = config.servers[0].clone();
    other.name = "work".to_owned();
    other.url = format!("redis+cluster://{}", cluster.nodes()[0].address());
    other.schemas = vec![work];
    config.servers.push(other);
    let instance = Instance::start(config);
    wait_until("both were audited", || instance.get("/readyz").status == 200);
    wait_until("both were asked", || {
        let fleet = fleet(&instance);
        fleet["servers"].as_array().unwrap().iter().all(|it| it["primaries"].is_u64())
    });
    let all = fleet(&instance);
    let [shop, work] = [&all["servers"][0], &all["servers"][1]];
    assert_eq!((&shop["keyspaces"], &work["keyspaces"]), (&json!(["shop"]), &json!(["work"])));
    assert_eq!((&shop["keys"], &shop["primaries"]), (&json!(1), &json!(1)), "{all:#}");
    assert_eq!((&work["primaries"], &work["migrations"]), (&json!(3), &json!(1)), "{all:#}");
    assert_eq!((&work["waiting"], &work["dead"]), (&json!(3), &json!(1)), "{all:#}");
    assert_eq!((&work["overdue"], &shop["dead"]), (&json!(1), &json!(null)));
    let needs: Vec<&str> = all["attention"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["text"].as_str().unwrap())
        .collect();
    assert!(needs.contains(&"queues have 1 dead letter"), "{needs:?}");
    assert!(needs.iter().any(|it| it.contains("v2 is overdue: 1 key has")), "{needs:?}");

    let migrations = instance.get("/api/v1/migrations").is(200).json();
    let v2 = &migrations[0];
    assert_eq!((&v2["server"], &v2["name"]), (&json!("work"), &json!("v2")), "{migrations:#}");
    assert_eq!((&v2["phase"], &v2["started"]), (&json!("read-fallback"), &json!("2025-09-17")));
    assert_eq!((&v2["keys_left"], &v2["remove_after"]), (&json!(1), &json!("2025-10-17")));
    assert!(v2["days_left"].as_i64().unwrap() < 0);
    assert_eq!(instance.get("/api/v1/servers/work/migrations").json()[0]["keys_left"], 1);

    let queues = instance.get("/api/v1/queues").is(200).json();
    assert_eq!(queues[1]["queues"][0]["waiting"], 3, "{queues:#}");
    assert_eq!(queues[1]["queues"][0]["dead"], 1);

    let metrics = instance.get("/metrics").text;
    for line in [
        "keyward_old_name_keys{server=\"work\",schema=\"work\",migration=\"v2\",definition=\"note\"} 1",
        "keyward_queue_jobs{server=\"work\",definition=\"jobs\",state=\"dead\"} 1",
        "keyward_queue_jobs{server=\"work\",definition=\"jobs\",state=\"waiting\"} 3",
    ] {
        assert!(metrics.lines().any(|it| it == line), "no `{line}` in\n{metrics}");
    }
    let page = instance.get("/fleet").is(200).text;
    for part in ["shop", "a cluster of 3 primaries", "overdue by", "read-fallback", "dead letter"] {
        assert!(page.contains(part), "no `{part}` in\n{page}");
    }
    assert!(instance.get("/").is(303).head.contains("location: /fleet"));
    assert!(instance.get("/s/work/migrations").is(200).text.contains("Note:{id"));
    let page = instance.get("/s/work/queues").is(200).text;
    assert!(page.contains("keyward queue dead redis+cluster://"), "{page}");

    // What is away is named first.
    single.kill();
    wait_until("it is named", || fleet(&instance)["attention"][0]["server"] == "main");
    assert_eq!(fleet(&instance)["attention"][0]["severity"], "error");
}

fn needs(instance: &Instance) -> Vec<(String, String)> {
    let fleet = fleet(instance);
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let each = fleet["attention"].as_array().unwrap().iter();
    each.map(|it| (text(&it["severity"]), text(&it["text"]))).collect()
}

#[test]
fn errors_a_replaced_server_and_a_webhook_that_fails_need_somebody() {
    let server = Server::redis();
    let place = Place::new();
    let mut config = place.config(&server.url());
    let url = Secret::new("http://127.0.0.1:1/hook");
    config.webhooks.push(Webhook::new("nobody", url));
    let instance = Instance::start(config);
    instance.wait_for_audits(1);
    assert_eq!(needs(&instance), []);
    server.command(&["SET", "shop:cart:1", "[]"]);
    let has = |severity: &str, text: &str| {
        let needs = needs(&instance);
        needs.iter().any(|it| it.0 == severity && it.1.contains(text))
    };
    wait_until("the error is named", || has("error", "1 finding is an error"));
    wait_until("the webhook is named", || has("error", "the webhook `nobody` does not work"));
    let page = instance.get("/fleet").is(200).text;
    assert!(page.contains("the webhook `nobody` does not work"), "{page}");
    server.kill();
    server.restart();
    wait_until("the other server is named", || has("warning", "another server took its place"));
}

#[test]
fn without_queues_or_migrations_the_pages_say_so() {
    let server = Server::redis();
    let place = Place::new();
    place.write_schema(SCHEMA);
    let instance = place.start(&server.url());
    instance.wait_for_audits(1);
    assert!(instance.get("/s/main/migrations").is(200).text.contains("have no <code>[migrations]"));
    assert!(instance.get("/s/main/queues").is(200).text.contains("role <code>queue</code>"));
    assert!(instance.get("/").is(303).head.contains("location: /s/main"));
    instance.get("/fleet").is(200);
}
