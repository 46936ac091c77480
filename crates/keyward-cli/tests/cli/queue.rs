//! `keyward queue`.

use crate::shop;
use insta::assert_snapshot;
use keyward_testkit::{Cli, Cluster, Flavor, Server};
use serde_json::Value;

const JOBS: &str = r#"
version = 1
[keyspace]
name = "jobs"
prefix = "app:"
[keys.work]
pattern = "{#kind:slug}:work"
queue = { dead_letter = "failed" }
value = "json"
[keys.failed]
pattern = "{#kind:slug}:failed"
type = "list"
value = "json"
ttl = "none"
[keys.mail]
pattern = "mail"
type = "stream"
queue = { dead_letter = "bounced" }
fields = { to = "text" }
[keys.bounced]
pattern = "mail:bounced"
type = "list"
value = "json"
ttl = "none"
[keys.label]
pattern = "label"
queue = { dead_letter = "old_label" }
value = "text"
[keys.old_label]
pattern = "label:old"
type = "list"
value = "text"
ttl = "none"
[keys.user]
pattern = "user:{id:uint}"
value = "text"
ttl = "1h"
"#;

/// Two queues as workers leave them: a job that runs, one that waits for its time, one that was pushed by hand.
fn fill(command: impl Fn(&[&str])) {
    let jobs = "app:{mail}:work~{jobs}";
    command(&["HSET", jobs, "m:1763280000000001", "l 2 1 1 0 1763280000000 0:alice@example.org"]);
    command(&["HSET", jobs, "m:1763280000000002", "d 1 1 0 5 1763280000000 2:eu"]);
    command(&["HSET", jobs, "m:1763280000000003", "x 0 0 0 0 1763280000000 0:gone"]);
    command(&["HSET", jobs, "paused", "1"]);
    command(&["ZADD", "app:{mail}:work~{leases}", "99999999999999", "1763280000000001"]);
    command(&["ZADD", "app:{mail}:work~{due}", "99999999999999", "1763280000000002"]);
    command(&["RPUSH", "app:{mail}:work", r#"{"to":"bob@example.org"}"#]);
    let letter = r#"{"job":{"to":"carol@example.org"},"error":"no such mailbox: carol","attempts":3,"queue":"app:{mail}:work","failed_at":"2026-11-16T08:00:00.000Z"}"#;
    command(&["RPUSH", "app:{mail}:failed", "not json", letter]);
    command(&["RPUSH", "app:{thumb}:work~{taken}", "{}"]);
    command(&["SET", "app:user:7", "x", "EX", "60"]);
}

fn run(cli: &Cli, url: &str, args: &[&str]) -> Value {
    let output =
        cli.run([&["queue", args[0], url, "--format", "json", "--salt", "s"], &args[1..]].concat());
    assert_eq!(output.code, Some(0), "{output}");
    serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output}"))
}

#[test]
fn all_queues_of_a_definition_are_counted() {
    for server in Server::all() {
        fill(|command| _ = server.command(command));
        let stats = run(&shop(JOBS), &server.url(), &["stats", "work"]);
        let [mail, thumb] = stats["queues"].as_array().unwrap().as_slice() else {
            panic!("{stats:#}")
        };
        let counts = |it: &Value| {
            ["waiting", "due", "running", "ended", "dead"].map(|at| it[at].as_u64().unwrap())
        };
        assert_eq!(counts(mail), [1, 1, 1, 0, 2]);
        assert_eq!(mail["paused"], true);
        // Its only job was just moved from the list.
        assert_eq!(counts(thumb), [1, 0, 0, 0, 0]);
    }
}

#[test]
fn queues_are_found_on_every_shard_of_a_cluster() {
    let cluster = Cluster::start(Flavor::Valkey);
    fill(|command| _ = cluster.command(command));
    let url = format!("redis://{}", cluster.nodes()[0].address());
    let cli = shop(JOBS);
    let stats = run(&cli, &url, &["stats", "work"]);
    assert_eq!(stats["queues"].as_array().unwrap().len(), 2, "{stats:#}");
    let one = run(&cli, &url, &["stats", "app:{mail}:work"]);
    assert_eq!(one["queues"][0]["dead"], 2);
}

#[test]
fn nothing_of_a_job_is_shown_unless_it_was_asked_for() {
    let server = Flavor::Redis.start();
    fill(|command| _ = server.command(command));
    let cli = shop(JOBS);
    for args in [&["stats", "work"][..], &["inspect", "work"], &["dead", "app:{mail}:work"]] {
        for format in ["full", "json"] {
            let output = cli
                .run([&["queue", args[0], &server.url(), "--format", format], &args[1..]].concat());
            assert_eq!(output.code, Some(0), "{output}");
            for secret in ["alice", "bob", "carol", "mailbox"] {
                assert!(!output.to_string().contains(secret), "{secret}: {output}");
            }
        }
    }
    let dead = run(&cli, &server.url(), &["dead", "app:{mail}:work", "--show-keys"]);
    assert_eq!(dead["queues"][0]["dead"][1]["error"], "no such mailbox: carol");
    assert_eq!(dead["queues"][0]["dead"][1]["attempts"], 3);
    assert_eq!(dead["queues"][0]["dead"][0]["error"], Value::Null, "an entry that no worker wrote");
    let last =
        run(&cli, &server.url(), &["dead", "app:{mail}:work", "--show-keys", "--limit", "1"]);
    assert_eq!(last["queues"][0]["dead"].as_array().unwrap().len(), 1);
    assert_eq!(last["queues"][0]["dead"][0]["error"], "no such mailbox: carol", "the newest");
}

#[test]
fn queues_are_shown_as_tables() {
    let server = Flavor::Redis.start();
    fill(|command| _ = server.command(command));
    let cli = shop(JOBS);
    let said = |args: &[&str]| {
        let output =
            cli.run([&["queue", args[0], &server.url(), "--salt", "s"], &args[1..]].concat());
        output.to_string().replace(&server.address(), "<server>")
    };
    assert_snapshot!("stats", said(&["stats", "work"]));
    assert_snapshot!("dead", said(&["dead", "app:{mail}:work"]));
    // Ages differ from run to run.
    let jobs = run(&cli, &server.url(), &["inspect", "app:{mail}:work"]);
    let jobs = jobs["queues"][0]["jobs"].as_array().unwrap();
    let states: Vec<&str> = jobs.iter().map(|job| job["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["running", "due"], "a job that was cancelled on the list is not listed");
    assert_eq!(jobs[0]["crashes"], 1);
    assert!(said(&["inspect", "app:{mail}:work"]).contains("running"));
}

#[test]
fn streams_and_dead_letters_that_are_values_are_read_too() {
    for server in Server::all() {
        let cli = shop(JOBS);
        server.command(&["XADD", "app:mail", "*", "to", "bob@example.org"]);
        let jobs = "app:~jobs:{app:mail}";
        server.command(&["HSET", jobs, "m:1763280000000001", "l 1 0 0 0 1763280000000 0:alice"]);
        server.command(&["ZADD", "app:~leases:{app:mail}", "99999999999999", "1763280000000001"]);
        let letter = r#"{"job":{"to":"carol"},"error":"no such mailbox","attempts":5}"#;
        server.command(&["RPUSH", "app:mail:bounced", letter]);
        let stats = run(&cli, &server.url(), &["stats", "mail"]);
        let mail = &stats["queues"][0];
        let counts = ["waiting", "running", "dead"].map(|at| mail[at].as_u64().unwrap());
        assert_eq!(counts, [1, 1, 1], "{stats:#}");
        let inspected = run(&cli, &server.url(), &["inspect", "app:mail", "--show-keys"]);
        assert_eq!(inspected["queues"][0]["jobs"][0]["id"], "alice");
        let dead = run(&cli, &server.url(), &["dead", "mail", "--show-keys"]);
        assert_eq!(dead["queues"][0]["dead"][0]["error"], "no such mailbox");

        // What is known of a value stands beside it, under its hash.
        server.command(&["RPUSH", "app:label:old", "a label", "another"]);
        let note = r#"{"id":"l1","error":"out of paper","attempts":2,"queue":"app:label"}"#;
        let hash = "c2a8baeb65ae382b54d0c6dd05061d6879be2c67";
        server.command(&["HSET", "app:~letters:{app:label:old}", hash, note]);
        let dead = run(&cli, &server.url(), &["dead", "label", "--show-keys"]);
        let dead = dead["queues"][0]["dead"].as_array().unwrap();
        assert_eq!((&dead[0]["error"], &dead[0]["attempts"]), (&"out of paper".into(), &2.into()));
        assert_eq!((&dead[1]["error"], &dead[1]["bytes"]), (&Value::Null, &7.into()));
        let masked = run(&cli, &server.url(), &["dead", "label"]).to_string();
        assert!(!masked.contains("paper") && !masked.contains("l1"), "{masked}");
    }
}

#[test]
fn one_key_of_another_type_does_not_hide_the_other_queues() {
    let server = Flavor::Redis.start();
    fill(|command| _ = server.command(command));
    server.command(&["SET", "app:{oops}:work", "not a list"]);
    server.command(&["SET", "app:{oops}:failed", "not a list"]);
    let cli = shop(JOBS);
    let stats = run(&cli, &server.url(), &["stats", "work"]);
    let wrong: Vec<String> = { stats["queues"].as_array().unwrap().iter() }
        .map(|queue| queue["wrong_type"].to_string())
        .collect();
    assert_eq!(wrong, ["[]", r#"["work","failed"]"#, "[]"]);
    assert_eq!(stats["queues"][1]["waiting"], Value::Null);
    // What can be counted is counted.
    server.command(&["DEL", "app:{oops}:work"]);
    server.command(&["RPUSH", "app:{oops}:work", "{}", "{}"]);
    let one = &run(&cli, &server.url(), &["stats", "app:{oops}:work"])["queues"][0];
    assert_eq!((&one["waiting"], &one["dead"]), (&2.into(), &Value::Null));
    assert_eq!(one["wrong_type"].to_string(), r#"["failed"]"#);
    let shown = cli.run(["queue", "stats", &server.url(), "app:{oops}:work"]);
    assert!(shown.stdout.contains("`failed` holds another type"), "{shown}");
    let dead = cli.run(["queue", "dead", &server.url(), "app:{oops}:work"]);
    assert_eq!(dead.code, Some(3), "{dead}");
    assert!(dead.stderr.contains("holds another type"), "{dead}");
}

#[test]
fn what_is_not_a_queue_is_refused() {
    let server = Flavor::Redis.start();
    let cli = shop(JOBS);
    let said = |args: &[&str]| {
        let output = cli.run([&["queue"], args].concat());
        format!("{:?} {}", output.code, output.stderr).replace(&server.address(), "<server>")
    };
    let url = server.url();
    let all = [
        said(&["stats", &url, "user"]),
        said(&["stats", &url, "wrok"]),
        said(&["stats", "dump.rdb", "work"]),
        said(&["stats", &url, "work"]),
        said(&["stats", "redis://127.0.0.1:1", "work"]),
    ];
    assert_snapshot!(all.join("\n"));
}
