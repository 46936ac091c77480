use crate::check::LEAKY;
use crate::{SHOP, cli, shop};
use insta::assert_snapshot;
use serde_json::Value;
use std::fmt::Write as _;

#[test]
fn concise_is_a_line_for_each_finding() {
    assert_snapshot!(shop(LEAKY).run(["check", "--format", "concise"]));
}

#[test]
fn json_is_one_document() {
    assert_snapshot!(shop(LEAKY).run(["check", "--format", "json"]));
    assert_snapshot!(shop(SHOP).run(["check", "--format", "json"]));
}

#[test]
fn json_tells_that_a_file_is_missing() {
    assert_snapshot!(cli().run(["check", "missing.toml", "--format", "json"]));
}

#[test]
fn jsonl_is_the_same_findings_one_a_line() {
    let cli = shop(LEAKY);
    let lines = cli.run(["check", "--format", "jsonl"]).stdout;
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    let document = json(&cli.run(["check", "--format", "json"]).stdout);
    assert_eq!(document["findings"], Value::Array(lines));
    assert_eq!(shop(SHOP).run(["check", "--format", "jsonl"]).stdout, "");
}

#[test]
fn github_annotates_lines() {
    assert_snapshot!(shop(LEAKY).run(["check", "--format", "github"]));
}

#[test]
fn a_path_cannot_break_an_annotation() {
    let cli = cli();
    cli.write("a,b: 100%\n.toml", LEAKY);
    let output = cli.run(["check", "a,b: 100%\n.toml", "--format", "github", "-q"]);
    for line in output.stdout.lines() {
        assert!(line.contains(" file=a%2Cb%3A 100%25%0A.toml,line="), "{output}");
    }
    assert!(!output.stdout.is_empty());
}

#[test]
fn sarif_has_what_code_scanning_asks_for() {
    let cli = cli();
    cli.write("sub folder/keyward.toml", LEAKY);
    let output = cli.run(["check", "sub folder/keyward.toml", "--format", "sarif"]);
    let document = json(&output.stdout);
    assert_eq!(document["version"], "2.1.0");
    assert!(document["$schema"].as_str().is_some_and(|schema| schema.contains("sarif-2.1.0")));
    let run = &document["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "keyward");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let rules = driver["rules"].as_array().expect("rules are described");
    let results = run["results"].as_array().expect("there are results");
    assert!(!results.is_empty());
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("a rule is pointed to");
        let rule = &rules[usize::try_from(index).expect("it is small")];
        assert_eq!(result["ruleId"], rule["id"]);
        assert!(["error", "warning"].contains(&result["level"].as_str().expect("a level")));
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        for text in [&rule["shortDescription"]["text"], &rule["help"]["markdown"]] {
            assert!(text.as_str().is_some_and(|text| !text.is_empty()), "{rule:#}");
        }
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "sub%20folder/keyward.toml");
        assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 0));
        assert!(place["region"]["endColumn"].as_u64() > place["region"]["startColumn"].as_u64());
    }
    assert_snapshot!(format!("{:#}", results[0]));
}

#[test]
fn sarif_of_an_unreadable_schema_says_that_it_failed() {
    let document = json(&cli().run(["check", "missing.toml", "--format", "sarif"]).stdout);
    let run = &document["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    assert_eq!(run["results"][0]["ruleId"], "schema");
    let clean = json(&shop(SHOP).run(["check", "--format", "sarif"]).stdout);
    assert_eq!(clean["runs"][0]["results"], Value::Array(Vec::new()));
}

#[test]
fn nothing_checked_is_said_in_every_format() {
    let empty = shop("version = 1\n[keyspace]\nname = \"shop\"\n");
    for (cli, reason) in [(empty, "the schema declares no keys"), (cli(), "no keyward.toml found")]
    {
        if reason.contains("keyward.toml") {
            assert_snapshot!(cli.run(["check", "--format", "json"]));
        }
        for format in ["json", "jsonl", "sarif", "github", "concise", "full"] {
            let output = cli.run(["check", "--format", format]);
            assert_eq!(output.code, Some(2), "{output}");
            match format {
                "concise" | "full" => {
                    assert!(format!("{output}").contains(reason), "{output}");
                }
                "github" => assert!(output.stdout.starts_with("::error "), "{output}"),
                "sarif" => {
                    let run = &json(&output.stdout)["runs"][0];
                    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
                    let text = run["results"][0]["message"]["text"].as_str();
                    assert!(text.is_some_and(|text| text.contains(reason)), "{output}");
                }
                _ => {
                    let document = json(&output.stdout);
                    let finding = document.pointer("/findings/0").unwrap_or(&document);
                    let text = finding["message"].as_str();
                    assert!(text.is_some_and(|text| text.contains(reason)), "{output}");
                }
            }
        }
    }
}

#[test]
fn findings_that_are_left_out_are_counted() {
    let mut schema = "version = 1\n[keyspace]\nname = \"many\"\n".to_owned();
    for number in 0..250 {
        let _ = write!(
            schema,
            "[keys.k{number}]\npattern = \"k:{number}:{{id}}\"\nvalue = \"int\"\nexamples = [\"x\"]\n"
        );
    }
    let cli = shop(&schema);
    let output = cli.run(["check", "--format", "json", "--set", "minimal"]);
    let summary = &json(&output.stdout)["summary"];
    assert_eq!((&summary["findings"], &summary["left_out"]), (&200.into(), &50.into()));
    let output = cli.run(["check", "--format", "concise", "--set", "minimal"]);
    assert_eq!(output.stderr, "200 findings shown, 50 left out: 200 errors\n");
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("not JSON: {error}\n{text}"))
}
