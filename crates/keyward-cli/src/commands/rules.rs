//! `keyward rules`: all rules, one a line.

use crate::args::{ListFormat, Rules};
use crate::failure::Result;
use crate::output::{BOLD, DIM, ERROR, Output, WARNING};
use crate::verdict::Verdict;
use keyward_rules::Rule;
use keyward_schema::model::{RuleSet, Severity};
use serde_json::{Value, json};

/// The least room for a summary. Where a terminal has less, columns that `explain` shows as well
/// make way.
const SUMMARY: usize = 40;

pub(crate) fn run(args: &Rules, output: &Output) -> Result<Verdict> {
    let set = args.set.map_or(RuleSet::Strict, RuleSet::from);
    let mut rules: Vec<Rule> =
        Rule::ALL.iter().copied().filter(|rule| rule.set().is_none_or(|own| own <= set)).collect();
    match args.format {
        ListFormat::Full => {
            rules.sort_by_key(|rule| (rule.category(), *rule));
            output.print(table(&rules, output.terminal()))?;
        }
        ListFormat::Json => {
            let rules: Vec<Value> = rules.into_iter().map(object).collect();
            output.print(format_args!("{:#}\n", json!({ "version": 1, "rules": rules })))?;
        }
    }
    Ok(Verdict::Clean)
}

/// Rules in columns, one a line. What is not for a terminal is not cut.
fn table(rules: &[Rule], terminal: Option<usize>) -> String {
    let width = |cell: fn(Rule) -> &'static str| {
        rules.iter().map(|rule| cell(*rule).len()).max().unwrap_or(0)
    };
    let name = width(Rule::name);
    let category = width(|rule| rule.category().name());
    let set = width(set_or_tier);
    let severity = width(|rule| rule.severity().name());
    let room = |columns: &[usize]| {
        let taken: usize = columns.iter().map(|column| column + 2).sum();
        terminal.map_or(usize::MAX, |terminal| terminal.saturating_sub(taken))
    };
    let all = room(&[name, category, set, severity]);
    let some = room(&[name, set, severity]);
    let (has_category, has_set, room) = match () {
        () if all >= SUMMARY => (true, true, all),
        () if some >= SUMMARY => (false, true, some),
        () => (false, false, room(&[name, severity])),
    };
    let mut text = String::new();
    for rule in rules {
        let look = if rule.severity() == Severity::Error { ERROR } else { WARNING };
        let mut cells = vec![BOLD.on(format_args!("{:<name$}", rule.name()))];
        if has_category {
            cells.push(DIM.on(format_args!("{:<category$}", rule.category().name())));
        }
        if has_set {
            cells.push(format!("{:<set$}", set_or_tier(*rule)));
        }
        cells.push(look.on(format_args!("{:<severity$}", rule.severity().name())));
        cells.push(cut(&rule.summary(), room));
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// The beginning of a text that has too many characters.
fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let start: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", start.trim_end())
}

/// What a rule looks at.
fn judges(rule: Rule) -> &'static str {
    match rule {
        rule if rule.is_live() => "keys",
        rule if rule.is_breaking() => "changes",
        _ => "schema",
    }
}

/// The rule set, or what findings break.
fn set_or_tier(rule: Rule) -> &'static str {
    rule.tier().map_or(rule.set_name(), keyward_rules::Tier::name)
}

fn object(rule: Rule) -> Value {
    json!({
        "name": rule.name(),
        "category": rule.category().name(),
        "set": rule.set_name(),
        "severity": rule.severity().name(),
        "judges": judges(rule),
        "tier": rule.tier().map(keyward_rules::Tier::name),
        "summary": rule.summary(),
        "options": rule.options().iter().map(|option| option.name()).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_fits_the_terminal() {
        let rules = Rule::ALL;
        let plain = |terminal| anstream::adapter::strip_str(&table(rules, terminal)).to_string();
        for terminal in [80, 100, 120, 200] {
            let table = plain(Some(terminal));
            assert_eq!(table.lines().count(), rules.len());
            for line in table.lines() {
                assert!(line.chars().count() <= terminal, "{line}");
            }
        }
        assert!(plain(Some(80)).contains('…') && !plain(None).contains('…'));
        assert!(plain(Some(120)).contains("soundness") && !plain(Some(80)).contains("soundness  "));
    }
}
