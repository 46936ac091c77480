//! `keyward rules`: all rules, one a line.

use crate::args::{ListFormat, Rules};
use crate::failure::Result;
use crate::output::{BOLD, DIM, ERROR, Output, WARNING};
use crate::verdict::Verdict;
use keyward_rules::{Rule, all};
use keyward_schema::model::{RuleSet, Severity};
use serde_json::{Value, json};

pub(crate) fn run(args: &Rules, output: &Output) -> Result<Verdict> {
    match args.format {
        ListFormat::Full => output.print(table())?,
        ListFormat::Json => {
            let rules: Vec<Value> = all().map(object).collect();
            output.print(format_args!("{:#}\n", json!({ "version": 1, "rules": rules })))?;
        }
    }
    Ok(Verdict::Clean)
}

/// Rules in order of category and name, in columns.
fn table() -> String {
    let mut rules: Vec<&Rule> = all().collect();
    rules.sort_by_key(|rule| (rule.category, rule.name));
    let width =
        |cell: fn(&Rule) -> &str| rules.iter().map(|rule| cell(rule).len()).max().unwrap_or(0);
    let name = width(|rule| rule.name);
    let category = width(|rule| rule.category.name());
    let set = width(|rule| set_name(rule.set));
    let mut text = String::new();
    for rule in &rules {
        let severity = match rule.severity {
            Severity::Error => ERROR.on(format_args!("{:<5}", severity_name(rule.severity))),
            _ => WARNING.on(format_args!("{:<5}", severity_name(rule.severity))),
        };
        text.push_str(&format!(
            "{}  {}  {:<set$}  {severity}  {}\n",
            BOLD.on(format_args!("{:<name$}", rule.name)),
            DIM.on(format_args!("{:<category$}", rule.category.name())),
            set_name(rule.set),
            rule.summary(),
        ));
    }
    text
}

fn object(rule: &Rule) -> Value {
    json!({
        "name": rule.name,
        "category": rule.category.name(),
        "set": set_name(rule.set),
        "severity": severity_name(rule.severity),
        "summary": rule.summary(),
        "options": rule.options.iter().map(|option| option.name()).collect::<Vec<_>>(),
    })
}

/// The word in a schema.
pub(super) fn set_name(set: RuleSet) -> &'static str {
    match set {
        RuleSet::Minimal => "minimal",
        RuleSet::Recommended => "recommended",
        RuleSet::Strict => "strict",
    }
}

/// The word in a schema.
pub(super) fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warn => "warn",
        Severity::Off => "off",
    }
}
