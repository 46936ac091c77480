use crate::cli;
use insta::assert_snapshot;

#[test]
fn a_rule_is_explained() {
    assert_snapshot!(cli().run(["explain", "stale-cache"]));
}

#[test]
fn every_rule_is_explained_under_the_same_headings() {
    let rules = cli().run(["rules", "--format", "json"]).stdout;
    let rules: serde_json::Value = serde_json::from_str(&rules).expect("it is JSON");
    let rules = rules["rules"].as_array().expect("a list of rules");
    assert!(rules.len() >= 30);
    for rule in rules {
        let name = rule["name"].as_str().expect("a rule has a name");
        let output = cli().run(["explain", name]);
        assert_eq!(output.code, Some(0), "{output}");
        for heading in ["What it does", "Why is this bad", "Example", "Use instead"] {
            let found = output.stdout.lines().any(|line| line == heading);
            assert!(found, "`{name}` has no `{heading}`:\n{output}");
        }
        assert!(!output.stdout.contains("```") && !output.stdout.contains("##"), "{output}");
    }
}

#[test]
fn a_misspelt_rule_is_recognised() {
    assert_snapshot!(cli().run(["explain", "stale-cash"]));
    assert_snapshot!(cli().run(["explain", "something-else"]));
    assert_snapshot!(cli().run(["explain", "MISSING-TTL"]));
}

#[test]
fn what_the_reader_reports_is_explained() {
    assert_snapshot!(cli().run(["explain", "schema"]));
}

#[test]
fn rules_of_a_set_are_those_that_it_turns_on() {
    let count = |args: &[&str]| {
        let output = cli().run(["rules"].iter().chain(args));
        assert_eq!(output.code, Some(0), "{output}");
        output.stdout.lines().count()
    };
    let minimal = count(&["--set", "minimal"]);
    let recommended = count(&["--set", "recommended"]);
    let strict = count(&["--set", "strict"]);
    assert!(0 < minimal && minimal < recommended && recommended < strict);
    assert_eq!(strict, count(&[]));
    let output = cli().run(["rules", "--set", "recommended", "--format", "json"]);
    assert!(!output.stdout.contains("\"set\": \"strict\""), "{output}");
    assert_eq!(output.stdout.matches("\"name\":").count(), recommended);
}

#[test]
fn rules_are_listed_one_a_line() {
    let output = cli().run(["rules"]);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_snapshot!(lines[..3].join("\n"));
    let names: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains(&"evictable-persistent") && names.len() == lines.len());
}

#[test]
fn a_rule_is_described_to_programs() {
    let output = cli().run(["rules", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&output.stdout).expect("it is JSON");
    assert_eq!(document["version"], 1);
    let rules = document["rules"].as_array().expect("a list of rules");
    let rule = rules.iter().find(|rule| rule["name"] == "abbreviation").expect("it is there");
    assert_snapshot!(format!("{rule:#}"));
}
