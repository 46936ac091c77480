//! Audits that did not read everything: nothing is claimed that was not seen.

use keyward_testkit::{Cli, Flavor, Output, Server};
use serde_json::Value;

fn cli(schema: &str) -> Cli {
    let cli = crate::cli();
    cli.write("keyward.toml", format!("version = 1\n[keyspace]\nname = \"shop\"\n{schema}"));
    cli
}

fn audit(cli: &Cli, args: &[&str]) -> (Output, Value) {
    let shown = cli.run([&["audit", "--salt", "s"], args].concat());
    let json = cli.run([&["audit", "--salt", "s", "--format", "json"], args].concat());
    assert_eq!(shown.code, json.code, "{shown}\n{json}");
    let report = serde_json::from_str(&json.stdout).unwrap_or_else(|_| panic!("{json}"));
    (shown, report)
}

fn last(output: &Output) -> &str {
    output.stdout.lines().last().unwrap_or_default()
}

fn notes(report: &Value) -> String {
    let notes = report["source"]["notes"].as_array().unwrap().iter();
    notes.map(|note| note.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

fn findings(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|it| format!("{}: {}", it["rule"].as_str().unwrap(), it["message"])).collect()
}

const COUNTER: &str = "[keys.hits]\npattern = \"hits:{page:word}\"\ncounter = {}\nttl = \"none\"\n";

/// Redis 7.0 has no CLIENT NO-TOUCH: reading a value marks it as used.
fn evicting() -> Server {
    let server = Flavor::Redis.server().memory("100mb", "allkeys-lru").start();
    server.command(&["SET", "hits:home", "nonsense"]);
    server
}

#[test]
fn values_that_were_not_read_are_no_pass() {
    let server = evicting();
    let cli = cli(COUNTER);
    let (output, report) = audit(&cli, &[&server.url()]);
    assert_eq!(output.code, Some(3), "{output}");
    assert_eq!(report["source"]["complete"], false);
    assert_eq!(report["source"]["values_unread"]["keys"], 1);
    assert!(
        last(&output).ends_with(
            "no findings; this audit is incomplete: values of 1 key were not read \
         (--touch, --via snapshot or --no-values)"
        ),
        "{output}"
    );
    let notes = notes(&report);
    for way in ["--touch", "--via snapshot", "--no-values"] {
        assert!(notes.contains(way), "{notes}");
    }
    for ways in [&["--touch"][..], &["--via", "snapshot", "--force"]] {
        let (output, _) = audit(&cli, &[&[server.url().as_str()], ways].concat());
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stdout.contains("the value of `hits` is not"), "{output}");
    }
}

#[test]
fn values_that_were_left_out_on_purpose_are_said_to_be() {
    let server = evicting();
    let (output, report) = audit(&cli(COUNTER), &[&server.url(), "--no-values"]);
    assert_eq!((output.code, &report["source"]["complete"]), (Some(0), &Value::Bool(true)));
    assert!(last(&output).ends_with("no findings; values were not read (--no-values)"), "{output}");
    let refused = cli(COUNTER).run(["audit", &server.url(), "--no-values", "--via", "snapshot"]);
    assert_eq!(refused.code, Some(2), "{refused}");
}

#[test]
fn values_that_no_declaration_needs_may_stay_unread() {
    let server = evicting();
    let plain = "[keys.hits]\npattern = \"hits:{page:word}\"\ntype = \"string\"\nttl = \"none\"\n";
    let (output, report) = audit(&cli(plain), &[&server.url()]);
    assert_eq!((output.code, &report["source"]["complete"]), (Some(0), &Value::Bool(true)));
    for bound in ["max_bytes = \"1kb\"", "value = \"text\""] {
        let (output, _) = audit(&cli(&format!("{plain}{bound}\n")), &[&server.url()]);
        assert_eq!(output.code, Some(3), "{bound}: {output}");
    }
}

const SESSIONS: &str = r#"
[keys.session]
pattern = "session:{session_id:uint}"
type = "hash"
ttl = "none"
fields = { user = "uint", csrf = { type = "text", ttl = "1h", optional = true } }
[keys.sessions_of]
pattern = "user:{user_id:uint}:sessions"
type = "set"
member = { ref = "session.session_id" }
ttl = "none"
"#;

fn sessions(server: &Server) {
    for session in 0..40 {
        server.command(&["HSET", &format!("session:{session}"), "user", "1"]);
        server.command(&["SADD", &format!("user:{session}:sessions"), &session.to_string()]);
    }
    server.command(&["SADD", "user:0:sessions", "99"]);
}

#[test]
fn a_restricted_user_gets_true_notes_with_the_rules_that_help() {
    for flavor in Flavor::ALL {
        let rules = "on >secret ~* +scan +select +type +pttl +ping +info +dbsize";
        let server = flavor.server().user("audit", rules).start();
        sessions(&server);
        let url = format!("redis://audit:secret@{}", server.address());
        let (output, report) = audit(&cli(SESSIONS), &[&url]);
        assert_eq!(output.code, Some(3), "{output}");
        let notes = notes(&report);
        assert!(notes.contains("allow `+hlen +scard`"), "{notes}");
        assert!(notes.contains("`+memory|usage`"), "{notes}");
        assert!(notes.contains("not judged: `dangling-reference` of `sessions_of`"), "{notes}");
        assert!(!notes.contains("large") && !notes.contains("not all keys"), "{notes}");
        assert!(last(&output).contains("values of 80 keys were not read"), "{output}");
        let (output, _) = audit(&cli(SESSIONS), &[&url, "--no-values"]);
        assert_eq!(output.code, Some(0), "{output}");
    }
}

#[test]
fn a_denied_hpttl_names_its_rule_and_stops_no_other() {
    let server = Flavor::Valkey.server().user("audit", "on >secret ~* +@all -hpttl").start();
    sessions(&server);
    server.command(&["HSET", "session:1", "csrf", "x"]);
    let url = format!("redis://audit:secret@{}", server.address());
    let (output, report) = audit(&cli(SESSIONS), &[&url]);
    assert_eq!(output.code, Some(3), "{output}");
    assert!(notes(&report).contains("allow `+hpttl`"), "{output}");
    assert!(output.stdout.contains("warning[dangling-reference]"), "{output}");
    let (output, _) = audit(&cli(SESSIONS), &[&server.url()]);
    assert_eq!(output.code, Some(1), "{output}");
}

#[test]
fn rules_that_compare_keys_are_not_judged_where_keys_were_left_out() {
    let server = Flavor::Redis.start();
    sessions(&server);
    let cli = cli(SESSIONS);
    let dangling = |args: &[&str]| {
        let (_, report) = audit(&cli, &[&[server.url().as_str()], args].concat());
        let said = notes(&report).lines().find(|it| it.contains("not judged")).map(str::to_owned);
        (findings(&report).iter().any(|it| it.starts_with("dangling")), said)
    };
    assert_eq!(dangling(&[]), (true, None));
    assert_eq!(dangling(&["--db", "0"]), (true, None), "no other database has keys");
    let because =
        |why: &str| (false, Some(format!("not judged: `dangling-reference`, because {why}")));
    let narrowed = "only keys that match `user:*` were read";
    assert_eq!(dangling(&["--match", "user:*"]), because(narrowed));
    assert_eq!(dangling(&["--match", "user:*", "--via", "snapshot"]), because(narrowed));
    assert_eq!(dangling(&["--sample", "90%"]), because("only a sample of the keys was read"));
    let mut other = server.connect();
    other.command(&["SELECT", "1"]).unwrap();
    other.command(&["SET", "session:99", "x"]).unwrap();
    let one = "only database 0 of several was read";
    assert_eq!(dangling(&["--db", "0"]), because(one));
    assert_eq!(dangling(&["--db", "0", "--via", "snapshot"]), because(one));
}

#[test]
fn a_glob_that_matches_nothing_is_named() {
    let server = Flavor::Redis.start();
    sessions(&server);
    let output = cli(SESSIONS).run(["audit", &server.url(), "--match", "nothing:*"]);
    assert_eq!(output.code, Some(2), "{output}");
    let said = output.stderr.replace(&server.address(), "<server>");
    insta::assert_snapshot!(said, @r"
    error: no keys were audited: no key of `redis://<server>` matches `nothing:*`
    help: the glob must match the whole key, as in SCAN MATCH: `redis://<server>` has 80 keys
    ");
}

const JOBS: &str = r#"
[keys.jobs]
pattern = "jobs:{queue:word}"
type = "stream"
ttl = "none"
fields = { id = "uint" }
[keys.recent]
pattern = "recent:{user:word}"
type = "list"
ttl = "none"
value = "uint"
[keys.tags]
pattern = "tags:{user:word}"
type = "set"
ttl = "none"
member = "uint"
"#;

/// Adds entries to a stream, one of which in so many is wrong.
fn add_jobs(server: &Server, key: &str, count: usize, wrong: impl Fn(usize) -> bool) {
    let field = |number| if wrong(number) { "idd" } else { "id" };
    let ids: Vec<String> = (0..count).map(|number| format!("{}-0", number + 1)).collect();
    let commands: Vec<Vec<&str>> = ids
        .iter()
        .enumerate()
        .map(|(number, id)| vec!["XADD", key, id.as_str(), field(number), "1"])
        .collect();
    server.connect().pipeline(&commands).unwrap();
}

fn found<'r>(report: &'r Value, rule: &str, definition: &str) -> &'r Value {
    let mut all = report["findings"].as_array().unwrap().iter();
    let is_it = |it: &&Value| it["rule"] == rule && it["definition"] == definition;
    all.find(is_it).unwrap_or_else(|| panic!("{report:#}"))
}

#[test]
fn elements_are_counted_and_not_the_keys_that_have_them() {
    let server = Flavor::Redis.start();
    for queue in ["a", "b", "c"] {
        add_jobs(&server, &format!("jobs:{queue}"), 500, |number| number < 20);
    }
    server.command(&["RPUSH", "recent:ann", "1", "x", "y", "2"]);
    server.command(&["RPUSH", "recent:bob", "1"]);
    server.command(&["SADD", "tags:ann", "1", "x", "y", "2", "3"]);
    let cli = cli(JOBS);
    let (_, report) = audit(&cli, &[&server.url()]);
    for rule in ["unknown-field", "missing-field"] {
        let it = found(&report, rule, "jobs");
        assert_eq!(
            (&it["count"], &it["of"], &it["unit"]),
            (&60.into(), &1500.into(), &"entries".into())
        );
        assert_eq!(it["in_keys"]["count"], 3, "{it}");
        assert!(
            it["message"]
                .as_str()
                .unwrap()
                .ends_with("60 of 1,500 entries (4.0 %), in 3 of 3 keys")
        );
    }
    let items = &found(&report, "invalid-value", "recent")["message"];
    assert!(items.as_str().unwrap().ends_with("2 of 5 items (40.0 %), in 1 of 2 keys"), "{items}");
    let members = &found(&report, "invalid-value", "tags")["message"];
    assert!(
        members.as_str().unwrap().ends_with("2 of 5 members (40.0 %), in 1 of 1 keys"),
        "{members}"
    );
    // A baseline notices more of them in the same streams.
    cli.write("baseline.json", report.to_string());
    let same = cli.run(["audit", &server.url(), "--salt", "s", "--baseline", "baseline.json"]);
    assert_eq!(same.code, Some(0), "{same}");
    for queue in ["a", "b", "c"] {
        server.command(&["DEL", &format!("jobs:{queue}")]);
        add_jobs(&server, &format!("jobs:{queue}"), 500, |number| number < 320);
    }
    let worse = cli.run(["audit", &server.url(), "--salt", "s", "--baseline", "baseline.json"]);
    assert_eq!(worse.code, Some(1), "{worse}");
}

#[test]
fn a_large_value_is_read_in_part_and_the_report_says_so() {
    for flavor in Flavor::ALL {
        let server = flavor.start();
        let middle = |number: usize| (1_200..2_400).contains(&number);
        add_jobs(&server, "jobs:large", 3_600, middle);
        add_jobs(&server, "jobs:small", 10, |_| false);
        let items: Vec<String> = (0..3_600)
            .map(|number| if middle(number) { "x".to_owned() } else { number.to_string() })
            .collect();
        let push =
            [vec!["RPUSH", "recent:ann"], items.iter().map(String::as_str).collect()].concat();
        server.command(&push);
        let (output, report) = audit(&cli(JOBS), &[&server.url()]);
        assert_eq!(output.code, Some(1), "{output}");
        for (rule, definition) in [("missing-field", "jobs"), ("invalid-value", "recent")] {
            let it = found(&report, rule, definition);
            assert_eq!(it["sampled"], true, "{it}");
            assert!(it["of"].as_u64().unwrap() < 3_600, "{it}");
        }
        let notes = notes(&report);
        assert!(
            notes.contains(
                "1 value of `jobs` is large, and at most 2,000 elements of each were read"
            ),
            "{notes}"
        );
        assert!(last(&output).contains("; 2 large values were read in part"), "{output}");
        let (_, whole) = audit(&cli(JOBS), &[&server.url(), "--via", "snapshot", "--force"]);
        assert_eq!(found(&whole, "missing-field", "jobs")["count"], 1_200);
        assert_eq!(found(&whole, "invalid-value", "recent")["of"], 3_600);
    }
}

#[test]
fn two_reports_of_one_server_are_not_merged() {
    let server = Flavor::Redis.start();
    sessions(&server);
    let mut other = server.connect();
    other.command(&["SELECT", "1"]).unwrap();
    other.command(&["SET", "stray", "x"]).unwrap();
    let cli = cli(SESSIONS);
    for (file, args) in [
        ("one.json", &[][..]),
        ("two.json", &[]),
        ("first.json", &["--db", "0"]),
        ("second.json", &["--db", "1"]),
    ] {
        let (_, report) = audit(&cli, &[&[server.url().as_str()], args].concat());
        cli.write(file, report.to_string());
    }
    let twice = cli.run(["report", "merge", "one.json", "two.json"]);
    assert_eq!(twice.code, Some(2), "{twice}");
    let said = twice.stderr.replace(&server.address(), "<server>");
    insta::assert_snapshot!(said, @r"
    error: the reports cannot be merged: two reports are of the same server, `<server>`: its keys would be counted twice
    help: merge one report of each server; `report diff` compares two
    ");
    let parts = cli.run(["report", "merge", "first.json", "second.json"]);
    assert_eq!(parts.code, Some(0), "{parts}");
}

const TENANTS: &str = r#"
prefix = "{tenant:word}:shop:"
[keys.session]
pattern = "session:{session_id:uint}"
type = "string"
ttl = "none"
owner = "accounts"
[keys.cache]
pattern = "cache:{page:uint}"
type = "string"
lifecycle = "cache"
ttl = "1h"
"#;

fn tenants(server: &Server) {
    for tenant in ["acme", "globex"] {
        for number in 0..5 {
            server.command(&["SET", &format!("{tenant}:shop:session:{number}"), "x"]);
        }
    }
}

#[test]
fn a_value_of_the_prefix_narrows_the_audit() {
    let server = Flavor::Redis.start();
    tenants(&server);
    server.command(&["SET", "acme:shop:sesion:1", "x"]);
    server.command(&["SET", "globex:shop:sesion:1", "x"]);
    let cli = cli(TENANTS);
    let (_, report) = audit(&cli, &[&server.url(), "--bind", "tenant=acme"]);
    assert_eq!(report["summary"]["keys"], 6, "{report:#}");
    assert_eq!(findings(&report).len(), 1, "{report:#}");
    assert!(notes(&report).contains("only keys with `tenant=acme` were audited"), "{report:#}");
    let nobody = cli.run(["audit", &server.url(), "--bind", "tenant=nobody"]);
    assert_eq!(nobody.code, Some(2), "{nobody}");
    assert!(nobody.stderr.contains("has `tenant=nobody`"), "{nobody}");
}

#[test]
fn findings_about_keys_that_must_not_be_lost_come_first() {
    let server = Flavor::Redis.start();
    tenants(&server);
    server.command(&["EXPIRE", "acme:shop:session:1", "100"]);
    let mut other = server.connect();
    other.command(&["SELECT", "3"]).unwrap();
    for number in 0..5 {
        other.command(&["SET", &format!("acme:shop:cache:{number}"), "x"]).unwrap();
    }
    let (output, report) = audit(&cli(TENANTS), &[&server.url()]);
    let order: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["rule"].as_str().unwrap())
        .collect();
    assert_eq!(order, ["ttl-unexpected", "ttl-missing"], "{output}");
    assert!(output.stdout.contains("written by `accounts`"), "{output}");
    assert!(notes(&report).contains("keys of the databases 0, 3 were read"), "{output}");
}
