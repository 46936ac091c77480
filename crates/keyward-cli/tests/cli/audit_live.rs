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
    assert_ne!(empty.code, Some(0), "no keys were audited: {empty}");
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
        let merged = cli.run(["report", "merge", "unknown.json"]);
        let merged: Value = serde_json::from_str(&merged.stdout).unwrap();
        assert_eq!(
            (&merged["summary"]["keys"], &merged["summary"]["bytes"]),
            (&53.into(), &Value::Null)
        );
        let listed = cli.run(["audit", &url, "--format", "jsonl"]);
        assert!(listed.stdout.lines().all(|line| line.contains("\"bytes\":null")), "{listed}");
    }
}

#[test]
fn a_user_who_may_not_see_every_key_gets_no_pass() {
    for flavor in Flavor::ALL {
        let server = flavor.server().user("carts", "on >secret ~shop:cart:* +@all").start();
        for cart in 0..50 {
            server.command(&["HSET", &format!("shop:cart:{cart}"), "mug", "2"]);
            server.command(&["EXPIRE", &format!("shop:cart:{cart}"), "86400"]);
            server.command(&["SET", &format!("undeclared:{cart}"), "1"]);
        }
        let cli = shop(SHOP);
        let url = format!("redis://carts:secret@{}", server.address());
        let seen = report(&cli, &[&url]);
        assert_eq!(seen["source"]["complete"], false);
        let notes = seen["source"]["notes"].to_string();
        assert!(notes.contains("50 of 100 keys were not looked up"), "{notes}");
        assert_eq!(cli.run(["audit", &url]).code, Some(3));
        // What was left out on purpose is not missing.
        let narrowed = report(&cli, &[&url, "--match", "shop:cart:*"]);
        assert_eq!(narrowed["source"]["complete"], true);
        assert_eq!(narrowed["summary"]["keys"], 50);
        assert_eq!(cli.run(["audit", &url, "--match", "shop:cart:*"]).code, Some(0));
        let snapshot =
            report(&cli, &[&server.url(), "--match", "shop:cart:*", "--via", "snapshot"]);
        assert_eq!(snapshot["summary"]["keys"], 50);
    }
}

/// The rules that the guide says a user needs.
fn rules_of_the_guide() -> Vec<String> {
    let guide = keyward_testkit::repository().join("docs/src/guide/audit.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let line = guide.lines().find_map(|line| line.strip_prefix("ACL SETUSER auditor "));
    line.expect("the guide names a user").split(' ').map(str::to_owned).collect()
}

#[test]
fn the_user_of_the_guide_sees_everything() {
    for flavor in Flavor::ALL {
        let server = flavor.server().memory("100mb", "noeviction").start();
        let rules = rules_of_the_guide();
        let mut user = vec!["ACL", "SETUSER", "auditor"];
        user.extend(rules.iter().map(String::as_str));
        assert_eq!(server.command(&user).text(), "OK");
        fill(|command| _ = server.command(command));
        let mut other = server.connect();
        for command in [&["SELECT", "3"][..], &["SET", "shop:price:mug", "1", "EX", "300"]] {
            other.command(command).unwrap();
        }
        let password = rules.iter().find_map(|rule| rule.strip_prefix('>')).unwrap();
        let url = format!("redis://auditor:{password}@{}", server.address());
        let cli = shop(&format!("{SHOP}\n[server]\ntcp-keepalive = 300\n"));
        let seen = report(&cli, &[&url]);
        assert_eq!(seen["source"]["complete"], true);
        assert_eq!(seen["summary"]["keys"], 54);
        assert_eq!(seen["source"]["bytes"], "memory-usage");
        assert_eq!(seen["settings"][0]["got"], "300", "{}", seen["settings"]);
        let notes = seen["source"]["notes"].to_string();
        assert!(!notes.contains("not known") && !notes.contains("denies"), "{notes}");
    }
}

#[test]
fn what_cannot_be_written_is_said_before_the_scan() {
    let server = Flavor::Redis.start();
    fill(|command| _ = server.command(command));
    let cli = shop(SHOP);
    cli.write("there", "before");
    for args in [["--out", "nowhere/report.json"], ["--html", "nowhere/page.html"], ["--out", "."]]
    {
        let output = cli.run([&["audit", &server.url()], &args[..]].concat());
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.starts_with("error: cannot write `"), "{output}");
    }
    assert_eq!(server.calls("scan"), 0);
    let stopped = cli.run(["audit", "redis://127.0.0.1:1", "--out", "there"]);
    assert_eq!(stopped.code, Some(3), "{stopped}");
    assert_eq!(cli.read("there"), "before");
    let written = cli.run(["audit", &server.url(), "--out", "there", "--html", "page.html"]);
    assert_eq!(written.code, Some(1), "{written}");
    assert!(cli.read("there").starts_with("redis://") && cli.read("page.html").contains("<html"));
}

#[test]
fn no_password_is_shown_of_a_url_that_is_wrong() {
    let cli = shop(SHOP);
    let wrong = [
        "redis:/:hunter2@host",
        "redis::hunter2@host",
        "ann:hunter2@host:6379",
        "redis+what://:hunter2@host",
        "redis://:hunter2@host:port",
        "REDIS:/hunter2@host",
    ];
    for url in wrong {
        let output = cli.run(["audit", url]);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(!format!("{}{}", output.stdout, output.stderr).contains("hunter2"), "{output}");
    }
    let server = Flavor::Redis.start();
    fill(|command| _ = server.command(command));
    let shouted = server.url().replace("redis://", "REDIS://");
    assert_eq!(cli.run(["audit", &shouted]).code, Some(1));
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let server = Flavor::Redis.start();
    let cli = shop(SHOP);
    let output = cli.run(["audit", &server.url(), "--max-ops", "0"]);
    assert_eq!(output.code, Some(2), "{output}");
    for option in [&["--db", "3"][..], &["--sample", "1%"], &["--touch"], &["--match", "a*"]] {
        let output = cli.run([&["audit", "dump.rdb"], option].concat());
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains("applies to servers only"), "{output}");
    }
}

#[test]
fn a_server_that_hangs_can_be_stopped_at_any_time() {
    let server = Flavor::Redis.start();
    crate::audit_resume::fill(&server);
    let cli = shop(SHOP);
    let running = crate::audit_resume::begin(&cli, &server, &[]);
    server.pause();
    running.terminate();
    let stopped = running.finish();
    assert_eq!(stopped.code, Some(3), "{stopped}");
    assert!(stopped.stderr.starts_with("error: stopped after "), "{stopped}");
    assert!(stopped.stderr.contains("to resume: keyward audit "), "{stopped}");

    let connecting = cli.command(["audit", &server.url(), "--resume", "other"]).start();
    keyward_testkit::wait_until("signals are watched for", || catches_signals(connecting.id()));
    connecting.terminate();
    let stopped = connecting.finish();
    server.resume();
    assert_eq!(stopped.code, Some(3), "{stopped}");
    assert!(stopped.stderr.contains("error: stopped before all keys were seen"), "{stopped}");
}

/// Whether a process would be told of SIGTERM.
fn catches_signals(id: u32) -> bool {
    const SIGTERM: u64 = 1 << 14;
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & SIGTERM != 0)
}

#[test]
fn a_document_that_nobody_receives_is_no_success() {
    let server = Flavor::Redis.start();
    fill(|command| _ = server.command(command));
    let cli = shop(SHOP);
    cli.write("report.json", report(&cli, &[&server.url()]).to_string());
    let merge = |redirection: &str| {
        let program = env!("CARGO_BIN_EXE_keyward");
        let script = format!("exec {program} report merge report.json {redirection}");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).current_dir(cli.folder()).status().unwrap().code()
    };
    assert_eq!(merge(">&-"), Some(2));
    assert_eq!(merge("> /dev/null"), Some(0));
}

const VALUES: &str = r#"
version = 1
[keyspace]
name = "shop"
[keys.jobs]
pattern = "jobs:{queue:word}"
type = "stream"
ttl = "none"
fields = { id = "uint", body = "text?" }
[keys.session]
pattern = "session:{session_id:uint}"
ttl = "none"
fields = { user = "uint", csrf = { type = "text", ttl = "1h" } }
[keys.plain]
pattern = "plain:{plain_id:uint}"
ttl = "none"
fields = { user = "uint" }
"#;

/// The rule, what it is about, and the count of each finding.
fn broken(report: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let one = |it: &Value| {
        let name = [&it["rule"], &it["definition"], &it["subject"]].map(text).join(" ");
        format!("{name} {}", it["count"])
    };
    let mut all: Vec<String> = report["findings"].as_array().unwrap().iter().map(one).collect();
    all.sort();
    all
}

#[test]
fn fields_of_stream_entries_are_judged_as_those_of_hashes() {
    for server in Server::all() {
        for (queue, fields) in [
            ("good", &["id", "1", "body", "x"][..]),
            ("good", &["id", "2"]),
            ("first", &["body", "x"]),
            ("first", &["id", "1"]),
            ("last", &["id", "1"]),
            ("last", &["body", "x"]),
            ("other", &["id", "1", "colour", "red"]),
            ("wrong", &["id", "x"]),
        ] {
            server.command(&[&["XADD", &format!("jobs:{queue}"), "*"], fields].concat());
        }
        // An entry that was deleted is not judged.
        server.command(&["XADD", "jobs:deleted", "7-1", "nonsense", "1"]);
        server.command(&["XADD", "jobs:deleted", "7-2", "id", "1"]);
        server.command(&["XDEL", "jobs:deleted", "7-1"]);
        let cli = shop(VALUES);
        let file = server.save();
        let url = server.url();
        for args in [&[&*url][..], &[&*url, "--via", "snapshot"], &[file.to_str().unwrap()]] {
            assert_eq!(
                broken(&report(&cli, args)),
                [
                    "invalid-value jobs field `id` 1",
                    "missing-field jobs id 2",
                    "unknown-field jobs - 1"
                ],
                "{args:?}"
            );
        }
        let masked = cli.run(["audit", &url]).stdout;
        assert!(!masked.contains("colour") && masked.contains("entries of `jobs`"), "{masked}");
    }
}

#[test]
fn ttls_of_fields_are_judged_where_a_source_sees_them() {
    let server = Server::valkey();
    let expire = |key: &str, field: &str, seconds: &str| {
        server.command(&["HEXPIRE", key, seconds, "FIELDS", "1", field]);
    };
    for number in 1..=5 {
        server.command(&["HSET", &format!("session:{number}"), "user", "1", "csrf", "a"]);
    }
    for number in [1, 3, 5] {
        expire(&format!("session:{number}"), "csrf", "600");
    }
    expire("session:2", "csrf", "180000");
    expire("session:3", "user", "600");
    server.command(&["HSET", "plain:1", "user", "1"]);
    expire("plain:1", "user", "600");
    let cli = shop(VALUES);
    let (file, url) = (server.save(), server.url());
    let expected = [
        "ttl-missing session field `csrf` 1",
        "ttl-too-long session field `csrf` 1",
        "ttl-unexpected plain field `user` 1",
        "ttl-unexpected session field `user` 1",
    ];
    for args in [&[&*url, "--via", "snapshot"][..], &[file.to_str().unwrap()]] {
        assert_eq!(broken(&report(&cli, args)), expected, "{args:?}");
    }
    // A scan asks only where the definition declares a TTL, and says so.
    let scanned = report(&cli, &[&url]);
    assert_eq!(broken(&scanned), [expected[0], expected[1], expected[3]]);
    let notes = scanned["source"]["notes"].to_string();
    assert!(notes.contains("TTLs of hash fields were read only"), "{notes}");
    let found = finding(&scanned, "ttl-too-long").unwrap();
    assert_eq!(found["examples"][0]["detail"], "TTL 2 d 1 h");

    // Before Redis 7.4 no field can have one.
    let old = Flavor::Redis.start();
    old.command(&["HSET", "session:1", "user", "1", "csrf", "a"]);
    let scanned = report(&cli, &[&old.url()]);
    assert_eq!(broken(&scanned), ["ttl-missing session field `csrf` 1"]);
    assert_eq!(scanned["source"]["complete"], true);

    // Who may not ask is told so.
    let denied = Flavor::Valkey.server().user("audit", "on >secret ~* +@all -hpttl").start();
    denied.command(&["HSET", "session:1", "user", "1", "csrf", "a"]);
    let scanned = report(&cli, &[&format!("redis://audit:secret@{}", denied.address())]);
    assert_eq!(broken(&scanned), [""; 0]);
    assert_eq!(scanned["source"]["complete"], false);
}

#[test]
fn references_of_a_server_that_do_not_resolve_are_told_apart() {
    let schema = r#"
version = 1
[keyspace]
name = "shop"
[keys.cart]
pattern = "cart:{user_id:uint}"
ttl = "none"
fields = { items = "uint" }
[keys.recent]
pattern = "recent"
type = "zset"
member = { key = "cart" }
ttl = "none"
"#;
    for server in Server::all() {
        server.command(&["HSET", "cart:1", "items", "1"]);
        server.command(&["SET", "cart:2", "1"]);
        server.command(&["SET", "else", "1"]);
        for member in ["cart:1", "cart:2", "cart:3", "else", "alice"] {
            server.command(&["ZADD", "recent", "1", member]);
        }
        let (cli, file) = (shop(schema), server.save());
        for source in [server.url(), file.to_str().unwrap().to_owned()] {
            let report = report(&cli, &[&source]);
            let finding = finding(&report, "dangling-reference").unwrap();
            assert_eq!((&finding["count"], &finding["of"]), (&4.into(), &5.into()));
            let counts = serde_json::json!({ "not_a_key": 1, "elsewhere": 2, "missing": 1 });
            assert_eq!(finding["unresolved"], counts);
            assert!(!report.to_string().contains("alice"));
            let shown = cli.run(["audit", &source, "--show-keys"]).stdout;
            assert!(shown.contains("`alice` is not a key of `cart`"), "{shown}");
        }
    }
}

#[test]
fn warnings_of_an_audit_fail_unless_only_errors_are_to() {
    let server = Flavor::Redis.start();
    let cli = shop(VALUES);
    let code = |args: &[&str]| {
        let output = cli.run([&["audit", &server.url()], args].concat());
        output.code.unwrap_or_else(|| panic!("{output}"))
    };
    let codes = || [code(&[]), code(&["--fail-on", "warning"]), code(&["--fail-on", "error"])];
    server.command(&["HSET", "plain:1", "user", "1"]);
    assert_eq!(codes(), [0, 0, 0]);
    server.command(&["HSET", "plain:1", "colour", "red"]);
    assert_eq!(codes(), [1, 1, 0], "a field that is not declared is a warning");
    server.command(&["HSET", "plain:2", "user", "x"]);
    assert_eq!(codes(), [1, 1, 1], "a value of another type is an error");
    assert_eq!(code(&["--fail-on", "never"]), 2);
}
