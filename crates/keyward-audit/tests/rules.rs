//! Every live rule finds what its documentation shows, and nothing in what it recommends.

mod support;

use keyward_rules::Rule;
use support::{Dump, audit, schema, told};

/// The blocks of one language below a heading of a rule's documentation.
fn block(rule: Rule, heading: &str, language: &str) -> Option<String> {
    let documentation = rule.documentation();
    let (_, section) = documentation.split_once(&format!("## {heading}\n"))?;
    let section = section.split("\n## ").next()?;
    let (_, block) = section.split_once(&format!("```{language}\n"))?;
    Some(block.split_once("```")?.0.to_owned())
}

fn rules_found(rule: Rule, heading: &str) -> Vec<Rule> {
    let written = block(rule, heading, "toml").or_else(|| block(rule, "Example", "toml"));
    let audit = audit(vec![schema(&written.expect("the example has a schema"))]);
    let dump = Dump::of(&block(rule, heading, "redis").expect("the section has commands"));
    told(&audit, &dump).findings.into_iter().map(|finding| finding.rule).collect()
}

#[test]
fn every_example_is_reported_and_what_to_use_instead_is_not() {
    let live: Vec<Rule> = Rule::ALL.iter().copied().filter(|rule| rule.is_live()).collect();
    assert_eq!(live.len(), 23);
    for rule in live {
        let found = rules_found(rule, "Example");
        assert!(found.contains(&rule), "{rule} finds {found:?}");
        let found = rules_found(rule, "Use instead");
        assert!(found.is_empty(), "{rule}: {found:?}");
    }
}
