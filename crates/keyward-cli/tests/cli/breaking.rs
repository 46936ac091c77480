//! What a change breaks, against files and revisions, in every format.

use crate::{SHOP, cli, shop};
use insta::assert_snapshot;
use keyward_testkit::{Cli, Output};
use serde_json::Value;
use std::fmt::Write as _;
use std::process::Command;

/// The shop after a change that breaks something in each tier.
fn changed() -> String {
    SHOP.replace("sku = \"slug\"", "sku = \"uint\"")
        .replace("[keys.search]", "[keys.found]")
        .replace("ttl = \"10m\"", "ttl = \"1h\"")
        .replace("cart:{user_id}", "basket:{user_id}")
}

/// The shop as it is now beside what it was.
fn beside() -> Cli {
    let cli = shop(&changed());
    cli.write("old.toml", SHOP);
    cli
}

/// A repository with the shop in its branch `main`, and nothing else.
fn repository(path: &str) -> Cli {
    let cli = cli();
    cli.write(path, SHOP);
    git(&cli, &["init", "--quiet", "--initial-branch", "main"]);
    commit(&cli);
    cli
}

/// What is printed on a certain day, on which a day for an `[[accept]]` is proposed.
fn on_a_day(cli: &Cli, args: &[&str]) -> Output {
    cli.command(args).env("KEYWARD_TODAY", "2026-11-15").run()
}

fn commit(cli: &Cli) {
    git(cli, &["add", "--all"]);
    let who =
        ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false"];
    git(cli, &[&who[..], &["commit", "--quiet", "--message", "A change"]].concat());
}

fn git(cli: &Cli, args: &[&str]) {
    let status = Command::new("git")
        .args(args)
        .current_dir(cli.folder())
        .env("HOME", cli.folder())
        .env_remove("GIT_DIR")
        .status()
        .expect("git runs");
    assert!(status.success(), "git {args:?}");
}

#[test]
fn each_change_is_shown_in_both_versions() {
    assert_snapshot!(on_a_day(&beside(), &["breaking", "--against", "old.toml"]));
}

#[test]
fn a_tier_is_chosen() {
    let cli = beside();
    for tier in ["data", "code", "ops"] {
        assert_snapshot!(cli.run([
            "breaking",
            "--against",
            "old.toml",
            "--tier",
            tier,
            "--format",
            "concise"
        ]));
    }
    let both =
        cli.run(["breaking", "--against", "old.toml", "--tier", "data,code", "--format", "jsonl"]);
    assert!(
        !both.stdout.contains("\"tier\":\"ops\"") && both.stdout.contains("\"tier\":\"code\""),
        "{both}"
    );
}

#[test]
fn nothing_breaks_where_nothing_changes() {
    let cli = shop(SHOP);
    cli.write("old.toml", SHOP);
    assert_snapshot!(cli.run(["breaking", "--against", "old.toml"]));
}

#[test]
fn every_format_says_the_same() {
    let cli = beside();
    let run = |format: &str| cli.run(["breaking", "--against", "old.toml", "--format", format]);
    assert_snapshot!(run("json"));
    assert_snapshot!(run("github"));
    let json: Value = serde_json::from_str(&run("json").stdout).unwrap();
    let findings = json["findings"].as_array().unwrap();
    assert_eq!(run("jsonl").stdout.lines().count(), findings.len());
    assert_eq!(run("concise").stdout.lines().count(), findings.len());
    let sarif: Value = serde_json::from_str(&run("sarif").stdout).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), findings.len());
    for (result, finding) in results.iter().zip(findings) {
        assert_eq!(result["properties"]["tier"], finding["tier"]);
        assert_eq!(result["properties"]["subject"], finding["subject"]);
    }
    for format in ["full", "concise", "json", "jsonl", "github", "sarif"] {
        assert_eq!(run(format).code, Some(1), "{format}");
    }
}

#[test]
fn warnings_may_pass() {
    let cli = shop(&SHOP.replace("ttl = \"10m\"", "ttl = \"1h\""));
    cli.write("old.toml", SHOP);
    assert_eq!(cli.run(["breaking", "--against", "old.toml"]).code, Some(1));
    assert_eq!(cli.run(["breaking", "--against", "old.toml", "--fail-on", "error"]).code, Some(0));
}

#[test]
fn an_earlier_revision_is_read_from_git() {
    let cli = repository("keyward.toml");
    assert_eq!(cli.run(["breaking", "--against", "main"]).code, Some(0));
    cli.write("keyward.toml", changed());
    assert_snapshot!(on_a_day(&cli, &["breaking", "--against", "main", "--tier", "data"]));
    commit(&cli);
    assert_eq!(cli.run(["breaking", "--against", "HEAD"]).code, Some(0));
    let before = cli.run(["breaking", "--against", "HEAD~1", "--format", "concise"]);
    assert_eq!(before.code, Some(1), "{before}");
    git(&cli, &["tag", "v2"]);
    assert_eq!(cli.run(["breaking", "--against", "v2"]).code, Some(0));
}

#[test]
fn an_earlier_revision_is_read_from_a_folder_inside() {
    let cli = repository("services/shop/keyward.toml");
    cli.write("services/shop/keyward.toml", changed());
    let here = cli
        .command(["breaking", "--against", "main", "--format", "concise", "-q"])
        .at("services/shop")
        .run();
    let above = cli.run([
        "breaking",
        "services/shop/keyward.toml",
        "--against",
        "main",
        "--format",
        "concise",
        "-q",
    ]);
    assert_eq!(here.code, Some(1), "{here}");
    assert_eq!(above.stdout.replace("services/shop/", ""), here.stdout);
}

#[test]
fn what_an_earlier_revision_includes_is_of_that_revision() {
    let cli = cli();
    cli.write(
        "keyward.toml",
        "version = 1\ninclude = [\"keys/cart.toml\"]\n[keyspace]\nname = \"shop\"\n",
    );
    cli.write("keys/cart.toml", "[keys.cart]\npattern = \"cart:{id:uint}\"\nttl = \"1h\"\n");
    git(&cli, &["init", "--quiet", "--initial-branch", "main"]);
    commit(&cli);
    cli.write("keys/cart.toml", "[keys.cart]\npattern = \"basket:{id:uint}\"\nttl = \"1h\"\n");
    let output = on_a_day(&cli, &["breaking", "--against", "main", "--tier", "data"]);
    assert_snapshot!(output);
}

#[test]
fn a_file_that_has_moved_is_named_by_its_old_path() {
    let cli = repository("old/keyward.toml");
    git(&cli, &["mv", "old/keyward.toml", "keyward.toml"]);
    assert_snapshot!(cli.run(["breaking", "--against", "main"]));
    let named = cli.run(["breaking", "--against", "main:old/keyward.toml"]);
    assert_eq!(named.code, Some(0), "{named}");
}

#[test]
fn a_schema_that_is_new_breaks_nothing() {
    let cli = repository("keyward.toml");
    cli.write("other/keyward.toml", SHOP.replace("\"shop", "\"other"));
    let output = cli.run(["breaking", "other/keyward.toml", "--against", "main"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("is new since `main`: it breaks nothing"), "{output}");
    // A new one that cannot be read is told all the same.
    cli.write("other/keyward.toml", "version = ");
    let output = cli.run(["breaking", "other/keyward.toml", "--against", "main"]);
    assert_eq!(output.code, Some(2), "{output}");
}

#[test]
fn what_is_no_version_is_refused() {
    let cli = repository("keyward.toml");
    cli.write("folder/a", "");
    for against in ["no-such-branch", "missing.toml", "folder", "--output=x", "main:no.toml", ""] {
        assert_snapshot!(cli.run(["breaking".to_owned(), format!("--against={against}")]));
    }
    assert!(!cli.folder().join("x").exists());
    let json = cli.run(["breaking", "--against", "no-such-branch", "--format", "json"]);
    assert_eq!(json.code, Some(2));
    assert!(json.stdout.contains("neither a file nor a revision"), "{json}");
}

#[test]
fn without_a_repository_there_are_only_files() {
    let cli = shop(SHOP);
    // A repository above the temporary folder would be found.
    let output =
        cli.command(["breaking", "--against", "main"]).env("GIT_CEILING_DIRECTORIES", "/").run();
    let output = if output.stderr.contains("not in a git repository") {
        output
    } else {
        let ceiling = cli.folder().parent().expect("a folder").to_owned();
        cli.command(["breaking", "--against", "main"]).env("GIT_CEILING_DIRECTORIES", ceiling).run()
    };
    assert_snapshot!(output);
}

#[test]
fn without_git_there_are_only_files() {
    let cli = shop(SHOP);
    let output = cli.command(["breaking", "--against", "main"]).env("PATH", "/nowhere").run();
    assert_snapshot!(output);
}

#[test]
fn versions_that_do_not_parse_are_told_apart() {
    let cli = repository("keyward.toml");
    cli.write(
        "keyward.toml",
        SHOP.replace("pattern = \"price:{sku}\"", "patern = \"price:{sku}\""),
    );
    assert_snapshot!(cli.run(["breaking", "--against", "main"]));
    commit(&cli);
    cli.write("keyward.toml", SHOP);
    assert_snapshot!(cli.run(["breaking", "--against", "main"]));
    cli.write("keyward.toml", "not toml");
    let both = cli.run(["breaking", "--against", "main", "--format", "concise"]);
    assert_eq!(both.code, Some(2), "{both}");
    assert!(
        both.stdout.contains("main:keyward.toml:")
            && both.stdout.contains("\nkeyward.toml:") | both.stdout.starts_with("keyward.toml:"),
        "{both}"
    );
}

#[test]
fn an_earlier_version_may_be_no_text_or_too_much() {
    let cli = shop(SHOP);
    cli.write("binary.toml", b"\xff\xfe\x00");
    cli.write("empty.toml", "");
    for file in ["binary.toml", "empty.toml"] {
        let output = cli.run(["breaking", "--against", file]);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(!output.stderr.contains("panicked"), "{output}");
    }
    let mut large = String::from(SHOP);
    while large.len() < 17 * 1024 * 1024 {
        large.push_str(
            "# a comment that says nothing at all, again and again and again and again\n",
        );
    }
    cli.write("large.toml", large);
    assert_eq!(cli.run(["breaking", "--against", "large.toml"]).code, Some(2));
}

#[test]
fn accepted_and_unstable_changes_are_counted() {
    let accepted = format!(
        "{}\n[[accept]]\nrule = \"pattern-changed\"\nsubject = \"cart\"\nreason = \"carts live for a week\"\nexpires = 2099-01-01\n",
        SHOP.replace("cart:{user_id}", "basket:{user_id}")
    );
    let cli = shop(&accepted);
    cli.write("old.toml", SHOP);
    let output = cli.run(["breaking", "--against", "old.toml", "--tier", "data"]);
    assert_snapshot!(output);
    let unstable =
        |text: &str| format!("{text}\n[groups.buying]\nunstable = true\n[groups.finding]\n");
    cli.write("keyward.toml", unstable(&SHOP.replace("cart:{user_id}", "basket:{user_id}")));
    cli.write("old.toml", unstable(SHOP));
    assert_snapshot!(cli.run(["breaking", "--against", "old.toml"]));
}

#[test]
fn an_accept_must_name_a_rule_on_changes() {
    let accept = |rule: &str| {
        format!(
            "{SHOP}\n[[accept]]\nrule = \"{rule}\"\nsubject = \"cart\"\nreason = \"a\"\nexpires = 2099-01-01\n"
        )
    };
    let cli = shop(&accept("missing-ttl"));
    assert_snapshot!(cli.run(["check"]));
    cli.write("old.toml", SHOP);
    assert_eq!(cli.run(["breaking", "--against", "old.toml"]).code, Some(2));
    let allow = SHOP.replace(
        "doc = \"An article's price\"",
        "allow = [{ rule = \"type-changed\", reason = \"a\" }]",
    );
    assert_snapshot!(shop(&allow).run(["check"]));
}

#[test]
fn a_report_says_how_many_keys_are_touched() {
    let cli = cli();
    cli.copy("crates/keyward-cli/demo/keyward.toml");
    let schema = cli.read("crates/keyward-cli/demo/keyward.toml");
    cli.run(["demo", "--out", "demo"]);
    let audit = [
        "audit",
        "demo/dump.rdb",
        "--schema",
        "demo/keyward.toml",
        "--format",
        "json",
        "--out",
        "audit.json",
    ];
    assert!(cli.run(audit).code.is_some_and(|code| code < 2));
    cli.write("old.toml", &schema);
    let new = schema.replace("\"perm:", "\"permission:").replace("ttl = \"30m\"", "ttl = \"1d\"");
    cli.write("keyward.toml", new);
    assert_snapshot!(on_a_day(
        &cli,
        &["breaking", "--against", "old.toml", "--data", "audit.json"]
    ));
    let json =
        cli.run(["breaking", "--against", "old.toml", "--data", "audit.json", "--format", "json"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let touched: Vec<&Value> =
        json["findings"].as_array().unwrap().iter().map(|it| &it["touched"]).collect();
    assert!(touched.iter().any(|it| it["how"] == "counted" && it["keys"] == 12_020), "{touched:?}");
    assert!(touched.iter().any(|it| it["how"] == "estimated"), "{touched:?}");
}

#[test]
fn what_is_no_report_is_refused() {
    let cli = beside();
    cli.write("audit.json", "{}");
    for report in ["audit.json", "missing.json", "old.toml"] {
        let output = cli.run(["breaking", "--against", "old.toml", "--data", report]);
        assert_eq!(output.code, Some(2), "{output}");
    }
}

#[test]
fn several_schemas_are_compared_each_with_its_own_past() {
    let cli = repository("keyward.toml");
    cli.write("billing.toml", SHOP.replace("\"shop", "\"billing"));
    commit(&cli);
    cli.write("billing.toml", changed().replace("\"shop", "\"billing"));
    let output = cli.run([
        "breaking",
        "keyward.toml",
        "billing.toml",
        "--against",
        "main",
        "--format",
        "concise",
    ]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.lines().all(|line| line.starts_with("billing.toml:")), "{output}");
    cli.write("old.toml", SHOP);
    assert_snapshot!(cli.run([
        "breaking",
        "keyward.toml",
        "billing.toml",
        "--against",
        "old.toml"
    ]));
}

#[test]
fn a_link_in_a_revision_is_followed() {
    let cli = cli();
    cli.write("keys/shop.toml", SHOP);
    std::os::unix::fs::symlink("keys/shop.toml", cli.folder().join("keyward.toml")).unwrap();
    git(&cli, &["init", "--quiet", "--initial-branch", "main"]);
    commit(&cli);
    let output = cli.run(["breaking", "--against", "main"]);
    assert_eq!(output.code, Some(0), "{output}");
}

#[test]
fn a_thousand_changes_are_cut() {
    let schema = |word: &str| {
        let mut text = "version = 1\n[keyspace]\nname = \"many\"\n".to_owned();
        for number in 0..300 {
            let _ = write!(
                text,
                "[keys.k{number}]\npattern = \"k{number}:{word}:{{id:uint}}\"\nttl = \"1h\"\n"
            );
        }
        text
    };
    let cli = shop(&schema("b"));
    cli.write("old.toml", schema("a"));
    let output =
        cli.run(["breaking", "--against", "old.toml", "--tier", "data", "--format", "concise"]);
    assert_eq!(output.stderr, "200 findings shown, 100 left out: 200 errors\n");
}

#[test]
fn every_rule_on_changes_is_explained() {
    assert_snapshot!(cli().run(["explain", "param-narrowed"]));
}
