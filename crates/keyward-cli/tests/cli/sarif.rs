//! SARIF, held against the JSON schema that its committee published.

use crate::audit::{DAY, audit, beside, leaky, sound};
use crate::check::LEAKY;
use crate::{SHOP, cli, shop};
use keyward_testkit::{Cli, Output};
use serde_json::{Value, json};
use std::sync::LazyLock;

const SCHEMA: &str = include_str!("../data/sarif-schema-2.1.0.json");

static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    // No expression, as a bracket is closed that was never opened; later editions of the schema have the other.
    let language = ("^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$", "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$");
    let schema: Value = serde_json::from_str(&SCHEMA.replace(language.0, language.1)).unwrap();
    jsonschema::draft7::options().should_validate_formats(true).build(&schema).unwrap()
});

fn errors(document: &Value) -> Vec<String> {
    let errors = VALIDATOR.iter_errors(document);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// The document, which must be as the schema wants it, with so many results at least.
#[track_caller]
fn valid(output: &Output, least: usize) -> Value {
    // Output has its folder replaced by that, which is no part of a URI.
    let text = output.stdout.replace("[DIR]", "/folder");
    let document: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{output}"));
    assert_eq!(errors(&document), Vec::<String>::new(), "{document:#}");
    let results = document["runs"][0]["results"].as_array().map_or(0, Vec::len);
    assert!(results >= least, "{document:#}");
    document
}

/// The arguments of an audit, and the form.
fn audited(cli: &Cli, more: &[&str]) -> Output {
    cli.run(audit(&[&["--format", "sarif"], more].concat()))
}

#[test]
fn findings_of_a_check_are_valid() {
    valid(&shop(LEAKY).run(["check", "--format", "sarif"]), 2);
    valid(&shop(LEAKY).run(["check", "--set", "strict", "--format", "sarif"]), 2);
    valid(&shop(SHOP).run(["check", "--format", "sarif"]), 0);
}

#[test]
fn a_check_that_could_not_be_made_is_valid() {
    valid(&cli().run(["check", "missing.toml", "--format", "sarif"]), 1);
    valid(&cli().run(["check", "--format", "sarif"]), 1);
    valid(&shop("version = 1\n[keyspace\n").run(["check", "--format", "sarif"]), 1);
}

#[test]
fn names_that_a_uri_must_escape_are_valid() {
    let cli = cli();
    for name in ["sub folder/keyward.toml", "100%[x]#?.toml", "schl\u{fc}ssel.toml", "a:b.toml"] {
        cli.write(name, LEAKY);
        valid(&cli.run(["check", name, "--format", "sarif"]), 2);
    }
    let there = cli.folder().join("a:b.toml");
    valid(&cli.run(["check", there.to_str().unwrap(), "--format", "sarif"]), 2);
}

#[test]
fn findings_in_several_schemas_are_valid() {
    let cli = shop(LEAKY);
    cli.write("other.toml", LEAKY.replace("name = \"shop\"", "name = \"other\""));
    valid(&cli.run(["check", "keyward.toml", "other.toml", "--format", "sarif"]), 2);
}

#[test]
fn findings_of_an_audit_are_valid() {
    valid(&audited(&beside(SHOP, leaky()), &[]), 5);
    valid(&audited(&beside(SHOP, leaky()), &["--show-keys"]), 5);
    valid(&audited(&beside(SHOP, sound()), &[]), 0);
    let cli = cli();
    cli.write("dump.rdb", leaky().finish());
    valid(&audited(&cli, &[]), 0);
}

#[test]
fn a_report_that_is_shown_is_valid() {
    let cli = beside(SHOP, leaky());
    cli.run(audit(&["--format", "json", "--out", "report.json"]));
    valid(&cli.run(["report", "show", "report.json", "--format", "sarif"]), 5);
}

#[test]
fn a_baseline_says_what_is_new_and_what_is_gone() {
    let cli = beside(SHOP, leaky());
    cli.run(audit(&["--format", "json", "--out", "report.json"]));
    let states = |document: &Value, state: &str| -> Vec<(String, String)> {
        let results = document["runs"][0]["results"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let of = results.filter(|result| result["baselineState"] == state);
        of.map(|result| (text(&result["ruleId"]), text(&result["level"]))).collect()
    };

    let same = valid(&audited(&cli, &["--baseline", "report.json"]), 5);
    let unchanged = states(&same, "unchanged");
    assert_eq!(unchanged.len(), same["runs"][0]["results"].as_array().unwrap().len());
    assert!(unchanged.iter().all(|(_, level)| level == "note"), "{unchanged:?}");

    let mut other = sound().text("shop:search:tea", Some(2 * DAY), "[]");
    for number in 0..10 {
        other = other.text(&format!("shop:price:no-{number}"), None, "1");
    }
    cli.write("dump.rdb", other.finish());
    let other = valid(&audited(&cli, &["--baseline", "report.json"]), 5);
    let of = |rule: &str, level: &str| vec![(rule.to_owned(), level.to_owned())];
    assert_eq!(states(&other, "updated"), of("ttl-missing", "error"));
    assert_eq!(states(&other, "unchanged"), of("ttl-too-long", "note"));
    assert!(states(&other, "absent").contains(&of("wrong-type", "none")[0]), "{other:#}");
}

#[test]
fn what_is_wrong_is_seen() {
    let document = valid(&shop(LEAKY).run(["check", "--format", "sarif"]), 2);
    let wrong = |path: &str, value: Value| {
        let mut document = document.clone();
        *document.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
        assert_ne!(errors(&document), Vec::<String>::new(), "{path}");
    };
    wrong("/version", json!("2.0.0"));
    wrong("/runs/0/tool", json!({}));
    wrong("/runs/0/results/0/level", json!("fatal"));
    wrong("/runs/0/results/0/message", json!({}));
    wrong("/runs/0/results/0/ruleIndex", Value::Null);
    let place = "/runs/0/results/0/locations/0/physicalLocation";
    wrong(&format!("{place}/region/startLine"), json!(0));
    wrong(&format!("{place}/artifactLocation/uri"), json!("sub folder/keyward.toml"));
}
