use crate::{SHOP, cli, shop};
use insta::assert_snapshot;
use keyward_rdb::Version;
use keyward_rdb::writer::{Attributes, Content, Writer};
use keyward_testkit::Cli;
use serde_json::Value;

/// When the snapshots of these tests were taken: 2026-11-15T00:00:00Z.
const TAKEN: u64 = 1_794_700_800;
const MINUTE: u64 = 60;
pub(crate) const DAY: u64 = 86_400;

/// A snapshot of a shop in which some things are wrong.
pub(crate) struct Dump(Writer<Vec<u8>>);

impl Dump {
    fn new() -> Self {
        let mut writer = Writer::new(Vec::new(), Version::redis(10)).unwrap();
        writer.aux(b"redis-ver", b"7.0.15").unwrap();
        writer.aux(b"ctime", TAKEN.to_string().as_bytes()).unwrap();
        writer.select(0).unwrap();
        Dump(writer)
    }

    fn key(mut self, name: &str, ttl: Option<u64>, content: &Content<'_>) -> Self {
        let expires_at = ttl.map(|seconds| (TAKEN + seconds) * 1000);
        let attributes = Attributes { expires_at, ..Attributes::default() };
        self.0.key(name.as_bytes(), &attributes, content).unwrap();
        self
    }

    pub(crate) fn text(self, name: &str, ttl: Option<u64>, text: &str) -> Self {
        self.key(name, ttl, &Content::String(text.as_bytes()))
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0.finish().unwrap()
    }
}

pub(crate) fn sound() -> Dump {
    let mut dump = Dump::new();
    for user in 1..=20 {
        let cart = Content::Hash(&[(b"mug", b"2")]);
        dump = dump.key(&format!("shop:cart:{user}"), Some(3 * DAY), &cart);
    }
    for sku in ["mug", "tea", "pot"] {
        dump = dump.text(&format!("shop:price:{sku}"), Some(5 * MINUTE), "1290");
    }
    dump.text("shop:login:10.0.0.1:limit", Some(30), "3")
}

/// Prices without a TTL, a cart that is a string, a search that lives too long, a raw IPv6 address, a
/// misspelt name, a session that nobody declared, and a key that has expired.
pub(crate) fn leaky() -> Dump {
    let mut dump = sound()
        .text("shop:price:lid", None, "350")
        .text("shop:price:cup", None, "cheap")
        .text("shop:cart:21", Some(DAY), "{}")
        .text("shop:search:tea", Some(2 * DAY), "[]")
        .text("shop:login:2001:db8::1:limit", Some(30), "3")
        .text("shop:pirce:mug", Some(MINUTE), "1290")
        .text("shop:cart:22", Some(0), "");
    for session in 0..5u64 {
        let id = session.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        dump = dump.text(&format!("sess:{id:016x}"), None, "x");
    }
    dump
}

pub(crate) fn beside(schema: &str, dump: Dump) -> Cli {
    let cli = shop(schema);
    cli.write("dump.rdb", dump.finish());
    cli
}

/// The arguments of an audit that is the same every time.
pub(crate) fn audit<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["audit", "dump.rdb", "--salt", "test"], more].concat()
}

fn run(cli: &Cli, args: &[&str]) -> keyward_testkit::Output {
    cli.command(args).env("KEYWARD_TODAY", "2026-11-15").run()
}

fn json(cli: &Cli, more: &[&str]) -> Value {
    let path = "report.json";
    run(cli, &audit(&[&["--format", "json", "--out", path, "-q"], more].concat()));
    serde_json::from_str(&cli.read(path)).unwrap()
}

#[test]
fn what_is_wrong_is_told_with_what_to_do() {
    assert_snapshot!(run(&beside(SHOP, leaky()), &audit(&[])));
}

#[test]
fn a_sound_keyspace_is_told_so() {
    assert_snapshot!(run(&beside(SHOP, sound()), &audit(&[])));
}

#[test]
fn without_a_schema_keys_are_grouped_by_what_they_look_like() {
    let cli = cli();
    cli.write("dump.rdb", leaky().finish());
    assert_snapshot!(run(&cli, &audit(&[])));
}

#[test]
fn concise_is_one_line_a_finding() {
    assert_snapshot!(run(&beside(SHOP, leaky()), &audit(&["--format", "concise"])));
}

#[test]
fn the_document_has_what_is_promised() {
    let mut document = json(&beside(SHOP, leaky()), &[]);
    // Sketches and samples are long, and tested where they are made.
    document["counts"] = Value::Null;
    document["definitions"].as_array_mut().unwrap().truncate(2);
    document["findings"].as_array_mut().unwrap().truncate(2);
    document["unknown"].as_array_mut().unwrap().truncate(1);
    assert_snapshot!(format!("{document:#}"));
}

#[test]
fn every_key_is_listed_as_json_or_csv() {
    let cli = beside(SHOP, leaky());
    assert_snapshot!("jsonl", run(&cli, &audit(&["--format", "jsonl"])));
    assert_snapshot!("csv", run(&cli, &audit(&["--format", "csv", "--show-keys"])));
}

#[test]
fn keys_are_masked_unless_they_may_be_shown() {
    let cli = beside(SHOP, leaky());
    let masked = json(&cli, &[]).to_string();
    let shown = json(&cli, &["--show-keys"]).to_string();
    for secret in ["2001:db8::1", "shop:price:lid", "shop:cart:21", "10.0.0.1"] {
        assert!(!masked.contains(secret), "{secret} is in the report");
        assert!(shown.contains(secret), "{secret} is not in the report");
    }
}

#[test]
fn only_what_got_worse_fails_against_a_baseline() {
    let cli = beside(SHOP, leaky());
    json(&cli, &[]);
    assert_snapshot!(
        "same",
        run(&cli, &audit(&["--baseline", "report.json", "--format", "concise"]))
    );
    let mut worse = leaky();
    for number in 0..10 {
        worse = worse.text(&format!("shop:price:no-{number}"), None, "1");
    }
    let known = run(&cli, &audit(&["--baseline", "report.json", "--format", "github"]));
    assert_eq!(known.stdout.lines().count(), known.stdout.matches("::notice ").count(), "{known}");
    cli.write("dump.rdb", worse.finish());
    let github = run(&cli, &audit(&["--baseline", "report.json", "--format", "github"]));
    let errors = github.stdout.lines().filter(|line| line.starts_with("::error ")).count();
    assert_eq!(errors, 1, "{github}");
    assert_snapshot!("worse", run(&cli, &audit(&["--baseline", "report.json"])));
}

#[test]
fn reports_of_shards_are_merged_shown_and_compared() {
    let cli = shop(SHOP);
    for (name, dump) in [("a", sound()), ("b", leaky())] {
        cli.write(format!("{name}.rdb"), dump.finish());
        let (source, out) = (format!("{name}.rdb"), format!("{name}.json"));
        run(&cli, &["audit", &source, "--salt", "x", "--format", "json", "--out", &out]);
    }
    assert_snapshot!(
        "merge",
        run(&cli, &["report", "merge", "a.json", "b.json", "--out", "all.json"])
    );
    assert_snapshot!("show", run(&cli, &["report", "show", "all.json"]));
    assert_eq!(
        run(&cli, &["report", "show", "b.json", "a.json"]).stdout,
        run(&cli, &["report", "show", "all.json"]).stdout
    );
    assert_snapshot!("diff", run(&cli, &["report", "diff", "a.json", "b.json"]));
    assert_snapshot!("better", run(&cli, &["report", "diff", "b.json", "a.json"]));
}

#[test]
fn a_selection_leaves_everything_else_out() {
    let document = json(&beside(SHOP, leaky()), &["--owner", "catalogue"]);
    let names: Vec<&str> = document["definitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|definition| definition["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["price", "search"]);
    assert_eq!(document["summary"]["keys"], 6);
    assert_eq!(document["summary"]["unknown"]["keys"], 0);
}

#[test]
fn a_bound_prefix_leaves_other_tenants_out() {
    let schema = SHOP.replace("prefix = \"shop:\"", "prefix = \"{tenant:slug}:\"");
    let cli = beside(&schema, sound().text("cafe:price:tea", Some(60), "1"));
    let keys = |args: &[&str]| {
        let summary = &json(&cli, args)["summary"];
        (summary["keys"].as_u64().unwrap(), summary["unknown"]["keys"].as_u64().unwrap())
    };
    let (all, unknown) = keys(&[]);
    assert_eq!(unknown, 0);
    assert_eq!(keys(&["--bind", "tenant=shop"]), (all - 1, 0));
}

#[test]
fn ttls_are_counted_from_when_the_snapshot_was_taken() {
    let cli = beside(SHOP, sound());
    assert_eq!(json(&cli, &[])["summary"]["expired"], 0);
    let later = ["--now", "2026-11-16T00:00:00Z"];
    assert_eq!(json(&cli, &later)["summary"]["expired"], 4);
    assert_snapshot!(run(&cli, &audit(&["--now", "tomorrow"])));
}

#[test]
fn several_schemas_are_reported_each() {
    let cli = beside(SHOP, leaky());
    cli.write(
        "sessions.toml",
        "version = 1\n[keyspace]\nname = \"sessions\"\n[keys.session]\npattern = \"sess:{id:hex(16)}\"\nttl = \"none\"\nvalue = \"text\"\n",
    );
    let schemas = ["--schema", "keyward.toml", "--schema", "sessions.toml"];
    let document = json(&cli, &schemas);
    assert_eq!(document["schemas"].as_array().unwrap().len(), 2);
    let session = document["definitions"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&session["schema"], &session["keys"]), (&"sessions".into(), &5.into()));
}

#[test]
fn a_key_without_the_prefix_is_counted_to_its_own_schema() {
    let cli = shop(concat!(
        "version = 1\n[keyspace]\nname = \"shop\"\nprefix = \"{tenant:slug}:shop:\"\n",
        "[keys.cart]\npattern = \"cart:{id:uint}\"\nvalue = \"text\"\nttl = \"none\"\n"
    ));
    cli.write(
        "global.toml",
        "version = 1\n[keyspace]\nname = \"global\"\n[keys.maintenance]\npattern = \"maintenance\"\nflag = {}\nttl = \"none\"\n",
    );
    let dump = Dump::new().text("acme:shop:cart:42", None, "x").text("maintenance", None, "true");
    cli.write("dump.rdb", dump.finish());
    let document = json(&cli, &["--schema", "keyward.toml", "--schema", "global.toml"]);
    let definitions = document["definitions"].as_array().unwrap().iter();
    let counted =
        definitions.map(|it| (it["schema"].as_str(), it["name"].as_str(), it["keys"].as_u64()));
    assert_eq!(
        counted.collect::<Vec<_>>(),
        [(Some("shop"), Some("cart"), Some(1)), (Some("global"), Some("maintenance"), Some(1))]
    );
    assert_eq!(document["summary"]["unknown"]["keys"], 0);
    assert_eq!(document["findings"], serde_json::json!([]));
}

#[test]
fn keys_of_another_database_are_not_of_the_schema() {
    let schema = |db: u64| {
        format!(
            "version = 1\n[keyspace]\nname = \"shop\"\ndb = {db}\n[keys.cart]\npattern = \"cart:{{id:uint}}\"\nvalue = \"text\"\nttl = \"none\"\n"
        )
    };
    let dump = || Dump::new().text("cart:42", None, "x");
    let keys = |db| json(&beside(&schema(db), dump()), &[])["summary"]["unknown"]["keys"].clone();
    assert_eq!((keys(0), keys(3)), (0.into(), 1.into()));
}

#[test]
fn an_audit_reads_standard_input() {
    let cli = shop(SHOP);
    let args = ["audit", "-", "--salt", "test", "--format", "concise"];
    assert_snapshot!(cli.command(args).stdin(leaky().finish()).run());
}

#[test]
fn a_source_that_is_no_snapshot_is_refused() {
    let cli = beside(SHOP, sound());
    cli.write("paper.rdb", "%PDF-1.7\n%\u{e2}\u{e3}\n1 0 obj\n");
    cli.write("empty.rdb", "");
    cli.write("wrong.json", "{\"version\": 7}");
    cli.write("none.rdb", Dump::new().finish());
    for (name, args) in [
        ("paper", vec!["audit", "paper.rdb"]),
        ("empty", vec!["audit", "empty.rdb"]),
        ("missing", vec!["audit", "nowhere.rdb"]),
        ("folder", vec!["audit", "."]),
        ("no_scheme", vec!["audit", "127.0.0.1:27001"]),
        ("url", vec!["audit", "redis://secret@127.0.0.1:1"]),
        ("no_keys", vec!["audit", "none.rdb"]),
        ("no_report", vec!["audit", "dump.rdb", "--baseline", "keyward.toml"]),
        ("another_version", vec!["report", "show", "wrong.json"]),
    ] {
        assert_snapshot!(format!("refused_{name}"), run(&cli, &args));
    }
}

#[test]
fn a_snapshot_that_is_cut_off_or_changed_is_never_reported() {
    let cli = shop(SHOP);
    let whole = leaky().finish();
    for length in [1, 8, 9, 40, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
        cli.write("dump.rdb", &whole[..length]);
        let output = run(&cli, &audit(&["--format", "json"]));
        assert_eq!((output.code, output.stdout.as_str()), (Some(3), ""), "{length} bytes");
    }
    // A second one behind it would not be read; standard input is no different.
    let two = [&whole[..], &whole[..]].concat();
    cli.write("dump.rdb", &two);
    let output = run(&cli, &audit(&["--format", "json"]));
    assert_eq!((output.code, output.stdout.as_str()), (Some(3), ""), "{output}");
    assert!(output.stderr.contains("something follows the end of the snapshot"), "{output}");
    let piped = cli.command(["audit", "-", "--format", "json"]).stdin(two).run();
    assert_eq!((piped.code, piped.stdout.as_str()), (Some(3), ""), "{piped}");
    let mut changed = whole.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 0x10;
    cli.write("dump.rdb", changed);
    let output = run(&cli, &audit(&["--format", "json"]));
    assert_eq!((output.code, output.stdout.as_str()), (Some(3), ""));
}

#[test]
fn reports_that_do_not_fit_together_are_refused_or_warned_of() {
    let cli = beside(SHOP, leaky());
    let report = json(&cli, &[]);
    let forge = |name: &str, path: &str, value: Value| {
        let mut forged = report.clone();
        *forged.pointer_mut(path).unwrap() = value;
        cli.write(name, forged.to_string());
    };
    forge("huge.json", "/counts/numbers/judged", u64::MAX.into());
    forge("many.json", "/definitions/0/keys", u64::MAX.into());
    let of_source = |name: &str, member: &str, value: Value| {
        let mut forged = report.clone();
        forged["source"][member] = value.clone();
        forged["counts"]["numbers"]["sources"][0][member] = value;
        cli.write(name, forged.to_string());
    };
    of_source("usage.json", "bytes", "memory-usage".into());
    of_source("unknown.json", "bytes", "unknown".into());
    let mut unknown: Value = serde_json::from_str(&cli.read("unknown.json")).unwrap();
    unknown["summary"]["bytes"].take();
    for part in ["definitions", "unknown"] {
        for it in unknown[part].as_array_mut().unwrap() {
            it["bytes"].take();
        }
    }
    cli.write("unknown.json", unknown.to_string());
    of_source("partial.json", "complete", false.into());
    of_source("sample.json", "sample", serde_json::json!({ "percent": 10.0, "error": 4.5 }));
    for (name, args) in [
        ("huge", vec!["merge", "report.json", "huge.json"]),
        ("many", vec!["show", "many.json"]),
        ("sampled", vec!["merge", "report.json", "sample.json"]),
        ("usage", vec!["merge", "report.json", "usage.json"]),
        ("unknown", vec!["merge", "unknown.json", "report.json"]),
        ("partial", vec!["merge", "report.json", "partial.json", "--out", "all.json"]),
        ("diff_partial", vec!["diff", "report.json", "partial.json"]),
        ("diff_sampled", vec!["diff", "sample.json", "report.json"]),
        ("diff_usage", vec!["diff", "report.json", "usage.json"]),
        ("diff_unknown", vec!["diff", "unknown.json", "report.json"]),
    ] {
        let output = run(&cli, &[&["report"], &args[..]].concat());
        assert_snapshot!(format!("apart_{name}"), output);
    }
    let merged: Value = serde_json::from_str(&cli.read("all.json")).unwrap();
    assert_eq!(merged["source"]["complete"], false);
}

#[test]
fn with_a_baseline_logs_and_annotations_name_only_what_got_worse() {
    let cli = beside(SHOP, leaky());
    json(&cli, &[]);
    let compared =
        |format: &str| run(&cli, &audit(&["--format", format, "--baseline", "report.json", "-q"]));
    for format in ["concise", "github"] {
        let output = compared(format);
        assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""), "{output}");
    }
    let states = |output: &keyward_testkit::Output| -> Vec<String> {
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        let results = document["runs"][0]["results"].as_array().unwrap().clone();
        results.iter().map(|it| it["baselineState"].as_str().unwrap().to_owned()).collect()
    };
    let same = states(&compared("sarif"));
    assert!(!same.is_empty() && same.iter().all(|state| state == "unchanged"), "{same:?}");
    cli.write("dump.rdb", sound().finish());
    json(&cli, &[]);
    cli.write("dump.rdb", leaky().finish());
    let new = states(&compared("sarif"));
    assert!(new.iter().all(|state| state == "new"), "{new:?}");
    let lines = compared("concise");
    assert_eq!((lines.code, lines.stdout.lines().count()), (Some(1), new.len()), "{lines}");
}

#[test]
fn a_list_of_keys_as_they_are_loses_nothing_and_is_no_formula() {
    let dump = Dump::new()
        .text("=HYPERLINK(1)", None, "x")
        .text(r"\x01", None, "x")
        .text("\u{1}", None, "x")
        .text("a\u{202e}b,\"c\"", None, "x")
        .text(&"long".repeat(100), None, "x");
    let cli = beside(SHOP, dump);
    let listed = run(&cli, &audit(&["--format", "csv", "--show-keys", "-q"])).stdout;
    let mut reader = csv::Reader::from_reader(listed.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let cells: Vec<(&str, &str)> = rows.iter().map(|row| (&row[1], &row[12])).collect();
    assert_eq!(cells[0].0, "'=HYPERLINK(1)");
    assert_eq!(cells[1], (r"\\x01", "5c783031"));
    assert_eq!(cells[2], (r"\u{1}", "01"));
    assert_eq!(cells[3].0, r#"a\u{202e}b,"c""#);
    assert_eq!(cells[4].0.len(), 400);
    let objects = run(&cli, &audit(&["--format", "jsonl", "--show-keys", "-q"])).stdout;
    let first: Value = serde_json::from_str(objects.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["key"], &first["key_hex"]),
        (&"=HYPERLINK(1)".into(), &"3d48595045524c494e4b283129".into())
    );
}
