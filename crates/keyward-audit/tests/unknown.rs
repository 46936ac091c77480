//! What is said about keys that no definition has.

mod support;

use keyward_rules::Rule;
use std::fmt::Write as _;
use support::{Dump, audit, schema, told};

const LAYOUT: &str = r#"
[keyspace]
name = "bo"
prefix = "bo:"
[layout]
shape = "<module>:<business>:<type>:<identifier...>"
module = ["user", "order"]
type = ["cache", "list", "set"]
means = { cache = "cache", list = "list", set = "set" }
[keys.balance]
pattern = "user:balance:set:{user_id:uint}"
type = "set"
"#;

/// The message and the help of each finding about unknown keys.
fn unknown(commands: &str) -> String {
    let report = told(&audit(vec![schema(LAYOUT)]), &Dump::of(commands));
    let mut text = String::new();
    for finding in report.findings.iter().filter(|it| it.rule == Rule::UnknownKey) {
        let _ = writeln!(text, "{}", finding.message);
        finding.help.iter().for_each(|help| _ = writeln!(text, "  {help}"));
    }
    text
}

#[test]
fn an_unknown_key_says_where_it_breaks_the_layout() {
    let mut commands = String::new();
    for number in 0..6 {
        let _ = writeln!(commands, "SADD bo:usr:balance:set:{number} a");
        let _ = writeln!(commands, "SADD bo:user:recent:list:{number} a");
        let _ = writeln!(commands, "SADD bo:order:paid {number}");
        let _ = writeln!(commands, "SADD bo:user:paid:zset:{number} a");
    }
    insta::assert_snapshot!(unknown(&commands));
}

#[test]
fn a_word_that_one_key_has_is_not_shown_where_it_breaks_the_layout() {
    let said = unknown("SADD bo:alice:balance:set:7 a\n");
    assert!(!said.contains("alice"), "{said}");
    insta::assert_snapshot!(said);
}

#[test]
fn wrong_capitals_alone_name_the_definition_that_was_meant() {
    insta::assert_snapshot!(unknown("SADD bo:User:Balance:Set:7 a\n"));
}

#[test]
fn unknown_keys_that_differ_only_in_the_prefix_are_one_pattern() {
    const TENANTS: &str = r#"
[keyspace]
name = "shop"
prefix = "{tenant:word}:shop:"
[keys.cart]
pattern = "cart:{user_id:uint}"
"#;
    let mut commands = String::new();
    for tenant in ["acme", "globex", "initech"] {
        for number in 0..6 {
            let _ = writeln!(commands, "SET {tenant}:shop:crat:{number} a");
        }
    }
    commands.push_str("SET lonely:key a\n");
    let report = told(&audit(vec![schema(TENANTS)]), &Dump::of(&commands));
    let said: Vec<&str> = report.findings.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(
        said,
        [
            "no definition matches `{tenant}:shop:crat:<number>`: 18 of 19 (94.7 %)",
            "no definition matches `<text>:<text>`: 1 of 19 (5.3 %)",
        ]
    );
    let example = report.findings[0].examples[0].key.as_str();
    assert!(example.starts_with("<word#") && example.contains(">:shop:crat:<number#"), "{example}");
}

#[test]
fn the_values_that_fit_are_shown_of_a_key_with_one_that_does_not() {
    const TENANTS: &str = r#"
[keyspace]
name = "shop"
prefix = "{tenant}:shop:"
[params]
tenant = { type = "word", pii = false }
[keys.cart]
pattern = "cart:{user_id:uint}:{item:word}"
"#;
    let dump = Dump::of("SET acme:shop:cart:ann:mug a\n");
    let report = told(&audit(vec![schema(TENANTS)]), &dump);
    let finding = report.findings.iter().find(|it| it.rule == Rule::InvalidParam).unwrap();
    let example = finding.examples[0].key.as_str();
    assert!(example.starts_with("acme:shop:cart:<word#"), "{example}");
    assert!(!example.contains("ann") && !example.contains("mug"), "{example}");
}
