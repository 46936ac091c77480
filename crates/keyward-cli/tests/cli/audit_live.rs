//! Audits of servers that are running.

use crate::{SHOP, shop};
use insta::assert_snapshot;
use keyward_testkit::{Cli, Cluster, Flavor, Server};
use serde_json::Value;

fn fill(command: impl Fn(&[&str])) {
    for user in 0..50 {
        command(&["HSET", &format!("shop:cart:{user}"), "mug", "2"]);
        command(&["EXPIRE", &format!("shop:cart:{user}"), "86400"]);
    }
    command(&["SET", "shop:price:mug", "1290", "EX", "300"]);
    command(&["SET", "shop:price:lid", "350"]);
    command(&["SET", "somebody:else", "1"]);
}

fn report(cli: &Cli, args: &[&str]) -> Value {
    let output = cli.run([&["audit", "--format", "json", "--salt", "s"], args].concat());
    serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output}"))
}

fn finding<'r>(report: &'r Value, rule: &str) -> Option<&'r Value> {
    report["findings"].as_array().unwrap().iter().find(|it| it["rule"] == rule)
}

#[test]
fn a_server_is_audited_by_scan_and_by_snapshot() {
    for server in Server::all() {
        fill(|command| _ = server.command(command));
        let cli = shop(SHOP);
        for via in ["scan", "snapshot"] {
            let report = report(&cli, &[&server.url(), "--via", via]);
            assert_eq!(report["source"]["kind"], via);
            assert_eq!(report["summary"]["keys"], 53, "{via}");
            assert_eq!(finding(&report, "ttl-missing").unwrap()["count"], 1);
            assert_eq!(finding(&report, "unknown-key").unwrap()["count"], 1);
            assert!(report["summary"]["bytes"].as_u64().unwrap() > 2_000);
            assert_eq!(
                report["source"]["bytes"],
                if via == "scan" { "memory-usage" } else { "estimated" }
            );
        }
        assert_eq!(cli.run(["audit", &server.url()]).code, Some(1));
        // Only some, and what is written for every key.
        let report = report(&cli, &[&server.url(), "--sample", "50%"]);
        assert!(report["summary"]["keys"].as_u64().unwrap() < 53);
        let listed = cli.run(["audit", &server.url(), "--format", "csv"]);
        assert_eq!(listed.stdout.lines().count(), 54, "{listed}");
    }
}

#[test]
fn where_nothing_was_judged_it_is_said_why() {
    let server = Flavor::Redis.start();
    let cli = shop(SHOP);
    let said = |args: &[&str]| {
        let output = cli.run([&["audit", &server.url()], args].concat());
        assert_eq!(output.code, Some(2), "{output}");
        output.stderr.replace(&server.address(), "<server>")
    };
    assert_snapshot!("empty_server", said(&[]));
    fill(|command| _ = server.command(command));
    assert_snapshot!("sample_without_keys", said(&["--sample", "0.000001%"]));
    assert_snapshot!("database_without_keys", said(&["--db", "7"]));
    assert_snapshot!("database_that_is_not_there", said(&["--db", "99"]));
}

#[test]
fn shards_that_were_audited_apart_and_merged_are_the_one_report_of_a_cluster() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        fill(|command| _ = cluster.command(command));
        for user in 0..60 {
            let (key, user) = (format!("shop:order:{user}"), user.to_string());
            cluster.command(&["HSET", &key, "user", &user]);
        }
        let order = "[keys.order]\npattern = \"order:{order_id:uint}\"\ntype = \"hash\"\nttl = \"none\"\n\
                     fields = { user = { ref = \"cart.user_id\" } }\n";
        let cli = shop(&format!("{SHOP}\n{order}"));
        let whole = report(&cli, &[&cluster.nodes()[0].url(), "--primary"]);
        assert_eq!(whole["summary"]["keys"], 113);
        assert_eq!(finding(&whole, "dangling-reference").unwrap()["count"], 10);
        assert_eq!(whole["source"]["shards"].as_array().unwrap().len(), 3);
        let mut files = Vec::new();
        for (number, primary) in cluster.primaries().into_iter().enumerate() {
            let file = format!("shard-{number}.json");
            let part = report(&cli, &[&primary.url(), "--node-only", "--primary"]);
            // What it refers to may be in another shard.
            assert_eq!(finding(&part, "dangling-reference"), None);
            cli.write(&file, part.to_string());
            files.push(file);
        }
        let mut args = vec!["report", "merge"];
        args.extend(files.iter().map(String::as_str));
        let merged = cli.run(args);
        let merged: Value =
            serde_json::from_str(&merged.stdout).unwrap_or_else(|_| panic!("{merged}"));
        for part in ["summary", "unknown", "foreign", "findings"] {
            assert_eq!(merged[part], whole[part], "{part}");
        }
        let counts = |report: &Value| -> Vec<(String, u64, u64)> {
            let definitions = report["definitions"].as_array().unwrap().iter();
            let count = |it: &Value| {
                let number = |name: &str| it[name].as_u64().unwrap();
                (it["name"].as_str().unwrap().to_owned(), number("keys"), number("bytes"))
            };
            let mut counts: Vec<_> = definitions.map(count).collect();
            counts.sort();
            counts
        };
        assert_eq!(counts(&merged), counts(&whole));
    }
}

#[test]
fn a_server_that_cannot_be_read_is_no_pass_and_no_password_is_shown() {
    let cli = shop(SHOP);
    let server = Flavor::Redis.server().password("hunter2").start();
    fill(|command| _ = server.command(command));
    let wrong = cli.run(["audit", &server.url().replace("hunter2", "s3same")]);
    assert_eq!(wrong.code, Some(3), "{wrong}");
    assert!(wrong.stderr.contains("does not let this user in"), "{wrong}");
    assert!(!wrong.stderr.contains("s3same"), "{wrong}");
    let bare = format!("redis://{}", server.address());
    let right = cli.command(["audit", &bare]).env("KEYWARD_PASSWORD", "hunter2").run();
    assert_eq!(right.code, Some(1), "{right}");
    cli.write("password", "hunter2\n");
    let right = cli.run(["audit", &bare, "--password-file", "password"]);
    assert_eq!(right.code, Some(1), "{right}");
    assert!(!format!("{right}").contains("hunter2"));
    drop(server);
    let gone = cli.run(["audit", &bare]);
    assert_eq!(gone.code, Some(3), "{gone}");
    let usage = cli.run(["audit", "http://127.0.0.1"]);
    assert_eq!(usage.code, Some(2), "{usage}");
    let empty = cli.run(["audit", &Server::redis().url()]);
    assert_ne!(empty.code, Some(0), "nothing was judged: {empty}");
}

#[test]
fn bytes_that_a_server_does_not_tell_are_shown_nowhere() {
    let denied = |flavor: Flavor| flavor.server().user("auditor", "on >secret ~* +@all -memory");
    let renamed = |flavor: Flavor| flavor.server().rename_command("MEMORY", "");
    let flavors = [Flavor::Redis, Flavor::Valkey];
    let servers = flavors.map(denied).into_iter().chain(flavors.map(renamed));
    for (number, server) in servers.enumerate() {
        let server = server.start();
        fill(|command| _ = server.command(command));
        let cli = shop(SHOP);
        let (url, why) = if number < flavors.len() {
            (format!("redis://auditor:secret@{}", server.address()), "denies MEMORY USAGE")
        } else {
            (server.url(), "does not have MEMORY USAGE")
        };
        let document = report(&cli, &[&url, "--html", "audit.html"]);
        assert_eq!(document["source"]["bytes"], "unknown");
        assert_eq!(document["summary"]["keys"], 53);
        assert!(document["summary"]["bytes"].is_null());
        let notes = document["source"]["notes"].to_string();
        assert_eq!(notes.matches(why).count(), 1, "{notes}");
        for part in ["definitions", "unknown"] {
            for it in document[part].as_array().unwrap() {
                assert!(it["bytes"].is_null() && it["share"].is_null() && it["sizes"].is_null());
                assert_eq!(it["biggest"].as_array().unwrap().len(), 0);
            }
        }
        let shown = cli.run(["audit", &url]);
        let page = cli.read("audit.html");
        for zero in [" 0 B", ">0 B"] {
            assert!(!shown.stdout.contains(zero), "{zero}: {shown}");
            assert!(!page.contains(zero), "{zero}");
        }
        assert!(shown.stdout.contains("bytes     –  (not known)"), "{shown}");
        // And what was written is read again.
        cli.write("unknown.json", document.to_string());
        let merged = cli.run(["report", "merge", "unknown.json", "unknown.json"]);
        let merged: Value = serde_json::from_str(&merged.stdout).unwrap();
        assert_eq!(
            (&merged["summary"]["keys"], &merged["summary"]["bytes"]),
            (&106.into(), &Value::Null)
        );
        let listed = cli.run(["audit", &url, "--format", "jsonl"]);
        assert!(listed.stdout.lines().all(|line| line.contains("\"bytes\":null")), "{listed}");
    }
}
