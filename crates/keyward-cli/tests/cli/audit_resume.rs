//! Scans that are stopped and go on later.

use crate::{SHOP, shop};
use keyward_testkit::{Cli, Cluster, Flavor, Output, Running, Server, wait_until};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// Enough keys that a scan at a thousand commands a second takes some seconds.
pub(crate) const CARTS: usize = 1_500;

/// Bound by that alone: on a busy machine, what others wait for would slow it down to almost nothing.
pub(crate) const SLOWLY: &[&str] = &["--max-ops", "1000", "--max-latency", "10s"];

pub(crate) fn fill(server: &Server) {
    let mut commands = Vec::new();
    for cart in 0..CARTS {
        commands.push(format!("HSET shop:cart:{cart} mug 2"));
        commands.push(format!("EXPIRE shop:cart:{cart} 500000"));
    }
    for price in 0..300 {
        commands.push(format!("SET shop:price:p{price} 1290"));
        commands.push(format!("SET somebody:else:{price} {}", "x".repeat(price)));
    }
    let commands: Vec<Vec<&str>> =
        commands.iter().map(|command| command.split(' ').collect()).collect();
    server.connect().pipeline(&commands).unwrap();
}

/// Begins a scan that takes its time, and waits until it is under way.
pub(crate) fn begin(cli: &Cli, server: &Server, more: &[&str]) -> Running {
    let url = server.url();
    let before = server.calls("pttl");
    let args = [&["audit", &url, "--salt", "s"], SLOWLY, more].concat();
    let mut running = cli.command(args).start();
    let is_under_way = || server.calls("pttl") >= before + 200;
    wait_until("the scan is under way", || running.has_ended() || is_under_way());
    assert!(!running.has_ended(), "it has ended: {}", running.finish());
    running
}

fn stop(running: Running) -> Output {
    running.interrupt();
    let stopped = running.finish();
    assert_eq!(stopped.code, Some(3), "{stopped}");
    assert_eq!(stopped.stdout, "", "{stopped}");
    stopped
}

/// The report without what differs from run to run.
pub(crate) fn report(output: &Output) -> Value {
    let mut report: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output}"));
    assert_eq!(report["source"]["complete"], true);
    for part in ["created_at", "source", "counts"] {
        report[part].take();
    }
    for definition in report["definitions"].as_array_mut().unwrap() {
        // What is left of TTLs depends on when they were looked up.
        definition["ttl"]["remaining"].take();
    }
    // Memory that the server uses changes while it is read.
    report["settings"].take();
    report
}

pub(crate) fn named(text: &str, server: &Server) -> String {
    let name = server.address();
    text.replace(&name.replace(':', "-"), "[SERVER]").replace(&*name, "[SERVER]")
}

/// Hides how far it had come.
pub(crate) fn without_counts(text: &str) -> String {
    let mut out = String::new();
    for char in text.chars() {
        match (out.chars().last(), char) {
            (Some('#'), '0'..='9' | ',') => {}
            (_, '0'..='9') => out.push('#'),
            (_, char) => out.push(char),
        }
    }
    out
}

#[test]
fn a_scan_that_was_stopped_goes_on_with_the_command_it_names() {
    for server in Server::all() {
        fill(&server);
        let cli = shop(SHOP);
        let stopped = stop(begin(&cli, &server, &["--format", "json"]));
        let file = format!("keyward-{}.resume", server.address().replace(':', "-"));
        let mode = fs::metadata(cli.folder().join(&file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        insta::allow_duplicates! {
            insta::assert_snapshot!(without_counts(&named(&stopped.stderr, &server)));
        }
        let command =
            stopped.stderr.lines().find_map(|line| line.strip_prefix("help: to resume: "));
        let command = command.unwrap().replace("--salt …", "--salt s");
        let whole =
            cli.run(["audit", &server.url(), "--salt", "s", "--format", "json", "--unbounded"]);
        let resumed = cli.run(command.split(' ').skip(1));
        assert_eq!(resumed.code, Some(1), "{resumed}");
        assert!(resumed.stderr.contains(", unless the server has changed since"), "{resumed}");
        assert_eq!(report(&resumed), report(&whole));
        assert_eq!(report(&whole)["summary"]["keys"], 2_100);
        let notes =
            serde_json::from_str::<Value>(&resumed.stdout).unwrap()["source"]["notes"].clone();
        assert!(notes.to_string().contains("the scan was stopped and resumed"), "{notes}");
        assert!(!cli.folder().join(&file).exists(), "the scan is complete");
    }
}

#[test]
fn references_that_do_not_resolve_are_the_same_after_a_stop() {
    let server = Flavor::Redis.start();
    fill(&server);
    for order in 0..40 {
        let cart = match order % 4 {
            0 => format!("cart:{order}"),
            1 => format!("shop:cart:{}", CARTS + order),
            2 => format!("somebody:else:{order}"),
            _ => format!("nobody {order}"),
        };
        server.command(&["HSET", &format!("shop:order:{order}"), "cart", &cart]);
    }
    let order = "[keys.order]\npattern = \"order:{order_id:uint}\"\nttl = \"none\"\n\
                 fields = { cart = { key = \"cart\" } }\n";
    let cli = shop(&format!("{SHOP}\n{order}"));
    let args = ["--format", "json", "--resume", "scan.resume"];
    stop(begin(&cli, &server, &args));
    let url = server.url();
    let resumed = cli.run([&["audit", &url, "--salt", "s", "--unbounded"][..], &args].concat());
    let whole = cli.run(["audit", &url, "--salt", "s", "--unbounded", "--format", "json"]);
    let (resumed, whole) = (report(&resumed), report(&whole));
    assert_eq!(resumed["findings"], whole["findings"]);
    let mut findings = whole["findings"].as_array().unwrap().iter();
    let found = findings.find(|it| it["rule"] == "dangling-reference").expect("it is found");
    let counts = &found["unresolved"];
    assert_eq!((&counts["not_a_key"], &counts["elsewhere"]), (&10.into(), &10.into()), "{found}");
}

#[test]
fn a_scan_may_be_stopped_again_and_again_and_needs_no_salt() {
    let server = Server::redis();
    fill(&server);
    let cli = shop(SHOP);
    let url = server.url();
    let args = [&["audit", &url, "--resume", "scan", "--format", "json"], SLOWLY].concat();
    let mut kept = Vec::new();
    for _ in 0..3 {
        let before = server.calls("pttl");
        let running = cli.command(&args).start();
        // The first is the question whether SCAN is allowed.
        wait_until("the scan is under way", || server.calls("pttl") >= before + 100);
        running.terminate();
        let stopped = running.finish();
        assert_eq!(stopped.code, Some(3), "{stopped}");
        let file: Value = serde_json::from_str(&cli.read("scan")).unwrap();
        let counted = file["stopped"]["counted"][0].clone();
        let source = &counted["sources"][0];
        assert_eq!(source["complete"], false);
        kept.push(source["shards"][0]["keys_seen"].as_u64().unwrap());
    }
    assert!(kept.is_sorted() && kept[0] < kept[2], "{kept:?}");
    let resumed = cli.run(["audit", &url, "--resume", "scan", "--unbounded", "--format", "json"]);
    let whole = report(&resumed);
    assert_eq!(whole["summary"]["keys"], 2_100, "{kept:?}");
    let source = serde_json::from_str::<Value>(&resumed.stdout).unwrap()["source"].clone();
    assert_eq!(source["shards"][0]["keys_seen"], 2_100);
    assert_eq!(source["shards"].as_array().unwrap().len(), 1);
    let notes = source["notes"].as_array().unwrap();
    let distinct: std::collections::HashSet<String> = notes.iter().map(Value::to_string).collect();
    assert_eq!(distinct.len(), notes.len(), "{notes:?}");
    assert!(!cli.folder().join("scan").exists());
}

#[test]
fn every_shard_of_a_cluster_goes_on() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        for cart in 0..CARTS {
            cluster.command(&["SET", &format!("shop:price:p{cart}"), "7", "EX", "500"]);
        }
        let cli = shop(SHOP);
        let url = cluster.nodes()[0].url();
        let args =
            ["audit", &url, "--primary", "--salt", "s", "--resume", "scan", "--format", "json"];
        let slow = cli.command(args.iter().chain(SLOWLY)).start();
        wait_until("every shard is scanned", || {
            cluster.primaries().iter().all(|primary| primary.calls("pttl") >= 100)
        });
        stop(slow);
        let file: Value = serde_json::from_str(&cli.read("scan")).unwrap();
        assert_eq!(file["stopped"]["counted"].as_array().unwrap().len(), 3);
        let resumed = cli.run(args.iter().chain(&["--unbounded"]));
        assert_eq!(report(&resumed)["summary"]["keys"], CARTS, "{resumed}");
        assert_eq!(
            report(&resumed),
            report(&cli.run(args[..5].iter().chain(&["--format", "json", "--unbounded"])))
        );
    }
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    let server = Server::redis();
    fill(&server);
    let cli = shop(SHOP);
    let mut running = begin(&cli, &server, &["--resume", "scan"]);
    // Now nothing comes to its end.
    server.pause();
    // Two that come before the program looks are one.
    wait_until("it has ended", || {
        running.interrupt();
        running.has_ended()
    });
    let ended = running.finish();
    assert_eq!(ended.code, None, "{ended}");
    assert!(!cli.folder().join("scan").exists());
    server.resume();
}

#[test]
fn a_kill_leaves_the_old_file_or_the_new_one() {
    let server = Server::redis();
    fill(&server);
    let cli = shop(SHOP);
    stop(begin(&cli, &server, &["--resume", "scan"]));
    for _ in 0..8 {
        let running = begin(&cli, &server, &["--resume", "scan"]);
        running.interrupt();
        // Dropped, it is killed.
        drop(running);
        let file: Value = serde_json::from_str(&cli.read("scan")).unwrap();
        assert_eq!(file["stopped"]["counted"].as_array().unwrap().len(), 1);
    }
    let resumed = cli.run([
        "audit",
        &server.url(),
        "--salt",
        "s",
        "--resume",
        "scan",
        "--format",
        "json",
        "--unbounded",
    ]);
    assert_eq!(report(&resumed)["summary"]["keys"], 2_100);
}

#[test]
fn what_has_changed_meanwhile_is_reported_and_nothing_starts_again_by_itself() {
    let server = Server::redis();
    fill(&server);
    let cli = shop(SHOP);
    stop(begin(&cli, &server, &["--resume", "scan"]));
    let kept = cli.read("scan");
    let url = server.url();
    let mut told = String::new();
    let mut refused = |title: &str, args: &[&str], code: i32| {
        let output = cli.run([&["audit"], args].concat());
        assert_eq!(output.code, Some(code), "{output}");
        assert_eq!(output.stdout, "", "{output}");
        let stderr = without_counts(&named(&output.stderr, &server));
        told.push_str(&format!("{title}\n{stderr}\n"));
    };
    refused("no salt", &[&url, "--resume", "scan"], 2);
    refused("another salt", &[&url, "--resume", "scan", "--salt", "t"], 2);
    refused("another server", &["redis://127.0.0.1:1", "--resume", "scan", "--salt", "s"], 2);
    refused("a sample", &[&url, "--resume", "scan", "--salt", "s", "--sample", "5%"], 2);
    refused("no schema", &[&url, "--resume", "scan", "--salt", "s", "--no-schema"], 2);
    refused("a list", &[&url, "--resume", "scan", "--format", "csv"], 2);
    refused("a snapshot", &[&url, "--resume", "scan", "--via", "snapshot"], 2);
    refused("a file", &["dump.rdb", "--resume", "scan"], 2);
    cli.write("keyward.toml", SHOP.replace("\"10m\"", "\"20m\""));
    refused("another schema", &[&url, "--resume", "scan", "--salt", "s"], 2);
    cli.write("keyward.toml", SHOP);
    cli.write("scan", &kept[..20]);
    refused("cut off", &[&url, "--resume", "scan", "--salt", "s"], 2);
    for length in [0, 1, kept.len() / 3, kept.len() / 2, kept.len() - 1] {
        cli.write("scan", &kept[..length]);
        let output = cli.run(["audit", &url, "--resume", "scan", "--salt", "s"]);
        assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{length}: {output}");
    }
    cli.write("scan", r#"{"version":1}"#);
    refused("something else", &[&url, "--resume", "scan", "--salt", "s"], 2);
    cli.write("scan", kept.replacen("\"resume\":3", "\"resume\":99", 1));
    refused("another version", &[&url, "--resume", "scan", "--salt", "s"], 2);
    cli.write("scan", &kept);
    assert_eq!(cli.read("scan"), kept);
    insta::assert_snapshot!(told);
    // Only when it is told.
    fs::remove_file(cli.folder().join("scan")).unwrap();
    fill(&server);
    let again = cli.run(["audit", &url, "--resume", "scan", "--unbounded", "-q"]);
    assert_eq!(again.code, Some(1), "{again}");
}

#[test]
fn a_cluster_whose_slots_moved_meanwhile_is_not_read_on() {
    let cluster = Cluster::start(Flavor::Redis);
    for cart in 0..CARTS {
        cluster.command(&["SET", &format!("shop:price:p{cart}"), "7", "EX", "500"]);
    }
    let cli = shop(SHOP);
    let url = cluster.nodes()[0].url();
    let args = ["audit", &url, "--primary", "--resume", "scan"];
    let slow = cli.command(args.iter().chain(SLOWLY)).start();
    wait_until("every shard is scanned", || {
        cluster.primaries().iter().all(|primary| primary.calls("pttl") >= 100)
    });
    stop(slow);
    // The same file, as if the slots had been others.
    let kept = cli.read("scan");
    assert!(kept.contains("\"slots\":\"0-5460\""), "{kept}");
    cli.write("scan", kept.replace("\"slots\":\"0-5460\"", "\"slots\":\"0-5459\""));
    let refused = cli.run(args);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("its slots were 0-5459, and are 0-5460"), "{refused}");
}

#[test]
fn a_file_that_was_forged_is_an_error_or_a_report_and_never_a_crash() {
    let server = Server::redis();
    fill(&server);
    let cli = shop(SHOP);
    stop(begin(&cli, &server, &["--resume", "scan"]));
    let kept: Value = serde_json::from_str(&cli.read("scan")).unwrap();
    let url = server.url();
    let forge = |path: &str, value: Value| {
        let mut forged = kept.clone();
        *forged.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
        cli.write("scan", forged.to_string());
        let args = ["audit", &url, "--resume", "scan", "--salt", "s", "--unbounded", "-q"];
        let output = cli.run(args);
        assert!(!output.stderr.contains("panicked"), "{path}: {output}");
        output.code
    };
    let counted = "/stopped/counted/0";
    for path in [
        "/stopped/resume/clock",
        "/stopped/resume/shards/0/counts/scanned",
        "/stopped/counted/0/judged",
        "/stopped/counted/0/definitions/0/keys/amount/keys",
        "/stopped/counted/0/definitions/0/keys/amount/bytes",
        "/stopped/counted/0/definitions/0/keys/sizes/bars/0/0",
        "/stopped/counted/0/definitions/0/keys/sizes/bars/0/1",
        "/stopped/counted/0/sources/0/shards/0/keys_seen",
        "/stopped/outline/definitions/0/schema",
        "/stopped/counted/0/leaves/bounds/depth",
    ] {
        assert_eq!(forge(path, u64::MAX.into()), Some(2), "{path}");
    }
    assert_eq!(forge("/stopped/counted", Value::Array(Vec::new())), Some(2));
    assert_eq!(forge("/stopped/resume/shards", Value::Array(Vec::new())), Some(2));
    assert_eq!(forge(&format!("{counted}/definitions"), Value::Array(Vec::new())), Some(2));
    assert_eq!(forge("/stopped/outline/definitions", Value::Array(Vec::new())), Some(2));
    assert_eq!(forge("/stopped/outline/salt", "0".into()), Some(2));
    let rule = "/stopped/outline/definitions/0/slots/0/rule";
    assert_eq!(forge(rule, "overlapping-patterns".into()), Some(2));
    assert_eq!(forge("/today", "\u{1b}[31m".into()), Some(2));
    assert_eq!(forge("/stopped/resume/shards/0/run_id", "".into()), Some(3));
    assert_eq!(forge("/stopped/resume/shards/0/name", "\u{1b}[31m".into()), Some(2));
    assert_eq!(forge(&format!("{counted}/definitions/0/params/0"), "!".into()), Some(2));
    assert!(matches!(
        forge("/stopped/resume/shards/0/at", serde_json::json!([u64::MAX, 7])),
        Some(1..=3)
    ));
}

#[test]
fn a_snapshot_that_is_stopped_leaves_nothing() {
    let server = Server::redis();
    fill(&server);
    let cli = shop(SHOP);
    // It waits for a server that does not answer.
    server.pause();
    let snapshot = cli.command(["audit", &server.url(), "--via", "snapshot"]).start();
    let list = cli.command(["audit", &server.url(), "--format", "jsonl"]).start();
    let input = cli.command(["audit", "-"]).stdin_open().start();
    let mut told = String::new();
    for running in [snapshot, list, input] {
        wait_until("signals are watched for", || {
            let status = fs::read_to_string(format!("/proc/{}/status", running.id())).unwrap();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t")).unwrap();
            // SIGINT is 2, the second bit.
            u64::from_str_radix(caught, 16).unwrap() & 2 != 0
        });
        running.interrupt();
        let stopped = running.finish();
        assert_eq!(stopped.code, Some(3), "{stopped}");
        assert_eq!(stopped.stdout, "", "{stopped}");
        told.push_str(&named(&stopped.stderr, &server));
    }
    server.resume();
    insta::assert_snapshot!(told);
    assert_eq!(fs::read_dir(cli.folder()).unwrap().count(), 1, "only the schema is there");
}
