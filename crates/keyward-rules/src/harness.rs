//! What a rule's test sees: a piece of a schema in, messages out.

use crate::rule::Declaration;
use crate::{Options, check};
use keyward_schema::model::Date;
use keyward_schema::{Diagnostic, Sources, Style, read, render};

/// The day on which tests happen.
pub(crate) const TODAY: Date = Date { year: 2026, month: 11, day: 15 };

/// What a person sees of one rule's findings in a piece of a schema.
pub(crate) fn findings(rule: &Declaration, piece: &str) -> String {
    let (sources, diagnostics) = checked(piece);
    let of_rule: Vec<_> = diagnostics.into_iter().filter(|it| it.rule == rule.name).collect();
    render(&sources, &of_rule, &Style::default())
}

/// The messages of one rule's findings in a piece of a schema.
pub(crate) fn messages(rule: &Declaration, piece: &str) -> Vec<String> {
    let (_, diagnostics) = checked(piece);
    diagnostics.into_iter().filter(|it| it.rule == rule.name).map(|it| it.message).collect()
}

/// What a person sees of the example in a rule's documentation.
pub(crate) fn example(rule: &Declaration) -> String {
    findings(rule, &block(rule, "Example"))
}

/// The schema below a heading of a rule's documentation.
pub(crate) fn block(rule: &Declaration, heading: &str) -> String {
    let documentation = rule.documentation();
    let (_, section) = documentation
        .split_once(&format!("## {heading}\n"))
        .unwrap_or_else(|| panic!("`{}` has no section `{heading}`", rule.name));
    let (_, block) = section.split_once("```toml\n").expect("the section has a schema");
    block.split_once("```").expect("the schema ends").0.to_owned()
}

/// Everything that is found in a piece of a schema, which is completed: the strictest rules, and a
/// keyspace, unless it has its own.
pub(crate) fn checked(piece: &str) -> (Sources, Vec<Diagnostic>) {
    let mut text = format!("version = 1\n{piece}");
    if !piece.contains("[rules") {
        text.push_str("\n[rules]\nset = \"strict\"\n");
    }
    if !piece.contains("[keyspace]") {
        text.push_str("\n[keyspace]\nname = \"test\"\n");
    }
    let loaded = read(&text);
    match loaded.schema {
        Ok(schema) => {
            let diagnostics = check(&schema, &Options { today: TODAY });
            (loaded.sources, diagnostics)
        }
        Err(errors) => panic!("{}", render(&loaded.sources, &errors, &Style::default())),
    }
}
