//! Scans whose servers are lost for good, and go on when these are back.

use crate::audit_resume::{CARTS, SLOWLY, begin, fill, named, report, without_counts};
use crate::{SHOP, shop};
use keyward_testkit::{Cli, Cluster, Flavor, Output, Running, Server, wait_until};
use serde_json::Value;

/// The end of a scan whose server is gone.
fn lose(running: Running) -> Output {
    let lost = running.finish();
    assert_eq!(lost.code, Some(3), "{lost}");
    assert_eq!(lost.stdout, "", "{lost}");
    lost
}

/// Runs the command that the help names.
fn go_on(cli: &Cli, lost: &Output) -> Output {
    let command = lost.stderr.lines().find_map(|line| line.strip_prefix("help: to resume: "));
    let command = command.unwrap_or_else(|| panic!("{lost}")).replace("--salt …", "--salt s");
    cli.run(command.split(' ').skip(1))
}

fn notes(output: &Output) -> String {
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    report["source"]["notes"].to_string()
}

#[test]
fn a_scan_that_lost_its_server_goes_on_when_it_is_back() {
    for server in Server::all() {
        fill(&server);
        let cli = shop(SHOP);
        let running = begin(&cli, &server, &["--format", "json"]);
        // It runs on, but nobody is let in.
        server.command(&["CONFIG", "SET", "port", "0"]);
        server.command(&["CLIENT", "KILL", "TYPE", "normal"]);
        let lost = lose(running);
        insta::allow_duplicates! {
            insta::assert_snapshot!(without_counts(&named(&lost.stderr, &server)), @r#"
            error: the connection to [SERVER] broke after # keys and could not be made again: the server closed the connection
            help: check that the server is running
            help: to resume: keyward audit redis://[SERVER] --salt … --max-ops # --max-latency #s --format json --resume keyward-[SERVER].resume
            help: replace `…` with the password or the salt, which are not saved
            "#);
        }
        server.command(&["CONFIG", "SET", "port", &server.port().to_string()]);
        let resumed = go_on(&cli, &lost);
        assert!(notes(&resumed).contains("the scan was stopped and resumed"), "{resumed}");
        let whole =
            cli.run(["audit", &server.url(), "--salt", "s", "--format", "json", "--unbounded"]);
        assert_eq!(report(&resumed), report(&whole));
        assert_eq!(report(&whole)["summary"]["keys"], 2_100);
        let source = serde_json::from_str::<Value>(&resumed.stdout).unwrap()["source"].clone();
        assert_eq!(source["shards"][0]["keys_seen"], 2_100);
    }
}

#[test]
fn a_server_that_died_and_has_its_keys_again_is_read_from_its_beginning() {
    for server in Server::all() {
        fill(&server);
        server.save();
        let cli = shop(SHOP);
        let running = begin(&cli, &server, &["--resume", "scan", "--format", "json"]);
        server.kill();
        let lost = lose(running);
        let kept = cli.read("scan");
        // While it is away, nothing happens to what was kept.
        let away = go_on(&cli, &lost);
        assert_eq!(away.code, Some(3), "{away}");
        assert_eq!(cli.read("scan"), kept);
        server.restart();
        let whole =
            cli.run(["audit", &server.url(), "--salt", "s", "--format", "json", "--unbounded"]);
        let resumed = go_on(&cli, &lost);
        assert_eq!(report(&resumed), report(&whole));
        assert_eq!(report(&whole)["summary"]["keys"], 2_100);
        insta::allow_duplicates! {
            insta::assert_snapshot!(notes(&resumed), @r#"["the lookups of this audit count as keyspace hits","keys were read from the beginning again, because the server was restarted since the scan was stopped","MEMORY USAGE looked at 256 elements of a collection: larger ones are extrapolated"]"#);
        }
        assert!(!cli.folder().join("scan").exists(), "the scan is complete");
    }
}

#[test]
fn a_list_of_every_key_is_lost_with_its_server() {
    let server = Server::redis();
    fill(&server);
    let cli = shop(SHOP);
    let running = begin(&cli, &server, &["--format", "jsonl"]);
    server.kill();
    let lost = running.finish();
    assert_eq!(lost.code, Some(3), "{lost}");
    insta::assert_snapshot!(without_counts(&named(&lost.stderr, &server)), @r"
    error: the connection to [SERVER] broke after # keys and could not be made again: the server closed the connection
    help: check that the server is running
    ");
    assert_eq!(std::fs::read_dir(cli.folder()).unwrap().count(), 1, "only the schema is there");
}

#[test]
fn a_cluster_that_lost_a_shard_goes_on_with_the_others() {
    let cluster = Cluster::start(Flavor::Valkey);
    for cart in 0..CARTS {
        cluster.command(&["SET", &format!("shop:price:p{cart}"), "7", "EX", "500000"]);
    }
    let cli = shop(SHOP);
    let url = cluster.nodes()[0].url();
    let args = ["audit", &url, "--primary", "--salt", "s", "--format", "json"];
    let whole = cli.run(args.iter().chain(&["--unbounded"]));
    let before: Vec<u64> =
        cluster.primaries().iter().map(|primary| primary.calls("pttl")).collect();
    let slow = cli.command(args.iter().chain(SLOWLY).chain(&["--resume", "scan"])).start();
    wait_until("every shard is scanned", || {
        cluster
            .primaries()
            .iter()
            .zip(&before)
            .all(|(primary, before)| primary.calls("pttl") >= before + 100)
    });
    // And nobody to take over.
    let (primary, replica) = (&cluster.nodes()[1], &cluster.nodes()[4]);
    primary.save();
    replica.kill();
    primary.kill();
    let lost = lose(slow);
    let name = primary.address();
    let kept: Value = serde_json::from_str(&cli.read("scan")).unwrap();
    let shards = kept["stopped"]["resume"]["shards"].as_array().unwrap();
    assert_eq!(shards.len(), 3);
    for shard in shards {
        assert_eq!(shard["at"].is_null(), shard["name"] != name.as_str(), "{shard}");
    }
    primary.restart();
    replica.restart();
    cluster.wait_until_ok();
    let scanned = cluster.nodes()[0].calls("scan");
    let resumed = go_on(&cli, &lost);
    // A server that was restarted may keep a key in other memory than before.
    let counted = |report: &serde_json::Value| {
        let keys: Vec<serde_json::Value> =
            report["definitions"].as_array().unwrap().iter().map(|it| it["keys"].clone()).collect();
        let found: Vec<serde_json::Value> =
            report["findings"].as_array().unwrap().iter().map(|it| it["message"].clone()).collect();
        (report["summary"]["keys"].clone(), keys, found)
    };
    assert_eq!(counted(&report(&resumed)), counted(&report(&whole)));
    assert_eq!(report(&whole)["summary"]["keys"], CARTS);
    let again = format!(
        "{name}: keys were read from the beginning again, because the server was restarted"
    );
    assert!(notes(&resumed).contains(&again), "{resumed}");
    // Only the question whether SCAN is allowed.
    assert_eq!(cluster.nodes()[0].calls("scan"), scanned + 1);
}
