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
